/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_CLI_H
#define VF_CLI_CLI_H
/*
 * What every subcommand is made of: one row of data (name, words, options, exit statuses) and one
 * function. The help text, the completion files and the manual pages say what these tables say;
 * tests/cli compares them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum vf_exit {
	VF_EXIT_OK = 0,
	VF_EXIT_FAILED = 1,   /* what was asked did not work */
	VF_EXIT_DOUBTFUL = 2, /* it worked, but a figure cannot be right or is far from what the
				 link should give */
	VF_EXIT_USAGE = 64,   /* the command line is wrong */
	VF_EXIT_RUN = 125,    /* run: Verbifrost itself could not do it */
	VF_EXIT_NOT_EXECUTABLE = 126,
	VF_EXIT_NOT_FOUND = 127
};

struct vf_cli_option {
	int id; /* the short letter, or a number from VF_CLI_LONG for options that have none */
	const char *name; /* long name; NULL ends a table */
	const char *arg;  /* word for its argument, NULL when it takes none */
	const char *help; /* one sentence */
};

#define VF_CLI_LONG	   256
#define VF_CLI_OPTIONS_MAX 40
#define VF_CLI_HELP                                                                                \
	{'h', "help", NULL, "Show this help and exit."}, { 0, NULL, NULL, NULL }
#define VF_CLI_JSON                                                                                \
	{                                                                                          \
		'j', "json", NULL, "Print JSON instead of text."                                   \
	}

struct vf_cli_exit {
	int status;
	const char *meaning; /* NULL ends a table */
};

struct vf_cli_command {
	const char *name;
	const char *summary;  /* one line, no full stop */
	const char *synopsis; /* what follows "verbifrost NAME [OPTIONS]" */
	const char *about;    /* a paragraph */
	const struct vf_cli_option *options;
	const struct vf_cli_exit *exits;
	bool stops_at_word; /* options end at the first word that is none */
	int (*run)(const struct vf_cli_command *self, int argc, char **argv);
};

extern const struct vf_cli_command vf_cmd_devices, vf_cmd_info, vf_cmd_run, vf_cmd_ping,
	vf_cmd_bench, vf_cmd_doctor, vf_cmd_env;
extern const struct vf_cli_command vf_cmd_help;
/** All of them, NULL at the end. */
extern const struct vf_cli_command *const vf_cli_commands[];

const struct vf_cli_command *vf_cli_find(const char *name);
/** The command whose name is fewest edits away, NULL when none is near. */
const struct vf_cli_command *vf_cli_nearest(const char *name);

/**
 * The next option's id, with *value its argument; -1 at the end (optind is the first word that is
 * no option). When the line is wrong it has been said on standard error and '?' comes back: return
 * VF_EXIT_USAGE. 'h' has printed the help: return VF_EXIT_OK.
 */
int vf_cli_next(const struct vf_cli_command *cmd, int argc, char **argv, const char **value);
/** Help of a command. */
void vf_cli_help(const struct vf_cli_command *cmd, FILE *to);

/** "verbifrost: text" on standard error. */
void vf_cli_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** The same, with what the library says about its last refusal, or else the text of errno. */
void vf_cli_complain_verb(const char *what);
/** For usage mistakes: complains and names the help. Always VF_EXIT_USAGE. */
int vf_cli_usage(const struct vf_cli_command *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** A whole number, or one with k, M, G (powers of 1024) behind it. False: no such number in [min,
 * max]. */
bool vf_cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/** A decimal number in [min, max]. */
bool vf_cli_real(const char *text, double min, double max, double *out);

/** Flushes standard output; VF_EXIT_FAILED when what was printed did not get out, else @status. */
int vf_cli_finish(int status);

#endif

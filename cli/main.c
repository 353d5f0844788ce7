/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbifrost command: finds the subcommand in the table and runs it. Without one it lists the
 * devices. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <string.h>

#include <verbifrost/verbifrost.h>

#include "cli.h"
#include "term.h"

const struct vf_cli_command *const vf_cli_commands[] = {
	&vf_cmd_devices, &vf_cmd_info, &vf_cmd_run,  &vf_cmd_ping, &vf_cmd_bench,
	&vf_cmd_doctor,	 &vf_cmd_env,  &vf_cmd_help, NULL};

static void print_overview(FILE *to)
{
	fputs("verbifrost: RDMA verbs on this machine\n\n"
	      "Usage: verbifrost [COMMAND [OPTIONS] [ARGUMENTS]]\n\nCommands:\n",
	      to);
	for (unsigned i = 0; vf_cli_commands[i]; i++)
		fprintf(to, "  %-10s%s\n", vf_cli_commands[i]->name, vf_cli_commands[i]->summary);
	fputs("\nWithout a command: devices.\n"
	      "Each command has --help and a manual page: man verbifrost-COMMAND. The version: "
	      "verbifrost --version.\n",
	      to);
}

static int run_help(const struct vf_cli_command *self, int argc, char **argv)
{
	const struct vf_cli_command *cmd;
	const char *value;
	int got = vf_cli_next(self, argc, argv, &value);

	if (got != -1)
		return got == 'h' ? VF_EXIT_OK : VF_EXIT_USAGE;
	if (optind == argc) {
		print_overview(stdout);
		return VF_EXIT_OK;
	}
	cmd = vf_cli_find(argv[optind]);
	if (!cmd)
		return vf_cli_usage(self, "there is no command \"%s\"", argv[optind]);
	vf_cli_help(cmd, stdout);
	return VF_EXIT_OK;
}

static const struct vf_cli_option help_options[] = {VF_CLI_HELP};
static const struct vf_cli_exit help_exits[] = {{VF_EXIT_OK, "The help was printed."},
						{VF_EXIT_USAGE, "There is no such command."},
						{0, NULL}};
const struct vf_cli_command vf_cmd_help = {
	.name = "help",
	.summary = "show the commands, or the help of one",
	.synopsis = "[COMMAND]",
	.about = "Shows what verbifrost can do, or what one of its commands does, with every "
		 "option and exit status.",
	.options = help_options,
	.exits = help_exits,
	.run = run_help,
};

static int unknown(const char *name)
{
	const struct vf_cli_command *near = vf_cli_nearest(name);

	vf_cli_complain("there is no command \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
			near ? near->name : "", near ? "\"?" : "");
	fputs("Try: verbifrost help\n", stderr);
	return VF_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const struct vf_cli_command *cmd = &vf_cmd_devices;
	bool has_options_only = argc > 1 && argv[1][0] == '-';

	setlocale(LC_CTYPE, "");
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_overview(stdout);
		return vf_cli_finish(VF_EXIT_OK);
	}
	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		printf("verbifrost %s (library %s)\n", VERBIFROST_VERSION, verbifrost_version());
		return vf_cli_finish(VF_EXIT_OK);
	}
	if (argc > 1 && !has_options_only) {
		cmd = vf_cli_find(argv[1]);
		if (!cmd)
			return unknown(argv[1]);
		argc--;
		argv++;
	}
	return vf_cli_finish(cmd->run(cmd, argc, argv));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines read from tables, help printed from the same tables, complaints in one form. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <verbifrost/verbifrost.h>

#include "term.h"

#define HELP_COLUMN 28

const struct vf_cli_command *vf_cli_find(const char *name)
{
	for (unsigned i = 0; vf_cli_commands[i]; i++)
		if (strcmp(vf_cli_commands[i]->name, name) == 0)
			return vf_cli_commands[i];
	return NULL;
}

/* Edits (insert, delete, replace) between two words, by the table of Levenshtein with one row kept.
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[32];
	size_t la = strlen(a), lb = strlen(b);

	if (la >= 32 || lb >= 32)
		return 32;
	for (unsigned j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (corner + 1 < best)
				best = corner + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

const struct vf_cli_command *vf_cli_nearest(const char *name)
{
	const struct vf_cli_command *best = NULL;
	unsigned least = 3;

	for (unsigned i = 0; vf_cli_commands[i]; i++) {
		const char *candidate = vf_cli_commands[i]->name;
		unsigned d = distance(name, candidate);

		if (strlen(name) >= 3 && strncmp(name, candidate, strlen(name)) == 0)
			d = 1;
		if (d < least && d < strlen(candidate)) {
			least = d;
			best = vf_cli_commands[i];
		}
	}
	return best;
}

static unsigned fill_getopt(const struct vf_cli_command *cmd, struct option *longs, char *shorts)
{
	unsigned n = 0, s = 0;

	if (cmd->stops_at_word)
		shorts[s++] = '+';
	for (; cmd->options[n].name && n < VF_CLI_OPTIONS_MAX; n++) {
		const struct vf_cli_option *o = &cmd->options[n];

		longs[n] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL,
					   o->id};
		if (o->id >= VF_CLI_LONG)
			continue;
		shorts[s++] = (char)o->id;
		if (o->arg)
			shorts[s++] = ':';
	}
	longs[n] = (struct option){NULL, 0, NULL, 0};
	shorts[s] = '\0';
	return n;
}

int vf_cli_next(const struct vf_cli_command *cmd, int argc, char **argv, const char **value)
{
	struct option longs[VF_CLI_OPTIONS_MAX + 1];
	char shorts[2 * VF_CLI_OPTIONS_MAX + 2];
	int got;

	fill_getopt(cmd, longs, shorts);
	got = getopt_long(argc, argv, shorts, longs, NULL);
	*value = optarg;
	if (got == 'h')
		vf_cli_help(cmd, stdout);
	if (got == '?')
		fprintf(stderr, "Try: verbifrost %s --help\n", cmd->name);
	return got;
}

static void help_row(FILE *to, const char *left, const char *right)
{
	int pad = HELP_COLUMN - (int)strlen(left);

	fprintf(to, "  %s", left);
	if (pad < 2)
		fprintf(to, "\n  %*s", HELP_COLUMN, "");
	else
		fprintf(to, "%*s", pad, "");
	vf_term_wrap(to, right, HELP_COLUMN + 2, 100);
}

void vf_cli_help(const struct vf_cli_command *cmd, FILE *to)
{
	char left[80];

	fprintf(to, "verbifrost %s: %s\n\nUsage: verbifrost %s [OPTIONS]%s%s\n\n", cmd->name,
		cmd->summary, cmd->name, *cmd->synopsis ? " " : "", cmd->synopsis);
	vf_term_wrap(to, cmd->about, 0, 100);
	fputs("\nOptions:\n", to);
	for (const struct vf_cli_option *o = cmd->options; o->name; o++) {
		if (o->id < VF_CLI_LONG)
			snprintf(left, sizeof(left), "-%c, --%s%s%s", o->id, o->name,
				 o->arg ? " " : "", o->arg ? o->arg : "");
		else
			snprintf(left, sizeof(left), "    --%s%s%s", o->name, o->arg ? " " : "",
				 o->arg ? o->arg : "");
		help_row(to, left, o->help);
	}
	fputs("\nExit status:\n", to);
	for (const struct vf_cli_exit *e = cmd->exits; e->meaning; e++) {
		snprintf(left, sizeof(left), "%d", e->status);
		help_row(to, left, e->meaning);
	}
}

void vf_cli_complain(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("verbifrost: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void vf_cli_complain_verb(const char *what)
{
	int err = errno;
	const char *reason = verbifrost_last_error();

	vf_cli_complain("%s: %s%s%s", what, strerror(err), *reason ? ": " : "", reason);
}

int vf_cli_usage(const struct vf_cli_command *cmd, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "verbifrost %s: ", cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry: verbifrost %s --help\n", cmd->name);
	return VF_EXIT_USAGE;
}

bool vf_cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char *const units = "kMG";
	unsigned shift = 0;
	char *end;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno)
		return false;
	if (*end) {
		const char *unit = strchr(units, *end == 'K' ? 'k' : *end);

		if (!unit || end[1])
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
	}
	if (n > UINT64_MAX >> shift || n << shift < min || n << shift > max)
		return false;
	*out = n << shift;
	return true;
}

bool vf_cli_real(const char *text, double min, double max, double *out)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v) || v < min || v > max)
		return false;
	*out = v;
	return true;
}

int vf_cli_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	vf_cli_complain("standard output: %s", strerror(errno));
	return status ? status : VF_EXIT_FAILED;
}

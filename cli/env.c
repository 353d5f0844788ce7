/* SPDX-License-Identifier: BSD-2-Clause */
/* verbifrost env: every environment variable that the library reads, from the library's own table.
 */
#include <getopt.h>
#include <string.h>

#include <verbifrost/verbifrost.h>

#include "json.h"
#include "cli.h"
#include "term.h"

static void print_json(void)
{
	struct vf_json j;
	struct verbifrost_setting s;

	vf_json_begin(&j, stdout);
	vf_json_open(&j, NULL, '{');
	vf_json_open(&j, "settings", '[');
	for (unsigned i = 0; verbifrost_query_setting(i, &s) == 0; i++) {
		vf_json_open(&j, NULL, '{');
		vf_json_text(&j, "name", s.name);
		vf_json_text(&j, "default", s.fallback);
		vf_json_text(&j, "value", s.value);
		vf_json_bool(&j, "is_default", strcmp(s.value, s.fallback) == 0);
		vf_json_text(&j, "help", s.help);
		vf_json_close(&j);
	}
	vf_json_close(&j);
	vf_json_close(&j);
}

static void print_text(void)
{
	struct verbifrost_setting s;

	for (unsigned i = 0; verbifrost_query_setting(i, &s) == 0; i++) {
		bool is_changed = strcmp(s.value, s.fallback) != 0;

		vf_term_paint(stdout, is_changed ? VF_YELLOW : VF_BOLD, s.name);
		printf("=%s", s.value);
		if (is_changed)
			printf("   (default: %s)", *s.fallback ? s.fallback : "empty");
		fputs("\n    ", stdout);
		vf_term_wrap(stdout, s.help, 4, 100);
	}
}

static int run(const struct vf_cli_command *self, int argc, char **argv)
{
	const char *value;
	bool json = false;
	int got;

	while ((got = vf_cli_next(self, argc, argv, &value)) != -1) {
		if (got == 'h')
			return VF_EXIT_OK;
		if (got != 'j')
			return VF_EXIT_USAGE;
		json = true;
	}
	if (optind < argc)
		return vf_cli_usage(self, "unexpected argument \"%s\"", argv[optind]);
	if (json)
		print_json();
	else
		print_text();
	return VF_EXIT_OK;
}

static const struct vf_cli_option options[] = {VF_CLI_JSON, VF_CLI_HELP};
static const struct vf_cli_exit exits[] = {{VF_EXIT_OK, "The variables were printed."},
					   {VF_EXIT_USAGE, "The command line is wrong."},
					   {0, NULL}};
const struct vf_cli_command vf_cmd_env = {
	.name = "env",
	.summary = "show every environment variable with default and current value",
	.synopsis = "",
	.about = "Prints each environment variable that Verbifrost reads, with the value in force, "
		 "its default where that differs, and what "
		 "it does. A variable that is not printed does not exist.",
	.options = options,
	.exits = exits,
	.run = run,
};

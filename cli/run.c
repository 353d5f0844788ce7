/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbifrost run: starts a program with the drop-in libraries before the system's. It becomes that
 * program (exec), so that process id, signals, terminal and exit status are the program's own.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "dropin.h"
#include "system.h"

/* The file that execvp would take, as shells look it up. */
static bool resolve(const char *command, char *out, size_t room)
{
	const char *path = getenv("PATH");
	struct stat st;

	if (strchr(command, '/')) {
		snprintf(out, room, "%s", command);
		return true;
	}
	path = path ? path : "/usr/local/bin:/usr/bin:/bin";
	while (path) {
		size_t len = strcspn(path, ":");

		if (snprintf(out, room, "%.*s%s%s", (int)len, path, len ? "/" : "./", command) <
			    (int)room &&
		    access(out, X_OK) == 0 && stat(out, &st) == 0 && S_ISREG(st.st_mode))
			return true;
		path = path[len] ? path + len + 1 : NULL;
	}
	return false;
}

static int prepend(const char *variable, const char *dir)
{
	const char *old = getenv(variable);
	size_t room = strlen(dir) + (old ? strlen(old) : 0) + 2;
	char *value;
	int rc;

	value = malloc(room);
	if (!value)
		return -1;
	snprintf(value, room, "%s%s%s", dir, old && *old ? ":" : "", old ? old : "");
	rc = setenv(variable, value, 1);
	free(value);
	return rc;
}

/* Whether the log's level as it is already prints refusals. */
static bool shows_refusals(void)
{
	static const char *const levels[] = {"warn", "info", "debug", "2", "3", "4"};
	const char *level = getenv("VERBIFROST_LOG");

	for (size_t i = 0; level && i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcmp(level, levels[i]) == 0)
			return true;
	return false;
}

/* Programs that need a setting, as the manual page says; what the environment has already is left. */
static int set_known(const char *command)
{
	static const struct {
		const char *program, *variable, *value;
	} known[] = {{"qperf", "VERBIFROST_LID", "on"}};
	const char *base = strrchr(command, '/');

	base = base ? base + 1 : command;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(base, known[i].program) == 0 &&
		    setenv(known[i].variable, known[i].value, 0) != 0)
			return -1;
	return 0;
}

static int start(const char *dir, bool explain, char **argv)
{
	char program[PATH_MAX];
	const char *why;

	if (resolve(argv[0], program, sizeof(program)) &&
	    (why = vf_system_loader_ignores(program)) != NULL)
		vf_cli_complain("warning: %s will not run on Verbifrost: %s", program, why);
	for (unsigned i = 0; vf_system_loader_paths[i]; i++)
		if (prepend(vf_system_loader_paths[i], dir) != 0) {
			vf_cli_complain("%s: %s", vf_system_loader_paths[i], strerror(errno));
			return VF_EXIT_RUN;
		}
	if (set_known(argv[0]) != 0) {
		vf_cli_complain("%s: %s", argv[0], strerror(errno));
		return VF_EXIT_RUN;
	}
	if (explain && !shows_refusals() && setenv("VERBIFROST_LOG", "warn", 1) != 0) {
		vf_cli_complain("VERBIFROST_LOG: %s", strerror(errno));
		return VF_EXIT_RUN;
	}
	execvp(argv[0], argv);
	vf_cli_complain("%s: %s", argv[0], strerror(errno));
	return errno == ENOENT ? VF_EXIT_NOT_FOUND : VF_EXIT_NOT_EXECUTABLE;
}

static int run(const struct vf_cli_command *self, int argc, char **argv)
{
	char dir[3 * PATH_MAX];
	const char *value, *given = NULL;
	bool explain = false, print = false;
	int got;

	while ((got = vf_cli_next(self, argc, argv, &value)) != -1) {
		switch (got) {
		case 'e':
			explain = true;
			break;
		case 'l':
			given = value;
			break;
		case 'p':
			print = true;
			break;
		case 'h':
			return VF_EXIT_OK;
		default:
			return VF_EXIT_RUN;
		}
	}
	if (given) {
		snprintf(dir, sizeof(dir), "%s", given);
	} else if (!vf_dropin_find(dir, sizeof(dir))) {
		vf_cli_complain("the drop-in libraries are not there; looked for %s in %s",
				vf_system_dropin_library, dir);
		return VF_EXIT_RUN;
	}
	if (print) {
		puts(dir);
		return VF_EXIT_OK;
	}
	if (optind == argc) {
		vf_cli_usage(self, "no command given");
		return VF_EXIT_RUN;
	}
	return start(dir, explain, argv + optind);
}

static const struct vf_cli_option options[] = {
	{'e', "explain", NULL,
	 "Print each refusal with its reason on standard error: sets VERBIFROST_LOG=warn."},
	{'l', "library-dir", "DIR", "Take the libraries from DIR instead of looking for them."},
	{'p', "print-dir", NULL, "Print the directory of the libraries and exit."},
	VF_CLI_HELP};
static const struct vf_cli_exit exits[] = {
	{VF_EXIT_RUN, "Verbifrost could not do its part, or the command line is wrong."},
	{VF_EXIT_NOT_EXECUTABLE, "The command was found but cannot be executed."},
	{VF_EXIT_NOT_FOUND, "The command was not found."},
	{0, NULL}};
const struct vf_cli_command vf_cmd_run = {
	.name = "run",
	.summary = "run any verbs program on Verbifrost",
	.synopsis = "[--] COMMAND [ARGUMENT...]",
	.about = "Starts COMMAND with the directory of Verbifrost's libibverbs and librdmacm "
		 "before all others in the loader's path, and becomes "
		 "it: any status but the ones below is the command's own, and signals reach it.",
	.options = options,
	.exits = exits,
	.stops_at_word = true,
	.run = run,
};

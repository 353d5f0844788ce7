/* SPDX-License-Identifier: BSD-2-Clause */
/* verbifrost doctor: runs the checks, prints the report in a form that can be pasted into an issue.
 */
#include "doctor.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <verbifrost/verbifrost.h>

#include "cli.h"
#include "json.h"
#include "side.h"
#include "term.h"

enum { OPT_PEER = VF_CLI_LONG, OPT_NO_TRANSFER };

const char *vf_check_state_name(enum vf_check_state state)
{
	static const char *const names[VF_CHECK_STATES] = {"ok", "note", "warn", "fail"};

	return names[state];
}

void vf_report_add(struct vf_report *r, enum vf_check_state state, const char *id, const char *fmt,
		   ...)
{
	struct vf_check *c;
	va_list ap;

	if (r->n == VF_CHECKS_MAX)
		return;
	c = &r->checks[r->n++];
	c->state = state;
	c->id = id;
	c->fix[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(c->text, sizeof(c->text), fmt, ap);
	va_end(ap);
}

void vf_report_fix(struct vf_report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->n == 0)
		return;
	va_start(ap, fmt);
	vsnprintf(r->checks[r->n - 1].fix, sizeof(r->checks[0].fix), fmt, ap);
	va_end(ap);
}

static unsigned count(const struct vf_report *r, enum vf_check_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++)
		n += r->checks[i].state == state;
	return n;
}

static void print_check(const struct vf_check *c)
{
	static const enum vf_colour colours[VF_CHECK_STATES] = {VF_GREEN, VF_PLAIN, VF_YELLOW,
								VF_RED};
	char word[8];

	snprintf(word, sizeof(word), "%-4s", vf_check_state_name(c->state));
	vf_term_paint(stdout, colours[c->state], word);
	printf("  %-12s ", c->id);
	vf_term_wrap(stdout, c->text, 19, 110);
	if (c->fix[0])
		printf("%*sto fix it: %s\n", 19, "", c->fix);
}

static void print_head(void)
{
	struct utsname u;
	struct verbifrost_setting s;

	if (uname(&u) == 0)
		printf("verbifrost %s (library %s) on %s %s, %s\n", VERBIFROST_VERSION,
		       verbifrost_version(), u.sysname, u.release, u.machine);
	for (unsigned i = 0; verbifrost_query_setting(i, &s) == 0; i++)
		if (strcmp(s.value, s.fallback) != 0)
			printf("%s=%s\n", s.name, s.value);
	fputc('\n', stdout);
}

static void print_text(const struct vf_report *r)
{
	unsigned failed = count(r, VF_CHECK_FAIL), warned = count(r, VF_CHECK_WARN);

	print_head();
	for (unsigned i = 0; i < r->n; i++)
		print_check(&r->checks[i]);
	printf("\n%u checks: %u ok, %u to note, %u warnings, %u failed.%s\n", r->n,
	       count(r, VF_CHECK_OK), count(r, VF_CHECK_NOTE), warned, failed,
	       failed || warned ? " For help, paste all of this into an issue." : "");
}

static void print_json(const struct vf_report *r, int status)
{
	struct vf_json j;
	struct utsname u;

	vf_json_begin(&j, stdout);
	vf_json_open(&j, NULL, '{');
	vf_json_u64(&j, "format", 1);
	vf_json_text(&j, "version", verbifrost_version());
	if (uname(&u) == 0) {
		vf_json_text(&j, "system", u.sysname);
		vf_json_text(&j, "release", u.release);
		vf_json_text(&j, "machine", u.machine);
	}
	vf_json_open(&j, "checks", '[');
	for (unsigned i = 0; i < r->n; i++) {
		vf_json_open(&j, NULL, '{');
		vf_json_text(&j, "check", r->checks[i].id);
		vf_json_text(&j, "state", vf_check_state_name(r->checks[i].state));
		vf_json_text(&j, "text", r->checks[i].text);
		vf_json_text(&j, "fix", r->checks[i].fix[0] ? r->checks[i].fix : NULL);
		vf_json_close(&j);
	}
	vf_json_close(&j);
	vf_json_u64(&j, "failed", count(r, VF_CHECK_FAIL));
	vf_json_u64(&j, "exit_status", (uint64_t)status);
	vf_json_close(&j);
}

static int run(const struct vf_cli_command *self, int argc, char **argv)
{
	const char *value, *peer = NULL, *port = VF_SIDE_PORT;
	bool json = false, no_transfer = false;
	struct vf_report *r;
	int got, status;

	while ((got = vf_cli_next(self, argc, argv, &value)) != -1) {
		if (got == 'h')
			return VF_EXIT_OK;
		if (got == '?')
			return VF_EXIT_USAGE;
		json |= got == 'j';
		no_transfer |= got == OPT_NO_TRANSFER;
		peer = got == OPT_PEER ? value : peer;
		port = got == 'p' ? value : port;
	}
	if (optind < argc)
		return vf_cli_usage(self, "unexpected argument \"%s\"", argv[optind]);
	r = calloc(1, sizeof(*r));
	if (!r)
		return VF_EXIT_FAILED;
	vf_doctor_library(r);
	vf_doctor_dropin(r);
	vf_doctor_system(r);
	vf_doctor_network(r);
	vf_doctor_devices(r);
	if (!no_transfer)
		vf_doctor_self_test(r);
	if (peer)
		vf_doctor_peer(r, peer, port);
	status = count(r, VF_CHECK_FAIL) ? VF_EXIT_FAILED : VF_EXIT_OK;
	if (json)
		print_json(r, status);
	else
		print_text(r);
	free(r);
	return status;
}

static const struct vf_cli_option options[] = {
	{OPT_PEER, "peer", "HOST",
	 "Also send messages to the host where \"verbifrost bench --server\" runs."},
	{'p', "port", "PORT", "TCP port of the side channel to that host (4791)."},
	{OPT_NO_TRANSFER, "no-transfer", NULL,
	 "Leave out the transfers between two processes of this host."},
	VF_CLI_JSON,
	VF_CLI_HELP};
static const struct vf_cli_exit exits[] = {{VF_EXIT_OK, "Nothing is wrong; there may be warnings."},
					   {VF_EXIT_FAILED, "Something does not work."},
					   {VF_EXIT_USAGE, "The command line is wrong."},
					   {0, NULL}};
const struct vf_cli_command vf_cmd_doctor = {
	.name = "doctor",
	.summary = "say what works, what does not, why, and the command that would fix it",
	.synopsis = "",
	.about = "Looks at the library, the drop-in directory, the system's limits, the UDP port, "
		 "every device and port, registers memory of each kind, and "
		 "moves data between two processes over each active device. Each row says what was "
		 "found; where something can be done, the exact "
		 "command follows. The whole output is fit to be pasted into an issue.",
	.options = options,
	.exits = exits,
	.run = run,
};

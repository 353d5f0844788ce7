/* SPDX-License-Identifier: BSD-2-Clause */
/* verbifrost ping: single messages back and forth, one line each: does RDMA work between here and
 * there? */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bench.h"
#include "cli.h"
#include "json.h"

enum { OPT_SELF = VF_CLI_LONG, OPT_SERVER, OPT_ONCE };

static const struct vf_bench_options *shown; /* what each() prints for */

static void each(uint64_t message, uint64_t ns)
{
	if (shown->json)
		return;
	if (ns)
		printf("%u bytes, seq %llu: %.1f us\n", shown->sizes[0],
		       (unsigned long long)message, (double)ns / 1e3);
	else
		printf("seq %llu: lost\n", (unsigned long long)message);
	fflush(stdout);
}

static void print_json(const struct vf_bench_session *s, const struct vf_bench_result *r,
		       int status)
{
	struct vf_json j;

	vf_json_begin(&j, stdout);
	vf_json_open(&j, NULL, '{');
	vf_json_u64(&j, "format", 1);
	vf_json_text(&j, "device", s->device[0] ? s->device : NULL);
	vf_json_text(&j, "gid", s->gid[0] ? s->gid : NULL);
	vf_json_text(&j, "transport", vf_bench_transport_name(r->what.transport));
	vf_json_u64(&j, "size", r->what.size);
	vf_json_u64(&j, "sent", r->sent);
	vf_json_u64(&j, "answered", r->arrived);
	vf_json_u64(&j, "lost", r->lost);
	vf_json_u64(&j, "corrupt", r->corrupt);
	/* the histogram holds half round trips */
	vf_json_real(&j, "round_trip_min_us",
		     r->latency.count ? (double)r->latency.min * 2 / 1e3 : 0, 3);
	vf_json_real(&j, "round_trip_p50_us", (double)vf_hist_percentile(&r->latency, 50) * 2 / 1e3,
		     3);
	vf_json_real(&j, "round_trip_max_us", (double)r->latency.max * 2 / 1e3, 3);
	vf_json_text(&j, "error", s->error[0] ? s->error : NULL);
	vf_json_u64(&j, "exit_status", (uint64_t)status);
	vf_json_close(&j);
}

static int ping(const struct vf_bench_options *o, enum vf_bench_transport transport)
{
	struct vf_bench_case c = {.transport = transport,
				  .op = VF_BENCH_SEND,
				  .measure = VF_BENCH_LATENCY,
				  .verify = true,
				  .size = o->sizes[0],
				  .slots = 8,
				  .count = o->count,
				  .interval_ns = o->interval_ns};
	struct vf_bench_session s;
	struct vf_bench_result *r = calloc(1, sizeof(*r));
	int status = r ? vf_bench_session_begin(&s, o) : VF_EXIT_FAILED;

	if (status != VF_EXIT_OK) {
		snprintf(s.error, sizeof(s.error), "not begun; standard error says why");
		if (o->json && r)
			print_json(&s, r, status);
		free(r);
		return status;
	}
	shown = o;
	if (!o->json)
		printf("%s ping with %s by %s GID %d (%s)\n", vf_bench_transport_name(transport),
		       o->is_self ? "another process of this host" : o->host, s.device, s.gid_index,
		       s.gid);
	if (vf_bench_session_run(&s, &c, r, each) < 0 || r->arrived == 0 || r->corrupt || r->lost)
		status = VF_EXIT_FAILED;
	vf_bench_session_end(&s);
	if (o->json)
		print_json(&s, r, status);
	else if (r->sent)
		printf("%llu sent, %llu answered, %llu lost, %llu with wrong contents; round trip "
		       "%.1f / %.1f / %.1f us (least, median, most)\n",
		       (unsigned long long)r->sent, (unsigned long long)r->arrived,
		       (unsigned long long)(r->sent - r->arrived), (unsigned long long)r->corrupt,
		       r->latency.count ? (double)r->latency.min * 2 / 1e3 : 0,
		       (double)vf_hist_percentile(&r->latency, 50) * 2 / 1e3,
		       (double)r->latency.max * 2 / 1e3);
	if (s.error[0])
		vf_cli_complain("%s", s.error);
	free(r);
	return status;
}

static bool take(int got, const char *value, struct vf_bench_options *o,
		 enum vf_bench_transport *transport)
{
	uint64_t number = 0;
	double seconds = 0;
	bool is_good = true;

	switch (got) {
	case 'd':
		o->device = value;
		return true;
	case 'p':
		o->port = value;
		return true;
	case 'g':
		is_good = vf_cli_number(value, 0, 255, &number);
		o->gid_index = (int)number;
		return is_good;
	case 's':
		is_good = vf_cli_number(value, 1, 1 << 20, &number);
		o->sizes[0] = (uint32_t)number;
		return is_good;
	case 'n':
		return vf_cli_number(value, 1, UINT32_MAX, &o->count);
	case 'i':
		is_good = vf_cli_real(value, 0, 3600, &seconds);
		o->interval_ns = (uint64_t)(seconds * 1e9);
		return is_good;
	case 't':
		for (enum vf_bench_transport t = VF_BENCH_RC; t < VF_BENCH_TRANSPORTS; t++)
			if (strlen(value) == 2 &&
			    (value[0] | 0x20) == (vf_bench_transport_name(t)[0] | 0x20) &&
			    (value[1] | 0x20) == (vf_bench_transport_name(t)[1] | 0x20)) {
				*transport = t;
				return true;
			}
		return false;
	default:
		o->json |= got == 'j';
		o->is_self |= got == OPT_SELF;
		o->is_server |= got == OPT_SERVER;
		o->is_once |= got == OPT_ONCE;
		return true;
	}
}

static int run(const struct vf_cli_command *self, int argc, char **argv)
{
	struct vf_bench_options o = {.port = VF_SIDE_PORT,
				     .gid_index = -1,
				     .sizes = {64},
				     .n_sizes = 1,
				     .count = 5,
				     .interval_ns = 500 * VF_MSEC};
	enum vf_bench_transport transport = VF_BENCH_RC;
	const char *value;
	int got;

	while ((got = vf_cli_next(self, argc, argv, &value)) != -1) {
		if (got == 'h')
			return VF_EXIT_OK;
		if (got == '?')
			return VF_EXIT_USAGE;
		if (!take(got, value, &o, &transport))
			return vf_cli_usage(self, "\"%s\" is no value for that option", value);
	}
	if (optind < argc)
		o.host = argv[optind++];
	if (optind < argc)
		return vf_cli_usage(self, "unexpected argument \"%s\"", argv[optind]);
	if (o.is_server + o.is_self + (o.host != NULL) != 1)
		return vf_cli_usage(self, "give one of HOST, --self and --server");
	signal(SIGPIPE, SIG_IGN);
	return o.is_server ? vf_bench_serve(&o) : ping(&o, transport);
}

static const struct vf_cli_option options[] = {
	{OPT_SELF, "self", NULL, "Between two processes of this host; no other end is needed."},
	{OPT_SERVER, "server", NULL,
	 "Be the other end, for ping and bench; the same as bench --server."},
	{OPT_ONCE, "once", NULL, "With --server: end after the first asker."},
	{'d', "device", "NAME",
	 "Use this device; without it the one that has the address of the TCP connection."},
	{'g', "gid-index", "N",
	 "Use this GID; without it the one that is the address of the TCP connection, else the "
	 "first IPv4 one."},
	{'p', "port", "PORT", "TCP port of the side channel (4791)."},
	{'t', "transport", "NAME", "rc, uc or ud (rc)."},
	{'s', "size", "BYTES", "Size of a message (64)."},
	{'n', "count", "N", "Messages (5)."},
	{'i', "interval", "SECONDS", "Time from one message to the next (0.5)."},
	VF_CLI_JSON,
	VF_CLI_HELP};
static const struct vf_cli_exit exits[] = {
	{VF_EXIT_OK, "Every message was answered with the right contents."},
	{VF_EXIT_FAILED, "One was not, or the peer is not there."},
	{VF_EXIT_USAGE, "The command line is wrong."},
	{0, NULL}};
const struct vf_cli_command vf_cmd_ping = {
	.name = "ping",
	.summary = "send single messages back and forth and show the time of each",
	.synopsis = "HOST | --self | --server",
	.about = "Sends messages to the host where \"verbifrost ping --server\" runs, or to "
		 "another process of this host, and prints the round trip of "
		 "each. Contents are verified both ways. A peer that is gone, stopped or cut off "
		 "is reported within five seconds with the cause.",
	.options = options,
	.exits = exits,
	.run = run,
};

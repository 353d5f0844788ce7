/* SPDX-License-Identifier: BSD-2-Clause */
/* verbifrost bench: the command line, and the sweep over what was asked for. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "bench.h"
#include "cli.h"
#include "json.h"
#include "term.h"

#define PREFLIGHTS   3 /* a link must be slow each time to be called slow */
#define RESULTS_MAX  1024u
#define BUFFER_BYTES (16u << 20) /* of messages in flight, at most */

enum {
	OPT_SELF = VF_CLI_LONG,
	OPT_SERVER,
	OPT_ONCE,
	OPT_MTU,
	OPT_DEPTH,
	OPT_NO_VERIFY,
	OPT_LINK_RATE,
	OPT_NO_PREFLIGHT
};

/* Takes one word of a list: the index of it among @names, @n for "all", -1 for neither. */
static int word_index(const char *word, size_t len, const char *const *names, int n)
{
	if (len == 3 && strncasecmp(word, "all", 3) == 0)
		return n;
	for (int i = 0; i < n; i++)
		if (strlen(names[i]) == len && strncasecmp(names[i], word, len) == 0)
			return i;
	return -1;
}

static bool parse_words(const char *text, const char *const *names, int n, bool *set)
{
	memset(set, 0, sizeof(*set) * (size_t)n);
	while (*text) {
		size_t len = strcspn(text, ",");
		int at = word_index(text, len, names, n);

		if (at < 0)
			return false;
		for (int i = 0; i < n; i++)
			set[i] |= at == n || at == i;
		text += len + (text[len] == ',');
	}
	return true;
}

/* "64,4k,1:1M": single sizes, and ranges that double. */
static bool parse_sizes(const char *text, struct vf_bench_options *o)
{
	o->n_sizes = 0;
	while (*text) {
		char word[32];
		size_t len = strcspn(text, ",");
		char *colon;
		uint64_t from, to;

		if (len == 0 || len >= sizeof(word))
			return false;
		memcpy(word, text, len);
		word[len] = '\0';
		colon = strchr(word, ':');
		if (colon)
			*colon = '\0';
		if (!vf_cli_number(word, 1, VF_BENCH_SIZE_MAX, &from))
			return false;
		if (!vf_cli_number(colon ? colon + 1 : word, from, VF_BENCH_SIZE_MAX, &to))
			return false;
		for (uint64_t size = from; size <= to; size *= 2) {
			if (o->n_sizes == sizeof(o->sizes) / sizeof(o->sizes[0]))
				return false;
			o->sizes[o->n_sizes++] = (uint32_t)size;
		}
		text += len + (text[len] == ',');
	}
	return o->n_sizes > 0;
}

static bool parse_seconds(const char *text, uint64_t *ns)
{
	double seconds;

	if (!vf_cli_real(text, 0.001, 86400, &seconds))
		return false;
	*ns = (uint64_t)(seconds * 1e9);
	return true;
}

static bool take_selection(int got, const char *value, struct vf_bench_options *o)
{
	static const char *const transports[] = {"rc", "uc", "ud"},
				 *const ops[] = {"send", "write", "read", "atomic"},
				 *const measures[] = {"bandwidth", "latency"};

	switch (got) {
	case 't':
		return parse_words(value, transports, VF_BENCH_TRANSPORTS, o->transports);
	case 'o':
		return parse_words(value, ops, VF_BENCH_OPS, o->ops);
	case 'm':
		return parse_words(value, measures, VF_BENCH_MEASURES, o->measures);
	case 's':
		return parse_sizes(value, o);
	default:
		return false;
	}
}

static bool take_value(int got, const char *value, struct vf_bench_options *o)
{
	uint64_t number = 0;
	double real = 0;
	bool is_good = true;

	switch (got) {
	case 'D':
		return parse_seconds(value, &o->duration_ns);
	case 'n':
		return vf_cli_number(value, 1, UINT64_MAX >> 16, &o->count);
	case 'g':
		is_good = vf_cli_number(value, 0, 255, &number);
		o->gid_index = (int)number;
		return is_good;
	case OPT_MTU:
		is_good = vf_cli_number(value, 256, 4096, &number) && (number & (number - 1)) == 0;
		o->mtu = (uint32_t)number;
		return is_good;
	case OPT_DEPTH:
		is_good = vf_cli_number(value, 2, VF_BENCH_SLOTS_MAX, &number);
		o->depth = (uint32_t)number;
		return is_good;
	case OPT_LINK_RATE:
		is_good = vf_cli_real(value, 0.001, 1e6, &real);
		o->link_rate = real * 1e9;
		return is_good;
	case 'd':
		o->device = value;
		return true;
	case 'p':
		o->port = value;
		return true;
	default:
		return take_selection(got, value, o);
	}
}

static bool take_switch(int got, struct vf_bench_options *o)
{
	switch (got) {
	case 'j':
		o->json = true;
		return true;
	case 'e':
		o->events = true;
		return true;
	case OPT_SELF:
		o->is_self = true;
		return true;
	case OPT_SERVER:
		o->is_server = true;
		return true;
	case OPT_ONCE:
		o->is_once = true;
		return true;
	case OPT_NO_VERIFY:
		o->verify = false;
		return true;
	case OPT_NO_PREFLIGHT:
		o->no_preflight = true;
		return true;
	default:
		return false;
	}
}

static void defaults(struct vf_bench_options *o)
{
	static const uint32_t sizes[] = {64, 4096, 65536, 1 << 20};

	memset(o, 0, sizeof(*o));
	o->port = VF_SIDE_PORT;
	o->gid_index = -1;
	o->verify = true;
	o->transports[VF_BENCH_RC] = true;
	o->ops[VF_BENCH_SEND] = true;
	o->measures[VF_BENCH_BANDWIDTH] = o->measures[VF_BENCH_LATENCY] = true;
	o->duration_ns = 500 * VF_MSEC;
	o->depth = 64;
	memcpy(o->sizes, sizes, sizeof(sizes));
	o->n_sizes = sizeof(sizes) / sizeof(sizes[0]);
}

static uint32_t slots_for(const struct vf_bench_options *o, enum vf_bench_measure measure,
			  uint32_t size)
{
	uint32_t slots = measure == VF_BENCH_LATENCY ? 8 : o->depth, fit = BUFFER_BYTES / size;

	if (slots > fit)
		slots = fit;
	return slots < 2 ? 2 : slots;
}

/* The next case that the options ask for and that can be: sizes fastest, then operations,
 * transports, measures. False: that was the last. */
static bool next_case(const struct vf_bench_options *o, uint32_t mtu, unsigned *at,
		      struct vf_bench_case *c)
{
	unsigned all = o->n_sizes * VF_BENCH_OPS * VF_BENCH_TRANSPORTS * VF_BENCH_MEASURES;

	for (; *at < all; ++*at) {
		unsigned rest = *at;
		uint32_t size = o->sizes[rest % o->n_sizes];
		bool is_first = rest % o->n_sizes == 0;
		enum vf_bench_op op = (enum vf_bench_op)((rest /= o->n_sizes) % VF_BENCH_OPS);
		enum vf_bench_transport t =
			(enum vf_bench_transport)((rest /= VF_BENCH_OPS) % VF_BENCH_TRANSPORTS);
		enum vf_bench_measure m = (enum vf_bench_measure)(rest / VF_BENCH_TRANSPORTS);

		if (!o->ops[op] || !o->transports[t] || !o->measures[m] ||
		    !vf_bench_is_possible(t, op))
			continue;
		if (op == VF_BENCH_ATOMIC && !is_first)
			continue; /* it has one size */
		if (op == VF_BENCH_ATOMIC)
			size = 8;
		if (t == VF_BENCH_UD && size > (o->mtu ? o->mtu : mtu))
			continue; /* a datagram is one packet */
		*c = (struct vf_bench_case){.transport = t,
					    .op = op,
					    .measure = m,
					    .verify = o->verify,
					    .events = o->events,
					    .size = size,
					    .slots = slots_for(o, m, size),
					    .mtu = o->mtu,
					    .count = o->count,
					    .duration_ns = o->duration_ns};
		++*at;
		return true;
	}
	return false;
}

/* A short look at the link before the sweep, when there is one between the ends. */
static int preflight(struct vf_bench_session *s, const struct vf_bench_options *o, char *text,
		     size_t room)
{
	struct vf_bench_case c = {.size = 65536,
				  .slots = 64,
				  .duration_ns = 300 * VF_MSEC,
				  .verify = true,
				  .mtu = o->mtu};
	struct vf_bench_result *r;
	int rc = 0;

	for (unsigned t = 0; t < VF_BENCH_TRANSPORTS; t++)
		if (o->transports[t] && t != VF_BENCH_UD) {
			c.transport = (enum vf_bench_transport)t;
			break;
		}
	r = malloc(sizeof(*r));
	if (!r)
		return -1;
	for (int i = 0; i < PREFLIGHTS; i++) {
		rc = vf_bench_session_run(s, &c, r, NULL);
		if (rc == 0 && s->is_same_host && o->link_rate <= 0)
			snprintf(text, room,
				 "not judged: both ends are on this host, so no link is between "
				 "them");
		else if (rc == 0)
			rc = vf_bench_verdict(s, r, 1, text, room);
		if (rc <= 0 || r->is_above_link)
			break;
	}
	free(r);
	return rc;
}

struct sweep {
	struct vf_bench_session s;
	struct vf_bench_result *results;
	unsigned n;
	int status;
	char preflight[200], error[340];
};

/* The worse of two statuses: a failure is worse than a doubt. */
static int worse(int a, int b)
{
	return a == VF_EXIT_FAILED || b == VF_EXIT_FAILED ? VF_EXIT_FAILED : a > b ? a : b;
}

static void run_sweep(struct sweep *w, const struct vf_bench_options *o)
{
	struct vf_bench_case c;
	unsigned at = 0;
	int before = -1;

	while (w->n < RESULTS_MAX && next_case(o, w->s.mtu, &at, &c)) {
		struct vf_bench_result *r = &w->results[w->n];

		if (vf_bench_session_run(&w->s, &c, r, NULL) < 0) {
			snprintf(w->error, sizeof(w->error), "%s %s of %u bytes: %s",
				 vf_bench_transport_name(c.transport), vf_bench_op_name(c.op),
				 c.size, w->s.error);
			w->status = VF_EXIT_FAILED;
			return;
		}
		w->n++;
		if (w->s.is_same_host && o->link_rate <= 0)
			r->is_above_link = false;
		if (r->corrupt || r->arrived == 0)
			w->status = VF_EXIT_FAILED;
		if (r->is_above_link)
			w->status = worse(w->status, VF_EXIT_DOUBTFUL);
		if (!o->json)
			vf_bench_print_row(r, before != (int)c.measure);
		before = (int)c.measure;
	}
}

static void print_json(const struct sweep *w)
{
	struct vf_json j;

	vf_json_begin(&j, stdout);
	vf_json_open(&j, NULL, '{');
	vf_json_u64(&j, "format", 1);
	vf_json_text(&j, "device", w->s.device[0] ? w->s.device : NULL);
	vf_json_text(&j, "gid", w->s.gid[0] ? w->s.gid : NULL);
	vf_json_u64(&j, "active_mtu", w->s.mtu);
	vf_json_real(&j, "link_bits_per_s", w->s.link_rate, 0);
	vf_json_bool(&j, "same_host", w->s.is_same_host);
	vf_json_text(&j, "preflight", w->preflight[0] ? w->preflight : NULL);
	vf_json_open(&j, "results", '[');
	for (unsigned i = 0; i < w->n; i++)
		vf_bench_json_row(&j, &w->results[i]);
	vf_json_close(&j);
	vf_bench_json_counters(&j, w->s.ctx);
	vf_json_text(&j, "error", w->error[0] ? w->error : NULL);
	vf_json_u64(&j, "exit_status", (uint64_t)w->status);
	vf_json_close(&j);
}

static bool lost_any(const struct sweep *w)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->results[i].lost || w->results[i].duplicates)
			return true;
	return w->error[0];
}

static int measure(const struct vf_bench_options *o)
{
	struct sweep w;
	int rc;

	memset(&w, 0, sizeof(w));
	w.results = calloc(RESULTS_MAX, sizeof(*w.results));
	if (!w.results)
		return VF_EXIT_FAILED;
	w.status = vf_bench_session_begin(&w.s, o);
	if (w.status != VF_EXIT_OK) {
		snprintf(w.error, sizeof(w.error), "not begun; standard error says why");
		if (o->json)
			print_json(&w);
		free(w.results);
		return w.status;
	}
	if (!o->json)
		vf_bench_print_head(&w.s, o);
	if (!o->no_preflight && (!o->is_self || o->link_rate > 0)) {
		rc = preflight(&w.s, o, w.preflight, sizeof(w.preflight));
		if (rc < 0) {
			w.status = VF_EXIT_FAILED;
			snprintf(w.error, sizeof(w.error), "preflight: %s", w.s.error);
		} else if (rc > 0) {
			w.status = VF_EXIT_DOUBTFUL;
		}
		if (!o->json && rc >= 0)
			printf("Preflight: %s\n", w.preflight);
	}
	if (w.status != VF_EXIT_FAILED)
		run_sweep(&w, o);
	if (o->json)
		print_json(&w);
	else if (lost_any(&w))
		vf_bench_print_trouble(w.s.ctx);
	vf_bench_session_end(&w.s);
	if (w.error[0])
		vf_cli_complain("%s", w.error);
	free(w.results);
	return w.status;
}

static int check(const struct vf_cli_command *self, struct vf_bench_options *o)
{
	struct vf_bench_case c;
	unsigned at = 0;

	if (o->is_server + o->is_self + (o->host != NULL) != 1)
		return vf_cli_usage(self, "give one of HOST, --self and --server");
	if (!o->is_server && !next_case(o, 4096, &at, &c))
		return vf_cli_usage(self, "nothing to measure: UC has no read and atomic, UD only "
					  "send, and no message larger than a packet");
	return VF_EXIT_OK;
}

static int run(const struct vf_cli_command *self, int argc, char **argv)
{
	struct vf_bench_options o;
	const char *value;
	int got, status;

	defaults(&o);
	while ((got = vf_cli_next(self, argc, argv, &value)) != -1) {
		if (got == 'h')
			return VF_EXIT_OK;
		if (got == '?')
			return VF_EXIT_USAGE;
		if (take_switch(got, &o))
			continue;
		if (!take_value(got, value, &o))
			return vf_cli_usage(self, "\"%s\" is no value for that option", value);
	}
	if (optind < argc)
		o.host = argv[optind++];
	if (optind < argc)
		return vf_cli_usage(self, "unexpected argument \"%s\"", argv[optind]);
	status = check(self, &o);
	if (status != VF_EXIT_OK)
		return status;
	signal(SIGPIPE, SIG_IGN); /* a peer that went away is an error of the socket, not an end */
	return o.is_server ? vf_bench_serve(&o) : measure(&o);
}

static const struct vf_cli_option options[] = {
	{OPT_SELF, "self", NULL,
	 "Measure between two processes of this host; no other end is needed."},
	{OPT_SERVER, "server", NULL, "Be the other end: wait for askers, one after the other."},
	{OPT_ONCE, "once", NULL, "With --server: end after the first asker."},
	{'d', "device", "NAME",
	 "Use this device; without it the one that has the address of the TCP connection."},
	{'g', "gid-index", "N",
	 "Use this GID; without it the one that is the address of the TCP connection, else the "
	 "first IPv4 one."},
	{'p', "port", "PORT", "TCP port of the side channel (4791)."},
	{'t', "transport", "LIST", "Transports: rc, uc, ud or all, separated by commas (rc)."},
	{'o', "operation", "LIST",
	 "Operations: send, write, read, atomic or all (send). What a transport does not have is "
	 "left out."},
	{'m', "measure", "LIST", "bandwidth, latency or all (all)."},
	{'s', "size", "LIST",
	 "Sizes in bytes, k, M or G behind them for powers of 1024; A:B is A, 2A, 4A up to B "
	 "(64,4k,64k,1M)."},
	{'n', "count", "N", "Send so many messages in each case instead of measuring by time."},
	{'D', "duration", "SECONDS", "Measure each case for so long (0.5)."},
	{OPT_DEPTH, "depth", "N",
	 "Messages in flight when measuring bandwidth, 2 to 1024 (64; fewer when they would take "
	 "more than 16 MiB)."},
	{OPT_MTU, "mtu", "BYTES",
	 "Path MTU at most: 256, 512, 1024, 2048 or 4096 (what both ports have)."},
	{'e', "events", NULL, "Sleep until completions arrive instead of polling."},
	{OPT_NO_VERIFY, "no-verify", NULL, "Do not fill and check the contents of each message."},
	{OPT_LINK_RATE, "link-rate", "GBIT",
	 "Rate of the link in Gbit/s to judge figures by, instead of what the port says."},
	{OPT_NO_PREFLIGHT, "no-preflight", NULL,
	 "Leave out the short look at the link before the measurements."},
	VF_CLI_JSON,
	VF_CLI_HELP};
static const struct vf_cli_exit exits[] = {
	{VF_EXIT_OK, "Everything was measured, and all contents were right."},
	{VF_EXIT_FAILED,
	 "A case failed, contents were wrong, nothing arrived, or the peer is not there."},
	{VF_EXIT_DOUBTFUL,
	 "Measured, but the link is up and slow, or a figure is above the rate of the link."},
	{VF_EXIT_USAGE, "The command line is wrong."},
	{0, NULL}};
const struct vf_cli_command vf_cmd_bench = {
	.name = "bench",
	.summary = "measure bandwidth and latency, with contents verified",
	.synopsis = "HOST | --self | --server",
	.about = "Measures between this host and the one where \"verbifrost bench --server\" runs, "
		 "or between two processes of this host. Bandwidth is taken "
		 "where the data arrives, from its first message to its last; what the sender saw "
		 "is printed beside it. Every message is recognised by its "
		 "contents. What UC and UD lose is counted.",
	.options = options,
	.exits = exits,
	.run = run,
};

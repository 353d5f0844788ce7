/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of measurements as tables and JSON, and what they say about the link. */
#include <stdio.h>
#include <string.h>

#include <verbifrost/verbifrost.h>

#include "bench.h"
#include "device.h"
#include "json.h"
#include "term.h"

#define SHAPE 20u

void vf_bench_print_head(const struct vf_bench_session *s, const struct vf_bench_options *o)
{
	char rate[32];

	vf_rate_text(s->link_rate, rate, sizeof(rate));
	printf("%s port %u, GID %d (%s), MTU %u, link %s; %s%s\n", s->device, s->port, s->gid_index,
	       s->gid, s->mtu, rate, o->is_self ? "both ends on this host, two processes" : "with ",
	       o->is_self ? "" : o->host);
}

static void print_bandwidth(const struct vf_bench_result *r, bool is_first)
{
	char sent[24];

	if (is_first)
		printf("\nBandwidth in Gbit/s, measured where the data "
		       "arrives%s\n%-5s%-8s%11s%12s%9s%11s%11s%13s\n",
		       r->what.verify ? ", contents verified" : ", contents NOT verified", "", "",
		       "size", "messages", "lost", "received", "sent", "messages/s");
	snprintf(sent, sizeof(sent), r->sender_rate > 0 ? "%.3f" : "-", r->sender_rate * 8 / 1e9);
	printf("%-5s%-8s%11u%12llu%9llu%11.3f%11s%13.0f",
	       vf_bench_transport_name(r->what.transport), vf_bench_op_name(r->what.op),
	       r->what.size, (unsigned long long)r->sent, (unsigned long long)r->lost,
	       r->receiver_rate * 8 / 1e9, sent, r->messages_per_s);
}

static void print_latency(const struct vf_bench_result *r, bool is_first)
{
	static const double percents[] = {50, 90, 99, 99.9, 100};
	char shape[4 * SHAPE + 1];

	if (is_first)
		printf("\nLatency in microseconds (send, write: half the round trip; read, atomic: "
		       "the whole)%s\n"
		       "%-5s%-8s%11s%12s%9s%9s%9s%9s%9s%10s  %s\n",
		       r->what.verify ? ", contents verified" : "", "", "", "size", "messages",
		       "lost", "p50", "p90", "p99", "p99.9", "max", "shape, least to p99.9");
	printf("%-5s%-8s%11u%12llu%9llu", vf_bench_transport_name(r->what.transport),
	       vf_bench_op_name(r->what.op), r->what.size, (unsigned long long)r->sent,
	       (unsigned long long)r->lost);
	for (unsigned i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		printf(i == 4 ? " %9.2f" : " %8.2f",
		       (double)vf_hist_percentile(&r->latency, percents[i]) / 1e3);
	vf_term_sparkline(&r->latency, SHAPE, vf_term_has_blocks(stdout), shape, sizeof(shape));
	printf("  |%s|", shape);
}

void vf_bench_print_row(const struct vf_bench_result *r, bool is_first)
{
	if (r->what.measure == VF_BENCH_BANDWIDTH)
		print_bandwidth(r, is_first);
	else
		print_latency(r, is_first);
	if (r->corrupt) {
		char text[48];

		snprintf(text, sizeof(text), "  %llu WRONG", (unsigned long long)r->corrupt);
		vf_term_paint(stdout, VF_RED, text);
	}
	if (r->duplicates)
		printf("  %llu twice", (unsigned long long)r->duplicates);
	if (r->is_above_link)
		vf_term_paint(stdout, VF_YELLOW, "  ABOVE LINK RATE");
	fputc('\n', stdout);
	fflush(stdout);
}

static void json_latency(struct vf_json *j, const struct vf_hist *h)
{
	static const struct {
		const char *name;
		double percent;
	} rows[] = {{"p50_us", 50}, {"p90_us", 90}, {"p99_us", 99}, {"p99_9_us", 99.9}};

	vf_json_real(j, "min_us", h->count ? (double)h->min / 1e3 : 0, 3);
	vf_json_real(j, "mean_us", h->count ? (double)h->sum / (double)h->count / 1e3 : 0, 3);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		vf_json_real(j, rows[i].name, (double)vf_hist_percentile(h, rows[i].percent) / 1e3,
			     3);
	vf_json_real(j, "max_us", (double)h->max / 1e3, 3);
	vf_json_open(j, "histogram", '[');
	for (unsigned i = 0; i < VF_HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		vf_json_open(j, NULL, '{');
		vf_json_u64(j, "from_ns", vf_hist_bucket_low(i));
		vf_json_u64(j, "count", h->bucket[i]);
		vf_json_close(j);
	}
	vf_json_close(j);
}

void vf_bench_json_row(struct vf_json *j, const struct vf_bench_result *r)
{
	vf_json_open(j, NULL, '{');
	vf_json_text(j, "measure", vf_bench_measure_name(r->what.measure));
	vf_json_text(j, "transport", vf_bench_transport_name(r->what.transport));
	vf_json_text(j, "operation", vf_bench_op_name(r->what.op));
	vf_json_u64(j, "size", r->what.size);
	vf_json_u64(j, "in_flight", r->what.slots);
	vf_json_u64(j, "path_mtu", r->what.mtu);
	vf_json_bool(j, "verified", r->what.verify);
	vf_json_u64(j, "sent", r->sent);
	vf_json_u64(j, "arrived", r->arrived);
	vf_json_u64(j, "lost", r->lost);
	vf_json_u64(j, "corrupt", r->corrupt);
	vf_json_u64(j, "duplicates", r->duplicates);
	if (r->what.measure == VF_BENCH_BANDWIDTH) {
		vf_json_real(j, "receiver_bits_per_s", r->receiver_rate * 8, 0);
		if (r->sender_rate > 0)
			vf_json_real(j, "sender_bits_per_s", r->sender_rate * 8, 0);
		else
			vf_json_text(j, "sender_bits_per_s", NULL);
		vf_json_real(j, "messages_per_s", r->messages_per_s, 0);
		vf_json_bool(j, "above_link_rate", r->is_above_link);
	} else {
		json_latency(j, &r->latency);
	}
	vf_json_close(j);
}

#define COUNTERS_MAX 256

void vf_bench_json_counters(struct vf_json *j, struct ibv_context *ctx)
{
	struct verbifrost_counter c[COUNTERS_MAX];
	int n = ctx ? verbifrost_query_counters(ctx, c, COUNTERS_MAX) : 0;

	vf_json_open(j, "counters", '{');
	for (int i = 0; i < n && i < COUNTERS_MAX; i++)
		if (c[i].value)
			vf_json_u64(j, c[i].name, c[i].value);
	vf_json_close(j);
}

void vf_bench_print_trouble(struct ibv_context *ctx)
{
	static const char *const harmless[] = {"rcvd_", "sent_",	"rx_",
					       "tx_",	"flow_updates", "rdma_"};
	struct verbifrost_counter c[COUNTERS_MAX];
	int n = ctx ? verbifrost_query_counters(ctx, c, COUNTERS_MAX) : 0;

	for (int i = 0; i < n && i < COUNTERS_MAX; i++) {
		bool is_trouble = c[i].value > 0;

		for (unsigned k = 0; k < sizeof(harmless) / sizeof(harmless[0]); k++)
			is_trouble &= strncmp(c[i].name, harmless[k], strlen(harmless[k])) != 0;
		if (is_trouble)
			printf("  %s at this end: %llu\n", c[i].name,
			       (unsigned long long)c[i].value);
	}
}

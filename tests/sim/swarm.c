/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random worlds: topology, service types, verbs, sizes, queue depths and faults all follow from one
 * seed.
 *
 *   swarm [--seed N] [--count N] [--trace] [--packets] [--messages N]
 *   swarm --seeds FILE               seeds of bugs that were fixed, one a line; # starts a comment
 *   swarm --flood                    32 UC messages of 512 KiB in flight, both ways, small buffers
 *   swarm --million [--messages N]   one world at 1 % loss, duplication and reordering
 *
 * --packets prints every packet. --trace prints a hash of all that happened: two builds of the same
 * commit print the same. Output is TAP.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic.h"

static struct traffic traffic;
static bool is_printing;

static struct traffic_options options_of(uint64_t seed)
{
	static const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};
	struct traffic_options o = {.seed = seed, .timeout = 10};
	struct vf_rand r;

	vf_rand_seed(&r, seed ^ 0x5eed);
	o.nodes = 2 + (unsigned)vf_rand_below(&r, 3);
	o.pairs = 1 + (unsigned)vf_rand_below(&r, 6);
	o.messages = 20 + vf_rand_below(&r, 150);
	o.depth = 1 + (unsigned)vf_rand_below(&r, vf_rand_below(&r, 3) ? 16 : DEPTH_MAX - 1);
	o.mtu_bytes = mtus[vf_rand_below(&r, VF_ARRAY_SIZE(mtus))];
	o.len_max = o.mtu_bytes * (1 + (uint32_t)vf_rand_below(&r, 6));
	o.is_ipv6 = vf_rand_below(&r, 2);
	o.has_uc = vf_rand_below(&r, 2);
	o.has_ud = vf_rand_below(&r, 2);
	o.has_srq = vf_rand_below(&r, 3) == 0;
	o.is_flow_off = vf_rand_below(&r, 4) == 0;
	o.is_scarce = vf_rand_below(&r, 3) == 0;
	o.sim = (struct sim_options){
		.seed = seed,
		.link_ns = vf_rand_below(&r, 3) ? 10 * VF_USEC : vf_rand_below(&r, 2 * VF_MSEC),
		.wake_ns = VF_USEC + vf_rand_below(&r, 100 * VF_USEC),
		.reorder_ns = 1 + vf_rand_below(&r, 10 * VF_MSEC),
	};
	if (seed % 8 == 6) /* one dies in the middle */
		o.kill_ns = 1 + vf_rand_below(&r, 5 * VF_MSEC);
	o.timeout = o.kill_ns ? 13 : 10;
	if (vf_rand_below(&r, 3) ==
	    0) { /* a healthy network: nothing may be lost, with a buffer of the usual size */
		o.sim.link_ns %= 200 * VF_USEC; /* far below the ACK time-out of 4 ms */
		o.sim.buffer_cost = o.is_flow_off ? 0 : 400000 + 24 * 12288 + 65536;
		return o;
	}
	o.timeout = o.kill_ns || o.sim.link_ns > 200 * VF_USEC ? 13 : 10;
	o.sim.loss_ppm = (uint32_t)vf_rand_below(&r, vf_rand_below(&r, 2) ? 20000 : 100000);
	o.sim.duplicate_ppm = (uint32_t)vf_rand_below(&r, 50000);
	o.sim.reorder_ppm = (uint32_t)vf_rand_below(&r, 50000);
	o.sim.damage_ppm = o.is_ipv6 ? (uint32_t)vf_rand_below(&r, 20000) : 0;
	return o;
}

static struct traffic_options million_options(uint64_t seed, uint64_t messages)
{
	struct traffic_options o = {
		.seed = seed,
		.nodes = 2,
		.pairs = 4,
		.messages = messages / 8,
		.depth = 16,
		.mtu_bytes = 1024,
		.timeout = 10,
		.len_max = 3000,
		.is_ipv6 = true,
		.sim =
			{
				.seed = seed,
				.link_ns = 10 * VF_USEC,
				.wake_ns = 10 * VF_USEC,
				.reorder_ns = 100 * VF_USEC,
				.loss_ppm = 10000,
				.duplicate_ppm = 10000,
				.reorder_ppm = 10000,
			},
	};

	return o;
}

/* Much in flight on a healthy network, so that windows grow to their end. */
static void deepen(struct traffic_options *o)
{
	o->nodes = 2;
	o->pairs = 1;
	o->messages = 1500;
	o->depth = DEPTH_MAX - 1;
	o->mtu_bytes = 256;
	o->len_max = 1536;
	o->has_uc = o->has_ud = o->has_srq = o->is_scarce = false;
	o->is_flow_off = o->is_bulk = true;
	o->sim = (struct sim_options){.seed = o->seed, .link_ns = 10 * VF_USEC, .wake_ns = VF_USEC};
}

/* What programs written for links that lose nothing do, with an unprivileged socket's buffer. */
static struct traffic_options flood_options(uint64_t seed, uint64_t messages)
{
	struct traffic_options o = {
		.seed = seed,
		.nodes = 2,
		.pairs = 1,
		.messages = messages,
		.depth = 32,
		.mtu_bytes = seed % 2 ? 1024 : 4096,
		.len_max = 512 * 1024,
		.timeout = 14,
		.is_flood = true,
		.sim = {.seed = seed,
			.link_ns = 5 * VF_USEC,
			.wake_ns = 50 * VF_USEC,
			.buffer_cost = 425984},
	};

	return o;
}

static uint64_t run(struct sim *s, const struct traffic_options *o, const char *replay)
{
	uint64_t trace;

	sim_reset(s, &o->sim);
	sim_set_replay(s, replay);
	if (is_printing)
		sim_print(s);
	traffic_create(&traffic, s, o);
	traffic_run(&traffic);
	trace = sim_trace(s);
	traffic_end(&traffic);
	return trace;
}

static uint64_t run_seed(struct sim *s, uint64_t seed, uint64_t messages)
{
	struct traffic_options o = options_of(seed);
	char replay[128];

	if (seed % 16 == 5)
		deepen(&o);
	if (messages)
		o.messages = messages;
	snprintf(replay, sizeof(replay), "swarm --seed %" PRIu64 " --messages %" PRIu64, seed,
		 o.messages);
	return run(s, &o, replay);
}

static void say(unsigned n, uint64_t seed, uint64_t trace, bool has_trace)
{
	printf("ok %u - seed %" PRIu64, n, seed);
	if (has_trace)
		printf(" trace %016" PRIx64, trace);
	printf("\n");
	fflush(stdout);
}

static int run_file(struct sim *s, const char *path, bool has_trace)
{
	char line[256];
	unsigned n = 0;
	FILE *in = fopen(path, "r");

	if (!in) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), in)) {
		uint64_t seed;

		if (sscanf(line, "%" SCNu64, &seed) == 1)
			say(++n, seed, run_seed(s, seed, 0), has_trace);
	}
	fclose(in);
	printf("1..%u\n", n);
	return 0;
}

static void run_million(struct sim *s, uint64_t seed, uint64_t messages, bool has_trace)
{
	struct traffic_options o = million_options(seed, messages);
	char replay[128];
	uint64_t trace;

	snprintf(replay, sizeof(replay), "swarm --million --seed %" PRIu64 " --messages %" PRIu64,
		 seed, messages);
	trace = run(s, &o, replay);
	printf("ok 1 - %" PRIu64 " messages at 1 %% loss, duplication and reordering", messages);
	if (has_trace)
		printf(" trace %016" PRIx64, trace);
	printf("\n1..1\n");
}

static void run_flood(struct sim *s, uint64_t seed, uint64_t messages)
{
	char replay[128];

	for (uint64_t i = 0; i < 2; i++) {
		struct traffic_options o = flood_options(seed + i, messages);

		snprintf(replay, sizeof(replay),
			 "swarm --flood --seed %" PRIu64 " --messages %" PRIu64, seed + i,
			 messages);
		run(s, &o, replay);
		printf("ok %" PRIu64 " - a UC flood in packets of %u loses nothing\n", i + 1,
		       o.mtu_bytes);
	}
	printf("1..2\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
						{"count", required_argument, NULL, 'c'},
						{"seeds", required_argument, NULL, 'f'},
						{"messages", required_argument, NULL, 'm'},
						{"trace", no_argument, NULL, 't'},
						{"packets", no_argument, NULL, 'p'},
						{"flood", no_argument, NULL, 'F'},
						{"million", no_argument, NULL, 'M'},
						{0}};
	uint64_t seed = 1, count = 1, messages = 0;
	bool has_trace = false, is_million = false, is_flood = false;
	const char *file = NULL;
	struct sim_options none = {0};
	struct sim *s = sim_create(&none);
	int c, result = 0;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (c == 'c')
			count = strtoull(optarg, NULL, 10);
		else if (c == 'f')
			file = optarg;
		else if (c == 'm')
			messages = strtoull(optarg, NULL, 10);
		else if (c == 't')
			has_trace = true;
		else if (c == 'p')
			is_printing = true;
		else if (c == 'F')
			is_flood = true;
		else if (c == 'M')
			is_million = true;
		else
			return 2;
	}
	printf("TAP version 13\n");
	if (is_flood) {
		run_flood(s, seed, messages ? messages : 40);
	} else if (is_million) {
		run_million(s, seed, messages ? messages : 1000000, has_trace);
	} else if (file) {
		result = run_file(s, file, has_trace);
	} else {
		for (uint64_t i = 0; i < count; i++)
			say((unsigned)i + 1, seed + i, run_seed(s, seed + i, messages), has_trace);
		printf("1..%" PRIu64 "\n", count);
	}
	sim_destroy(s);
	return result;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_SIM_SIM_H
#define VF_TESTS_SIM_SIM_H
/*
 * The simulator: nodes of three functions (take packets, when next, run) joined by links, on a
 * virtual clock. What happens to a packet is decided by one function, so that a test may decide by
 * mask, by choice or by seed. Everything that happens is hashed into a trace: two runs are the same
 * when their hashes are.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/rand.h"

#define SIM_NODES_MAX  8
#define SIM_PACKET_MAX 4400 /* BTH to ICRC */

struct sim;

/* A packet on its way. */
struct sim_packet {
	vf_nsec at;	/* when it arrives */
	uint64_t order; /* of sending; also tells equal times apart */
	uint8_t from, to;
	uint32_t len;
	uint8_t sgid[16], dgid[16];
	uint8_t traffic_class;
	bool is_damaged;
	uint8_t data[SIM_PACKET_MAX];
};

/* What becomes of one packet. */
struct sim_fate {
	bool is_lost;
	uint8_t copies;	   /* besides the first */
	vf_nsec delay_ns;  /* besides the link's; of the first copy. Others come without it */
	uint32_t flip_bit; /* 1 + number of a bit to turn over; 0: none */
};

/** Decides about packet @p, which is the (p->order)th of the world. */
typedef void (*sim_decide_fn)(void *arg, struct sim *s, const struct sim_packet *p,
			      struct sim_fate *out);
/** Sees each packet as it is sent (before its fate) and as it arrives. */
typedef void (*sim_watch_fn)(void *arg, struct sim *s, const struct sim_packet *p, bool is_arrival);

struct sim_node_ops {
	void (*take)(void *node, vf_nsec now, struct sim_packet *const *packets, unsigned count);
	vf_nsec (*when)(void *node); /* next time that run has something to do; VF_NSEC_NEVER */
	void (*run)(void *node, vf_nsec now);
};

/* What was done to packets, to compare with counters. [from] */
struct sim_injected {
	uint64_t sent, lost, duplicated, delayed, damaged, overflowed, arrived;
};

struct sim_options {
	uint64_t seed;
	vf_nsec link_ns;      /* how long a packet travels */
	vf_nsec wake_ns;      /* from a packet's arrival to the node's taking it */
	uint32_t buffer_cost; /* receive buffer of a node, as vf_flow_cost counts; 0: no end */
	/* Used when no decide function is given: parts of a million. */
	uint32_t loss_ppm, duplicate_ppm, reorder_ppm, damage_ppm;
	vf_nsec reorder_ns; /* delay of those that are to be overtaken */
};

struct sim *sim_create(const struct sim_options *opt);
void sim_destroy(struct sim *s);
/** Forgets packets, nodes, time and trace; what a fresh sim_create gives, without its cost. */
void sim_reset(struct sim *s, const struct sim_options *opt);

unsigned sim_add_node(struct sim *s, const struct sim_node_ops *ops, void *node);
void sim_set_decide(struct sim *s, sim_decide_fn decide, void *arg);
void sim_set_watch(struct sim *s, sim_watch_fn watch, void *arg);

/** To be called by nodes: sends to whoever has the address (sim_add_address); unknown addresses
 * swallow. */
void sim_send(struct sim *s, struct sim_packet *p);
void sim_add_address(struct sim *s, unsigned node, const uint8_t gid[16]);
/** Multicast: a further copy for each node that joined. */
void sim_join(struct sim *s, unsigned node, const uint8_t mgid[16]);
/** The node has something to do now (work was posted). */
void sim_kick(struct sim *s, unsigned node);

/**
 * Runs until nothing more happens, or until virtual time @until, or until @is_done says so (may be
 * NULL). Returns true when nothing was left to happen or it was done. A world that spins without
 * time passing fails.
 */
bool sim_run(struct sim *s, vf_nsec until, bool (*is_done)(void *arg), void *arg);

vf_nsec sim_now(const struct sim *s);
struct vf_rand *sim_rand(struct sim *s);
uint64_t sim_trace(const struct sim *s);
/** Prints each packet as it is sent, with its fate, from now on (until sim_reset). */
void sim_print(struct sim *s);
/** Adds a number to the trace. */
void sim_note(struct sim *s, uint64_t v);
const struct sim_injected *sim_injected(const struct sim *s, unsigned from);

/** Prints what went wrong with the seed and ends the program with failure. */
void sim_fail(const struct sim *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/** Line to be printed by sim_fail: how to replay. */
void sim_set_replay(struct sim *s, const char *line);
#define SIM_CHECK(s, cond)                                                                         \
	do {                                                                                       \
		if (!(cond))                                                                       \
			sim_fail(s, "%s:%d: %s", __FILE__, __LINE__, #cond);                       \
	} while (0)

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_CHAOS_SHARED_H
#define VF_TESTS_CHAOS_SHARED_H
/*
 * What the processes of the chaos test share: one mapping, made by the coordinator, that stands in
 * for the out-of-band exchange of a real program. A process writes only its own rows (the
 * coordinator: generation, dying, stop).
 */
#include <stdatomic.h>
#include <stdint.h>

#define CHAOS_PROCS_MAX 32
#define CHAOS_QPS_MAX	8 /* to each peer */

/* One end of one connection, as its owner publishes it. Valid when own and peer generation are both
 * as expected. */
struct chaos_end {
	_Atomic uint32_t own_gen, peer_gen; /* own_gen is written last */
	uint32_t qpn;
	_Atomic uint32_t
		ready_qpn; /* the same once it can receive: before, nothing is to be sent to it */
};

struct chaos_proc {
	_Atomic uint32_t gen; /* counts starts; 0: never started */
	atomic_int dying;     /* the coordinator is about to kill it, or has */
	atomic_int is_up;     /* device open, memory registered: addr, rkey, gid are valid for this
				 generation */
	_Atomic uint32_t up_gen;
	uint64_t addr;
	uint32_t rkey;
	uint8_t gid[16];
	_Atomic uint64_t messages, bytes; /* received and verified, all generations */
	_Atomic uint64_t forwarded, overflows,
		retransmitted; /* of those that ended by themselves */
	atomic_int errors;     /* what must not happen */
	atomic_int is_done;
	char text[256]; /* the first error, in words */
	struct chaos_end end[CHAOS_PROCS_MAX][CHAOS_QPS_MAX];
};

struct chaos_shared {
	int procs, qps, seconds;
	atomic_int stop;
	struct chaos_proc proc[CHAOS_PROCS_MAX];
};

/** The life of one process; returns its exit status. */
int chaos_worker(struct chaos_shared *shared, int self, const char *device);

#endif

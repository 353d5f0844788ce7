/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_SIM_TRAFFIC_H
#define VF_TESTS_SIM_TRAFFIC_H
/*
 * Random traffic between hosts, with a model that knows what each message must do: the bytes at its
 * receiver, the value an atomic returns, the order of completions. Everything follows from one
 * seed.
 */
#include "host.h"
#include "oracle.h"

#define LANES_MAX 32
#define DEPTH_MAX 64
#define LOG_MAX	  4096 /* messages that may be under way to a receiver */

struct traffic_options {
	uint64_t seed;
	unsigned nodes, pairs; /* connections; both directions of each are used */
	uint64_t messages;     /* of each direction */
	unsigned depth;	       /* outstanding work requests of each */
	uint32_t len_max, mtu_bytes;
	uint8_t timeout; /* code */
	vf_nsec kill_ns; /* when node 0 dies; 0: never */
	bool is_ipv6, has_uc, has_ud, has_srq, is_flow_off, is_scarce, is_bulk,
		is_flood; /* scarce: few receives, so RNR */
	struct sim_options sim;
};

struct message {
	enum vf_roce_wr_opcode opcode;
	uint32_t len, imm;
	uint64_t seed;	   /* of its bytes */
	uint64_t original; /* atomic: what must come back */
	bool is_received;
};

struct traffic;

/* One direction of a connection. */
struct lane {
	struct traffic *traffic;
	struct host_qp *from, *to;
	struct lane *back;
	enum vf_roce_type type;
	unsigned depth;
	bool is_ended; /* its peer died: it has failed, and the rest was flushed */
	uint64_t posted, done, sends, received, distinct, quota;
	struct host_mr *local, *remote, *constant,
		*counter;	  /* depth slots each; constant: what is read */
	struct host_mr *receives; /* at the receiver */
	unsigned receive_count;
	uint64_t counter_value;
	struct message out[DEPTH_MAX]; /* by posted % depth */
	struct message log[LOG_MAX];   /* that take a receive, by sends % LOG_MAX */
};

struct traffic {
	struct traffic_options opt;
	struct sim *sim;
	struct vf_rand rand;
	struct host hosts[SIM_NODES_MAX];
	struct host_qp qps[LANES_MAX];
	struct lane lanes[LANES_MAX];
	unsigned lane_count;
	struct vf_roce_srq *srqs[SIM_NODES_MAX];
	struct host_mr *srq_mrs[SIM_NODES_MAX];
	struct oracle oracle;
	uint64_t lost_messages; /* UC, UD: that never came */
};

/** Makes the world; traffic_run runs it to the end and checks everything; traffic_end frees it. */
void traffic_create(struct traffic *t, struct sim *s, const struct traffic_options *opt);
void traffic_run(struct traffic *t);
void traffic_end(struct traffic *t);

#endif

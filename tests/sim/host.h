/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_SIM_HOST_H
#define VF_TESTS_SIM_HOST_H
/*
 * A host of the engine for the simulator: memory regions and windows, completion queues that are
 * lists, and the ICRC. Its regions' addresses are not those of the memory behind them, and what it
 * maps comes in two pieces, so that both are met.
 */
#include "roce/roce.h"
#include "sim.h"

#define HOST_MRS_MAX  256
#define HOST_TX_BATCH 16

struct host;

struct host_mr {
	uint32_t key; /* lkey and rkey */
	uint64_t addr;
	uint8_t *mem;
	uint8_t *allocated; /* a bound window's mem lies in another region */
	uint64_t len;
	unsigned access;
	bool is_valid, is_window;
	bool is_gone; /* its memory was taken away: each access faults */
};

struct host_cq {
	struct vf_roce_cqe *entries;
	unsigned count, max, seen; /* seen: taken by host_cq_next */
};

struct host_qp {
	struct host *host;
	struct vf_roce_qp *qp;
	struct host_cq send_cq, recv_cq;
	void *arg; /* the test's */
	unsigned events[VF_ROCE_EVENT_SRQ_LIMIT + 1];
};

/* What mem_bind is handed. */
struct host_bind {
	uint32_t window, mr; /* index of each in host.mrs */
	uint64_t offset, len;
	unsigned access;
};

struct host_options {
	uint64_t seed;
	unsigned slot;
	bool is_ipv6, is_flow_off;
	uint32_t rx_budget_bytes;
	uint32_t max_qps;
};

struct host {
	struct sim *sim;
	unsigned node;
	struct vf_roce *roce;
	struct vf_roce_counters counters;
	uint8_t gid[16];
	struct host_mr mrs[HOST_MRS_MAX];
	unsigned mr_count;
	/* Called after each run when there were completions; may post work. */
	void (*work)(void *arg, struct host *h);
	void *work_arg;
	bool has_completions;
	bool is_dead; /* its process was killed: it neither takes nor sends any more */
	unsigned srq_limit_events;
	uint64_t completions;
};

/** Makes an engine and joins it to the world as a node. */
void host_create(struct host *h, struct sim *s, const struct host_options *opt);
/** Destroys the engine, after checking that it is idle (all QPs must be gone), and the memory. */
void host_destroy(struct host *h);

struct host_mr *host_reg(struct host *h, uint64_t len, unsigned access);

struct host_qp_options {
	enum vf_roce_type type;
	uint32_t send_max, recv_max;
	uint32_t mtu_bytes;
	uint32_t psn; /* of both directions: RC and UC count on from here */
	uint8_t max_rd_atomic, timeout, retry_cnt, rnr_retry, min_rnr_timer;
	uint32_t qkey;
	bool is_sig_all;
	struct vf_roce_srq *srq;
};

/** What the tests start from: PSNs three below the wrap, 256 byte MTU, time-out code 10 (4 ms). */
struct host_qp_options host_qp_defaults(enum vf_roce_type type);
void host_qp_create(struct host *h, struct host_qp *q, const struct host_qp_options *opt);
/** RC, UC: to RTS, towards @peer (created already). UD: to RTS. */
void host_qp_connect(struct host_qp *q, const struct host_qp *peer,
		     const struct host_qp_options *opt);
void host_qp_destroy(struct host_qp *q);
struct vf_roce_path host_path(const struct host *from, const struct host *to);

/** Posts, fails the test when refused, and wakes the node. */
void host_post_send(struct host_qp *q, const struct vf_roce_send_wr *wr);
void host_post_recv(struct host_qp *q, const struct vf_roce_recv_wr *wr);
/** The next completion that was not taken yet; NULL. */
const struct vf_roce_cqe *host_cq_next(struct host_cq *cq);

#endif

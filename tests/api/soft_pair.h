/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_API_SOFT_PAIR_H
#define TESTS_API_SOFT_PAIR_H
/*
 * Two connected queue pairs of one process on the loopback device, through the public API alone: each end has a context of its own. What
 * fails on the way fails the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <infiniband/verbs.h>
#include <verbifrost/verbifrost.h>

#define PAIR_DEVICE "vf_lo"
#define PAIR_BUF 65536u
#define PAIR_QKEY 0x11111111u
#define PAIR_ALL_ACCESS                                                                         \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |            \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_ah *ah; /* UD: to the other end */
	uint8_t *buf;
	uint32_t psn;
};

struct pair_options {
	enum ibv_qp_type type; /* RC when 0 */
	bool has_srq, is_ex, has_channel;
	uint32_t depth;	    /* 16 when 0 */
	uint32_t cqe;	    /* 64 when 0 */
	uint32_t inline_max; /* 1024 when 0 */
	int gid_index;	     /* 1 when 0; -1: 0, the link-local one */
	uint8_t retry_cnt, rnr_retry, timeout; /* 7, 7, 14 when 0 */
	bool has_no_rnr_retry;
	uint64_t ops; /* is_ex: send_ops_flags */
};

struct pair {
	struct pair_options o;
	struct end a, b;
};

/** NULL when there is no such device. */
struct ibv_context *pair_open_device(const char *name);
void pair_open(struct pair *p, const struct pair_options *o);
void pair_close(struct pair *p);
void pair_to_init(struct pair *p, struct end *e);
void pair_to_rtr(struct pair *p, struct end *e, const struct end *peer);
void pair_to_rts(struct pair *p, struct end *e);
/** One completion within five seconds. */
void pair_poll(struct ibv_cq *cq, struct ibv_wc *wc);
/** Fails unless the next completion is this one. */
void pair_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);
/** True when nothing comes for @ms milliseconds. */
bool pair_is_quiet(struct ibv_cq *cq, int ms);
/** One asynchronous event within five seconds; acknowledged. */
enum ibv_event_type pair_event(struct ibv_context *ctx);
bool pair_has_event(struct ibv_context *ctx, int ms);
void pair_recv(struct end *e, uint64_t wr_id, uint32_t at, uint32_t len);
/** Signaled, of @opcode, from buf + @at; remote operations go to the peer's buf + @remote_at. */
void pair_send_wr(struct end *e, const struct end *peer, enum ibv_wr_opcode opcode,
		  struct ibv_send_wr *wr, struct ibv_sge *sge);
/** SEND from the start of buf. */
void pair_send(struct end *e, const struct end *peer, uint64_t wr_id, uint32_t len);
int pair_post(struct end *e, struct ibv_send_wr *wr);
void pair_fill(uint8_t *p, size_t len, unsigned seed);

#endif

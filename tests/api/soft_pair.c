/* SPDX-License-Identifier: BSD-2-Clause */
/* Two connected queue pairs on the loopback device; see the header. PSNs start just below the wrap. */
#include "soft_pair.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct ibv_context *pair_open_device(const char *name)
{
	struct ibv_context *ctx = NULL;
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	assert_non_null(list);
	for (int i = 0; i < n && !ctx; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return ctx;
}

static void make_cqs(struct pair *p, struct end *e)
{
	uint32_t cqe = p->o.cqe ? p->o.cqe : 64;

	if (p->o.has_channel) {
		e->channel = ibv_create_comp_channel(e->ctx);
		assert_non_null(e->channel);
	}
	e->send_cq = ibv_create_cq(e->ctx, (int)cqe, e, e->channel, 0);
	e->recv_cq = ibv_create_cq(e->ctx, (int)cqe, e, e->channel, 0);
	assert_non_null(e->send_cq);
	assert_non_null(e->recv_cq);
}

static void make_qp(struct pair *p, struct end *e)
{
	uint32_t depth = p->o.depth ? p->o.depth : 16;
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = depth, .max_sge = 4}};
	struct ibv_qp_init_attr_ex a = {
		.send_cq = e->send_cq,
		.recv_cq = e->recv_cq,
		.cap = {.max_send_wr = depth,
			.max_recv_wr = depth,
			.max_send_sge = 16,
			.max_recv_sge = 16,
			.max_inline_data = p->o.inline_max ? p->o.inline_max : 1024},
		.qp_type = p->o.type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = e->pd,
	};

	if (p->o.has_srq) {
		e->srq = ibv_create_srq(e->pd, &srq);
		assert_non_null(e->srq);
		a.srq = e->srq;
	}
	if (p->o.is_ex) {
		a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		a.send_ops_flags = p->o.ops;
	}
	e->qp = ibv_create_qp_ex(e->ctx, &a);
	if (!e->qp)
		fail_msg("create_qp: %s", verbifrost_last_error());
}

static void open_end(struct pair *p, struct end *e, uint32_t psn)
{
	e->ctx = pair_open_device(PAIR_DEVICE);
	if (!e->ctx)
		fail_msg("%s cannot be opened: %s", PAIR_DEVICE, verbifrost_last_error());
	e->psn = psn;
	e->pd = ibv_alloc_pd(e->ctx);
	assert_non_null(e->pd);
	make_cqs(p, e);
	make_qp(p, e);
	e->buf = aligned_alloc(4096, PAIR_BUF);
	assert_non_null(e->buf);
	memset(e->buf, 0, PAIR_BUF);
	e->mr = ibv_reg_mr(e->pd, e->buf, PAIR_BUF, PAIR_ALL_ACCESS);
	if (!e->mr)
		fail_msg("reg_mr: %s", verbifrost_last_error());
}

static void fill_ah(struct pair *p, const struct end *peer, struct ibv_ah_attr *a)
{
	int index = p->o.gid_index > 0 ? p->o.gid_index : p->o.gid_index + 1;

	memset(a, 0, sizeof(*a));
	a->is_global = 1;
	a->port_num = 1;
	a->grh.sgid_index = (uint8_t)index;
	a->grh.hop_limit = 1;
	assert_int_equal(ibv_query_gid(peer->ctx, 1, index, &a->grh.dgid), 0);
}

static void modify(struct end *e, struct ibv_qp_attr *a, int mask)
{
	if (ibv_modify_qp(e->qp, a, mask))
		fail_msg("modify_qp to %d: %s", (int)a->qp_state, verbifrost_last_error());
}

void pair_to_init(struct pair *p, struct end *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = PAIR_QKEY};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (p->o.type == IBV_QPT_RC)
		a.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	mask |= p->o.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	modify(e, &a, mask);
}

void pair_to_rtr(struct pair *p, struct end *e, const struct end *peer)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = peer->qp->qp_num,
				.rq_psn = peer->psn,
				.max_dest_rd_atomic = 16,
				.min_rnr_timer = 1};
	int mask = IBV_QP_STATE;

	fill_ah(p, peer, &a.ah_attr);
	if (p->o.type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	else
		e->ah = ibv_create_ah(e->pd, &a.ah_attr);
	if (p->o.type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	modify(e, &a, mask);
}

void pair_to_rts(struct pair *p, struct end *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
				.sq_psn = e->psn,
				.timeout = p->o.timeout ? p->o.timeout : 14,
				.retry_cnt = p->o.retry_cnt ? p->o.retry_cnt : 7,
				.rnr_retry = p->o.rnr_retry ? p->o.rnr_retry : 7,
				.max_rd_atomic = 16};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (p->o.has_no_rnr_retry)
		a.rnr_retry = 0;
	if (p->o.type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	modify(e, &a, mask);
}

void pair_open(struct pair *p, const struct pair_options *o)
{
	memset(p, 0, sizeof(*p));
	p->o = *o;
	if (!p->o.type)
		p->o.type = IBV_QPT_RC;
	open_end(p, &p->a, 0xfffffe);
	open_end(p, &p->b, 0xfffffc);
	pair_to_init(p, &p->a);
	pair_to_init(p, &p->b);
	pair_to_rtr(p, &p->a, &p->b);
	pair_to_rtr(p, &p->b, &p->a);
	pair_to_rts(p, &p->a);
	pair_to_rts(p, &p->b);
}

static void close_end(struct end *e)
{
	if (e->ah)
		assert_int_equal(ibv_destroy_ah(e->ah), 0);
	if (e->qp)
		assert_int_equal(ibv_destroy_qp(e->qp), 0);
	if (e->srq)
		assert_int_equal(ibv_destroy_srq(e->srq), 0);
	assert_int_equal(ibv_destroy_cq(e->send_cq), 0);
	assert_int_equal(ibv_destroy_cq(e->recv_cq), 0);
	if (e->channel)
		assert_int_equal(ibv_destroy_comp_channel(e->channel), 0);
	if (e->mr)
		assert_int_equal(ibv_dereg_mr(e->mr), 0);
	assert_int_equal(ibv_dealloc_pd(e->pd), 0);
	assert_int_equal(ibv_close_device(e->ctx), 0);
	free(e->buf);
}

void pair_close(struct pair *p)
{
	close_end(&p->a);
	close_end(&p->b);
}

void pair_poll(struct ibv_cq *cq, struct ibv_wc *wc)
{
	double until = seconds() + 5;
	int n;

	do
		n = ibv_poll_cq(cq, 1, wc);
	while (n == 0 && seconds() < until);
	assert_int_equal(n, 1);
}

void pair_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	pair_poll(cq, &wc);
	if (wc.wr_id != wr_id || wc.status != status)
		fail_msg("completion %llu with status %d (%s), expected %llu with %d",
			 (unsigned long long)wc.wr_id, (int)wc.status,
			 ibv_wc_status_str(wc.status), (unsigned long long)wr_id, (int)status);
}

bool pair_is_quiet(struct ibv_cq *cq, int ms)
{
	double until = seconds() + ms / 1e3;
	struct ibv_wc wc;

	while (seconds() < until)
		if (ibv_poll_cq(cq, 1, &wc))
			return false;
	return true;
}

bool pair_has_event(struct ibv_context *ctx, int ms)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

enum ibv_event_type pair_event(struct ibv_context *ctx)
{
	struct ibv_async_event e;

	assert_true(pair_has_event(ctx, 5000));
	assert_int_equal(ibv_get_async_event(ctx, &e), 0);
	ibv_ack_async_event(&e);
	return e.event_type;
}

void pair_recv(struct end *e, uint64_t wr_id, uint32_t at, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)e->buf + at, .length = len, .lkey = e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;
	int err = e->srq ? ibv_post_srq_recv(e->srq, &wr, &bad) : ibv_post_recv(e->qp, &wr, &bad);

	if (err)
		fail_msg("post_recv: %d, %s", err, verbifrost_last_error());
}

int pair_post(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;

	return ibv_post_send(e->qp, wr, &bad);
}

void pair_send_wr(struct end *e, const struct end *peer, enum ibv_wr_opcode opcode,
		  struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	memset(wr, 0, sizeof(*wr));
	*sge = (struct ibv_sge){.addr = (uintptr_t)e->buf, .length = 100, .lkey = e->mr->lkey};
	wr->opcode = opcode;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->sg_list = sge;
	wr->num_sge = 1;
	if (e->ah) {
		wr->wr.ud.ah = e->ah;
		wr->wr.ud.remote_qpn = peer->qp->qp_num;
		wr->wr.ud.remote_qkey = PAIR_QKEY;
	} else if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		sge->length = 8;
		wr->wr.atomic.remote_addr = (uintptr_t)peer->buf;
		wr->wr.atomic.rkey = peer->mr->rkey;
	} else {
		wr->wr.rdma.remote_addr = (uintptr_t)peer->buf;
		wr->wr.rdma.rkey = peer->mr->rkey;
	}
}

void pair_send(struct end *e, const struct end *peer, uint64_t wr_id, uint32_t len)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	pair_send_wr(e, peer, IBV_WR_SEND, &wr, &sge);
	wr.wr_id = wr_id;
	sge.length = len;
	if (pair_post(e, &wr))
		fail_msg("post_send: %s", verbifrost_last_error());
}

void pair_fill(uint8_t *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 31 + seed + (i >> 8));
}

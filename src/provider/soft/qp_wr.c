/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work requests built by function calls (ibv_wr_*). They are collected with everything they refer to and given to the engine at
 * wr_complete, all or none; the first mistake is kept and answered there.
 *
 *   idle ── wr_start ──> building ── wr_*, wr_set_* ──> building ── wr_complete, wr_abort ──> idle
 *
 * From wr_start to the end the queue pair's builder belongs to one thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/soft/soft.h"

/* One request: sges, inline bytes and bind lie in the builder's data, at an offset because that may move. */
struct built {
	struct vf_roce_send_wr wr;
	size_t data_at;
};

struct soft_builder {
	pthread_mutex_t lock;
	int err; /* of the first mistake, negative */
	struct built *wr;
	uint32_t count, room;
	uint8_t *data;
	size_t data_len, data_room;
};

static struct soft_qp *qp_of(struct ibv_qp_ex *ex) { return (struct soft_qp *)(void *)ex; }
static struct soft_builder *builder_of(struct ibv_qp_ex *ex) { return qp_of(ex)->builder; }

static void fail(struct soft_builder *b, int err)
{
	if (!b->err)
		b->err = err;
}

/* ---- collecting ---- */

static struct built *add(struct ibv_qp_ex *ex, enum vf_roce_wr_opcode opcode)
{
	struct soft_builder *b = builder_of(ex);
	struct built *w;

	if (b->err)
		return NULL;
	if (b->count == b->room) {
		uint32_t room = b->room ? 2 * b->room : 16;
		void *grown = realloc(b->wr, room * sizeof(*b->wr));

		if (!grown) {
			fail(b, vf_refuse(ENOMEM, "no memory for %u work requests", room));
			return NULL;
		}
		b->wr = grown;
		b->room = room;
	}
	w = &b->wr[b->count++];
	memset(w, 0, sizeof(*w));
	w->wr.wr_id = ex->wr_id;
	w->wr.opcode = opcode;
	w->wr.flags = ex->wr_flags & 0xf & ~(unsigned)IBV_SEND_INLINE;
	return w;
}

/* Room for @len bytes of data, aligned; NULL when there is no memory. */
static uint8_t *reserve(struct soft_builder *b, size_t len, size_t *at)
{
	size_t start = (b->data_len + 15) & ~(size_t)15;

	if (start + len > b->data_room) {
		size_t room = 2 * (start + len) + 512;
		void *grown = realloc(b->data, room);

		if (!grown) {
			fail(b, vf_refuse(ENOMEM, "no memory for work requests' data"));
			return NULL;
		}
		b->data = grown;
		b->data_room = room;
	}
	b->data_len = start + len;
	*at = start;
	return b->data + start;
}

static struct built *last(struct soft_builder *b)
{
	if (b->err)
		return NULL;
	if (b->count == 0) {
		fail(b, vf_refuse(EINVAL, "a setter before the first work request"));
		return NULL;
	}
	return &b->wr[b->count - 1];
}

/* ---- requests ---- */

static void wr_send(struct ibv_qp_ex *ex) { add(ex, VF_ROCE_WR_SEND); }

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	struct built *w = add(ex, VF_ROCE_WR_SEND_WITH_IMM);

	if (w)
		w->wr.imm_or_rkey = imm;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	struct built *w = add(ex, VF_ROCE_WR_SEND_WITH_INV);

	if (w)
		w->wr.imm_or_rkey = rkey;
}

static struct built *add_remote(struct ibv_qp_ex *ex, enum vf_roce_wr_opcode opcode, uint32_t rkey,
				uint64_t addr)
{
	struct built *w = add(ex, opcode);

	if (w) {
		w->wr.rkey = rkey;
		w->wr.remote_addr = addr;
	}
	return w;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	add_remote(ex, VF_ROCE_WR_RDMA_WRITE, rkey, addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm)
{
	struct built *w = add_remote(ex, VF_ROCE_WR_RDMA_WRITE_WITH_IMM, rkey, addr);

	if (w)
		w->wr.imm_or_rkey = imm;
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	add_remote(ex, VF_ROCE_WR_RDMA_READ, rkey, addr);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare,
			      uint64_t swap)
{
	struct built *w = add_remote(ex, VF_ROCE_WR_ATOMIC_CMP_AND_SWP, rkey, addr);

	if (w) {
		w->wr.compare_add = compare;
		w->wr.swap = swap;
	}
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t value)
{
	struct built *w = add_remote(ex, VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, rkey, addr);

	if (w)
		w->wr.compare_add = value;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	struct built *w = add(ex, VF_ROCE_WR_LOCAL_INV);

	if (w)
		w->wr.imm_or_rkey = rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct soft_builder *b = builder_of(ex);
	struct built *w = add(ex, VF_ROCE_WR_BIND_MW);
	struct soft_bind bind;
	uint8_t *to;
	int err;

	if (!w)
		return;
	err = soft_bind_fill(qp_of(ex), mw, rkey, info, &bind);
	if (err) {
		fail(b, err);
		return;
	}
	to = reserve(b, sizeof(bind), &w->data_at);
	if (to)
		memcpy(to, &bind, sizeof(bind));
	w->wr.bind_len = sizeof(bind);
}

/* ---- setters ---- */

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ibv, uint32_t qpn, uint32_t qkey)
{
	struct soft_ah *ah = (struct soft_ah *)(void *)ibv;
	struct built *w = last(builder_of(ex));

	if (!w)
		return;
	if (!ah || ah->pd != qp_of(ex)->pd) {
		fail(builder_of(ex), vf_refuse(EINVAL, "wr_set_ud_addr: no address handle of the "
						       "queue pair's protection domain"));
		return;
	}
	w->wr.path = &ah->path;
	w->wr.remote_qpn = qpn;
	w->wr.remote_qkey = qkey;
	vf_soft_net_lock(ah->ctx->net);
	soft_peer_datagram(qp_of(ex), ah, qpn);
	vf_soft_net_unlock(ah->ctx->net);
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *list)
{
	struct soft_builder *b = builder_of(ex);
	struct built *w = last(b);
	uint8_t *to;

	if (!w)
		return;
	if (count > VF_ROCE_SGE_MAX) {
		fail(b, vf_refuse(EINVAL, "num_sge %zu: 0..%u", count, VF_ROCE_SGE_MAX));
		return;
	}
	to = reserve(b, count * sizeof(*list), &w->data_at);
	if (to && count)
		memcpy(to, list, count * sizeof(*list));
	w->wr.sge_count = (unsigned)count;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(ex, length ? 1 : 0, &sge);
}

/* Copied now: the program may use its buffer again at once. One entry stands for the copy. */
static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
				    const struct ibv_data_buf *list)
{
	struct soft_builder *b = builder_of(ex);
	struct built *w = last(b);
	struct vf_roce_sge sge = {0};
	size_t total = 0;
	uint8_t *to;

	if (!w)
		return;
	for (size_t i = 0; i < count; i++)
		total += list[i].length < VF_ROCE_MSG_MAX ? list[i].length : VF_ROCE_MSG_MAX;
	if (total > qp_of(ex)->cap.max_inline_data) {
		fail(b, vf_refuse(EINVAL, "inline data of %zu bytes, but max_inline_data is %u",
				  total, qp_of(ex)->cap.max_inline_data));
		return;
	}
	sge.length = (uint32_t)total;
	to = reserve(b, sizeof(sge) + total, &w->data_at);
	if (!to)
		return;
	memcpy(to, &sge, sizeof(sge));
	to += sizeof(sge);
	for (size_t i = 0; i < count; i++) {
		if (list[i].length)
			memcpy(to, list[i].addr, list[i].length);
		to += list[i].length;
	}
	w->wr.flags |= VF_ROCE_SEND_INLINE;
	w->wr.sge_count = 1;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = {.addr = addr, .length = length};

	wr_set_inline_data_list(ex, 1, &buf);
}

/* ---- start and end ---- */

static void clear(struct soft_builder *b)
{
	b->err = 0;
	b->count = 0;
	b->data_len = 0;
}

static void wr_start(struct ibv_qp_ex *ex)
{
	pthread_mutex_lock(&builder_of(ex)->lock);
	clear(builder_of(ex));
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	clear(builder_of(ex));
	pthread_mutex_unlock(&builder_of(ex)->lock);
}

/* Offsets become pointers: the data does not move any more. */
static void settle_pointers(struct soft_builder *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		struct vf_roce_send_wr *wr = &b->wr[i].wr;
		uint8_t *data = b->data + b->wr[i].data_at;

		if (wr->opcode == VF_ROCE_WR_BIND_MW)
			wr->bind = data;
		else if (wr->sge_count)
			wr->sge = (const struct vf_roce_sge *)(const void *)data;
		if (wr->flags & VF_ROCE_SEND_INLINE)
			((struct vf_roce_sge *)(void *)data)->addr =
				(uintptr_t)data + sizeof(struct vf_roce_sge);
	}
}

/* Locked. All are looked at before the first is posted. */
static int post_all(struct soft_qp *qp, struct soft_builder *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->count && !err; i++)
		err = vf_roce_post_check(qp->roce, &b->wr[i].wr, i);
	for (uint32_t i = 0; i < b->count && !err; i++)
		err = vf_roce_post_send(qp->roce, &b->wr[i].wr);
	return err;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct soft_qp *qp = qp_of(ex);
	struct soft_builder *b = qp->builder;
	int err = b->err;

	if (!err && b->count) {
		settle_pointers(b);
		vf_soft_net_lock(qp->ctx->net);
		err = post_all(qp, b);
		if (!err)
			vf_soft_net_flush(qp->ctx->net);
		vf_soft_net_unlock(qp->ctx->net);
	}
	clear(b);
	pthread_mutex_unlock(&b->lock);
	return -err;
}

/* ---- life ---- */

static void set_requests(struct ibv_qp_ex *ex, uint64_t ops)
{
	ex->wr_send = ops & IBV_QP_EX_WITH_SEND ? wr_send : NULL;
	ex->wr_send_imm = ops & IBV_QP_EX_WITH_SEND_WITH_IMM ? wr_send_imm : NULL;
	ex->wr_send_inv = ops & IBV_QP_EX_WITH_SEND_WITH_INV ? wr_send_inv : NULL;
	ex->wr_rdma_write = ops & IBV_QP_EX_WITH_RDMA_WRITE ? wr_rdma_write : NULL;
	ex->wr_rdma_write_imm = ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM ? wr_rdma_write_imm : NULL;
	ex->wr_rdma_read = ops & IBV_QP_EX_WITH_RDMA_READ ? wr_rdma_read : NULL;
	ex->wr_atomic_cmp_swp = ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP ? wr_atomic_cmp_swp : NULL;
	ex->wr_atomic_fetch_add =
		ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD ? wr_atomic_fetch_add : NULL;
	ex->wr_local_inv = ops & IBV_QP_EX_WITH_LOCAL_INV ? wr_local_inv : NULL;
	ex->wr_bind_mw = ops & IBV_QP_EX_WITH_BIND_MW ? wr_bind_mw : NULL;
}

int soft_wr_init(struct soft_qp *qp, uint64_t ops)
{
	struct ibv_qp_ex *ex = &qp->vf.ex;

	qp->builder = calloc(1, sizeof(*qp->builder));
	if (!qp->builder)
		return vf_refuse(ENOMEM, "no memory for a builder of work requests");
	pthread_mutex_init(&qp->builder->lock, NULL);
	set_requests(ex, ops);
	if (qp->type == IBV_QPT_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	return 0;
}

void soft_wr_free(struct soft_qp *qp)
{
	if (!qp->builder)
		return;
	pthread_mutex_destroy(&qp->builder->lock);
	free(qp->builder->wr);
	free(qp->builder->data);
	free(qp->builder);
	qp->builder = NULL;
}

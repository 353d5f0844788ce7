/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues (IBTA 11.2.7). A chain of chunks between one producer (whoever holds the network side's lock) and one consumer (whoever
 * holds the poll lock). The two meet only in counters, so that taking completions never waits for the network. Chunks are made as
 * completions pile up and used again, so a queue for millions costs what is in it.
 *
 *   idle ── req_notify ──> armed (solicited, any) ── completion that counts ──> idle, one event on the channel
 *   whole ── completion with no room ──> overrun: CQ_ERR once, its queue pairs end with QP_FATAL; what is in it can be taken
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/soft/soft.h"

#define CHUNK_FIRST 16u /* most queues stay small */
#define CHUNK_ENTRIES 128u

#define CQ_WC_FLAGS                                                                             \
	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |                          \
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define CQ_FLAGS (IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

static struct cq_chunk *make_chunk(uint32_t size)
{
	struct cq_chunk *c = malloc(sizeof(*c) + size * sizeof(struct soft_cqe));

	if (c) {
		c->next = NULL;
		c->size = size;
	}
	return c;
}

/* ---- life ---- */

static int check_attr(const struct ibv_cq_init_attr_ex *a)
{
	if (a->cqe == 0 || a->cqe > SOFT_MAX_CQE)
		return vf_refuse(EINVAL, "cqe %u: 1..%d", a->cqe, SOFT_MAX_CQE);
	if (a->comp_vector != 0)
		return vf_refuse(EINVAL, "comp_vector %u: there is only 0", a->comp_vector);
	if (a->wc_flags & ~(uint64_t)CQ_WC_FLAGS)
		return vf_refuse(EOPNOTSUPP, "wc_flags 0x%llx: 0x%x are supported",
				 (unsigned long long)a->wc_flags, CQ_WC_FLAGS);
	if ((a->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) && (a->flags & ~(uint32_t)CQ_FLAGS))
		return vf_refuse(EOPNOTSUPP, "flags 0x%x of a completion queue: 0x%x are supported",
				 a->flags, CQ_FLAGS);
	return 0;
}

int soft_create_cq(struct vf_context *ctx, struct ibv_cq_init_attr_ex *attr, struct vf_cq **out)
{
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
	struct soft_cq *cq;
	int err = check_attr(attr);

	if (err)
		return err;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return vf_refuse(ENOMEM, "no memory for a completion queue");
	cq->head = cq->tail = make_chunk(attr->cqe < CHUNK_FIRST ? attr->cqe : CHUNK_FIRST);
	if (!cq->head) {
		free(cq);
		return vf_refuse(ENOMEM, "no memory for a completion queue");
	}
	cq->ctx = soft_ctx(ctx);
	pthread_mutex_init(&cq->poll_lock, NULL);
	cq->is_single_threaded = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	cq->is_overrun_ignored = flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->time = CQ_TIME_WALL;
	else if (attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->time = CQ_TIME_RAW;
	vf_list_init(&cq->overrun_link);
	vf_list_init(&cq->event.link);
	cq->event.cq = &cq->vf;
	atomic_store(&cq->limit, attr->cqe);
	soft_cq_ex_init(cq, attr->wc_flags);
	cq->vf.ibv.cqe = (int)attr->cqe;
	*out = &cq->vf;
	return 0;
}

int soft_resize_cq(struct vf_cq *vcq, int cqe)
{
	struct soft_cq *cq = (struct soft_cq *)vcq;
	uint64_t held;
	int err = 0;

	if (cqe < 1 || cqe > SOFT_MAX_CQE)
		return vf_refuse(EINVAL, "cqe %d: 1..%d", cqe, SOFT_MAX_CQE);
	vf_soft_net_lock(cq->ctx->net);
	held = atomic_load(&cq->produced) - atomic_load(&cq->consumed);
	if (held > (uint64_t)cqe)
		err = vf_refuse(EINVAL, "cqe %d: %llu completions are in the queue", cqe,
				(unsigned long long)held);
	else
		atomic_store(&cq->limit, (uint32_t)cqe);
	vf_soft_net_unlock(cq->ctx->net);
	if (!err)
		vcq->ibv.cqe = cqe;
	return err;
}

int soft_destroy_cq(struct vf_cq *vcq)
{
	struct soft_cq *cq = (struct soft_cq *)vcq;
	struct cq_chunk *c = cq->head;

	vf_soft_net_lock(cq->ctx->net);
	vf_list_del(&cq->overrun_link);
	vf_soft_net_unlock(cq->ctx->net);
	if (atomic_load(&cq->armed) != CQ_IDLE)
		vf_soft_net_arm(cq->ctx->net, -1);
	while (c) {
		struct cq_chunk *next = c->next;

		free(c);
		c = next;
	}
	free(atomic_load(&cq->spare));
	pthread_mutex_destroy(&cq->poll_lock);
	free(cq);
	return 0;
}

/* ---- the producer ---- */

static void overrun(struct soft_cq *cq)
{
	struct ibv_async_event e = {.event_type = IBV_EVENT_CQ_ERR};

	if (cq->is_overrun_ignored || cq->is_overrun)
		return;
	cq->is_overrun = true;
	vf_log(VF_LOG_WARN, "a completion queue of %u ran over", atomic_load(&cq->limit));
	e.element.cq = &cq->vf.ibv;
	soft_context_put_event(cq->ctx, &e);
	soft_cq_overran(cq);
}

/* Room for one more; false when there is none. */
static bool make_room(struct soft_cq *cq)
{
	uint64_t held = atomic_load_explicit(&cq->produced, memory_order_relaxed) -
			atomic_load_explicit(&cq->consumed, memory_order_acquire);
	struct cq_chunk *c;

	if (held >= atomic_load_explicit(&cq->limit, memory_order_relaxed))
		return false;
	if (cq->tail_at < cq->tail->size)
		return true;
	c = atomic_exchange(&cq->spare, NULL);
	if (!c)
		c = make_chunk(CHUNK_ENTRIES);
	if (!c)
		return false;
	c->next = NULL;
	cq->tail->next = c;
	cq->tail = c;
	cq->tail_at = 0;
	return true;
}

static void fill(struct soft_cqe *e, const struct vf_roce_cqe *cqe)
{
	e->wr_id = cqe->wr_id;
	e->vendor_err = cqe->vendor_err;
	e->byte_len = cqe->byte_len;
	e->imm_or_rkey = cqe->imm_or_rkey;
	e->qpn = cqe->qpn;
	e->src_qp = cqe->src_qp;
	e->wc_flags = cqe->wc_flags;
	e->opcode = (uint16_t)cqe->opcode;
	e->status = (uint8_t)cqe->status;
	e->sl = cqe->sl;
}

static void notify(struct soft_cq *cq, bool counts_as_solicited)
{
	int armed = atomic_load(&cq->armed);
	struct vf_comp_channel *channel = (struct vf_comp_channel *)(void *)cq->vf.ibv.channel;

	if (armed == CQ_IDLE || (armed == CQ_ARMED_SOLICITED && !counts_as_solicited))
		return;
	if (atomic_exchange(&cq->armed, CQ_IDLE) == CQ_IDLE)
		return;
	vf_soft_net_arm(cq->ctx->net, -1);
	if (!cq->ctx->is_orphan)
		vf_event_queue_put(channel->queue, &cq->event);
}

void soft_cq_push(struct soft_cq *cq, const struct vf_roce_cqe *cqe)
{
	struct soft_cqe *e;

	if (!make_room(cq)) {
		overrun(cq);
		return;
	}
	e = &cq->tail->e[cq->tail_at++];
	fill(e, cqe);
	if (cq->time != CQ_TIME_NONE)
		e->timestamp = cq->time == CQ_TIME_WALL ? vf_os_wall_clock() : vf_os_now();
	atomic_fetch_add(&cq->produced, 1);
	notify(cq, cqe->solicited || cqe->status != VF_ROCE_WC_SUCCESS);
}

/* ---- the consumer ---- */

void soft_cq_poll_lock(struct soft_cq *cq)
{
	if (!cq->is_single_threaded)
		pthread_mutex_lock(&cq->poll_lock);
}

void soft_cq_poll_unlock(struct soft_cq *cq)
{
	if (!cq->is_single_threaded)
		pthread_mutex_unlock(&cq->poll_lock);
}

static void recycle(struct soft_cq *cq, struct cq_chunk *c)
{
	if (c->size == CHUNK_ENTRIES)
		c = atomic_exchange(&cq->spare, c);
	free(c);
}

static bool is_empty(struct soft_cq *cq)
{
	return atomic_load(&cq->produced) ==
	       atomic_load_explicit(&cq->consumed, memory_order_relaxed);
}

bool soft_cq_take(struct soft_cq *cq, struct soft_cqe *out)
{
	if (is_empty(cq))
		return false;
	if (cq->head_at == cq->head->size) {
		struct cq_chunk *done = cq->head;

		cq->head = done->next;
		cq->head_at = 0;
		recycle(cq, done);
	}
	*out = cq->head->e[cq->head_at++];
	atomic_fetch_add_explicit(&cq->consumed, 1, memory_order_release);
	return true;
}

static void to_wc(const struct soft_cqe *e, struct ibv_wc *wc)
{
	wc->wr_id = e->wr_id;
	wc->status = (enum ibv_wc_status)e->status;
	wc->opcode = (enum ibv_wc_opcode)e->opcode;
	wc->vendor_err = e->vendor_err;
	wc->byte_len = e->byte_len;
	wc->imm_data = e->imm_or_rkey;
	wc->qp_num = e->qpn;
	wc->src_qp = e->src_qp;
	wc->wc_flags = e->wc_flags;
	wc->pkey_index = 0;
	wc->slid = 0;
	wc->sl = e->sl;
	wc->dlid_path_bits = 0;
}

static int take_many(struct soft_cq *cq, int count, struct ibv_wc *wc)
{
	struct soft_cqe e;
	int n = 0;

	if (is_empty(cq))
		return 0;
	soft_cq_poll_lock(cq);
	while (n < count && soft_cq_take(cq, &e))
		to_wc(&e, &wc[n++]);
	soft_cq_poll_unlock(cq);
	return n;
}

int soft_poll_cq(struct ibv_cq *ibv, int count, struct ibv_wc *wc)
{
	struct soft_cq *cq = (struct soft_cq *)(void *)ibv;
	int n = take_many(cq, count, wc);

	if (n == 0 && count > 0) {
		vf_soft_net_progress(cq->ctx->net);
		n = take_many(cq, count, wc);
	}
	return n;
}

int soft_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
	struct soft_cq *cq = (struct soft_cq *)(void *)ibv;
	int want = solicited_only ? CQ_ARMED_SOLICITED : CQ_ARMED_ANY;
	int was = atomic_load(&cq->armed);

	if (!ibv->channel)
		return 0;
	/* Asking for less than was asked for before changes nothing. */
	while (was < want && !atomic_compare_exchange_weak(&cq->armed, &was, want))
		;
	if (was == CQ_IDLE)
		vf_soft_net_arm(cq->ctx->net, 1);
	return 0;
}

/* ---- queue pairs that end ---- */

struct cursor {
	struct cq_chunk *chunk;
	uint32_t at;
};

static struct soft_cqe *step(struct cursor *c)
{
	if (c->at == c->chunk->size) {
		c->chunk = c->chunk->next;
		c->at = 0;
	}
	return &c->chunk->e[c->at++];
}

/* What stays moves forward; the chunks behind it are given back. */
void soft_cq_purge(struct soft_cq *cq, uint32_t qpn)
{
	struct cursor from = {cq->head, cq->head_at}, to = from;
	uint64_t held = atomic_load(&cq->produced) - atomic_load(&cq->consumed), kept = 0;
	struct cq_chunk *c;

	for (uint64_t i = 0; i < held; i++) {
		const struct soft_cqe *e = step(&from);

		if (e->qpn != qpn) {
			*step(&to) = *e;
			kept++;
		}
	}
	if (kept == held)
		return;
	cq->tail = to.chunk;
	cq->tail_at = to.at;
	c = to.chunk->next;
	to.chunk->next = NULL;
	while (c) {
		struct cq_chunk *next = c->next;

		free(c);
		c = next;
	}
	atomic_fetch_sub(&cq->produced, held - kept);
}

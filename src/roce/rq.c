/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receive queues (IBTA 10.8.3.3 posting, 10.2.9 shared receive queues). A message takes the request
 * at the head with its first packet and keeps it until it completes; a UC message that broke leaves
 * it for the next (IBTA 9.8.2.2).
 */
#include "roce/rq.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"
#include "roce/qp.h"
#include "roce/wire.h"

static size_t wqe_size(uint32_t sge_max)
{
	return (sizeof(struct vf_recv_wqe) + sge_max * sizeof(struct vf_roce_sge) + 15u) &
	       ~(size_t)15;
}

int vf_ring_init(struct vf_ring *ring, uint32_t max, uint32_t sge_max)
{
	memset(ring, 0, sizeof(*ring));
	ring->stride = wqe_size(sge_max);
	ring->max = max;
	ring->sge_max = sge_max;
	if (max == 0)
		return 0;
	/* Not cleared: memory is taken as it is used. */
	ring->slots = malloc(max * ring->stride);
	return ring->slots ? 0 : vf_refuse(ENOMEM, "no memory for a receive queue of %u", max);
}

int vf_rq_init(struct vf_rq *rq, const struct vf_roce_qp_config *cfg)
{
	if (!cfg->srq)
		return vf_ring_init(&rq->ring, cfg->recv_max, cfg->recv_sge_max);
	rq->copy = calloc(1, wqe_size(cfg->srq->ring.sge_max));
	return rq->copy ? 0 : vf_refuse(ENOMEM, "no memory for a receive request");
}

void vf_rq_free(struct vf_rq *rq)
{
	free(rq->ring.slots);
	free(rq->copy);
}

int vf_ring_put(struct vf_ring *ring, const struct vf_roce_recv_wr *wr)
{
	struct vf_recv_wqe *w;

	if (wr->sge_count > ring->sge_max)
		return vf_refuse(EINVAL, "num_sge %u is not in 0..%u", wr->sge_count,
				 ring->sge_max);
	if (ring->count >= ring->max)
		return vf_refuse(ENOMEM, "receive queue is full: %u requests", ring->max);
	w = vf_ring_at(ring, ring->count);
	w->wr_id = wr->wr_id;
	w->sge_count = wr->sge_count;
	w->total = 0;
	for (unsigned i = 0; i < wr->sge_count; i++) {
		w->sge[i] = wr->sge[i];
		w->total += wr->sge[i].length;
	}
	ring->count++;
	return 0;
}

void vf_ring_drop_head(struct vf_ring *ring)
{
	if (++ring->head == ring->max)
		ring->head = 0;
	ring->count--;
}

int vf_roce_post_recv(struct vf_roce_qp *qp, const struct vf_roce_recv_wr *wr)
{
	int err;

	if (qp->cfg.srq)
		return vf_refuse(EINVAL, "queue pair 0x%06x receives from a shared queue", qp->qpn);
	if (qp->attr.state == VF_ROCE_RESET)
		return vf_refuse(EINVAL, "queue pair 0x%06x cannot receive in state RESET",
				 qp->qpn);
	err = vf_ring_put(&qp->rq.ring, wr);
	if (!err && qp->attr.state == VF_ROCE_ERR)
		vf_rq_flush(qp);
	return err;
}

bool vf_rq_peek(struct vf_roce_qp *qp, uint64_t *room)
{
	const struct vf_ring *ring = qp->cfg.srq ? &qp->cfg.srq->ring : &qp->rq.ring;

	if (qp->rq.taken) {
		*room = qp->rq.taken->total;
		return true;
	}
	if (ring->count == 0)
		return false;
	*room = vf_ring_at(ring, 0)->total;
	return true;
}

struct vf_recv_wqe *vf_rq_take(struct vf_roce_qp *qp)
{
	if (qp->rq.taken)
		return qp->rq.taken;
	if (qp->cfg.srq)
		qp->rq.taken = vf_srq_take(qp->cfg.srq, qp->rq.copy);
	else if (qp->rq.ring.count)
		qp->rq.taken = vf_ring_at(&qp->rq.ring, 0);
	return qp->rq.taken;
}

int vf_sge_map(struct vf_roce_qp *qp, const struct vf_sge_walk *walk, uint32_t offset, uint32_t len,
	       struct iovec *iov)
{
	const int max = (int)VF_ROCE_TX_IOV;
	int n = 0, got;

	for (uint32_t i = 0; i < walk->count && len; i++) {
		const struct vf_roce_sge *s = &walk->sge[i];
		struct vf_roce_mem m = {.key = s->lkey, .access = walk->access};

		if (offset >= s->length) {
			offset -= s->length;
			continue;
		}
		m.addr = s->addr + offset;
		m.len = s->length - offset < len ? s->length - offset : len;
		got = n < max ? vf_qp_mem_map(qp, &m, iov + n, max - n) : -ERANGE;
		if (got < 0)
			return got;
		n += got;
		len -= (uint32_t)m.len;
		offset = 0;
	}
	return len ? -ERANGE : n;
}

int vf_rq_scatter(struct vf_roce_qp *qp, uint32_t offset, const void *from, uint32_t len)
{
	struct iovec iov[VF_ROCE_TX_IOV];
	struct vf_sge_walk walk = {qp->rq.taken->sge, qp->rq.taken->sge_count, VF_ROCE_LOCAL_WRITE};
	int n;

	if (len == 0)
		return 0;
	n = vf_sge_map(qp, &walk, offset, len, iov);
	return n < 0 ? n : qp->r->ops->mem_write(qp->r->host, iov, n, from, len);
}

/* What the packet that ended the message says in the completion. */
static void describe(struct vf_roce_cqe *cqe, const struct vf_roce_qp *qp,
		     const struct vf_packet *pkt)
{
	unsigned flags = pkt->op->flags;

	cqe->solicited = pkt->is_solicited;
	cqe->imm_or_rkey = pkt->imm_or_rkey;
	if (flags & VF_OPF_WRITE)
		cqe->opcode = VF_ROCE_WC_RECV_RDMA_WITH_IMM;
	if (flags & VF_OPF_IMM)
		cqe->wc_flags |= VF_ROCE_WC_WITH_IMM;
	if (flags & VF_OPF_INV)
		cqe->wc_flags |= VF_ROCE_WC_WITH_INV;
	if (qp->cfg.type == VF_ROCE_UD) {
		cqe->wc_flags |= VF_ROCE_WC_GRH;
		cqe->src_qp = pkt->src_qpn;
	}
}

void vf_rq_complete(struct vf_roce_qp *qp, enum vf_roce_wc_status status,
		    const struct vf_packet *pkt, uint32_t byte_len)
{
	struct vf_roce_cqe cqe = {
		.cq = qp->cfg.recv_cq,
		.qp_host = qp->cfg.qp_host,
		.wr_id = qp->rq.taken->wr_id,
		.status = status,
		.opcode = VF_ROCE_WC_RECV,
		.byte_len = byte_len,
		.qpn = qp->qpn,
		.src_qp = qp->attr.dest_qpn,
		.solicited = status != VF_ROCE_WC_SUCCESS,
	};

	if (pkt && status == VF_ROCE_WC_SUCCESS)
		describe(&cqe, qp, pkt);
	if (status != VF_ROCE_WC_SUCCESS)
		vf_count(qp->cfg.counters, VF_CNT_RESP_CQE_ERROR);
	if (!qp->cfg.srq)
		vf_ring_drop_head(&qp->rq.ring);
	qp->rq.taken = NULL;
	qp->r->ops->complete(qp->r->host, &cqe);
}

void vf_rq_flush(struct vf_roce_qp *qp)
{
	if (qp->rq.taken)
		vf_rq_complete(qp, VF_ROCE_WC_WR_FLUSH_ERR, NULL, 0);
	while (!qp->cfg.srq && vf_rq_take(qp))
		vf_rq_complete(qp, VF_ROCE_WC_WR_FLUSH_ERR, NULL, 0);
}

void vf_rq_clear(struct vf_roce_qp *qp)
{
	qp->rq.taken = NULL;
	qp->rq.ring.head = qp->rq.ring.count = 0;
}

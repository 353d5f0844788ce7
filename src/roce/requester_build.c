/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Request packets: headers (IBTA 9.3, 9.4) and payload by reference. AckReq stands on the last
 * packet of each RC message, on every packet with which half a window went unasked, and, as Linux's
 * rxe has it, on packets of QP 1.
 */
#include "roce/requester.h"
#include "roce/wire.h"

static bool asks_for_ack(const struct vf_request *q, bool is_last)
{
	const struct vf_requester *req = &q->qp->req;

	if (q->qp->cfg.type != VF_ROCE_RC)
		return q->qp->cfg.is_gsi;
	return is_last || req->since_ack + 1 >= req->window / 2;
}

static void put_deth(const struct vf_request *q, uint8_t *deth)
{
	uint32_t qkey = q->w->remote_qkey;

	/* IBTA 10.2.5: with the upper bit set, the QP's own Q_Key is meant. */
	vf_store_be32(deth + VF_DETH_QKEY, qkey & 0x80000000u ? q->qp->attr.qkey : qkey);
	vf_store_be24(deth + VF_DETH_SRC_QPN, q->qp->qpn);
}

static void put_reth(const struct vf_request *q, uint8_t *reth)
{
	uint32_t at = q->qp->req.at_pkt * q->qp->attr.mtu_bytes, len = q->w->length - at;

	if (q->w->opcode == VF_ROCE_WR_RDMA_READ && q->psn_count * q->qp->attr.mtu_bytes < len)
		len = q->psn_count * q->qp->attr.mtu_bytes;
	vf_store_be64(reth + VF_RETH_VA, q->w->remote_addr + at);
	vf_store_be32(reth + VF_RETH_RKEY, q->w->rkey);
	vf_store_be32(reth + VF_RETH_DMA_LEN, len);
}

static void put_atomic(const struct vf_send_wqe *w, uint8_t *h)
{
	bool is_swap = w->opcode == VF_ROCE_WR_ATOMIC_CMP_AND_SWP;

	vf_store_be64(h + VF_ATOMIC_VA, w->remote_addr);
	vf_store_be32(h + VF_ATOMIC_RKEY, w->rkey);
	vf_store_be64(h + VF_ATOMIC_SWAP_ADD, is_swap ? w->swap : w->compare_add);
	vf_store_be64(h + VF_ATOMIC_COMPARE, is_swap ? w->compare_add : 0);
}

static void put_extensions(const struct vf_request *q, const struct vf_opcode_info *op)
{
	uint8_t *h = q->tx->headers;

	if (op->deth_at)
		put_deth(q, h + op->deth_at);
	if (op->reth_at)
		put_reth(q, h + op->reth_at);
	if (op->atomic_at)
		put_atomic(q->w, h + op->atomic_at);
	if (op->imm_at)
		memcpy(h + op->imm_at, &q->w->imm_or_rkey, VF_IMM_LEN);
	if (op->ieth_at)
		vf_store_be32(h + op->ieth_at, q->w->imm_or_rkey);
}

/* IBTA 9.2.3: a solicited event belongs to a message that completes a receive. */
static bool is_solicited(const struct vf_request *q, const struct vf_opcode_info *op)
{
	return (q->w->flags & VF_ROCE_SEND_SOLICITED) && (op->flags & VF_OPF_LAST) &&
	       (op->flags & (VF_OPF_SEND | VF_OPF_IMM));
}

void vf_request_headers(struct vf_request *q)
{
	struct vf_roce_qp *qp = q->qp;
	struct vf_send_wqe *w = q->w;
	uint32_t mtu = qp->attr.mtu_bytes, at = qp->req.at_pkt;
	bool is_rd = vf_send_wqe_has(w, VF_WRF_RD_ATOMIC), is_last = is_rd || at + 1 == w->packets;
	struct vf_packet_start s = {
		.opcode = vf_wr_packet_opcode(w->info, qp->cfg.type, at == 0, is_last),
		.dest_qpn = qp->cfg.type == VF_ROCE_UD ? w->remote_qpn : qp->attr.dest_qpn,
		.psn = q->psn,
		.payload_len = is_rd	 ? 0
			       : is_last ? w->length - at * mtu
					 : mtu,
	};
	const struct vf_opcode_info *op = vf_opcode_info(s.opcode);

	s.is_ack_req = q->is_ack_req = asks_for_ack(q, is_last);
	s.is_solicited = is_solicited(q, op);
	vf_qp_tx_start(qp, q->tx, &s);
	put_extensions(q, op);
	if (qp->cfg.type == VF_ROCE_UD)
		q->tx->path = &w->path;
	q->tx->fault_token = (uint64_t)qp->qpn << 40 | VF_FAULT_REQUEST | w->seq;
}

int vf_request_payload(struct vf_request *q)
{
	const struct vf_send_wqe *w = q->w;
	struct vf_sge_walk walk = {vf_send_wqe_sge(w), w->sge_count, 0};
	uint32_t offset = q->qp->req.at_pkt * q->qp->attr.mtu_bytes, len = q->tx->payload_len;
	int n = 1;

	if (len == 0)
		return 0;
	if (w->flags & VF_ROCE_SEND_INLINE)
		q->tx->iov[0] = (struct iovec){vf_send_wqe_bytes(w) + offset, len};
	else
		n = vf_sge_map(q->qp, &walk, offset, len, q->tx->iov);
	if (n < 0)
		return n;
	q->tx->iov_count = (uint8_t)n;
	return 0;
}

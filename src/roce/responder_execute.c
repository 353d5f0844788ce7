/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder's last three steps: may the request have the memory (IBTA 9.7.4.1 and 10.6.7), do
 * it, say so. Reads and atomics are kept for their answers (IBTA 9.7.5.1.3); the answers themselves
 * are made when there is room to send them.
 */
#include <errno.h>

#include "roce/responder.h"
#include "roce/wire.h"

/* ---- may it ---- */

static enum vf_step refuse_access(struct vf_inbound *in)
{
	static const struct vf_refusal why = {.nak = VF_NAK_REMOTE_ACCESS,
					      .drop = VF_DROP_ACCESS,
					      .event = VF_ROCE_EVENT_QP_ACCESS_ERR};

	if (in->is_reliable)
		vf_count(in->qp->cfg.counters, VF_CNT_RESP_REMOTE_ACCESS_ERRORS);
	return vf_request_refuse(in, &why);
}

/* The key was good, but the memory behind it is gone: the requester cannot be at fault. */
static enum vf_step refuse_memory(struct vf_inbound *in, enum vf_roce_wc_status status)
{
	const struct vf_refusal why = {
		.nak = VF_NAK_REMOTE_OPERATION,
		.drop = VF_DROP_ACCESS,
		.status = status,
		.event = status == VF_ROCE_WC_SUCCESS ? VF_ROCE_EVENT_QP_ACCESS_ERR : -1};

	return vf_request_refuse(in, &why);
}

static enum vf_step refuse_by(struct vf_inbound *in, int err)
{
	return err == -EFAULT ? refuse_memory(in, VF_ROCE_WC_SUCCESS) : refuse_access(in);
}

/* The first packet asks for the whole message; a message of one packet is asked about when it is
 * mapped. */
enum vf_step vf_request_access(struct vf_inbound *in)
{
	unsigned flags = in->pkt->op->flags;
	struct vf_roce_mem m = {.key = in->pkt->rkey,
				.addr = in->pkt->va,
				.len = in->pkt->dma_len,
				.is_remote = true};
	static const struct vf_refusal misaligned = {.nak = VF_NAK_INVALID_REQUEST,
						     .drop = VF_DROP_ACCESS,
						     .event = VF_ROCE_EVENT_QP_REQ_ERR};
	int err;

	if (!(flags & VF_OPF_FIRST) || (flags & VF_OPF_SEND))
		return VF_STEP_NEXT;
	if (flags & VF_OPF_ATOMIC) {
		m.len = 8;
		m.access = VF_ROCE_REMOTE_ATOMIC;
		if (m.addr & 7u)
			return vf_request_refuse(in, &misaligned);
	} else {
		m.access = flags & VF_OPF_READ ? VF_ROCE_REMOTE_READ : VF_ROCE_REMOTE_WRITE;
	}
	/* IBTA 9.7.4.1: with nothing to transfer the key does not count. */
	if (m.len == 0)
		return VF_STEP_NEXT;
	err = vf_qp_mem_check(in->qp, &m);
	return err ? refuse_by(in, err) : VF_STEP_NEXT;
}

/* ---- do it ---- */

static enum vf_step execute_send(struct vf_inbound *in)
{
	struct vf_responder *resp = &in->qp->resp;

	if (in->pkt->op->flags & VF_OPF_FIRST) {
		resp->offset = 0;
		vf_rq_take(in->qp);
	}
	if (vf_rq_scatter(in->qp, resp->offset, in->pkt->payload, in->pkt->payload_len))
		return refuse_memory(in, VF_ROCE_WC_LOC_PROT_ERR);
	resp->msg = VF_MSG_SEND;
	return VF_STEP_NEXT;
}

static enum vf_step execute_write(struct vf_inbound *in)
{
	struct vf_roce_qp *qp = in->qp;
	struct vf_responder *resp = &qp->resp;
	struct iovec iov[VF_ROCE_TX_IOV];
	struct vf_roce_mem m = {
		.len = in->pkt->payload_len, .access = VF_ROCE_REMOTE_WRITE, .is_remote = true};
	int n = 0;

	if (in->pkt->op->flags & VF_OPF_FIRST) {
		vf_count(qp->cfg.counters, VF_CNT_RX_WRITE_REQUESTS);
		resp->offset = 0;
		resp->total = in->pkt->dma_len;
		resp->va = in->pkt->va;
		resp->rkey = in->pkt->rkey;
	}
	m.key = resp->rkey;
	m.addr = resp->va + resp->offset;
	if (m.len)
		n = vf_qp_mem_map(qp, &m, iov, VF_ROCE_TX_IOV);
	if (n > 0)
		n = qp->r->ops->mem_write(qp->r->host, iov, n, in->pkt->payload,
					  in->pkt->payload_len);
	if (n < 0)
		return refuse_by(in, n);
	resp->msg = VF_MSG_WRITE;
	return VF_STEP_NEXT;
}

static enum vf_step too_many(struct vf_inbound *in)
{
	static const struct vf_refusal why = {.nak = VF_NAK_INVALID_REQUEST,
					      .drop = VF_DROP_READ_LIMIT,
					      .event = VF_ROCE_EVENT_QP_REQ_ERR};

	return vf_request_refuse(in, &why);
}

/* IBTA 9.7.5.1.3: the response's PSNs follow from the length; the next request's PSN comes after them
 * all. */
static enum vf_step execute_read(struct vf_inbound *in)
{
	uint32_t mtu = in->qp->attr.mtu_bytes, len = in->pkt->dma_len;
	struct vf_rd_resource res = {
		.va = in->pkt->va,
		.rkey = in->pkt->rkey,
		.len = len,
		.psn = in->pkt->psn,
		.count = len ? (len - 1) / mtu + 1 : 1,
		.msn = vf_psn_add(in->qp->resp.msn, 1),
	};

	vf_count(in->qp->cfg.counters, VF_CNT_RX_READ_REQUESTS);
	if (!vf_responder_keep(in->qp, &res))
		return too_many(in);
	in->qp->resp.psn = vf_psn_add(in->pkt->psn, res.count - 1);
	return VF_STEP_NEXT;
}

static enum vf_step execute_atomic(struct vf_inbound *in)
{
	struct vf_roce_qp *qp = in->qp;
	bool is_swap = in->pkt->opcode == VF_OP_COMPARE_SWAP;
	struct iovec iov[VF_ROCE_TX_IOV];
	struct vf_roce_mem m = {.key = in->pkt->rkey,
				.addr = in->pkt->va,
				.len = 8,
				.access = VF_ROCE_REMOTE_ATOMIC,
				.is_remote = true};
	struct vf_rd_resource res = {.psn = in->pkt->psn,
				     .count = 1,
				     .msn = vf_psn_add(qp->resp.msn, 1),
				     .is_atomic = true};
	int err;

	vf_count(qp->cfg.counters, VF_CNT_RX_ATOMIC_REQUESTS);
	if (!vf_responder_can_keep(qp))
		return too_many(in);
	err = vf_qp_mem_map(qp, &m, iov, VF_ROCE_TX_IOV);
	if (err == 1)
		err = qp->r->ops->mem_atomic(qp->r->host, iov, is_swap,
					     is_swap ? in->pkt->compare : in->pkt->swap_add,
					     in->pkt->swap_add, &res.original);
	else if (err >= 0)
		err = -EFAULT;
	if (err < 0)
		return refuse_by(in, err);
	vf_responder_keep(qp, &res);
	return VF_STEP_NEXT;
}

enum vf_step vf_request_execute(struct vf_inbound *in)
{
	unsigned flags = in->pkt->op->flags;

	if (flags & VF_OPF_SEND)
		return execute_send(in);
	if (flags & VF_OPF_WRITE)
		return execute_write(in);
	return flags & VF_OPF_READ ? execute_read(in) : execute_atomic(in);
}

/* ---- say so ---- */

static enum vf_step invalidate(struct vf_inbound *in)
{
	struct vf_roce_qp *qp = in->qp;
	static const struct vf_refusal why = {.nak = VF_NAK_REMOTE_ACCESS,
					      .drop = VF_DROP_ACCESS,
					      .status = VF_ROCE_WC_LOC_ACCESS_ERR,
					      .event = VF_ROCE_EVENT_QP_ACCESS_ERR};

	if (qp->r->ops->mem_invalidate(qp->r->host, qp->cfg.qp_host, in->pkt->imm_or_rkey, true))
		return vf_request_refuse(in, &why);
	return VF_STEP_NEXT;
}

/* IBTA 9.7.5.1: the message sequence number counts messages done; ACKs name the last PSN done. */
enum vf_step vf_request_acknowledge(struct vf_inbound *in)
{
	struct vf_roce_qp *qp = in->qp;
	struct vf_responder *resp = &qp->resp;
	unsigned flags = in->pkt->op->flags;

	if ((flags & VF_OPF_INV) && invalidate(in) != VF_STEP_NEXT)
		return VF_STEP_END;
	resp->offset += in->pkt->payload_len;
	if (in->is_reliable) {
		resp->psn = vf_psn_add(resp->psn, 1);
		resp->is_gap = false;
	}
	if (flags & VF_OPF_LAST) {
		resp->msg = VF_MSG_NONE;
		resp->msn = vf_psn_add(resp->msn, 1);
		if ((flags & VF_OPF_SEND) || (flags & VF_OPF_IMM)) {
			vf_rq_take(qp);
			vf_rq_complete(qp, VF_ROCE_WC_SUCCESS, in->pkt, resp->offset);
		}
	}
	if (in->is_reliable && in->pkt->is_ack_req && !(flags & (VF_OPF_READ | VF_OPF_ATOMIC)))
		vf_responder_ack(qp);
	return VF_STEP_END;
}

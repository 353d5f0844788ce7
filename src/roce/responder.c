/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder of RC and UC: what a request that comes in does (IBTA 9.7.4 RC, 9.8.2.2 UC), as a
 * list of steps in the order of the specification:
 *
 *   greet ─▶ PSN ─▶ opcode sequence ─▶ rights ─▶ resources ─▶ length
 *         ─▶ access ─▶ execute ─▶ acknowledge
 *
 * A step that objects gives a verdict: RC answers with a NAK, and but for gaps and RNR the QP ends
 * (IBTA 9.9.3, classes B and C); UC drops the message without a word (class D). What RC
 * remembers changes in the last two steps only, so a refused packet can come again.
 *
 *     behind: done before, answered again   │ expected │   ahead: a gap, one NAK, then silence
 *   ────────────────────────────────────────┴──────────┴─────────────────────────────────────
 *
 * What UC does instead: a gap breaks the message that was coming in; the next first packet starts
 * afresh (IBTA 9.8.2.2).
 */
#include "roce/responder.h"

#include "base/reason.h"
#include "roce/wire.h"

void vf_responder_reset(struct vf_roce_qp *qp)
{
	struct vf_rd_resource *rd = qp->resp.rd;

	vf_list_del(&qp->answer_link);
	memset(&qp->resp, 0, sizeof(qp->resp));
	qp->resp.rd = rd;
}

/* ---- verdicts ---- */

enum vf_step vf_request_refuse(struct vf_inbound *in, const struct vf_refusal *why)
{
	struct vf_roce_qp *qp = in->qp;
	struct vf_resp_failure f = {.syndrome = why->nak,
				    .psn = in->pkt->psn,
				    .status = why->status,
				    .event = why->event};

	vf_qp_drop(qp, why->drop);
	if (in->is_reliable) {
		vf_responder_fail(qp, &f);
	} else if (why->status != VF_ROCE_WC_SUCCESS && qp->rq.taken) {
		vf_rq_complete(qp, why->status, NULL, 0);
		vf_qp_error(qp, false);
	} else {
		qp->resp.msg = VF_MSG_NONE;
	}
	return VF_STEP_END;
}

static enum vf_step refuse_invalid(struct vf_inbound *in, enum vf_roce_drop drop)
{
	const struct vf_refusal why = {
		.nak = VF_NAK_INVALID_REQUEST, .drop = drop, .event = VF_ROCE_EVENT_QP_REQ_ERR};

	return vf_request_refuse(in, &why);
}

void vf_responder_fail(struct vf_roce_qp *qp, const struct vf_resp_failure *f)
{
	bool is_over = qp->attr.state == VF_ROCE_ERR;

	vf_log(VF_LOG_WARN, "queue pair 0x%06x: a request of the peer is refused with NAK 0x%02x",
	       qp->qpn, f->syndrome);
	vf_responder_nak(qp, f->syndrome, f->psn);
	if (f->status != VF_ROCE_WC_SUCCESS && qp->rq.taken)
		vf_rq_complete(qp, f->status, NULL, 0);
	vf_qp_error(qp, true);
	if (f->event >= 0 && !is_over)
		vf_qp_event(qp, (enum vf_roce_event)f->event);
}

/* ---- steps ---- */

/* IBTA 11.6.3.1: data came before the host was told that the connection stands. */
static enum vf_step greet(struct vf_inbound *in)
{
	struct vf_roce_qp *qp = in->qp;

	if (qp->attr.state == VF_ROCE_RTR && !qp->resp.has_established) {
		qp->resp.has_established = true;
		vf_qp_event(qp, VF_ROCE_EVENT_COMM_EST);
	}
	return VF_STEP_NEXT;
}

/* IBTA 9.7.4.1, 9.7.5.1: one NAK for a gap, then nothing until what is missing comes. */
static enum vf_step gap(struct vf_inbound *in)
{
	struct vf_responder *resp = &in->qp->resp;

	vf_count(in->qp->cfg.counters, VF_CNT_OUT_OF_SEQUENCE);
	if (!resp->is_gap || vf_psn_is_before(resp->psn_seen, in->pkt->psn))
		resp->psn_seen = in->pkt->psn;
	if (resp->is_gap) {
		vf_qp_drop(in->qp, VF_DROP_AFTER_NAK);
		return VF_STEP_END;
	}
	resp->is_gap = true;
	vf_qp_drop(in->qp, VF_DROP_SEQUENCE);
	vf_responder_nak(in->qp, VF_NAK_SEQUENCE, resp->psn);
	return VF_STEP_END;
}

/* IBTA 9.7.4.1, 9.7.5.1.3: what was done is not done again, but answered again. */
static enum vf_step duplicate(struct vf_inbound *in)
{
	struct vf_roce_qp *qp = in->qp;
	const struct vf_packet *pkt = in->pkt;
	struct vf_rd_resource *res;

	vf_count(qp->cfg.counters, VF_CNT_DUPLICATE_REQUEST);
	vf_qp_drop(qp, VF_DROP_DUPLICATE);
	if (!(pkt->op->flags & (VF_OPF_READ | VF_OPF_ATOMIC))) {
		vf_responder_ack(qp);
		return VF_STEP_END;
	}
	res = vf_responder_kept(qp, pkt->psn);
	if (res && res->is_atomic == ((pkt->op->flags & VF_OPF_ATOMIC) != 0))
		vf_responder_replay(qp, res, pkt->psn);
	return VF_STEP_END;
}

/* UC: whatever comes is the next; what was lost broke its message (IBTA 9.8.2.2). */
static enum vf_step check_uc_psn(struct vf_inbound *in)
{
	struct vf_responder *resp = &in->qp->resp;
	bool is_expected = in->pkt->psn == resp->psn;

	resp->psn = vf_psn_add(in->pkt->psn, 1);
	if (!is_expected)
		vf_count(in->qp->cfg.counters, VF_CNT_OUT_OF_SEQUENCE);
	if (!is_expected || (in->pkt->op->flags & VF_OPF_FIRST))
		resp->msg = VF_MSG_NONE;
	if ((in->pkt->op->flags & VF_OPF_FIRST) || resp->msg != VF_MSG_NONE)
		return VF_STEP_NEXT;
	vf_qp_drop(in->qp, VF_DROP_SEQUENCE);
	return VF_STEP_END;
}

static enum vf_step check_psn(struct vf_inbound *in)
{
	int32_t ahead;

	if (!in->is_reliable)
		return check_uc_psn(in);
	ahead = vf_psn_diff(in->pkt->psn, in->qp->resp.psn);
	if (ahead > 0)
		return gap(in);
	return ahead < 0 ? duplicate(in) : VF_STEP_NEXT;
}

/* IBTA 9.7.4.1: first, middle and last follow each other, of one kind. */
static enum vf_step check_sequence(struct vf_inbound *in)
{
	unsigned flags = in->pkt->op->flags;
	enum vf_msg kind = flags & VF_OPF_SEND	  ? VF_MSG_SEND
			   : flags & VF_OPF_WRITE ? VF_MSG_WRITE
						  : VF_MSG_NONE;
	enum vf_msg open = in->qp->resp.msg;

	if (flags & VF_OPF_FIRST ? open == VF_MSG_NONE : open == kind)
		return VF_STEP_NEXT;
	return refuse_invalid(in, VF_DROP_SEQUENCE);
}

/* IBTA 9.7.4.1: is the QP set up for such requests at all? */
static enum vf_step check_rights(struct vf_inbound *in)
{
	unsigned flags = in->pkt->op->flags, need = 0;

	if (flags & VF_OPF_WRITE)
		need = VF_ROCE_REMOTE_WRITE;
	else if (flags & VF_OPF_READ)
		need = VF_ROCE_REMOTE_READ;
	else if (flags & VF_OPF_ATOMIC)
		need = VF_ROCE_REMOTE_ATOMIC;
	if ((in->qp->attr.access & need) == need)
		return VF_STEP_NEXT;
	return refuse_invalid(in, VF_DROP_ACCESS);
}

/* IBTA 9.7.5.2.8: nothing posted. The NAK names how long to wait; what follows it is dropped
 * silently until it comes again. */
static enum vf_step no_receive(struct vf_inbound *in)
{
	struct vf_responder *resp = &in->qp->resp;

	if (!in->is_reliable) {
		vf_log(VF_LOG_DEBUG, "queue pair 0x%06x: a message is lost, no receive is posted",
		       in->qp->qpn);
		vf_qp_drop(in->qp, VF_DROP_NO_RECEIVE);
		resp->msg = VF_MSG_NONE;
		return VF_STEP_END;
	}
	resp->is_gap = true;
	resp->psn_seen = resp->psn;
	vf_responder_nak(in->qp, (uint8_t)(VF_AETH_RNR | in->qp->attr.min_rnr_timer), resp->psn);
	return VF_STEP_END;
}

static enum vf_step check_resources(struct vf_inbound *in)
{
	unsigned flags = in->pkt->op->flags;

	in->room = 0;
	if ((flags & VF_OPF_RECEIVE) && !vf_rq_peek(in->qp, &in->room))
		return no_receive(in);
	if ((flags & VF_OPF_SEND) && in->qp->rq.taken)
		in->room = in->qp->rq.taken->total;
	return VF_STEP_NEXT;
}

/* IBTA 9.7.4.1: full packets but for the last; a write brings what it announced; a send fits. */
static enum vf_step check_length(struct vf_inbound *in)
{
	static const struct vf_refusal too_long = {.nak = VF_NAK_INVALID_REQUEST,
						   .drop = VF_DROP_RECEIVE_TOO_SMALL,
						   .status = VF_ROCE_WC_LOC_LEN_ERR,
						   .event = -1};
	const struct vf_responder *resp = &in->qp->resp;
	unsigned flags = in->pkt->op->flags;
	uint32_t mtu = in->qp->attr.mtu_bytes, len = in->pkt->payload_len;
	uint64_t sum = len + (flags & VF_OPF_FIRST ? 0u : resp->offset);
	uint32_t total = flags & VF_OPF_FIRST ? in->pkt->dma_len : resp->total;
	bool is_last = (flags & VF_OPF_LAST) != 0;

	if ((flags & VF_OPF_PAYLOAD) && (len > mtu || (!is_last && len != mtu)))
		return refuse_invalid(in, VF_DROP_BAD_LENGTH);
	if (in->pkt->dma_len > VF_ROCE_MSG_MAX || sum > VF_ROCE_MSG_MAX)
		return refuse_invalid(in, VF_DROP_BAD_LENGTH);
	if ((flags & VF_OPF_WRITE) && (is_last ? sum != total : sum >= total))
		return refuse_invalid(in, VF_DROP_BAD_LENGTH);
	if (!(flags & VF_OPF_SEND) || sum <= in->room)
		return VF_STEP_NEXT;
	vf_count(in->qp->cfg.counters, VF_CNT_RESP_LOCAL_LENGTH_ERROR);
	if (!in->is_reliable) {
		vf_qp_drop(in->qp, VF_DROP_RECEIVE_TOO_SMALL);
		in->qp->resp.msg = VF_MSG_NONE;
		return VF_STEP_END;
	}
	vf_rq_take(in->qp);
	vf_log(VF_LOG_WARN,
	       "queue pair 0x%06x: a message of at least %llu bytes is longer than the receive of "
	       "%llu",
	       in->qp->qpn, (unsigned long long)sum, (unsigned long long)in->room);
	return vf_request_refuse(in, &too_long);
}

void vf_responder_receive(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt)
{
	static enum vf_step (*const steps[])(struct vf_inbound *) = {
		greet,
		check_psn,
		check_sequence,
		check_rights,
		check_resources,
		check_length,
		vf_request_access,
		vf_request_execute,
		vf_request_acknowledge,
	};
	struct vf_inbound in = {
		.qp = qp, .now = now, .pkt = pkt, .is_reliable = qp->cfg.type == VF_ROCE_RC};
	enum vf_step step = VF_STEP_NEXT;

	for (unsigned i = 0; i < VF_ARRAY_SIZE(steps) && step == VF_STEP_NEXT; i++)
		step = steps[i](&in);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The completer: what answers do to the requests in flight (IBTA 9.7.6 and, for errors, 9.9.2),
 * as a list of steps:
 *
 *   state ─▶ PSN ─▶ acknowledge what is before ─▶ ACK, RNR NAK, NAK ─▶ is it awaited ─▶ data
 *
 *                       psn_next
 *     stale    │◀────── in flight ──────▶│    ghost
 *   ───────────┴─────────────────────────┴──────────────
 *             una
 *
 * An answer with a PSN says that everything before it arrived; where a read or atomic before it was
 * not answered, its answer was lost (implied NAK, IBTA 9.7.6.1), and it is asked for again from
 * the first missing PSN.
 */
#include "roce/qp.h"
#include "roce/wire.h"

struct answer {
	struct vf_roce_qp *qp;
	vf_nsec now;
	const struct vf_packet *pkt;
	struct vf_send_wqe *w; /* the request that the PSN belongs to, NULL: all of them are done */
	bool is_progress;      /* una moved */
};

static enum vf_step drop(struct answer *a, enum vf_roce_drop why)
{
	vf_qp_drop(a->qp, why);
	return VF_STEP_END;
}

/* The request at the head ends badly, and the QP with it. */
static enum vf_step fail(struct answer *a, struct vf_send_wqe *w, enum vf_roce_wc_status status)
{
	w->status = (uint8_t)status;
	w->vendor_err = a->pkt->op->aeth_at ? a->pkt->syndrome : 0;
	vf_sq_settle(a->qp);
	return VF_STEP_END;
}

/* First request that is started and not done: what a time-out or retry is about. */
static struct vf_send_wqe *oldest(const struct vf_roce_qp *qp)
{
	for (uint32_t i = 0; i < qp->sq.count; i++) {
		struct vf_send_wqe *w = vf_sq_at(&qp->sq, i);

		if (!w->is_started)
			return NULL;
		if (!w->is_done)
			return w;
	}
	return NULL;
}

void vf_completer_retry(struct vf_roce_qp *qp, vf_nsec now, uint32_t psn)
{
	struct vf_send_wqe *w = oldest(qp);

	if (!w) {
		vf_qp_broken(qp);
		return;
	}
	if (qp->req.retry_left == 0) {
		vf_count(qp->cfg.counters, VF_CNT_RETRY_EXCEEDED_ERR);
		w->status = VF_ROCE_WC_RETRY_EXC_ERR;
		vf_sq_settle(qp);
		return;
	}
	qp->req.retry_left--;
	vf_requester_go_back(qp, now, psn);
}

/* ---- what every sign of life does ---- */

static void grow(struct vf_requester *req, uint32_t answered)
{
	req->grown += answered;
	while (req->window < VF_WINDOW_MAX && req->grown >= VF_WINDOW_GROWS_EACH) {
		req->grown -= VF_WINDOW_GROWS_EACH;
		req->window++;
	}
	if (req->window >= VF_WINDOW_MAX)
		req->grown = 0;
}

static void progress(struct answer *a, uint32_t una_before)
{
	struct vf_requester *req = &a->qp->req;

	a->is_progress = true;
	req->retry_left = a->qp->attr.retry_cnt;
	if (!req->is_rnr_wait || vf_psn_is_before(req->rnr_psn, req->una)) {
		req->is_rnr_wait = false;
		req->rnr_left = a->qp->attr.rnr_retry;
	}
	req->is_rereading = false;
	grow(req, (req->una - una_before) & VF_PSN_MASK);
	vf_requester_time(a->qp, a->now);
}

/* ---- what is missing ---- */

static bool is_sequence_nak(const struct vf_packet *pkt)
{
	return pkt->opcode == VF_OP_ACK && pkt->syndrome == VF_NAK_SEQUENCE;
}

/*
 * Responses are missing: ask again, once, from the first that is (IBTA 9.7.6.1). A sequence NAK
 * besides is never passed over, since the responder gives one only; it shows life, so no retry is
 * used up.
 */
static enum vf_step implied_nak(struct answer *a)
{
	struct vf_requester *req = &a->qp->req;

	if (req->is_rereading && req->reread_psn == req->una) {
		if (!is_sequence_nak(a->pkt))
			return drop(a, VF_DROP_STALE_RESPONSE);
		vf_requester_go_back(a->qp, a->now, req->una);
		return VF_STEP_END;
	}
	vf_count(a->qp->cfg.counters, VF_CNT_IMPLIED_NAK_SEQ_ERR);
	req->is_rereading = true;
	req->reread_psn = req->una;
	vf_completer_retry(a->qp, a->now, req->una);
	return VF_STEP_END;
}

/* ---- steps ---- */

static enum vf_step check_state(struct answer *a)
{
	enum vf_roce_state s = a->qp->attr.state;

	if (s != VF_ROCE_RTS && s != VF_ROCE_SQD)
		return drop(a, VF_DROP_QP_STATE);
	if (a->pkt->opcode == VF_OP_ACK)
		vf_count(a->qp->cfg.counters, VF_CNT_ACKS_RCVD);
	return VF_STEP_NEXT;
}

static bool is_positive_ack(const struct vf_packet *pkt)
{
	return pkt->opcode == VF_OP_ACK && (pkt->syndrome & VF_AETH_KIND_MASK) == VF_AETH_ACK;
}

static enum vf_step check_psn(struct answer *a)
{
	const struct vf_requester *req = &a->qp->req;

	if (!vf_psn_is_before(a->pkt->psn, req->psn_next))
		return drop(a, VF_DROP_GHOST_ACK);
	if (!vf_psn_is_before(a->pkt->psn, req->una))
		return VF_STEP_NEXT;
	/*
	 * An ACK of the last that was answered already: the peer is alive, and at work on what was
	 * sent twice. To send it once more would only keep it longer from what it has not seen yet.
	 */
	if (is_positive_ack(a->pkt) && vf_psn_add(a->pkt->psn, 1) == req->una)
		vf_requester_time(a->qp, a->now);
	return drop(a, VF_DROP_STALE_RESPONSE);
}

/* Everything before @end is acknowledged, up to the first read or atomic that was not answered.
 * False: there is one before @end. */
static bool acknowledge_before(struct answer *a, uint32_t end)
{
	struct vf_roce_qp *qp = a->qp;

	for (uint32_t i = 0; i < qp->sq.count; i++) {
		struct vf_send_wqe *w = vf_sq_at(&qp->sq, i);
		bool is_rd = vf_send_wqe_has(w, VF_WRF_RD_ATOMIC);

		if (!w->is_started)
			break;
		if (w->is_done)
			continue;
		a->w = w;
		if (!vf_psn_is_before(w->last_psn, end)) {
			if (!is_rd && vf_psn_is_before(qp->req.una, end))
				qp->req.una = end;
			return true;
		}
		if (is_rd)
			return false;
		w->is_done = true;
		qp->req.una = vf_psn_add(w->last_psn, 1);
	}
	a->w = NULL;
	return true;
}

static enum vf_step acknowledge(struct answer *a)
{
	uint32_t end = vf_psn_add(a->pkt->psn, is_positive_ack(a->pkt) ? 1 : 0),
		 una = a->qp->req.una;
	bool is_complete = acknowledge_before(a, end);

	if (a->qp->req.una != una)
		progress(a, una);
	return is_complete ? VF_STEP_NEXT : implied_nak(a);
}

/* IBTA 9.7.5.2.8: wait as long as the responder says, then send again. */
static enum vf_step take_rnr(struct answer *a)
{
	struct vf_requester *req = &a->qp->req;

	if (req->is_rnr_wait && req->rnr_psn == a->pkt->psn)
		return VF_STEP_END;
	vf_count(a->qp->cfg.counters, VF_CNT_RNR_NAK_RCVD);
	if (req->rnr_left == 0) {
		vf_count(a->qp->cfg.counters, VF_CNT_RNR_NAK_RETRY_ERR);
		return fail(a, a->w, VF_ROCE_WC_RNR_RETRY_EXC_ERR);
	}
	if (a->qp->attr.rnr_retry != 7)
		req->rnr_left--;
	vf_requester_go_back(a->qp, a->now, a->pkt->psn);
	req->is_rnr_wait = true;
	req->rnr_psn = a->pkt->psn;
	vf_timer_set(&a->qp->r->timers, &a->qp->timer,
		     a->now + vf_roce_rnr_ns(a->pkt->syndrome & VF_AETH_VALUE_MASK));
	return VF_STEP_END;
}

/* A NAK that came twice, or that rxe sends behind its RNR NAK, asks for nothing new. */
static bool is_going_back_already(const struct vf_roce_qp *qp, uint32_t psn)
{
	const struct vf_send_wqe *w =
		qp->sq.at < qp->sq.count ? vf_sq_at(&qp->sq, qp->sq.at) : NULL;

	return w && w->is_started && ((w->first_psn + qp->req.at_pkt) & VF_PSN_MASK) == psn;
}

static enum vf_step take_sequence_nak(struct answer *a)
{
	if (is_going_back_already(a->qp, a->pkt->psn))
		return VF_STEP_END;
	vf_count(a->qp->cfg.counters, VF_CNT_PACKET_SEQ_ERR);
	vf_completer_retry(a->qp, a->now, a->pkt->psn);
	return VF_STEP_END;
}

/* IBTA 9.7.5.2 for the codes, 9.9.2 for what the requester's completion says. */
static enum vf_step take_nak(struct answer *a)
{
	struct vf_roce_counters *c = a->qp->cfg.counters;

	switch (a->pkt->syndrome) {
	case VF_NAK_SEQUENCE:
		return take_sequence_nak(a);
	case VF_NAK_INVALID_REQUEST:
	case VF_NAK_INVALID_RD_REQUEST:
		vf_count(c, VF_CNT_REQ_REMOTE_INVALID_REQUEST);
		return fail(a, a->w, VF_ROCE_WC_REM_INV_REQ_ERR);
	case VF_NAK_REMOTE_ACCESS:
		vf_count(c, VF_CNT_REQ_REMOTE_ACCESS_ERRORS);
		return fail(a, a->w, VF_ROCE_WC_REM_ACCESS_ERR);
	case VF_NAK_REMOTE_OPERATION:
		return fail(a, a->w, VF_ROCE_WC_REM_OP_ERR);
	default:
		return fail(a, a->w, VF_ROCE_WC_BAD_RESP_ERR);
	}
}

static enum vf_step take_ack(struct answer *a)
{
	unsigned kind = a->pkt->syndrome & VF_AETH_KIND_MASK;

	if (a->pkt->opcode != VF_OP_ACK)
		return VF_STEP_NEXT;
	if (kind == VF_AETH_ACK)
		return VF_STEP_END;
	if (!a->w)
		return drop(a, VF_DROP_GHOST_ACK);
	if (kind == VF_AETH_RNR)
		return take_rnr(a);
	return kind == VF_AETH_NAK ? take_nak(a) : fail(a, a->w, VF_ROCE_WC_BAD_RESP_ERR);
}

/* From here on the packet is a read response or an atomic's answer; the one awaited, or others were
 * lost before it. */
static enum vf_step check_awaited(struct answer *a)
{
	unsigned kind = a->pkt->op->flags & (VF_OPF_READ | VF_OPF_ATOMIC);
	bool is_read;

	if (!a->w || !vf_send_wqe_has(a->w, VF_WRF_RD_ATOMIC))
		return a->w ? fail(a, a->w, VF_ROCE_WC_BAD_RESP_ERR) : drop(a, VF_DROP_GHOST_ACK);
	if (a->pkt->psn != a->qp->req.una)
		return implied_nak(a);
	is_read = a->w->opcode == VF_ROCE_WR_RDMA_READ;
	if (kind != (is_read ? (unsigned)VF_OPF_READ : (unsigned)VF_OPF_ATOMIC))
		return fail(a, a->w, VF_ROCE_WC_BAD_RESP_ERR);
	if (a->pkt->op->aeth_at && (a->pkt->syndrome & VF_AETH_KIND_MASK) != VF_AETH_ACK)
		return fail(a, a->w, VF_ROCE_WC_BAD_RESP_ERR);
	return VF_STEP_NEXT;
}

/*
 * IBTA 9.7.6.1: opcode and length have to be those of this place. Read requests end at whole
 * parts of the message, also when they are repeated from the middle; a repeated one may go on with
 * MIDDLE instead of FIRST, as rxe has it.
 */
static bool is_response_sound(const struct answer *a, uint32_t index)
{
	uint32_t mtu = a->qp->attr.mtu_bytes, left = a->w->length - index * mtu;
	bool is_end =
		index + 1 == a->w->packets || (index + 1) % vf_requester_read_part(a->qp) == 0;

	if (a->pkt->payload_len != (left < mtu ? left : mtu))
		return false;
	return is_end == ((a->pkt->op->flags & VF_OPF_LAST) != 0);
}

static int scatter(const struct answer *a, uint32_t offset, const void *from, uint32_t len)
{
	struct iovec iov[VF_ROCE_TX_IOV];
	struct vf_sge_walk walk = {vf_send_wqe_sge(a->w), a->w->sge_count, VF_ROCE_LOCAL_WRITE};
	int n;

	if (len == 0)
		return 0;
	n = vf_sge_map(a->qp, &walk, offset, len, iov);
	return n < 0 ? n : a->qp->r->ops->mem_write(a->qp->r->host, iov, n, from, len);
}

static enum vf_step take_data(struct answer *a)
{
	struct vf_requester *req = &a->qp->req;
	uint32_t index = (a->pkt->psn - a->w->first_psn) & VF_PSN_MASK;
	int err;

	if (a->w->opcode == VF_ROCE_WR_RDMA_READ) {
		if (!is_response_sound(a, index))
			return fail(a, a->w, VF_ROCE_WC_BAD_RESP_ERR);
		err = scatter(a, index * a->qp->attr.mtu_bytes, a->pkt->payload,
			      a->pkt->payload_len);
	} else {
		err = scatter(a, 0, &a->pkt->original, sizeof(a->pkt->original));
	}
	if (err)
		return fail(a, a->w, VF_ROCE_WC_LOC_PROT_ERR);
	req->una = vf_psn_add(a->pkt->psn, 1);
	a->w->is_done = a->pkt->psn == a->w->last_psn;
	progress(a, a->pkt->psn);
	return VF_STEP_END;
}

void vf_completer_receive(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt)
{
	static enum vf_step (*const steps[])(struct answer *) = {
		check_state, check_psn, acknowledge, take_ack, check_awaited, take_data,
	};
	struct answer a = {.qp = qp, .now = now, .pkt = pkt};
	enum vf_step step = VF_STEP_NEXT;

	for (unsigned i = 0; i < VF_ARRAY_SIZE(steps) && step == VF_STEP_NEXT; i++)
		step = steps[i](&a);
	if (!a.is_progress || qp->attr.state == VF_ROCE_ERR)
		return;
	vf_sq_settle(qp);
	vf_requester_catch_up(qp);
	vf_qp_ready(qp);
}

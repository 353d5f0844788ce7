/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requester: turns send work requests into request packets (IBTA 9.7.3 RC, 9.8.2 UC, 9.8.3 UD),
 * as a list of steps:
 *
 *   find ─▶ fence ─▶ local operation ─▶ start ─▶ limits ─▶ headers ─▶ flow ─▶ payload ─▶ commit
 *
 * Each step passes on, or says why nothing can be sent now. What makes it possible again (an
 * answer, a timer, a post, the flow) puts the QP back into the round. The place to send from is
 * (vf_sq.at, vf_requester.at_pkt); going back moves it, answers move una.
 *
 *             una ≤ PSN at the place to send from ≤ psn_next           psn_next - una ≤ window
 *
 * A long read goes out as several read requests, each not longer than half a window, so that what
 * is in flight stays bounded.
 */
#include "roce/requester.h"

#include "roce/wire.h"

void vf_requester_reset(struct vf_roce_qp *qp)
{
	memset(&qp->req, 0, sizeof(qp->req));
	qp->req.window = VF_WINDOW_MAX;
}

/* ---- steps ---- */

/* IBTA 10.3.1: in SQD only what was started goes on. */
static enum vf_step find(struct vf_request *q)
{
	struct vf_roce_qp *qp = q->qp;
	struct vf_send_wqe *w;

	if ((qp->attr.state != VF_ROCE_RTS && qp->attr.state != VF_ROCE_SQD) || qp->req.is_rnr_wait)
		return VF_STEP_IDLE;
	while (qp->sq.at < qp->sq.count && vf_sq_at(&qp->sq, qp->sq.at)->is_done) {
		qp->sq.at++;
		qp->req.at_pkt = 0;
	}
	if (qp->sq.at >= qp->sq.count)
		return VF_STEP_IDLE;
	w = vf_sq_at(&qp->sq, qp->sq.at);
	if (w->status != VF_ROCE_WC_SUCCESS || (qp->attr.state == VF_ROCE_SQD && !w->is_started))
		return VF_STEP_IDLE;
	q->w = w;
	return VF_STEP_NEXT;
}

/* IBTA 10.8.3.3: a fenced request waits for the reads and atomics before it. */
static enum vf_step fence(struct vf_request *q)
{
	if (!q->w->is_started && (q->w->flags & VF_ROCE_SEND_FENCE) && q->qp->req.rd_count)
		return VF_STEP_IDLE;
	return VF_STEP_NEXT;
}

/* The request cannot be done: it ends when those before it have ended. */
static enum vf_step refuse(struct vf_request *q, enum vf_roce_wc_status status)
{
	q->w->status = (uint8_t)status;
	if (q->qp->cfg.type == VF_ROCE_RC)
		vf_sq_settle(q->qp);
	else if (vf_list_is_empty(&q->qp->sent_link))
		vf_list_add_tail(&q->qp->r->sent, &q->qp->sent_link);
	return VF_STEP_IDLE;
}

/* UC and UD: the host has the last packet in its hands; the completion follows when it comes back
 * to the engine. */
static void finish_unreliable(struct vf_roce_qp *qp, struct vf_send_wqe *w)
{
	w->is_done = true;
	if (vf_list_is_empty(&qp->sent_link))
		vf_list_add_tail(&qp->r->sent, &qp->sent_link);
}

/* Bind and local invalidate happen here and now, in their turn (IBTA 10.6.6, 11.4.1.1). */
static enum vf_step run_local(struct vf_request *q)
{
	struct vf_roce_qp *qp = q->qp;
	struct vf_send_wqe *w = q->w;
	bool is_bind = w->opcode == VF_ROCE_WR_BIND_MW;
	int err;

	if (!vf_send_wqe_has(w, VF_WRF_LOCAL))
		return VF_STEP_NEXT;
	w->is_started = true;
	w->first_psn = w->last_psn = qp->req.psn_next;
	if (is_bind)
		err = qp->r->ops->mem_bind(qp->r->host, qp->cfg.qp_host, vf_send_wqe_bytes(w),
					   w->bind_len);
	else
		err = qp->r->ops->mem_invalidate(qp->r->host, qp->cfg.qp_host, w->imm_or_rkey,
						 false);
	if (err)
		return refuse(q, is_bind ? VF_ROCE_WC_MW_BIND_ERR : VF_ROCE_WC_LOC_PROT_ERR);
	if (qp->cfg.type == VF_ROCE_RC) {
		w->is_done = true;
		vf_sq_settle(qp);
	} else {
		finish_unreliable(qp, w);
	}
	return VF_STEP_AGAIN;
}

static uint32_t count_packets(const struct vf_roce_qp *qp, const struct vf_send_wqe *w)
{
	uint32_t mtu = qp->attr.mtu_bytes;

	if (w->length <= mtu || w->opcode == VF_ROCE_WR_ATOMIC_CMP_AND_SWP ||
	    w->opcode == VF_ROCE_WR_ATOMIC_FETCH_AND_ADD)
		return 1;
	return (w->length + mtu - 1) / mtu;
}

/* Is all of the local memory usable? Asked once for a message of several packets; one packet is
 * asked about when it is mapped. */
static int check_local(struct vf_roce_qp *qp, const struct vf_send_wqe *w)
{
	unsigned access = vf_send_wqe_has(w, VF_WRF_RD_ATOMIC) ? VF_ROCE_LOCAL_WRITE : 0;
	const struct vf_roce_sge *sge = vf_send_wqe_sge(w);
	int err = 0;

	if (w->packets == 1 && !access)
		return 0;
	for (unsigned i = 0; i < w->sge_count && !err; i++) {
		struct vf_roce_mem m = {.key = sge[i].lkey,
					.addr = sge[i].addr,
					.len = sge[i].length,
					.access = access};

		if (m.len)
			err = vf_qp_mem_check(qp, &m);
	}
	return err;
}

static enum vf_step start(struct vf_request *q)
{
	struct vf_roce_qp *qp = q->qp;
	struct vf_send_wqe *w = q->w;

	if (w->is_started)
		return VF_STEP_NEXT;
	w->packets = count_packets(qp, w);
	if (check_local(qp, w))
		return refuse(q, VF_ROCE_WC_LOC_PROT_ERR);
	if (vf_send_wqe_has(w, VF_WRF_RD_ATOMIC) && qp->attr.max_rd_atomic == 0)
		return refuse(q, VF_ROCE_WC_LOC_QP_OP_ERR);
	w->is_started = true;
	w->first_psn = qp->req.psn_next;
	w->last_psn = vf_psn_add(w->first_psn, w->packets - 1);
	qp->req.at_pkt = 0;
	return VF_STEP_NEXT;
}

/*
 * Responses that one read request asks for at most: half a window, or half of what this process's
 * socket buffer bears, because a peer that is no Verbifrost knows nothing of that buffer.
 */
uint32_t vf_requester_read_part(const struct vf_roce_qp *qp)
{
	uint32_t cost = vf_flow_cost(qp->attr.mtu_bytes + VF_BTH_LEN + VF_AETH_LEN + 4u);
	uint32_t bears = qp->r->rx_budget_bytes / cost / 2;

	if (qp->r->rx_budget_bytes == 0 || bears > VF_WINDOW_MAX / 2)
		return VF_WINDOW_MAX / 2;
	return bears < VF_WINDOW_MIN ? VF_WINDOW_MIN : bears;
}

/* IBTA 11.2.5.2: reads and atomics in flight; and the window, which nobody prescribes. */
static enum vf_step limit(struct vf_request *q)
{
	struct vf_requester *req = &q->qp->req;
	uint32_t ahead, part, window = req->window;

	q->psn = vf_psn_add(q->w->first_psn, req->at_pkt);
	q->psn_count = 1;
	if (q->qp->cfg.type != VF_ROCE_RC)
		return VF_STEP_NEXT;
	if (vf_send_wqe_has(q->w, VF_WRF_RD_ATOMIC) && req->rd_count >= q->qp->attr.max_rd_atomic)
		return VF_STEP_IDLE;
	if (q->w->opcode == VF_ROCE_WR_RDMA_READ) {
		part = vf_requester_read_part(q->qp);
		q->psn_count = part - req->at_pkt % part;
		if (q->psn_count > q->w->packets - req->at_pkt)
			q->psn_count = q->w->packets - req->at_pkt;
		window = window < 2 * part ? window : 2 * part;
	}
	ahead = (q->psn - req->una) & VF_PSN_MASK;
	return ahead && ahead + q->psn_count > window ? VF_STEP_IDLE : VF_STEP_NEXT;
}

static enum vf_step headers(struct vf_request *q)
{
	vf_request_headers(q);
	return VF_STEP_NEXT;
}

static enum vf_step gate(struct vf_request *q)
{
	q->flow = q->w->flow ? q->w->flow : q->qp->flow;
	if (!vf_flow_may_send(q->flow, q->now, vf_packet_tx_cost(q->tx), q->qp->cfg.type))
		return VF_STEP_FLOW;
	return VF_STEP_NEXT;
}

static enum vf_step payload(struct vf_request *q)
{
	return vf_request_payload(q) ? refuse(q, VF_ROCE_WC_LOC_PROT_ERR) : VF_STEP_NEXT;
}

static enum vf_step commit(struct vf_request *q)
{
	struct vf_roce_qp *qp = q->qp;
	struct vf_requester *req = &qp->req;
	uint32_t end = vf_psn_add(q->psn, q->psn_count);

	vf_flow_sent(q->flow, q->now, vf_packet_tx_cost(q->tx));
	req->since_ack = q->is_ack_req ? 0 : req->since_ack + 1;
	if (vf_psn_is_before(q->psn, req->psn_next))
		vf_count(qp->cfg.counters, VF_CNT_RETRANSMITTED_PKTS);
	if (vf_psn_is_before(req->psn_next, end))
		req->psn_next = end;
	req->at_pkt += q->psn_count;
	if (req->at_pkt == q->w->packets) {
		qp->sq.at++;
		req->at_pkt = 0;
	}
	if (qp->cfg.type != VF_ROCE_RC) {
		req->una = req->psn_next;
		if (req->at_pkt == 0)
			finish_unreliable(qp, q->w);
		return VF_STEP_SENT;
	}
	if (vf_send_wqe_has(q->w, VF_WRF_RD_ATOMIC)) {
		req->rd_end[(req->rd_head + req->rd_count) % VF_RD_ATOMIC_MAX] = vf_psn_sub(end, 1);
		req->rd_count++;
	}
	if (!vf_timer_is_set(&qp->timer))
		vf_requester_time(qp, q->now);
	return VF_STEP_SENT;
}

enum vf_step vf_requester_next(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx,
			       struct vf_flow **flow)
{
	static enum vf_step (*const steps[])(struct vf_request *) = {
		find, fence, run_local, start, limit, headers, gate, payload, commit,
	};
	struct vf_request q = {.qp = qp, .now = now, .tx = tx};
	enum vf_step step;

	do {
		step = VF_STEP_NEXT;
		for (unsigned i = 0; i < VF_ARRAY_SIZE(steps) && step == VF_STEP_NEXT; i++)
			step = steps[i](&q);
	} while (step == VF_STEP_AGAIN);
	*flow = q.flow;
	return step;
}

/* ---- going back ---- */

static void forget_reads_from(struct vf_requester *req, uint32_t psn)
{
	while (req->rd_count &&
	       !vf_psn_is_before(req->rd_end[(req->rd_head + req->rd_count - 1) % VF_RD_ATOMIC_MAX],
				 psn))
		req->rd_count--;
}

void vf_requester_go_back(struct vf_roce_qp *qp, vf_nsec now, uint32_t psn)
{
	for (uint32_t i = 0; i < qp->sq.count; i++) {
		struct vf_send_wqe *w = vf_sq_at(&qp->sq, i);

		if (!w->is_started)
			break;
		if (w->is_done || vf_psn_is_before(w->last_psn, psn))
			continue;
		qp->sq.at = i;
		qp->req.at_pkt = vf_psn_is_before(w->first_psn, psn)
					 ? (psn - w->first_psn) & VF_PSN_MASK
					 : 0;
		break;
	}
	forget_reads_from(&qp->req, psn);
	qp->req.since_ack = 0;
	vf_requester_time(qp, now);
	vf_qp_ready(qp);
}

void vf_requester_catch_up(struct vf_roce_qp *qp)
{
	struct vf_requester *req = &qp->req;
	struct vf_send_wqe *w;

	while (req->rd_count && vf_psn_is_before(req->rd_end[req->rd_head], req->una)) {
		req->rd_head = (req->rd_head + 1) % VF_RD_ATOMIC_MAX;
		req->rd_count--;
	}
	if (qp->sq.at >= qp->sq.count)
		return;
	w = vf_sq_at(&qp->sq, qp->sq.at);
	if (w->is_started && !w->is_done &&
	    vf_psn_is_before(vf_psn_add(w->first_psn, req->at_pkt), req->una))
		req->at_pkt = (req->una - w->first_psn) & VF_PSN_MASK;
}

/* ---- time ---- */

/* IBTA 9.7.6.1.3: the time-out counts from the last sign of life while something is unanswered. */
void vf_requester_time(struct vf_roce_qp *qp, vf_nsec now)
{
	vf_nsec wait = vf_roce_timeout_ns(qp->attr.timeout);

	if (qp->req.is_rnr_wait)
		return;
	if (qp->req.una == qp->req.psn_next || wait == VF_NSEC_NEVER)
		vf_timer_stop(&qp->r->timers, &qp->timer);
	else
		vf_timer_set(&qp->r->timers, &qp->timer, now + wait);
}

static void narrow(struct vf_requester *req)
{
	req->grown = 0;
	req->window /= 2;
	if (req->window < VF_WINDOW_MIN)
		req->window = VF_WINDOW_MIN;
}

void vf_requester_timer(struct vf_roce_qp *qp, vf_nsec now)
{
	if (qp->req.is_rnr_wait) {
		qp->req.is_rnr_wait = false;
		vf_requester_time(qp, now);
		vf_qp_ready(qp);
		return;
	}
	vf_count(qp->cfg.counters, VF_CNT_LOCAL_ACK_TIMEOUT_ERR);
	if (qp->flow)
		vf_flow_lost_all(qp->flow, now);
	qp->req.is_rereading = false;
	narrow(&qp->req);
	vf_completer_retry(qp, now, qp->req.una);
}

/*
 * IBTA A17.9 leaves the reaction open: here the window is halved, and grows again with what is
 * answered.
 */
void vf_requester_cnp(struct vf_roce_qp *qp, vf_nsec now)
{
	vf_count(qp->cfg.counters, VF_CNT_RP_CNP_HANDLED);
	if (now < qp->req.cnp_until)
		return;
	qp->req.cnp_until = now + VF_CNP_GAP_NS;
	narrow(&qp->req);
}

/* The memory of a packet on its way out is gone: its request ends with LOC_PROT_ERR. */
void vf_requester_tx_fault(struct vf_roce_qp *qp, const struct vf_roce_tx *tx)
{
	uint32_t i;
	struct vf_send_wqe *w;

	if (qp->sq.count == 0)
		return;
	i = (uint32_t)tx->fault_token - vf_sq_at(&qp->sq, 0)->seq;
	if (i >= qp->sq.count)
		return;
	w = vf_sq_at(&qp->sq, i);
	if (w->status != VF_ROCE_WC_SUCCESS || (w->is_done && qp->cfg.type == VF_ROCE_RC))
		return;
	w->status = VF_ROCE_WC_LOC_PROT_ERR;
	if (qp->cfg.type != VF_ROCE_RC)
		return;
	qp->sq.at = i;
	qp->req.at_pkt = 0;
	vf_sq_settle(qp);
}

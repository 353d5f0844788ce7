/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States of a queue pair (IBTA 10.3.1). The host has checked that a move is one of the table; here
 * is what a move does.
 *
 *   RESET ─▶ INIT ─▶ RTR ─▶ RTS ◀─▶ SQD          SQE ─▶ RTS (UC, UD)
 *              receives    answers  sends  started    send queue failed,
 *              may be      packets         requests   receiving goes on
 *              posted                      finish
 *   any ─▶ ERR    everything posted is flushed, now and later
 *   any ─▶ RESET  everything is forgotten
 *
 * Not possible: sending before RTS; answering before RTR; leaving ERR but to RESET.
 */
#include <errno.h>

#include "base/reason.h"
#include "roce/qp.h"

static int check_ranges(const struct vf_roce_qp_attr *a, unsigned mask)
{
	if ((mask & VF_ROCE_ATTR_MTU) && (a->mtu_bytes < 256 || a->mtu_bytes > VF_ROCE_MTU_MAX ||
					  (a->mtu_bytes & (a->mtu_bytes - 1))))
		return vf_refuse(EINVAL, "path MTU %u is not 256, 512, 1024, 2048 or 4096",
				 a->mtu_bytes);
	if ((mask & VF_ROCE_ATTR_MAX_RD_ATOMIC) && a->max_rd_atomic > VF_RD_ATOMIC_MAX)
		return vf_refuse(EINVAL, "max_rd_atomic %u is not in 0..%u", a->max_rd_atomic,
				 VF_RD_ATOMIC_MAX);
	if ((mask & VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC) && a->max_dest_rd_atomic > VF_RD_ATOMIC_MAX)
		return vf_refuse(EINVAL, "max_dest_rd_atomic %u is not in 0..%u",
				 a->max_dest_rd_atomic, VF_RD_ATOMIC_MAX);
	if ((mask & VF_ROCE_ATTR_RETRY_CNT) && a->retry_cnt > 7)
		return vf_refuse(EINVAL, "retry_cnt %u is not in 0..7", a->retry_cnt);
	if ((mask & VF_ROCE_ATTR_RNR_RETRY) && a->rnr_retry > 7)
		return vf_refuse(EINVAL, "rnr_retry %u is not in 0..7", a->rnr_retry);
	if ((mask & VF_ROCE_ATTR_TIMEOUT) && a->timeout > 31)
		return vf_refuse(EINVAL, "timeout %u is not in 0..31", a->timeout);
	if ((mask & VF_ROCE_ATTR_MIN_RNR_TIMER) && a->min_rnr_timer > 31)
		return vf_refuse(EINVAL, "min_rnr_timer %u is not in 0..31", a->min_rnr_timer);
	return 0;
}

/* The UDP source port as Linux's rxe chooses it, so that both directions of a connection have one
 * (and one path through ECMP). */
static uint16_t connected_sport(const struct vf_roce_qp *qp)
{
	uint64_t v = qp->attr.path.flow_label & 0xfffffu;

	if (v == 0) {
		v = (uint64_t)qp->qpn * qp->attr.dest_qpn;
		v ^= v >> 20;
		v ^= v >> 40;
		v &= 0xfffffu;
	}
	return (uint16_t)(0xc000u | ((v & 0x3fffu) ^ (v >> 14)));
}

static uint16_t datagram_sport(const struct vf_roce_qp *qp)
{
	return (uint16_t)(0xc000u + (qp->qpn * 0x61c88647u >> 18));
}

static void put_flow(struct vf_roce_qp *qp)
{
	if (qp->place == VF_PLACE_FLOW)
		vf_qp_unready(qp);
	if (qp->flow)
		vf_flow_put(qp->r->flows, qp->flow);
	qp->flow = NULL;
}

/* A connected QP that may send or answer has a flow to its peer's process. */
static int get_flow(struct vf_roce_qp *qp)
{
	struct vf_flow *flow;

	if (qp->cfg.type == VF_ROCE_UD) {
		qp->udp_sport = datagram_sport(qp);
		return 0;
	}
	flow = vf_flow_get(qp->r->flows, &qp->attr.path, qp->attr.dest_qpn);
	if (!flow)
		return vf_refuse(ENOMEM, "no memory for a flow to queue pair 0x%06x",
				 qp->attr.dest_qpn);
	put_flow(qp);
	qp->flow = flow;
	qp->udp_sport = connected_sport(qp);
	vf_qp_ready(qp);
	return 0;
}

static void take_fields(struct vf_roce_qp *qp, const struct vf_roce_qp_attr *a, unsigned mask)
{
	if (mask & VF_ROCE_ATTR_PATH)
		qp->attr.path = a->path;
	if (mask & VF_ROCE_ATTR_MTU)
		qp->attr.mtu_bytes = a->mtu_bytes;
	if (mask & VF_ROCE_ATTR_DEST_QPN)
		qp->attr.dest_qpn = a->dest_qpn & VF_ROCE_QPN_MASK;
	if (mask & VF_ROCE_ATTR_RQ_PSN)
		qp->attr.rq_psn = qp->resp.psn = a->rq_psn & VF_PSN_MASK;
	if (mask & VF_ROCE_ATTR_SQ_PSN)
		qp->attr.sq_psn = qp->req.psn_next = qp->req.una = a->sq_psn & VF_PSN_MASK;
	if (mask & VF_ROCE_ATTR_MAX_RD_ATOMIC)
		qp->attr.max_rd_atomic = a->max_rd_atomic;
	if (mask & VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC)
		qp->attr.max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & VF_ROCE_ATTR_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = a->min_rnr_timer;
	if (mask & VF_ROCE_ATTR_TIMEOUT)
		qp->attr.timeout = a->timeout;
	if (mask & VF_ROCE_ATTR_RETRY_CNT)
		qp->attr.retry_cnt = qp->req.retry_left = a->retry_cnt;
	if (mask & VF_ROCE_ATTR_RNR_RETRY)
		qp->attr.rnr_retry = qp->req.rnr_left = a->rnr_retry;
	if (mask & VF_ROCE_ATTR_QKEY)
		qp->attr.qkey = a->qkey;
	if (mask & VF_ROCE_ATTR_ACCESS)
		qp->attr.access = a->access;
}

static void forget(struct vf_roce_qp *qp)
{
	uint32_t mtu_bytes = VF_ROCE_MTU_MAX;

	vf_qp_unready(qp);
	vf_list_del(&qp->answer_link);
	vf_timer_stop(&qp->r->timers, &qp->timer);
	vf_sq_clear(qp);
	vf_rq_clear(qp);
	put_flow(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->attr.mtu_bytes = mtu_bytes;
	vf_requester_reset(qp);
	vf_responder_reset(qp);
}

void vf_qp_error(struct vf_roce_qp *qp, bool keeps_answers)
{
	if (qp->attr.state == VF_ROCE_ERR)
		return;
	qp->attr.state = VF_ROCE_ERR;
	vf_qp_unready(qp);
	vf_timer_stop(&qp->r->timers, &qp->timer);
	qp->req.is_rnr_wait = false;
	if (!keeps_answers)
		vf_responder_quiet(qp);
	vf_sq_flush(qp);
	vf_rq_flush(qp);
	if (qp->cfg.srq)
		vf_qp_event(qp, VF_ROCE_EVENT_LAST_WQE_REACHED);
	if (vf_responder_has_answers(qp))
		vf_qp_ready(qp);
}

void vf_qp_broken(struct vf_roce_qp *qp)
{
	vf_log(VF_LOG_ERROR, "queue pair 0x%06x: broken invariant, the queue pair ends", qp->qpn);
	vf_roce_qp_fail(qp, 0, VF_ROCE_EVENT_QP_FATAL);
}

void vf_roce_qp_fail(struct vf_roce_qp *qp, vf_nsec now, int event)
{
	(void)now;
	if (qp->attr.state == VF_ROCE_RESET || qp->attr.state == VF_ROCE_ERR)
		return;
	vf_qp_error(qp, false);
	if (event >= 0)
		vf_qp_event(qp, (enum vf_roce_event)event);
}

static int move(struct vf_roce_qp *qp, enum vf_roce_state to)
{
	enum vf_roce_state from = qp->attr.state;

	if (to == VF_ROCE_RESET) {
		forget(qp);
		return 0;
	}
	if (from == VF_ROCE_ERR || to == VF_ROCE_ERR) {
		if (to != VF_ROCE_ERR)
			return vf_refuse(EINVAL,
					 "queue pair 0x%06x: from ERR it can only go to RESET",
					 qp->qpn);
		vf_qp_error(qp, false);
		return 0;
	}
	qp->attr.state = to;
	if (to == VF_ROCE_SQD && from != VF_ROCE_SQD) {
		qp->req.is_drained = false;
		vf_sq_settle(qp);
	}
	if (to == VF_ROCE_RTS)
		vf_qp_ready(qp);
	return 0;
}

int vf_roce_qp_modify(struct vf_roce_qp *qp, vf_nsec now, const struct vf_roce_qp_attr *attr,
		      unsigned mask)
{
	enum vf_roce_state to = mask & VF_ROCE_ATTR_STATE ? attr->state : qp->attr.state;
	bool is_live = to >= VF_ROCE_RTR && to != VF_ROCE_ERR;
	int err = check_ranges(attr, mask);

	(void)now;
	if (err)
		return err;
	take_fields(qp, attr, mask);
	if (is_live && (qp->attr.state < VF_ROCE_RTR ||
			(mask & (VF_ROCE_ATTR_PATH | VF_ROCE_ATTR_DEST_QPN)))) {
		err = get_flow(qp);
		if (err)
			return err;
	}
	return to == qp->attr.state && to != VF_ROCE_RESET ? 0 : move(qp, to);
}

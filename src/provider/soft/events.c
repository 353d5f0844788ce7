/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the engine reports: completions into their queues, events onto the context's descriptor. Called from inside the engine, so nothing
 * here calls it back: queue pairs of a completion queue that ran over are ended afterwards (vf_soft_settle).
 */
#include <string.h>

#include "provider/soft/soft.h"

static struct vf_list overran = {&overran, &overran}; /* struct soft_cq; network side's lock */

void soft_cq_overran(struct soft_cq *cq) { vf_list_add_tail(&overran, &cq->overrun_link); }

void soft_overruns_forked(void)
{
	VF_LIST_FOR_EACH_SAFE(it, &overran)
	vf_list_del(it);
}

static void fail_users(const struct soft_cq *cq, vf_nsec now)
{
	VF_LIST_FOR_EACH(it, &soft_qps)
	{
		struct soft_qp *qp = VF_LIST_ENTRY(it, struct soft_qp, link);

		if (qp->send_cq == cq || qp->recv_cq == cq)
			vf_roce_qp_fail(qp->roce, now, VF_ROCE_EVENT_QP_FATAL);
	}
}

/* Ends: a queue is on the list once in its life. */
void vf_soft_settle(void)
{
	while (!vf_list_is_empty(&overran)) {
		struct soft_cq *cq = VF_LIST_ENTRY(overran.next, struct soft_cq, overrun_link);

		vf_list_del(&cq->overrun_link);
		fail_users(cq, vf_os_now());
	}
}

/* The first bad completion of a queue pair says why it ended; the flushed ones behind it say nothing. */
static void tell_first_error(struct soft_qp *qp, const struct vf_roce_cqe *cqe)
{
	char peer[48];

	if (!qp || qp->is_error_told)
		return;
	qp->is_error_told = true;
	gid_format(qp->attr.ah_attr.grh.dgid.raw, peer);
	vf_log(VF_LOG_WARN,
	       "QP 0x%06x: work request 0x%llx failed with status %d (vendor %u), peer %s QP 0x%06x, "
	       "%.3f s after it was connected",
	       cqe->qpn, (unsigned long long)cqe->wr_id, (int)cqe->status, cqe->vendor_err, peer,
	       qp->attr.dest_qp_num, (double)(vf_os_now() - qp->connected) / 1e9);
}

void soft_complete(void *host, const struct vf_roce_cqe *cqe)
{
	(void)host;
	if (cqe->status != VF_ROCE_WC_SUCCESS && cqe->status != VF_ROCE_WC_WR_FLUSH_ERR)
		tell_first_error(cqe->qp_host, cqe);
	soft_cq_push(cqe->cq, cqe);
}

static const enum ibv_event_type qp_events[] = {
	[VF_ROCE_EVENT_COMM_EST] = IBV_EVENT_COMM_EST,
	[VF_ROCE_EVENT_SQ_DRAINED] = IBV_EVENT_SQ_DRAINED,
	[VF_ROCE_EVENT_QP_FATAL] = IBV_EVENT_QP_FATAL,
	[VF_ROCE_EVENT_QP_REQ_ERR] = IBV_EVENT_QP_REQ_ERR,
	[VF_ROCE_EVENT_QP_ACCESS_ERR] = IBV_EVENT_QP_ACCESS_ERR,
	[VF_ROCE_EVENT_LAST_WQE_REACHED] = IBV_EVENT_QP_LAST_WQE_REACHED,
};

void soft_qp_event(void *host, void *qp_host, enum vf_roce_event event)
{
	struct soft_qp *qp = qp_host;
	struct ibv_async_event e;

	(void)host;
	if ((unsigned)event >= VF_ARRAY_SIZE(qp_events))
		return;
	if (event == VF_ROCE_EVENT_SQ_DRAINED && !qp->attr.en_sqd_async_notify)
		return;
	memset(&e, 0, sizeof(e));
	e.event_type = qp_events[event];
	e.element.qp = &qp->vf.ibv;
	soft_context_put_event(qp->ctx, &e);
}

void soft_srq_event(void *host, void *srq_host, enum vf_roce_event event)
{
	struct soft_srq *srq = srq_host;
	struct ibv_async_event e;

	(void)host;
	if (event != VF_ROCE_EVENT_SRQ_LIMIT)
		return;
	memset(&e, 0, sizeof(e));
	e.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
	e.element.srq = &srq->vf.ibv;
	soft_context_put_event(srq->ctx, &e);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The send queue (IBTA 10.8.2 posting, 10.8.3 order of completions). Requests are copied at
 * posting, are started in order by the requester, and are completed in order from the head.
 *
 *   posted ─▶ started ─▶ done ─▶ completed (slot free)
 *      │         │
 *      └─────────┴──▶ status is bad ─▶ completed with it at the head, the rest is flushed
 *
 * Not possible: done behind a bad one completed well; a completion before that of an earlier
 * request.
 */
#include "roce/sq.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"
#include "roce/qp.h"

int vf_sq_init(struct vf_sq *sq, const struct vf_roce_qp_config *cfg)
{
	size_t data = cfg->send_sge_max * sizeof(struct vf_roce_sge);

	if (data < cfg->inline_max)
		data = cfg->inline_max;
	if (data < VF_BIND_MAX)
		data = VF_BIND_MAX;
	sq->stride = (sizeof(struct vf_send_wqe) + data + 15u) & ~(size_t)15;
	sq->max = cfg->send_max;
	sq->sge_max = cfg->send_sge_max;
	sq->inline_max = cfg->inline_max;
	if (sq->max == 0)
		return 0;
	/* Not cleared: memory is taken as it is used. A request is written whole when it is posted. */
	sq->slots = malloc(sq->max * sq->stride);
	return sq->slots ? 0 : vf_refuse(ENOMEM, "no memory for a send queue of %u", sq->max);
}

void vf_sq_free(struct vf_sq *sq) { free(sq->slots); }

/* ---- posting ---- */

static int total_length(const struct vf_roce_send_wr *wr, uint64_t *out)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < wr->sge_count; i++)
		total += wr->sge[i].length;
	if (total > VF_ROCE_MSG_MAX)
		return vf_refuse(EINVAL, "message of %llu bytes is longer than %u",
				 (unsigned long long)total, VF_ROCE_MSG_MAX);
	*out = total;
	return 0;
}

static int check_data(const struct vf_roce_qp *qp, const struct vf_roce_send_wr *wr,
		      const struct vf_wr_info *info, uint64_t total)
{
	bool is_inline = (wr->flags & VF_ROCE_SEND_INLINE) != 0;

	if (is_inline && !(info->flags & VF_WRF_INLINE))
		return vf_refuse(EINVAL, "%s cannot carry inline data", info->name);
	if (is_inline && total > qp->sq.inline_max)
		return vf_refuse(EINVAL,
				 "inline data of %llu bytes is longer than max_inline_data %u",
				 (unsigned long long)total, qp->sq.inline_max);
	if (!is_inline && wr->sge_count > qp->sq.sge_max)
		return vf_refuse(EINVAL, "num_sge %u is not in 0..%u", wr->sge_count,
				 qp->sq.sge_max);
	if ((info->wc_opcode == VF_ROCE_WC_COMP_SWAP || info->wc_opcode == VF_ROCE_WC_FETCH_ADD) &&
	    total != 8)
		return vf_refuse(EINVAL, "%s takes 8 bytes, not %llu", info->name,
				 (unsigned long long)total);
	if (qp->cfg.type == VF_ROCE_UD && total > qp->attr.mtu_bytes)
		return vf_refuse(EINVAL, "UD message of %llu bytes is longer than the MTU %u",
				 (unsigned long long)total, qp->attr.mtu_bytes);
	return 0;
}

static int check_request(const struct vf_roce_qp *qp, const struct vf_roce_send_wr *wr,
			 const struct vf_wr_info *info, uint64_t *total)
{
	int err;

	if (qp->attr.state < VF_ROCE_RTS)
		return vf_refuse(EINVAL,
				 "queue pair 0x%06x cannot send in state %d: it must be in RTS",
				 qp->qpn, (int)qp->attr.state);
	if (!info || !vf_wr_is_allowed(info, qp->cfg.type))
		return vf_refuse(EINVAL, "send opcode %d is not one of this queue pair's type",
				 (int)wr->opcode);
	if (info->flags & VF_WRF_LOCAL) {
		*total = 0;
		if (wr->opcode == VF_ROCE_WR_BIND_MW && (!wr->bind || wr->bind_len > VF_BIND_MAX))
			return vf_refuse(EINVAL, "bind request of %u bytes is not in 1..%u",
					 wr->bind_len, VF_BIND_MAX);
		return 0;
	}
	if (qp->cfg.type == VF_ROCE_UD && !wr->path)
		return vf_refuse(EINVAL, "a UD send needs an address handle");
	err = total_length(wr, total);
	return err ? err : check_data(qp, wr, info, *total);
}

static void copy_data(struct vf_send_wqe *w, const struct vf_roce_send_wr *wr)
{
	uint8_t *to = vf_send_wqe_bytes(w);

	w->sge_count = 0;
	w->bind_len = 0;
	if (w->opcode == VF_ROCE_WR_BIND_MW) {
		w->bind_len = (uint8_t)wr->bind_len;
		memcpy(to, wr->bind, wr->bind_len);
	} else if (vf_send_wqe_has(w, VF_WRF_LOCAL)) {
		return;
	} else if (wr->flags & VF_ROCE_SEND_INLINE) {
		for (unsigned i = 0; i < wr->sge_count; i++) {
			if (wr->sge[i].length)
				memcpy(to, (const void *)(uintptr_t)wr->sge[i].addr,
				       wr->sge[i].length);
			to += wr->sge[i].length;
		}
	} else if (wr->sge_count) {
		w->sge_count = (uint8_t)wr->sge_count;
		memcpy(to, wr->sge, wr->sge_count * sizeof(*wr->sge));
	}
}

static void copy_request(struct vf_roce_qp *qp, struct vf_send_wqe *w,
			 const struct vf_roce_send_wr *wr)
{
	w->wr_id = wr->wr_id;
	w->opcode = (uint8_t)wr->opcode;
	w->flags = (uint8_t)wr->flags;
	w->status = VF_ROCE_WC_SUCCESS;
	w->is_started = w->is_done = false;
	w->vendor_err = 0;
	w->seq = qp->sq.seq++;
	w->imm_or_rkey = wr->imm_or_rkey;
	w->remote_addr = wr->remote_addr;
	w->rkey = wr->rkey;
	w->compare_add = wr->compare_add;
	w->swap = wr->swap;
	w->remote_qpn = wr->remote_qpn & VF_ROCE_QPN_MASK;
	w->remote_qkey = wr->remote_qkey;
	w->packets = 0;
	copy_data(w, wr);
}

static int check_room(const struct vf_roce_qp *qp, uint32_t ahead)
{
	if (qp->sq.count >= qp->sq.max || ahead >= qp->sq.max - qp->sq.count)
		return vf_refuse(ENOMEM, "send queue is full: %u requests", qp->sq.max);
	return 0;
}

int vf_roce_post_check(const struct vf_roce_qp *qp, const struct vf_roce_send_wr *wr,
		       uint32_t ahead)
{
	uint64_t total = 0;
	int err = check_request(qp, wr, vf_wr_info(wr->opcode), &total);

	return err ? err : check_room(qp, ahead);
}

int vf_roce_post_send(struct vf_roce_qp *qp, const struct vf_roce_send_wr *wr)
{
	const struct vf_wr_info *info = vf_wr_info(wr->opcode);
	struct vf_flow *flow = NULL;
	struct vf_send_wqe *w;
	uint64_t total = 0;
	int err = check_request(qp, wr, info, &total);

	if (!err)
		err = check_room(qp, 0);
	if (err)
		return err;
	if (qp->cfg.type == VF_ROCE_UD) {
		flow = vf_flow_get(qp->r->flows, wr->path, wr->remote_qpn);
		if (!flow)
			return vf_refuse(ENOMEM, "no memory for a flow to queue pair 0x%06x",
					 wr->remote_qpn);
	}
	w = vf_sq_at(&qp->sq, qp->sq.count);
	w->info = info;
	w->flow = flow;
	w->length = (uint32_t)total;
	if (flow)
		w->path = *wr->path;
	copy_request(qp, w, wr);
	qp->sq.count++;
	if (qp->attr.state == VF_ROCE_ERR || qp->attr.state == VF_ROCE_SQE)
		vf_sq_flush(qp);
	else
		vf_qp_ready(qp);
	return 0;
}

/* ---- completing ---- */

static void complete(struct vf_roce_qp *qp, const struct vf_send_wqe *w,
		     enum vf_roce_wc_status status)
{
	struct vf_roce_cqe cqe = {
		.cq = qp->cfg.send_cq,
		.qp_host = qp->cfg.qp_host,
		.wr_id = w->wr_id,
		.status = status,
		.opcode = w->info->wc_opcode,
		.byte_len = w->length,
		.vendor_err = status == VF_ROCE_WC_WR_FLUSH_ERR ? 0 : w->vendor_err,
		.qpn = qp->qpn,
		.solicited = status != VF_ROCE_WC_SUCCESS,
	};

	if (status == VF_ROCE_WC_SUCCESS && !qp->cfg.is_sig_all &&
	    !(w->flags & VF_ROCE_SEND_SIGNALED))
		return;
	if (status != VF_ROCE_WC_SUCCESS)
		vf_count(qp->cfg.counters, VF_CNT_REQ_CQE_ERROR);
	qp->r->ops->complete(qp->r->host, &cqe);
}

static void drop_head(struct vf_roce_qp *qp)
{
	struct vf_send_wqe *w = vf_sq_at(&qp->sq, 0);

	if (w->flow)
		vf_flow_put(qp->r->flows, w->flow);
	w->flow = NULL;
	if (++qp->sq.head == qp->sq.max)
		qp->sq.head = 0;
	qp->sq.count--;
	if (qp->sq.at > 0)
		qp->sq.at--;
	else
		qp->req.at_pkt = 0;
}

/* IBTA 10.3.1: an error in its send queue ends an RC QP, but leaves UC and UD their receive queue
 * (SQE). */
static void fail(struct vf_roce_qp *qp)
{
	const struct vf_send_wqe *w = vf_sq_at(&qp->sq, 0);

	vf_log(VF_LOG_WARN,
	       "queue pair 0x%06x: %s of %u bytes ended with completion status %d (%s)", qp->qpn,
	       w->info->name, w->length, w->status, vf_wc_status_name(w->status));
	if (qp->cfg.type == VF_ROCE_RC) {
		vf_qp_error(qp, false);
		return;
	}
	vf_qp_unready(qp);
	qp->attr.state = VF_ROCE_SQE;
	vf_sq_flush(qp);
}

/* IBTA 10.3.1: drained when no request that was started is unfinished. */
static void say_drained(struct vf_roce_qp *qp)
{
	if (qp->attr.state != VF_ROCE_SQD || qp->req.is_drained)
		return;
	if (qp->sq.count && vf_sq_at(&qp->sq, 0)->is_started)
		return;
	qp->req.is_drained = true;
	vf_qp_event(qp, VF_ROCE_EVENT_SQ_DRAINED);
}

void vf_sq_settle(struct vf_roce_qp *qp)
{
	struct vf_send_wqe *w;

	while (qp->sq.count) {
		w = vf_sq_at(&qp->sq, 0);
		if (w->status != VF_ROCE_WC_SUCCESS) {
			fail(qp);
			return;
		}
		if (!w->is_done)
			break;
		complete(qp, w, VF_ROCE_WC_SUCCESS);
		drop_head(qp);
	}
	say_drained(qp);
}

void vf_sq_flush(struct vf_roce_qp *qp)
{
	bool is_broken = false; /* something before it did not end well */

	vf_list_del(&qp->sent_link);
	while (qp->sq.count) {
		struct vf_send_wqe *w = vf_sq_at(&qp->sq, 0);
		enum vf_roce_wc_status status = VF_ROCE_WC_WR_FLUSH_ERR;

		if (!is_broken && w->status != VF_ROCE_WC_SUCCESS)
			status = w->status;
		else if (!is_broken && w->is_done)
			status = VF_ROCE_WC_SUCCESS;
		is_broken = is_broken || status != VF_ROCE_WC_SUCCESS;
		complete(qp, w, status);
		drop_head(qp);
	}
}

void vf_sq_clear(struct vf_roce_qp *qp)
{
	vf_list_del(&qp->sent_link);
	while (qp->sq.count)
		drop_head(qp);
	qp->sq.at = 0;
}

void vf_sq_deliver_sent(struct vf_roce *r)
{
	while (!vf_list_is_empty(&r->sent)) {
		struct vf_list *l = r->sent.next;

		vf_list_del(l);
		vf_sq_settle(VF_LIST_ENTRY(l, struct vf_roce_qp, sent_link));
	}
}

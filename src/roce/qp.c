/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: making, finding and asking; their places in the engine's rounds; and the few
 * services that their parts share (IBTA 10.2.4). What changes their state is in qp_state.c.
 */
#include "roce/qp.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"

static int check_config(const struct vf_roce *r, const struct vf_roce_qp_config *cfg)
{
	if (cfg->type > VF_ROCE_UD)
		return vf_refuse(EINVAL, "queue pair type %d is not RC, UC or UD", (int)cfg->type);
	if (cfg->send_sge_max > VF_ROCE_SGE_MAX || cfg->recv_sge_max > VF_ROCE_SGE_MAX)
		return vf_refuse(EINVAL, "max_send_sge %u, max_recv_sge %u: not in 0..%u",
				 cfg->send_sge_max, cfg->recv_sge_max, VF_ROCE_SGE_MAX);
	if (cfg->inline_max > VF_ROCE_INLINE_MAX)
		return vf_refuse(EINVAL, "max_inline_data %u is not in 0..%u", cfg->inline_max,
				 VF_ROCE_INLINE_MAX);
	if (cfg->is_gsi && (cfg->type != VF_ROCE_UD || r->gsi))
		return vf_refuse(EINVAL, "queue pair 1 is one UD queue pair of a process");
	return 0;
}

static int take_number(struct vf_roce_qp *qp)
{
	if (!qp->cfg.is_gsi)
		return vf_qpn_alloc(&qp->r->qpns, qp, &qp->qpn);
	qp->qpn = VF_ROCE_QPN_GSI;
	qp->r->gsi = qp;
	return 0;
}

static void give_number(struct vf_roce_qp *qp)
{
	if (qp->cfg.is_gsi)
		qp->r->gsi = NULL;
	else if (qp->qpn)
		vf_qpn_free(&qp->r->qpns, qp->qpn);
}

static void free_parts(struct vf_roce_qp *qp)
{
	vf_sq_free(&qp->sq);
	vf_rq_free(&qp->rq);
	free(qp->resp.rd);
	free(qp);
}

static int init_parts(struct vf_roce_qp *qp)
{
	int err = vf_sq_init(&qp->sq, &qp->cfg);

	if (!err)
		err = vf_rq_init(&qp->rq, &qp->cfg);
	if (!err && qp->cfg.type == VF_ROCE_RC) {
		qp->resp.rd = malloc(VF_RD_ATOMIC_MAX * sizeof(*qp->resp.rd));
		if (!qp->resp.rd)
			err = vf_refuse(ENOMEM, "no memory for reads and atomics");
	}
	if (!err)
		err = vf_timers_reserve(&qp->r->timers, qp->r->qpns.count + 2);
	return err ? err : take_number(qp);
}

int vf_roce_qp_create(struct vf_roce *r, const struct vf_roce_qp_config *cfg,
		      struct vf_roce_qp **out)
{
	struct vf_roce_qp *qp;
	int err = check_config(r, cfg);

	if (err)
		return err;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return vf_refuse(ENOMEM, "no memory for a queue pair");
	qp->r = r;
	qp->cfg = *cfg;
	if (!qp->cfg.counters)
		qp->cfg.counters = r->counters;
	err = init_parts(qp);
	if (err) {
		free_parts(qp);
		return err;
	}
	qp->attr.mtu_bytes = VF_ROCE_MTU_MAX;
	vf_list_init(&qp->tx_link);
	vf_list_init(&qp->answer_link);
	vf_list_init(&qp->sent_link);
	vf_list_init(&qp->mcast_links);
	vf_requester_reset(qp);
	vf_responder_reset(qp);
	*out = qp;
	return 0;
}

void vf_roce_qp_destroy(struct vf_roce_qp *qp)
{
	struct vf_roce_qp_attr attr = {.state = VF_ROCE_RESET};

	vf_roce_qp_modify(qp, 0, &attr, VF_ROCE_ATTR_STATE);
	vf_mcast_detach_all(qp);
	give_number(qp);
	free_parts(qp);
}

uint32_t vf_roce_qp_qpn(const struct vf_roce_qp *qp) { return qp->qpn; }
enum vf_roce_state vf_roce_qp_state(const struct vf_roce_qp *qp) { return qp->attr.state; }
void *vf_roce_qp_host(const struct vf_roce_qp *qp) { return qp->cfg.qp_host; }

struct vf_roce_qp *vf_roce_qp_find(struct vf_roce *r, uint32_t qpn)
{
	return qpn == VF_ROCE_QPN_GSI ? r->gsi : vf_qpn_find(&r->qpns, qpn);
}

void vf_roce_qp_query(const struct vf_roce_qp *qp, struct vf_roce_qp_attr *out, bool *is_draining)
{
	*out = qp->attr;
	out->sq_psn = qp->req.psn_next;
	out->rq_psn = qp->resp.psn;
	*is_draining = qp->attr.state == VF_ROCE_SQD && !qp->req.is_drained;
}

/* ---- places in the rounds ---- */

void vf_qp_ready(struct vf_roce_qp *qp)
{
	if (qp->place != VF_PLACE_NONE)
		return;
	vf_list_add_tail(&qp->r->ready, &qp->tx_link);
	qp->place = VF_PLACE_READY;
}

void vf_qp_unready(struct vf_roce_qp *qp)
{
	vf_list_del(&qp->tx_link);
	qp->place = VF_PLACE_NONE;
}

void vf_qp_wait_for(struct vf_roce_qp *qp, struct vf_flow *flow)
{
	vf_qp_unready(qp);
	vf_list_add_tail(vf_flow_waiters(flow), &qp->tx_link);
	qp->place = VF_PLACE_FLOW;
}

void vf_qp_event(struct vf_roce_qp *qp, enum vf_roce_event event)
{
	qp->r->ops->qp_event(qp->r->host, qp->cfg.qp_host, event);
}

/* ---- memory ---- */

int vf_qp_mem_check(struct vf_roce_qp *qp, struct vf_roce_mem *m)
{
	m->qp_host = qp->cfg.qp_host;
	return qp->r->ops->mem_check(qp->r->host, m);
}

int vf_qp_mem_map(struct vf_roce_qp *qp, struct vf_roce_mem *m, struct iovec *iov, int max)
{
	m->qp_host = qp->cfg.qp_host;
	return qp->r->ops->mem_map(qp->r->host, m, iov, max);
}

void vf_qp_tx_start(struct vf_roce_qp *qp, struct vf_roce_tx *tx, const struct vf_packet_start *s)
{
	vf_packet_start(tx, s);
	tx->path = &qp->attr.path;
	tx->counters = qp->cfg.counters;
	tx->qp_host = qp->cfg.qp_host;
	tx->udp_sport = qp->udp_sport;
}

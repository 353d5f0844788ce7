/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: made and ended (IBTA 11.2.5.1, 11.2.5.5). What they do is the engine's; here are their limits, their place in the
 * program's objects, and what must vanish with them: completions, windows, groups, watches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/soft/soft.h"

#define QP_ATTR_KNOWN                                                                           \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

struct vf_list soft_qps = {&soft_qps, &soft_qps};

/* ---- making ---- */

static int check_cap(const struct ibv_qp_cap *c)
{
	const struct {
		const char *name;
		uint32_t value, max;
	} rows[] = {
		{"max_send_wr", c->max_send_wr, SOFT_MAX_QP_WR},
		{"max_recv_wr", c->max_recv_wr, SOFT_MAX_QP_WR},
		{"max_send_sge", c->max_send_sge, VF_ROCE_SGE_MAX},
		{"max_recv_sge", c->max_recv_sge, VF_ROCE_SGE_MAX},
		{"max_inline_data", c->max_inline_data, VF_ROCE_INLINE_MAX},
	};

	for (size_t i = 0; i < VF_ARRAY_SIZE(rows); i++)
		if (rows[i].value > rows[i].max)
			return vf_refuse(EINVAL, "%s %u > %u", rows[i].name, rows[i].value,
					 rows[i].max);
	return 0;
}

/* Operations of ibv_qp_ex that each type has. */
static uint64_t send_ops(enum ibv_qp_type type)
{
	uint64_t ud = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	uint64_t uc = ud | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		      IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV |
		      IBV_QP_EX_WITH_SEND_WITH_INV;
	uint64_t rc = uc | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

	return type == IBV_QPT_UD ? ud : type == IBV_QPT_UC ? uc : rc;
}

static int check_extras(const struct ibv_qp_init_attr_ex *a)
{
	uint64_t ops = a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? a->send_ops_flags : 0;

	if (a->comp_mask & ~(uint32_t)QP_ATTR_KNOWN)
		return vf_refuse(EOPNOTSUPP, "comp_mask 0x%x of a queue pair: 0x%x are supported",
				 a->comp_mask, QP_ATTR_KNOWN);
	if ((a->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && a->create_flags)
		return vf_refuse(EOPNOTSUPP, "create_flags 0x%x of a queue pair: none is supported",
				 a->create_flags);
	if (ops & ~send_ops(a->qp_type))
		return vf_refuse(EOPNOTSUPP, "send_ops_flags 0x%llx: this type has 0x%llx",
				 (unsigned long long)ops,
				 (unsigned long long)send_ops(a->qp_type));
	return 0;
}

static int check_attr(const struct soft_context *sc, const struct ibv_qp_init_attr_ex *a)
{
	const struct ibv_context *context = &sc->vf->verbs.context;
	int err;

	if (a->qp_type != IBV_QPT_RC && a->qp_type != IBV_QPT_UC && a->qp_type != IBV_QPT_UD)
		return vf_refuse(EOPNOTSUPP, "qp_type %d: RC (2), UC (3) and UD (4) are supported",
				 (int)a->qp_type);
	if (!a->send_cq || !a->recv_cq)
		return vf_refuse(EINVAL, "a queue pair needs send_cq and recv_cq");
	if (a->send_cq->context != context || a->recv_cq->context != context ||
	    (a->srq && a->srq->context != context))
		return vf_refuse(EINVAL, "completion queues and shared receive queue are not of the "
					 "queue pair's context");
	err = check_cap(&a->cap);
	return err ? err : check_extras(a);
}

static enum vf_roce_type type_of(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? VF_ROCE_RC : type == IBV_QPT_UC ? VF_ROCE_UC : VF_ROCE_UD;
}

static int make_engine_qp(struct soft_qp *qp)
{
	struct vf_roce_qp_config cfg = {
		.type = type_of(qp->type),
		.qp_host = qp,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.counters = &qp->ctx->dev->counters,
		.srq = qp->srq ? qp->srq->roce : NULL,
		.send_max = qp->cap.max_send_wr,
		.recv_max = qp->cap.max_recv_wr,
		.send_sge_max = qp->cap.max_send_sge,
		.recv_sge_max = qp->cap.max_recv_sge,
		.inline_max = qp->cap.max_inline_data,
		.is_sig_all = qp->is_sig_all,
	};
	int err;

	vf_soft_net_lock(qp->ctx->net);
	err = vf_roce_qp_create(vf_soft_net_engine(qp->ctx->net), &cfg, &qp->roce);
	if (!err) {
		qp->qpn = vf_roce_qp_qpn(qp->roce);
		vf_list_add_tail(&soft_qps, &qp->link);
	}
	vf_soft_net_unlock(qp->ctx->net);
	if (err == -ENOSPC)
		return vf_refuse(ENOMEM, "no queue pair number is free: max_qp is %d", SOFT_MAX_QP);
	return err ? vf_refuse(-err, "no memory for a queue pair of %u and %u work requests",
			       qp->cap.max_send_wr, qp->cap.max_recv_wr)
		   : 0;
}

static struct soft_qp *make(struct soft_context *sc, const struct ibv_qp_init_attr_ex *attr)
{
	struct soft_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->ctx = sc;
	qp->pd = (struct soft_pd *)(void *)attr->pd;
	qp->send_cq = (struct soft_cq *)(void *)attr->send_cq;
	qp->recv_cq = (struct soft_cq *)(void *)attr->recv_cq;
	qp->srq = (struct soft_srq *)(void *)attr->srq;
	qp->type = attr->qp_type;
	qp->cap = attr->cap;
	if (qp->srq)
		qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
	qp->is_sig_all = attr->sq_sig_all != 0;
	vf_list_init(&qp->link);
	vf_list_init(&qp->groups);
	vf_list_init(&qp->windows);
	return qp;
}

int soft_create_qp(struct vf_context *ctx, struct ibv_qp_init_attr_ex *attr, struct vf_qp **out)
{
	struct soft_context *sc = soft_ctx(ctx);
	struct soft_qp *qp;
	int err = check_attr(sc, attr);

	if (err)
		return err;
	qp = make(sc, attr);
	if (!qp)
		return vf_refuse(ENOMEM, "no memory for a queue pair");
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		qp->vf.is_ex = true;
		err = soft_wr_init(qp, attr->send_ops_flags);
	}
	if (!err)
		err = make_engine_qp(qp);
	if (err) {
		soft_wr_free(qp);
		free(qp);
		return err;
	}
	qp->vf.ibv.qp_num = qp->qpn;
	attr->cap = qp->cap;
	*out = &qp->vf;
	return 0;
}

/* ---- ending ---- */

/* Both poll locks in one order, then the network side's. */
static void lock_all(struct soft_qp *qp)
{
	struct soft_cq *a = qp->send_cq, *b = qp->recv_cq;

	if ((uintptr_t)a > (uintptr_t)b) {
		a = qp->recv_cq;
		b = qp->send_cq;
	}
	soft_cq_poll_lock(a);
	if (a != b)
		soft_cq_poll_lock(b);
	vf_soft_net_lock(qp->ctx->net);
}

static void unlock_all(struct soft_qp *qp)
{
	vf_soft_net_unlock(qp->ctx->net);
	soft_cq_poll_unlock(qp->send_cq);
	if (qp->send_cq != qp->recv_cq)
		soft_cq_poll_unlock(qp->recv_cq);
}

static void purge(struct soft_qp *qp)
{
	soft_cq_purge(qp->send_cq, qp->qpn);
	if (qp->send_cq != qp->recv_cq)
		soft_cq_purge(qp->recv_cq, qp->qpn);
}

int soft_destroy_qp(struct vf_qp *vqp)
{
	struct soft_qp *qp = (struct soft_qp *)vqp;

	lock_all(qp);
	vf_soft_net_flush(qp->ctx->net); /* what it owes its peer: acknowledgements */
	soft_peer_forget(qp);
	soft_mcast_forget(qp);
	soft_mw_qp_gone(qp);
	vf_list_del(&qp->link);
	vf_roce_qp_destroy(qp->roce);
	purge(qp);
	unlock_all(qp);
	soft_wr_free(qp);
	free(qp);
	return 0;
}

void soft_qp_reset_done(struct soft_qp *qp)
{
	lock_all(qp);
	soft_peer_forget(qp);
	soft_mw_qp_gone(qp);
	purge(qp);
	unlock_all(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->is_error_told = false;
}

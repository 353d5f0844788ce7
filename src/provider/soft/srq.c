/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues (IBTA 10.2.9, 11.2.3): the engine's, with the program's limits in front. */
#include <errno.h>
#include <stdlib.h>

#include "provider/soft/soft.h"

static int check_attr(const struct ibv_srq_init_attr_ex *a)
{
	if ((a->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && a->srq_type != IBV_SRQT_BASIC)
		return vf_refuse(EOPNOTSUPP, "srq_type %d: only basic shared receive queues",
				 (int)a->srq_type);
	if (a->attr.max_wr == 0 || a->attr.max_wr > SOFT_MAX_SRQ_WR)
		return vf_refuse(EINVAL, "srq max_wr %u: 1..%d", a->attr.max_wr, SOFT_MAX_SRQ_WR);
	if (a->attr.max_sge > VF_ROCE_SGE_MAX)
		return vf_refuse(EINVAL, "srq max_sge %u: 0..%u", a->attr.max_sge,
				 VF_ROCE_SGE_MAX);
	return 0;
}

int soft_create_srq(struct vf_pd *pd, struct ibv_srq_init_attr_ex *attr, struct vf_srq **out)
{
	struct soft_pd *spd = (struct soft_pd *)pd;
	struct vf_roce_srq_config cfg = {.max = attr->attr.max_wr};
	struct soft_srq *srq;
	int err = check_attr(attr);

	if (err)
		return err;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return vf_refuse(ENOMEM, "no memory for a shared receive queue");
	srq->ctx = spd->ctx;
	srq->pd = spd;
	srq->max_sge = attr->attr.max_sge ? attr->attr.max_sge : 1;
	cfg.srq_host = srq;
	cfg.sge_max = srq->max_sge;
	vf_soft_net_lock(srq->ctx->net);
	err = vf_roce_srq_create(vf_soft_net_engine(srq->ctx->net), &cfg, &srq->roce);
	vf_soft_net_unlock(srq->ctx->net);
	if (err) {
		free(srq);
		return vf_refuse(-err, "no memory for a shared receive queue of %u",
				 attr->attr.max_wr);
	}
	attr->attr.max_sge = srq->max_sge;
	*out = &srq->vf;
	return 0;
}

/* Both or nothing: the limit is looked at first, against the size that is to come. */
int soft_modify_srq(struct vf_srq *vsrq, struct ibv_srq_attr *attr, int mask)
{
	struct soft_srq *srq = (struct soft_srq *)vsrq;
	uint32_t max, limit;
	int err = 0;

	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return vf_refuse(EINVAL, "srq_attr_mask 0x%x: 0x3 are known", (unsigned)mask);
	if ((mask & IBV_SRQ_MAX_WR) && (attr->max_wr == 0 || attr->max_wr > SOFT_MAX_SRQ_WR))
		return vf_refuse(EINVAL, "srq max_wr %u: 1..%d", attr->max_wr, SOFT_MAX_SRQ_WR);
	vf_soft_net_lock(srq->ctx->net);
	vf_roce_srq_query(srq->roce, &max, &limit);
	if (mask & IBV_SRQ_MAX_WR)
		max = attr->max_wr;
	if (mask & IBV_SRQ_LIMIT)
		limit = attr->srq_limit;
	if (limit > max)
		err = vf_refuse(EINVAL, "srq_limit %u: 0..%u (max_wr)", limit, max);
	if (!err && (mask & IBV_SRQ_MAX_WR)) {
		err = vf_roce_srq_resize(srq->roce, max);
		if (err)
			vf_refuse(-err, "srq max_wr %u: %s", max,
				  err == -EINVAL ? "more receives than that are posted"
						 : "no memory");
	}
	if (!err && (mask & IBV_SRQ_LIMIT))
		err = vf_roce_srq_set_limit(srq->roce, limit);
	vf_soft_net_unlock(srq->ctx->net);
	return err;
}

int soft_query_srq(struct vf_srq *vsrq, struct ibv_srq_attr *attr)
{
	struct soft_srq *srq = (struct soft_srq *)vsrq;

	vf_soft_net_lock(srq->ctx->net);
	vf_roce_srq_query(srq->roce, &attr->max_wr, &attr->srq_limit);
	vf_soft_net_unlock(srq->ctx->net);
	attr->max_sge = srq->max_sge;
	return 0;
}

int soft_destroy_srq(struct vf_srq *vsrq)
{
	struct soft_srq *srq = (struct soft_srq *)vsrq;

	vf_soft_net_lock(srq->ctx->net);
	vf_roce_srq_destroy(srq->roce);
	vf_soft_net_unlock(srq->ctx->net);
	free(srq);
	return 0;
}

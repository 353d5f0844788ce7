/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared receive queues (IBTA 10.2.9): requests are taken in the order in which they were posted,
 * by whichever QP's message comes first; the limit event fires once, when fewer than the limit
 * remain (IBTA 10.2.9).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"
#include "roce/qp.h"

int vf_roce_srq_create(struct vf_roce *r, const struct vf_roce_srq_config *cfg,
		       struct vf_roce_srq **out)
{
	struct vf_roce_srq *srq;
	int err;

	if (cfg->max == 0 || cfg->sge_max > VF_ROCE_SGE_MAX)
		return vf_refuse(
			EINVAL,
			"shared receive queue: max_wr %u must not be 0, max_sge %u is not in 0..%u",
			cfg->max, cfg->sge_max, VF_ROCE_SGE_MAX);
	if (cfg->limit > cfg->max)
		return vf_refuse(EINVAL, "srq_limit %u is not in 0..%u", cfg->limit, cfg->max);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return vf_refuse(ENOMEM, "no memory for a shared receive queue");
	err = vf_ring_init(&srq->ring, cfg->max, cfg->sge_max);
	if (err) {
		free(srq);
		return err;
	}
	srq->r = r;
	srq->srq_host = cfg->srq_host;
	srq->limit = cfg->limit;
	r->srq_count++;
	*out = srq;
	return 0;
}

void vf_roce_srq_destroy(struct vf_roce_srq *srq)
{
	srq->r->srq_count--;
	free(srq->ring.slots);
	free(srq);
}

int vf_roce_srq_post(struct vf_roce_srq *srq, const struct vf_roce_recv_wr *wr)
{
	return vf_ring_put(&srq->ring, wr);
}

struct vf_recv_wqe *vf_srq_take(struct vf_roce_srq *srq, struct vf_recv_wqe *copy)
{
	struct vf_recv_wqe *w;

	if (srq->ring.count == 0)
		return NULL;
	w = vf_ring_at(&srq->ring, 0);
	memcpy(copy, w, sizeof(*w) + w->sge_count * sizeof(w->sge[0]));
	vf_ring_drop_head(&srq->ring);
	if (srq->ring.count < srq->limit) {
		srq->limit = 0;
		srq->r->ops->srq_event(srq->r->host, srq->srq_host, VF_ROCE_EVENT_SRQ_LIMIT);
	}
	return copy;
}

int vf_roce_srq_set_limit(struct vf_roce_srq *srq, uint32_t limit)
{
	if (limit > srq->ring.max)
		return vf_refuse(EINVAL, "srq_limit %u is not in 0..%u", limit, srq->ring.max);
	srq->limit = limit;
	return 0;
}

int vf_roce_srq_resize(struct vf_roce_srq *srq, uint32_t max)
{
	struct vf_ring ring;
	int err;

	if (max == 0 || max < srq->ring.count)
		return vf_refuse(EINVAL, "max_wr %u is fewer than the %u requests posted", max,
				 srq->ring.count);
	if (max < srq->limit)
		return vf_refuse(EINVAL, "max_wr %u is less than the armed limit %u", max,
				 srq->limit);
	err = vf_ring_init(&ring, max, srq->ring.sge_max);
	if (err)
		return err;
	for (uint32_t i = 0; i < srq->ring.count; i++)
		memcpy(ring.slots + i * ring.stride, vf_ring_at(&srq->ring, i), ring.stride);
	ring.count = srq->ring.count;
	free(srq->ring.slots);
	srq->ring = ring;
	return 0;
}

void vf_roce_srq_query(const struct vf_roce_srq *srq, uint32_t *max, uint32_t *limit)
{
	*max = srq->ring.max;
	*limit = srq->limit;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_QPN_H
#define VF_ROCE_QPN_H
/*
 * QP numbers: slot in the upper eight bits, index in the lower sixteen. The table from index to QP
 * grows in chunks as indices come into use. Indices go round, so that a number is used again as
 * late as possible.
 */
#include "roce/roce.h"

#define VF_QPN_CHUNK 256u
/* 0 and 1 are special numbers in slot 0, and 0xffffff is multicast; this leaves 65536 - 16. */
#define VF_QPN_INDEX_FIRST 15u
#define VF_QPN_INDEX_END   0xffffu

struct vf_qpn_table {
	struct vf_roce_qp **chunk[VF_QPN_CHUNK];
	uint32_t next; /* index to try next */
	uint32_t count, max;
	unsigned slot;
};

/** @start: any number; where the round begins. */
void vf_qpn_init(struct vf_qpn_table *t, unsigned slot, uint32_t max, uint64_t start);
void vf_qpn_free_all(struct vf_qpn_table *t);
/** A number for @qp. -ENOSPC, -ENOMEM. */
int vf_qpn_alloc(struct vf_qpn_table *t, struct vf_roce_qp *qp, uint32_t *out);
void vf_qpn_free(struct vf_qpn_table *t, uint32_t qpn);

static inline struct vf_roce_qp *vf_qpn_find(const struct vf_qpn_table *t, uint32_t qpn)
{
	uint32_t index = qpn & 0xffffu;
	struct vf_roce_qp **chunk = t->chunk[index / VF_QPN_CHUNK];

	if (qpn >> VF_ROCE_SLOT_SHIFT != t->slot || !chunk)
		return NULL;
	return chunk[index % VF_QPN_CHUNK];
}

#endif

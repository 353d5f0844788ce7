/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of QPs (IBTA 9.2.4, 10.2.4.3). A stale packet of a QP that is gone must not meet a new QP
 * of the same number (IBTA 9.7.1, ghost packets), so numbers are handed out round and round from a
 * random start.
 */
#include "roce/qpn.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"

void vf_qpn_init(struct vf_qpn_table *t, unsigned slot, uint32_t max, uint64_t start)
{
	memset(t, 0, sizeof(*t));
	t->slot = slot;
	t->max = max;
	t->next = VF_QPN_INDEX_FIRST + (uint32_t)(start % (VF_QPN_INDEX_END - VF_QPN_INDEX_FIRST));
}

void vf_qpn_free_all(struct vf_qpn_table *t)
{
	for (unsigned i = 0; i < VF_QPN_CHUNK; i++)
		free(t->chunk[i]);
}

int vf_qpn_alloc(struct vf_qpn_table *t, struct vf_roce_qp *qp, uint32_t *out)
{
	uint32_t index = t->next;
	struct vf_roce_qp ***chunk;

	if (t->count >= t->max)
		return vf_refuse(ENOSPC, "all %u queue pair numbers are in use", t->max);
	for (;;) {
		chunk = &t->chunk[index / VF_QPN_CHUNK];
		if (!*chunk || !(*chunk)[index % VF_QPN_CHUNK])
			break;
		if (++index == VF_QPN_INDEX_END)
			index = VF_QPN_INDEX_FIRST;
		if (index == t->next)
			return vf_refuse(ENOSPC, "all %u queue pair numbers are in use", t->count);
	}
	if (!*chunk)
		*chunk = calloc(VF_QPN_CHUNK, sizeof(struct vf_roce_qp *));
	if (!*chunk)
		return vf_refuse(ENOMEM, "no memory for queue pair numbers");
	(*chunk)[index % VF_QPN_CHUNK] = qp;
	t->count++;
	t->next = index + 1 == VF_QPN_INDEX_END ? VF_QPN_INDEX_FIRST : index + 1;
	*out = t->slot << VF_ROCE_SLOT_SHIFT | index;
	return 0;
}

void vf_qpn_free(struct vf_qpn_table *t, uint32_t qpn)
{
	uint32_t index = qpn & 0xffffu;

	t->chunk[index / VF_QPN_CHUNK][index % VF_QPN_CHUNK] = NULL;
	t->count--;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast for UD (IBTA 10.5): each QP attached to a group gets its own copy of each packet to it,
 * in the order of attaching. That includes a QP that sent the packet itself, when the network
 * brings it back: Linux has it so by default, and a flag at the creation of the QP for those who do
 * not want it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"
#include "roce/qp.h"

struct attachment {
	struct vf_list group_link; /* in vf_roce.mcast */
	struct vf_list qp_link;	   /* in vf_roce_qp.mcast_links */
	struct vf_roce_qp *qp;
	uint8_t mgid[16];
};

static struct vf_list *bucket_of(struct vf_roce *r, const uint8_t mgid[16])
{
	uint32_t h =
		vf_load_be32(mgid + 12) * 0x9e3779b1u ^ vf_load_be32(mgid + 8) ^ vf_load_be32(mgid);

	return &r->mcast[(h >> 16 ^ h) % VF_MCAST_BUCKETS];
}

static struct attachment *find(const struct vf_roce_qp *qp, const uint8_t mgid[16])
{
	VF_LIST_FOR_EACH(it, &qp->mcast_links)
	{
		struct attachment *a = VF_LIST_ENTRY(it, struct attachment, qp_link);

		if (memcmp(a->mgid, mgid, 16) == 0)
			return a;
	}
	return NULL;
}

int vf_roce_mcast_attach(struct vf_roce_qp *qp, const uint8_t mgid[16])
{
	struct attachment *a;

	if (qp->cfg.type != VF_ROCE_UD)
		return vf_refuse(
			EINVAL, "queue pair 0x%06x is not UD: only UD can be attached to multicast",
			qp->qpn);
	if (find(qp, mgid))
		return 0;
	a = calloc(1, sizeof(*a));
	if (!a)
		return vf_refuse(ENOMEM, "no memory for a multicast attachment");
	a->qp = qp;
	memcpy(a->mgid, mgid, 16);
	vf_list_add_tail(bucket_of(qp->r, mgid), &a->group_link);
	vf_list_add_tail(&qp->mcast_links, &a->qp_link);
	return 0;
}

static void detach(struct attachment *a)
{
	vf_list_del(&a->group_link);
	vf_list_del(&a->qp_link);
	free(a);
}

int vf_roce_mcast_detach(struct vf_roce_qp *qp, const uint8_t mgid[16])
{
	struct attachment *a = find(qp, mgid);

	if (!a)
		return vf_refuse(ENOENT,
				 "queue pair 0x%06x is not attached to that multicast group",
				 qp->qpn);
	detach(a);
	return 0;
}

void vf_mcast_detach_all(struct vf_roce_qp *qp)
{
	while (!vf_list_is_empty(&qp->mcast_links))
		detach(VF_LIST_ENTRY(qp->mcast_links.next, struct attachment, qp_link));
}

static void deliver(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt)
{
	if (qp->attr.state < VF_ROCE_RTR || qp->attr.state == VF_ROCE_ERR)
		vf_qp_drop(qp, VF_DROP_QP_STATE);
	else if ((pkt->pkey & 0x7fffu) != 0x7fffu)
		vf_qp_drop(qp, VF_DROP_BAD_PKEY);
	else
		vf_ud_receive(qp, now, pkt);
}

void vf_mcast_receive(struct vf_roce *r, vf_nsec now, const struct vf_packet *pkt)
{
	struct vf_roce_counters *counted = NULL;

	if (pkt->op->type != VF_ROCE_UD) {
		vf_count_drop(r->counters, VF_DROP_BAD_OPCODE);
		return;
	}
	VF_LIST_FOR_EACH(it, bucket_of(r, pkt->rx->dgid))
	{
		struct attachment *a = VF_LIST_ENTRY(it, struct attachment, group_link);

		if (memcmp(a->mgid, pkt->rx->dgid, 16) != 0)
			continue;
		if (a->qp->cfg.counters != counted) {
			counted = a->qp->cfg.counters;
			vf_count(counted, VF_CNT_RCVD_PKTS);
			counted->value[VF_CNT_RCVD_BYTES] += pkt->rx->len + 4u;
		}
		deliver(a->qp, now, pkt);
	}
	if (counted)
		return;
	vf_count(r->counters, VF_CNT_RCVD_PKTS);
	r->counters->value[VF_CNT_RCVD_BYTES] += pkt->rx->len + 4u;
	vf_count_drop(r->counters, VF_DROP_NO_MULTICAST);
}

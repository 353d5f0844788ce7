/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast (IBTA 10.5): a UD queue pair is attached in the engine, which copies, and the sockets join the group on the device's
 * interface. A group that a queue pair is attached to is left when it is detached or destroyed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/soft/soft.h"

static struct soft_mcast *find(struct soft_qp *qp, const uint8_t mgid[16])
{
	VF_LIST_FOR_EACH(it, &qp->groups)
	{
		struct soft_mcast *g = VF_LIST_ENTRY(it, struct soft_mcast, link);

		if (memcmp(g->mgid, mgid, 16) == 0)
			return g;
	}
	return NULL;
}

static void leave(struct soft_qp *qp, struct soft_mcast *g)
{
	vf_soft_net_mcast_leave(qp->ctx->net, g->mgid, g->if_index);
	vf_list_del(&g->link);
	free(g);
}

/* Locked. */
static int attach(struct soft_qp *qp, struct soft_mcast *g)
{
	int err;

	if (find(qp, g->mgid)) {
		free(g);
		return 0;
	}
	err = vf_roce_mcast_attach(qp->roce, g->mgid);
	if (!err) {
		err = vf_soft_net_mcast_join(qp->ctx->net, g->mgid, g->if_index);
		if (err)
			vf_roce_mcast_detach(qp->roce, g->mgid);
	} else {
		vf_refuse(-err, "the queue pair cannot be attached to a multicast group");
	}
	if (err)
		free(g);
	else
		vf_list_add_tail(&qp->groups, &g->link);
	return err;
}

int soft_attach_mcast(struct vf_qp *vqp, const union ibv_gid *gid)
{
	struct soft_qp *qp = (struct soft_qp *)vqp;
	struct soft_mcast *g;
	int err;

	if (qp->type != IBV_QPT_UD)
		return vf_refuse(EINVAL, "attach_mcast: only UD queue pairs take multicast");
	if (!gid_is_multicast(gid->raw))
		return vf_refuse(EINVAL, "attach_mcast: the GID is no multicast address");
	g = calloc(1, sizeof(*g));
	if (!g)
		return vf_refuse(ENOMEM, "no memory for a multicast group");
	memcpy(g->mgid, gid->raw, 16);
	g->if_index = qp->ctx->dev->if_index;
	vf_soft_net_lock(qp->ctx->net);
	err = attach(qp, g);
	vf_soft_net_unlock(qp->ctx->net);
	return err;
}

int soft_detach_mcast(struct vf_qp *vqp, const union ibv_gid *gid)
{
	struct soft_qp *qp = (struct soft_qp *)vqp;
	struct soft_mcast *g;

	vf_soft_net_lock(qp->ctx->net);
	g = find(qp, gid->raw);
	if (g) {
		vf_roce_mcast_detach(qp->roce, g->mgid);
		leave(qp, g);
	}
	vf_soft_net_unlock(qp->ctx->net);
	return g ? 0 : vf_refuse(EINVAL, "detach_mcast: the queue pair is not attached to it");
}

void soft_mcast_forget(struct soft_qp *qp)
{
	VF_LIST_FOR_EACH_SAFE(it, &qp->groups)
	leave(qp, VF_LIST_ENTRY(it, struct soft_mcast, link));
}

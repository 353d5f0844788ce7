/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work requests of the program made into the engine's, one by one: what was taken before a bad one stays posted (IBTA 11.4.1). Then what
 * the engine has to send is sent, here in the caller.
 */
#include <errno.h>
#include <string.h>

#include "provider/soft/soft.h"

VF_CHECK_SIZE(struct ibv_sge, sizeof(struct vf_roce_sge));
VF_CHECK_AT(struct ibv_sge, length, offsetof(struct vf_roce_sge, length));
VF_CHECK_AT(struct ibv_sge, lkey, offsetof(struct vf_roce_sge, lkey));

#define SEND_FLAGS                                                                              \
	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

static int check_sges(int count, const struct ibv_sge *list)
{
	if (count < 0 || count > (int)VF_ROCE_SGE_MAX)
		return vf_refuse(EINVAL, "num_sge %d: 0..%u", count, VF_ROCE_SGE_MAX);
	if (count && !list)
		return vf_refuse(EINVAL, "num_sge %d, but sg_list is NULL", count);
	return 0;
}

static int set_destination(struct soft_qp *qp, const struct ibv_send_wr *w,
			   struct vf_roce_send_wr *out)
{
	const struct soft_ah *ah = (const struct soft_ah *)(const void *)w->wr.ud.ah;

	if (!ah)
		return vf_refuse(EINVAL, "wr.ud.ah is NULL");
	if (ah->pd != qp->pd)
		return vf_refuse(EINVAL, "wr.ud.ah is of another protection domain");
	out->path = &ah->path;
	out->remote_qpn = w->wr.ud.remote_qpn;
	out->remote_qkey = w->wr.ud.remote_qkey;
	soft_peer_datagram(qp, ah, w->wr.ud.remote_qpn);
	return 0;
}

/* Only fields that the operation uses are looked at: programs leave the others as they are. */
static int convert(struct soft_qp *qp, const struct ibv_send_wr *w, struct soft_bind *bind,
		   struct vf_roce_send_wr *out)
{
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->wr_id = w->wr_id;
	out->opcode = (enum vf_roce_wr_opcode)w->opcode;
	out->flags = w->send_flags & SEND_FLAGS;
	out->imm_or_rkey = w->imm_data;
	if (w->opcode == IBV_WR_LOCAL_INV)
		return 0;
	if (w->opcode == IBV_WR_BIND_MW) {
		out->bind = bind;
		out->bind_len = sizeof(*bind);
		return soft_bind_fill(qp, w->bind_mw.mw, w->bind_mw.rkey, &w->bind_mw.bind_info,
				      bind);
	}
	err = check_sges(w->num_sge, w->sg_list);
	if (err)
		return err;
	out->sge_count = (unsigned)w->num_sge;
	out->sge = (const struct vf_roce_sge *)(const void *)w->sg_list;
	if (qp->type == IBV_QPT_UD)
		return set_destination(qp, w, out);
	switch (w->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		out->remote_addr = w->wr.atomic.remote_addr;
		out->rkey = w->wr.atomic.rkey;
		out->compare_add = w->wr.atomic.compare_add;
		out->swap = w->wr.atomic.swap;
		break;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		out->remote_addr = w->wr.rdma.remote_addr;
		out->rkey = w->wr.rdma.rkey;
		break;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
		break;
	default:
		err = vf_refuse(EOPNOTSUPP, "send opcode %d is not supported", (int)w->opcode);
	}
	return err;
}

static int post_one(struct soft_qp *qp, const struct ibv_send_wr *w)
{
	struct vf_roce_send_wr wr;
	struct soft_bind bind;
	int err = convert(qp, w, &bind, &wr);

	return err ? err : vf_roce_post_send(qp->roce, &wr);
}

int soft_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct soft_qp *qp = (struct soft_qp *)(void *)ibv;
	struct vf_soft_net *net = qp->ctx->net;
	int err = 0;

	vf_soft_net_lock(net);
	for (; wr && !err; wr = err ? wr : wr->next)
		err = post_one(qp, wr);
	vf_soft_net_flush(net);
	vf_soft_net_unlock(net);
	if (err && bad)
		*bad = wr;
	return -err;
}

static int convert_recv(const struct ibv_recv_wr *w, struct vf_roce_recv_wr *out)
{
	out->wr_id = w->wr_id;
	out->sge_count = (unsigned)w->num_sge;
	out->sge = (const struct vf_roce_sge *)(const void *)w->sg_list;
	return check_sges(w->num_sge, w->sg_list);
}

int soft_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_qp *qp = (struct soft_qp *)(void *)ibv;
	struct vf_roce_recv_wr r;
	int err = 0;

	vf_soft_net_lock(qp->ctx->net);
	for (; wr && !err; wr = err ? wr : wr->next) {
		err = convert_recv(wr, &r);
		if (!err)
			err = vf_roce_post_recv(qp->roce, &r);
	}
	vf_soft_net_unlock(qp->ctx->net);
	if (err && bad)
		*bad = wr;
	return -err;
}

int soft_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_srq *srq = (struct soft_srq *)(void *)ibv;
	struct vf_roce_recv_wr r;
	int err = 0;

	vf_soft_net_lock(srq->ctx->net);
	for (; wr && !err; wr = err ? wr : wr->next) {
		err = convert_recv(wr, &r);
		if (!err)
			err = vf_roce_srq_post(srq->roce, &r);
	}
	vf_soft_net_unlock(srq->ctx->net);
	if (err && bad)
		*bad = wr;
	return -err;
}

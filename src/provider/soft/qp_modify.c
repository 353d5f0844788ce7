/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of queue pairs (IBTA 11.2.5.2, 11.2.5.3). The API layer has checked that the move and the mask are legal for the type;
 * here is what only the device knows: its addresses, routes, MTU and limits. Nothing is changed unless everything is right.
 */
#include <errno.h>
#include <string.h>

#include "provider/soft/soft.h"

#define REMOTE_RIGHTS (VF_ROCE_REMOTE_WRITE | VF_ROCE_REMOTE_READ | VF_ROCE_REMOTE_ATOMIC)

/* What is being made of the program's attributes. */
struct change {
	struct vf_roce_qp_attr attr;
	unsigned mask; /* enum vf_roce_attr_mask */
	bool is_peer_local;
};

static int refuse_unsupported(const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_ALT_PATH)
		return vf_refuse(EOPNOTSUPP, "alt_ah_attr: there are no alternate paths");
	if ((mask & IBV_QP_PATH_MIG_STATE) && attr->path_mig_state != IBV_MIG_MIGRATED)
		return vf_refuse(EOPNOTSUPP, "path_mig_state %d: there are no alternate paths",
				 (int)attr->path_mig_state);
	if (mask & IBV_QP_CAP)
		return vf_refuse(EOPNOTSUPP, "cap: queues of a queue pair are not resized");
	if (mask & IBV_QP_RATE_LIMIT)
		return vf_refuse(EOPNOTSUPP, "rate_limit: there is no packet pacing");
	return 0;
}

static int check_limits(struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	int err;

	if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index != 0)
		return vf_refuse(EINVAL, "pkey_index %u: the table has only index 0",
				 attr->pkey_index);
	if (mask & IBV_QP_PORT) {
		err = soft_check_port(qp->ctx, attr->port_num);
		if (err)
			return err;
	}
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > SOFT_MAX_RD_ATOMIC)
		return vf_refuse(EINVAL, "max_rd_atomic %u: 0..%d", attr->max_rd_atomic,
				 SOFT_MAX_RD_ATOMIC);
	if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > SOFT_MAX_RD_ATOMIC)
		return vf_refuse(EINVAL, "max_dest_rd_atomic %u: 0..%d", attr->max_dest_rd_atomic,
				 SOFT_MAX_RD_ATOMIC);
	return 0;
}

static enum ibv_mtu active_mtu(struct soft_qp *qp)
{
	enum ibv_mtu mtu;

	soft_registry_lock();
	mtu = soft_port_mtu(qp->ctx->dev->mtu);
	soft_registry_unlock();
	return mtu ? mtu : IBV_MTU_256;
}

static int take_mtu(struct soft_qp *qp, const struct ibv_qp_attr *attr, struct change *c)
{
	enum ibv_mtu most = active_mtu(qp);

	if (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > most)
		return vf_refuse(EINVAL,
				 "path_mtu %d (%u bytes): 1..%d (%u bytes), the active_mtu of %s",
				 (int)attr->path_mtu,
				 attr->path_mtu >= 1 && attr->path_mtu <= 5 ? 128u << attr->path_mtu
									    : 0,
				 (int)most, 128u << most, qp->ctx->dev->vf.ibv.name);
	c->attr.mtu_bytes = 128u << attr->path_mtu;
	c->mask |= VF_ROCE_ATTR_MTU;
	return 0;
}

static int take_path(struct soft_qp *qp, const struct ibv_qp_attr *attr, struct change *c)
{
	int err;

	if (attr->ah_attr.is_global && gid_is_multicast(attr->ah_attr.grh.dgid.raw))
		return vf_refuse(EINVAL, "ah_attr.grh.dgid is a multicast GID: a connection has one "
					 "peer");
	err = soft_path_fill(qp->ctx, &attr->ah_attr, "ah_attr", &c->attr.path);
	if (err)
		return err;
	c->mask |= VF_ROCE_ATTR_PATH;
	c->is_peer_local = vf_os_is_local(c->attr.path.dgid);
	return 0;
}

/* Fields that are copied as they are. */
static void take_numbers(const struct ibv_qp_attr *attr, int mask, struct change *c)
{
	static const struct {
		int ibv;
		unsigned roce;
	} same[] = {
		{IBV_QP_STATE, VF_ROCE_ATTR_STATE},
		{IBV_QP_DEST_QPN, VF_ROCE_ATTR_DEST_QPN},
		{IBV_QP_RQ_PSN, VF_ROCE_ATTR_RQ_PSN},
		{IBV_QP_SQ_PSN, VF_ROCE_ATTR_SQ_PSN},
		{IBV_QP_MAX_QP_RD_ATOMIC, VF_ROCE_ATTR_MAX_RD_ATOMIC},
		{IBV_QP_MAX_DEST_RD_ATOMIC, VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC},
		{IBV_QP_MIN_RNR_TIMER, VF_ROCE_ATTR_MIN_RNR_TIMER},
		{IBV_QP_TIMEOUT, VF_ROCE_ATTR_TIMEOUT},
		{IBV_QP_RETRY_CNT, VF_ROCE_ATTR_RETRY_CNT},
		{IBV_QP_RNR_RETRY, VF_ROCE_ATTR_RNR_RETRY},
		{IBV_QP_QKEY, VF_ROCE_ATTR_QKEY},
		{IBV_QP_ACCESS_FLAGS, VF_ROCE_ATTR_ACCESS},
	};
	struct vf_roce_qp_attr *a = &c->attr;

	for (size_t i = 0; i < VF_ARRAY_SIZE(same); i++)
		if (mask & same[i].ibv)
			c->mask |= same[i].roce;
	a->state = (enum vf_roce_state)attr->qp_state;
	a->dest_qpn = attr->dest_qp_num;
	a->rq_psn = attr->rq_psn;
	a->sq_psn = attr->sq_psn;
	a->qkey = attr->qkey;
	a->max_rd_atomic = attr->max_rd_atomic;
	a->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	a->min_rnr_timer = attr->min_rnr_timer;
	a->timeout = attr->timeout;
	a->retry_cnt = attr->retry_cnt;
	a->rnr_retry = attr->rnr_retry;
	a->access = attr->qp_access_flags & REMOTE_RIGHTS;
}

static int collect(struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask, struct change *c)
{
	int err = refuse_unsupported(attr, mask);

	if (!err)
		err = check_limits(qp, attr, mask);
	if (!err && (mask & IBV_QP_PATH_MTU))
		err = take_mtu(qp, attr, c);
	if (!err && (mask & IBV_QP_AV))
		err = take_path(qp, attr, c);
	if (err)
		return err;
	take_numbers(attr, mask, c);
	/* A datagram may be as long as the port lets it. */
	if (qp->type == IBV_QPT_UD && (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RTR) {
		c->attr.mtu_bytes = 128u << active_mtu(qp);
		c->mask |= VF_ROCE_ATTR_MTU;
	}
	return 0;
}

/* What query_qp gives back. */
static void remember(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
#define KEEP(bit, field)                                                                        \
	do {                                                                                    \
		if (mask & (bit))                                                               \
			to->field = from->field;                                                \
	} while (0)
	KEEP(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	KEEP(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	KEEP(IBV_QP_PKEY_INDEX, pkey_index);
	KEEP(IBV_QP_PORT, port_num);
	KEEP(IBV_QP_QKEY, qkey);
	KEEP(IBV_QP_AV, ah_attr);
	KEEP(IBV_QP_PATH_MTU, path_mtu);
	KEEP(IBV_QP_TIMEOUT, timeout);
	KEEP(IBV_QP_RETRY_CNT, retry_cnt);
	KEEP(IBV_QP_RNR_RETRY, rnr_retry);
	KEEP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	KEEP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	KEEP(IBV_QP_DEST_QPN, dest_qp_num);
#undef KEEP
}

/* Locked: the engine has taken it. */
static void applied(struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask,
		    const struct change *c)
{
	remember(&qp->attr, attr, mask);
	if (!(mask & IBV_QP_AV))
		return;
	qp->connected = vf_os_now();
	soft_peer_forget(qp);
	if (qp->type == IBV_QPT_UC && c->is_peer_local)
		soft_peer_watch(qp, qp->attr.dest_qp_num >> VF_ROCE_SLOT_SHIFT);
}

int soft_modify_qp(struct vf_qp *vqp, struct ibv_qp_attr *attr, int mask)
{
	struct soft_qp *qp = (struct soft_qp *)vqp;
	struct soft_context *sc = qp->ctx;
	struct change c;
	int err;

	memset(&c, 0, sizeof(c));
	err = collect(qp, attr, mask, &c);
	if (err)
		return err;
	vf_soft_net_lock(sc->net);
	err = vf_roce_qp_modify(qp->roce, vf_os_now(), &c.attr, c.mask);
	if (!err) {
		applied(qp, attr, mask, &c);
		vf_soft_net_flush(sc->net);
	}
	vf_soft_net_unlock(sc->net);
	if (!err && (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		soft_qp_reset_done(qp);
	return err;
}

static enum ibv_mtu mtu_code(uint32_t bytes)
{
	int code = IBV_MTU_256;

	while (code < IBV_MTU_4096 && (128u << code) < bytes)
		code++;
	return (enum ibv_mtu)code;
}

int soft_query_qp(struct vf_qp *vqp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init)
{
	struct soft_qp *qp = (struct soft_qp *)vqp;
	struct vf_roce_qp_attr a;
	bool is_draining = false;

	memset(&a, 0, sizeof(a));
	vf_soft_net_lock(qp->ctx->net);
	vf_roce_qp_query(qp->roce, &a, &is_draining);
	*attr = qp->attr;
	vf_soft_net_unlock(qp->ctx->net);
	attr->qp_state = attr->cur_qp_state = (enum ibv_qp_state)a.state;
	attr->sq_psn = a.sq_psn;
	attr->rq_psn = a.rq_psn;
	attr->sq_draining = is_draining;
	attr->path_mig_state = IBV_MIG_MIGRATED;
	attr->cap = qp->cap;
	if (!attr->path_mtu)
		attr->path_mtu = mtu_code(a.mtu_bytes);
	init->qp_context = vqp->ibv.qp_context;
	init->send_cq = vqp->ibv.send_cq;
	init->recv_cq = vqp->ibv.recv_cq;
	init->srq = vqp->ibv.srq;
	init->cap = qp->cap;
	init->qp_type = qp->type;
	init->sq_sig_all = qp->is_sig_all;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: made, queried, ended, joined to groups. Moves between states are in qp_modify.c,
 * work requests are the provider's. IBTA 10.2.4, 11.2.4.
 */
#include "verbs/api.h"

/* ---- create ---- */

static int check_type(const char *verb, enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
		return 0;
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
	case IBV_QPT_DRIVER:
		return vf_refuse(EOPNOTSUPP, "%s: qp_type %s: supported are RC, UC and UD", verb,
				 vf_qp_type_name(type));
	default:
		return vf_refuse(EINVAL, "%s: qp_type %d: known are RC (%d), UC (%d) and UD (%d)",
				 verb, (int)type, (int)IBV_QPT_RC, (int)IBV_QPT_UC,
				 (int)IBV_QPT_UD);
	}
}

static int check_queues(const char *verb, struct ibv_context *context,
			const struct ibv_qp_init_attr_ex *attr)
{
	if (!attr->send_cq || !attr->recv_cq)
		return vf_is_null(verb, attr->send_cq ? "recv_cq" : "send_cq");
	if (attr->send_cq->context != context || attr->recv_cq->context != context)
		return vf_refuse(EINVAL, "%s: %s was made in another context", verb,
				 attr->send_cq->context != context ? "send_cq" : "recv_cq");
	if (attr->srq && attr->srq->context != context)
		return vf_refuse(EINVAL, "%s: srq was made in another context", verb);
	return 0;
}

static int check_masks(const char *verb, const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t taken = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	const uint32_t known = taken | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER |
			       IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;

	if (attr->comp_mask & ~known)
		return vf_refuse(EINVAL, "%s: comp_mask 0x%x, known are 0x%x", verb,
				 attr->comp_mask, known);
	if (attr->comp_mask & ~taken)
		return vf_refuse(EOPNOTSUPP,
				 "%s: comp_mask 0x%x: XRC domains, TSO, indirection tables and "
				 "receive hashing are not supported (0x%x are)",
				 verb, attr->comp_mask, taken);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd)
		return vf_is_null(verb, "pd");
	return 0;
}

/* What the API layer has in a queue pair that the provider has made. */
static void finish(struct vf_qp *qp, struct ibv_context *context,
		   const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *ibv = &qp->ibv;

	pthread_mutex_init(&ibv->mutex, NULL);
	pthread_cond_init(&ibv->cond, NULL);
	ibv->context = context;
	ibv->qp_context = attr->qp_context;
	ibv->pd = attr->pd;
	ibv->send_cq = attr->send_cq;
	ibv->recv_cq = attr->recv_cq;
	ibv->srq = attr->srq;
	ibv->qp_type = attr->qp_type;
	ibv->state = IBV_QPS_RESET;
	ibv->events_completed = 0;
	ibv->handle = vf_handle_new(VF_KIND_OTHER, qp);
	vf_pd_use(vf_pd(attr->pd));
	atomic_fetch_add(&vf_cq(attr->send_cq)->users, 1);
	atomic_fetch_add(&vf_cq(attr->recv_cq)->users, 1);
	if (attr->srq)
		atomic_fetch_add(&vf_srq(attr->srq)->users, 1);
}

/* attr->cap becomes what was granted. */
static int create_qp(const char *verb, struct ibv_context *context,
		     struct ibv_qp_init_attr_ex *attr, struct vf_qp **out)
{
	struct ibv_qp_init_attr_ex given;
	int err = check_masks(verb, attr);

	if (!err)
		err = check_type(verb, attr->qp_type);
	if (!err)
		err = vf_pd_check(verb, attr->pd, context);
	if (!err)
		err = check_queues(verb, context, attr);
	if (err)
		return err;
	given = *attr;
	given.pd = &vf_pd_real(vf_pd(attr->pd))->ibv;
	err = vf_ops(context)->create_qp(vf_ctx(context), &given, out);
	if (err)
		return err;
	attr->cap = given.cap;
	(*out)->is_ex = (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
	finish(*out, context, attr);
	return 0;
}

VF_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex attr = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd};
	struct vf_qp *qp = NULL;
	int err;

	if (!pd || !init)
		return vf_api_null(vf_is_null(__func__, pd ? "qp_init_attr" : "pd"));
	attr.qp_context = init->qp_context;
	attr.send_cq = init->send_cq;
	attr.recv_cq = init->recv_cq;
	attr.srq = init->srq;
	attr.cap = init->cap;
	attr.qp_type = init->qp_type;
	attr.sq_sig_all = init->sq_sig_all;
	err = create_qp(__func__, pd->context, &attr, &qp);
	if (err)
		return vf_api_null(err);
	init->cap = attr.cap;
	return &qp->ibv;
}

struct ibv_qp *vf_verb_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	static const char verb[] = "ibv_create_qp_ex";
	struct vf_qp *qp = NULL;
	int err;

	if (!context || !attr)
		return vf_api_null(vf_is_null(verb, context ? "qp_init_attr_ex" : "context"));
	err = create_qp(verb, context, attr, &qp);
	return err ? vf_api_null(err) : &qp->ibv;
}

/* Only those that were made for it have the functions behind it. */
VF_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	if (!qp)
		return vf_api_null(vf_is_null(__func__, "qp"));
	if (!vf_qp(qp)->is_ex)
		return vf_api_null(vf_refuse(EINVAL, "%s: QP 0x%x was made without send_ops_flags",
					     __func__, qp->qp_num));
	return &vf_qp(qp)->ex;
}

/* ---- query ---- */

VF_EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
			   struct ibv_qp_init_attr *init_attr)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_init_attr i = {.qp_context = NULL};
	int err;

	(void)attr_mask; /* a hint: everything is filled */
	if (!qp || !attr || !init_attr)
		return vf_api_code(vf_is_null(__func__, !qp ? "qp" : !attr ? "attr" : "init_attr"));
	err = vf_ops(qp->context)->query_qp(vf_qp(qp), &a, &i);
	if (err)
		return vf_api_code(err);
	i.qp_context = qp->qp_context;
	i.send_cq = qp->send_cq;
	i.recv_cq = qp->recv_cq;
	i.srq = qp->srq;
	i.qp_type = qp->qp_type;
	*attr = a;
	*init_attr = i;
	qp->state = a.qp_state;
	return 0;
}

/* No set of guarantees: data may be placed in any order, as the network brings it. */
VF_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)op, (void)flags;
	if (!qp)
		vf_api_code(vf_is_null(__func__, "qp"));
	return 0;
}

/* ---- destroy ---- */

static int destroy_qp(struct vf_qp *qp)
{
	const struct ibv_qp ibv = qp->ibv;
	struct vf_ack_wait w = {.what = "queue pair",
				.number = ibv.qp_num,
				.mutex = &qp->ibv.mutex,
				.cond = &qp->ibv.cond,
				.delivered = &qp->async_delivered,
				.completed = &qp->ibv.events_completed};
	struct vf_event_block block;
	int err;

	vf_event_queue_block(vf_ctx(ibv.context)->async, &block, qp);
	vf_ack_wait(&w);
	err = vf_ops(ibv.context)->destroy_qp(qp);
	vf_event_queue_unblock(vf_ctx(ibv.context)->async, &block);
	if (err)
		return err;
	atomic_fetch_sub(&vf_cq(ibv.send_cq)->users, 1);
	atomic_fetch_sub(&vf_cq(ibv.recv_cq)->users, 1);
	if (ibv.srq)
		atomic_fetch_sub(&vf_srq(ibv.srq)->users, 1);
	vf_handle_drop(ibv.handle);
	vf_pd_unuse(vf_pd(ibv.pd));
	return 0;
}

VF_EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	if (!qp)
		return vf_api_code(vf_is_null(__func__, "qp"));
	return vf_api_code(destroy_qp(vf_qp(qp)));
}

/* ---- groups ---- */

/* IBTA 10.5.2: datagram queue pairs only. The LID means nothing on Ethernet. */
static int check_group(const char *verb, const struct ibv_qp *qp, const union ibv_gid *gid)
{
	char text[46];

	if (!qp || !gid)
		return vf_is_null(verb, qp ? "gid" : "qp");
	if (qp->qp_type != IBV_QPT_UD)
		return vf_refuse(EINVAL, "%s: QP 0x%x is %s; only UD queue pairs join groups", verb,
				 qp->qp_num, vf_qp_type_name(qp->qp_type));
	vf_gid_text(gid, text);
	if (!vf_gid_is_group(gid))
		return vf_refuse(EINVAL, "%s: gid %s is not that of a group", verb, text);
	return 0;
}

VF_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int err = check_group(__func__, qp, gid);

	(void)lid;
	return vf_api_code(err ? err : vf_ops(qp->context)->attach_mcast(vf_qp(qp), gid));
}

VF_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int err = check_group(__func__, qp, gid);

	(void)lid;
	return vf_api_code(err ? err : vf_ops(qp->context)->detach_mcast(vf_qp(qp), gid));
}

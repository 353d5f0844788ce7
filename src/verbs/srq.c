/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. IBTA 10.2.9, 11.2.3. */
#include "verbs/api.h"

static int create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr_ex *attr, struct vf_srq **out)
{
	struct ibv_srq_init_attr_ex given = *attr;
	struct vf_pd *real = vf_pd_real(vf_pd(pd));
	struct vf_srq *srq = NULL;
	int err;

	given.pd = &real->ibv;
	err = vf_ops(pd->context)->create_srq(real, &given, &srq);
	if (err)
		return err;
	attr->attr = given.attr;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = attr->srq_context;
	srq->ibv.pd = pd;
	srq->ibv.handle = vf_handle_new(VF_KIND_OTHER, srq);
	srq->ibv.events_completed = 0;
	vf_pd_use(vf_pd(pd));
	*out = srq;
	return 0;
}

VF_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq_init_attr_ex attr = {
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	struct vf_srq *srq = NULL;
	int err;

	if (!pd || !init)
		return vf_api_null(vf_is_null(__func__, pd ? "srq_init_attr" : "pd"));
	attr.srq_context = init->srq_context;
	attr.attr = init->attr;
	err = create_srq(pd, &attr, &srq);
	if (err)
		return vf_api_null(err);
	init->attr = attr.attr;
	return &srq->ibv;
}

static int check_ex(const char *verb, struct ibv_context *context,
		    const struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t known = IBV_SRQ_INIT_ATTR_RESERVED - 1;

	if (attr->comp_mask & ~known)
		return vf_refuse(EINVAL, "%s: comp_mask 0x%x, known are 0x%x", verb,
				 attr->comp_mask, known);
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC)
		return vf_refuse(EOPNOTSUPP,
				 "%s: srq_type %d: only basic queues (%d) are supported", verb,
				 (int)attr->srq_type, (int)IBV_SRQT_BASIC);
	if (attr->comp_mask & ~(uint32_t)(IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE))
		return vf_refuse(
			EINVAL,
			"%s: comp_mask 0x%x: XRC domain, completion queue and tag matching "
			"are not for basic queues",
			verb, attr->comp_mask);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd)
		return vf_is_null(verb, "pd");
	return vf_pd_check(verb, attr->pd, context);
}

struct ibv_srq *vf_verb_create_srq_ex(struct ibv_context *context,
				      struct ibv_srq_init_attr_ex *attr)
{
	static const char verb[] = "ibv_create_srq_ex";
	struct vf_srq *srq = NULL;
	int err;

	if (!context || !attr)
		return vf_api_null(vf_is_null(verb, context ? "srq_init_attr_ex" : "context"));
	err = check_ex(verb, context, attr);
	if (!err)
		err = create_srq(attr->pd, attr, &srq);
	return err ? vf_api_null(err) : &srq->ibv;
}

VF_EXPORT int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask)
{
	const int known = IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT;

	if (!srq || !srq_attr)
		return vf_api_code(vf_is_null(__func__, srq ? "srq_attr" : "srq"));
	if (srq_attr_mask & ~known)
		return vf_api_code(vf_refuse(EINVAL, "%s: srq_attr_mask 0x%x, known are 0x%x",
					     __func__, (unsigned)srq_attr_mask, (unsigned)known));
	return vf_api_code(vf_ops(srq->context)->modify_srq(vf_srq(srq), srq_attr, srq_attr_mask));
}

VF_EXPORT int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr)
{
	struct ibv_srq_attr attr = {.max_wr = 0};
	int err;

	if (!srq || !srq_attr)
		return vf_api_code(vf_is_null(__func__, srq ? "srq_attr" : "srq"));
	err = vf_ops(srq->context)->query_srq(vf_srq(srq), &attr);
	if (!err)
		*srq_attr = attr;
	return vf_api_code(err);
}

static int destroy_srq(struct vf_srq *srq)
{
	struct ibv_context *context = srq->ibv.context;
	struct vf_ack_wait w = {.what = "shared receive queue",
				.number = srq->ibv.handle,
				.mutex = &srq->ibv.mutex,
				.cond = &srq->ibv.cond,
				.delivered = &srq->async_delivered,
				.completed = &srq->ibv.events_completed};
	struct vf_pd *pd = vf_pd(srq->ibv.pd);
	uint32_t handle = srq->ibv.handle;
	struct vf_event_block block;
	int err;

	vf_event_queue_block(vf_ctx(context)->async, &block, srq);
	vf_ack_wait(&w);
	err = vf_ops(context)->destroy_srq(srq);
	vf_event_queue_unblock(vf_ctx(context)->async, &block);
	if (err)
		return err;
	vf_handle_drop(handle);
	vf_pd_unuse(pd);
	return 0;
}

VF_EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
	int users;

	if (!srq)
		return vf_api_code(vf_is_null(__func__, "srq"));
	users = atomic_load(&vf_srq(srq)->users);
	if (users)
		return vf_api_code(
			vf_refuse(EBUSY, "%s: %d queue pairs receive from it", __func__, users));
	return vf_api_code(destroy_srq(vf_srq(srq)));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues: made, changed, ended. They are polled and armed in the provider.
 * IBTA 10.8, 11.2.9. */
#include "verbs/api.h"

static int check_channel(const char *verb, struct ibv_context *context,
			 const struct ibv_comp_channel *channel)
{
	if (!channel || channel->context == context)
		return 0;
	return vf_refuse(EINVAL, "%s: the completion channel was made in another context", verb);
}

static int check_init(const char *verb, struct ibv_context *context,
		      const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->cqe < 1 || attr->cqe > INT32_MAX)
		return vf_refuse(EINVAL, "%s: cqe %d, the least is 1", verb, (int)attr->cqe);
	if (attr->comp_vector >= (uint32_t)context->num_comp_vectors)
		return vf_refuse(EINVAL, "%s: comp_vector %u, allowed are 0 to %d", verb,
				 attr->comp_vector, context->num_comp_vectors - 1);
	return check_channel(verb, context, attr->channel);
}

/* What the API layer has in a queue that the provider has made. */
static void finish(struct vf_cq *cq, struct ibv_context *context,
		   const struct ibv_cq_init_attr_ex *attr, struct vf_pd *domain)
{
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	cq->ibv.context = context;
	cq->ibv.channel = attr->channel;
	cq->ibv.cq_context = attr->cq_context;
	cq->ibv.handle = vf_handle_new(VF_KIND_OTHER, cq);
	cq->ibv.comp_events_completed = 0;
	cq->ibv.async_events_completed = 0;
	cq->domain = domain;
	if (domain)
		vf_pd_use(domain);
	if (attr->channel) {
		atomic_fetch_add(&vf_channel(attr->channel)->users, 1);
		pthread_mutex_lock(&context->mutex);
		attr->channel->refcnt++;
		pthread_mutex_unlock(&context->mutex);
	}
	vf_context_use(context);
}

static int create_cq(const char *verb, struct ibv_context *context,
		     struct ibv_cq_init_attr_ex *attr, struct vf_cq **out)
{
	struct ibv_cq_init_attr_ex given = *attr;
	struct vf_pd *domain = NULL;
	int err = check_init(verb, context, attr);

	if (err)
		return err;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		domain = vf_pd(attr->parent_domain);
		given.parent_domain = &vf_pd_real(domain)->ibv;
	}
	err = vf_ops(context)->create_cq(vf_ctx(context), &given, out);
	if (!err)
		finish(*out, context, attr, domain);
	return err;
}

VF_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				       struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = (uint32_t)cqe,
		.cq_context = cq_context,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct vf_cq *cq = NULL;
	int err;

	if (!context)
		return vf_api_null(vf_is_null(__func__, "context"));
	err = create_cq(__func__, context, &attr, &cq);
	return err ? vf_api_null(err) : &cq->ibv;
}

static int check_ex(const char *verb, struct ibv_context *context,
		    const struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t masks = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	const uint32_t flags =
		IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;

	if (attr->comp_mask & ~masks)
		return vf_refuse(EINVAL, "%s: comp_mask 0x%x, allowed is 0x%x", verb,
				 attr->comp_mask, masks);
	if (attr->wc_flags & ~(uint64_t)IBV_CREATE_CQ_SUP_WC_FLAGS)
		return vf_refuse(EOPNOTSUPP, "%s: wc_flags 0x%llx, known are 0x%x", verb,
				 (unsigned long long)attr->wc_flags,
				 (unsigned)IBV_CREATE_CQ_SUP_WC_FLAGS);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS && attr->flags & ~flags)
		return vf_refuse(EOPNOTSUPP, "%s: flags 0x%x, known are 0x%x", verb, attr->flags,
				 flags);
	if (!(attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD))
		return 0;
	if (!attr->parent_domain)
		return vf_is_null(verb, "parent_domain");
	return vf_pd_check(verb, attr->parent_domain, context);
}

struct ibv_cq_ex *vf_verb_create_cq_ex(struct ibv_context *context,
				       struct ibv_cq_init_attr_ex *attr)
{
	static const char verb[] = "ibv_create_cq_ex";
	struct vf_cq *cq = NULL;
	int err;

	if (!context || !attr)
		return vf_api_null(vf_is_null(verb, context ? "cq_attr" : "context"));
	err = check_ex(verb, context, attr);
	if (!err)
		err = create_cq(verb, context, attr, &cq);
	return err ? vf_api_null(err) : &cq->ex;
}

VF_EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	if (!cq)
		return vf_api_code(vf_is_null(__func__, "cq"));
	if (cqe < 1)
		return vf_api_code(vf_refuse(EINVAL, "%s: cqe %d, the least is 1", __func__, cqe));
	return vf_api_code(vf_ops(cq->context)->resize_cq(vf_cq(cq), cqe));
}

int vf_verb_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	static const char verb[] = "ibv_modify_cq";

	if (!cq || !attr)
		return vf_api_code(vf_is_null(verb, cq ? "attr" : "cq"));
	if (attr->attr_mask != IBV_CQ_ATTR_MODERATE)
		return vf_api_code(vf_refuse(EINVAL, "%s: attr_mask 0x%x, allowed is 0x%x", verb,
					     attr->attr_mask, (unsigned)IBV_CQ_ATTR_MODERATE));
	return vf_api_code(vf_ops(cq->context)->modify_cq(vf_cq(cq), attr));
}

/* Both kinds of events are dropped from here on; those that threads hold are waited for. */
static void drain_events(struct vf_cq *cq)
{
	struct vf_ack_wait w = {.what = "completion queue",
				.number = cq->ibv.handle,
				.mutex = &cq->ibv.mutex,
				.cond = &cq->ibv.cond,
				.delivered = &cq->events_delivered,
				.completed = &cq->ibv.comp_events_completed};

	vf_ack_wait(&w);
	w.delivered = &cq->async_delivered;
	w.completed = &cq->ibv.async_events_completed;
	vf_ack_wait(&w);
}

static int destroy_cq(struct vf_cq *cq)
{
	struct ibv_context *context = cq->ibv.context;
	struct ibv_comp_channel *channel = cq->ibv.channel;
	struct vf_event_block in_async, in_channel;
	struct vf_pd *domain = cq->domain;
	uint32_t handle = cq->ibv.handle;
	int err;

	vf_event_queue_block(vf_ctx(context)->async, &in_async, cq);
	if (channel)
		vf_event_queue_block(vf_channel(channel)->queue, &in_channel, cq);
	drain_events(cq);
	err = vf_ops(context)->destroy_cq(cq);
	vf_event_queue_unblock(vf_ctx(context)->async, &in_async);
	if (channel)
		vf_event_queue_unblock(vf_channel(channel)->queue, &in_channel);
	if (err)
		return err;
	if (channel) {
		pthread_mutex_lock(&context->mutex);
		channel->refcnt--;
		pthread_mutex_unlock(&context->mutex);
		atomic_fetch_sub(&vf_channel(channel)->users, 1);
	}
	if (domain)
		vf_pd_unuse(domain);
	vf_handle_drop(handle);
	vf_context_unuse(context);
	return 0;
}

VF_EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	int users;

	if (!cq)
		return vf_api_code(vf_is_null(__func__, "cq"));
	users = atomic_load(&vf_cq(cq)->users);
	if (users)
		return vf_api_code(vf_refuse(EBUSY, "%s: %d queues of queue pairs complete here",
					     __func__, users));
	return vf_api_code(destroy_cq(vf_cq(cq)));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels: where completion queues announce that they are to be polled. IBTA 11.2.10.
 */
#include "verbs/api.h"

#include <stdlib.h>

VF_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct vf_comp_channel *ch;
	int err;

	if (!context)
		return vf_api_null(vf_is_null(__func__, "context"));
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return vf_api_null(vf_refuse(ENOMEM, "%s: no memory", __func__));
	err = vf_event_queue_create(&ch->queue);
	if (err) {
		free(ch);
		return vf_api_null(err);
	}
	ch->ibv.context = context;
	ch->ibv.fd = vf_event_queue_fd(ch->queue);
	vf_context_use(context);
	return &ch->ibv;
}

VF_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct ibv_context *context;
	int users;

	if (!channel)
		return vf_api_code(vf_is_null(__func__, "channel"));
	users = atomic_load(&vf_channel(channel)->users);
	if (users)
		return vf_api_code(vf_refuse(EBUSY, "%s: %d completion queues use the channel",
					     __func__, users));
	context = channel->context;
	vf_event_queue_destroy(vf_channel(channel)->queue);
	free(channel);
	vf_context_unuse(context);
	return 0;
}

/* -1 and errno; an empty channel that the program made non-blocking is no refusal. */
VF_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
			       void **cq_context)
{
	struct vf_event e;
	int err;

	if (!channel || !cq || !cq_context)
		return vf_api_minus_one(vf_is_null(__func__, !channel ? "channel"
							     : !cq    ? "cq"
								      : "cq_context"));
	err = vf_event_queue_get(vf_channel(channel)->queue, &e);
	if (err)
		return vf_api_minus_one(err);
	*cq = &e.cq->ibv;
	*cq_context = e.cq->ibv.cq_context;
	return 0;
}

VF_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	if (!cq) {
		vf_api_code(vf_is_null(__func__, "cq"));
		return;
	}
	vf_ack(&cq->mutex, &cq->cond, &cq->comp_events_completed, nevents);
}

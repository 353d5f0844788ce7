/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events, and acknowledgements of events of both kinds. Destroying an object waits
 * until every event that was delivered of it is acknowledged, so that no thread holds a pointer to
 * it any more. IBTA 11.6.3.
 */
#include "verbs/api.h"

#include <time.h>

VF_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct vf_event e;
	int err;

	if (!context || !event)
		return vf_api_minus_one(vf_is_null(__func__, context ? "event" : "context"));
	err = vf_event_queue_get(vf_ctx(context)->async, &e);
	if (!err)
		*event = e.async;
	return vf_api_minus_one(err);
}

static void ack_qp(struct ibv_qp *qp)
{
	if (qp)
		vf_ack(&qp->mutex, &qp->cond, &qp->events_completed, 1);
}

static void ack_cq(struct ibv_cq *cq)
{
	if (cq)
		vf_ack(&cq->mutex, &cq->cond, &cq->async_events_completed, 1);
}

static void ack_srq(struct ibv_srq *srq)
{
	if (srq)
		vf_ack(&srq->mutex, &srq->cond, &srq->events_completed, 1);
}

VF_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	if (!event) {
		vf_api_code(vf_is_null(__func__, "event"));
		return;
	}
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		ack_cq(event->element.cq);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		ack_qp(event->element.qp);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		ack_srq(event->element.srq);
		break;
	default: /* of a port or of the device: nobody waits */
		break;
	}
}

void vf_ack(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed, uint32_t n)
{
	pthread_mutex_lock(mutex);
	*completed += n;
	pthread_cond_broadcast(cond);
	pthread_mutex_unlock(mutex);
}

/* Under the mutex. Acknowledging too much is a mistake of the program that must not hang it. */
static uint32_t missing(const struct vf_ack_wait *w)
{
	int32_t n = (int32_t)((uint32_t)atomic_load(w->delivered) - *w->completed);

	return n > 0 ? (uint32_t)n : 0;
}

unsigned vf_ack_patience_ms = 5000;

void vf_ack_wait(const struct vf_ack_wait *w)
{
	struct timespec until;
	bool is_said = false;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += vf_ack_patience_ms / 1000;
	until.tv_nsec += (long)(vf_ack_patience_ms % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(w->mutex);
	while (missing(w)) {
		if (is_said) {
			pthread_cond_wait(w->cond, w->mutex);
		} else if (pthread_cond_timedwait(w->cond, w->mutex, &until) == ETIMEDOUT) {
			vf_log(VF_LOG_ERROR,
			       "destroying %s %u waits for %u events that were delivered and not "
			       "acknowledged",
			       w->what, w->number, missing(w));
			is_said = true;
		}
	}
	pthread_mutex_unlock(w->mutex);
}

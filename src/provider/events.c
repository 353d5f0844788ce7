/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues of events behind a descriptor: asynchronous events of a context, completion events of a
 *channel.
 *
 *	              put                          get
 *	  empty ─────────────▶ not empty ─────────────────────▶ empty
 *	  nothing to read      one byte to read   the byte is taken first, then the oldest event;
 *	                                          what is left puts a new byte there
 *
 * The descriptor is one end of a socket pair: a get reads from it as read(2) does, with everything
 *that belongs to that (blocking or not as the program has set it, interrupted or restarted as its
 *signal handlers ask for), while the queue itself can look and drain without ever blocking.
 *Prohibited: reading from the descriptor with the lock held, unless it cannot block.
 *
 * What is counted as delivered is counted under the lock, so that an object that is being destroyed
 *(vf_event_queue_block) sees either the event in the queue or its delivery.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "provider.h"

struct vf_event_queue {
	pthread_mutex_t lock;
	struct vf_list events;
	struct vf_list blocked; /* struct vf_event_block */
	int read_fd, write_fd;
	bool is_signalled; /* a byte is on its way from write_fd to whoever reads */
};

static int make_private(int fd, int add_flags)
{
	int flags = fcntl(fd, F_GETFL);

	if (fcntl(fd, F_SETFD, FD_CLOEXEC) || flags < 0 || fcntl(fd, F_SETFL, flags | add_flags))
		return -errno;
	return 0;
}

int vf_event_queue_create(struct vf_event_queue **out)
{
	struct vf_event_queue *q = calloc(1, sizeof(*q));
	int fd[2], err;

	if (!q)
		return vf_refuse(ENOMEM, "no memory for an event queue");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd)) {
		err = vf_refuse(errno, "no descriptors for an event queue");
		free(q);
		return err;
	}
	err = make_private(fd[0], 0);
	if (!err)
		err = make_private(fd[1], O_NONBLOCK);
	if (err) {
		close(fd[0]);
		close(fd[1]);
		free(q);
		return vf_refuse(-err, "descriptors of an event queue cannot be set up");
	}
	q->read_fd = fd[0];
	q->write_fd = fd[1];
	pthread_mutex_init(&q->lock, NULL);
	vf_list_init(&q->events);
	vf_list_init(&q->blocked);
	*out = q;
	return 0;
}

void vf_event_queue_destroy(struct vf_event_queue *q)
{
	if (!q)
		return;
	VF_LIST_FOR_EACH_SAFE (it, &q->events) {
		struct vf_event *e = VF_LIST_ENTRY(it, struct vf_event, link);

		vf_list_del(it);
		if (e->is_owned)
			free(e);
	}
	close(q->read_fd);
	close(q->write_fd);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

int vf_event_queue_fd(const struct vf_event_queue *q) { return q->read_fd; }

/* The object that an event speaks of, NULL for those of ports and of the device. */
static const void *object_of(const struct vf_event *e)
{
	if (e->cq)
		return e->cq;
	switch (e->async.event_type) {
	case IBV_EVENT_CQ_ERR:
		return e->async.element.cq;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return e->async.element.qp;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return e->async.element.srq;
	default:
		return NULL;
	}
}

static void count_delivery(const struct vf_event *e)
{
	if (e->cq) {
		atomic_fetch_add(&e->cq->events_delivered, 1);
		return;
	}
	switch (e->async.event_type) {
	case IBV_EVENT_CQ_ERR:
		atomic_fetch_add(&((struct vf_cq *)(void *)e->async.element.cq)->async_delivered,
				 1);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		atomic_fetch_add(&((struct vf_srq *)(void *)e->async.element.srq)->async_delivered,
				 1);
		break;
	default:
		if (object_of(e))
			atomic_fetch_add(
				&((struct vf_qp *)(void *)e->async.element.qp)->async_delivered, 1);
	}
}

/* Locked. The other end never has more than one byte in it, so this cannot find it full. */
static void signal_reader(struct vf_event_queue *q)
{
	const char byte = 1;

	while (write(q->write_fd, &byte, 1) < 0 && errno == EINTR)
		;
	q->is_signalled = true;
}

static bool is_blocked(const struct vf_event_queue *q, const void *object)
{
	if (!object)
		return false;
	VF_LIST_FOR_EACH (it, &q->blocked)
		if (VF_LIST_ENTRY(it, struct vf_event_block, link)->object == object)
			return true;
	return false;
}

static bool is_queued(const struct vf_event *e) { return e->link.next && e->link.next != &e->link; }

void vf_event_queue_put(struct vf_event_queue *q, struct vf_event *e)
{
	int saved = errno;
	bool is_dropped;

	pthread_mutex_lock(&q->lock);
	is_dropped = is_blocked(q, object_of(e));
	if (!is_dropped && !is_queued(e)) {
		vf_list_add_tail(&q->events, &e->link);
		if (!q->is_signalled)
			signal_reader(q);
	}
	pthread_mutex_unlock(&q->lock);
	if (is_dropped && e->is_owned)
		free(e);
	errno = saved;
}

void vf_event_queue_put_async(struct vf_event_queue *q, const struct ibv_async_event *async)
{
	struct vf_event *e = calloc(1, sizeof(*e));

	if (!e) {
		vf_log(VF_LOG_ERROR, "no memory for asynchronous event %d: it is lost",
		       (int)async->event_type);
		return;
	}
	vf_list_init(&e->link);
	e->async = *async;
	e->is_owned = true;
	vf_event_queue_put(q, e);
}

/* Locked: the oldest event leaves the queue. */
static bool take_oldest(struct vf_event_queue *q, struct vf_event *out)
{
	struct vf_event *e;

	q->is_signalled = false;
	if (vf_list_is_empty(&q->events))
		return false;
	e = VF_LIST_ENTRY(q->events.next, struct vf_event, link);
	vf_list_del(&e->link);
	*out = *e;
	vf_list_init(&out->link);
	count_delivery(e);
	if (e->is_owned)
		free(e);
	out->is_owned = false;
	if (!vf_list_is_empty(&q->events))
		signal_reader(q);
	return true;
}

int vf_event_queue_get(struct vf_event_queue *q, struct vf_event *out)
{
	bool is_taken;
	char byte;

	do {
		ssize_t n = read(q->read_fd, &byte, 1);

		if (n < 0)
			return -errno;
		if (n == 0)
			return vf_refuse(EBADF, "the event queue is closed");
		pthread_mutex_lock(&q->lock);
		is_taken = take_oldest(q, out);
		pthread_mutex_unlock(&q->lock);
		/* Not taken: what the byte spoke of was forgotten meanwhile. */
	} while (!is_taken);
	return 0;
}

/* Locked. */
static unsigned forget(struct vf_event_queue *q, const void *object)
{
	unsigned count = 0;
	char byte;

	VF_LIST_FOR_EACH_SAFE (it, &q->events) {
		struct vf_event *e = VF_LIST_ENTRY(it, struct vf_event, link);

		if (object_of(e) != object)
			continue;
		vf_list_del(it);
		count++;
		if (e->is_owned)
			free(e);
	}
	/* A reader who took the byte already finds the queue empty and reads again. */
	if (vf_list_is_empty(&q->events) && q->is_signalled &&
	    recv(q->read_fd, &byte, 1, MSG_DONTWAIT) == 1)
		q->is_signalled = false;
	return count;
}

unsigned vf_event_queue_forget(struct vf_event_queue *q, const void *object)
{
	unsigned count;
	int saved = errno;

	pthread_mutex_lock(&q->lock);
	count = object ? forget(q, object) : 0;
	pthread_mutex_unlock(&q->lock);
	errno = saved;
	return count;
}

void vf_event_queue_block(struct vf_event_queue *q, struct vf_event_block *block,
			  const void *object)
{
	int saved = errno;

	block->object = object;
	pthread_mutex_lock(&q->lock);
	vf_list_add_tail(&q->blocked, &block->link);
	forget(q, object);
	pthread_mutex_unlock(&q->lock);
	errno = saved;
}

void vf_event_queue_unblock(struct vf_event_queue *q, struct vf_event_block *block)
{
	pthread_mutex_lock(&q->lock);
	vf_list_del(&block->link);
	pthread_mutex_unlock(&q->lock);
}

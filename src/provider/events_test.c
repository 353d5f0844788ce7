/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues: what the descriptor shows, who waits, what is forgotten. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "provider.h"

/* ThreadSanitizer keeps a signal back until a read(2) is over, so a read that is restarted sees none of its handlers run. */
#if defined(__SANITIZE_THREAD__)
#define SIGNALS_COME_LATE true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIGNALS_COME_LATE true
#endif
#endif
#ifndef SIGNALS_COME_LATE
#define SIGNALS_COME_LATE false
#endif

const struct vf_provider_ops *const vf_providers[] = {NULL};

static struct vf_event_queue *queue;

static int make_queue(void **state)
{
	(void)state;
	return vf_event_queue_create(&queue);
}

static int drop_queue(void **state)
{
	(void)state;
	vf_event_queue_destroy(queue);
	return 0;
}

static bool is_readable(void)
{
	struct pollfd p = {.fd = vf_event_queue_fd(queue), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void set_nonblocking(void)
{
	int fd = vf_event_queue_fd(queue);

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void put_async(enum ibv_event_type type, void *object)
{
	struct ibv_async_event a = {.event_type = type};

	if (object)
		a.element.qp = object;
	vf_event_queue_put_async(queue, &a);
}

static void the_descriptor_is_readable_exactly_while_events_wait(void **state)
{
	struct vf_event out;

	(void)state;
	assert_false(is_readable());
	put_async(IBV_EVENT_GID_CHANGE, NULL);
	put_async(IBV_EVENT_PORT_ERR, NULL);
	assert_true(is_readable());
	assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_int_equal(out.async.event_type, IBV_EVENT_GID_CHANGE);
	assert_true(is_readable());
	assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_int_equal(out.async.event_type, IBV_EVENT_PORT_ERR);
	assert_false(is_readable());
}

static void a_descriptor_made_nonblocking_by_the_program_does_not_wait(void **state)
{
	struct vf_event out;

	(void)state;
	set_nonblocking();
	assert_int_equal(vf_event_queue_get(queue, &out), -EAGAIN);
	put_async(IBV_EVENT_GID_CHANGE, NULL);
	assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_int_equal(vf_event_queue_get(queue, &out), -EAGAIN);
}

static void an_embedded_event_is_queued_once(void **state)
{
	struct vf_cq cq = {.users = 0};
	struct vf_event e = {.cq = &cq}, out;

	(void)state;
	set_nonblocking();
	vf_event_queue_put(queue, &e);
	vf_event_queue_put(queue, &e);
	assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_ptr_equal(out.cq, &cq);
	assert_int_equal(cq.events_delivered, 1);
	assert_int_equal(vf_event_queue_get(queue, &out), -EAGAIN);
	vf_event_queue_put(queue, &e);
	assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_int_equal(cq.events_delivered, 2);
}

static void deliveries_are_counted_on_the_object(void **state)
{
	struct vf_qp qp = {.is_ex = false};
	struct vf_srq srq = {.users = 0};
	struct vf_cq cq = {.users = 0};
	struct vf_event out;

	(void)state;
	put_async(IBV_EVENT_QP_FATAL, &qp);
	put_async(IBV_EVENT_COMM_EST, &qp);
	put_async(IBV_EVENT_SRQ_LIMIT_REACHED, &srq);
	put_async(IBV_EVENT_CQ_ERR, &cq);
	for (int i = 0; i < 4; i++)
		assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_int_equal(qp.async_delivered, 2);
	assert_int_equal(srq.async_delivered, 1);
	assert_int_equal(cq.async_delivered, 1);
	assert_int_equal(cq.events_delivered, 0);
}

static void forgetting_leaves_the_events_of_others(void **state)
{
	struct vf_qp a = {.is_ex = false}, b = {.is_ex = false};
	struct vf_event out;

	(void)state;
	put_async(IBV_EVENT_QP_FATAL, &a);
	put_async(IBV_EVENT_QP_FATAL, &b);
	put_async(IBV_EVENT_COMM_EST, &a);
	assert_int_equal(vf_event_queue_forget(queue, &a), 2);
	assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_ptr_equal(out.async.element.qp, &b);
	assert_false(is_readable());
	put_async(IBV_EVENT_QP_FATAL, &a);
	assert_int_equal(vf_event_queue_forget(queue, &a), 1);
	assert_false(is_readable());
}

static void a_blocked_object_gets_no_events(void **state)
{
	struct vf_cq cq = {.users = 0};
	struct vf_event e = {.cq = &cq};
	struct vf_event_block block;

	(void)state;
	vf_event_queue_put(queue, &e);
	vf_event_queue_block(queue, &block, &cq);
	assert_false(is_readable());
	vf_event_queue_put(queue, &e);
	put_async(IBV_EVENT_CQ_ERR, &cq);
	assert_false(is_readable());
	vf_event_queue_unblock(queue, &block);
	vf_event_queue_put(queue, &e);
	assert_true(is_readable());
	vf_event_queue_forget(queue, &cq);
}

static void *wait_for_one(void *arg)
{
	struct vf_event out;
	intptr_t err = vf_event_queue_get(queue, &out);

	(void)arg;
	return (void *)err;
}

static void a_waiting_get_sleeps_through_a_forgotten_event(void **state)
{
	struct vf_qp qp = {.is_ex = false};
	pthread_t t;
	void *err;

	(void)state;
	pthread_create(&t, NULL, wait_for_one, NULL);
	for (int i = 0; i < 2000; i++) {
		put_async(IBV_EVENT_QP_FATAL, &qp);
		if (vf_event_queue_forget(queue, &qp) == 0)
			break; /* the other thread was quicker, and has its event */
	}
	put_async(IBV_EVENT_QP_FATAL, &qp);
	pthread_join(t, &err);
	assert_int_equal((intptr_t)err, 0);
	assert_true(qp.async_delivered >= 1);
	vf_event_queue_forget(queue, &qp);
}

static void on_signal(int number) { (void)number; }

static void *interrupt(void *arg)
{
	pthread_t target = *(pthread_t *)arg;
	struct timespec pause = {.tv_nsec = 1000000};

	/* Until cancelled: the first may come before the other thread waits. */
	for (int i = 0; i < 5000; i++) {
		pthread_kill(target, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void a_signal_without_restart_ends_the_wait(void **state)
{
	struct sigaction sa = {.sa_handler = on_signal}, old;
	pthread_t self = pthread_self(), t;
	struct vf_event out;

	(void)state;
	sigaction(SIGUSR1, &sa, &old);
	pthread_create(&t, NULL, interrupt, &self);
	assert_int_equal(vf_event_queue_get(queue, &out), -EINTR);
	pthread_cancel(t);
	pthread_join(t, NULL);
	sigaction(SIGUSR1, &old, NULL);
}

static atomic_int seen; /* also read by the thread that sends the signals */
static void on_counted(int number)
{
	(void)number;
	seen++;
}

static void *interrupt_then_put(void *arg)
{
	pthread_t target = *(pthread_t *)arg;
	struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < (SIGNALS_COME_LATE ? 20 : 5000) && seen < 3; i++) {
		pthread_kill(target, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	put_async(IBV_EVENT_GID_CHANGE, NULL);
	return NULL;
}

static void a_signal_with_restart_does_not(void **state)
{
	struct sigaction sa = {.sa_handler = on_counted, .sa_flags = SA_RESTART}, old;
	pthread_t self = pthread_self(), t;
	struct vf_event out;

	(void)state;
	seen = 0;
	sigaction(SIGUSR1, &sa, &old);
	pthread_create(&t, NULL, interrupt_then_put, &self);
	assert_int_equal(vf_event_queue_get(queue, &out), 0);
	assert_int_equal(out.async.event_type, IBV_EVENT_GID_CHANGE);
	pthread_join(t, NULL);
	assert_true(seen >= 3 || SIGNALS_COME_LATE);
	sigaction(SIGUSR1, &old, NULL);
}

enum { EACH = 2000, THREADS = 3 };

static void *put_many(void *arg)
{
	(void)arg;
	for (int i = 0; i < EACH; i++)
		put_async(IBV_EVENT_GID_CHANGE, NULL);
	return NULL;
}

static void *get_many(void *arg)
{
	struct vf_event out;
	intptr_t got = 0;

	(void)arg;
	while (got < EACH && vf_event_queue_get(queue, &out) == 0)
		got++;
	return (void *)got;
}

static void several_threads_lose_no_event(void **state)
{
	pthread_t put[THREADS], get[THREADS];
	void *got;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&get[i], NULL, get_many, NULL);
		pthread_create(&put[i], NULL, put_many, NULL);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(put[i], NULL);
		pthread_join(get[i], &got);
		assert_int_equal((intptr_t)got, EACH);
	}
	assert_false(is_readable());
}

#define WITH_QUEUE(f) cmocka_unit_test_setup_teardown(f, make_queue, drop_queue)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_QUEUE(the_descriptor_is_readable_exactly_while_events_wait),
		WITH_QUEUE(a_descriptor_made_nonblocking_by_the_program_does_not_wait),
		WITH_QUEUE(an_embedded_event_is_queued_once),
		WITH_QUEUE(deliveries_are_counted_on_the_object),
		WITH_QUEUE(forgetting_leaves_the_events_of_others),
		WITH_QUEUE(a_blocked_object_gets_no_events),
		WITH_QUEUE(a_waiting_get_sleeps_through_a_forgotten_event),
		WITH_QUEUE(a_signal_without_restart_ends_the_wait),
		WITH_QUEUE(a_signal_with_restart_does_not),
		WITH_QUEUE(several_threads_lose_no_event),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}

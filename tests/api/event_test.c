/* SPDX-License-Identifier: BSD-2-Clause */
/* Events through the exported calls: completion channels, asynchronous events, acknowledgements and
 * those who wait for them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake.h"
#include "verbifrost/verbifrost.h"
#include "verbs/api.h"

static struct fake_rig rig;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_rig_make(&rig);
	channel = ibv_create_comp_channel(rig.ctx);
	cq = ibv_create_cq(rig.ctx, 4, &rig, channel, 0);
	return !cq;
}

static int teardown(void **state)
{
	(void)state;
	if (cq)
		assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	fake_rig_end(&rig);
	return 0;
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void make_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static void a_channel_tells_which_queue_has_completions(void **state)
{
	struct ibv_cq *got;
	void *context;

	(void)state;
	assert_false(is_readable(channel->fd));
	fake_complete(cq);
	assert_true(is_readable(channel->fd));
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
	assert_ptr_equal(got, cq);
	assert_ptr_equal(context, &rig);
	assert_false(is_readable(channel->fd));
	ibv_ack_cq_events(cq, 1);
}

static void an_empty_channel_that_does_not_block_is_eagain(void **state)
{
	struct ibv_cq *got;
	void *context;

	(void)state;
	make_nonblocking(channel->fd);
	errno = 0;
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), -1);
	assert_int_equal(errno, EAGAIN);
}

static void events_of_a_destroyed_queue_are_gone(void **state)
{
	struct ibv_cq *other = ibv_create_cq(rig.ctx, 4, NULL, channel, 0), *got;
	void *context;

	(void)state;
	fake_complete(other);
	fake_complete(cq);
	assert_int_equal(ibv_destroy_cq(other), 0);
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
	assert_ptr_equal(got, cq);
	assert_false(is_readable(channel->fd));
	ibv_ack_cq_events(cq, 1);
}

static atomic_bool is_ended;

static void *destroy_cq(void *arg)
{
	intptr_t err = ibv_destroy_cq(arg);

	atomic_store(&is_ended, true);
	return (void *)err;
}

/* A destroyer that should wait is given this long to show that it does not. */
static bool is_ended_after(int ms)
{
	poll(NULL, 0, ms);
	return atomic_load(&is_ended);
}

static void destroying_a_queue_waits_for_acknowledgements(void **state)
{
	struct ibv_cq *got;
	void *context, *err;
	pthread_t t;

	(void)state;
	for (int i = 0; i < 3; i++) {
		fake_complete(cq);
		assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
	}
	ibv_ack_cq_events(cq, 1);
	atomic_store(&is_ended, false);
	pthread_create(&t, NULL, destroy_cq, cq);
	assert_false(is_ended_after(50));
	/* meanwhile nothing new is delivered of it */
	fake_complete(cq);
	assert_false(is_readable(channel->fd));
	ibv_ack_cq_events(cq, 2);
	pthread_join(t, &err);
	assert_int_equal((intptr_t)err, 0);
	cq = NULL;
}

static char said[256];
static atomic_int said_count;

static void keep_line(int level, const char *line, void *arg)
{
	(void)arg;
	if (level == 1 && atomic_fetch_add(&said_count, 1) == 0)
		strncpy(said, line, sizeof(said) - 1);
}

static void a_long_wait_is_spoken_of_once(void **state)
{
	struct ibv_cq *got;
	void *context, *err;
	pthread_t t;

	(void)state;
	vf_ack_patience_ms = 5;
	verbifrost_set_log(keep_line, NULL);
	verbifrost_set_log_level(1);
	fake_complete(cq);
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
	atomic_store(&is_ended, false);
	pthread_create(&t, NULL, destroy_cq, cq);
	for (int i = 0; i < 2000 && !atomic_load(&said_count); i++)
		poll(NULL, 0, 1);
	assert_false(is_ended_after(20));
	ibv_ack_cq_events(cq, 1);
	pthread_join(t, &err);
	verbifrost_set_log_level(0);
	verbifrost_set_log(NULL, NULL);
	vf_ack_patience_ms = 5000;
	cq = NULL;
	assert_int_equal(said_count, 1);
	assert_non_null(strstr(said, "destroying completion queue"));
	assert_non_null(strstr(said, "waits for 1 events"));
}

static void asynchronous_events_come_in_their_order(void **state)
{
	struct ibv_async_event e;

	(void)state;
	fake_async(rig.ctx, IBV_EVENT_GID_CHANGE, NULL);
	fake_async(rig.ctx, IBV_EVENT_PORT_ERR, NULL);
	assert_true(is_readable(rig.ctx->async_fd));
	assert_int_equal(ibv_get_async_event(rig.ctx, &e), 0);
	assert_int_equal(e.event_type, IBV_EVENT_GID_CHANGE);
	ibv_ack_async_event(&e);
	assert_int_equal(ibv_get_async_event(rig.ctx, &e), 0);
	assert_int_equal(e.event_type, IBV_EVENT_PORT_ERR);
	ibv_ack_async_event(&e);
	make_nonblocking(rig.ctx->async_fd);
	assert_int_equal(ibv_get_async_event(rig.ctx, &e), -1);
	assert_int_equal(errno, EAGAIN);
}

static void *destroy_qp(void *arg)
{
	intptr_t err = ibv_destroy_qp(arg);

	atomic_store(&is_ended, true);
	return (void *)err;
}

static void destroying_a_queue_pair_waits_for_its_events(void **state)
{
	struct ibv_qp *qp = fake_qp(&rig, IBV_QPT_RC), *other = fake_qp(&rig, IBV_QPT_RC);
	struct ibv_async_event e;
	pthread_t t;
	void *err;

	(void)state;
	fake_async(rig.ctx, IBV_EVENT_QP_FATAL, qp);
	assert_int_equal(ibv_get_async_event(rig.ctx, &e), 0);
	assert_ptr_equal(e.element.qp, qp);
	fake_async(rig.ctx, IBV_EVENT_COMM_EST, qp);
	fake_async(rig.ctx, IBV_EVENT_COMM_EST, other);
	assert_int_equal(ibv_destroy_qp(other), 0);
	atomic_store(&is_ended, false);
	pthread_create(&t, NULL, destroy_qp, qp);
	assert_false(is_ended_after(50));
	assert_false(is_readable(rig.ctx->async_fd));
	ibv_ack_async_event(&e);
	pthread_join(t, &err);
	assert_int_equal((intptr_t)err, 0);
}

static void events_of_all_objects_are_acknowledged(void **state)
{
	struct ibv_srq_init_attr sa = {.attr.max_wr = 3};
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &sa);
	struct ibv_async_event e;

	(void)state;
	fake_async(rig.ctx, IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	fake_async(rig.ctx, IBV_EVENT_CQ_ERR, cq);
	assert_int_equal(ibv_get_async_event(rig.ctx, &e), 0);
	assert_ptr_equal(e.element.srq, srq);
	ibv_ack_async_event(&e);
	assert_int_equal(srq->events_completed, 1);
	assert_int_equal(ibv_get_async_event(rig.ctx, &e), 0);
	ibv_ack_async_event(&e);
	assert_int_equal(cq->async_events_completed, 1);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void acknowledging_too_much_hangs_nobody(void **state)
{
	(void)state;
	ibv_ack_cq_events(cq, 5);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	cq = NULL;
}

static void *get_async(void *arg)
{
	static struct ibv_async_event e;

	return ibv_get_async_event(arg, &e) ? NULL : &e;
}

static void a_thread_waits_for_an_asynchronous_event(void **state)
{
	struct ibv_async_event *e;
	void *got;
	pthread_t t;

	(void)state;
	pthread_create(&t, NULL, get_async, rig.ctx);
	fake_async(rig.ctx, IBV_EVENT_PORT_ACTIVE, NULL);
	pthread_join(t, &got);
	assert_non_null(got);
	e = got;
	assert_int_equal(e->event_type, IBV_EVENT_PORT_ACTIVE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_channel_tells_which_queue_has_completions),
		TEST(an_empty_channel_that_does_not_block_is_eagain),
		TEST(events_of_a_destroyed_queue_are_gone),
		TEST(destroying_a_queue_waits_for_acknowledgements),
		TEST(a_long_wait_is_spoken_of_once),
		TEST(asynchronous_events_come_in_their_order),
		TEST(destroying_a_queue_pair_waits_for_its_events),
		TEST(events_of_all_objects_are_acknowledged),
		TEST(acknowledging_too_much_hangs_nobody),
		TEST(a_thread_waits_for_an_asynchronous_event),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}

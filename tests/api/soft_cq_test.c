/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues: notification, overrun, resizing, reading field by field, time stamps; shared receive queues and their limit. */
#include "soft_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>

static bool channel_has_event(struct ibv_comp_channel *c, int ms)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void take_cq_event(struct end *e, struct ibv_cq *cq)
{
	struct ibv_cq *which;
	void *context;

	assert_true(channel_has_event(e->channel, 5000));
	assert_int_equal(ibv_get_cq_event(e->channel, &which, &context), 0);
	assert_ptr_equal(which, cq);
	assert_ptr_equal(context, e);
	ibv_ack_cq_events(which, 1);
}

static void an_armed_queue_tells_of_the_next_completion_once(void **state)
{
	struct pair_options o = {.has_channel = true};
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	assert_int_equal(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	assert_false(channel_has_event(p.b.channel, 20));
	for (uint64_t i = 0; i < 3; i++)
		pair_recv(&p.b, i, 0, 100);
	for (uint64_t i = 0; i < 3; i++) {
		pair_send(&p.a, &p.b, i, 10);
		pair_expect(p.a.send_cq, i, IBV_WC_SUCCESS);
	}
	take_cq_event(&p.b, p.b.recv_cq);
	assert_false(channel_has_event(p.b.channel, 20));
	for (uint64_t i = 0; i < 3; i++)
		pair_expect(p.b.recv_cq, i, IBV_WC_SUCCESS);
	pair_close(&p);
}

static void a_queue_armed_for_solicited_tells_of_nothing_else(void **state)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct pair_options o = {.has_channel = true};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (uint64_t i = 0; i < 3; i++)
		pair_recv(&p.b, i, 0, 100);
	assert_int_equal(ibv_req_notify_cq(p.b.recv_cq, 1), 0);
	pair_send(&p.a, &p.b, 0, 10);
	pair_expect(p.a.send_cq, 0, IBV_WC_SUCCESS);
	assert_false(channel_has_event(p.b.channel, 30));
	pair_send_wr(&p.a, &p.b, IBV_WR_SEND, &wr, &sge);
	wr.send_flags |= IBV_SEND_SOLICITED;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	take_cq_event(&p.b, p.b.recv_cq);
	/* an error counts as solicited */
	assert_int_equal(ibv_req_notify_cq(p.b.recv_cq, 1), 0);
	assert_int_equal(ibv_modify_qp(p.b.qp, &err, IBV_QP_STATE), 0);
	take_cq_event(&p.b, p.b.recv_cq);
	pair_close(&p);
}

static void a_queue_that_runs_over_says_so_once_and_ends_its_queue_pairs(void **state)
{
	struct pair_options o = {.cqe = 4};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	bool has_cq_err = false, has_fatal = false;
	struct pair p;
	struct ibv_wc wc;
	int n = 0;

	(void)state;
	pair_open(&p, &o);
	for (uint64_t i = 0; i < 8; i++)
		pair_recv(&p.b, i, 0, 100);
	for (uint64_t i = 0; i < 4; i++) {
		pair_send(&p.a, &p.b, i, 10);
		pair_expect(p.a.send_cq, i, IBV_WC_SUCCESS);
	}
	pair_send(&p.a, &p.b, 9, 10);
	for (int i = 0; i < 2; i++) {
		enum ibv_event_type t = pair_event(p.b.ctx);

		has_cq_err |= t == IBV_EVENT_CQ_ERR;
		has_fatal |= t == IBV_EVENT_QP_FATAL;
	}
	assert_true(has_cq_err && has_fatal);
	assert_false(pair_has_event(p.b.ctx, 30));
	assert_int_equal(ibv_query_qp(p.b.qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_ERR);
	while (ibv_poll_cq(p.b.recv_cq, 1, &wc) > 0)
		n++;
	assert_int_equal(n, 4);
	pair_close(&p);
}

static void resizing_keeps_what_is_in_the_queue(void **state)
{
	struct pair_options o = {.cqe = 8};
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (uint64_t i = 0; i < 6; i++)
		pair_recv(&p.b, i, 0, 100);
	for (uint64_t i = 0; i < 6; i++) {
		pair_send(&p.a, &p.b, i, 10);
		pair_expect(p.a.send_cq, i, IBV_WC_SUCCESS);
	}
	assert_int_equal(ibv_resize_cq(p.b.recv_cq, 5), EINVAL);
	assert_int_equal(p.b.recv_cq->cqe, 8);
	assert_int_equal(ibv_resize_cq(p.b.recv_cq, 1000), 0);
	assert_true(p.b.recv_cq->cqe >= 1000);
	assert_int_equal(ibv_resize_cq(p.b.recv_cq, 6), 0);
	for (uint64_t i = 0; i < 6; i++)
		pair_expect(p.b.recv_cq, i, IBV_WC_SUCCESS);
	assert_true(ibv_resize_cq(p.b.recv_cq, 0) != 0);
	pair_close(&p);
}

/* More than several chunks of the queue, through one that is never empty for long. */
static void completions_stay_in_order_through_many_of_them(void **state)
{
	struct pair_options o = {.depth = 512, .cqe = 1024};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint64_t sent = 0, seen = 0;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	while (seen < 5000) {
		while (sent < 5000 && sent - seen < 400) {
			pair_send_wr(&p.a, &p.b, IBV_WR_RDMA_WRITE, &wr, &sge);
			wr.wr_id = sent++;
			assert_int_equal(pair_post(&p.a, &wr), 0);
		}
		for (int i = 0; i < 150 && seen < sent; i++)
			pair_expect(p.a.send_cq, seen++, IBV_WC_SUCCESS);
	}
	pair_close(&p);
}

struct ex {
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
};

static void make_ex(struct pair *p, struct ex *x, uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex a = {.cqe = 100,
					.wc_flags = wc_flags,
					.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					.flags = flags};
	struct ibv_qp_init_attr q = {.cap = {16, 16, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	x->cq = ibv_create_cq_ex(p->a.ctx, &a);
	if (!x->cq)
		fail_msg("create_cq_ex: %s", verbifrost_last_error());
	q.send_cq = q.recv_cq = ibv_cq_ex_to_cq(x->cq);
	x->qp = ibv_create_qp(p->a.pd, &q);
	assert_non_null(x->qp);
}

static int start_within(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr none = {0};
	time_t until = time(NULL) + 5;
	int err;

	do
		err = ibv_start_poll(cq, &none);
	while (err == ENOENT && time(NULL) < until);
	return err;
}

/* The extended queue takes the place of a's send queue for two flushed requests. */
static void a_queue_is_read_field_by_field_or_classically(void **state)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct ibv_recv_wr rwr = {.wr_id = 5}, *bad;
	struct ibv_poll_cq_attr none = {0};
	struct pair_options o = {0};
	struct end other;
	struct ibv_wc wc;
	struct ex x;
	struct pair p;

	(void)state;
	for (uint32_t flags = 0; flags < 2; flags++) {
		pair_open(&p, &o);
		make_ex(&p, &x, IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, flags);
		assert_int_equal(ibv_start_poll(x.cq, &none), ENOENT);
		other = p.a;
		other.qp = x.qp;
		pair_to_init(&p, &other);
		for (rwr.wr_id = 5; rwr.wr_id < 9; rwr.wr_id++)
			assert_int_equal(ibv_post_recv(x.qp, &rwr, &bad), 0);
		assert_int_equal(ibv_modify_qp(x.qp, &err, IBV_QP_STATE), 0);
		assert_int_equal(start_within(x.cq), 0);
		assert_int_equal(x.cq->wr_id, 5);
		assert_int_equal(x.cq->status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(ibv_wc_read_qp_num(x.cq), x.qp->qp_num);
		assert_int_equal(ibv_wc_read_opcode(x.cq), IBV_WC_RECV);
		assert_int_equal(ibv_wc_read_vendor_err(x.cq), 0);
		assert_true(ibv_wc_read_completion_ts(x.cq) != 0);
		assert_int_equal(ibv_next_poll(x.cq), 0);
		assert_int_equal(x.cq->wr_id, 6);
		ibv_end_poll(x.cq);
		pair_expect(ibv_cq_ex_to_cq(x.cq), 7, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(start_within(x.cq), 0);
		assert_int_equal(x.cq->wr_id, 8);
		assert_int_equal(ibv_next_poll(x.cq), ENOENT);
		ibv_end_poll(x.cq);
		assert_int_equal(ibv_poll_cq(ibv_cq_ex_to_cq(x.cq), 1, &wc), 0);
		assert_int_equal(ibv_destroy_qp(x.qp), 0);
		assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(x.cq)), 0);
		pair_close(&p);
	}
}

static void fields_that_no_completion_has_are_refused(void **state)
{
	struct ibv_cq_init_attr_ex a = {.cqe = 10, .wc_flags = IBV_WC_EX_WITH_FLOW_TAG};
	struct ibv_context *ctx = pair_open_device(PAIR_DEVICE);

	(void)state;
	errno = 0;
	assert_null(ibv_create_cq_ex(ctx, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.wc_flags = 0;
	a.cqe = 0;
	assert_null(ibv_create_cq_ex(ctx, &a));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* ---- shared receive queues ---- */

static void the_limit_of_a_shared_queue_fires_once_and_is_armed_again(void **state)
{
	struct ibv_srq_attr attr = {.srq_limit = 2};
	struct pair_options o = {.has_srq = true};
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (uint64_t i = 0; i < 4; i++)
		pair_recv(&p.b, i, 0, 100);
	assert_int_equal(ibv_modify_srq(p.b.srq, &attr, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_query_srq(p.b.srq, &attr), 0);
	assert_int_equal(attr.srq_limit, 2);
	assert_true(attr.max_wr >= 16 && attr.max_sge >= 4);
	for (uint64_t i = 0; i < 2; i++) {
		pair_send(&p.a, &p.b, i, 10);
		pair_expect(p.b.recv_cq, i, IBV_WC_SUCCESS);
	}
	assert_false(pair_has_event(p.b.ctx, 20));
	pair_send(&p.a, &p.b, 2, 10);
	assert_int_equal(pair_event(p.b.ctx), IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(ibv_query_srq(p.b.srq, &attr), 0);
	assert_int_equal(attr.srq_limit, 0);
	pair_send(&p.a, &p.b, 3, 10);
	pair_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS);
	pair_expect(p.b.recv_cq, 3, IBV_WC_SUCCESS);
	assert_false(pair_has_event(p.b.ctx, 20));
	attr.srq_limit = 17;
	assert_int_equal(ibv_modify_srq(p.b.srq, &attr, IBV_SRQ_LIMIT), EINVAL);
	pair_close(&p);
}

static void a_shared_queue_is_resized_with_what_is_in_it(void **state)
{
	struct pair_options o = {.has_srq = true};
	struct ibv_srq_attr attr = {.max_wr = 3};
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (uint64_t i = 0; i < 5; i++)
		pair_recv(&p.b, i, 0, 100);
	assert_int_equal(ibv_modify_srq(p.b.srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
	attr.max_wr = 100;
	assert_int_equal(ibv_modify_srq(p.b.srq, &attr, IBV_SRQ_MAX_WR), 0);
	for (uint64_t i = 5; i < 60; i++)
		pair_recv(&p.b, i, 0, 100);
	for (uint64_t i = 0; i < 60; i++) {
		pair_send(&p.a, &p.b, i, 10);
		pair_expect(p.a.send_cq, i, IBV_WC_SUCCESS);
		pair_expect(p.b.recv_cq, i, IBV_WC_SUCCESS);
	}
	pair_close(&p);
}

static void a_queue_pair_in_error_says_that_it_takes_no_more_from_its_shared_queue(void **state)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct pair_options o = {.has_srq = true};
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	pair_recv(&p.b, 1, 0, 100);
	assert_int_equal(ibv_modify_qp(p.b.qp, &err, IBV_QP_STATE), 0);
	assert_int_equal(pair_event(p.b.ctx), IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_true(pair_is_quiet(p.b.recv_cq, 20));
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_armed_queue_tells_of_the_next_completion_once),
		cmocka_unit_test(a_queue_armed_for_solicited_tells_of_nothing_else),
		cmocka_unit_test(a_queue_that_runs_over_says_so_once_and_ends_its_queue_pairs),
		cmocka_unit_test(resizing_keeps_what_is_in_the_queue),
		cmocka_unit_test(completions_stay_in_order_through_many_of_them),
		cmocka_unit_test(a_queue_is_read_field_by_field_or_classically),
		cmocka_unit_test(fields_that_no_completion_has_are_refused),
		cmocka_unit_test(the_limit_of_a_shared_queue_fires_once_and_is_armed_again),
		cmocka_unit_test(a_shared_queue_is_resized_with_what_is_in_it),
		cmocka_unit_test(
			a_queue_pair_in_error_says_that_it_takes_no_more_from_its_shared_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

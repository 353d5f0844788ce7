/* SPDX-License-Identifier: BSD-2-Clause */
/* Rare turns: limits refused by name, keys that go away in the middle, receives whose memory is
 * bad, windows at their least. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "roce/engine_world.h"
#include "roce/opcode.h"
#include "roce/wire.h"

static struct world w;
static struct world_node *const a = &w.node[0], *const b = &w.node[1];

static void post(struct world_pair *p, struct vf_roce_send_wr wr, uint32_t len)
{
	wr.flags |= VF_ROCE_SEND_SIGNALED;
	wr.rkey = WORLD_KEY;
	assert_int_equal(world_post(a, p->qp[0], &wr, 0, len), 0);
}

static void sum_up(struct world_pair *p)
{
	world_disconnect(p);
	world_close(&w);
}

static void attributes_out_of_range_are_refused(void **state)
{
	static const struct {
		struct vf_roce_qp_attr attr;
		unsigned mask;
	} bad[] = {
		{{.mtu_bytes = 128}, VF_ROCE_ATTR_MTU},
		{{.mtu_bytes = 1500}, VF_ROCE_ATTR_MTU},
		{{.mtu_bytes = 8192}, VF_ROCE_ATTR_MTU},
		{{.max_rd_atomic = 129}, VF_ROCE_ATTR_MAX_RD_ATOMIC},
		{{.max_dest_rd_atomic = 129}, VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC},
		{{.retry_cnt = 8}, VF_ROCE_ATTR_RETRY_CNT},
		{{.rnr_retry = 8}, VF_ROCE_ATTR_RNR_RETRY},
		{{.timeout = 32}, VF_ROCE_ATTR_TIMEOUT},
		{{.min_rnr_timer = 32}, VF_ROCE_ATTR_MIN_RNR_TIMER},
	};
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	struct vf_roce_qp_attr was, is;
	bool is_draining;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	vf_roce_qp_query(p.qp[0], &was, &is_draining);
	for (unsigned i = 0; i < VF_ARRAY_SIZE(bad); i++)
		assert_int_equal(vf_roce_qp_modify(p.qp[0], w.now, &bad[i].attr, bad[i].mask),
				 -EINVAL);
	vf_roce_qp_query(p.qp[0], &is, &is_draining);
	assert_memory_equal(&is, &was, sizeof(is));
	assert_int_equal(was.timeout, p.timeout);
	assert_int_equal(was.min_rnr_timer, p.min_rnr_timer);
	assert_int_equal(was.sq_psn, p.psn[0]);
	sum_up(&p);
}

static void objects_beyond_the_limits_are_refused(void **state)
{
	struct vf_roce_qp_config qp = {.type = VF_ROCE_UD, .counters = &a->counters}, bad;
	struct vf_roce_srq_config srq = {.max = 8, .sge_max = 33};
	struct vf_roce_config engine = {.max_qps = 65521, .counters = &a->counters};
	struct vf_roce_srq *s;
	struct vf_roce_qp *q, *q1;
	struct vf_roce *r;

	(void)state;
	world_open(&w);
	assert_int_equal(vf_roce_create(&engine, &r), -EINVAL);
	bad = qp;
	bad.send_sge_max = 33;
	assert_int_equal(vf_roce_qp_create(a->engine, &bad, &q), -EINVAL);
	bad = qp;
	bad.inline_max = 1025;
	assert_int_equal(vf_roce_qp_create(a->engine, &bad, &q), -EINVAL);
	bad = qp;
	bad.type = VF_ROCE_RC;
	bad.is_gsi = true;
	assert_int_equal(vf_roce_qp_create(a->engine, &bad, &q), -EINVAL);
	assert_int_equal(vf_roce_srq_create(a->engine, &srq, &s), -EINVAL);
	srq = (struct vf_roce_srq_config){.max = 8, .sge_max = 1, .limit = 9};
	assert_int_equal(vf_roce_srq_create(a->engine, &srq, &s), -EINVAL);
	/* Queue pair 1 is one, and found by its number. */
	qp.is_gsi = true;
	assert_int_equal(vf_roce_qp_create(a->engine, &qp, &q1), 0);
	assert_int_equal(vf_roce_qp_qpn(q1), 1);
	assert_ptr_equal(vf_roce_qp_find(a->engine, 1), q1);
	assert_int_equal(vf_roce_qp_create(a->engine, &qp, &q), -EINVAL);
	vf_roce_qp_destroy(q1);
	assert_null(vf_roce_qp_find(a->engine, 1));
	world_close(&w);
}

static void a_key_that_goes_away_in_the_middle_of_a_read_ends_it(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	static struct vf_roce_tx tx[4];
	struct vf_roce_rx rx = {.hop_limit = 64};

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(&p,
	     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_READ,
				      .remote_addr = world_addr(b, 0)},
	     1000);
	assert_int_equal(vf_roce_transmit(a->engine, w.now, tx, 4), 1);
	rx.data = tx[0].headers;
	rx.len = tx[0].header_len;
	memcpy(rx.sgid, a->gid, 16);
	memcpy(rx.dgid, b->gid, 16);
	vf_roce_receive(b->engine, w.now, &rx, 1);
	assert_int_equal(vf_roce_transmit(b->engine, w.now, tx, 2), 2);
	b->keys[0].is_valid = false;
	assert_int_equal(vf_roce_transmit(b->engine, w.now, tx, 4), 1);
	assert_int_equal(tx[0].headers[0], VF_OP_ACK);
	assert_int_equal(tx[0].headers[VF_BTH_LEN], VF_NAK_REMOTE_ACCESS);
	assert_int_equal(vf_bth_psn(tx[0].headers), 0);
	assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_ERR);
	assert_int_equal(world_events(b, VF_ROCE_EVENT_QP_ACCESS_ERR), 1);
	/* The reader got two responses and then this: it is the read that failed, wherever it
	 * stood. */
	rx.data = tx[0].headers;
	rx.len = tx[0].header_len;
	memcpy(rx.sgid, b->gid, 16);
	memcpy(rx.dgid, a->gid, 16);
	vf_roce_receive(a->engine, w.now, &rx, 1);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_REM_ACCESS_ERR);
	world_settle(&w);
	sum_up(&p);
}

static void a_receive_whose_memory_is_bad_ends_the_queue_pair(void **state)
{
	static const enum vf_roce_type types[] = {VF_ROCE_UC, VF_ROCE_UD};

	(void)state;
	for (unsigned i = 0; i < VF_ARRAY_SIZE(types); i++) {
		struct world_pair p = world_pair_of(types[i]);
		struct vf_roce_path path = {.hop_limit = 64};

		world_open(&w);
		world_connect(&w, &p);
		memcpy(path.sgid, a->gid, 16);
		memcpy(path.dgid, b->gid, 16);
		world_post_recv(b, p.qp[1], 1, 0, 600);
		world_post_recv(b, p.qp[1], 2, 0, 600);
		b->gone_at = 50;
		b->gone_len = 1;
		post(&p,
		     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_SEND,
					      .path = &path,
					      .remote_qpn = vf_roce_qp_qpn(p.qp[1]),
					      .remote_qkey = 0x11111111},
		     200);
		world_settle(&w);
		assert_int_equal(b->cqe_count, 2);
		assert_int_equal(b->cqe[0].status, VF_ROCE_WC_LOC_PROT_ERR);
		assert_int_equal(b->cqe[1].status, VF_ROCE_WC_WR_FLUSH_ERR);
		assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_ERR);
		assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
		sum_up(&p);
	}
}

static void a_window_at_its_least_still_moves_and_grows_again(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	unsigned least = 0;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	a->mark_ce = 3;
	for (unsigned i = 0; i < 8; i++) {
		post(&p,
		     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
					      .remote_addr = world_addr(b, 0)},
		     600);
		world_settle(&w);
		w.now += VF_MSEC;
	}
	a->mark_ce = 0;
	for (unsigned i = 0; i < 2; i++) {
		static struct vf_roce_tx tx[200];
		unsigned n;

		/* What goes out at once, while nothing is answered, is the window. */
		post(&p,
		     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
					      .remote_addr = world_addr(b, 0)},
		     60000);
		n = vf_roce_transmit(a->engine, w.now, tx, 200);
		if (i == 0)
			least = n;
		else
			assert_true(n > least);
		world_settle(&w);
		for (unsigned k = 0; k < 20; k++) {
			post(&p,
			     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
						      .remote_addr = world_addr(b, 0)},
			     60000);
			world_settle(&w);
		}
	}
	assert_int_equal(least, 4);
	for (unsigned i = 0; i < a->cqe_count; i++)
		assert_int_equal(a->cqe[i].status, VF_ROCE_WC_SUCCESS);
	sum_up(&p);
}

static void a_long_read_asks_for_no_more_than_the_receiver_bears(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	static struct vf_roce_tx tx[64];
	uint32_t asked = 0;
	unsigned n;

	(void)state;
	world_open_flow(&w, 16 * (2 * (256 + 20 + 4) + 1024));
	world_connect(&w, &p);
	post(&p,
	     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_READ,
				      .remote_addr = world_addr(b, 0)},
	     32000);
	n = vf_roce_transmit(a->engine, w.now, tx, 64);
	for (unsigned i = 0; i < n; i++)
		if (tx[i].headers[0] == VF_OP_READ_REQUEST)
			asked += vf_load_be32(tx[i].headers + VF_BTH_LEN + VF_RETH_DMA_LEN);
	assert_int_equal(asked, 16 * 256);
	world_run(&w, w.now + VF_SEC);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	world_disconnect(&p);
	for (int i = 0; i < 2; i++)
		vf_roce_destroy(w.node[i].engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_out_of_range_are_refused),
		cmocka_unit_test(objects_beyond_the_limits_are_refused),
		cmocka_unit_test(a_key_that_goes_away_in_the_middle_of_a_read_ends_it),
		cmocka_unit_test(a_receive_whose_memory_is_bad_ends_the_queue_pair),
		cmocka_unit_test(a_window_at_its_least_still_moves_and_grows_again),
		cmocka_unit_test(a_long_read_asks_for_no_more_than_the_receiver_bears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

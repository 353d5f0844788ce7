/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes out when: turns, runs of packets of one queue pair, acknowledgements that stand for
 * many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "roce/engine_world.h"
#include "roce/opcode.h"
#include "roce/psn.h"
#include "roce/wire.h"

static struct world w;
static struct world_node *const a = &w.node[0], *const b = &w.node[1];

#define MANY 256u
static struct vf_roce_tx tx[MANY];
static uint8_t bytes[MANY][VF_ROCE_HEADERS_MAX + VF_ROCE_MTU_MAX];

static void post(struct world_node *n, struct vf_roce_qp *qp, enum vf_roce_wr_opcode opcode,
		 uint32_t len)
{
	struct vf_roce_send_wr wr = {.opcode = opcode,
				     .flags = VF_ROCE_SEND_SIGNALED,
				     .remote_addr = world_addr(n == a ? b : a, 0),
				     .rkey = WORLD_KEY};

	assert_int_equal(world_post(n, qp, &wr, 0, len), 0);
}

/* Gives @count packets of tx to the other side in one call. */
static void hand_over(struct world_node *to, unsigned count)
{
	static struct vf_roce_rx rx[MANY];

	for (unsigned i = 0; i < count; i++) {
		uint32_t len = tx[i].header_len;

		memcpy(bytes[i], tx[i].headers, len);
		for (unsigned k = 0; k < tx[i].iov_count; k++) {
			memcpy(bytes[i] + len, tx[i].iov[k].iov_base, tx[i].iov[k].iov_len);
			len += (uint32_t)tx[i].iov[k].iov_len;
		}
		rx[i] = (struct vf_roce_rx){
			.data = bytes[i], .len = len + tx[i].pad_len, .hop_limit = 64};
		memcpy(rx[i].sgid, tx[i].path->sgid, 16);
		memcpy(rx[i].dgid, tx[i].path->dgid, 16);
	}
	vf_roce_receive(to->engine, w.now, rx, count);
}

static void queue_pairs_take_turns_and_each_turn_is_a_run(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC), q = p;
	unsigned n, turns = 1;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_connect(&w, &q);
	post(a, p.qp[0], VF_ROCE_WR_RDMA_WRITE, 25600);
	post(a, q.qp[0], VF_ROCE_WR_RDMA_WRITE, 25600);
	n = vf_roce_transmit(a->engine, w.now, tx, 128);
	assert_int_equal(n, 128);
	for (unsigned i = 1; i < n; i++) {
		turns += tx[i].qp_host != tx[i - 1].qp_host;
		if (tx[i].qp_host == tx[i - 1].qp_host && tx[i - 1].headers[0] != VF_OP_WRITE_FIRST)
			assert_int_equal(tx[i].header_len + tx[i].payload_len,
					 tx[i - 1].header_len + tx[i - 1].payload_len);
	}
	assert_int_equal(turns, 4);
	world_settle(&w);
	world_disconnect(&p);
	world_disconnect(&q);
	world_close(&w);
}

static void one_acknowledgement_stands_for_all_of_a_batch(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	unsigned n;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	for (unsigned i = 0; i < 10; i++)
		post(a, p.qp[0], VF_ROCE_WR_RDMA_WRITE, 8);
	n = vf_roce_transmit(a->engine, w.now, tx, MANY);
	assert_int_equal(n, 10);
	for (unsigned i = 0; i < n; i++)
		assert_true(vf_bth_is_ack_req(tx[i].headers));
	hand_over(b, n);
	assert_int_equal(vf_roce_transmit(b->engine, w.now, tx, MANY), 1);
	assert_int_equal(vf_bth_psn(tx[0].headers), vf_psn_add(p.psn[0], 9));
	/* AETH: ten messages done */
	assert_int_equal(vf_load_be24(tx[0].headers + VF_BTH_LEN + VF_AETH_MSN), 10);
	hand_over(a, 1);
	assert_int_equal(a->cqe_count, 10);
	world_settle(&w);
	world_disconnect(&p);
	world_close(&w);
}

static void acknowledgements_and_responses_go_in_the_order_of_their_numbers(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	unsigned n;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(a, p.qp[0], VF_ROCE_WR_RDMA_WRITE, 8);
	post(a, p.qp[0], VF_ROCE_WR_RDMA_READ, 600);
	post(a, p.qp[0], VF_ROCE_WR_RDMA_WRITE, 8);
	n = vf_roce_transmit(a->engine, w.now, tx, MANY);
	hand_over(b, n);
	n = vf_roce_transmit(b->engine, w.now, tx, MANY);
	assert_int_equal(n, 4);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(vf_bth_psn(tx[i].headers), vf_psn_add(p.psn[0], 1 + i));
	assert_int_equal(tx[3].headers[0], VF_OP_ACK);
	assert_true(tx[0].is_volatile && !tx[3].is_volatile);
	hand_over(a, n);
	assert_int_equal(a->cqe_count, 3);
	world_settle(&w);
	world_disconnect(&p);
	world_close(&w);
}

static void an_acknowledgement_goes_before_the_requests_of_others(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC), q = p;
	unsigned n;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_connect(&w, &q);
	post(b, q.qp[1], VF_ROCE_WR_RDMA_WRITE, 20000);
	post(a, p.qp[0], VF_ROCE_WR_RDMA_WRITE, 8);
	n = vf_roce_transmit(a->engine, w.now, tx, MANY);
	hand_over(b, n);
	assert_true(vf_roce_transmit(b->engine, w.now, tx, 8) == 8);
	assert_int_equal(tx[0].headers[0], VF_OP_ACK);
	world_settle(&w);
	world_disconnect(&p);
	world_disconnect(&q);
	world_close(&w);
}

static void a_queue_pair_that_answers_a_long_read_still_sends_its_own(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	unsigned n, own = 0;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(a, p.qp[0], VF_ROCE_WR_RDMA_READ, 32000);
	n = vf_roce_transmit(a->engine, w.now, tx, MANY);
	hand_over(b, n);
	post(b, p.qp[1], VF_ROCE_WR_RDMA_WRITE, 32000);
	n = vf_roce_transmit(b->engine, w.now, tx, 64);
	assert_int_equal(n, 64);
	for (unsigned i = 0; i < n; i++)
		own += vf_opcode_info(tx[i].headers[0])->flags & VF_OPF_WRITE ? 1 : 0;
	assert_int_equal(own, 32);
	hand_over(a, n);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(b->cqe_count, 1);
	world_disconnect(&p);
	world_close(&w);
}

static void what_is_in_flight_stays_within_the_window_and_half_of_it_asks(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	unsigned n, asked = 0;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(a, p.qp[0], VF_ROCE_WR_RDMA_WRITE, 60000);
	n = vf_roce_transmit(a->engine, w.now, tx, MANY);
	assert_int_equal(n, 128);
	for (unsigned i = 0; i < n; i++)
		asked += vf_bth_is_ack_req(tx[i].headers);
	assert_int_equal(asked, 2);
	assert_true(vf_bth_is_ack_req(tx[63].headers));
	hand_over(b, 64);
	assert_int_equal(vf_roce_transmit(b->engine, w.now, tx, MANY), 1);
	hand_over(a, 1);
	assert_int_equal(vf_roce_transmit(a->engine, w.now, tx, MANY), 64);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	world_disconnect(&p);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_pairs_take_turns_and_each_turn_is_a_run),
		cmocka_unit_test(one_acknowledgement_stands_for_all_of_a_batch),
		cmocka_unit_test(acknowledgements_and_responses_go_in_the_order_of_their_numbers),
		cmocka_unit_test(an_acknowledgement_goes_before_the_requests_of_others),
		cmocka_unit_test(a_queue_pair_that_answers_a_long_read_still_sends_its_own),
		cmocka_unit_test(what_is_in_flight_stays_within_the_window_and_half_of_it_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

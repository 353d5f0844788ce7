/* SPDX-License-Identifier: BSD-2-Clause */
/* RC on a bad network: every pattern of losses of the first packets, duplication, time-outs, RNR,
 * and NAKs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rand.h"
#include "roce/engine_world.h"
#include "roce/opcode.h"
#include "roce/psn.h"
#include "roce/wire.h"

static struct world w;
static struct world_node *const a = &w.node[0], *const b = &w.node[1];

#define AWAY 32768u
#define MIX  7u

static void rewind_logs(void)
{
	for (int i = 0; i < 2; i++) {
		w.node[i].cqe_count = w.node[i].event_count = w.node[i].sent = 0;
		w.node[i].lose = 0;
		memset(&w.node[i].counters, 0, sizeof(w.node[i].counters));
	}
}

static void post(struct world_pair *p, struct vf_roce_send_wr wr, uint32_t offset, uint32_t len)
{
	wr.flags |= VF_ROCE_SEND_SIGNALED;
	wr.rkey = WORLD_KEY;
	assert_int_equal(world_post(a, p->qp[0], &wr, offset, len), 0);
}

/* A bit of everything, in flight together: 3 + 3 + 2 + 1 + 1 + 1 + 2 packets of requests and
 * responses. */
static void post_mix(struct world_pair *p)
{
	uint64_t counter = 100;

	memset(b->mem, 0, WORLD_MEM);
	memset(a->mem, 0, WORLD_MEM);
	world_fill(a, 0, 700, 1);
	world_fill(b, AWAY, 600, 2);
	world_fill(a, 2048, 400, 3);
	world_fill(a, 3072, 100, 4);
	memcpy(b->mem + AWAY + 4096, &counter, 8);
	world_post_recv(b, p->qp[1], 100, 0, 700);
	world_post_recv(b, p->qp[1], 101, 4096, 256);
	world_post_recv(b, p->qp[1], 102, 8192, 256);
	post(p, (struct vf_roce_send_wr){.wr_id = 0, .opcode = VF_ROCE_WR_SEND}, 0, 700);
	post(p,
	     (struct vf_roce_send_wr){.wr_id = 1,
				      .opcode = VF_ROCE_WR_RDMA_READ,
				      .remote_addr = world_addr(b, AWAY)},
	     1024, 600);
	post(p,
	     (struct vf_roce_send_wr){.wr_id = 2,
				      .opcode = VF_ROCE_WR_RDMA_WRITE,
				      .remote_addr = world_addr(b, AWAY + 8192)},
	     2048, 400);
	post(p,
	     (struct vf_roce_send_wr){.wr_id = 3,
				      .opcode = VF_ROCE_WR_ATOMIC_FETCH_AND_ADD,
				      .remote_addr = world_addr(b, AWAY + 4096),
				      .compare_add = 5},
	     5000, 8);
	post(p,
	     (struct vf_roce_send_wr){.wr_id = 4,
				      .opcode = VF_ROCE_WR_ATOMIC_CMP_AND_SWP,
				      .remote_addr = world_addr(b, AWAY + 4096),
				      .compare_add = 105,
				      .swap = 1000},
	     5008, 8);
	post(p,
	     (struct vf_roce_send_wr){
		     .wr_id = 5, .opcode = VF_ROCE_WR_SEND_WITH_IMM, .imm_or_rkey = 9},
	     3072, 100);
	post(p,
	     (struct vf_roce_send_wr){.wr_id = 6,
				      .opcode = VF_ROCE_WR_RDMA_WRITE_WITH_IMM,
				      .remote_addr = world_addr(b, AWAY + 12000)},
	     0, 300);
}

static void check_mix(void)
{
	uint64_t v;

	assert_int_equal(a->cqe_count, MIX);
	for (unsigned i = 0; i < MIX; i++) {
		assert_int_equal(a->cqe[i].status, VF_ROCE_WC_SUCCESS);
		assert_true(a->cqe[i].wr_id == i);
	}
	assert_int_equal(b->cqe_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(b->cqe[i].status, VF_ROCE_WC_SUCCESS);
		assert_true(b->cqe[i].wr_id == 100 + i);
	}
	assert_true(world_is_filled(b, 0, 700, 1));
	assert_true(world_is_filled(a, 1024, 600, 2));
	assert_true(world_is_filled(b, AWAY + 8192, 400, 3));
	assert_true(world_is_filled(b, 4096, 100, 4));
	assert_true(world_is_filled(b, AWAY + 12000, 300, 1));
	memcpy(&v, a->mem + 5000, 8);
	assert_true(v == 100);
	memcpy(&v, a->mem + 5008, 8);
	assert_true(v == 105);
	memcpy(&v, b->mem + AWAY + 4096, 8);
	assert_true(v == 1000);
}

static void run_mix(uint64_t lose_a, uint64_t lose_b)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	rewind_logs();
	world_connect(&w, &p);
	post_mix(&p);
	a->lose = lose_a;
	b->lose = lose_b;
	world_settle(&w);
	check_mix();
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_RTS);
	assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_RTS);
	world_disconnect(&p);
}

static void a_mix_of_everything_sends_each_packet_once_when_nothing_is_lost(void **state)
{
	(void)state;
	world_open(&w);
	run_mix(0, 0);
	assert_int_equal(a->sent, 3 + 1 + 2 + 1 + 1 + 1 + 2);
	assert_int_equal(world_count(a, VF_CNT_RETRANSMITTED_PKTS), 0);
	world_close(&w);
}

static void every_loss_of_the_first_twelve_requests_is_repaired(void **state)
{
	(void)state;
	world_open(&w);
	for (uint64_t mask = 0; mask < 1u << 12; mask++)
		run_mix(mask, 0);
	world_close(&w);
}

static void every_loss_of_the_first_ten_answers_is_repaired(void **state)
{
	(void)state;
	world_open(&w);
	for (uint64_t mask = 0; mask < 1u << 10; mask++)
		run_mix(0, mask);
	world_close(&w);
}

static void random_losses_in_both_directions_are_repaired(void **state)
{
	struct vf_rand r;

	(void)state;
	vf_rand_seed(&r, 1);
	world_open(&w);
	for (int i = 0; i < 4000; i++) {
		uint64_t x = vf_rand_next(&r) & vf_rand_next(&r),
			 y = vf_rand_next(&r) & vf_rand_next(&r);

		run_mix(x & vf_rand_next(&r), y & vf_rand_next(&r));
	}
	world_close(&w);
}

static void losses_are_repaired_under_flow_control_too(void **state)
{
	struct vf_rand r;

	(void)state;
	vf_rand_seed(&r, 2);
	world_open_flow(&w, 20000);
	for (int i = 0; i < 1000; i++)
		run_mix(vf_rand_next(&r) & vf_rand_next(&r) & vf_rand_next(&r),
			vf_rand_next(&r) & vf_rand_next(&r) & vf_rand_next(&r));
	for (int i = 0; i < 2; i++)
		vf_roce_destroy(w.node[i].engine);
}

/* Longer than a window, reads in several parts, with as many in flight as @rd_atomic. */
static void run_long(struct vf_rand *r, uint8_t rd_atomic)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	uint64_t counter = 7, v;

	rewind_logs();
	p.rd_atomic = p.dest_rd_atomic = rd_atomic;
	world_connect(&w, &p);
	memset(a->mem, 0, WORLD_MEM);
	memset(b->mem, 0, WORLD_MEM);
	world_fill(b, AWAY, 25000, 1);
	world_fill(a, 0, 25000, 2);
	memcpy(b->mem + 64000, &counter, 8);
	for (unsigned i = 0; i < 2; i++) {
		post(&p,
		     (struct vf_roce_send_wr){.wr_id = 3 * i,
					      .opcode = VF_ROCE_WR_RDMA_READ,
					      .remote_addr = world_addr(b, AWAY)},
		     AWAY, 25000);
		post(&p,
		     (struct vf_roce_send_wr){.wr_id = 3 * i + 1,
					      .opcode = VF_ROCE_WR_RDMA_WRITE,
					      .remote_addr = world_addr(b, 0)},
		     0, 25000);
		post(&p,
		     (struct vf_roce_send_wr){.wr_id = 3 * i + 2,
					      .opcode = VF_ROCE_WR_ATOMIC_FETCH_AND_ADD,
					      .remote_addr = world_addr(b, 64000),
					      .compare_add = 1},
		     64000 + 8 * i, 8);
	}
	a->lose = vf_rand_next(r) & vf_rand_next(r) & vf_rand_next(r);
	b->lose = vf_rand_next(r) & vf_rand_next(r) & vf_rand_next(r);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(a->cqe[i].status, VF_ROCE_WC_SUCCESS);
		assert_true(a->cqe[i].wr_id == i);
	}
	assert_true(world_is_filled(a, AWAY, 25000, 1));
	assert_true(world_is_filled(b, 0, 25000, 2));
	for (unsigned i = 0; i < 2; i++) {
		memcpy(&v, a->mem + 64000 + 8 * i, 8);
		assert_true(v == 7 + i);
	}
	world_disconnect(&p);
}

static void losses_in_messages_longer_than_the_window_are_repaired(void **state)
{
	static const uint8_t in_flight[] = {1, 2, 3, 16, 128};
	struct vf_rand r;

	(void)state;
	vf_rand_seed(&r, 4);
	world_open(&w);
	for (unsigned twice = 0; twice < 2; twice++) {
		w.is_twice = twice;
		for (unsigned i = 0; i < 300; i++)
			run_long(&r, in_flight[i % VF_ARRAY_SIZE(in_flight)]);
	}
	world_close(&w);
}

static void packets_that_arrive_twice_are_done_once(void **state)
{
	(void)state;
	world_open(&w);
	w.is_twice = true;
	for (uint64_t mask = 0; mask < 1u << 8; mask++)
		run_mix(mask, mask * 37);
	world_close(&w);
}

static void a_time_out_resends_after_its_code_and_ends_after_its_retries(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	vf_nsec begin;

	(void)state;
	world_open(&w);
	p.timeout = 8; /* 1.048576 ms */
	p.retry_cnt = 3;
	world_connect(&w, &p);
	w.is_cut = true;
	begin = w.now;
	post(&p, (struct vf_roce_send_wr){.wr_id = 1, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	post(&p, (struct vf_roce_send_wr){.wr_id = 2, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_settle(&w);
	/* four transmissions, a time-out after each */
	assert_int_equal(a->sent, 8);
	for (unsigned i = 0; i < 4; i++)
		assert_true(a->sent_at[2 * i] - begin == i * (4096u << 8));
	assert_true(w.now - begin == 4 * (4096u << 8));
	assert_int_equal(a->cqe_count, 2);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_RETRY_EXC_ERR);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_ERR);
	assert_int_equal(world_count(a, VF_CNT_LOCAL_ACK_TIMEOUT_ERR), 4);
	assert_int_equal(world_count(a, VF_CNT_RETRY_EXCEEDED_ERR), 1);
	world_disconnect(&p);
	world_close(&w);
}

static void progress_gives_the_retries_back(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	p.retry_cnt = 1;
	world_connect(&w, &p);
	for (unsigned i = 0; i < 10; i++) {
		world_post_recv(b, p.qp[1], i, 0, 64);
		post(&p, (struct vf_roce_send_wr){.wr_id = i, .opcode = VF_ROCE_WR_SEND}, 0, 64);
		a->lose = 1;
		world_settle(&w);
		assert_int_equal(a->cqe_count, i + 1);
		assert_int_equal(a->cqe[i].status, VF_ROCE_WC_SUCCESS);
	}
	world_disconnect(&p);
	world_close(&w);
}

static void rnr_waits_exactly_as_long_as_the_nak_says(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	vf_nsec begin;

	(void)state;
	world_open(&w);
	p.min_rnr_timer = 12; /* 0.64 ms */
	p.rnr_retry = 3;
	world_connect(&w, &p);
	begin = w.now;
	post(&p, (struct vf_roce_send_wr){.wr_id = 1, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_run(&w, begin + 700 * VF_USEC);
	assert_int_equal(a->sent, 2);
	assert_true(a->sent_at[1] - begin == 640 * VF_USEC);
	world_post_recv(b, p.qp[1], 9, 0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	assert_int_equal(a->sent, 3);
	assert_int_equal(world_count(b, VF_CNT_RNR_NAK_SENT), 2);
	assert_int_equal(world_count(a, VF_CNT_RNR_NAK_RCVD), 2);
	world_disconnect(&p);
	world_close(&w);
}

static void check_rnr_retries(uint8_t retries, unsigned transmissions)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	world_open(&w);
	p.rnr_retry = retries;
	world_connect(&w, &p);
	post(&p, (struct vf_roce_send_wr){.wr_id = 1, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	post(&p, (struct vf_roce_send_wr){.wr_id = 2, .opcode = VF_ROCE_WR_RDMA_WRITE}, 0, 0);
	world_settle(&w);
	assert_int_equal(a->sent, 2 * transmissions);
	assert_int_equal(a->cqe_count, 2);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_RNR_RETRY_EXC_ERR);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_ERR);
	/* The responder keeps silent about what follows an RNR NAK. */
	assert_int_equal(b->sent, transmissions);
	world_disconnect(&p);
	world_close(&w);
}

static void rnr_retry_0_ends_at_once_and_3_after_three_more(void **state)
{
	(void)state;
	check_rnr_retries(0, 1);
	check_rnr_retries(3, 4);
}

static void rnr_retry_7_goes_on_until_a_receive_is_posted(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(&p, (struct vf_roce_send_wr){.wr_id = 1, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_run(&w, w.now + 10 * VF_MSEC);
	assert_true(a->sent > 100);
	assert_int_equal(a->cqe_count, 0);
	world_post_recv(b, p.qp[1], 9, 0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	world_disconnect(&p);
	world_close(&w);
}

static void rnr_retries_are_counted_for_each_message_apart(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	p.rnr_retry = 1;
	world_connect(&w, &p);
	post(&p, (struct vf_roce_send_wr){.wr_id = 1, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	post(&p, (struct vf_roce_send_wr){.wr_id = 2, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_run(&w, w.now);
	world_post_recv(b, p.qp[1], 1, 0, 10);
	world_run(&w, w.now + 10 * VF_USEC);
	/* the first is done; the second met its own RNR */
	assert_int_equal(b->cqe_count, 1);
	world_post_recv(b, p.qp[1], 2, 0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 2);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_SUCCESS);
	world_disconnect(&p);
	world_close(&w);
}

static unsigned count_sent(const struct world_node *n, uint8_t opcode)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n->sent; i++)
		count += n->sent_opcode[i] == opcode;
	return count;
}

static void a_lost_read_response_is_asked_for_from_where_it_is_missing(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_fill(b, AWAY, 2048, 3);
	b->lose = 1u << 3;
	post(&p,
	     (struct vf_roce_send_wr){.wr_id = 1,
				      .opcode = VF_ROCE_WR_RDMA_READ,
				      .remote_addr = world_addr(b, AWAY)},
	     0, 2048);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	assert_true(world_is_filled(a, 0, 2048, 3));
	assert_int_equal(count_sent(a, VF_OP_READ_REQUEST), 2);
	assert_int_equal(a->sent_psn[1], vf_psn_add(p.psn[0], 3));
	assert_int_equal(b->sent, 8 + 5);
	assert_int_equal(world_count(a, VF_CNT_IMPLIED_NAK_SEQ_ERR), 1);
	assert_int_equal(world_count(a, VF_CNT_LOCAL_ACK_TIMEOUT_ERR), 0);
	world_disconnect(&p);
	world_close(&w);
}

static void a_gap_gets_one_nak_and_then_silence(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_fill(a, 0, 2560, 5);
	a->lose = 1u << 2;
	post(&p,
	     (struct vf_roce_send_wr){.wr_id = 1,
				      .opcode = VF_ROCE_WR_RDMA_WRITE,
				      .remote_addr = world_addr(b, AWAY)},
	     0, 2560);
	world_settle(&w);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	assert_true(world_is_filled(b, AWAY, 2560, 5));
	assert_int_equal(b->sent, 2);
	assert_int_equal(b->sent_syndrome[0], VF_NAK_SEQUENCE);
	assert_int_equal(b->sent_psn[0], vf_psn_add(p.psn[0], 2));
	assert_int_equal(a->sent, 10 + 8);
	assert_int_equal(world_count(a, VF_CNT_PACKET_SEQ_ERR), 1);
	assert_int_equal(world_dropped(b, VF_DROP_AFTER_NAK), 6);
	world_disconnect(&p);
	world_close(&w);
}

/* What the peer's NAK makes of a request, and what both queue pairs end as. */
static void check_nak(struct vf_roce_send_wr wr, uint32_t len, enum vf_roce_wc_status status,
		      int event)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	world_open(&w);
	world_connect(&w, &p);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 1, .opcode = VF_ROCE_WR_RDMA_WRITE, .remote_addr = world_addr(b, 0)},
	     0, 100);
	wr.wr_id = 2;
	wr.flags = VF_ROCE_SEND_SIGNALED;
	assert_int_equal(world_post(a, p.qp[0], &wr, 0, len), 0);
	post(&p, (struct vf_roce_send_wr){.wr_id = 3, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 3);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	assert_int_equal(a->cqe[1].status, status);
	assert_int_equal(a->cqe[2].status, VF_ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_ERR);
	assert_int_equal(b->event_count, event >= 0);
	if (event >= 0)
		assert_int_equal(b->event[0].event, event);
	world_disconnect(&p);
	world_close(&w);
}

static void what_the_peer_refuses_ends_with_its_reason(void **state)
{
	const uint64_t end = world_addr(b, WORLD_MEM);

	(void)state;
	/* no such key */
	check_nak((struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
					   .remote_addr = end - 4096,
					   .rkey = 99},
		  1000, VF_ROCE_WC_REM_ACCESS_ERR, VF_ROCE_EVENT_QP_ACCESS_ERR);
	/* beyond the region: before anything of it is written */
	check_nak((struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
					   .remote_addr = end - 999,
					   .rkey = WORLD_KEY},
		  1000, VF_ROCE_WC_REM_ACCESS_ERR, VF_ROCE_EVENT_QP_ACCESS_ERR);
	check_nak((struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_READ,
					   .remote_addr = end - 999,
					   .rkey = WORLD_KEY},
		  1000, VF_ROCE_WC_REM_ACCESS_ERR, VF_ROCE_EVENT_QP_ACCESS_ERR);
	check_nak((struct vf_roce_send_wr){.opcode = VF_ROCE_WR_ATOMIC_FETCH_AND_ADD,
					   .remote_addr = world_addr(b, 0x108),
					   .rkey = 98},
		  8, VF_ROCE_WC_REM_ACCESS_ERR, VF_ROCE_EVENT_QP_ACCESS_ERR);
	/* an atomic that is not aligned */
	check_nak((struct vf_roce_send_wr){.opcode = VF_ROCE_WR_ATOMIC_FETCH_AND_ADD,
					   .remote_addr = world_addr(b, 0x104),
					   .rkey = WORLD_KEY},
		  8, VF_ROCE_WC_REM_INV_REQ_ERR, VF_ROCE_EVENT_QP_REQ_ERR);
}

static void a_send_longer_than_the_receive_ends_both_sides(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_post_recv(b, p.qp[1], 7, 0, 600);
	world_post_recv(b, p.qp[1], 8, 0, 600);
	post(&p, (struct vf_roce_send_wr){.wr_id = 1, .opcode = VF_ROCE_WR_SEND}, 0, 601);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_REM_INV_REQ_ERR);
	assert_int_equal(b->cqe_count, 2);
	assert_int_equal(b->cqe[0].status, VF_ROCE_WC_LOC_LEN_ERR);
	assert_true(b->cqe[0].wr_id == 7);
	assert_int_equal(b->cqe[1].status, VF_ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_ERR);
	world_disconnect(&p);
	world_close(&w);
}

static void check_gone(enum vf_roce_wr_opcode opcode, struct world_node *where,
		       enum vf_roce_wc_status status)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	world_open(&w);
	world_connect(&w, &p);
	world_post_recv(b, p.qp[1], 7, AWAY, 4096);
	w.node[where->index].gone_at = where == a ? 600 : AWAY + 600;
	w.node[where->index].gone_len = 10;
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 1, .opcode = opcode, .remote_addr = world_addr(b, AWAY)},
	     0, 1000);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, status);
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_ERR);
	if (where == b) {
		assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_ERR);
		assert_int_equal(b->cqe_count, 1);
		assert_int_equal(b->cqe[0].status, opcode == VF_ROCE_WR_SEND
							   ? VF_ROCE_WC_LOC_PROT_ERR
							   : VF_ROCE_WC_WR_FLUSH_ERR);
		assert_int_equal(world_events(b, VF_ROCE_EVENT_QP_ACCESS_ERR),
				 opcode != VF_ROCE_WR_SEND);
	}
	world_disconnect(&p);
	world_close(&w);
}

static void memory_that_went_away_ends_the_operation_on_both_sides(void **state)
{
	(void)state;
	check_gone(VF_ROCE_WR_SEND, a, VF_ROCE_WC_LOC_PROT_ERR);
	check_gone(VF_ROCE_WR_RDMA_WRITE, a, VF_ROCE_WC_LOC_PROT_ERR);
	check_gone(VF_ROCE_WR_RDMA_READ, a, VF_ROCE_WC_LOC_PROT_ERR);
	check_gone(VF_ROCE_WR_SEND, b, VF_ROCE_WC_REM_OP_ERR);
	check_gone(VF_ROCE_WR_RDMA_WRITE, b, VF_ROCE_WC_REM_OP_ERR);
	check_gone(VF_ROCE_WR_RDMA_READ, b, VF_ROCE_WC_REM_OP_ERR);
}

static void marked_packets_make_the_sender_slow_down(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	a->mark_ce = 3;
	for (unsigned i = 0; i < 3; i++) {
		post(&p,
		     (struct vf_roce_send_wr){.wr_id = 1,
					      .opcode = VF_ROCE_WR_RDMA_WRITE,
					      .remote_addr = world_addr(b, 0)},
		     0, 30000);
		world_settle(&w);
		w.now += VF_MSEC;
	}
	assert_int_equal(world_count(b, VF_CNT_NP_CNP_SENT), 3);
	assert_int_equal(world_count(a, VF_CNT_RP_CNP_HANDLED), 3);
	assert_int_equal(a->cqe_count, 3);
	assert_int_equal(count_sent(b, VF_OP_CNP), 3);
	world_disconnect(&p);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mix_of_everything_sends_each_packet_once_when_nothing_is_lost),
		cmocka_unit_test(every_loss_of_the_first_twelve_requests_is_repaired),
		cmocka_unit_test(every_loss_of_the_first_ten_answers_is_repaired),
		cmocka_unit_test(random_losses_in_both_directions_are_repaired),
		cmocka_unit_test(losses_are_repaired_under_flow_control_too),
		cmocka_unit_test(losses_in_messages_longer_than_the_window_are_repaired),
		cmocka_unit_test(packets_that_arrive_twice_are_done_once),
		cmocka_unit_test(a_time_out_resends_after_its_code_and_ends_after_its_retries),
		cmocka_unit_test(progress_gives_the_retries_back),
		cmocka_unit_test(rnr_waits_exactly_as_long_as_the_nak_says),
		cmocka_unit_test(rnr_retry_0_ends_at_once_and_3_after_three_more),
		cmocka_unit_test(rnr_retry_7_goes_on_until_a_receive_is_posted),
		cmocka_unit_test(rnr_retries_are_counted_for_each_message_apart),
		cmocka_unit_test(a_lost_read_response_is_asked_for_from_where_it_is_missing),
		cmocka_unit_test(a_gap_gets_one_nak_and_then_silence),
		cmocka_unit_test(what_the_peer_refuses_ends_with_its_reason),
		cmocka_unit_test(a_send_longer_than_the_receive_ends_both_sides),
		cmocka_unit_test(memory_that_went_away_ends_the_operation_on_both_sides),
		cmocka_unit_test(marked_packets_make_the_sender_slow_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

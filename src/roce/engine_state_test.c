/* SPDX-License-Identifier: BSD-2-Clause */
/* States, flushing, draining, fences, local operations, shared receive queues, and what one side
 * does to itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "roce/engine_world.h"
#include "roce/opcode.h"
#include "roce/psn.h"

static struct world w;
static struct world_node *const a = &w.node[0], *const b = &w.node[1];

#define AWAY 32768u

static void post(struct world_pair *p, struct vf_roce_send_wr wr, uint32_t offset, uint32_t len)
{
	wr.flags |= VF_ROCE_SEND_SIGNALED;
	wr.rkey = WORLD_KEY;
	assert_int_equal(world_post(a, p->qp[0], &wr, offset, len), 0);
}

static void set_state(struct vf_roce_qp *qp, enum vf_roce_state state)
{
	struct vf_roce_qp_attr attr = {.state = state};

	assert_int_equal(vf_roce_qp_modify(qp, w.now, &attr, VF_ROCE_ATTR_STATE), 0);
}

static void sum_up(struct world_pair *p)
{
	world_disconnect(p);
	world_close(&w);
}

static void error_flushes_sends_then_receives_in_order_and_what_is_posted_later(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_post_recv(a, p.qp[0], 10, 0, 10);
	world_post_recv(a, p.qp[0], 11, 0, 10);
	post(&p, (struct vf_roce_send_wr){.wr_id = 0, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 1, .opcode = VF_ROCE_WR_RDMA_READ, .remote_addr = world_addr(b, 0)},
	     0, 10);
	set_state(p.qp[0], VF_ROCE_ERR);
	assert_int_equal(a->cqe_count, 4);
	post(&p, (struct vf_roce_send_wr){.wr_id = 2, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_post_recv(a, p.qp[0], 12, 0, 10);
	assert_int_equal(a->cqe_count, 6);
	for (unsigned i = 0; i < 6; i++) {
		static const uint64_t ids[] = {0, 1, 10, 11, 2, 12};

		assert_int_equal(a->cqe[i].status, VF_ROCE_WC_WR_FLUSH_ERR);
		assert_true(a->cqe[i].wr_id == ids[i]);
		assert_true(a->cqe[i].solicited);
	}
	/* To RESET and back to work, with nothing left of before. */
	world_settle(&w);
	for (int i = 0; i < 2; i++) {
		set_state(p.qp[i], VF_ROCE_RESET);
		world_to_init(&w, &p, i);
	}
	for (int i = 0; i < 2; i++) {
		world_to_rtr(&w, &p, i);
		world_to_rts(&w, &p, i);
	}
	a->cqe_count = 0;
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 5, .opcode = VF_ROCE_WR_RDMA_WRITE, .remote_addr = world_addr(b, 0)},
	     0, 1000);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	sum_up(&p);
}

static void reset_forgets_quietly(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_post_recv(a, p.qp[0], 10, 0, 10);
	post(&p, (struct vf_roce_send_wr){.wr_id = 0, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_run(&w, w.now);
	set_state(p.qp[0], VF_ROCE_RESET);
	world_run(&w, w.now + VF_SEC);
	assert_int_equal(a->cqe_count, 0);
	assert_int_equal(a->event_count, 0);
	set_state(p.qp[1], VF_ROCE_RESET);
	sum_up(&p);
}

static void posting_is_refused_where_the_state_or_the_request_is_wrong(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	struct vf_roce_send_wr wr = {.opcode = VF_ROCE_WR_SEND};
	struct vf_roce_recv_wr recv = {.wr_id = 1};
	struct vf_roce_sge sge[5] = {{0}};

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	set_state(p.qp[0], VF_ROCE_RESET);
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	assert_int_equal(vf_roce_post_recv(p.qp[0], &recv), -EINVAL);
	world_to_init(&w, &p, 0);
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	assert_int_equal(vf_roce_post_recv(p.qp[0], &recv), 0);
	world_to_rtr(&w, &p, 0);
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	world_to_rts(&w, &p, 0);
	wr.sge = sge;
	wr.sge_count = 5;
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	wr.sge_count = 1;
	sge[0].length = 1025;
	wr.flags = VF_ROCE_SEND_INLINE;
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	wr.flags = 0;
	sge[0].length = 0x80000001u;
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	sge[0].length = 7;
	wr.opcode = VF_ROCE_WR_ATOMIC_FETCH_AND_ADD;
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	wr.opcode = (enum vf_roce_wr_opcode)99;
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -EINVAL);
	wr.opcode = VF_ROCE_WR_SEND;
	wr.sge_count = 0;
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(vf_roce_post_send(p.qp[0], &wr), 0);
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), -ENOMEM);
	set_state(p.qp[0], VF_ROCE_RESET);
	sum_up(&p);
}

static void draining_finishes_what_was_started_and_says_so_once(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	struct vf_roce_qp_attr attr;
	bool is_draining;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 0, .opcode = VF_ROCE_WR_RDMA_WRITE, .remote_addr = world_addr(b, 0)},
	     0, 10);
	a->lose = 1;
	world_run(&w, w.now);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 1, .opcode = VF_ROCE_WR_RDMA_WRITE, .remote_addr = world_addr(b, 0)},
	     0, 10);
	set_state(p.qp[0], VF_ROCE_SQD);
	vf_roce_qp_query(p.qp[0], &attr, &is_draining);
	assert_true(is_draining);
	assert_int_equal(a->event_count, 0);
	world_settle(&w);
	/* The first was sent again after its time-out; the second was never started. */
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->event_count, 1);
	assert_int_equal(a->event[0].event, VF_ROCE_EVENT_SQ_DRAINED);
	vf_roce_qp_query(p.qp[0], &attr, &is_draining);
	assert_false(is_draining);
	assert_int_equal(attr.sq_psn, vf_psn_add(p.psn[0], 1));
	set_state(p.qp[0], VF_ROCE_RTS);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 2);
	assert_int_equal(a->event_count, 1);
	/* With nothing in flight it is drained at once. */
	set_state(p.qp[0], VF_ROCE_SQD);
	assert_int_equal(a->event_count, 2);
	sum_up(&p);
}

static void a_packet_in_rtr_tells_that_the_connection_stands(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	set_state(p.qp[1], VF_ROCE_RESET);
	world_to_init(&w, &p, 1);
	world_to_rtr(&w, &p, 1);
	for (unsigned i = 0; i < 2; i++)
		post(&p,
		     (struct vf_roce_send_wr){.wr_id = i,
					      .opcode = VF_ROCE_WR_RDMA_WRITE,
					      .remote_addr = world_addr(b, 0)},
		     0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 2);
	assert_int_equal(world_events(b, VF_ROCE_EVENT_COMM_EST), 1);
	sum_up(&p);
}

static void packets_for_a_queue_pair_in_the_wrong_state_or_from_elsewhere_are_dropped(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	p.retry_cnt = 0;
	world_connect(&w, &p);
	set_state(p.qp[1], VF_ROCE_RESET);
	post(&p,
	     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
				      .remote_addr = world_addr(b, 0)},
	     0, 10);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_QP_STATE), 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_RETRY_EXC_ERR);
	world_disconnect(&p);
	world_connect(&w, &p);
	{
		struct vf_roce_qp_attr attr;
		bool is_draining;

		vf_roce_qp_query(p.qp[1], &attr, &is_draining);
		attr.path.dgid[15] = 77;
		assert_int_equal(vf_roce_qp_modify(p.qp[1], w.now, &attr, VF_ROCE_ATTR_PATH), 0);
	}
	post(&p,
	     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
				      .remote_addr = world_addr(b, 0)},
	     0, 10);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_WRONG_ADDRESS), 1);
	world_disconnect(&p);
	/* ... and to one that is gone */
	world_connect(&w, &p);
	vf_roce_qp_destroy(p.qp[1]);
	post(&p,
	     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_RDMA_WRITE,
				      .remote_addr = world_addr(b, 0)},
	     0, 10);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_NO_QP), 1);
	vf_roce_qp_destroy(p.qp[0]);
	world_close(&w);
}

static void a_fenced_request_waits_for_the_reads_before_it(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 0, .opcode = VF_ROCE_WR_RDMA_READ, .remote_addr = world_addr(b, 0)},
	     0, 600);
	post(&p,
	     (struct vf_roce_send_wr){.wr_id = 1,
				      .opcode = VF_ROCE_WR_RDMA_WRITE,
				      .flags = VF_ROCE_SEND_FENCE,
				      .remote_addr = world_addr(b, 0)},
	     0, 10);
	w.is_cut = true;
	world_run(&w, w.now);
	assert_int_equal(a->sent, 1);
	w.is_cut = false;
	world_settle(&w);
	assert_int_equal(a->cqe_count, 2);
	assert_int_equal(a->sent, 3);
	assert_int_equal(a->sent_opcode[2], VF_OP_WRITE_ONLY);
	sum_up(&p);
}

static void reads_in_flight_stay_within_what_was_agreed(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	p.rd_atomic = 2;
	p.dest_rd_atomic = 2;
	world_connect(&w, &p);
	w.is_cut = true;
	for (unsigned i = 0; i < 5; i++)
		post(&p,
		     (struct vf_roce_send_wr){.wr_id = i,
					      .opcode = VF_ROCE_WR_RDMA_READ,
					      .remote_addr = world_addr(b, 0)},
		     0, 10);
	world_run(&w, w.now);
	assert_int_equal(a->sent, 2);
	w.is_cut = false;
	world_settle(&w);
	assert_int_equal(a->cqe_count, 5);
	sum_up(&p);
	/* A peer that agreed to fewer refuses. */
	world_open(&w);
	p.rd_atomic = 4;
	p.dest_rd_atomic = 2;
	world_connect(&w, &p);
	for (unsigned i = 0; i < 4; i++)
		post(&p,
		     (struct vf_roce_send_wr){.wr_id = i,
					      .opcode = VF_ROCE_WR_RDMA_READ,
					      .remote_addr = world_addr(b, 0)},
		     0, 10);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_READ_LIMIT), 1);
	assert_int_equal(a->cqe[a->cqe_count - 1].status, VF_ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_ERR);
	sum_up(&p);
	/* With none agreed the request cannot ever be sent. */
	world_open(&w);
	p.rd_atomic = 0;
	world_connect(&w, &p);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 0, .opcode = VF_ROCE_WR_RDMA_READ, .remote_addr = world_addr(b, 0)},
	     0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_LOC_QP_OP_ERR);
	sum_up(&p);
}

static void requests_without_a_signal_complete_silently(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	struct vf_roce_send_wr wr = {.opcode = VF_ROCE_WR_RDMA_WRITE,
				     .remote_addr = world_addr(b, 0),
				     .rkey = WORLD_KEY};

	(void)state;
	world_open(&w);
	wr.remote_addr = world_addr(b, 0);
	world_connect(&w, &p);
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(world_post(a, p.qp[0], &wr, 0, 10), 0);
		world_settle(&w);
	}
	assert_int_equal(a->cqe_count, 0);
	world_disconnect(&p);
	p.is_sig_all = true;
	world_connect(&w, &p);
	assert_int_equal(world_post(a, p.qp[0], &wr, 0, 10), 0);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 1);
	sum_up(&p);
}

static void a_bad_local_key_ends_after_what_was_before_it(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	struct vf_roce_sge sge = {world_addr(a, 0), 1000, 0x99};
	struct vf_roce_send_wr bad = {
		.wr_id = 1, .opcode = VF_ROCE_WR_SEND, .sge = &sge, .sge_count = 1};

	(void)state;
	world_open(&w);
	sge.addr = world_addr(a, 0);
	world_connect(&w, &p);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 0, .opcode = VF_ROCE_WR_RDMA_WRITE, .remote_addr = world_addr(b, 0)},
	     0, 1000);
	assert_int_equal(vf_roce_post_send(p.qp[0], &bad), 0);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 2, .opcode = VF_ROCE_WR_RDMA_WRITE, .remote_addr = world_addr(b, 0)},
	     0, 1000);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 3);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_LOC_PROT_ERR);
	assert_int_equal(a->cqe[2].status, VF_ROCE_WC_WR_FLUSH_ERR);
	sum_up(&p);
}

static void a_bad_local_key_leaves_uc_its_receive_queue(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_UC);
	struct vf_roce_sge sge = {0, 1000, 0x99};
	struct vf_roce_send_wr bad = {
		.wr_id = 1, .opcode = VF_ROCE_WR_SEND, .sge = &sge, .sge_count = 1};
	struct vf_roce_send_wr good = {.wr_id = 5, .opcode = VF_ROCE_WR_SEND};

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_post_recv(a, p.qp[0], 50, 0, 100);
	post(&p, (struct vf_roce_send_wr){.wr_id = 0, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	assert_int_equal(vf_roce_post_send(p.qp[0], &bad), 0);
	post(&p, (struct vf_roce_send_wr){.wr_id = 2, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 3);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_LOC_PROT_ERR);
	assert_int_equal(a->cqe[2].status, VF_ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_SQE);
	assert_int_equal(world_post(b, p.qp[1], &good, 0, 10), 0);
	world_settle(&w);
	assert_int_equal(a->cqe_count, 4);
	assert_true(a->cqe[3].wr_id == 50);
	set_state(p.qp[0], VF_ROCE_RTS);
	post(&p, (struct vf_roce_send_wr){.wr_id = 3, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_settle(&w);
	assert_int_equal(a->cqe[4].status, VF_ROCE_WC_SUCCESS);
	sum_up(&p);
}

static void local_invalidate_and_bind_run_in_their_turn(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	a->keys[2] = a->keys[3] = a->keys[0];
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 0, .opcode = VF_ROCE_WR_RDMA_WRITE, .remote_addr = world_addr(b, 0)},
	     0, 10);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 1, .opcode = VF_ROCE_WR_LOCAL_INV, .imm_or_rkey = WORLD_KEY + 2},
	     0, 0);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 2, .opcode = VF_ROCE_WR_BIND_MW, .bind = "good", .bind_len = 4},
	     0, 0);
	a->lose = 1;
	world_run(&w, w.now);
	/* Done already, completed in order only. */
	assert_int_equal(a->invalidated, 1);
	assert_int_equal(a->binds, 1);
	assert_int_equal(a->cqe_count, 0);
	world_settle(&w);
	assert_int_equal(a->invalidated, 1);
	assert_int_equal(a->cqe_count, 3);
	assert_int_equal(a->cqe[1].opcode, VF_ROCE_WC_LOCAL_INV);
	assert_int_equal(a->cqe[2].opcode, VF_ROCE_WC_BIND_MW);
	assert_int_equal(a->cqe[2].status, VF_ROCE_WC_SUCCESS);
	post(&p,
	     (struct vf_roce_send_wr){
		     .wr_id = 3, .opcode = VF_ROCE_WR_BIND_MW, .bind = "evil", .bind_len = 4},
	     0, 0);
	world_settle(&w);
	assert_int_equal(a->cqe[3].status, VF_ROCE_WC_MW_BIND_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_ERR);
	sum_up(&p);
}

static void send_with_invalidate_takes_the_key_away(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	b->keys[2] = b->keys[0];
	world_post_recv(b, p.qp[1], 1, 0, 600);
	world_post_recv(b, p.qp[1], 2, 0, 600);
	post(&p,
	     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_SEND_WITH_INV,
				      .imm_or_rkey = WORLD_KEY + 2},
	     0, 600);
	world_settle(&w);
	assert_int_equal(b->cqe[0].wc_flags, VF_ROCE_WC_WITH_INV);
	assert_int_equal(b->cqe[0].imm_or_rkey, WORLD_KEY + 2);
	assert_int_equal(b->last_invalidated, WORLD_KEY + 2);
	post(&p,
	     (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_SEND_WITH_INV,
				      .imm_or_rkey = WORLD_KEY + 2},
	     0, 0);
	world_settle(&w);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_REM_ACCESS_ERR);
	assert_int_equal(b->cqe[1].status, VF_ROCE_WC_LOC_ACCESS_ERR);
	sum_up(&p);
}

static void shared_receives_go_in_order_and_the_limit_fires_once(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC), q = p;
	struct vf_roce_srq_config cfg = {.srq_host = b, .max = 8, .sge_max = 2, .limit = 0};
	struct vf_roce_sge sge = {world_addr(b, 0), 100, WORLD_KEY};
	struct vf_roce_recv_wr wr = {.sge_count = 1, .sge = &sge};
	struct vf_roce_srq *srq;
	uint32_t max, limit;

	(void)state;
	world_open(&w);
	sge.addr = world_addr(b, 0);
	assert_int_equal(vf_roce_srq_create(b->engine, &cfg, &srq), 0);
	p.srq[1] = q.srq[1] = srq;
	world_connect(&w, &p);
	world_connect(&w, &q);
	for (unsigned i = 0; i < 8; i++) {
		wr.wr_id = i;
		assert_int_equal(vf_roce_srq_post(srq, &wr), 0);
	}
	assert_int_equal(vf_roce_srq_post(srq, &wr), -ENOMEM);
	assert_int_equal(vf_roce_srq_set_limit(srq, 9), -EINVAL);
	assert_int_equal(vf_roce_srq_set_limit(srq, 6), 0);
	assert_int_equal(vf_roce_post_recv(p.qp[1], &wr), -EINVAL);
	for (unsigned i = 0; i < 5; i++) {
		post(i % 2 ? &q : &p,
		     (struct vf_roce_send_wr){.wr_id = i, .opcode = VF_ROCE_WR_SEND}, 0, 10);
		world_settle(&w);
		assert_true(b->cqe[i].wr_id == i);
		assert_ptr_equal(b->cqe[i].qp_host, i % 2 ? (void *)&q.qp[1] : (void *)&p.qp[1]);
		assert_int_equal(world_events(b, VF_ROCE_EVENT_SRQ_LIMIT), i >= 2);
	}
	vf_roce_srq_query(srq, &max, &limit);
	assert_int_equal(max, 8);
	assert_int_equal(limit, 0);
	assert_int_equal(vf_roce_srq_resize(srq, 2), -EINVAL);
	assert_int_equal(vf_roce_srq_resize(srq, 16), 0);
	post(&p, (struct vf_roce_send_wr){.wr_id = 9, .opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_settle(&w);
	assert_true(b->cqe[5].wr_id == 5);
	/* In error the shared requests stay, and the QP says that it takes no more. */
	set_state(p.qp[1], VF_ROCE_ERR);
	assert_int_equal(b->cqe_count, 6);
	assert_int_equal(world_events(b, VF_ROCE_EVENT_LAST_WQE_REACHED), 1);
	world_disconnect(&p);
	world_disconnect(&q);
	vf_roce_srq_destroy(srq);
	world_close(&w);
}

static void scattered_and_inline_data_arrive_in_order(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);
	struct vf_roce_sge from[4], to[4];
	struct vf_roce_send_wr wr = {.opcode = VF_ROCE_WR_SEND, .sge = from, .sge_count = 4};
	struct vf_roce_recv_wr recv = {.sge = to, .sge_count = 4};

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_fill(a, 0, 1000, 1);
	from[0] = (struct vf_roce_sge){world_addr(a, 0), 1, WORLD_KEY};
	from[1] = (struct vf_roce_sge){world_addr(a, 0), 0, 0x77};
	from[2] = (struct vf_roce_sge){world_addr(a, 1), 700, WORLD_KEY};
	from[3] = (struct vf_roce_sge){world_addr(a, 701), 299, WORLD_KEY};
	to[0] = (struct vf_roce_sge){world_addr(b, 0), 300, WORLD_KEY};
	to[1] = (struct vf_roce_sge){world_addr(b, 300), 3, WORLD_KEY};
	to[2] = (struct vf_roce_sge){world_addr(b, 303), 0, 0x77};
	to[3] = (struct vf_roce_sge){world_addr(b, 303), 900, WORLD_KEY};
	assert_int_equal(vf_roce_post_recv(p.qp[1], &recv), 0);
	assert_int_equal(vf_roce_post_send(p.qp[0], &wr), 0);
	world_settle(&w);
	assert_int_equal(b->cqe[0].byte_len, 1000);
	assert_true(world_is_filled(b, 0, 1000, 1));
	/* Inline data may be changed as soon as it is posted. */
	memset(b->mem, 0, 1200);
	assert_int_equal(vf_roce_post_recv(p.qp[1], &recv), 0);
	world_fill(a, 0, 1024, 2);
	wr = (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_SEND, .flags = VF_ROCE_SEND_INLINE};
	assert_int_equal(world_post(a, p.qp[0], &wr, 0, 1024), 0);
	memset(a->mem, 0, 1024);
	world_settle(&w);
	assert_true(world_is_filled(b, 0, 1024, 2));
	sum_up(&p);
}

static void a_queue_pair_that_is_destroyed_while_it_waits_leaves_nothing(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_RC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post(&p, (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_SEND}, 0, 10);
	world_run(&w, w.now + VF_USEC);
	post(&p, (struct vf_roce_send_wr){.opcode = VF_ROCE_WR_SEND}, 0, 10);
	sum_up(&p);
}

static void the_host_can_end_a_queue_pair_with_an_event(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_UC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_post_recv(b, p.qp[1], 1, 0, 10);
	vf_roce_qp_fail(p.qp[1], w.now, VF_ROCE_EVENT_QP_FATAL);
	assert_int_equal(b->cqe_count, 1);
	assert_int_equal(b->cqe[0].status, VF_ROCE_WC_WR_FLUSH_ERR);
	assert_int_equal(world_events(b, VF_ROCE_EVENT_QP_FATAL), 1);
	vf_roce_qp_fail(p.qp[1], w.now, VF_ROCE_EVENT_QP_FATAL);
	assert_int_equal(b->event_count, 1);
	sum_up(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			error_flushes_sends_then_receives_in_order_and_what_is_posted_later),
		cmocka_unit_test(reset_forgets_quietly),
		cmocka_unit_test(posting_is_refused_where_the_state_or_the_request_is_wrong),
		cmocka_unit_test(draining_finishes_what_was_started_and_says_so_once),
		cmocka_unit_test(a_packet_in_rtr_tells_that_the_connection_stands),
		cmocka_unit_test(
			packets_for_a_queue_pair_in_the_wrong_state_or_from_elsewhere_are_dropped),
		cmocka_unit_test(a_fenced_request_waits_for_the_reads_before_it),
		cmocka_unit_test(reads_in_flight_stay_within_what_was_agreed),
		cmocka_unit_test(requests_without_a_signal_complete_silently),
		cmocka_unit_test(a_bad_local_key_ends_after_what_was_before_it),
		cmocka_unit_test(a_bad_local_key_leaves_uc_its_receive_queue),
		cmocka_unit_test(local_invalidate_and_bind_run_in_their_turn),
		cmocka_unit_test(send_with_invalidate_takes_the_key_away),
		cmocka_unit_test(shared_receives_go_in_order_and_the_limit_fires_once),
		cmocka_unit_test(scattered_and_inline_data_arrive_in_order),
		cmocka_unit_test(a_queue_pair_that_is_destroyed_while_it_waits_leaves_nothing),
		cmocka_unit_test(the_host_can_end_a_queue_pair_with_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

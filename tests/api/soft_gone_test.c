/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that goes away under its registration: unmapped, protected, its file truncated; as what is sent, received into, written to
 * and read from. The operation ends on both sides, the program lives on.
 */
#include "soft_pair.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum way { UNMAP, PROTECT, TRUNCATE, WAYS };
enum role { SEND_FROM, RECEIVE_INTO, WRITE_TO, READ_FROM, READ_INTO, ATOMIC_AT, ROLES };

static const size_t size = 16384;

struct gone {
	uint8_t *p;
	int fd;
	struct ibv_mr *mr;
};

static void make(struct gone *g, struct end *e)
{
	char name[] = "/tmp/vf-gone-XXXXXX";

	g->fd = mkstemp(name);
	assert_true(g->fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(g->fd, (off_t)size), 0);
	g->p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
	assert_true(g->p != MAP_FAILED);
	memset(g->p, 1, size);
	g->mr = ibv_reg_mr(e->pd, g->p, size, PAIR_ALL_ACCESS);
	assert_non_null(g->mr);
}

static void take_away(struct gone *g, enum way way)
{
	if (way == UNMAP)
		assert_int_equal(munmap(g->p, size), 0);
	else if (way == PROTECT)
		assert_int_equal(mprotect(g->p, size, PROT_NONE), 0);
	else
		assert_int_equal(ftruncate(g->fd, 0), 0);
}

static void end(struct gone *g, enum way way)
{
	assert_int_equal(ibv_dereg_mr(g->mr), 0);
	if (way != UNMAP)
		munmap(g->p, size);
	close(g->fd);
}

/* Which request of a meets the hole, and how it ends. */
static enum ibv_wc_status start(struct pair *p, struct gone *g, enum role role)
{
	static const enum ibv_wr_opcode opcode[ROLES] = {
		IBV_WR_SEND,	  IBV_WR_SEND,	    IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD};
	struct ibv_send_wr wr;
	struct ibv_sge sge, rsge = {.addr = (uintptr_t)g->p, .length = 9000, .lkey = g->mr->lkey};
	struct ibv_recv_wr rwr = {.wr_id = 2, .sg_list = &rsge, .num_sge = 1}, *bad;

	pair_send_wr(&p->a, &p->b, opcode[role], &wr, &sge);
	if (role != ATOMIC_AT)
		sge.length = 9000;
	if (role == SEND_FROM || role == READ_INTO) {
		sge.addr = (uintptr_t)g->p;
		sge.lkey = g->mr->lkey;
		pair_recv(&p->b, 2, 0, 9000);
	} else if (role == RECEIVE_INTO) {
		assert_int_equal(ibv_post_recv(p->b.qp, &rwr, &bad), 0);
	} else if (role == ATOMIC_AT) {
		wr.wr.atomic.remote_addr = (uintptr_t)g->p;
		wr.wr.atomic.rkey = g->mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)g->p;
		wr.wr.rdma.rkey = g->mr->rkey;
	}
	assert_int_equal(pair_post(&p->a, &wr), 0);
	if (role == SEND_FROM || role == READ_INTO)
		return IBV_WC_LOC_PROT_ERR;
	return IBV_WC_REM_OP_ERR; /* key and rights were right: it is the responder that cannot */
}

static void ends_right(enum way way, enum role role)
{
	struct pair_options o = {.type = IBV_QPT_RC, .timeout = 10};
	bool is_local = role == SEND_FROM || role == READ_INTO;
	enum ibv_wc_status expected;
	struct ibv_wc wc;
	struct gone g;
	struct pair p;

	pair_open(&p, &o);
	make(&g, is_local ? &p.a : &p.b);
	take_away(&g, way);
	expected = start(&p, &g, role);
	pair_poll(p.a.send_cq, &wc);
	if (wc.status != expected)
		fail_msg("way %d, role %d: %s, expected %s", (int)way, (int)role,
			 ibv_wc_status_str(wc.status), ibv_wc_status_str(expected));
	if (role == RECEIVE_INTO) {
		pair_poll(p.b.recv_cq, &wc);
		assert_int_equal(wc.wr_id, 2);
		if (wc.status != IBV_WC_LOC_PROT_ERR)
			fail_msg("way %d: receiver's %s", (int)way, ibv_wc_status_str(wc.status));
	}
	end(&g, way);
	pair_close(&p);
}

static void every_way_in_every_role_ends_the_operation_on_both_sides(void **state)
{
	(void)state;
	for (int way = 0; way < WAYS; way++)
		for (int role = 0; role < ROLES; role++)
			ends_right((enum way)way, (enum role)role);
}

static void datagrams_and_unreliable_sends_from_lost_memory_fail_locally(void **state)
{
	(void)state;
	for (int t = IBV_QPT_UC; t <= IBV_QPT_UD; t++) {
		struct pair_options o = {.type = (enum ibv_qp_type)t};
		struct ibv_send_wr wr;
		struct ibv_sge sge;
		struct gone g;
		struct pair p;

		pair_open(&p, &o);
		make(&g, &p.a);
		take_away(&g, UNMAP);
		pair_send_wr(&p.a, &p.b, IBV_WR_SEND, &wr, &sge);
		sge.addr = (uintptr_t)g.p;
		sge.lkey = g.mr->lkey;
		assert_int_equal(pair_post(&p.a, &wr), 0);
		pair_expect(p.a.send_cq, 0, IBV_WC_LOC_PROT_ERR);
		end(&g, UNMAP);
		pair_close(&p);
	}
}

/* The write is under way when its target goes. */
static void a_target_that_goes_while_it_is_written_ends_the_write(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC, .timeout = 10};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct gone g;
	struct pair p;
	int bad = 0;

	(void)state;
	pair_open(&p, &o);
	make(&g, &p.b);
	for (int i = 0; i < 12; i++) {
		pair_send_wr(&p.a, &p.b, IBV_WR_RDMA_WRITE, &wr, &sge);
		sge.length = (uint32_t)size;
		wr.wr.rdma.remote_addr = (uintptr_t)g.p;
		wr.wr.rdma.rkey = g.mr->rkey;
		assert_int_equal(pair_post(&p.a, &wr), 0);
		if (i == 5)
			take_away(&g, PROTECT);
	}
	for (int i = 0; i < 12; i++) {
		pair_poll(p.a.send_cq, &wc);
		bad += wc.status == IBV_WC_REM_OP_ERR;
		assert_true(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_OP_ERR ||
			    wc.status == IBV_WC_WR_FLUSH_ERR);
	}
	assert_int_equal(bad, 1);
	end(&g, PROTECT);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_in_every_role_ends_the_operation_on_both_sides),
		cmocka_unit_test(datagrams_and_unreliable_sends_from_lost_memory_fail_locally),
		cmocka_unit_test(a_target_that_goes_while_it_is_written_ends_the_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* UD with its header area, keys and multicast; UC and what it drops. */
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

static struct vf_roce_path path_to(const uint8_t dgid[16])
{
	struct vf_roce_path path = {.hop_limit = 64};

	memcpy(path.sgid, a->gid, 16);
	memcpy(path.dgid, dgid, 16);
	return path;
}

static int send_to(struct world_pair *p, const struct vf_roce_path *path, uint32_t qpn,
		   uint32_t qkey, uint32_t len)
{
	struct vf_roce_send_wr wr = {.wr_id = 1,
				     .opcode = VF_ROCE_WR_SEND_WITH_IMM,
				     .flags = VF_ROCE_SEND_SIGNALED,
				     .imm_or_rkey = 42,
				     .path = path,
				     .remote_qpn = qpn,
				     .remote_qkey = qkey};

	return world_post(a, p->qp[0], &wr, 0, len);
}

static void a_datagram_brings_its_header_sender_and_data(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_UD);
	struct vf_roce_path path;
	uint32_t sum = 0;

	(void)state;
	world_open(&w);
	p.mtu_bytes = 1024;
	world_connect(&w, &p);
	path = path_to(b->gid);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t len = i ? 1024 : 0;

		world_fill(a, 0, len, 3);
		world_post_recv(b, p.qp[1], 9, 0, 40 + len);
		assert_int_equal(send_to(&p, &path, vf_roce_qp_qpn(p.qp[1]), 0x11111111, len), 0);
		world_settle(&w);
		assert_int_equal(a->cqe_count, i + 1);
		assert_int_equal(a->cqe[i].status, VF_ROCE_WC_SUCCESS);
		assert_int_equal(b->cqe_count, i + 1);
		assert_int_equal(b->cqe[i].byte_len, 40 + len);
		assert_int_equal(b->cqe[i].src_qp, vf_roce_qp_qpn(p.qp[0]));
		assert_int_equal(b->cqe[i].imm_or_rkey, 42);
		assert_int_equal(b->cqe[i].wc_flags, VF_ROCE_WC_GRH | VF_ROCE_WC_WITH_IMM);
		assert_true(world_is_filled(b, 40, len, 3));
	}
	/* 20 zeros, then an IPv4 header whose checksum is right. */
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(b->mem[i], 0);
	assert_int_equal(b->mem[20], 0x45);
	assert_int_equal(vf_load_be16(b->mem + 22), 20 + 8 + 12 + 8 + 4 + 1024 + 4);
	assert_memory_equal(b->mem + 32, a->gid + 12, 4);
	assert_memory_equal(b->mem + 36, b->gid + 12, 4);
	for (unsigned i = 20; i < 40; i += 2)
		sum += vf_load_be16(b->mem + i);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
	assert_int_equal(send_to(&p, &path, vf_roce_qp_qpn(p.qp[1]), 0x11111111, 1025), -EINVAL);
	world_disconnect(&p);
	world_close(&w);
}

static void an_ipv6_datagram_brings_an_ipv6_header(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_UD);
	struct vf_roce_path path;

	(void)state;
	world_open(&w);
	for (int i = 0; i < 2; i++) {
		memset(w.node[i].gid, 0, 16);
		w.node[i].gid[0] = 0xfe;
		w.node[i].gid[1] = 0x80;
		w.node[i].gid[15] = (uint8_t)(1 + i);
	}
	world_connect(&w, &p);
	path = path_to(b->gid);
	world_post_recv(b, p.qp[1], 9, 0, 40 + 3);
	assert_int_equal(send_to(&p, &path, vf_roce_qp_qpn(p.qp[1]), 0x11111111, 3), 0);
	world_settle(&w);
	assert_int_equal(b->cqe_count, 1);
	assert_int_equal(b->mem[0], 0x60);
	assert_int_equal(vf_load_be16(b->mem + 4), 8 + 12 + 8 + 4 + 4 + 4);
	assert_int_equal(b->mem[7], 64);
	assert_memory_equal(b->mem + 8, a->gid, 16);
	assert_memory_equal(b->mem + 24, b->gid, 16);
	world_disconnect(&p);
	world_close(&w);
}

static void datagrams_that_do_not_fit_are_dropped_by_name(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_UD);
	struct vf_roce_path path;
	uint32_t to;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	path = path_to(b->gid);
	to = vf_roce_qp_qpn(p.qp[1]);
	assert_int_equal(send_to(&p, &path, to, 0x11111111, 10), 0);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_NO_RECEIVE), 1);
	world_post_recv(b, p.qp[1], 9, 0, 40 + 10);
	assert_int_equal(send_to(&p, &path, to, 0x11111112, 10), 0);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_BAD_QKEY), 1);
	assert_int_equal(send_to(&p, &path, to, 0x11111111, 11), 0);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_RECEIVE_TOO_SMALL), 1);
	assert_int_equal(send_to(&p, &path, to + 1, 0x11111111, 10), 0);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_NO_QP), 1);
	assert_int_equal(b->cqe_count, 0);
	/* The upper bit asks for the sender's own key. The receive is still there. */
	assert_int_equal(send_to(&p, &path, to, 0x80000000, 10), 0);
	world_settle(&w);
	assert_int_equal(b->cqe_count, 1);
	assert_true(b->cqe[0].wr_id == 9);
	assert_int_equal(a->cqe_count, 5);
	world_disconnect(&p);
	world_close(&w);
}

static void each_attached_queue_pair_gets_its_own_copy(void **state)
{
	static const uint8_t group[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 77, 0, 9};
	struct world_pair p = world_pair_of(VF_ROCE_UD), q = p, rc = world_pair_of(VF_ROCE_RC);
	struct vf_roce_path path;

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	world_connect(&w, &q);
	world_connect(&w, &rc);
	path = path_to(group);
	assert_int_equal(vf_roce_mcast_attach(rc.qp[1], group), -EINVAL);
	assert_int_equal(vf_roce_mcast_detach(p.qp[1], group), -ENOENT);
	assert_int_equal(vf_roce_mcast_attach(p.qp[1], group), 0);
	assert_int_equal(vf_roce_mcast_attach(p.qp[1], group), 0);
	assert_int_equal(vf_roce_mcast_attach(q.qp[1], group), 0);
	world_fill(a, 0, 100, 1);
	for (unsigned i = 0; i < 2; i++) {
		world_post_recv(b, p.qp[1], 1, 0, 140);
		world_post_recv(b, q.qp[1], 2, 1000, 140);
	}
	assert_int_equal(send_to(&p, &path, VF_ROCE_QPN_MULTICAST, 0x11111111, 100), 0);
	world_settle(&w);
	assert_int_equal(b->cqe_count, 2);
	assert_true(b->cqe[0].wr_id == 1 && b->cqe[1].wr_id == 2);
	assert_true(world_is_filled(b, 40, 100, 1) && world_is_filled(b, 1040, 100, 1));
	assert_int_equal(vf_roce_mcast_detach(p.qp[1], group), 0);
	assert_int_equal(send_to(&p, &path, VF_ROCE_QPN_MULTICAST, 0x11111111, 100), 0);
	world_settle(&w);
	assert_int_equal(b->cqe_count, 3);
	world_disconnect(&q); /* destroying detaches */
	assert_int_equal(send_to(&p, &path, VF_ROCE_QPN_MULTICAST, 0x11111111, 100), 0);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_NO_MULTICAST), 1);
	world_disconnect(&p);
	world_disconnect(&rc);
	world_close(&w);
}

static void post_uc(struct world_pair *p, enum vf_roce_wr_opcode opcode, uint64_t id, uint32_t len)
{
	struct vf_roce_send_wr wr = {.wr_id = id,
				     .opcode = opcode,
				     .flags = VF_ROCE_SEND_SIGNALED,
				     .remote_addr = world_addr(b, 32768),
				     .rkey = WORLD_KEY};

	assert_int_equal(world_post(a, p->qp[0], &wr, 0, len), 0);
}

static void uc_drops_a_broken_message_whole_and_takes_the_next(void **state)
{
	(void)state;
	for (unsigned lost = 0; lost < 4; lost++) {
		struct world_pair p = world_pair_of(VF_ROCE_UC);

		world_open(&w);
		world_connect(&w, &p);
		world_fill(a, 0, 1000, 5);
		world_post_recv(b, p.qp[1], 1, 0, 1000);
		world_post_recv(b, p.qp[1], 2, 2000, 1000);
		a->lose = 1u << lost;
		post_uc(&p, VF_ROCE_WR_SEND, 1, 1000);
		post_uc(&p, VF_ROCE_WR_SEND, 2, 1000);
		post_uc(&p, VF_ROCE_WR_SEND, 3, 1000);
		world_settle(&w);
		assert_int_equal(a->cqe_count, 3);
		assert_int_equal(b->cqe_count, 2);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(b->cqe[i].status, VF_ROCE_WC_SUCCESS);
			assert_true(b->cqe[i].wr_id == i + 1);
			assert_true(world_is_filled(b, 2000 * i, 1000, 5));
		}
		world_disconnect(&p);
		world_close(&w);
	}
}

static void uc_drops_what_it_has_no_place_or_right_for(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_UC);

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post_uc(&p, VF_ROCE_WR_SEND, 1, 1000);
	world_settle(&w);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	assert_int_equal(world_dropped(b, VF_DROP_NO_RECEIVE), 1);
	world_post_recv(b, p.qp[1], 1, 0, 600);
	post_uc(&p, VF_ROCE_WR_SEND, 2, 1000);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_RECEIVE_TOO_SMALL), 1);
	b->keys[0].access = VF_ROCE_LOCAL_WRITE;
	post_uc(&p, VF_ROCE_WR_RDMA_WRITE, 3, 1000);
	world_settle(&w);
	assert_int_equal(world_dropped(b, VF_DROP_ACCESS), 1);
	assert_int_equal(b->cqe_count, 0);
	post_uc(&p, VF_ROCE_WR_SEND, 4, 600);
	world_settle(&w);
	assert_int_equal(b->cqe_count, 1);
	assert_int_equal(vf_roce_qp_state(p.qp[1]), VF_ROCE_RTS);
	assert_int_equal(b->event_count, 0);
	world_disconnect(&p);
	world_close(&w);
}

static void unreliable_sends_complete_only_when_the_host_comes_back(void **state)
{
	struct world_pair p = world_pair_of(VF_ROCE_UC);
	static struct vf_roce_tx tx[8];

	(void)state;
	world_open(&w);
	world_connect(&w, &p);
	post_uc(&p, VF_ROCE_WR_SEND, 1, 600);
	assert_int_equal(vf_roce_transmit(a->engine, w.now, tx, 8), 3);
	assert_int_equal(a->cqe_count, 0);
	assert_true(vf_roce_deadline(a->engine) == 0);
	assert_int_equal(vf_roce_transmit(a->engine, w.now, tx, 8), 0);
	assert_int_equal(a->cqe_count, 1);
	/* A packet whose memory is gone makes its request end badly, though it was the last. */
	post_uc(&p, VF_ROCE_WR_SEND, 2, 600);
	assert_int_equal(vf_roce_transmit(a->engine, w.now, tx, 8), 3);
	vf_roce_tx_fault(a->engine, w.now, &tx[2]);
	assert_int_equal(vf_roce_transmit(a->engine, w.now, tx, 8), 0);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_LOC_PROT_ERR);
	assert_int_equal(vf_roce_qp_state(p.qp[0]), VF_ROCE_SQE);
	world_disconnect(&p);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_brings_its_header_sender_and_data),
		cmocka_unit_test(an_ipv6_datagram_brings_an_ipv6_header),
		cmocka_unit_test(datagrams_that_do_not_fit_are_dropped_by_name),
		cmocka_unit_test(each_attached_queue_pair_gets_its_own_copy),
		cmocka_unit_test(uc_drops_a_broken_message_whole_and_takes_the_next),
		cmocka_unit_test(uc_drops_what_it_has_no_place_or_right_for),
		cmocka_unit_test(unreliable_sends_complete_only_when_the_host_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

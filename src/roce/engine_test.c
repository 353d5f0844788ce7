/* SPDX-License-Identifier: BSD-2-Clause */
/* Two engines and a wire: every operation of RC, at every awkward size, on a good network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "roce/engine_world.h"
#include "roce/opcode.h"

static struct world w;
static struct world_node *const a = &w.node[0], *const b = &w.node[1];

#define AWAY 32768u

static const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};

/* Sizes around the MTU, and one that is longer than the window. */
static unsigned sizes_of(uint32_t mtu, uint32_t out[8])
{
	const uint32_t sizes[] = {0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 1, 32000};

	memcpy(out, sizes, sizeof(sizes));
	return (unsigned)VF_ARRAY_SIZE(sizes);
}

static void each_size(enum vf_roce_type type, void (*check)(struct world_pair *p, uint32_t len))
{
	uint32_t sizes[8];

	for (unsigned m = 0; m < VF_ARRAY_SIZE(mtus); m++) {
		for (unsigned s = 0; s < sizes_of(mtus[m], sizes); s++) {
			struct world_pair p = world_pair_of(type);

			world_open(&w);
			p.mtu_bytes = mtus[m];
			world_connect(&w, &p);
			world_fill(a, 0, sizes[s], sizes[s]);
			check(&p, sizes[s]);
			world_disconnect(&p);
			world_close(&w);
		}
	}
}

static void expect(const struct world_node *n, unsigned i, uint64_t id,
		   enum vf_roce_wc_opcode opcode, uint32_t len)
{
	assert_true(n->cqe_count > i);
	assert_int_equal(n->cqe[i].status, VF_ROCE_WC_SUCCESS);
	assert_true(n->cqe[i].wr_id == id);
	assert_int_equal(n->cqe[i].opcode, opcode);
	assert_int_equal(n->cqe[i].byte_len, len);
}

static void check_send(struct world_pair *p, uint32_t len)
{
	struct vf_roce_send_wr wr = {.wr_id = 5,
				     .opcode = VF_ROCE_WR_SEND_WITH_IMM,
				     .flags = VF_ROCE_SEND_SIGNALED | VF_ROCE_SEND_SOLICITED,
				     .imm_or_rkey = 0x04030201};

	world_post_recv(b, p->qp[1], 6, 0, len);
	assert_int_equal(world_post(a, p->qp[0], &wr, 0, len), 0);
	world_settle(&w);
	expect(a, 0, 5, VF_ROCE_WC_SEND, len);
	expect(b, 0, 6, VF_ROCE_WC_RECV, len);
	assert_int_equal(b->cqe[0].imm_or_rkey, 0x04030201);
	assert_int_equal(b->cqe[0].wc_flags, VF_ROCE_WC_WITH_IMM);
	assert_true(b->cqe[0].solicited);
	assert_true(world_is_filled(b, 0, len, len));
	/* A fault-free run sends each packet once. */
	assert_int_equal(a->sent, len ? (len + p->mtu_bytes - 1) / p->mtu_bytes : 1);
}

static void send_with_imm_arrives_at_every_size(void **state)
{
	(void)state;
	each_size(VF_ROCE_RC, check_send);
}

static void uc_send_with_imm_arrives_at_every_size(void **state)
{
	(void)state;
	each_size(VF_ROCE_UC, check_send);
}

static void check_write(struct world_pair *p, uint32_t len)
{
	struct vf_roce_send_wr wr = {.wr_id = 5,
				     .opcode = VF_ROCE_WR_RDMA_WRITE,
				     .flags = VF_ROCE_SEND_SIGNALED,
				     .remote_addr = world_addr(b, AWAY),
				     .rkey = WORLD_KEY};

	assert_int_equal(world_post(a, p->qp[0], &wr, 0, len), 0);
	world_settle(&w);
	expect(a, 0, 5, VF_ROCE_WC_RDMA_WRITE, len);
	assert_int_equal(b->cqe_count, 0);
	assert_true(world_is_filled(b, AWAY, len, len));
	wr.opcode = VF_ROCE_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_or_rkey = 77;
	world_fill(a, 0, len, 9);
	world_post_recv(b, p->qp[1], 6, 0, 0);
	assert_int_equal(world_post(a, p->qp[0], &wr, 0, len), 0);
	world_settle(&w);
	expect(a, 1, 5, VF_ROCE_WC_RDMA_WRITE, len);
	expect(b, 0, 6, VF_ROCE_WC_RECV_RDMA_WITH_IMM, len);
	assert_int_equal(b->cqe[0].imm_or_rkey, 77);
	assert_true(world_is_filled(b, AWAY, len, 9));
}

static void write_and_write_with_imm_arrive_at_every_size(void **state)
{
	(void)state;
	each_size(VF_ROCE_RC, check_write);
}

static void uc_write_and_write_with_imm_arrive_at_every_size(void **state)
{
	(void)state;
	each_size(VF_ROCE_UC, check_write);
}

static void check_read(struct world_pair *p, uint32_t len)
{
	struct vf_roce_send_wr wr = {.wr_id = 5,
				     .opcode = VF_ROCE_WR_RDMA_READ,
				     .flags = VF_ROCE_SEND_SIGNALED,
				     .remote_addr = world_addr(b, AWAY),
				     .rkey = WORLD_KEY};

	world_fill(b, AWAY, len, 3);
	assert_int_equal(world_post(a, p->qp[0], &wr, 0, len), 0);
	world_settle(&w);
	expect(a, 0, 5, VF_ROCE_WC_RDMA_READ, len);
	assert_true(world_is_filled(a, 0, len, 3));
	assert_int_equal(b->sent, len ? (len + p->mtu_bytes - 1) / p->mtu_bytes : 1);
}

static void read_brings_the_data_at_every_size(void **state)
{
	(void)state;
	each_size(VF_ROCE_RC, check_read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_with_imm_arrives_at_every_size),
		cmocka_unit_test(uc_send_with_imm_arrives_at_every_size),
		cmocka_unit_test(write_and_write_with_imm_arrive_at_every_size),
		cmocka_unit_test(uc_write_and_write_with_imm_arrive_at_every_size),
		cmocka_unit_test(read_brings_the_data_at_every_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

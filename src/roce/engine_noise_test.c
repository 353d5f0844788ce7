/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nonsense that nearly makes sense: queue pairs of every type, in every state and at work, get
 * packets whose fields are drawn near what is expected. Nothing may break: no invariant (which
 * would be QP_FATAL), no memory outside what a key allows, and what was posted comes back once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rand.h"
#include "roce/engine_world.h"
#include "roce/packet.h"
#include "roce/psn.h"
#include "roce/wire.h"

static struct world w;
static struct world_node *const a = &w.node[0];
static struct vf_rand rnd;

static uint32_t below(uint32_t n) { return (uint32_t)vf_rand_below(&rnd, n); }

static uint8_t any_opcode(enum vf_roce_type type)
{
	static const uint8_t base[] = {0x00, 0x20, 0x64};

	if (below(20) == 0)
		return (uint8_t)below(256);
	return (uint8_t)(base[type] + below(type == VF_ROCE_RC ? 24 : type == VF_ROCE_UC ? 12 : 2));
}

static uint64_t any_address(void)
{
	static const uint32_t near[] = {0,	  1, 7, 8, 64, 4096, WORLD_MEM - 8, WORLD_MEM - 1,
					WORLD_MEM};
	uint64_t at = world_addr(a, near[below(VF_ARRAY_SIZE(near))]);

	return below(30) ? at : vf_rand_next(&rnd);
}

static uint32_t any_length(uint32_t mtu)
{
	const uint32_t sizes[] = {0, 1, 3, 4, 8, mtu - 1, mtu, mtu, mtu, mtu + 1, mtu + 4, 2 * mtu};

	return sizes[below(VF_ARRAY_SIZE(sizes))];
}

static void fill_extensions(uint8_t *d, const struct vf_opcode_info *op)
{
	static const uint8_t syndromes[] = {0x1f, 0x00, 0x21, 0x3f, 0x60, 0x60,
					    0x61, 0x62, 0x63, 0x64, 0x7f, 0xff};

	if (op->reth_at || op->atomic_at) {
		uint8_t *h = d + (op->reth_at ? op->reth_at : op->atomic_at);

		vf_store_be64(h + VF_RETH_VA, any_address());
		vf_store_be32(h + VF_RETH_RKEY, WORLD_KEY + (below(10) == 0));
		if (op->reth_at)
			vf_store_be32(h + VF_RETH_DMA_LEN,
				      below(20) ? any_length(256) : below(0xffffffff));
	}
	if (op->aeth_at)
		d[op->aeth_at] = syndromes[below(VF_ARRAY_SIZE(syndromes))];
	if (op->deth_at)
		vf_store_be32(d + op->deth_at + VF_DETH_QKEY, 0x11111111);
	if (op->ieth_at)
		vf_store_be32(d + op->ieth_at, WORLD_KEY + 3 + below(5));
}

static void send_noise(struct world_pair *p)
{
	static uint8_t bytes[VF_ROCE_HEADERS_MAX + 1024];
	static struct vf_roce_tx tx;
	struct vf_roce_qp_attr attr;
	bool is_draining;
	uint8_t opcode = any_opcode(p->type);
	const struct vf_opcode_info *op = vf_opcode_info(opcode);
	struct vf_packet_start s = {
		.opcode = opcode, .is_ack_req = below(2), .is_solicited = below(2)};
	struct vf_roce_rx rx = {.data = bytes, .hop_limit = 64, .traffic_class = (uint8_t)below(4)};

	if (!op)
		return;
	vf_roce_qp_query(p->qp[0], &attr, &is_draining);
	s.dest_qpn = vf_roce_qp_qpn(p->qp[0]) + (below(50) == 0);
	s.psn = (op->flags & VF_OPF_RESPONSE ? attr.sq_psn : attr.rq_psn) - below(4) + below(3);
	s.psn &= VF_PSN_MASK;
	s.payload_len = op->flags & VF_OPF_PAYLOAD || below(50) == 0 ? any_length(p->mtu_bytes) : 0;
	vf_packet_start(&tx, &s);
	memset(bytes, 0x5a, sizeof(bytes));
	memcpy(bytes, tx.headers, tx.header_len);
	fill_extensions(bytes, op);
	rx.len = tx.header_len + s.payload_len + tx.pad_len;
	if (below(50) == 0)
		rx.len -= below(rx.len);
	memcpy(rx.sgid, w.node[1].gid, 16);
	memcpy(rx.dgid, a->gid, 16);
	vf_roce_receive(a->engine, w.now, &rx, 1);
}

/* Posts one request and one receive where the state allows it; counts what will complete. */
static void post_something(struct world_pair *p, unsigned *posted)
{
	struct vf_roce_path path = {.hop_limit = 64};
	struct vf_roce_send_wr wr = {.opcode = (enum vf_roce_wr_opcode)below(10),
				     .flags = VF_ROCE_SEND_SIGNALED,
				     .remote_addr = 0,
				     .rkey = WORLD_KEY,
				     .imm_or_rkey = WORLD_KEY + 3 + below(4),
				     .bind = "good",
				     .bind_len = 4,
				     .path = &path,
				     .remote_qpn = 0x030077,
				     .remote_qkey = 0x11111111};
	struct vf_roce_sge sge = {world_addr(a, below(1000)), any_length(256), WORLD_KEY};
	struct vf_roce_recv_wr recv = {.sge_count = 1, .sge = &sge};
	bool is_atomic = wr.opcode == VF_ROCE_WR_ATOMIC_CMP_AND_SWP ||
			 wr.opcode == VF_ROCE_WR_ATOMIC_FETCH_AND_ADD;

	memcpy(path.sgid, a->gid, 16);
	memcpy(path.dgid, w.node[1].gid, 16);
	if (vf_roce_post_recv(p->qp[0], &recv) == 0)
		++*posted;
	if (world_post(a, p->qp[0], &wr, 0, is_atomic ? 8 : any_length(p->mtu_bytes) / 2) == 0)
		++*posted;
}

static void bring_to(struct world_pair *p, enum vf_roce_state state)
{
	struct vf_roce_qp_attr attr = {.state = state};

	world_to_init(&w, p, 0);
	if (state >= VF_ROCE_RTR)
		world_to_rtr(&w, p, 0);
	if (state >= VF_ROCE_RTS)
		world_to_rts(&w, p, 0);
	if (state > VF_ROCE_RTS)
		assert_int_equal(vf_roce_qp_modify(p->qp[0], w.now, &attr, VF_ROCE_ATTR_STATE), 0);
}

static void drain_packets(void)
{
	static struct vf_roce_tx tx[8];

	while (vf_roce_transmit(a->engine, w.now, tx, 8))
		;
	if (below(4) == 0) {
		vf_nsec due = vf_roce_deadline(a->engine);

		if (due != VF_NSEC_NEVER && due > w.now)
			w.now = due;
		vf_roce_tick(a->engine, w.now);
	}
}

static void one_life(enum vf_roce_type type, enum vf_roce_state state)
{
	struct world_pair p = world_pair_of(type);
	struct vf_roce_qp_attr end = {.state = VF_ROCE_ERR}, reset = {.state = VF_ROCE_RESET};
	unsigned posted = 0;

	world_connect(&w, &p);
	vf_roce_qp_modify(p.qp[0], w.now, &reset, VF_ROCE_ATTR_STATE);
	a->cqe_count = a->event_count = 0;
	for (unsigned i = 0; i < WORLD_KEYS; i++)
		a->keys[i].is_valid = i == 0 || i > 2;
	bring_to(&p, state);
	for (unsigned i = 0; i < 40; i++) {
		if (below(3) == 0)
			post_something(&p, &posted);
		send_noise(&p);
		if (below(2) == 0)
			drain_packets();
	}
	drain_packets();
	assert_int_equal(vf_roce_qp_modify(p.qp[0], w.now, &end, VF_ROCE_ATTR_STATE), 0);
	assert_int_equal(a->cqe_count, posted);
	assert_int_equal(world_events(a, VF_ROCE_EVENT_QP_FATAL), 0);
	world_disconnect(&p);
	vf_roce_tick(a->engine, w.now);
	assert_true(vf_roce_is_idle(a->engine));
}

static void noise_breaks_no_queue_pair_of_any_type_in_any_state(void **state)
{
	(void)state;
	vf_rand_seed(&rnd, 11);
	world_open(&w);
	for (unsigned i = 0; i < 300; i++)
		for (int type = VF_ROCE_RC; type <= VF_ROCE_UD; type++)
			for (int s = VF_ROCE_INIT; s <= VF_ROCE_ERR; s++)
				if (s != VF_ROCE_SQE || type != VF_ROCE_RC)
					one_life((enum vf_roce_type)type, (enum vf_roce_state)s);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_breaks_no_queue_pair_of_any_type_in_any_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

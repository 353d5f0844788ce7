/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that no honest engine sends, and some that rxe does: one engine's queue pair meets
 * packets made here by hand, which pretend to come from its peer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "roce/engine_world.h"
#include "roce/packet.h"
#include "roce/psn.h"
#include "roce/wire.h"

static struct world w;
static struct world_node *const a = &w.node[0], *const b = &w.node[1];
static struct world_pair pair;

#define FIRST_PSN 0xfffffeu /* of what node 0 sends */

/* Opens the world with a connection whose other end says only what the test says. */
static void begin(enum vf_roce_type type)
{
	world_open(&w);
	pair = world_pair_of(type);
	world_connect(&w, &pair);
	w.is_cut = true;
}

static void end(void)
{
	world_disconnect(&pair);
	world_close(&w);
}

struct forged {
	uint8_t opcode, syndrome;
	uint32_t psn, len, dma_len, rkey;
	uint64_t va, value, compare;
	uint16_t pkey;
	bool is_ack_req;
};

/* @to gets the packet as though its peer had sent it. */
static void forge(struct world_node *to, struct forged f)
{
	static uint8_t bytes[VF_ROCE_HEADERS_MAX + VF_ROCE_MTU_MAX];
	static struct vf_roce_tx tx;
	const struct vf_opcode_info *op = vf_opcode_info(f.opcode);
	struct vf_packet_start s = {.opcode = f.opcode,
				    .is_ack_req = f.is_ack_req,
				    .dest_qpn = vf_roce_qp_qpn(pair.qp[to->index]),
				    .psn = f.psn & VF_PSN_MASK,
				    .payload_len = f.len};
	struct vf_roce_rx rx = {.data = bytes, .hop_limit = 64};

	vf_packet_start(&tx, &s);
	memset(bytes, 0x5a, sizeof(bytes));
	memcpy(bytes, tx.headers, tx.header_len);
	if (f.pkey)
		vf_store_be16(bytes + VF_BTH_PKEY, f.pkey);
	if (op->aeth_at)
		bytes[op->aeth_at] = f.syndrome;
	if (op->atomic_ack_at)
		vf_store_be64(bytes + op->atomic_ack_at, f.value);
	if (op->reth_at) {
		vf_store_be64(bytes + op->reth_at + VF_RETH_VA, f.va);
		vf_store_be32(bytes + op->reth_at + VF_RETH_RKEY, f.rkey);
		vf_store_be32(bytes + op->reth_at + VF_RETH_DMA_LEN, f.dma_len);
	}
	if (op->atomic_at) {
		vf_store_be64(bytes + op->atomic_at + VF_ATOMIC_VA, f.va);
		vf_store_be32(bytes + op->atomic_at + VF_ATOMIC_RKEY, f.rkey);
		vf_store_be64(bytes + op->atomic_at + VF_ATOMIC_SWAP_ADD, f.value);
		vf_store_be64(bytes + op->atomic_at + VF_ATOMIC_COMPARE, f.compare);
	}
	rx.len = tx.header_len + f.len + tx.pad_len;
	memcpy(rx.sgid, w.node[!to->index].gid, 16);
	memcpy(rx.dgid, to->gid, 16);
	vf_roce_receive(to->engine, w.now, &rx, 1);
	world_run(&w, w.now);
}

static void post(enum vf_roce_wr_opcode opcode, uint64_t id, uint32_t len)
{
	struct vf_roce_send_wr wr = {.wr_id = id,
				     .opcode = opcode,
				     .flags = VF_ROCE_SEND_SIGNALED,
				     .remote_addr = world_addr(b, 0),
				     .rkey = WORLD_KEY};

	assert_int_equal(world_post(a, pair.qp[0], &wr, 0, len), 0);
	world_run(&w, w.now);
}

/* ---- the requester meets answers ---- */

static void acks_of_what_was_never_sent_or_is_done_are_ignored(void **state)
{
	(void)state;
	begin(VF_ROCE_RC);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x1f, .psn = FIRST_PSN});
	assert_int_equal(world_dropped(a, VF_DROP_GHOST_ACK), 1);
	post(VF_ROCE_WR_RDMA_WRITE, 1, 600);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x1f, .psn = FIRST_PSN + 3});
	assert_int_equal(world_dropped(a, VF_DROP_GHOST_ACK), 2);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x1f, .psn = FIRST_PSN - 1});
	assert_int_equal(world_dropped(a, VF_DROP_STALE_RESPONSE), 1);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x1f, .psn = FIRST_PSN + 1});
	assert_int_equal(a->cqe_count, 0);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x62, .psn = FIRST_PSN});
	assert_int_equal(world_dropped(a, VF_DROP_STALE_RESPONSE), 2);
	/* One ACK for several requests. */
	post(VF_ROCE_WR_RDMA_WRITE, 2, 600);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x1f, .psn = FIRST_PSN + 5});
	assert_int_equal(a->cqe_count, 2);
	assert_int_equal(a->cqe[1].status, VF_ROCE_WC_SUCCESS);
	end();
}

static void check_bad_answer(enum vf_roce_wr_opcode opcode, uint32_t len, struct forged f,
			     enum vf_roce_wc_status status)
{
	begin(VF_ROCE_RC);
	post(opcode, 1, len);
	forge(a, f);
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, status);
	assert_int_equal(a->cqe[0].vendor_err, f.syndrome);
	assert_int_equal(vf_roce_qp_state(pair.qp[0]), VF_ROCE_ERR);
	end();
}

static void answers_that_make_no_sense_end_with_bad_response(void **state)
{
	const struct forged bad[] = {
		{.opcode = VF_OP_READ_RESP_FIRST, .syndrome = 0x1f, .psn = FIRST_PSN, .len = 260},
		{.opcode = VF_OP_READ_RESP_ONLY, .syndrome = 0x1f, .psn = FIRST_PSN, .len = 256},
		{.opcode = VF_OP_READ_RESP_LAST, .syndrome = 0x1f, .psn = FIRST_PSN, .len = 88},
		{.opcode = VF_OP_READ_RESP_FIRST, .syndrome = 0x60, .psn = FIRST_PSN, .len = 256},
		{.opcode = VF_OP_ATOMIC_ACK, .syndrome = 0x1f, .psn = FIRST_PSN},
		{.opcode = VF_OP_ACK, .syndrome = 0x65, .psn = FIRST_PSN},
		{.opcode = VF_OP_ACK, .syndrome = 0x40, .psn = FIRST_PSN},
	};

	(void)state;
	for (unsigned i = 0; i < VF_ARRAY_SIZE(bad); i++)
		check_bad_answer(VF_ROCE_WR_RDMA_READ, 600, bad[i], VF_ROCE_WC_BAD_RESP_ERR);
	check_bad_answer(VF_ROCE_WR_SEND, 600, bad[2], VF_ROCE_WC_BAD_RESP_ERR);
	check_bad_answer(VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, 8,
			 (struct forged){.opcode = VF_OP_READ_RESP_ONLY,
					 .syndrome = 0x1f,
					 .psn = FIRST_PSN,
					 .len = 8},
			 VF_ROCE_WC_BAD_RESP_ERR);
}

static void each_nak_code_has_its_completion_status(void **state)
{
	static const struct {
		uint8_t code;
		enum vf_roce_wc_status status;
	} rows[] = {
		{0x61, VF_ROCE_WC_REM_INV_REQ_ERR}, {0x62, VF_ROCE_WC_REM_ACCESS_ERR},
		{0x63, VF_ROCE_WC_REM_OP_ERR},	    {0x64, VF_ROCE_WC_REM_INV_REQ_ERR},
		{0x7f, VF_ROCE_WC_BAD_RESP_ERR},
	};

	(void)state;
	for (unsigned i = 0; i < VF_ARRAY_SIZE(rows); i++)
		check_bad_answer(VF_ROCE_WR_RDMA_READ, 600,
				 (struct forged){.opcode = VF_OP_ACK,
						 .syndrome = rows[i].code,
						 .psn = FIRST_PSN},
				 rows[i].status);
}

static void a_repeated_read_may_go_on_with_middle_as_rxe_has_it(void **state)
{
	(void)state;
	begin(VF_ROCE_RC);
	post(VF_ROCE_WR_RDMA_READ, 1, 1000);
	forge(a, (struct forged){.opcode = VF_OP_READ_RESP_FIRST,
				 .syndrome = 0x1f,
				 .psn = FIRST_PSN,
				 .len = 256});
	/* the second is lost */
	forge(a,
	      (struct forged){.opcode = VF_OP_READ_RESP_MIDDLE, .psn = FIRST_PSN + 2, .len = 256});
	assert_int_equal(a->sent, 2);
	assert_int_equal(a->sent_psn[1], vf_psn_add(FIRST_PSN, 1));
	/* what was on its way still comes, and asks for nothing more */
	forge(a, (struct forged){.opcode = VF_OP_READ_RESP_LAST,
				 .syndrome = 0x1f,
				 .psn = FIRST_PSN + 3,
				 .len = 232});
	assert_int_equal(a->sent, 2);
	forge(a,
	      (struct forged){.opcode = VF_OP_READ_RESP_MIDDLE, .psn = FIRST_PSN + 1, .len = 256});
	forge(a,
	      (struct forged){.opcode = VF_OP_READ_RESP_MIDDLE, .psn = FIRST_PSN + 2, .len = 256});
	forge(a, (struct forged){.opcode = VF_OP_READ_RESP_LAST,
				 .syndrome = 0x1f,
				 .psn = FIRST_PSN + 3,
				 .len = 232});
	assert_int_equal(a->cqe_count, 1);
	assert_int_equal(a->cqe[0].status, VF_ROCE_WC_SUCCESS);
	end();
}

static void rxe_naks_the_gap_behind_its_rnr_nak_and_the_wait_goes_on(void **state)
{
	(void)state;
	begin(VF_ROCE_RC);
	post(VF_ROCE_WR_SEND, 1, 10);
	post(VF_ROCE_WR_SEND, 2, 10);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x2c, .psn = FIRST_PSN});
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x60, .psn = FIRST_PSN});
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x2c, .psn = FIRST_PSN});
	assert_int_equal(a->sent, 2);
	assert_int_equal(world_count(a, VF_CNT_RNR_NAK_RCVD), 1);
	world_run(&w, w.now + 639 * VF_USEC);
	assert_int_equal(a->sent, 2);
	world_run(&w, w.now + VF_USEC);
	assert_int_equal(a->sent, 4);
	forge(a, (struct forged){.opcode = VF_OP_ACK, .syndrome = 0x1f, .psn = FIRST_PSN + 1});
	assert_int_equal(a->cqe_count, 2);
	end();
}

/* ---- the responder meets requests ---- */

static void check_bad_request(const struct forged *f, unsigned count, uint8_t nak, uint32_t psn)
{
	begin(VF_ROCE_RC);
	world_post_recv(a, pair.qp[0], 1, 0, 4096);
	for (unsigned i = 0; i < count; i++)
		forge(a, f[i]);
	assert_true(a->sent > 0);
	assert_int_equal(a->sent_syndrome[a->sent - 1], nak);
	assert_int_equal(a->sent_psn[a->sent - 1], psn);
	assert_int_equal(vf_roce_qp_state(pair.qp[0]), VF_ROCE_ERR);
	assert_int_equal(a->event_count, 1);
	assert_int_equal(a->event[0].event, nak == VF_NAK_INVALID_REQUEST
						    ? VF_ROCE_EVENT_QP_REQ_ERR
						    : VF_ROCE_EVENT_QP_ACCESS_ERR);
	assert_int_equal(a->cqe[a->cqe_count - 1].status, VF_ROCE_WC_WR_FLUSH_ERR);
	end();
}

static void requests_out_of_order_or_of_wrong_length_are_invalid(void **state)
{
	const uint32_t psn = 0xfffffd;
	struct forged write = {.opcode = VF_OP_WRITE_FIRST,
			       .psn = psn,
			       .len = 256,
			       .dma_len = 600,
			       .rkey = WORLD_KEY};
	struct forged f[3];

	(void)state;
	write.va = UINT64_C(0x100000000) - 0x100;
	/* the end or the middle of what never began */
	f[0] = (struct forged){.opcode = VF_OP_SEND_LAST, .psn = psn, .len = 4};
	check_bad_request(f, 1, VF_NAK_INVALID_REQUEST, psn);
	f[0] = (struct forged){.opcode = VF_OP_WRITE_MIDDLE, .psn = psn, .len = 256};
	check_bad_request(f, 1, VF_NAK_INVALID_REQUEST, psn);
	/* another kind in the middle, a new message before the end */
	f[0] = (struct forged){.opcode = VF_OP_SEND_FIRST, .psn = psn, .len = 256};
	f[1] = (struct forged){.opcode = VF_OP_WRITE_LAST, .psn = psn + 1, .len = 4};
	check_bad_request(f, 2, VF_NAK_INVALID_REQUEST, psn + 1);
	f[1] = (struct forged){.opcode = VF_OP_SEND_ONLY, .psn = psn + 1, .len = 4};
	check_bad_request(f, 2, VF_NAK_INVALID_REQUEST, psn + 1);
	f[1] = (struct forged){.opcode = VF_OP_READ_REQUEST, .psn = psn + 1};
	check_bad_request(f, 2, VF_NAK_INVALID_REQUEST, psn + 1);
	/* shorter than the MTU where it must be full, longer than the MTU */
	f[0] = (struct forged){.opcode = VF_OP_SEND_FIRST, .psn = psn, .len = 128};
	check_bad_request(f, 1, VF_NAK_INVALID_REQUEST, psn);
	f[0] = (struct forged){.opcode = VF_OP_SEND_ONLY, .psn = psn, .len = 257};
	check_bad_request(f, 1, VF_NAK_INVALID_REQUEST, psn);
	/* writes that bring less or more than they said */
	f[0] = write;
	f[1] = (struct forged){.opcode = VF_OP_WRITE_LAST, .psn = psn + 1, .len = 88};
	check_bad_request(f, 2, VF_NAK_INVALID_REQUEST, psn + 1);
	f[1] = (struct forged){.opcode = VF_OP_WRITE_MIDDLE, .psn = psn + 1, .len = 256};
	f[2] = (struct forged){.opcode = VF_OP_WRITE_MIDDLE, .psn = psn + 2, .len = 256};
	check_bad_request(f, 3, VF_NAK_INVALID_REQUEST, psn + 2);
	f[0] = write;
	f[0].dma_len = 0x80000001u;
	check_bad_request(f, 1, VF_NAK_INVALID_REQUEST, psn);
	f[0] = write;
	f[0].va += WORLD_MEM - 599;
	check_bad_request(f, 1, VF_NAK_REMOTE_ACCESS, psn);
	f[0].va = UINT64_MAX - 10;
	check_bad_request(f, 1, VF_NAK_REMOTE_ACCESS, psn);
}

static void a_duplicate_atomic_is_answered_from_what_was_kept(void **state)
{
	struct forged f = {.opcode = VF_OP_FETCH_ADD,
			   .psn = 0xfffffd,
			   .rkey = WORLD_KEY,
			   .value = 5,
			   .is_ack_req = true};
	uint64_t v = 100;

	(void)state;
	begin(VF_ROCE_RC);
	f.va = world_addr(a, 8);
	memcpy(a->mem + 8, &v, 8);
	for (unsigned i = 0; i < 5; i++) {
		f.psn = 0xfffffd + (i > 2 ? i - 2 : 0);
		forge(a, f);
		assert_int_equal(a->sent, i + 1);
		assert_int_equal(a->sent_opcode[i], VF_OP_ATOMIC_ACK);
		assert_int_equal(a->sent_psn[i], f.psn & VF_PSN_MASK);
	}
	memcpy(&v, a->mem + 8, 8);
	assert_true(v == 115);
	assert_int_equal(world_count(a, VF_CNT_DUPLICATE_REQUEST), 2);
	assert_int_equal(world_count(a, VF_CNT_RX_ATOMIC_REQUESTS), 3);
	end();
}

static void a_duplicate_send_is_acknowledged_with_the_last_psn_done(void **state)
{
	struct forged f = {.opcode = VF_OP_SEND_ONLY, .psn = 0xfffffd, .len = 8};

	(void)state;
	begin(VF_ROCE_RC);
	for (unsigned i = 0; i < 4; i++)
		world_post_recv(a, pair.qp[0], i, 0, 8);
	for (unsigned i = 0; i < 4; i++) {
		f.psn = 0xfffffd + i;
		forge(a, f);
	}
	assert_int_equal(a->sent, 0);
	f.psn = 0xfffffd;
	forge(a, f);
	assert_int_equal(a->sent, 1);
	assert_int_equal(a->sent_psn[0], 0);
	assert_int_equal(a->sent_syndrome[0], 0x1f);
	assert_int_equal(a->cqe_count, 4);
	end();
}

static void keys_of_the_partition_may_be_limited_but_not_others(void **state)
{
	struct forged f = {.opcode = VF_OP_SEND_ONLY, .psn = 0xfffffd, .len = 8, .pkey = 0x7fff};

	(void)state;
	begin(VF_ROCE_RC);
	world_post_recv(a, pair.qp[0], 1, 0, 8);
	forge(a, f);
	assert_int_equal(a->cqe_count, 1);
	f.pkey = 0x8001;
	f.psn++;
	forge(a, f);
	assert_int_equal(world_dropped(a, VF_DROP_BAD_PKEY), 1);
	/* and what belongs to another service */
	f.pkey = 0;
	f.opcode = VF_OP_UC + VF_OP_SEND_ONLY;
	forge(a, f);
	assert_int_equal(world_dropped(a, VF_DROP_BAD_OPCODE), 1);
	assert_int_equal(vf_roce_qp_state(pair.qp[0]), VF_ROCE_RTS);
	end();
}

static void a_read_the_queue_pair_has_no_right_to_is_an_invalid_request(void **state)
{
	struct vf_roce_qp_attr attr = {.access = VF_ROCE_REMOTE_WRITE};

	(void)state;
	begin(VF_ROCE_RC);
	vf_roce_qp_modify(pair.qp[0], w.now, &attr, VF_ROCE_ATTR_ACCESS);
	forge(a, (struct forged){.opcode = VF_OP_READ_REQUEST,
				 .psn = 0xfffffd,
				 .va = world_addr(a, 0),
				 .rkey = WORLD_KEY,
				 .dma_len = 10});
	assert_int_equal(a->sent_syndrome[0], VF_NAK_INVALID_REQUEST);
	assert_int_equal(world_events(a, VF_ROCE_EVENT_QP_REQ_ERR), 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_of_what_was_never_sent_or_is_done_are_ignored),
		cmocka_unit_test(answers_that_make_no_sense_end_with_bad_response),
		cmocka_unit_test(each_nak_code_has_its_completion_status),
		cmocka_unit_test(a_repeated_read_may_go_on_with_middle_as_rxe_has_it),
		cmocka_unit_test(rxe_naks_the_gap_behind_its_rnr_nak_and_the_wait_goes_on),
		cmocka_unit_test(requests_out_of_order_or_of_wrong_length_are_invalid),
		cmocka_unit_test(a_duplicate_atomic_is_answered_from_what_was_kept),
		cmocka_unit_test(a_duplicate_send_is_acknowledged_with_the_last_psn_done),
		cmocka_unit_test(keys_of_the_partition_may_be_limited_but_not_others),
		cmocka_unit_test(a_read_the_queue_pair_has_no_right_to_is_an_invalid_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

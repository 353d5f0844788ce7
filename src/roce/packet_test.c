/* SPDX-License-Identifier: BSD-2-Clause */
/* The opcode tables, and parsing of packets that are right, cut short, or nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rand.h"
#include "roce/packet.h"
#include "roce/wire.h"

static void every_row_of_the_opcode_table_adds_up(void **state)
{
	unsigned rows = 0;

	(void)state;
	for (unsigned op = 0; op < 256; op++) {
		const struct vf_opcode_info *i = vf_opcode_info((uint8_t)op);
		unsigned len = VF_BTH_LEN;

		if (!i)
			continue;
		rows++;
		len += (i->deth_at ? (unsigned)VF_DETH_LEN : 0) +
		       (i->reth_at ? (unsigned)VF_RETH_LEN : 0) +
		       (i->aeth_at ? (unsigned)VF_AETH_LEN : 0) +
		       (i->atomic_at ? (unsigned)VF_ATOMIC_LEN : 0) +
		       (i->atomic_ack_at ? (unsigned)VF_ATOMIC_ACK_LEN : 0) +
		       (i->imm_at ? (unsigned)VF_IMM_LEN : 0) +
		       (i->ieth_at ? (unsigned)VF_IETH_LEN : 0);
		assert_int_equal(i->header_len, len);
		assert_true(len <= VF_ROCE_HEADERS_MAX);
		assert_int_equal((i->flags & VF_OPF_IMM) != 0, i->imm_at != 0);
		assert_int_equal((i->flags & VF_OPF_INV) != 0, i->ieth_at != 0);
		/* the upper three bits say the service */
		assert_int_equal(op >> 5, i->type == VF_ROCE_RC	  ? 0
					  : i->type == VF_ROCE_UC ? 1
								  : 3);
	}
	/* RC 21 and two with invalidate, UC 12, UD 2 */
	assert_int_equal(rows, 21 + 2 + 12 + 2);
	assert_null(vf_opcode_info(0x15));
	assert_null(vf_opcode_info(0xc0));
}

static void work_requests_belong_to_the_services_of_the_specification(void **state)
{
	static const struct {
		enum vf_roce_wr_opcode op;
		bool rc, uc, ud;
	} rows[] = {
		{VF_ROCE_WR_SEND, true, true, true},
		{VF_ROCE_WR_SEND_WITH_IMM, true, true, true},
		{VF_ROCE_WR_SEND_WITH_INV, true, false, false},
		{VF_ROCE_WR_RDMA_WRITE, true, true, false},
		{VF_ROCE_WR_RDMA_WRITE_WITH_IMM, true, true, false},
		{VF_ROCE_WR_RDMA_READ, true, false, false},
		{VF_ROCE_WR_ATOMIC_CMP_AND_SWP, true, false, false},
		{VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, true, false, false},
		{VF_ROCE_WR_LOCAL_INV, true, true, false},
		{VF_ROCE_WR_BIND_MW, true, true, false},
	};

	(void)state;
	for (unsigned i = 0; i < VF_ARRAY_SIZE(rows); i++) {
		const struct vf_wr_info *info = vf_wr_info(rows[i].op);

		assert_int_equal(vf_wr_is_allowed(info, VF_ROCE_RC), rows[i].rc);
		assert_int_equal(vf_wr_is_allowed(info, VF_ROCE_UC), rows[i].uc);
		assert_int_equal(vf_wr_is_allowed(info, VF_ROCE_UD), rows[i].ud);
	}
	assert_null(vf_wr_info((enum vf_roce_wr_opcode)10));
}

static void a_started_packet_parses_back_to_the_same_fields(void **state)
{
	(void)state;
	for (unsigned op = 0; op < 256; op++) {
		const struct vf_opcode_info *i = vf_opcode_info((uint8_t)op);
		struct vf_packet_start s = {.opcode = (uint8_t)op,
					    .is_solicited = true,
					    .is_ack_req = true,
					    .dest_qpn = 0xabcdef,
					    .psn = 0xfffffe};
		static struct vf_roce_tx tx;
		uint8_t bytes[VF_ROCE_HEADERS_MAX + 8];
		struct vf_roce_rx rx = {.data = bytes};
		struct vf_packet p;
		enum vf_roce_drop why;

		if (!i)
			continue;
		if (i->flags & VF_OPF_PAYLOAD)
			s.payload_len = i->flags & VF_OPF_LAST ? 3 : 4;
		vf_packet_start(&tx, &s);
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, tx.headers, tx.header_len);
		rx.len = tx.header_len + s.payload_len + tx.pad_len;
		assert_true(vf_packet_parse(&rx, &p, &why));
		assert_int_equal(p.opcode, op);
		assert_int_equal(p.dest_qpn, 0xabcdef);
		assert_int_equal(p.psn, 0xfffffe);
		assert_int_equal(p.pkey, 0xffff);
		assert_true(p.is_solicited && p.is_ack_req);
		assert_int_equal(p.payload_len, s.payload_len);
		/* one byte less is refused, one word more where no payload may be */
		rx.len--;
		assert_false(vf_packet_parse(&rx, &p, &why));
		rx.len += 5;
		if (!(i->flags & VF_OPF_PAYLOAD)) {
			assert_false(vf_packet_parse(&rx, &p, &why));
			assert_int_equal(why, VF_DROP_BAD_LENGTH);
		}
		/* a version that is not ours */
		bytes[VF_BTH_FLAGS] |= 1;
		assert_false(vf_packet_parse(&rx, &p, &why));
		assert_int_equal(why, VF_DROP_BAD_VERSION);
	}
}

static void headers_cut_anywhere_are_too_short(void **state)
{
	uint8_t bytes[VF_ROCE_HEADERS_MAX] = {0};
	struct vf_packet p;
	enum vf_roce_drop why;

	(void)state;
	bytes[0] = VF_OP_COMPARE_SWAP;
	for (uint32_t len = 0; len < VF_BTH_LEN + VF_ATOMIC_LEN; len++) {
		struct vf_roce_rx rx = {.data = bytes, .len = len};

		assert_false(vf_packet_parse(&rx, &p, &why));
		assert_int_equal(why, VF_DROP_TOO_SHORT);
	}
}

static void noise_is_parsed_within_its_length_or_refused(void **state)
{
	struct vf_rand r;

	(void)state;
	vf_rand_seed(&r, 3);
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t len = (uint32_t)vf_rand_below(&r, 80);
		uint8_t *bytes = malloc(len ? len : 1);
		struct vf_roce_rx rx = {.data = bytes, .len = len};
		struct vf_packet p;
		enum vf_roce_drop why;

		for (uint32_t k = 0; k < len; k++)
			bytes[k] = (uint8_t)vf_rand_next(&r);
		if (len > 1)
			bytes[1] &= 0xf0;
		if (vf_packet_parse(&rx, &p, &why))
			assert_true(p.payload + p.payload_len <= bytes + len);
		else
			assert_true(why < VF_DROP_COUNT);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_the_opcode_table_adds_up),
		cmocka_unit_test(work_requests_belong_to_the_services_of_the_specification),
		cmocka_unit_test(a_started_packet_parses_back_to_the_same_fields),
		cmocka_unit_test(headers_cut_anywhere_are_too_short),
		cmocka_unit_test(noise_is_parsed_within_its_length_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

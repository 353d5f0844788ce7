/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The opcode tables: BTH opcodes (IBTA 9.2.1, table 38; extension headers by opcode, 9.2 and figure
 * 85; congestion notification A17.9.3) and work request opcodes by service (IBTA 10.7.2.2, table
 * 93).
 */
#include "roce/opcode.h"

#include "roce/wire.h"

#define AT_1	 VF_BTH_LEN
#define SEND	 VF_OPF_SEND
#define WRITE	 VF_OPF_WRITE
#define FIRST	 VF_OPF_FIRST
#define LAST	 VF_OPF_LAST
#define ONLY	 VF_OPF_ONLY
#define PAYLOAD	 VF_OPF_PAYLOAD
#define IMM	 VF_OPF_IMM
#define RECEIVE	 VF_OPF_RECEIVE
#define RESPONSE VF_OPF_RESPONSE

/* Rows that RC and UC share: @at is the opcode, @t the type. */
#define PLAIN(at, t, n, f) [at] = {.name = n, .type = t, .flags = (f), .header_len = AT_1}
#define WITH_IMM(at, t, n, f)                                                                      \
	[at] = {.name = n,                                                                         \
		.type = t,                                                                         \
		.flags = (f) | IMM,                                                                \
		.header_len = AT_1 + VF_IMM_LEN,                                                   \
		.imm_at = AT_1}
#define WITH_RETH(at, t, n, f)                                                                     \
	[at] = {.name = n,                                                                         \
		.type = t,                                                                         \
		.flags = (f),                                                                      \
		.header_len = AT_1 + VF_RETH_LEN,                                                  \
		.reth_at = AT_1}
#define WITH_RETH_IMM(at, t, n, f)                                                                 \
	[at] = {.name = n,                                                                         \
		.type = t,                                                                         \
		.flags = (f) | IMM,                                                                \
		.header_len = AT_1 + VF_RETH_LEN + VF_IMM_LEN,                                     \
		.reth_at = AT_1,                                                                   \
		.imm_at = AT_1 + VF_RETH_LEN}
#define WITH_AETH(at, n, f)                                                                        \
	[at] = {.name = n,                                                                         \
		.type = VF_ROCE_RC,                                                                \
		.flags = (f) | RESPONSE,                                                           \
		.header_len = AT_1 + VF_AETH_LEN,                                                  \
		.aeth_at = AT_1}
#define WITH_IETH(at, n, f)                                                                        \
	[at] = {.name = n,                                                                         \
		.type = VF_ROCE_RC,                                                                \
		.flags = (f) | VF_OPF_INV,                                                         \
		.header_len = AT_1 + VF_IETH_LEN,                                                  \
		.ieth_at = AT_1}
#define WITH_ATOMIC(at, n)                                                                         \
	[at] = {.name = n,                                                                         \
		.type = VF_ROCE_RC,                                                                \
		.flags = VF_OPF_ATOMIC | ONLY,                                                     \
		.header_len = AT_1 + VF_ATOMIC_LEN,                                                \
		.atomic_at = AT_1}

#define SEND_AND_WRITE(base, t, p)                                                                 \
	PLAIN((base) + VF_OP_SEND_FIRST, t, p "SEND_FIRST", SEND | FIRST | PAYLOAD | RECEIVE),     \
		PLAIN((base) + VF_OP_SEND_MIDDLE, t, p "SEND_MIDDLE", SEND | PAYLOAD),             \
		PLAIN((base) + VF_OP_SEND_LAST, t, p "SEND_LAST", SEND | LAST | PAYLOAD),          \
		WITH_IMM((base) + VF_OP_SEND_LAST_IMM, t, p "SEND_LAST_WITH_IMM",                  \
			 SEND | LAST | PAYLOAD),                                                   \
		PLAIN((base) + VF_OP_SEND_ONLY, t, p "SEND_ONLY",                                  \
		      SEND | ONLY | PAYLOAD | RECEIVE),                                            \
		WITH_IMM((base) + VF_OP_SEND_ONLY_IMM, t, p "SEND_ONLY_WITH_IMM",                  \
			 SEND | ONLY | PAYLOAD | RECEIVE),                                         \
		WITH_RETH((base) + VF_OP_WRITE_FIRST, t, p "WRITE_FIRST",                          \
			  WRITE | FIRST | PAYLOAD),                                                \
		PLAIN((base) + VF_OP_WRITE_MIDDLE, t, p "WRITE_MIDDLE", WRITE | PAYLOAD),          \
		PLAIN((base) + VF_OP_WRITE_LAST, t, p "WRITE_LAST", WRITE | LAST | PAYLOAD),       \
		WITH_IMM((base) + VF_OP_WRITE_LAST_IMM, t, p "WRITE_LAST_WITH_IMM",                \
			 WRITE | LAST | PAYLOAD | RECEIVE),                                        \
		WITH_RETH((base) + VF_OP_WRITE_ONLY, t, p "WRITE_ONLY", WRITE | ONLY | PAYLOAD),   \
		WITH_RETH_IMM((base) + VF_OP_WRITE_ONLY_IMM, t, p "WRITE_ONLY_WITH_IMM",           \
			      WRITE | ONLY | PAYLOAD | RECEIVE)

static const struct vf_opcode_info opcodes[256] = {
	SEND_AND_WRITE(0, VF_ROCE_RC, "RC_"),
	WITH_RETH(VF_OP_READ_REQUEST, VF_ROCE_RC, "RC_READ_REQUEST", VF_OPF_READ | ONLY),
	WITH_AETH(VF_OP_READ_RESP_FIRST, "RC_READ_RESPONSE_FIRST", VF_OPF_READ | FIRST | PAYLOAD),
	PLAIN(VF_OP_READ_RESP_MIDDLE, VF_ROCE_RC, "RC_READ_RESPONSE_MIDDLE",
	      VF_OPF_READ | PAYLOAD | RESPONSE),
	WITH_AETH(VF_OP_READ_RESP_LAST, "RC_READ_RESPONSE_LAST", VF_OPF_READ | LAST | PAYLOAD),
	WITH_AETH(VF_OP_READ_RESP_ONLY, "RC_READ_RESPONSE_ONLY", VF_OPF_READ | ONLY | PAYLOAD),
	WITH_AETH(VF_OP_ACK, "RC_ACKNOWLEDGE", 0),
	[VF_OP_ATOMIC_ACK] = {.name = "RC_ATOMIC_ACKNOWLEDGE",
			      .type = VF_ROCE_RC,
			      .flags = VF_OPF_ATOMIC | RESPONSE,
			      .header_len = AT_1 + VF_AETH_LEN + VF_ATOMIC_ACK_LEN,
			      .aeth_at = AT_1,
			      .atomic_ack_at = AT_1 + VF_AETH_LEN},
	WITH_ATOMIC(VF_OP_COMPARE_SWAP, "RC_COMPARE_SWAP"),
	WITH_ATOMIC(VF_OP_FETCH_ADD, "RC_FETCH_ADD"),
	WITH_IETH(VF_OP_SEND_LAST_INV, "RC_SEND_LAST_WITH_INVALIDATE", SEND | LAST | PAYLOAD),
	WITH_IETH(VF_OP_SEND_ONLY_INV, "RC_SEND_ONLY_WITH_INVALIDATE",
		  SEND | ONLY | PAYLOAD | RECEIVE),
	SEND_AND_WRITE(VF_OP_UC, VF_ROCE_UC, "UC_"),
	[VF_OP_UD_SEND_ONLY] = {.name = "UD_SEND_ONLY",
				.type = VF_ROCE_UD,
				.flags = SEND | ONLY | PAYLOAD | RECEIVE,
				.header_len = AT_1 + VF_DETH_LEN,
				.deth_at = AT_1},
	[VF_OP_UD_SEND_ONLY_IMM] = {.name = "UD_SEND_ONLY_WITH_IMM",
				    .type = VF_ROCE_UD,
				    .flags = SEND | ONLY | PAYLOAD | RECEIVE | IMM,
				    .header_len = AT_1 + VF_DETH_LEN + VF_IMM_LEN,
				    .deth_at = AT_1,
				    .imm_at = AT_1 + VF_DETH_LEN},
};

#define ANY	   (VF_WRF_RC | VF_WRF_UC | VF_WRF_UD)
#define CONNECTED  (VF_WRF_RC | VF_WRF_UC)
#define REPEAT(op) .first = (op), .middle = (op), .last = (op), .only = (op)

static const struct vf_wr_info requests[] = {
	[VF_ROCE_WR_RDMA_WRITE] = {"RDMA_WRITE", CONNECTED | VF_WRF_INLINE, VF_ROCE_WC_RDMA_WRITE,
				   VF_OP_WRITE_FIRST, VF_OP_WRITE_MIDDLE, VF_OP_WRITE_LAST,
				   VF_OP_WRITE_ONLY},
	[VF_ROCE_WR_RDMA_WRITE_WITH_IMM] = {"RDMA_WRITE_WITH_IMM", CONNECTED | VF_WRF_INLINE,
					    VF_ROCE_WC_RDMA_WRITE, VF_OP_WRITE_FIRST,
					    VF_OP_WRITE_MIDDLE, VF_OP_WRITE_LAST_IMM,
					    VF_OP_WRITE_ONLY_IMM},
	[VF_ROCE_WR_SEND] = {"SEND", ANY | VF_WRF_INLINE, VF_ROCE_WC_SEND, VF_OP_SEND_FIRST,
			     VF_OP_SEND_MIDDLE, VF_OP_SEND_LAST, VF_OP_SEND_ONLY},
	[VF_ROCE_WR_SEND_WITH_IMM] = {"SEND_WITH_IMM", ANY | VF_WRF_INLINE, VF_ROCE_WC_SEND,
				      VF_OP_SEND_FIRST, VF_OP_SEND_MIDDLE, VF_OP_SEND_LAST_IMM,
				      VF_OP_SEND_ONLY_IMM},
	[VF_ROCE_WR_RDMA_READ] = {"RDMA_READ", VF_WRF_RC | VF_WRF_RD_ATOMIC, VF_ROCE_WC_RDMA_READ,
				  REPEAT(VF_OP_READ_REQUEST)},
	[VF_ROCE_WR_ATOMIC_CMP_AND_SWP] = {"ATOMIC_CMP_AND_SWP", VF_WRF_RC | VF_WRF_RD_ATOMIC,
					   VF_ROCE_WC_COMP_SWAP, REPEAT(VF_OP_COMPARE_SWAP)},
	[VF_ROCE_WR_ATOMIC_FETCH_AND_ADD] = {"ATOMIC_FETCH_AND_ADD", VF_WRF_RC | VF_WRF_RD_ATOMIC,
					     VF_ROCE_WC_FETCH_ADD, REPEAT(VF_OP_FETCH_ADD)},
	[VF_ROCE_WR_LOCAL_INV] = {"LOCAL_INV", CONNECTED | VF_WRF_LOCAL, VF_ROCE_WC_LOCAL_INV,
				  REPEAT(0)},
	[VF_ROCE_WR_BIND_MW] = {"BIND_MW", CONNECTED | VF_WRF_LOCAL, VF_ROCE_WC_BIND_MW, REPEAT(0)},
	[VF_ROCE_WR_SEND_WITH_INV] = {"SEND_WITH_INV", VF_WRF_RC | VF_WRF_INLINE, VF_ROCE_WC_SEND,
				      VF_OP_SEND_FIRST, VF_OP_SEND_MIDDLE, VF_OP_SEND_LAST_INV,
				      VF_OP_SEND_ONLY_INV},
};

const struct vf_opcode_info *vf_opcode_info(uint8_t opcode)
{
	return opcodes[opcode].name ? &opcodes[opcode] : NULL;
}

const struct vf_wr_info *vf_wr_info(enum vf_roce_wr_opcode opcode)
{
	size_t i = (size_t)opcode;

	return i < VF_ARRAY_SIZE(requests) ? &requests[i] : NULL;
}

uint8_t vf_wr_packet_opcode(const struct vf_wr_info *wr, enum vf_roce_type type, bool is_first,
			    bool is_last)
{
	uint8_t op =
		is_first ? (is_last ? wr->only : wr->first) : (is_last ? wr->last : wr->middle);

	if (type == VF_ROCE_UC)
		return (uint8_t)(op + VF_OP_UC);
	if (type == VF_ROCE_UD)
		return op == VF_OP_SEND_ONLY_IMM ? VF_OP_UD_SEND_ONLY_IMM : VF_OP_UD_SEND_ONLY;
	return op;
}

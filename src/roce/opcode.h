/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_OPCODE_H
#define VF_ROCE_OPCODE_H
/* What each BTH opcode and each work request opcode is, as two constant tables that parsing,
 * checking and building read. */
#include "roce/roce.h"

/* BTH opcodes (IBTA 9.2.1, table 38). UC has the first twelve of RC, moved by VF_OP_UC. */
enum vf_opcode {
	VF_OP_SEND_FIRST = 0x00,
	VF_OP_SEND_MIDDLE,
	VF_OP_SEND_LAST,
	VF_OP_SEND_LAST_IMM,
	VF_OP_SEND_ONLY,
	VF_OP_SEND_ONLY_IMM,
	VF_OP_WRITE_FIRST,
	VF_OP_WRITE_MIDDLE,
	VF_OP_WRITE_LAST,
	VF_OP_WRITE_LAST_IMM,
	VF_OP_WRITE_ONLY,
	VF_OP_WRITE_ONLY_IMM,
	VF_OP_READ_REQUEST,
	VF_OP_READ_RESP_FIRST,
	VF_OP_READ_RESP_MIDDLE,
	VF_OP_READ_RESP_LAST,
	VF_OP_READ_RESP_ONLY,
	VF_OP_ACK,
	VF_OP_ATOMIC_ACK,
	VF_OP_COMPARE_SWAP,
	VF_OP_FETCH_ADD,
	VF_OP_SEND_LAST_INV = 0x16,
	VF_OP_SEND_ONLY_INV,
	VF_OP_UC = 0x20,
	VF_OP_UD_SEND_ONLY = 0x64,
	VF_OP_UD_SEND_ONLY_IMM,
	VF_OP_CNP = 0x81,
};

enum vf_opcode_flags {
	VF_OPF_SEND = 1 << 0,
	VF_OPF_WRITE = 1 << 1,
	VF_OPF_READ = 1 << 2,
	VF_OPF_ATOMIC = 1 << 3,
	VF_OPF_FIRST = 1 << 4, /* starts a message */
	VF_OPF_LAST = 1 << 5,  /* ends it; "only" packets do both */
	VF_OPF_PAYLOAD = 1 << 6,
	VF_OPF_IMM = 1 << 7,
	VF_OPF_INV = 1 << 8,
	VF_OPF_RESPONSE = 1 << 9,
	VF_OPF_RECEIVE = 1 << 10, /* a receive must have been posted when this packet comes */
};

#define VF_OPF_ONLY (VF_OPF_FIRST | VF_OPF_LAST)

/* One row; an extension header's offset is 0 when the packet has none. */
struct vf_opcode_info {
	const char *name; /* NULL: reserved */
	uint16_t flags;
	uint8_t type; /* enum vf_roce_type */
	uint8_t header_len;
	uint8_t deth_at, reth_at, aeth_at, atomic_at, atomic_ack_at, imm_at, ieth_at;
};

/** The row of a BTH opcode; NULL when it is reserved or of a service that we do not have. */
const struct vf_opcode_info *vf_opcode_info(uint8_t opcode);

/* What a work request of an opcode is. */
enum vf_wr_flags {
	VF_WRF_RC = 1 << VF_ROCE_RC,
	VF_WRF_UC = 1 << VF_ROCE_UC,
	VF_WRF_UD = 1 << VF_ROCE_UD,
	VF_WRF_LOCAL = 1 << 3,	   /* no packet */
	VF_WRF_RD_ATOMIC = 1 << 4, /* answered with data; counts against max_rd_atomic */
	VF_WRF_INLINE = 1 << 5,	   /* may carry its data inline */
};

struct vf_wr_info {
	const char *name;
	uint16_t flags;
	uint8_t wc_opcode;		   /* enum vf_roce_wc_opcode */
	uint8_t first, middle, last, only; /* BTH opcodes for RC */
};

/** The row of a work request opcode; NULL when there is no such opcode. */
const struct vf_wr_info *vf_wr_info(enum vf_roce_wr_opcode opcode);

static inline bool vf_wr_is_allowed(const struct vf_wr_info *wr, enum vf_roce_type type)
{
	return (wr->flags & (1u << type)) != 0;
}

/** BTH opcode of a packet of a message: which it is depends on the type and on where in the message
 * it stands. */
uint8_t vf_wr_packet_opcode(const struct vf_wr_info *wr, enum vf_roce_type type, bool is_first,
			    bool is_last);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_PACKET_H
#define VF_ROCE_PACKET_H
/* A packet that came in, as plain fields in host order; and the start of one that goes out. */
#include "roce/opcode.h"
#include "roce/roce.h"

struct vf_packet {
	const struct vf_roce_rx *rx;
	const struct vf_opcode_info *op;
	uint8_t opcode;
	uint8_t syndrome; /* AETH */
	bool is_solicited, is_ack_req;
	uint16_t pkey;
	uint32_t dest_qpn, psn, msn;
	uint32_t src_qpn, qkey;	    /* DETH */
	uint64_t va;		    /* RETH, AtomicETH */
	uint32_t rkey, dma_len;	    /* RETH, AtomicETH */
	uint64_t swap_add, compare; /* AtomicETH */
	uint64_t original;	    /* AtomicAckETH */
	uint32_t imm_or_rkey;	    /* immediate as it lies in memory, or the IETH's rkey */
	const uint8_t *payload;
	uint32_t payload_len;
};

/**
 * Reads a packet of an opcode that we know. False: it is to be dropped, and @why says for what.
 * Checks what needs no QP: lengths of headers, pad and payload, version, reserved opcodes.
 */
bool vf_packet_parse(const struct vf_roce_rx *rx, struct vf_packet *out, enum vf_roce_drop *why);

/* What a packet to send starts with. */
struct vf_packet_start {
	uint8_t opcode;
	bool is_solicited, is_ack_req;
	uint32_t dest_qpn, psn, payload_len;
};

/** Fills BTH, header_len, payload_len and pad_len; extension headers are zeroed for the caller to
 * fill by the opcode's row. */
void vf_packet_start(struct vf_roce_tx *tx, const struct vf_packet_start *s);
/** What the packet costs its receiver, as flow.h counts. */
uint32_t vf_packet_tx_cost(const struct vf_roce_tx *tx);

#endif

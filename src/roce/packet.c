/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parsing and starting packets (IBTA 9.2 BTH, 9.3 extension headers, 9.6 header validation).
 * Everything is bounds-checked against the length that came in; what cannot be judged without a QP
 * (path MTU, keys, sequence) is left to the QP's own steps.
 */
#include "roce/packet.h"

#include "roce/flow.h"
#include "roce/wire.h"

static void read_extensions(const uint8_t *d, struct vf_packet *p)
{
	const struct vf_opcode_info *op = p->op;

	if (op->deth_at) {
		p->qkey = vf_load_be32(d + op->deth_at + VF_DETH_QKEY);
		p->src_qpn = vf_load_be24(d + op->deth_at + VF_DETH_SRC_QPN);
	}
	if (op->reth_at) {
		p->va = vf_load_be64(d + op->reth_at + VF_RETH_VA);
		p->rkey = vf_load_be32(d + op->reth_at + VF_RETH_RKEY);
		p->dma_len = vf_load_be32(d + op->reth_at + VF_RETH_DMA_LEN);
	}
	if (op->atomic_at) {
		p->va = vf_load_be64(d + op->atomic_at + VF_ATOMIC_VA);
		p->rkey = vf_load_be32(d + op->atomic_at + VF_ATOMIC_RKEY);
		p->swap_add = vf_load_be64(d + op->atomic_at + VF_ATOMIC_SWAP_ADD);
		p->compare = vf_load_be64(d + op->atomic_at + VF_ATOMIC_COMPARE);
	}
	if (op->aeth_at) {
		p->syndrome = d[op->aeth_at + VF_AETH_SYNDROME];
		p->msn = vf_load_be24(d + op->aeth_at + VF_AETH_MSN);
	}
	if (op->atomic_ack_at)
		p->original = vf_load_be64(d + op->atomic_ack_at);
	if (op->imm_at)
		memcpy(&p->imm_or_rkey, d + op->imm_at, sizeof(p->imm_or_rkey));
	if (op->ieth_at)
		p->imm_or_rkey = vf_load_be32(d + op->ieth_at);
}

/* IBTA 9.6: the payload is what lies between the headers and the pad; packets within a message
 * carry no pad, its end some data. */
static bool has_sound_payload(const struct vf_packet *p, unsigned pad)
{
	unsigned flags = p->op->flags;

	if (!(flags & VF_OPF_PAYLOAD))
		return p->payload_len == 0 && pad == 0;
	if (p->payload_len > VF_ROCE_MTU_MAX)
		return false;
	if (!(flags & VF_OPF_LAST))
		return pad == 0 && p->payload_len > 0;
	return (flags & VF_OPF_FIRST) || p->payload_len > 0;
}

bool vf_packet_parse(const struct vf_roce_rx *rx, struct vf_packet *out, enum vf_roce_drop *why)
{
	const uint8_t *d = rx->data;
	unsigned pad;

	*why = VF_DROP_TOO_SHORT;
	if (rx->len < VF_BTH_LEN)
		return false;
	*why = VF_DROP_BAD_VERSION;
	if (vf_bth_version(d) != 0)
		return false;
	*why = VF_DROP_BAD_OPCODE;
	memset(out, 0, sizeof(*out));
	out->opcode = d[VF_BTH_OPCODE];
	out->op = vf_opcode_info(out->opcode);
	if (!out->op)
		return false;
	*why = VF_DROP_TOO_SHORT;
	pad = vf_bth_pad(d);
	if (rx->len < out->op->header_len + pad)
		return false;
	out->rx = rx;
	out->is_solicited = vf_bth_is_solicited(d);
	out->is_ack_req = vf_bth_is_ack_req(d);
	out->pkey = vf_load_be16(d + VF_BTH_PKEY);
	out->dest_qpn = vf_bth_dest_qpn(d);
	out->psn = vf_bth_psn(d);
	out->payload = d + out->op->header_len;
	out->payload_len = rx->len - out->op->header_len - pad;
	read_extensions(d, out);
	*why = VF_DROP_BAD_LENGTH;
	return (rx->len & 3u) == 0 && has_sound_payload(out, pad);
}

void vf_packet_start(struct vf_roce_tx *tx, const struct vf_packet_start *s)
{
	const struct vf_opcode_info *op = vf_opcode_info(s->opcode);
	uint8_t *h = tx->headers;
	uint8_t pad = (uint8_t)((0u - s->payload_len) & 3u);
	unsigned flags =
		(unsigned)pad << VF_BTH_PAD_SHIFT | (s->is_solicited ? VF_BTH_SOLICITED : 0);

	tx->header_len = op ? op->header_len : VF_CNP_LEN;
	memset(h, 0, tx->header_len);
	h[VF_BTH_OPCODE] = s->opcode;
	h[VF_BTH_FLAGS] = (uint8_t)flags;
	vf_store_be16(h + VF_BTH_PKEY, VF_PKEY_DEFAULT);
	vf_store_be24(h + VF_BTH_DEST_QPN, s->dest_qpn);
	h[VF_BTH_ACK_REQ] = s->is_ack_req ? VF_BTH_ACK_REQ_BIT : 0;
	vf_store_be24(h + VF_BTH_PSN, s->psn);
	tx->pad_len = pad;
	tx->payload_len = s->payload_len;
	tx->iov_count = 0;
	tx->is_volatile = false;
	tx->fault_token = 0;
}

uint32_t vf_packet_tx_cost(const struct vf_roce_tx *tx)
{
	return vf_flow_cost(tx->header_len + tx->payload_len + tx->pad_len + 4u);
}

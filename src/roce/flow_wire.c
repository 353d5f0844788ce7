/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HELLO and GRANT as bytes. Both are 52 bytes before the ICRC, so an answer is never longer than
 * its question:
 *
 *   BTH (IBTA 9.2): opcode 0xc1 HELLO, 0xc2 GRANT (manufacturer defined, IBTA table 38); P_Key
 * 0xffff; destination QPN = receiver's slot << 16 | sender's slot; PSN 0 12  magic "VFfc" 16
 * version (1)   17  flags   18  zero (2) flags: HELLO 1 asks for a GRANT, 2 gives credit back;
 * GRANT 4 calls credit back 20  number of the HELLO (GRANT: of the last one taken into account) 24
 * epoch of the flow at the process that sends this packet 32  HELLO: total sent.    GRANT: limit 40
 * HELLO that gives back: the limit kept. GRANT: epoch of the HELLO 48  zero (4)
 */
#include "roce/flow_state.h"

#include <errno.h>

#define MAGIC	    UINT32_C(0x56466663)
#define VERSION	    1
#define CONTROL_LEN 52
#define BTH_LEN	    12

enum { AT_QPN = 5, AT_MAGIC = 12, AT_VERSION = 16, AT_FLAGS = 17, AT_ZERO = 18, AT_SEQ = 20 };
enum { AT_EPOCH = 24, AT_AMOUNT = 32, AT_PEER_EPOCH = 40, AT_END_ZERO = 48 };
enum { FLAG_ASKS = 1, FLAG_RELEASE = 2, FLAG_RECALL = 4 };

bool vf_flow_is_control(uint8_t opcode)
{
	return opcode == FLOW_OPCODE_HELLO || opcode == FLOW_OPCODE_GRANT;
}

static void put_common(const struct vf_flow *f, uint8_t opcode, struct vf_roce_tx *out)
{
	uint8_t *b = out->headers;

	memset(out, 0, sizeof(*out));
	out->path = &f->path;
	out->counters = f->table->cfg.counters;
	out->header_len = CONTROL_LEN;
	out->udp_sport = 0xc000u + f->table->cfg.slot;
	b[0] = opcode;
	vf_store_be16(b + 2, 0xffff);
	vf_store_be24(b + AT_QPN, f->slot << VF_ROCE_SLOT_SHIFT | f->table->cfg.slot);
	vf_store_be32(b + AT_MAGIC, MAGIC);
	b[AT_VERSION] = VERSION;
}

void flow_put_hello(const struct vf_flow *f, const struct flow_hello *h, struct vf_roce_tx *out)
{
	uint8_t *b = out->headers;

	put_common(f, FLOW_OPCODE_HELLO, out);
	b[AT_FLAGS] =
		(uint8_t)((h->is_asking ? FLAG_ASKS : 0) | (h->is_release ? FLAG_RELEASE : 0));
	vf_store_be32(b + AT_SEQ, h->seq);
	vf_store_be64(b + AT_EPOCH, h->epoch);
	vf_store_be64(b + AT_AMOUNT, h->sent);
	vf_store_be64(b + AT_PEER_EPOCH, h->is_release ? h->kept : 0);
}

void flow_put_grant(const struct vf_flow *f, const struct flow_grant *g, struct vf_roce_tx *out)
{
	uint8_t *b = out->headers;

	put_common(f, FLOW_OPCODE_GRANT, out);
	b[AT_FLAGS] = g->is_recall ? FLAG_RECALL : 0;
	vf_store_be32(b + AT_SEQ, g->seq);
	vf_store_be64(b + AT_EPOCH, g->epoch);
	vf_store_be64(b + AT_AMOUNT, g->limit);
	vf_store_be64(b + AT_PEER_EPOCH, g->peer_epoch);
}

int flow_get_slot(const struct vf_roce_rx *rx, unsigned own_slot)
{
	const uint8_t *b = rx->data;
	uint32_t qpn;

	if (rx->len != CONTROL_LEN || vf_load_be32(b + AT_MAGIC) != MAGIC ||
	    b[AT_VERSION] != VERSION)
		return -EINVAL;
	qpn = vf_load_be24(b + AT_QPN);
	if (qpn >> VF_ROCE_SLOT_SHIFT != own_slot || (qpn & 0xff00) != 0)
		return -EINVAL;
	return (int)(qpn & 0xff);
}

void flow_get_hello(const struct vf_roce_rx *rx, struct flow_hello *out)
{
	const uint8_t *b = rx->data;

	*out = (struct flow_hello){
		.epoch = vf_load_be64(b + AT_EPOCH),
		.sent = vf_load_be64(b + AT_AMOUNT),
		.kept = vf_load_be64(b + AT_PEER_EPOCH),
		.seq = vf_load_be32(b + AT_SEQ),
		.is_asking = (b[AT_FLAGS] & FLAG_ASKS) != 0,
		.is_release = (b[AT_FLAGS] & FLAG_RELEASE) != 0,
	};
}

void flow_get_grant(const struct vf_roce_rx *rx, struct flow_grant *out)
{
	const uint8_t *b = rx->data;

	*out = (struct flow_grant){
		.epoch = vf_load_be64(b + AT_EPOCH),
		.peer_epoch = vf_load_be64(b + AT_PEER_EPOCH),
		.limit = vf_load_be64(b + AT_AMOUNT),
		.is_recall = (b[AT_FLAGS] & FLAG_RECALL) != 0,
		.seq = vf_load_be32(b + AT_SEQ),
	};
}

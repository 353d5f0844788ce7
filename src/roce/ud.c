/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receiving datagrams (IBTA 9.8.3, Q_Key check 9.6.1.4; global route header in the first 40 bytes
 * of the receive, 11.4.2.1). RoCE v2 has an IP header in place of the global route header: an IPv6
 * header fills the 40 bytes, an IPv4 header the last 20 of them.
 */
#include "roce/qp.h"
#include "roce/wire.h"

enum { IPV4_LEN = 20, UDP_LEN = 8, ICRC_LEN = 4, IP_PROTO_UDP = 17 };

static uint16_t header_checksum(const uint8_t *h)
{
	uint32_t sum = 0;

	for (int i = 0; i < IPV4_LEN; i += 2)
		sum += vf_load_be16(h + i);
	sum = (sum & 0xffffu) + (sum >> 16);
	sum = (sum & 0xffffu) + (sum >> 16);
	return (uint16_t)~sum;
}

/* The header as it was on the wire, as far as the host has told: identification and flow label read
 * as 0. */
static void write_grh(const struct vf_roce_rx *rx, uint8_t *grh)
{
	uint16_t udp_len = (uint16_t)(UDP_LEN + rx->len + ICRC_LEN);
	uint8_t *v4 = grh + VF_GRH_LEN - IPV4_LEN;

	memset(grh, 0, VF_GRH_LEN);
	if (vf_roce_gid_is_ipv4(rx->dgid)) {
		v4[0] = 0x45;
		v4[1] = rx->traffic_class;
		vf_store_be16(v4 + 2, (uint16_t)(IPV4_LEN + udp_len));
		v4[6] = 0x40;
		v4[8] = rx->hop_limit;
		v4[9] = IP_PROTO_UDP;
		memcpy(v4 + 12, rx->sgid + 12, 4);
		memcpy(v4 + 16, rx->dgid + 12, 4);
		vf_store_be16(v4 + 10, header_checksum(v4));
		return;
	}
	vf_store_be32(grh, 6u << 28 | (uint32_t)rx->traffic_class << 20);
	vf_store_be16(grh + 4, udp_len);
	grh[6] = IP_PROTO_UDP;
	grh[7] = rx->hop_limit;
	memcpy(grh + 8, rx->sgid, 16);
	memcpy(grh + 24, rx->dgid, 16);
}

void vf_ud_receive(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt)
{
	uint8_t grh[VF_GRH_LEN];
	uint64_t room;

	(void)now;
	if (pkt->qkey != qp->attr.qkey) {
		vf_qp_drop(qp, VF_DROP_BAD_QKEY);
		return;
	}
	if (pkt->payload_len > qp->attr.mtu_bytes) {
		vf_qp_drop(qp, VF_DROP_BAD_LENGTH);
		return;
	}
	if (!vf_rq_peek(qp, &room)) {
		vf_qp_drop(qp, VF_DROP_NO_RECEIVE);
		return;
	}
	if (room < VF_GRH_LEN + (uint64_t)pkt->payload_len) {
		vf_qp_drop(qp, VF_DROP_RECEIVE_TOO_SMALL);
		return;
	}
	vf_rq_take(qp);
	write_grh(pkt->rx, grh);
	if (vf_rq_scatter(qp, 0, grh, VF_GRH_LEN) ||
	    vf_rq_scatter(qp, VF_GRH_LEN, pkt->payload, pkt->payload_len)) {
		vf_rq_complete(qp, VF_ROCE_WC_LOC_PROT_ERR, NULL, 0);
		vf_qp_error(qp, false);
		return;
	}
	vf_rq_complete(qp, VF_ROCE_WC_SUCCESS, pkt, VF_GRH_LEN + pkt->payload_len);
}

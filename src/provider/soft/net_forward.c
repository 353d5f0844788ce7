/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets between processes of this host. Straight: the sender knows the slot from the QPN and the
 * owner's private address from the slot, so what is for an address of this host never meets the
 * shared port, whose members come and go; in order, without a process in between. Handed on: what
 * came to the shared port (from other hosts) and is another slot's. Both are wrapped with what the
 * IP header said and sent to the owner's private address, where they are unwrapped and taken as if
 * they had come in there. What comes in on the private socket is never forwarded, so nothing can
 * circle. Only a socket bound to the port of a private address can send from one, so a wrapped
 * packet comes from a process of this user.
 *
 *   0   magic "VFFW"        12  interface index
 *   4   kind                16  source GID
 *   5   TOS, 6  TTL         32  destination GID
 *   7   sender's slot       48  epoch, 52  number (order.h), when straight
 *   8   segment length      56  the datagrams
 *   10  UDP source port
 */
#include "provider/soft/net_state.h"

#include <string.h>

#define MAGIC 0x56464657u

enum kind { KIND_HANDED_ON = 1, KIND_ANSWER = 2, KIND_STRAIGHT = 3 };
enum {
	KIND_AT = 4,
	TOS_AT = 5,
	TTL_AT = 6,
	SENDER_AT = 7,
	SEGMENT_AT = 8,
	PORT_AT = 10,
	IF_AT = 12,
	SRC_AT = 16,
	DST_AT = 32,
	EPOCH_AT = 48,
	NUMBER_AT = 52,
	DATAGRAM_MAX = 65507,
	ANSWER_LEN = 16,
	SLOT_AT = 5,
};

bool net_is_private(const struct vf_soft_net *net, const uint8_t gid[16], uint16_t port)
{
	/* Addresses of slots differ in the last byte, where they can be computed at all. */
	return net->socket[NET_PRIVATE].udp && port == net->private_port &&
	       memcmp(gid, net->private_gid, 15) == 0;
}

bool net_has_direct(const struct vf_soft_net *net)
{
	/* where addresses can be computed: elsewhere each would be looked up in a file */
	return net->socket[NET_PRIVATE].udp && net->private_port == net->port;
}

int net_direct_address(const struct vf_soft_net *net, unsigned slot, struct vf_os_udp_addr *a)
{
	int err = vf_os_slot_address(slot, a->dst, &a->dst_port);

	memcpy(a->src, net->private_gid, 16);
	a->src_port = net->private_port;
	a->if_index = 0;
	return err;
}

static int send_private(struct vf_soft_net *net, unsigned slot, struct iovec *iov, unsigned count)
{
	struct net_socket *s = &net->socket[NET_PRIVATE];
	struct vf_os_udp_send m = {.iov = iov, .iov_count = count};

	if (!s->udp || vf_os_slot_address(slot, m.addr.dst, &m.addr.dst_port))
		return -1;
	((uint8_t *)iov[0].iov_base)[SENDER_AT] = (uint8_t)net->slot_number;
	memcpy(m.addr.src, net->private_gid, 16);
	for (unsigned i = 0; i < count; i++)
		m.total_len += (uint32_t)iov[i].iov_len;
	m.segment_len = m.total_len;
	return vf_os_udp_send(s->udp, &m, NULL);
}

void net_wrap(const struct vf_os_udp_addr *a, uint32_t segment_len, uint8_t out[NET_WRAPPER_LEN])
{
	memset(out, 0, NET_WRAPPER_LEN);
	vf_store_be32(out, MAGIC);
	out[KIND_AT] = KIND_HANDED_ON;
	out[TOS_AT] = a->tos;
	out[TTL_AT] = a->ttl;
	vf_store_be16(out + SEGMENT_AT, (uint16_t)segment_len);
	vf_store_be16(out + PORT_AT, a->src_port);
	vf_store_be32(out + IF_AT, a->if_index);
	memcpy(out + SRC_AT, a->src, 16);
	memcpy(out + DST_AT, a->dst, 16);
}

void net_number(struct vf_soft_net *net, unsigned slot, uint8_t wrapper[NET_WRAPPER_LEN])
{
	wrapper[KIND_AT] = KIND_STRAIGHT;
	wrapper[SENDER_AT] = (uint8_t)net->slot_number;
	vf_store_be32(wrapper + EPOCH_AT, net->tx.epoch);
	vf_store_be32(wrapper + NUMBER_AT, net->tx.number[slot % VF_OS_SLOTS]);
}

void net_numbered(struct vf_soft_net *net, unsigned slot) { net->tx.number[slot % VF_OS_SLOTS]++; }

void net_forward(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		 uint32_t len, uint32_t segment_len)
{
	uint8_t wrapper[NET_WRAPPER_LEN];
	uint32_t most =
		segment_len ? (DATAGRAM_MAX - NET_WRAPPER_LEN) / segment_len * segment_len : 0;
	unsigned slot = data[SLOT_AT];

	net_steer_missed(net, a);
	net_wrap(a, segment_len, wrapper);
	for (uint32_t at = 0; at < len;) {
		uint32_t n = len - at < most ? len - at : most;
		uint32_t packets = n ? (n + segment_len - 1) / segment_len : 0;
		union {
			const uint8_t *from;
			void *to;
		} base = {.from = data + at};
		struct iovec iov[2] = {{.iov_base = wrapper, .iov_len = NET_WRAPPER_LEN},
				       {.iov_base = base.to, .iov_len = n}};

		if (n == 0 || send_private(net, slot, iov, 2)) {
			net->rx.dropped[VF_DROP_NO_QP] += packets ? packets : 1;
			if (n == 0)
				return;
		} else {
			net->rx.forwarded += packets;
		}
		at += n;
	}
}

void net_forward_answer(struct vf_soft_net *net, unsigned to_slot, const uint8_t answer[16])
{
	uint8_t wrapper[NET_WRAPPER_LEN] = {0}, body[ANSWER_LEN];
	struct iovec iov[2] = {{.iov_base = wrapper, .iov_len = sizeof(wrapper)},
			       {.iov_base = body, .iov_len = sizeof(body)}};

	memcpy(body, answer, sizeof(body));
	vf_store_be32(wrapper, MAGIC);
	wrapper[KIND_AT] = KIND_ANSWER;
	send_private(net, to_slot, iov, 2);
}

static void unwrap(struct vf_soft_net *net, const uint8_t *w, uint32_t wrapped_len)
{
	const uint8_t *data = w + NET_WRAPPER_LEN;
	uint32_t len = wrapped_len - NET_WRAPPER_LEN, segment_len = vf_load_be16(w + SEGMENT_AT);
	struct vf_os_udp_addr a = {.tos = w[TOS_AT], .ttl = w[TTL_AT], .dst_port = net->port};

	if (segment_len == 0 || len <= SLOT_AT || data[SLOT_AT] != net->slot_number) {
		net->rx.dropped[VF_DROP_NO_QP]++;
		return;
	}
	a.src_port = vf_load_be16(w + PORT_AT);
	a.if_index = vf_load_be32(w + IF_AT);
	memcpy(a.src, w + SRC_AT, 16);
	memcpy(a.dst, w + DST_AT, 16);
	net_rx_take(net, &a, data, len, segment_len);
}

static void take_wrapped(struct vf_soft_net *net, const uint8_t *w, uint32_t len)
{
	if (len < NET_WRAPPER_LEN || vf_load_be32(w) != MAGIC)
		net->rx.dropped[VF_DROP_TOO_SHORT]++;
	else if (w[KIND_AT] == KIND_HANDED_ON || w[KIND_AT] == KIND_STRAIGHT)
		unwrap(net, w, len);
	else if (w[KIND_AT] == KIND_ANSWER && len == NET_WRAPPER_LEN + ANSWER_LEN)
		net_steer_answered(net, w + NET_WRAPPER_LEN);
	else
		net->rx.dropped[VF_DROP_TOO_SHORT]++;
}

/* Each datagram of a send is wrapped for itself and has one packet; the last may be shorter. */
void net_forward_take_send(struct vf_soft_net *net, const uint8_t *data, uint32_t len)
{
	uint32_t step = NET_WRAPPER_LEN + vf_load_be16(data + SEGMENT_AT);

	for (uint32_t at = 0; at < len; at += step)
		take_wrapped(net, data + at, len - at < step ? len - at : step);
}

void net_forward_init(struct vf_soft_net *net)
{
	vf_os_random(&net->tx.epoch, sizeof(net->tx.epoch));
	net->tx.epoch |= 1; /* never 0, which is nobody's */
}

/*
 * Where addresses can be computed, being sent from one is enough. Elsewhere the slot that the wrapper
 * names must have published the address that the datagram comes from: one look into a file.
 */
static bool is_from_process(const struct vf_soft_net *net, const struct vf_os_udp_recv *m)
{
	uint8_t gid[16];
	uint16_t port;

	if (m->len < NET_WRAPPER_LEN)
		return false;
	if (net_has_direct(net))
		return net_is_private(net, m->addr.src, m->addr.src_port);
	return vf_os_slot_address(m->buf[SENDER_AT], gid, &port) == 0 && port == m->addr.src_port &&
	       memcmp(gid, m->addr.src, 16) == 0;
}

void net_forward_received(struct vf_soft_net *net, const struct vf_os_udp_recv *m)
{
	const uint8_t *w = m->buf;
	struct vf_order_tag tag;

	if (!is_from_process(net, m)) {
		net->rx.dropped[VF_DROP_TOO_SHORT]++;
		return;
	}
	if (w[KIND_AT] != KIND_STRAIGHT) {
		take_wrapped(net, w, m->len);
		return;
	}
	tag = (struct vf_order_tag){.stream = w[SENDER_AT],
				    .epoch = vf_load_be32(w + EPOCH_AT),
				    .number = vf_load_be32(w + NUMBER_AT)};
	net_order_straight(net, &tag, w, m->len);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where order is restored before the engine sees packets: sends straight from another process of
 * this host (by their own numbers), and UC packets from elsewhere (by their PSN; IBTA 9.8.2.2: a
 * gap costs the message). RC repairs what is out of order itself.
 */
#include "provider/soft/net_state.h"

#include <string.h>

enum { OPERATIONS = 0xe0, UC = 0x20, QPN_AT = 5, PSN_AT = 9, PSN_STEP = 256 };

static void take_straight(void *arg, const struct vf_order_piece *piece, bool is_kept)
{
	struct vf_soft_net *net = arg;

	net->rx.is_straight = true;
	net_forward_take_send(net, piece->head, (uint32_t)piece->head_len);
	net->rx.is_straight = false;
	if (is_kept)
		net_rx_deliver(net);
}

static void take_uc(void *arg, const struct vf_order_piece *piece, bool is_kept)
{
	struct vf_soft_net *net = arg;
	struct vf_roce_rx p;

	memcpy(&p, piece->head, sizeof(p));
	p.data = piece->body;
	net_rx_queue(net, &p);
	if (is_kept)
		net_rx_deliver(net);
}

void net_order_init(struct vf_soft_net *net)
{
	vf_order_init(&net->rx.straight, 1, take_straight, net);
	vf_order_init(&net->rx.uc, PSN_STEP, take_uc, net);
	net->order_deadline = VF_NSEC_NEVER;
}

void net_order_close(struct vf_soft_net *net)
{
	vf_order_clear(&net->rx.straight);
	vf_order_clear(&net->rx.uc);
}

static void publish_deadline(struct vf_soft_net *net)
{
	vf_nsec a = vf_order_deadline(&net->rx.straight), b = vf_order_deadline(&net->rx.uc);

	atomic_store_explicit(&net->order_deadline, a < b ? a : b, memory_order_relaxed);
}

void net_order_straight(struct vf_soft_net *net, const struct vf_order_tag *tag,
			const uint8_t *data, uint32_t len)
{
	struct vf_order_piece piece = {.head = data, .head_len = len};

	vf_order_take(&net->rx.straight, net->rx.now, tag, &piece);
	publish_deadline(net);
}

bool net_order_wants(const struct vf_soft_net *net, const struct vf_roce_rx *p)
{
	return !net->rx.is_straight && (p->data[0] & OPERATIONS) == UC;
}

void net_order_uc(struct vf_soft_net *net, const struct vf_roce_rx *p)
{
	uint32_t qpn = vf_load_be24(p->data + QPN_AT);
	struct vf_order_tag tag = {.stream = qpn ^ qpn >> 8,
				   .epoch = qpn | 1u << 24,
				   .number = vf_load_be24(p->data + PSN_AT) << 8};
	struct vf_order_piece piece = {
		.head = p, .head_len = sizeof(*p), .body = p->data, .body_len = p->len};

	vf_order_take(&net->rx.uc, net->rx.now, &tag, &piece);
	publish_deadline(net);
}

void net_order_expire(struct vf_soft_net *net, vf_nsec now)
{
	vf_order_expire(&net->rx.straight, now);
	vf_order_expire(&net->rx.uc, now);
	publish_deadline(net);
	net_rx_deliver(net);
}

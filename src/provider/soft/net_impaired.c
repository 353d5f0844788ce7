/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending under impairment (VERBIFROST_IMPAIR): each packet is flattened, meets its fate
 * (impair.c), and goes out alone, now or later. Whatever was done to it is counted, so that a test
 * can compare.
 */
#include "provider/soft/net_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REORDER_WAIT (2 * VF_MSEC)

struct packet {
	struct vf_os_udp_addr addr;
	int slot; /* straight to this one; -1: by the shared port */
	uint32_t len;
	uint8_t data[NET_PACKET_MAX];
};

static void flatten(const struct vf_os_udp_send *m, struct packet *p)
{
	p->addr = m->addr;
	p->len = 0;
	for (unsigned i = 0; i < m->iov_count; i++) {
		memcpy(p->data + p->len, m->iov[i].iov_base, m->iov[i].iov_len);
		p->len += (uint32_t)m->iov[i].iov_len;
	}
}

/* What the fate was decided for is the packet; the wrapper is only how it travels within a host. */
static int send_straight(struct vf_soft_net *net, const struct packet *p, struct iovec *packet)
{
	uint8_t wrapper[NET_WRAPPER_LEN];
	struct iovec iov[2] = {{.iov_base = wrapper, .iov_len = sizeof(wrapper)}, *packet};
	struct vf_os_udp_send m = {.addr = p->addr, .iov = iov, .iov_count = 2};
	unsigned slot = (unsigned)p->slot;
	int err;

	m.segment_len = m.total_len = p->len + NET_WRAPPER_LEN;
	net_wrap(&p->addr, p->len, wrapper);
	net_number(net, slot, wrapper);
	if (net_direct_address(net, slot, &m.addr))
		return -EHOSTUNREACH;
	err = net_tx_send(net, &net->socket[NET_PRIVATE], &m);
	if (err == 0)
		net_numbered(net, slot);
	return err;
}

static void send_now(struct vf_soft_net *net, struct packet *p, struct vf_roce_counters *c)
{
	struct net_socket *s = net_tx_socket(net, p->addr.dst);
	struct iovec iov = {.iov_base = p->data, .iov_len = p->len};
	struct vf_os_udp_send m = {.addr = p->addr,
				   .iov = &iov,
				   .iov_count = 1,
				   .segment_len = p->len,
				   .total_len = p->len};

	if (net->pcap)
		vf_pcap_write(net->pcap, &p->addr, 0, &iov, 1);
	if (p->slot >= 0 ? send_straight(net, p, &iov) : net_tx_send(net, s, &m))
		net_tx_drop(c, VF_DROP_SOCKET);
}

static void send_or_hold(struct vf_soft_net *net, vf_nsec now, struct packet *p,
			 const struct vf_impair_verdict *v, struct vf_roce_counters *c)
{
	size_t len = offsetof(struct packet, data) + p->len;
	vf_nsec due = now + net->impair.cfg.delay_ns;
	uint64_t after = UINT64_MAX;

	if (v->is_reordered) {
		c->value[VF_CNT_IMPAIR_REORDERED]++;
		due += REORDER_WAIT;
		/* Where all are late it is time that lets others pass. */
		after = net->impair.cfg.delay_ns ? UINT64_MAX - 1
						 : net->impair.sent + v->overtaken_by;
	} else if (net->impair.cfg.delay_ns) {
		c->value[VF_CNT_IMPAIR_DELAYED]++;
	} else {
		send_now(net, p, c);
		return;
	}
	if (vf_impair_hold(&net->impair, due, after, p, len))
		net_tx_drop(c, VF_DROP_SOCKET);
}

void net_impaired_send(struct vf_soft_net *net, vf_nsec now, const struct vf_os_udp_send *m,
		       int slot, struct vf_roce_counters *c)
{
	struct vf_impair_verdict v;
	struct packet p;

	if (!c)
		c = vf_soft_stray_counters();
	flatten(m, &p);
	p.slot = slot;
	vf_impair_next(&net->impair, 8 * p.len, &v);
	if (v.is_lost) {
		net_tx_drop(c, VF_DROP_IMPAIR);
	} else {
		if (v.is_corrupt) {
			c->value[VF_CNT_IMPAIR_CORRUPTED]++;
			p.data[v.corrupt_bit / 8] ^= (uint8_t)(1u << v.corrupt_bit % 8);
		}
		if (v.is_duplicated) {
			c->value[VF_CNT_IMPAIR_DUPLICATED]++;
			send_now(net, &p, c);
		}
		send_or_hold(net, now, &p, &v, c);
	}
	net_impaired_release(net, now);
}

void net_impaired_release(struct vf_soft_net *net, vf_nsec now)
{
	struct vf_impair_held *h;

	while ((h = vf_impair_release(&net->impair, now))) {
		struct packet p;

		memcpy(&p, h->data, h->len);
		send_now(net, &p, vf_soft_stray_counters());
		free(h);
	}
}

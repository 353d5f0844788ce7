/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receiving: sockets are drained into large buffers in which the system has merged datagrams of one
 * flow; each is checked (length, ICRC; IBTA 9.6, A17.3.3), told apart by the slot in its
 * destination QPN, and given to the engine in batches.
 *
 *   shared socket:  probe -> net_steer.c | slot of another process -> net_forward.c | ours ->
 * engine private socket: unwrapped by net_forward.c -> engine
 */
#include "provider/soft/net_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"

enum { SLOT_AT = 5, DRAIN_MAX = 16, SILENT_EVERY = 32 };
#define ACTIVE_FOR (100 * VF_MSEC)

int net_rx_open(struct vf_soft_net *net)
{
	net->rx.memory = malloc((size_t)NET_RX_BUFFERS * NET_RX_BYTES);
	if (!net->rx.memory)
		return vf_refuse(ENOMEM, "no memory for receive buffers");
	for (unsigned i = 0; i < NET_RX_BUFFERS; i++) {
		net->rx.msg[i].buf = net->rx.memory + (size_t)i * NET_RX_BYTES;
		net->rx.msg[i].buf_len = NET_RX_BYTES;
	}
	return 0;
}

void net_rx_close(struct vf_soft_net *net)
{
	net_order_close(net);
	free(net->rx.memory);
}

/* What was counted without the lock. */
static void settle_counts(struct vf_soft_net *net)
{
	struct vf_roce_counters *c = vf_soft_stray_counters();
	struct net_rx *rx = &net->rx;

	for (int i = 0; i < VF_DROP_COUNT; i++) {
		c->value[VF_CNT_DROP_FIRST + i] += rx->dropped[i];
		rx->dropped[i] = 0;
	}
	c->value[VF_CNT_FORWARDED_PKTS] += rx->forwarded;
	rx->forwarded = 0;
}

void net_rx_deliver(struct vf_soft_net *net)
{
	vf_nsec now;

	pthread_mutex_lock(&net->lock);
	now = vf_os_now();
	settle_counts(net);
	if (net->rx.count)
		vf_roce_receive(net->engine, now, net->rx.packet, net->rx.count);
	net->rx.count = 0;
	if (net->rx.caller == NET_CALLER_SPIN)
		atomic_store_explicit(&net->deadline, 0, memory_order_relaxed); /* next time */
	else
		net_tx_run(net, now);
	pthread_mutex_unlock(&net->lock);
}

static bool is_intact(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		      uint32_t len)
{
	struct vf_icrc_ip ip = {.sgid = a->src,
				.dgid = a->dst,
				.sport = a->src_port,
				.dport = a->dst_port,
				.udp_len = (uint16_t)(len + 8)};

	net->rx.hint.last_id = 0;
	if (net->icrc != NET_ICRC_CHECK)
		return true;
	if (!vf_icrc_is_valid(&ip, data, len, &net->rx.hint))
		return false;
	return !net_is_ipv4(a->src) ||
	       vf_ip_id_is_plausible(&net->rx.ids, a->src, a->dst, net->rx.hint.last_id);
}

static void capture(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		    uint32_t len)
{
	union {
		const uint8_t *from;
		void *to;
	} base = {.from = data};
	struct iovec iov = {.iov_base = base.to, .iov_len = len};

	vf_pcap_write(net->pcap, a, net->rx.hint.last_id, &iov, 1);
}

void net_rx_queue(struct vf_soft_net *net, const struct vf_roce_rx *p)
{
	if (net->rx.count == NET_RX_PACKETS)
		net_rx_deliver(net);
	net->rx.packet[net->rx.count++] = *p;
}

/* Answers to a link-local address have to leave where its packet came in. */
static uint32_t tag_of(const struct vf_os_udp_addr *a)
{
	return a->src[0] == 0xfe && (a->src[1] & 0xc0) == 0x80 ? a->if_index : 0;
}

static void take_packet(struct vf_soft_net *net, const struct vf_os_udp_addr *a,
			const uint8_t *data, uint32_t len)
{
	struct vf_roce_rx p;
	bool intact;

	if (len < NET_BTH_LEN + NET_ICRC_LEN) {
		net->rx.dropped[VF_DROP_TOO_SHORT]++;
		return;
	}
	intact = is_intact(net, a, data, len);
	if (net->pcap)
		capture(net, a, data, len);
	if (!intact) {
		net->rx.dropped[VF_DROP_ICRC]++;
		return;
	}
	p = (struct vf_roce_rx){.data = data,
				.len = len - NET_ICRC_LEN,
				.traffic_class = a->tos,
				.hop_limit = a->ttl,
				.host_tag = tag_of(a)};
	memcpy(p.sgid, a->src, 16);
	memcpy(p.dgid, a->dst, 16);
	if (net_order_wants(net, &p))
		net_order_uc(net, &p);
	else
		net_rx_queue(net, &p);
}

void net_rx_take(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		 uint32_t len, uint32_t segment_len)
{
	for (uint32_t at = 0; at < len; at += segment_len)
		take_packet(net, a, data + at, len - at < segment_len ? len - at : segment_len);
}

/* Whose is it? Multicast is everybody's. */
static bool is_ours(const struct vf_soft_net *net, const struct vf_os_udp_addr *a,
		    const uint8_t *data, uint32_t len)
{
	if (len <= SLOT_AT || data[SLOT_AT] == net->slot_number)
		return true;
	return net_is_multicast(a->dst);
}

static uint32_t segment_at(const struct vf_os_udp_recv *m, uint32_t at)
{
	return m->len - at < m->segment_len ? m->len - at : m->segment_len;
}

/* A buffer from the shared port. Runs of datagrams for one process stay together. */
static void sort_out(struct vf_soft_net *net, const struct vf_os_udp_recv *m)
{
	uint32_t at = 0;

	if (m->len == 0 || net_is_private(net, m->addr.dst, m->addr.dst_port)) {
		net->rx.dropped[m->len ? VF_DROP_NO_QP
				       : VF_DROP_TOO_SHORT]++; /* for a process that is gone */
		return;
	}
	if (m->buf[0] == NET_PROBE_OPCODE) {
		net_steer_probed(net, &m->addr, m->buf, m->len);
		return;
	}
	while (at < m->len) {
		const uint8_t *data = m->buf + at;
		uint32_t run = segment_at(m, at);
		bool ours = is_ours(net, &m->addr, data, run);

		while (at + run < m->len) {
			uint32_t next = segment_at(m, at + run);

			if (is_ours(net, &m->addr, data + run, next) != ours ||
			    (!ours && data[run + SLOT_AT] != data[SLOT_AT]))
				break;
			run += next;
		}
		if (ours)
			net_rx_take(net, &m->addr, data, run, m->segment_len);
		else
			net_forward(net, &m->addr, data, run, m->segment_len);
		at += run;
	}
}

static bool drain(struct vf_soft_net *net, enum net_socket_id id, vf_nsec now)
{
	struct net_socket *s = &net->socket[id];
	bool came = false;

	for (int round = 0; round < DRAIN_MAX; round++) {
		unsigned room = s->ask_for ? s->ask_for : 1;
		int n = vf_os_udp_recv(s->udp, net->rx.msg, room);

		if (n <= 0)
			break;
		came = true;
		s->active = now;
		for (int i = 0; i < n; i++)
			if (id == NET_PRIVATE)
				net_forward_received(net, &net->rx.msg[i]);
			else
				sort_out(net, &net->rx.msg[i]);
		net_rx_deliver(net);
		s->ask_for = (unsigned)n < room		 ? 1
			     : 2 * room < NET_RX_BUFFERS ? 2 * room
							 : NET_RX_BUFFERS;
		if ((unsigned)n < room)
			break;
	}
	return came;
}

static void count_overflows(struct vf_soft_net *net)
{
	for (int i = 0; i < NET_SOCKETS; i++) {
		struct net_socket *s = &net->socket[i];
		uint64_t n = s->udp ? vf_os_udp_overflows(s->udp) : UINT64_MAX;

		if (n == UINT64_MAX || n <= s->overflows)
			continue;
		vf_soft_stray_counters()->value[VF_CNT_SOCKET_OVERFLOWS] += n - s->overflows;
		s->overflows = n;
	}
}

static void do_what_is_due(struct vf_soft_net *net, vf_nsec now)
{
	if (now >= atomic_load_explicit(&net->steer_deadline, memory_order_relaxed))
		net_steer_run(net, now);
	if (now >= atomic_load_explicit(&net->order_deadline, memory_order_relaxed)) {
		net_order_expire(net, now);
	}
	if (now >= atomic_load_explicit(&net->deadline, memory_order_relaxed)) {
		pthread_mutex_lock(&net->lock);
		net_tx_run(net, now);
		pthread_mutex_unlock(&net->lock);
	}
}

void net_rx_due(struct vf_soft_net *net) { do_what_is_due(net, vf_os_now()); }

bool net_rx_round(struct vf_soft_net *net, enum net_caller caller)
{
	static const unsigned count_every = 1024;
	bool all = caller == NET_CALLER_THREAD || net->rx.rounds % SILENT_EVERY == 0;
	vf_nsec now = vf_os_now();
	bool came = false;

	net->rx.caller = caller;
	net->rx.now = now;
	if (caller != NET_CALLER_THREAD)
		atomic_store_explicit(&net->last_poll, now, memory_order_relaxed);
	do_what_is_due(net, now);
	for (int i = 0; i < NET_SOCKETS; i++)
		if (net->socket[i].udp && (all || now - net->socket[i].active < ACTIVE_FOR))
			came |= drain(net, (enum net_socket_id)i, now);
	if (net->rx.rounds++ % count_every == 0) {
		pthread_mutex_lock(&net->lock);
		count_overflows(net);
		pthread_mutex_unlock(&net->lock);
	}
	return came;
}

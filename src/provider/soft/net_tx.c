/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending: the engine's packets get pad and ICRC and leave in runs: equal packets to one process in
 * one segmented send. Payload goes from registered memory straight into the socket; it is copied
 * first only when it may change meanwhile (READ responses), or when a capture or an impairment
 * wants to look at it.
 *
 * The ICRC covers the IPv4 ID (facts: segment i of a send has ID i), so a packet that leaves
 * otherwise than planned is sealed anew. Memory that is gone is found by the checksum or by the
 * send; the engine is told once the batch is through.
 */
#include "provider/soft/net_state.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/reason.h"
#include "memory/guard.h"

enum { RC_ACKNOWLEDGE = 0x11, OPERATION_MASK = 0x1f, FIRST_RESPONSE = 0x0d, LAST_RESPONSE = 0x12 };
enum { SLOT_AT = 5, ROUNDS_MAX = 4096, WAIT_MS = 2, WAITS_MAX = 5 };
#define UNSEGMENTED_FOR (10 * VF_SEC)
#define COMPLAIN_EVERY	VF_SEC

int net_tx_open(struct vf_soft_net *net)
{
	net->tx.stage = malloc((size_t)NET_TX_BATCH * VF_ROCE_MTU_MAX);
	return net->tx.stage ? 0 : vf_refuse(ENOMEM, "no memory for send buffers");
}

void net_tx_close(struct vf_soft_net *net) { free(net->tx.stage); }

struct net_socket *net_tx_socket(struct vf_soft_net *net, const uint8_t dgid[16])
{
	return &net->socket[net_is_ipv4(dgid) ? NET_V4 : NET_V6];
}

void net_tx_drop(struct vf_roce_counters *c, enum vf_roce_drop why)
{
	if (!c)
		c = vf_soft_stray_counters();
	c->value[VF_CNT_DROP_FIRST + (int)why]++;
}

static uint32_t wire_len(const struct vf_roce_tx *t)
{
	return t->header_len + t->payload_len + t->pad_len + NET_ICRC_LEN;
}

static void fill_addr(const struct vf_soft_net *net, const struct vf_roce_path *path,
		      struct vf_os_udp_addr *a)
{
	memcpy(a->src, path->sgid, 16);
	memcpy(a->dst, path->dgid, 16);
	a->src_port = a->dst_port = net->port;
	a->if_index = path->host_tag & ~VF_SOFT_TAG_LOCAL;
	a->tos = path->traffic_class;
	a->ttl = path->hop_limit;
}

/* ---- sealing one packet ---- */

static bool is_staged(const struct vf_soft_net *net, const struct vf_roce_tx *t)
{
	return t->payload_len && (t->is_volatile || net->pcap || net->is_impaired);
}

/* Payload into the stage; what is sent from then on is the copy. */
static int stage(struct vf_roce_tx *t, uint8_t *to)
{
	size_t at = 0;

	for (unsigned i = 0; i < t->iov_count; i++) {
		int err = vf_guard_copy(to + at, t->iov[i].iov_base, t->iov[i].iov_len);

		if (err)
			return err;
		at += t->iov[i].iov_len;
	}
	t->iov[0] = (struct iovec){.iov_base = to, .iov_len = at};
	t->iov_count = 1;
	t->is_volatile = false;
	return 0;
}

static int checksum(const struct vf_soft_net *net, const struct vf_roce_tx *t, uint16_t ip_id,
		    uint32_t *out)
{
	static const uint8_t zeros[4];
	struct vf_icrc_ip ip = {.sgid = t->path->sgid,
				.dgid = t->path->dgid,
				.sport = net->port,
				.dport = net->port,
				.udp_len = (uint16_t)(8 + wire_len(t)),
				.ip_id = ip_id,
				.is_dont_fragment = true};
	uint32_t crc = vf_icrc_start(&ip, t->headers);

	crc = vf_crc32(crc, t->headers + NET_BTH_LEN, t->header_len - NET_BTH_LEN);
	for (unsigned i = 0; i < t->iov_count; i++)
		if (vf_guard_crc32(&crc, t->iov[i].iov_base, t->iov[i].iov_len))
			return -EFAULT;
	*out = vf_crc32(crc, zeros, t->pad_len);
	return 0;
}

/* Pad and ICRC into the packet's trailer. -EFAULT: its payload is gone. */
static int seal(struct vf_soft_net *net, unsigned index, uint16_t ip_id)
{
	struct vf_roce_tx *t = &net->tx.packet[index];
	uint8_t *trailer = net->tx.trailer[index];
	uint32_t crc = 0;
	int err = 0;

	if (is_staged(net, t) && t->iov[0].iov_base != net->tx.stage[index])
		err = stage(t, net->tx.stage[index]);
	if (err == 0 && net->icrc != NET_ICRC_OFF)
		err = checksum(net, t, ip_id, &crc);
	if (err) {
		net->tx.is_faulty[index] = true;
		return -EFAULT;
	}
	memset(trailer, 0, t->pad_len);
	vf_store_le32(trailer + t->pad_len, crc);
	return 0;
}

static unsigned put_iov(struct vf_soft_net *net, unsigned index, struct iovec *iov)
{
	struct vf_roce_tx *t = &net->tx.packet[index];
	unsigned n = 0;

	iov[n++] = (struct iovec){.iov_base = t->headers, .iov_len = t->header_len};
	memcpy(iov + n, t->iov, t->iov_count * sizeof(*iov));
	n += t->iov_count;
	iov[n++] = (struct iovec){.iov_base = net->tx.trailer[index],
				  .iov_len = t->pad_len + NET_ICRC_LEN};
	return n;
}

/* ---- sending ---- */

int net_tx_send(struct vf_soft_net *net, struct net_socket *s, const struct vf_os_udp_send *m)
{
	int err = vf_os_udp_send(s->udp, m, NULL);

	(void)net;
	for (int i = 0; err == -EAGAIN && i < WAITS_MAX; i++) {
		struct pollfd p = {.fd = vf_os_udp_fd(s->udp), .events = POLLOUT};

		poll(&p, 1, WAIT_MS);
		err = vf_os_udp_send(s->udp, m, NULL);
	}
	return err;
}

static void complain(struct vf_soft_net *net, int err)
{
	vf_nsec now = vf_os_now();

	if (net->tx.complained && now - net->tx.complained < COMPLAIN_EVERY)
		return;
	net->tx.complained = now;
	vf_log(VF_LOG_WARN, "packets cannot be sent: %s%s", strerror(-err),
	       err == -EACCES || err == -EPERM ? " (a firewall, or the system's privacy settings)"
					       : "");
}

static struct net_unsegmented *unsegmented(struct vf_soft_net *net, const uint8_t gid[16])
{
	return &net->tx.unsegmented[(gid[15] ^ gid[14] ^ gid[7]) %
				    VF_ARRAY_SIZE(net->tx.unsegmented)];
}

static bool may_segment(struct vf_soft_net *net, const uint8_t gid[16])
{
	struct net_unsegmented *u = unsegmented(net, gid);

	return !u->until || memcmp(u->gid, gid, 16) != 0 || vf_os_now() >= u->until;
}

static void stop_segmenting(struct vf_soft_net *net, const uint8_t gid[16])
{
	struct net_unsegmented *u = unsegmented(net, gid);

	memcpy(u->gid, gid, 16);
	u->until = vf_os_now() + UNSEGMENTED_FOR;
}

/* Within this host straight to the other process's private socket, else to the shared port. */
static struct net_socket *socket_for(struct vf_soft_net *net, const struct vf_roce_tx *t)
{
	if ((t->path->host_tag & VF_SOFT_TAG_LOCAL) && net_has_direct(net))
		return &net->socket[NET_PRIVATE];
	return net_tx_socket(net, t->path->dgid);
}

static uint32_t wrapper_len(const struct vf_soft_net *net, const struct net_socket *s)
{
	return s == &net->socket[NET_PRIVATE] ? NET_WRAPPER_LEN : 0;
}

static unsigned put_wrapper(struct vf_soft_net *net, const struct net_socket *s, struct iovec *iov)
{
	if (!wrapper_len(net, s))
		return 0;
	iov[0] = (struct iovec){.iov_base = net->tx.wrapper, .iov_len = NET_WRAPPER_LEN};
	return 1;
}

/* The last step: from here on the address is the private one. */
static int send_to_slot(struct vf_soft_net *net, struct net_socket *s, struct vf_os_udp_send *m,
			const struct vf_roce_tx *t)
{
	unsigned slot = t->headers[SLOT_AT];
	int err;

	if (!wrapper_len(net, s))
		return net_tx_send(net, s, m);
	if (net_direct_address(net, slot, &m->addr))
		return -EHOSTUNREACH;
	net_number(net, slot, net->tx.wrapper);
	err = net_tx_send(net, s, m);
	if (err == 0)
		net_numbered(net, slot);
	return err;
}

/* One packet, alone. */
static void send_one(struct vf_soft_net *net, struct net_socket *s, unsigned index)
{
	struct vf_roce_tx *t = &net->tx.packet[index];
	uint32_t len = wire_len(t) + wrapper_len(net, s);
	struct vf_os_udp_send m = {.iov = net->tx.iov, .segment_len = len, .total_len = len};
	unsigned wrapped;
	int err;

	if (seal(net, index, 0))
		return;
	fill_addr(net, t->path, &m.addr);
	net_wrap(&m.addr, wire_len(t), net->tx.wrapper);
	wrapped = put_wrapper(net, s, net->tx.iov);
	m.iov_count = wrapped + put_iov(net, index, net->tx.iov + wrapped);
	if (net->is_impaired) {
		m.iov += wrapped;
		m.iov_count -= wrapped;
		net_impaired_send(net, vf_os_now(), &m, wrapped ? t->headers[SLOT_AT] : -1,
				  t->counters);
		return;
	}
	if (net->pcap)
		vf_pcap_write(net->pcap, &m.addr, 0, m.iov + wrapped, m.iov_count - wrapped);
	err = send_to_slot(net, s, &m, t);
	if (err == -EFAULT) {
		net->tx.is_faulty[index] = true;
	} else if (err) {
		net_tx_drop(t->counters, VF_DROP_SOCKET);
		complain(net, err);
	}
}

static struct vf_roce_tx *at_position(struct vf_soft_net *net, unsigned position)
{
	return &net->tx.packet[net->tx.order[position]];
}

static bool belongs(const struct vf_roce_tx *first, const struct vf_roce_tx *t, uint32_t len)
{
	const struct vf_roce_path *a = first->path, *b = t->path;

	return wire_len(t) <= len && first->headers[SLOT_AT] == t->headers[SLOT_AT] &&
	       (a == b || (memcmp(a->sgid, b->sgid, 16) == 0 && memcmp(a->dgid, b->dgid, 16) == 0 &&
			   a->traffic_class == b->traffic_class && a->hop_limit == b->hop_limit &&
			   a->host_tag == b->host_tag));
}

/* How many packets from @from on make one segmented send. */
static unsigned run_length(struct vf_soft_net *net, const struct net_socket *s, unsigned from,
			   unsigned end)
{
	const struct vf_roce_tx *first = at_position(net, from);
	uint32_t len = wire_len(first), extra = wrapper_len(net, s), bytes = len + extra;
	unsigned iovs = first->iov_count + 3u, n = 1;

	if (s->segments < 2 || net->is_impaired || !may_segment(net, first->path->dgid))
		return 1;
	while (from + n < end && n < s->segments) {
		const struct vf_roce_tx *t = at_position(net, from + n);

		if (!belongs(first, t, len) || bytes + wire_len(t) + extra > s->segment_bytes ||
		    iovs + t->iov_count + 3u > NET_TX_IOV)
			break;
		bytes += wire_len(t) + extra;
		iovs += t->iov_count + 3u;
		n++;
		if (wire_len(t) < len)
			break; /* a shorter one can only be the last */
	}
	return n;
}

/* Seals and collects; a packet whose payload is gone ends the run. Returns how many were looked at,
 * *good of them sealed. */
static unsigned collect(struct vf_soft_net *net, const struct net_socket *s, unsigned from,
			unsigned count, struct vf_os_udp_send *m, unsigned *good)
{
	/* a wrapped packet has no IP header of its own: ID 0 */
	unsigned i, step = wrapper_len(net, s) ? 0 : vf_os_udp_id_step(s->udp);

	m->iov_count = 0;
	m->total_len = 0;
	for (i = 0; i < count; i++) {
		unsigned before = m->iov_count + put_wrapper(net, s, net->tx.iov + m->iov_count);

		if (seal(net, net->tx.order[from + i], (uint16_t)(i * step))) {
			*good = i;
			return i + 1;
		}
		m->iov_count = before;
		m->iov_count += put_iov(net, net->tx.order[from + i], net->tx.iov + before);
		m->total_len += wire_len(at_position(net, from + i)) + wrapper_len(net, s);
		if (net->pcap)
			vf_pcap_write(net->pcap, &m->addr, (uint16_t)(i * step),
				      net->tx.iov + before, m->iov_count - before);
	}
	*good = i;
	return i;
}

static void drop_run(struct vf_soft_net *net, unsigned from, unsigned count, int err)
{
	for (unsigned i = from; i < from + count; i++)
		net_tx_drop(at_position(net, i)->counters, VF_DROP_SOCKET);
	complain(net, err);
}

/* Returns how many packets are dealt with. */
static unsigned send_run(struct vf_soft_net *net, struct net_socket *s, unsigned from,
			 unsigned count)
{
	struct vf_roce_tx *first = at_position(net, from);
	struct vf_os_udp_send m = {.iov = net->tx.iov,
				   .segment_len = wire_len(first) + wrapper_len(net, s)};
	unsigned good, done;
	int err;

	fill_addr(net, first->path, &m.addr);
	net_wrap(&m.addr, wire_len(first), net->tx.wrapper);
	done = collect(net, s, from, count, &m, &good);
	if (good == 0)
		return done;
	err = send_to_slot(net, s, &m, first);
	if (err == 0)
		return done;
	if (err == -EINVAL || err == -EMSGSIZE || err == -EIO || err == -EOPNOTSUPP)
		stop_segmenting(net, first->path->dgid);
	else if (err != -EFAULT) {
		drop_run(net, from, good, err);
		return done;
	}
	for (unsigned i = from; i < from + good; i++)
		send_one(net, s, net->tx.order[i]);
	return done;
}

static void report_faults(struct vf_soft_net *net, vf_nsec now, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (!net->tx.is_faulty[i])
			continue;
		net->tx.is_faulty[i] = false;
		vf_roce_tx_fault(net->engine, now, &net->tx.packet[i]);
	}
}

/* Requests of a connection, and its acknowledgements, are two streams that need not wait for each
 * other. */
static bool is_acknowledge(const struct vf_roce_tx *t) { return t->headers[0] == RC_ACKNOWLEDGE; }

static bool is_request(const struct vf_roce_tx *t)
{
	uint8_t operation = t->headers[0] & OPERATION_MASK;

	return operation < FIRST_RESPONSE || operation > LAST_RESPONSE;
}

/*
 * An acknowledgement goes behind the requests that follow it to the same process: as the short last
 * one of their segmented send it costs no system call.
 */
static void put_in_order(struct vf_soft_net *net, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		net->tx.order[i] = (uint8_t)i;
	for (unsigned i = 0; i + 1 < count; i++) {
		const struct vf_roce_tx *a = at_position(net, i), *b = at_position(net, i + 1);

		if (is_acknowledge(a) && is_request(b) && belongs(b, a, wire_len(b))) {
			uint8_t first = net->tx.order[i];

			net->tx.order[i] = net->tx.order[i + 1];
			net->tx.order[i + 1] = first;
		}
	}
}

static void send_batch(struct vf_soft_net *net, vf_nsec now, unsigned count)
{
	unsigned at = 0;

	put_in_order(net, count);
	while (at < count) {
		const struct vf_roce_tx *t = at_position(net, at);
		struct net_socket *s = socket_for(net, t);
		unsigned run;

		if (!s->udp) {
			net_tx_drop(t->counters, VF_DROP_SOCKET);
			at++;
			continue;
		}
		run = run_length(net, s, at, count);
		if (run == 1) {
			send_one(net, s, net->tx.order[at]);
			at++;
		} else {
			at += send_run(net, s, at, run);
		}
	}
	report_faults(net, now, count);
}

void net_tx_run(struct vf_soft_net *net, vf_nsec now)
{
	vf_nsec deadline = vf_roce_deadline(net->engine);

	if (deadline != 0 && deadline <= now)
		vf_roce_tick(net->engine, now);
	vf_soft_settle();
	for (int round = 0; round < ROUNDS_MAX; round++) {
		unsigned n = vf_roce_transmit(net->engine, now, net->tx.packet, NET_TX_BATCH);

		if (n)
			send_batch(net, now, n);
		if (n < NET_TX_BATCH)
			break;
	}
	deadline = vf_roce_deadline(net->engine);
	if (net->is_impaired) {
		net_impaired_release(net, now);
		if (vf_impair_deadline(&net->impair) < deadline)
			deadline = vf_impair_deadline(&net->impair);
	}
	atomic_store_explicit(&net->deadline, deadline, memory_order_relaxed);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending and receiving on macOS, in bursts where the system's call for that is there
 * (os/posix/burst.h). Written from documentation and xnu's sources, never run on a Mac.
 *
 * Source address and interface travel as control messages (IP_PKTINFO, IPV6_PKTINFO). TTL and TOS
 * of IPv4 are options of the socket, set when they change: not every version takes them as control
 * messages. The invariant CRC masks both.
 */
#include "os/darwin/udp.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "os/posix/address.h"

enum { CONTROL_BYTES = 256, BATCH_MAX = 32, IOV_MAX_SEND = 2048 };

/* struct msghdr_x of xnu's bsd/sys/socket_private.h, on the two architectures there are. */
_Static_assert(sizeof(struct vf_burst_msg) == 56, "size of msghdr_x");
_Static_assert(offsetof(struct vf_burst_msg, iov) == 16, "msg_iov");
_Static_assert(offsetof(struct vf_burst_msg, iov_count) == 24, "msg_iovlen");
_Static_assert(offsetof(struct vf_burst_msg, control) == 32, "msg_control");
_Static_assert(offsetof(struct vf_burst_msg, control_len) == 40, "msg_controllen");
_Static_assert(offsetof(struct vf_burst_msg, bytes) == 48, "msg_datalen");

struct control {
	_Alignas(8) uint8_t bytes[CONTROL_BYTES];
	size_t len;
};

static void put_control(struct control *c, int level, int type, const void *data, size_t len)
{
	struct cmsghdr h = {
		.cmsg_len = (socklen_t)CMSG_LEN(len), .cmsg_level = level, .cmsg_type = type};

	memcpy(c->bytes + c->len, &h, sizeof(h));
	memcpy(c->bytes + c->len + CMSG_LEN(0), data, len);
	c->len += CMSG_SPACE(len);
}

static void put_int(struct control *c, int level, int type, int value)
{
	put_control(c, level, type, &value, sizeof(value));
}

static void put_route(struct control *c, bool is_ipv6, const struct vf_os_udp_addr *a)
{
	if (is_ipv6) {
		struct in6_pktinfo info = {.ipi6_ifindex = a->if_index};

		memcpy(&info.ipi6_addr, a->src, 16);
		put_control(c, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
		if (a->ttl)
			put_int(c, IPPROTO_IPV6, IPV6_HOPLIMIT, a->ttl);
		put_int(c, IPPROTO_IPV6, IPV6_TCLASS, a->tos);
	} else {
		struct in_pktinfo info = {.ipi_ifindex = a->if_index};

		if (gid_is_v4(a->src))
			memcpy(&info.ipi_spec_dst, a->src + 12, 4);
		put_control(c, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	}
}

/* Under the send lock. A group's TTL is an option of its own, and a byte. */
static void set_ipv4_marks(struct vf_os_udp *s, const struct vf_os_udp_addr *a)
{
	if (a->ttl && a->ttl != s->ttl) {
		setsockopt(s->fd, IPPROTO_IP, IP_MULTICAST_TTL, &a->ttl, sizeof(a->ttl));
		if (vf_udp_set(s->fd, IPPROTO_IP, IP_TTL, a->ttl) == 0)
			s->ttl = a->ttl;
	}
	if (a->tos != s->tos && vf_udp_set(s->fd, IPPROTO_IP, IP_TOS, a->tos) == 0)
		s->tos = a->tos;
}

int vf_os_udp_send(struct vf_os_udp *s, const struct vf_os_udp_send *m, uint16_t *first_id)
{
	struct vf_burst_msg msg[VF_BURST_MAX];
	struct iovec room[IOV_MAX_SEND];
	union vf_udp_sockaddr to;
	struct control c = {.len = 0};
	socklen_t to_len = vf_udp_sockaddr_set(&to, s->is_ipv6, m->addr.dst, m->addr.dst_port);
	int count, err;

	if (m->iov_count > IOV_MAX_SEND - VF_BURST_MAX)
		return -EINVAL;
	if (s->is_ipv6 && m->addr.if_index && gid_is_link_local(m->addr.dst))
		to.in6.sin6_scope_id = m->addr.if_index;
	put_route(&c, s->is_ipv6, &m->addr);
	memset(msg, 0, sizeof(msg));
	count = vf_burst_cut(m->iov, m->iov_count, m->segment_len, m->total_len, msg, room);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		msg[i].name = &to;
		msg[i].name_len = to_len;
		msg[i].control = c.bytes;
		msg[i].control_len = (socklen_t)c.len;
	}
	pthread_mutex_lock(&s->send_lock);
	if (!s->is_ipv6)
		set_ipv4_marks(s, &m->addr);
	err = vf_burst_send(&s->burst, s->fd, msg, (unsigned)count);
	pthread_mutex_unlock(&s->send_lock);
	if (first_id)
		*first_id = 0;
	return err;
}

static void take_ipv4(const struct cmsghdr *h, const uint8_t *data, struct vf_os_udp_recv *m)
{
	struct in_pktinfo info;

	if (h->cmsg_type == IP_PKTINFO) {
		memcpy(&info, data, sizeof(info));
		gid_from_v4(m->addr.dst, &info.ipi_addr);
		m->addr.if_index = info.ipi_ifindex;
	} else if (h->cmsg_type == IP_RECVTTL || h->cmsg_type == IP_TTL) {
		m->addr.ttl = data[0];
	} else if (h->cmsg_type == IP_RECVTOS || h->cmsg_type == IP_TOS) {
		m->addr.tos = data[0];
	}
}

/* Addresses of the link carry the interface inside on BSD: out with it. */
static void clear_scope(uint8_t gid[16])
{
	if (gid_is_link_local(gid) || (gid[0] == 0xff && (gid[1] & 0x0f) == 2))
		gid[2] = gid[3] = 0;
}

static void take_ipv6(const struct cmsghdr *h, const uint8_t *data, struct vf_os_udp_recv *m)
{
	struct in6_pktinfo info;
	int n;

	if (h->cmsg_type == IPV6_PKTINFO) {
		memcpy(&info, data, sizeof(info));
		memcpy(m->addr.dst, &info.ipi6_addr, 16);
		clear_scope(m->addr.dst);
		m->addr.if_index = info.ipi6_ifindex;
	} else if (h->cmsg_type == IPV6_HOPLIMIT) {
		memcpy(&n, data, sizeof(n));
		m->addr.ttl = (uint8_t)n;
	} else if (h->cmsg_type == IPV6_TCLASS) {
		memcpy(&n, data, sizeof(n));
		m->addr.tos = (uint8_t)n;
	}
}

static void take_controls(const struct vf_burst_msg *b, struct vf_os_udp_recv *m)
{
	struct msghdr h;

	memset(&h, 0, sizeof(h));
	h.msg_control = b->control;
	h.msg_controllen = b->control_len;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_len < CMSG_LEN(0))
			return; /* not filled in */
		if (c->cmsg_level == IPPROTO_IP)
			take_ipv4(c, CMSG_DATA(c), m);
		else if (c->cmsg_level == IPPROTO_IPV6)
			take_ipv6(c, CMSG_DATA(c), m);
	}
}

static void take_one(const struct vf_os_udp *s, const struct vf_burst_msg *b,
		     struct vf_os_udp_recv *m)
{
	const union vf_udp_sockaddr *from = b->name;

	m->len = b->bytes > m->buf_len ? m->buf_len : (uint32_t)b->bytes;
	m->segment_len = m->len;
	memset(&m->addr, 0, sizeof(m->addr));
	if (s->is_ipv6) {
		memcpy(m->addr.src, &from->in6.sin6_addr, 16);
		clear_scope(m->addr.src);
		m->addr.src_port = ntohs(from->in6.sin6_port);
	} else {
		gid_from_v4(m->addr.src, &from->in.sin_addr);
		m->addr.src_port = ntohs(from->in.sin_port);
	}
	m->addr.dst_port = s->port;
	take_controls(b, m);
}

int vf_os_udp_recv(struct vf_os_udp *s, struct vf_os_udp_recv *m, unsigned count)
{
	struct vf_burst_msg msg[BATCH_MAX];
	struct iovec iov[BATCH_MAX];
	union vf_udp_sockaddr from[BATCH_MAX];
	struct control control[BATCH_MAX];
	int n;

	if (count > BATCH_MAX)
		count = BATCH_MAX;
	memset(from, 0, sizeof(from));
	memset(control, 0, sizeof(control));
	for (unsigned i = 0; i < count; i++) {
		iov[i] = (struct iovec){.iov_base = m[i].buf, .iov_len = m[i].buf_len};
		msg[i] = (struct vf_burst_msg){.name = &from[i],
					       .name_len = sizeof(from[i]),
					       .iov = &iov[i],
					       .iov_count = 1,
					       .control = control[i].bytes,
					       .control_len = sizeof(control[i].bytes)};
	}
	n = vf_burst_recv(&s->burst, s->fd, msg, count);
	for (int i = 0; i < n; i++)
		take_one(s, &msg[i], &m[i]);
	return n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending with UDP_SEGMENT and receiving with recvmmsg and UDP_GRO. Source address, interface, TTL
 * and TOS travel as control messages with each send; errors of earlier sends (ICMP) are taken off
 * and forgotten.
 */
#include "os/linux/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

#include "os/posix/address.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { CONTROL_BYTES = 256, BATCH_MAX = 32, PENDING_ERRORS_MAX = 8 };

struct control {
	_Alignas(8) uint8_t bytes[CONTROL_BYTES];
};

struct control_writer {
	struct control *c;
	size_t len;
};

static void put_control(struct control_writer *w, int level, int type, const void *data, size_t len)
{
	struct cmsghdr h = {.cmsg_len = CMSG_LEN(len), .cmsg_level = level, .cmsg_type = type};

	memcpy(w->c->bytes + w->len, &h, sizeof(h));
	memcpy(w->c->bytes + w->len + CMSG_LEN(0), data, len);
	w->len += CMSG_SPACE(len);
}

static void put_int(struct control_writer *w, int level, int type, int value)
{
	put_control(w, level, type, &value, sizeof(value));
}

static void put_route(struct control_writer *w, bool is_ipv6, const struct vf_os_udp_addr *a)
{
	if (is_ipv6) {
		struct in6_pktinfo info = {.ipi6_ifindex = a->if_index};

		memcpy(&info.ipi6_addr, a->src, 16);
		put_control(w, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
		if (a->ttl)
			put_int(w, IPPROTO_IPV6, IPV6_HOPLIMIT, a->ttl);
		put_int(w, IPPROTO_IPV6, IPV6_TCLASS, a->tos);
	} else {
		struct in_pktinfo info = {.ipi_ifindex = (int)a->if_index};

		if (gid_is_v4(a->src))
			memcpy(&info.ipi_spec_dst, a->src + 12, 4);
		put_control(w, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
		if (a->ttl)
			put_int(w, IPPROTO_IP, IP_TTL, a->ttl);
		if (a->tos)
			put_int(w, IPPROTO_IP, IP_TOS, a->tos);
	}
}

static bool is_of_an_earlier_send(int err)
{
	return err == ECONNREFUSED || err == ENOPROTOOPT || err == EPROTO;
}

int vf_os_udp_send(struct vf_os_udp *s, const struct vf_os_udp_send *m, uint16_t *first_id)
{
	union vf_udp_sockaddr to;
	struct control c;
	struct control_writer w = {.c = &c};
	struct msghdr h = {.msg_name = &to, .msg_iovlen = m->iov_count, .msg_control = &c};

	memcpy(&h.msg_iov, &m->iov, sizeof(h.msg_iov)); /* sendmsg only reads it */
	h.msg_namelen = vf_udp_sockaddr_set(&to, s->is_ipv6, m->addr.dst, m->addr.dst_port);
	if (s->is_ipv6 && m->addr.if_index && gid_is_link_local(m->addr.dst))
		to.in6.sin6_scope_id = m->addr.if_index;
	memset(&c, 0, sizeof(c));
	put_route(&w, s->is_ipv6, &m->addr);
	if (m->total_len > m->segment_len) {
		uint16_t size = (uint16_t)m->segment_len;

		put_control(&w, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size));
	}
	h.msg_controllen = w.len;
	if (first_id)
		*first_id = 0;
	for (int i = 0; i < PENDING_ERRORS_MAX; i++) {
		if (sendmsg(s->fd, &h, MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno == EINTR || is_of_an_earlier_send(errno))
			continue;
		if (errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM)
			return -EAGAIN;
		return -errno;
	}
	return -EAGAIN;
}

static void take_ipv4(const struct cmsghdr *h, const uint8_t *data, struct vf_os_udp_recv *m)
{
	struct in_pktinfo info;
	int n;

	if (h->cmsg_type == IP_PKTINFO) {
		memcpy(&info, data, sizeof(info));
		gid_from_v4(m->addr.dst, &info.ipi_addr);
		m->addr.if_index = (unsigned)info.ipi_ifindex;
	} else if (h->cmsg_type == IP_TTL) {
		memcpy(&n, data, sizeof(n));
		m->addr.ttl = (uint8_t)n;
	} else if (h->cmsg_type == IP_TOS) {
		m->addr.tos = data[0];
	}
}

static void take_ipv6(const struct cmsghdr *h, const uint8_t *data, struct vf_os_udp_recv *m)
{
	struct in6_pktinfo info;
	int n;

	if (h->cmsg_type == IPV6_PKTINFO) {
		memcpy(&info, data, sizeof(info));
		memcpy(m->addr.dst, &info.ipi6_addr, 16);
		m->addr.if_index = info.ipi6_ifindex;
	} else if (h->cmsg_type == IPV6_HOPLIMIT) {
		memcpy(&n, data, sizeof(n));
		m->addr.ttl = (uint8_t)n;
	} else if (h->cmsg_type == IPV6_TCLASS) {
		memcpy(&n, data, sizeof(n));
		m->addr.tos = (uint8_t)n;
	}
}

static void take_controls(struct msghdr *h, struct vf_os_udp_recv *m)
{
	int size;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level == IPPROTO_IP) {
			take_ipv4(c, CMSG_DATA(c), m);
		} else if (c->cmsg_level == IPPROTO_IPV6) {
			take_ipv6(c, CMSG_DATA(c), m);
		} else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&size, CMSG_DATA(c), sizeof(size));
			if (size > 0 && (uint32_t)size < m->len)
				m->segment_len = (uint32_t)size;
		}
	}
}

static void take_one(const struct vf_os_udp *s, struct mmsghdr *h,
		     const union vf_udp_sockaddr *from, struct vf_os_udp_recv *m)
{
	m->len = h->msg_len > m->buf_len ? m->buf_len : h->msg_len;
	m->segment_len = m->len;
	memset(&m->addr, 0, sizeof(m->addr));
	if (s->is_ipv6) {
		memcpy(m->addr.src, &from->in6.sin6_addr, 16);
		m->addr.src_port = ntohs(from->in6.sin6_port);
	} else {
		gid_from_v4(m->addr.src, &from->in.sin_addr);
		m->addr.src_port = ntohs(from->in.sin_port);
	}
	m->addr.dst_port = s->port;
	take_controls(&h->msg_hdr, m);
}

int vf_os_udp_recv(struct vf_os_udp *s, struct vf_os_udp_recv *m, unsigned count)
{
	struct mmsghdr h[BATCH_MAX];
	struct iovec iov[BATCH_MAX];
	union vf_udp_sockaddr from[BATCH_MAX];
	struct control control[BATCH_MAX];
	int n;

	if (count > BATCH_MAX)
		count = BATCH_MAX;
	for (unsigned i = 0; i < count; i++) {
		iov[i] = (struct iovec){.iov_base = m[i].buf, .iov_len = m[i].buf_len};
		h[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
					       .msg_namelen = sizeof(from[i]),
					       .msg_iov = &iov[i],
					       .msg_iovlen = 1,
					       .msg_control = &control[i],
					       .msg_controllen = sizeof(control[i])};
	}
	for (int i = 0; i < PENDING_ERRORS_MAX; i++) {
		n = recvmmsg(s->fd, h, count, MSG_DONTWAIT, NULL);
		if (n >= 0 || !(errno == EINTR || is_of_an_earlier_send(errno)))
			break;
	}
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
	for (int i = 0; i < n; i++)
		take_one(s, &h[i], &from[i], &m[i]);
	return n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UDP sockets: how they are opened and what they are told (ip(7), ipv6(7), udp(7)).
 *
 * Never connected: a connected socket numbers its IPv4 packets from an unknown start, and the
 * invariant CRC covers that number. With IP_MTU_DISCOVER at PROBE an unconnected one sends ID 0 and
 * DF, and nobody's forged "fragmentation needed" lowers its MTU.
 */
#include "os/linux/udp.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/posix/address.h"

/* Constants of the kernel that older C libraries do not name. */
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

enum { SEGMENTS_MAX = 64 }; /* what every kernel with UDP_SEGMENT takes */

socklen_t vf_udp_sockaddr_set(union vf_udp_sockaddr *a, bool is_ipv6, const uint8_t gid[16],
			      uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (is_ipv6) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons(port);
		memcpy(&a->in6.sin6_addr, gid, 16);
		return sizeof(a->in6);
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons(port);
	memcpy(&a->in.sin_addr, gid + 12, 4);
	return sizeof(a->in);
}

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Without these the device would be wrong on the wire: an error of any is an error of the open. */
static int set_needed(int fd, bool is_ipv6)
{
	int bad = 0;

	if (is_ipv6) {
		bad |= set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		bad |= set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
		bad |= set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
		bad |= set(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	} else {
		bad |= set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
		bad |= set(fd, IPPROTO_IP, IP_PKTINFO, 1);
	}
	return bad ? -errno : 0;
}

/* With these it is better. */
static void set_wanted(struct vf_os_udp *s)
{
	uint32_t zero = 0;
	socklen_t len = sizeof(zero);

	if (s->is_ipv6) {
		set(s->fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		set(s->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		set(s->fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
		set(s->fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1);
	} else {
		set(s->fd, IPPROTO_IP, IP_RECVTTL, 1);
		set(s->fd, IPPROTO_IP, IP_RECVTOS, 1);
		set(s->fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
		set(s->fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
	}
	set(s->fd, IPPROTO_UDP, UDP_GRO, 1);
	s->has_segments = getsockopt(s->fd, IPPROTO_UDP, UDP_SEGMENT, &zero, &len) == 0;
}

/* FORCE goes over rmem_max where the process may; the plain one is cut to it. The kernel doubles
 * what it is told. */
static void set_buffers(struct vf_os_udp *s, const struct vf_os_udp_options *o)
{
	int got = 0;
	socklen_t len = sizeof(got);
	int rcv = o->rcvbuf_bytes > INT32_MAX / 2 ? INT32_MAX / 2 : (int)o->rcvbuf_bytes;
	int snd = o->sndbuf_bytes > INT32_MAX / 2 ? INT32_MAX / 2 : (int)o->sndbuf_bytes;

	if (rcv && set(s->fd, SOL_SOCKET, SO_RCVBUFFORCE, rcv) < 0)
		set(s->fd, SOL_SOCKET, SO_RCVBUF, rcv);
	if (snd && set(s->fd, SOL_SOCKET, SO_SNDBUFFORCE, snd) < 0)
		set(s->fd, SOL_SOCKET, SO_SNDBUF, snd);
	if (getsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &got, &len) == 0 && got > 0)
		s->rcvbuf_bytes = (uint32_t)got;
}

static int bind_to(struct vf_os_udp *s, const struct vf_os_udp_options *o)
{
	union vf_udp_sockaddr a;
	socklen_t len = vf_udp_sockaddr_set(&a, o->is_ipv6, o->bind_addr, o->port);

	if (o->is_shared && set(s->fd, SOL_SOCKET, SO_REUSEPORT, 1) < 0)
		return -errno;
	if (bind(s->fd, &a.sa, len) < 0)
		return -errno;
	if (getsockname(s->fd, &a.sa, &len) < 0)
		return -errno;
	s->port = ntohs(o->is_ipv6 ? a.in6.sin6_port : a.in.sin_port);
	return 0;
}

int vf_os_udp_open(const struct vf_os_udp_options *o, struct vf_os_udp **out)
{
	struct vf_os_udp *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->is_ipv6 = o->is_ipv6;
	s->fd = socket(o->is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       IPPROTO_UDP);
	if (s->fd < 0) {
		err = -errno;
		free(s);
		return err;
	}
	err = set_needed(s->fd, o->is_ipv6);
	if (err)
		goto close_socket;
	set_wanted(s);
	set_buffers(s, o);
	err = bind_to(s, o);
	if (err)
		goto close_socket;
	*out = s;
	return 0;

close_socket:
	close(s->fd);
	free(s);
	return err;
}

void vf_os_udp_close(struct vf_os_udp *s)
{
	if (!s)
		return;
	close(s->fd);
	free(s);
}

int vf_os_udp_fd(const struct vf_os_udp *s) { return s->fd; }
uint32_t vf_os_udp_rcvbuf(const struct vf_os_udp *s) { return s->rcvbuf_bytes; }
uint16_t vf_os_udp_port(const struct vf_os_udp *s) { return s->port; }

void vf_os_udp_segment_limits(const struct vf_os_udp *s, unsigned *segments, uint32_t *bytes)
{
	*segments = s->has_segments ? SEGMENTS_MAX : 1;
	*bytes = s->is_ipv6 ? 65535 - 8 : 65535 - 28;
}

/* UDP_SEGMENT makes the kernel number them. */
unsigned vf_os_udp_id_step(const struct vf_os_udp *s)
{
	(void)s;
	return 1;
}

uint64_t vf_os_udp_overflows(const struct vf_os_udp *s)
{
	uint32_t info[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(info);

	if (getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0 ||
	    len <= SK_MEMINFO_DROPS * sizeof(info[0]))
		return UINT64_MAX;
	return info[SK_MEMINFO_DROPS];
}

static int change_membership(struct vf_os_udp *s, const uint8_t mgid[16], unsigned if_index,
			     bool is_join)
{
	int r;

	if (gid_is_v4(mgid) == s->is_ipv6)
		return -EAFNOSUPPORT;
	if (s->is_ipv6) {
		struct ipv6_mreq m = {.ipv6mr_interface = if_index};

		memcpy(&m.ipv6mr_multiaddr, mgid, 16);
		r = setsockopt(s->fd, IPPROTO_IPV6, is_join ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP,
			       &m, sizeof(m));
	} else {
		struct ip_mreqn m = {.imr_ifindex = (int)if_index};

		memcpy(&m.imr_multiaddr, mgid + 12, 4);
		r = setsockopt(s->fd, IPPROTO_IP, is_join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
			       &m, sizeof(m));
	}
	return r < 0 ? -errno : 0;
}

int vf_os_udp_mcast_join(struct vf_os_udp *s, const uint8_t mgid[16], unsigned if_index)
{
	int err = change_membership(s, mgid, if_index, true);

	return err == -EADDRINUSE ? 0 : err; /* joined already */
}

int vf_os_udp_mcast_leave(struct vf_os_udp *s, const uint8_t mgid[16], unsigned if_index)
{
	return change_membership(s, mgid, if_index, false);
}

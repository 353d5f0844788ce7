/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UDP sockets of macOS: how they are opened and what they are told. Written from ip(4), ip6(4) and
 * xnu's sources, never run on a Mac.
 *
 * Never connected. With IP_DONTFRAG an IPv4 datagram is atomic, and xnu gives those ID 0 as long as
 * the sysctl net.inet.ip.rfc6864 is 1, which is the default (`verbifrost doctor` looks). So every
 * datagram has DF set and ID 0, which is what the invariant CRC is computed for.
 *
 * What this system cannot: give segments to the network card (they are sent as a burst), steer a
 * shared port, say how many datagrams it dropped, or accept IPv6 datagrams without a UDP checksum
 * (Linux's rxe sends such: use IPv4 with it).
 */
#include "os/darwin/udp.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/posix/address.h"

enum { BUFFER_MIN = 65536, SEGMENT_BYTES_MAX = 1 << 18 };

socklen_t vf_udp_sockaddr_set(union vf_udp_sockaddr *a, bool is_ipv6, const uint8_t gid[16],
			      uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (is_ipv6) {
		a->in6.sin6_len = sizeof(a->in6);
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons(port);
		memcpy(&a->in6.sin6_addr, gid, 16);
		return sizeof(a->in6);
	}
	a->in.sin_len = sizeof(a->in);
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons(port);
	memcpy(&a->in.sin_addr, gid + 12, 4);
	return sizeof(a->in);
}

int vf_udp_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

/* Without these the device would be wrong on the wire: an error of any is an error of the open. */
static int set_needed(int fd, bool is_ipv6)
{
	int err = 0;

	if (is_ipv6) {
		err = vf_udp_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		if (err == 0)
			err = vf_udp_set(fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
		if (err == 0)
			err = vf_udp_set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
		return err;
	}
	err = vf_udp_set(fd, IPPROTO_IP, IP_DONTFRAG, 1);
	if (err == 0)
		err = vf_udp_set(fd, IPPROTO_IP, IP_RECVPKTINFO, 1);
	return err;
}

/* With these it is better. */
static void set_wanted(int fd, bool is_ipv6)
{
	if (is_ipv6) {
		vf_udp_set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		vf_udp_set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		vf_udp_set(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1);
	} else {
		uint8_t one = 1; /* this one is a byte in BSD */

		vf_udp_set(fd, IPPROTO_IP, IP_RECVTTL, 1);
		vf_udp_set(fd, IPPROTO_IP, IP_RECVTOS, 1);
		setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &one, sizeof(one));
	}
}

/* More than kern.ipc.maxsockbuf allows is refused whole (ENOBUFS), not cut: ask for less until it
 * is granted. */
static void set_buffer(int fd, int name, uint32_t bytes)
{
	for (; bytes >= BUFFER_MIN; bytes -= bytes / 4)
		if (vf_udp_set(fd, SOL_SOCKET, name, bytes > INT32_MAX ? INT32_MAX : (int)bytes) ==
		    0)
			return;
}

static void set_buffers(struct vf_os_udp *s, const struct vf_os_udp_options *o)
{
	int got = 0;
	socklen_t len = sizeof(got);

	set_buffer(s->fd, SO_RCVBUF, o->rcvbuf_bytes);
	set_buffer(s->fd, SO_SNDBUF, o->sndbuf_bytes);
	if (getsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &got, &len) == 0 && got > 0)
		s->rcvbuf_bytes = (uint32_t)got;
}

static int bind_to(struct vf_os_udp *s, const struct vf_os_udp_options *o)
{
	union vf_udp_sockaddr a;
	socklen_t len = vf_udp_sockaddr_set(&a, o->is_ipv6, o->bind_addr, o->port);
	int err = o->is_shared ? vf_udp_set(s->fd, SOL_SOCKET, SO_REUSEPORT, 1) : 0;

	if (err)
		return err;
	if (bind(s->fd, &a.sa, len) < 0)
		return -errno;
	if (getsockname(s->fd, &a.sa, &len) < 0)
		return -errno;
	s->port = ntohs(o->is_ipv6 ? a.in6.sin6_port : a.in.sin_port);
	return 0;
}

/*
 * libSystem exports both, no header declares them. Looked up by name, so that a system that drops
 * them is only slower. The layouts of struct vf_burst_msg and the system's struct agree (checked
 * where it is defined).
 */
static vf_burst_fn find_call(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);
	vf_burst_fn fn;

	_Static_assert(sizeof(fn) == sizeof(p),
		       "functions and data have pointers of one size here");
	memcpy(&fn, &p, sizeof(fn));
	return fn;
}

static int open_socket(bool is_ipv6, int *out)
{
	int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP);

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

int vf_os_udp_open(const struct vf_os_udp_options *o, struct vf_os_udp **out)
{
	struct vf_os_udp *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->is_ipv6 = o->is_ipv6;
	err = open_socket(o->is_ipv6, &s->fd);
	if (err)
		goto free_it;
	err = set_needed(s->fd, o->is_ipv6);
	if (err)
		goto close_socket;
	set_wanted(s->fd, o->is_ipv6);
	set_buffers(s, o);
	err = bind_to(s, o);
	if (err)
		goto close_socket;
	pthread_mutex_init(&s->send_lock, NULL);
	s->burst =
		(struct vf_burst){.send = find_call("sendmsg_x"), .recv = find_call("recvmsg_x")};
	*out = s;
	return 0;

close_socket:
	close(s->fd);
free_it:
	free(s);
	return err;
}

void vf_os_udp_close(struct vf_os_udp *s)
{
	if (!s)
		return;
	close(s->fd);
	pthread_mutex_destroy(&s->send_lock);
	free(s);
}

int vf_os_udp_fd(const struct vf_os_udp *s) { return s->fd; }
uint32_t vf_os_udp_rcvbuf(const struct vf_os_udp *s) { return s->rcvbuf_bytes; }
uint16_t vf_os_udp_port(const struct vf_os_udp *s) { return s->port; }

/* Segments save system calls, no more: a burst of whole datagrams. */
void vf_os_udp_segment_limits(const struct vf_os_udp *s, unsigned *segments, uint32_t *bytes)
{
	(void)s;
	*segments = VF_BURST_MAX;
	*bytes = SEGMENT_BYTES_MAX;
}

/* Atomic datagrams all have ID 0. */
unsigned vf_os_udp_id_step(const struct vf_os_udp *s)
{
	(void)s;
	return 0;
}

uint64_t vf_os_udp_overflows(const struct vf_os_udp *s)
{
	(void)s;
	return UINT64_MAX;
}

int vf_os_udp_steer(struct vf_os_udp *s, const int *slot_of, unsigned count, uint8_t probe_opcode)
{
	(void)s;
	(void)slot_of;
	(void)count;
	(void)probe_opcode;
	return -EOPNOTSUPP; /* one socket of the group gets all: its process hands on what is not
			       its own */
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

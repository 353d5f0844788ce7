/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bursts of datagrams. What the system's own call does, and what this makes of it:
 *
 *   count == asked          all are out
 *   0 <= count < asked      some are out, no error is told: go on with the rest
 *   EWOULDBLOCK, ENOBUFS    no room: told to the caller when nothing is out yet, else waited for
 *   EINVAL, ENOSYS, ...     the call is not for this socket or system: one datagram a call from now
 * on ECONNREFUSED            of an earlier datagram: forgotten anything else           this
 * datagram cannot go
 */
#include "os/posix/burst.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

enum { WAITS_MAX = 100, ERRORS_MAX = 16 };

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* datagrams raise no signal anyway */
#endif

static bool is_full(int err)
{
	return err == EWOULDBLOCK || err == EAGAIN || err == ENOBUFS || err == ENOMEM;
}
static bool is_passing(int err) { return err == EINTR || err == ECONNREFUSED; }
static bool is_unknown(int err)
{
	return err == EINVAL || err == ENOSYS || err == EOPNOTSUPP || err == ENOTSUP ||
	       err == EPERM;
}

/* A socket without room says when it has some; an interface queue (ENOBUFS) does not. */
static void wait_for_room(int fd, int err)
{
	struct timespec pause = {.tv_nsec = 50 * 1000};
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (err == EWOULDBLOCK || err == EAGAIN)
		poll(&p, 1, 1);
	else
		nanosleep(&pause, NULL);
}

static struct msghdr plain_header(struct vf_burst_msg *m)
{
	struct msghdr h;

	memset(&h, 0, sizeof(h));
	h.msg_name = m->name;
	h.msg_namelen = m->name_len;
	h.msg_iov = m->iov;
	h.msg_iovlen =
		(__typeof__(h.msg_iovlen))m->iov_count; /* its type differs between systems */
	h.msg_control = m->control;
	h.msg_controllen = m->control_len;
	return h;
}

static ssize_t send_plain(int fd, struct vf_burst_msg *m, unsigned count, int flags)
{
	for (unsigned i = 0; i < count; i++) {
		struct msghdr h = plain_header(&m[i]);

		if (sendmsg(fd, &h, flags) < 0)
			return i ? (ssize_t)i : -1;
	}
	return (ssize_t)count;
}

static ssize_t recv_plain(int fd, struct vf_burst_msg *m, unsigned count, int flags)
{
	for (unsigned i = 0; i < count; i++) {
		struct msghdr h = plain_header(&m[i]);
		ssize_t n = recvmsg(fd, &h, flags);

		if (n < 0)
			return i ? (ssize_t)i : -1;
		m[i].bytes = (size_t)n;
		m[i].flags = h.msg_flags;
		m[i].name_len = h.msg_namelen;
		m[i].control_len = (socklen_t)h.msg_controllen;
	}
	return (ssize_t)count;
}

/* What to do about @err with @done datagrams out: 0 go on, 1 give up on the rest, or the error to
 * return. */
static int after_error(struct vf_burst *b, int fd, int err, unsigned done, unsigned *tries)
{
	if (is_unknown(err) && b->send) {
		b->send = NULL;
		return 0;
	}
	if (is_passing(err))
		return ++*tries < ERRORS_MAX ? 0 : -EAGAIN;
	if (!is_full(err))
		return -err;
	if (done == 0)
		return -EAGAIN;
	if (++*tries > WAITS_MAX)
		return 1;
	(b->wait ? b->wait : wait_for_room)(fd, err);
	return 0;
}

int vf_burst_send(struct vf_burst *b, int fd, struct vf_burst_msg *m, unsigned count)
{
	unsigned done = 0, tries = 0;

	while (done < count) {
		ssize_t n = (b->send ? b->send : send_plain)(fd, m + done, count - done,
							     MSG_DONTWAIT | MSG_NOSIGNAL);
		int next;

		if (n > 0) {
			done += (unsigned)n;
			tries = 0;
			continue;
		}
		next = after_error(b, fd, n < 0 ? errno : EWOULDBLOCK, done, &tries);
		if (next == 1) {
			b->lost += count - done;
			return 0;
		}
		if (next < 0)
			return next;
	}
	return 0;
}

int vf_burst_recv(struct vf_burst *b, int fd, struct vf_burst_msg *m, unsigned count)
{
	for (int i = 0; i < ERRORS_MAX; i++) {
		ssize_t n = (b->recv ? b->recv : recv_plain)(fd, m, count, MSG_DONTWAIT);

		if (n >= 0)
			return (int)n;
		if (is_passing(errno))
			continue;
		if (is_unknown(errno) && b->recv) {
			b->recv = NULL;
			continue;
		}
		return is_full(errno) ? 0 : -errno;
	}
	return 0;
}

int vf_burst_cut(const struct iovec *iov, unsigned iov_count, uint32_t segment_len,
		 uint32_t total_len, struct vf_burst_msg *m, struct iovec *room)
{
	unsigned at = 0, count = 0;
	size_t skip = 0;

	if (segment_len == 0)
		return -EINVAL;
	while (total_len) {
		uint32_t want = total_len < segment_len ? total_len : segment_len;

		if (count == VF_BURST_MAX)
			return -EINVAL;
		total_len -= want;
		m[count].iov = room;
		m[count].iov_count = 0;
		while (want) {
			size_t have;

			if (at == iov_count)
				return -EINVAL;
			have = iov[at].iov_len - skip;
			if (have > want)
				have = want;
			*room++ = (struct iovec){.iov_base = (uint8_t *)iov[at].iov_base + skip,
						 .iov_len = have};
			m[count].iov_count++;
			want -= (uint32_t)have;
			skip += have;
			if (skip == iov[at].iov_len) {
				at++;
				skip = 0;
			}
		}
		count++;
	}
	return (int)count;
}

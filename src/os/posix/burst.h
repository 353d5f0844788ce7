/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_POSIX_BURST_H
#define VF_OS_POSIX_BURST_H
/*
 * Several datagrams with one call, where the system has one for it (macOS: sendmsg_x and
 * recvmsg_x), else one call each. The calls are behind pointers: on macOS they are found at run
 * time, in tests they are made to behave badly.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* One datagram, laid out as macOS has struct msghdr_x (bsd/sys/socket_private.h of xnu). */
struct vf_burst_msg {
	void *name;
	socklen_t name_len;
	struct iovec *iov;
	int iov_count;
	void *control;
	socklen_t control_len;
	int flags;    /* 0 when sending */
	size_t bytes; /* received */
};

/* Both return how many went or came, or -1 and errno. A short count without an error is normal. */
typedef ssize_t (*vf_burst_fn)(int fd, struct vf_burst_msg *m, unsigned count, int flags);

struct vf_burst {
	vf_burst_fn send, recv;		 /* NULL: the system has none, use sendmsg and recvmsg */
	void (*wait)(int fd, int error); /* until there may be room again, a short time at most;
					    NULL: poll or sleep */
	uint64_t lost;			 /* datagrams of a burst begun that found no room in time */
};

enum { VF_BURST_MAX = 64 };

/**
 * Sends all of @m, in order. 0; -EAGAIN: no room, nothing was sent; another -errno: it met one that
 * cannot go (those before it may be out). Once some are out the rest is waited for, for some
 * milliseconds; what finds no room then is lost and counted, as in any network.
 */
int vf_burst_send(struct vf_burst *b, int fd, struct vf_burst_msg *m, unsigned count);

/** Receives up to @count without waiting; returns how many, or -errno. Sets bytes and the lengths
 * of names and controls. */
int vf_burst_recv(struct vf_burst *b, int fd, struct vf_burst_msg *m, unsigned count);

/**
 * Cuts @total_len bytes of @iov into datagrams of @segment_len: fills iov and iov_count of @m
 * (VF_BURST_MAX) with entries from @room (room_count, at least iov_count + VF_BURST_MAX). Returns
 * how many datagrams; -EINVAL when they or the bytes do not fit.
 */
int vf_burst_cut(const struct iovec *iov, unsigned iov_count, uint32_t segment_len,
		 uint32_t total_len, struct vf_burst_msg *m, struct iovec *room);

#endif

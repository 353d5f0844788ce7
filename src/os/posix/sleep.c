/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll(2) to the microsecond without ppoll: pselect(2) where all descriptors are small enough for
 * its sets, else poll(2) with the time-out rounded up to a millisecond.
 */
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/select.h>

static bool fits(const struct pollfd *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i].fd >= FD_SETSIZE)
			return false;
	return true;
}

static int sleep_fine(struct pollfd *fds, unsigned count, vf_nsec span)
{
	struct timespec t = {.tv_sec = (time_t)(span / VF_SEC), .tv_nsec = (long)(span % VF_SEC)};
	fd_set in, out;
	int top = -1;

	FD_ZERO(&in);
	FD_ZERO(&out);
	for (unsigned i = 0; i < count; i++) {
		if (fds[i].fd < 0)
			continue;
		if (fds[i].events & POLLIN)
			FD_SET(fds[i].fd, &in);
		if (fds[i].events & POLLOUT)
			FD_SET(fds[i].fd, &out);
		top = fds[i].fd > top ? fds[i].fd : top;
	}
	return pselect(top + 1, &in, &out, NULL, &t, NULL);
}

int vf_os_poll(struct pollfd *fds, unsigned count, vf_nsec timeout_ns)
{
	static const vf_nsec coarse = 100 * VF_MSEC;
	int n, ms = -1;

	if (timeout_ns != 0 && timeout_ns < coarse && fits(fds, count)) {
		n = sleep_fine(fds, count, timeout_ns);
		if (n < 0)
			return -errno;
		ms = 0; /* which of them are ready: as poll says it */
	} else if (timeout_ns != VF_NSEC_NEVER) {
		vf_nsec up = timeout_ns / VF_MSEC + (timeout_ns % VF_MSEC != 0);

		ms = up > INT_MAX ? INT_MAX : (int)up;
	}
	n = poll(fds, count, ms);
	return n < 0 ? -errno : n;
}

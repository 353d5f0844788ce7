/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking a thread that sleeps in poll(2): an eventfd. And that sleep, to the nanosecond. */
#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

int vf_os_wake_open(struct vf_os_wake *w)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	w->read_fd = w->write_fd = fd;
	return 0;
}

void vf_os_wake_close(struct vf_os_wake *w)
{
	if (w->read_fd >= 0)
		close(w->read_fd);
	w->read_fd = w->write_fd = -1;
}

void vf_os_wake_set(const struct vf_os_wake *w)
{
	const uint64_t one = 1;
	int saved = errno;

	/* Full means that it is readable already. */
	while (write(w->write_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	errno = saved;
}

void vf_os_wake_clear(const struct vf_os_wake *w)
{
	uint64_t n;
	int saved = errno;

	while (read(w->read_fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
	errno = saved;
}

int vf_os_poll(struct pollfd *fds, unsigned count, vf_nsec timeout_ns)
{
	struct timespec t = {.tv_sec = (time_t)(timeout_ns / VF_SEC),
			     .tv_nsec = (long)(timeout_ns % VF_SEC)};
	int n = ppoll(fds, count, timeout_ns == VF_NSEC_NEVER ? NULL : &t, NULL);

	return n < 0 ? -errno : n;
}

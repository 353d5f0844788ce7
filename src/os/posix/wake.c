/* SPDX-License-Identifier: BSD-2-Clause */
/* Waking a thread that sleeps in poll(2): a pipe, for systems without anything smaller. */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int prepare(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	return 0;
}

int vf_os_wake_open(struct vf_os_wake *w)
{
	int fd[2], err;

	if (pipe(fd) < 0)
		return -errno;
	err = prepare(fd[0]);
	if (err == 0)
		err = prepare(fd[1]);
	if (err) {
		close(fd[0]);
		close(fd[1]);
		return err;
	}
	w->read_fd = fd[0];
	w->write_fd = fd[1];
	return 0;
}

void vf_os_wake_close(struct vf_os_wake *w)
{
	if (w->read_fd >= 0)
		close(w->read_fd);
	if (w->write_fd >= 0)
		close(w->write_fd);
	w->read_fd = w->write_fd = -1;
}

void vf_os_wake_set(const struct vf_os_wake *w)
{
	int saved = errno;

	/* Full means that it is readable already. */
	while (write(w->write_fd, "", 1) < 0 && errno == EINTR)
		;
	errno = saved;
}

void vf_os_wake_clear(const struct vf_os_wake *w)
{
	int saved = errno;
	char sink[256];
	ssize_t n;

	do
		n = read(w->read_fd, sink, sizeof(sink));
	while (n > 0 || (n < 0 && errno == EINTR));
	errno = saved;
}

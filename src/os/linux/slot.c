/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Process slots: listening sockets with abstract names (unix(7)). Such a name belongs to one
 * network namespace, is held by one socket whatever its user, and is gone when the last descriptor
 * of it is, however the process ended. Watching is connecting: the connection hangs up when the
 * holder dies, whether it was ever accepted or not.
 *
 *   free --bind, listen--> held --close or death--> free
 *
 * The holder takes connections off the queue (vf_os_slot_serve), so that it does not fill up. A
 * holder that does not (stopped) keeps them waiting in the kernel, which costs nobody anything.
 */
#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/settings.h"
#include "os/posix/address.h"

enum { WATCHERS_MAX = 1024, QUEUE_LEN = 4096 };

struct vf_os_slot {
	int fd;
	unsigned number, watcher_count;
	int watcher[WATCHERS_MAX]; /* connections of live watchers, and of some dead ones for a
				      while */
};

static unsigned udp_port(void) { return (unsigned)vf_setting_number(VF_SET_UDP_PORT, 1, 65535); }

static socklen_t name_of(unsigned slot, struct sockaddr_un *a)
{
	int n;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "verbifrost.%u.slot.%u", udp_port(),
		     slot);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* 0: ours now; -EADDRINUSE: somebody's. */
static int try_slot(unsigned slot, int *out)
{
	struct sockaddr_un a;
	socklen_t len = name_of(slot, &a);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, QUEUE_LEN) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

int vf_os_slot_claim(unsigned hint, struct vf_os_slot **out)
{
	struct vf_os_slot *s = calloc(1, sizeof(*s));
	int err = -EADDRINUSE;

	if (!s)
		return vf_refuse(ENOMEM, "no memory for a process slot");
	for (unsigned i = 0; i < VF_OS_SLOTS && err == -EADDRINUSE; i++) {
		s->number = (hint + i) % VF_OS_SLOTS;
		err = try_slot(s->number, &s->fd);
	}
	if (err == 0) {
		*out = s;
		return 0;
	}
	free(s);
	if (err == -EADDRINUSE)
		return vf_refuse(ENOSPC,
				 "all %d process slots of this host are taken: so many processes "
				 "use soft devices now",
				 VF_OS_SLOTS);
	return vf_refuse(-err, "no socket for a process slot: %s", strerror(-err));
}

/* A child's copies are descriptors like the parent's: closing them leaves the parent's socket open
 * and bound. */
void vf_os_slot_disown(struct vf_os_slot *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->watcher_count; i++)
		close(s->watcher[i]);
	close(s->fd);
	free(s);
}

/* Who watches is told that this is no death: one byte before the end. */
static void say_farewell(struct vf_os_slot *s)
{
	const char byte = 1;

	vf_os_slot_serve(s); /* those that still wait to be accepted */
	for (unsigned i = 0; i < s->watcher_count; i++)
		send(s->watcher[i], &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void vf_os_slot_release(struct vf_os_slot *s)
{
	if (s)
		say_farewell(s);
	vf_os_slot_disown(s);
}

unsigned vf_os_slot_number(const struct vf_os_slot *s) { return s->number; }
int vf_os_slot_fd(const struct vf_os_slot *s) { return s->fd; }

/* Watchers that have gone hang up. */
static void prune(struct vf_os_slot *s)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->watcher_count; i++) {
		struct pollfd p = {.fd = s->watcher[i]};

		if (poll(&p, 1, 0) > 0)
			close(s->watcher[i]);
		else
			s->watcher[kept++] = s->watcher[i];
	}
	s->watcher_count = kept;
}

void vf_os_slot_serve(struct vf_os_slot *s)
{
	prune(s);
	while (s->watcher_count < WATCHERS_MAX) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		s->watcher[s->watcher_count++] = fd;
	}
}

int vf_os_slot_address(unsigned slot, uint8_t gid[16], uint16_t *port)
{
	const uint8_t a[4] = {127, 86, 66, (uint8_t)slot};

	if (slot >= VF_OS_SLOTS)
		return -EINVAL;
	gid_from_v4(gid, a);
	*port = (uint16_t)udp_port();
	return 0;
}

int vf_os_slot_publish(struct vf_os_slot *s, const uint8_t gid[16], uint16_t port)
{
	(void)s; /* computed from the slot: nothing to tell */
	(void)gid;
	(void)port;
	return 0;
}

int vf_os_slot_watch(unsigned slot, int *out)
{
	struct sockaddr_un a;
	socklen_t len = name_of(slot, &a);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&a, len) < 0) {
		err = errno == ECONNREFUSED ? -ENOENT : -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

bool vf_os_slot_is_held(unsigned slot)
{
	int fd, err = vf_os_slot_watch(slot, &fd);

	if (err == 0)
		close(fd);
	return err == 0 || err == -EAGAIN; /* its queue is full: it is there */
}

/* The byte that a holder that releases its slot sends; a dead one sent none. */
bool vf_os_slot_is_left(int watch_fd)
{
	char byte;

	return recv(watch_fd, &byte, 1, MSG_DONTWAIT) == 1;
}

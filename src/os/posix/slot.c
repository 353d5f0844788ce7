/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Process slots as files, for systems without abstract sockets. In a folder of the user's own
 * (VERBIFROST_SLOT_DIR, else the system's folder for the user's short-lived files) slot N has
 *
 *   PORT.N.lock   locked (flock) by its holder; says where datagrams for the holder go: 16 bytes of
 * address, 2 of port PORT.N.sock   a listening socket of the holder; watching is connecting, and
 * hangs up when the holder ends
 *
 *   free --flock--> held --close or death--> free
 *
 * The lock goes with the process, however it ends; both files stay and mean nothing without the
 * lock. Who looks whether a slot is held takes a shared lock for an instant: a process that wants
 * the slot just then takes the next one.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/settings.h"
#include "os/posix/address.h"
#include "os/posix/slot_dir.h"

/* Systems without the flag have an option on the socket (mark). */
#ifdef MSG_NOSIGNAL
#define NO_SIGNAL MSG_NOSIGNAL
#else
#define NO_SIGNAL 0
#endif

enum { WATCHERS_MAX = 1024, QUEUE_LEN = 128, RECORD_BYTES = 18, PATH_BYTES = 512 };

struct vf_os_slot {
	int lock_fd, listen_fd;
	unsigned number, watcher_count;
	int watcher[WATCHERS_MAX];
};

static unsigned udp_port(void) { return (unsigned)vf_setting_number(VF_SET_UDP_PORT, 1, 65535); }

static int folder(char out[PATH_BYTES])
{
	const char *v = vf_setting_string(VF_SET_SLOT_DIR);
	int n;

	if (!*v)
		return vf_slot_dir_default(out, PATH_BYTES);
	n = snprintf(out, PATH_BYTES, "%s", v);
	return n > 0 && n < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

static int path_of(unsigned slot, const char *kind, char out[PATH_BYTES])
{
	char dir[PATH_BYTES - 32];
	int n, err = folder(out);

	if (err)
		return err;
	if (strlen(out) >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, out, strlen(out) + 1);
	n = snprintf(out, PATH_BYTES, "%s/%u.%u.%s", dir, udp_port(), slot, kind);
	return n > 0 && n < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

/* Made for the user alone; one that another user made is not to be trusted. */
static int folder_ready(void)
{
	char dir[PATH_BYTES];
	struct stat st;
	int err = folder(dir);

	if (err)
		return err;
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(dir, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? 0 : -EPERM;
}

static void mark(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
#ifdef SO_NOSIGPIPE
	setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
}

static int lock_file(unsigned slot, int flags, int *out)
{
	char path[PATH_BYTES];
	int fd, err = path_of(slot, "lock", path);

	if (err)
		return err;
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	*out = fd;
	return 0;
}

static int socket_name(unsigned slot, struct sockaddr_un *a)
{
	char path[PATH_BYTES];
	int err = path_of(slot, "sock", path);

	if (err)
		return err;
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	memcpy(a->sun_path, path, strlen(path) + 1);
	return 0;
}

/* Only the holder of the lock comes here, so a socket file that is there is a dead process's. */
static int listen_at(unsigned slot, int *out)
{
	struct sockaddr_un a;
	int fd, err = socket_name(slot, &a);

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return -errno;
	mark(fd);
	unlink(a.sun_path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, QUEUE_LEN) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

/* -EWOULDBLOCK: somebody's. */
static int try_slot(unsigned slot, struct vf_os_slot *s)
{
	static const uint8_t nothing[RECORD_BYTES];
	int err = lock_file(slot, O_RDWR | O_CREAT, &s->lock_fd);

	if (err)
		return err;
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		err = errno == EINTR ? -EWOULDBLOCK : -errno;
		goto unlock;
	}
	if (pwrite(s->lock_fd, nothing, sizeof(nothing), 0) != sizeof(nothing)) {
		err = -EIO;
		goto unlock;
	}
	err = listen_at(slot, &s->listen_fd);
	if (err)
		goto unlock;
	s->number = slot;
	return 0;

unlock:
	close(s->lock_fd);
	return err;
}

int vf_os_slot_claim(unsigned hint, struct vf_os_slot **out)
{
	struct vf_os_slot *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return vf_refuse(ENOMEM, "no memory for a process slot");
	err = folder_ready();
	if (err) {
		free(s);
		return vf_refuse(
			-err,
			"the folder of the process slots (VERBIFROST_SLOT_DIR) cannot be used: %s",
			strerror(-err));
	}
	err = -EWOULDBLOCK;
	for (unsigned i = 0; i < VF_OS_SLOTS && err == -EWOULDBLOCK; i++)
		err = try_slot((hint + i) % VF_OS_SLOTS, s);
	if (err == 0) {
		*out = s;
		return 0;
	}
	free(s);
	if (err == -EWOULDBLOCK)
		return vf_refuse(ENOSPC,
				 "all %d process slots of this user are taken: so many processes "
				 "use soft devices now",
				 VF_OS_SLOTS);
	return vf_refuse(-err, "no file for a process slot: %s", strerror(-err));
}

static void close_all(struct vf_os_slot *s)
{
	for (unsigned i = 0; i < s->watcher_count; i++)
		close(s->watcher[i]);
	close(s->listen_fd);
	close(s->lock_fd);
	free(s);
}

/* Who watches is told that this is no death: one byte before the end. A watcher that is gone is no
 * reason for a signal. */
static void say_farewell(struct vf_os_slot *s)
{
	const char byte = 1;

	vf_os_slot_serve(s); /* those that still wait to be accepted */
	for (unsigned i = 0; i < s->watcher_count; i++)
		send(s->watcher[i], &byte, 1, MSG_DONTWAIT | NO_SIGNAL);
}

void vf_os_slot_release(struct vf_os_slot *s)
{
	struct sockaddr_un a;

	if (!s)
		return;
	if (socket_name(s->number, &a) == 0)
		unlink(a.sun_path);
	say_farewell(s);
	close_all(s);
}

/* The lock belongs to the open file, which the parent has too: closing the child's descriptor
 * leaves it. */
void vf_os_slot_disown(struct vf_os_slot *s)
{
	if (s)
		close_all(s);
}

unsigned vf_os_slot_number(const struct vf_os_slot *s) { return s->number; }
int vf_os_slot_fd(const struct vf_os_slot *s) { return s->listen_fd; }

/* Watchers that have gone hang up. */
static void prune(struct vf_os_slot *s)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->watcher_count; i++) {
		struct pollfd p = {.fd = s->watcher[i], .events = POLLIN};

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
		int fd = accept(s->listen_fd, NULL, NULL);

		if (fd < 0)
			return;
		mark(fd);
		s->watcher[s->watcher_count++] = fd;
	}
}

/* Not published yet: the loopback address, and port 0, which is where the owner binds and where
 * nobody can send. */
int vf_os_slot_address(unsigned slot, uint8_t gid[16], uint16_t *port)
{
	static const uint8_t loopback[4] = {127, 0, 0, 1};
	uint8_t record[RECORD_BYTES] = {0};
	int fd, err;

	if (slot >= VF_OS_SLOTS)
		return -EINVAL;
	gid_from_v4(gid, loopback);
	*port = 0;
	err = lock_file(slot, O_RDONLY, &fd);
	if (err)
		return err;
	if (pread(fd, record, sizeof(record), 0) == sizeof(record) && vf_load_be16(record + 16)) {
		memcpy(gid, record, 16);
		*port = vf_load_be16(record + 16);
	}
	close(fd);
	return 0;
}

int vf_os_slot_publish(struct vf_os_slot *s, const uint8_t gid[16], uint16_t port)
{
	uint8_t record[RECORD_BYTES];

	memcpy(record, gid, 16);
	vf_store_be16(record + 16, port);
	return pwrite(s->lock_fd, record, sizeof(record), 0) == sizeof(record) ? 0 : -EIO;
}

bool vf_os_slot_is_held(unsigned slot)
{
	bool held;
	int fd;

	if (slot >= VF_OS_SLOTS || lock_file(slot, O_RDONLY, &fd))
		return false;
	held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

int vf_os_slot_watch(unsigned slot, int *out)
{
	struct sockaddr_un a;
	int fd, err = socket_name(slot, &a);

	if (err)
		return err;
	if (!vf_os_slot_is_held(slot))
		return -ENOENT;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return -errno;
	mark(fd);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		err = errno == ECONNREFUSED || errno == ENOENT ? -ENOENT : -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

/* The byte that a holder that releases its slot sends; a dead one sent none. */
bool vf_os_slot_is_left(int watch_fd)
{
	char byte;

	return recv(watch_fd, &byte, 1, MSG_DONTWAIT) == 1;
}

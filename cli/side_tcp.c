/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets of the side channel: listening on every address, connecting to a name with an end to the
 * waiting. */
#include "side.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"

static struct addrinfo *look_up(const char *host, const char *port, int flags)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
	int rc = getaddrinfo(host, port, &hints, &found);

	if (rc == 0)
		return found;
	vf_cli_complain("%s, port %s: %s", host ? host : "any address", port, gai_strerror(rc));
	return NULL;
}

int vf_side_listen(const char *port)
{
	struct addrinfo *found = look_up(NULL, port, AI_PASSIVE), *a;
	int on = 1, off = 0, fd = -1, err = 0;

	/* An IPv6 socket serves both families; IPv4 alone where there is no IPv6. */
	for (int family = AF_INET6; fd < 0 && found; family = AF_INET) {
		for (a = found; a && a->ai_family != family; a = a->ai_next)
			;
		if (a && (fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol)) >= 0) {
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
			if (family == AF_INET6)
				setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
			if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 8) != 0) {
				err = errno;
				close(fd);
				fd = -1;
			}
		}
		if (family == AF_INET)
			break;
	}
	if (found)
		freeaddrinfo(found);
	if (fd < 0)
		vf_cli_complain("TCP port %s: %s", port, strerror(err ? err : errno));
	return fd;
}

/* One address, waiting at most so long. */
static int connect_one(const struct addrinfo *a, unsigned timeout_ms)
{
	int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol), on = 1, err = 0;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(err);

	if (fd < 0)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (connect(fd, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS)
		err = errno;
	else if (poll(&p, 1, (int)timeout_ms) == 0)
		err = ETIMEDOUT;
	else
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err == 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		return fd;
	}
	close(fd);
	errno = err;
	return -1;
}

int vf_side_connect(const char *host, const char *port, unsigned timeout_ms)
{
	struct addrinfo *found = look_up(host, port, 0);
	int fd = -1, err = 0;

	if (!found)
		return -1;
	for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
		fd = connect_one(a, timeout_ms);
		err = errno;
	}
	freeaddrinfo(found);
	if (fd < 0)
		vf_cli_complain(
			"%s, TCP port %s: %s; is \"verbifrost bench --server\" running there?",
			host, port, strerror(err));
	return fd;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* rtnetlink (rtnetlink(7), netlink(7)): one request, all its answers. */
#include "os/linux/netlink.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES = 65536, WAIT_MS = 2000 };

void vf_netlink_put(struct nlmsghdr *req, size_t room, unsigned short type, const void *data,
		    size_t len)
{
	size_t at = NLMSG_ALIGN(req->nlmsg_len);
	struct rtattr rta = {.rta_len = (unsigned short)(sizeof(struct rtattr) + len),
			     .rta_type = type};
	uint8_t *p = (uint8_t *)req + at;

	if (at + NLMSG_ALIGN(sizeof(rta) + len) > room)
		return;
	memset(p, 0, NLMSG_ALIGN(sizeof(rta) + len));
	memcpy(p, &rta, sizeof(rta));
	memcpy(p + sizeof(rta), data, len);
	req->nlmsg_len = (uint32_t)(at + NLMSG_ALIGN(sizeof(rta) + len));
}

const struct rtattr *vf_netlink_attr(const struct rtattr *first, size_t len, unsigned short type)
{
	const uint8_t *p = (const uint8_t *)first;

	while (len >= sizeof(struct rtattr)) {
		const struct rtattr *a = (const struct rtattr *)(const void *)p;
		size_t step = NLMSG_ALIGN((size_t)a->rta_len);

		if (a->rta_len < sizeof(*a) || a->rta_len > len)
			return NULL;
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
		if (step >= len)
			return NULL;
		p += step;
		len -= step;
	}
	return NULL;
}

/* One buffer of messages. *done: the last one has been seen. */
static int walk(const uint8_t *buf, size_t len, bool is_dump, vf_netlink_fn fn, void *arg,
		bool *done)
{
	while (len >= sizeof(struct nlmsghdr)) {
		const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)buf;
		size_t step = NLMSG_ALIGN((size_t)h->nlmsg_len);
		int err;

		if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > len)
			return -EBADMSG;
		if (h->nlmsg_type == NLMSG_DONE) {
			*done = true;
			return 0;
		}
		if (h->nlmsg_type == NLMSG_ERROR) {
			*done = true;
			memcpy(&err, buf + NLMSG_HDRLEN, sizeof(err));
			return err;
		}
		err = fn(h, arg);
		if (err < 0)
			return err;
		if (!is_dump)
			*done = true;
		if (step >= len)
			break;
		buf += step;
		len -= step;
	}
	return 0;
}

static int collect(int fd, bool is_dump, vf_netlink_fn fn, void *arg)
{
	static _Thread_local _Alignas(8) uint8_t buf[ANSWER_BYTES];
	bool done = false;
	int err = 0;

	while (!done && err == 0) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, WAIT_MS) == 0)
			return -ETIMEDOUT;
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		err = walk(buf, (size_t)n, is_dump, fn, arg, &done);
	}
	return err;
}

int vf_netlink_ask(struct nlmsghdr *req, vf_netlink_fn fn, void *arg)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	bool is_dump = (req->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int err;

	if (fd < 0)
		return -errno;
	req->nlmsg_flags |= NLM_F_REQUEST;
	req->nlmsg_seq = 1;
	if (sendto(fd, req, req->nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		err = -errno;
	else
		err = collect(fd, is_dump, fn, arg);
	close(fd);
	return err;
}

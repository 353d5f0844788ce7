/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_DARWIN_UDP_H
#define VF_OS_DARWIN_UDP_H
/* What the files of the UDP facility share; private to this folder. */
#define __APPLE_USE_RFC_3542 1 /* before netinet/in.h: names of the IPv6 options */
#include "os/os.h"

#include <pthread.h>

#include "os/posix/burst.h"

struct vf_os_udp {
	int fd;
	bool is_ipv6;
	uint16_t port;
	uint32_t rcvbuf_bytes;
	/* Two threads that burst on one socket lose datagrams silently (reported of macOS): one at
	 * a time. */
	pthread_mutex_t send_lock;
	uint8_t ttl, tos; /* as the socket has them now (IPv4): set again only when a send wants
			     others */
	struct vf_burst burst;
};

/* A socket address of either family. */
union vf_udp_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/** Returns the length that goes with it. */
socklen_t vf_udp_sockaddr_set(union vf_udp_sockaddr *a, bool is_ipv6, const uint8_t gid[16],
			      uint16_t port);
/** One integer option of the socket; 0 or -errno. */
int vf_udp_set(int fd, int level, int name, int value);

#endif

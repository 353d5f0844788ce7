/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_LINUX_UDP_H
#define VF_OS_LINUX_UDP_H
/* What the files of the UDP facility share; private to this folder. */
#include "os/os.h"

struct vf_os_udp {
	int fd;
	bool is_ipv6;
	bool has_segments; /* UDP_SEGMENT works here */
	uint16_t port;
	uint32_t rcvbuf_bytes;
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

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ioctls of interfaces whose structures are not in every SDK: laid out here as xnu has them
 * (netinet6/in6_var.h, net/if_bridgevar.h). Written from those sources, never run on a Mac. Wrong
 * answers cost advice, not correctness.
 */
#include "os/darwin/ifaces.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sockio.h>

enum { TENTATIVE = 0x2, DUPLICATED = 0x4, DETACHED = 0x8, LIST_PORTS = 6, PORTS_MAX = 64 };

/* struct in6_ifreq: the union is as large as the ICMPv6 statistics. */
struct address_request {
	char name[IFNAMSIZ];
	union {
		struct sockaddr_in6 address;
		int flags;
		uint8_t room[272];
	} u;
};
VF_CHECK_SIZE(struct address_request, 288);

#define GET_ADDRESS_FLAGS _IOWR('i', 73, struct address_request)

bool vf_if_is_tentative(int fd6, const char *name, const uint8_t gid[16])
{
	struct address_request r;

	memset(&r, 0, sizeof(r));
	memcpy(r.name, name, strnlen(name, sizeof(r.name) - 1));
	r.u.address.sin6_len = sizeof(r.u.address);
	r.u.address.sin6_family = AF_INET6;
	memcpy(&r.u.address.sin6_addr, gid, 16);
	if (fd6 < 0 || ioctl(fd6, GET_ADDRESS_FLAGS, &r) < 0)
		return false;
	return (r.u.flags & (TENTATIVE | DUPLICATED | DETACHED)) != 0;
}

/* struct ifbreq: only the name is used, the rest is its size. */
struct bridge_port {
	char name[IFNAMSIZ];
	uint8_t rest[64];
};
VF_CHECK_SIZE(struct bridge_port, 80);

#pragma pack(push, 4)
/* struct ifbifconf */
struct bridge_ports {
	uint32_t bytes;
	struct bridge_port *port;
};
#pragma pack(pop)
VF_CHECK_SIZE(struct bridge_ports, 12);

void vf_if_mark_bridge_members(int fd4, const char *bridge, struct vf_os_if *ifs, unsigned count)
{
	struct bridge_port port[PORTS_MAX];
	struct bridge_ports list = {.bytes = sizeof(port), .port = port};
	struct ifdrv d;

	memset(port, 0, sizeof(port));
	memset(&d, 0, sizeof(d));
	memcpy(d.ifd_name, bridge, strnlen(bridge, sizeof(d.ifd_name) - 1));
	d.ifd_cmd = LIST_PORTS;
	d.ifd_len = sizeof(list);
	d.ifd_data = &list;
	if (fd4 < 0 || ioctl(fd4, SIOCGDRVSPEC, &d) < 0)
		return;
	for (unsigned p = 0; p < PORTS_MAX && p < list.bytes / sizeof(port[0]); p++)
		for (unsigned i = 0; i < count; i++)
			if (strncmp(ifs[i].name, port[p].name, IFNAMSIZ) == 0)
				ifs[i].is_bridge_member = true;
}

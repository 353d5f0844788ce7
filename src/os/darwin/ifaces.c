/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces and addresses by getifaddrs(3), changes by a routing socket (route(4)). Written from
 * documentation, never run on a Mac.
 *
 * getifaddrs lists each interface once as AF_LINK (index, MAC, MTU, speed) and once more for each
 * address, in the system's order.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_dl.h>
#include <net/if_types.h>
#include <net/if_var.h>
#include <net/route.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/darwin/ifaces.h"
#include "os/posix/address.h"

static struct vf_os_if *find_or_null(struct vf_os_if *ifs, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(ifs[i].name, name) == 0)
			return &ifs[i];
	return NULL;
}

static void take_link(const struct ifaddrs *a, struct vf_os_if *f)
{
	struct sockaddr_dl link;
	const struct if_data *data = a->ifa_data;
	const uint8_t *bytes = (const uint8_t *)a->ifa_addr;

	memcpy(&link, bytes, offsetof(struct sockaddr_dl, sdl_data));
	memcpy(f->name, a->ifa_name, strnlen(a->ifa_name, sizeof(f->name) - 1));
	f->index = link.sdl_index;
	f->is_up = (a->ifa_flags & IFF_UP) != 0;
	f->is_running = f->is_up && (a->ifa_flags & IFF_RUNNING) != 0;
	f->is_loopback = (a->ifa_flags & IFF_LOOPBACK) != 0;
	f->is_point_to_point = (a->ifa_flags & IFF_POINTOPOINT) != 0;
	if (link.sdl_alen == sizeof(f->mac) &&
	    (link.sdl_type == IFT_ETHER || link.sdl_type == IFT_BRIDGE)) {
		memcpy(f->mac, bytes + offsetof(struct sockaddr_dl, sdl_data) + link.sdl_nlen,
		       sizeof(f->mac));
		f->has_mac = true;
	}
	if (data) {
		f->mtu = data->ifi_mtu;
		f->link_bits_per_s = data->ifi_baudrate;
	}
}

static void take_address(const struct ifaddrs *a, int fd6, struct vf_os_if *f)
{
	struct vf_os_if_addr *out = &f->addr[f->addr_count];
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	if (f->addr_count == VF_OS_IF_ADDR_MAX)
		return;
	memset(out, 0, sizeof(*out));
	if (a->ifa_addr->sa_family == AF_INET) {
		memcpy(&in, a->ifa_addr, sizeof(in));
		gid_from_v4(out->gid, &in.sin_addr);
	} else if (a->ifa_addr->sa_family == AF_INET6) {
		memcpy(&in6, a->ifa_addr, sizeof(in6));
		memcpy(out->gid, &in6.sin6_addr, 16);
		if (gid_is_link_local(out->gid))
			out->gid[2] = out->gid[3] = 0; /* BSD puts the interface there */
		out->is_tentative = vf_if_is_tentative(fd6, f->name, out->gid);
	} else {
		return;
	}
	out->is_link_local = gid_is_link_local(out->gid);
	f->addr_count++;
}

static unsigned count_links(const struct ifaddrs *a)
{
	unsigned n = 0;

	for (; a; a = a->ifa_next)
		n += a->ifa_addr && a->ifa_addr->sa_family == AF_LINK;
	return n;
}

static unsigned take_links(const struct ifaddrs *a, struct vf_os_if *ifs)
{
	unsigned n = 0;

	for (; a; a = a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family == AF_LINK)
			take_link(a, &ifs[n++]);
	return n;
}

static void take_addresses(const struct ifaddrs *a, struct vf_os_if *ifs, unsigned count)
{
	int fd6 = socket(AF_INET6, SOCK_DGRAM, 0);

	for (; a; a = a->ifa_next) {
		struct vf_os_if *f = find_or_null(ifs, count, a->ifa_name);

		if (f && a->ifa_addr)
			take_address(a, fd6, f);
	}
	if (fd6 >= 0)
		close(fd6);
}

static void mark_bridges(struct vf_os_if *ifs, unsigned count)
{
	int fd4 = socket(AF_INET, SOCK_DGRAM, 0);

	for (unsigned i = 0; i < count; i++)
		if (strncmp(ifs[i].name, "bridge", 6) == 0)
			vf_if_mark_bridge_members(fd4, ifs[i].name, ifs, count);
	if (fd4 >= 0)
		close(fd4);
}

int vf_os_if_list(struct vf_os_if **out, unsigned *count)
{
	struct ifaddrs *all;
	struct vf_os_if *ifs;
	unsigned n;

	if (getifaddrs(&all) < 0)
		return -errno;
	n = count_links(all);
	ifs = calloc(n ? n : 1, sizeof(*ifs));
	if (!ifs) {
		freeifaddrs(all);
		return -ENOMEM;
	}
	n = take_links(all, ifs);
	take_addresses(all, ifs, n);
	freeifaddrs(all);
	mark_bridges(ifs, n);
	*out = ifs;
	*count = n;
	return 0;
}

int vf_os_if_watch_open(int *out)
{
	int fd = socket(PF_ROUTE, SOCK_RAW, AF_UNSPEC);

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

/* Every message begins alike: length (2 bytes), version, type. Routes and neighbours come and go by
 * the minute: not ours. */
static bool matters(uint8_t type)
{
	return type == RTM_NEWADDR || type == RTM_DELADDR || type == RTM_IFINFO ||
	       type == RTM_IFINFO2;
}

bool vf_os_if_watch_drain(int fd)
{
	static const int limit = 1000; /* messages a call; poll comes back for the rest */
	_Alignas(8) uint8_t buf[2048];
	bool changed = false;

	for (int i = 0; i < limit; i++) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) { /* which means: changes were missed */
			changed = true;
			continue;
		}
		if (n < 4)
			break;
		changed |= matters(buf[3]);
	}
	return changed;
}

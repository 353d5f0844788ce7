/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interfaces and their addresses by rtnetlink dumps (order and flags as the system has them), link
 * speed by the ethtool ioctl, changes by the rtnetlink groups.
 */
#include "os/os.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <net/if_arp.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/posix/address.h"
#include "os/linux/netlink.h"

/* From <linux/if.h>, which cannot be included beside <net/if.h>. */
#define LINK_IS_LOWER_UP 0x10000u

struct listing {
	struct vf_os_if *ifs;
	unsigned count, room;
};

static struct vf_os_if *find_or_null(struct listing *l, unsigned index)
{
	for (unsigned i = 0; i < l->count; i++)
		if (l->ifs[i].index == index)
			return &l->ifs[i];
	return NULL;
}

static struct vf_os_if *add(struct listing *l)
{
	if (l->count == l->room) {
		unsigned room = l->room ? 2 * l->room : 8;
		struct vf_os_if *more = realloc(l->ifs, room * sizeof(*more));

		if (!more)
			return NULL;
		l->ifs = more;
		l->room = room;
	}
	memset(&l->ifs[l->count], 0, sizeof(l->ifs[0]));
	return &l->ifs[l->count++];
}

/* Nested: IFLA_LINKINFO says what kind of master this link is a port of. */
static bool is_port_of_bridge(const struct rtattr *info)
{
	const struct rtattr *kind;

	if (!info)
		return false;
	kind = vf_netlink_attr(vf_netlink_data(info), RTA_PAYLOAD(info), IFLA_INFO_SLAVE_KIND);
	return kind && RTA_PAYLOAD(kind) >= sizeof("bridge") &&
	       memcmp(vf_netlink_data(kind), "bridge", sizeof("bridge")) == 0;
}

static void copy_name(struct vf_os_if *f, const struct rtattr *name)
{
	size_t n = RTA_PAYLOAD(name);

	if (n >= sizeof(f->name))
		n = sizeof(f->name) - 1;
	memcpy(f->name, vf_netlink_data(name), n);
}

static int take_link(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *m = vf_netlink_body(h);
	const struct rtattr *first =
		(const struct rtattr *)(const void *)((const uint8_t *)m + NLMSG_ALIGN(sizeof(*m)));
	size_t len = h->nlmsg_len - NLMSG_LENGTH(sizeof(*m));
	const struct rtattr *name = vf_netlink_attr(first, len, IFLA_IFNAME);
	const struct rtattr *mtu = vf_netlink_attr(first, len, IFLA_MTU);
	const struct rtattr *mac = vf_netlink_attr(first, len, IFLA_ADDRESS);
	struct vf_os_if *f;

	if (h->nlmsg_type != RTM_NEWLINK || !name)
		return 0;
	f = add(arg);
	if (!f)
		return -ENOMEM;
	copy_name(f, name);
	f->index = (unsigned)m->ifi_index;
	if (mtu)
		memcpy(&f->mtu, vf_netlink_data(mtu), sizeof(f->mtu));
	f->is_loopback = (m->ifi_flags & IFF_LOOPBACK) != 0;
	if (mac && RTA_PAYLOAD(mac) == sizeof(f->mac) && m->ifi_type == ARPHRD_ETHER) {
		memcpy(f->mac, vf_netlink_data(mac), sizeof(f->mac));
		f->has_mac = true;
	}
	f->is_up = (m->ifi_flags & IFF_UP) != 0;
	f->is_running = f->is_up && ((m->ifi_flags & IFF_RUNNING) != 0 ||
				     (m->ifi_flags & LINK_IS_LOWER_UP) != 0);
	f->is_point_to_point = (m->ifi_flags & IFF_POINTOPOINT) != 0;
	f->is_bridge_member = is_port_of_bridge(vf_netlink_attr(first, len, IFLA_LINKINFO));
	return 0;
}

static int take_addr(const struct nlmsghdr *h, void *arg)
{
	const struct ifaddrmsg *m = vf_netlink_body(h);
	const struct rtattr *first =
		(const struct rtattr *)(const void *)((const uint8_t *)m + NLMSG_ALIGN(sizeof(*m)));
	size_t len = h->nlmsg_len - NLMSG_LENGTH(sizeof(*m));
	const struct rtattr *a = vf_netlink_attr(first, len, IFA_LOCAL),
			    *flags = vf_netlink_attr(first, len, IFA_FLAGS);
	struct vf_os_if *f = find_or_null(arg, m->ifa_index);
	uint32_t bits = m->ifa_flags;
	struct vf_os_if_addr *out;

	if (!a)
		a = vf_netlink_attr(first, len, IFA_ADDRESS);
	if (h->nlmsg_type != RTM_NEWADDR || !f || !a || f->addr_count == VF_OS_IF_ADDR_MAX)
		return 0;
	out = &f->addr[f->addr_count];
	if (m->ifa_family == AF_INET && RTA_PAYLOAD(a) == 4)
		gid_from_v4(out->gid, vf_netlink_data(a));
	else if (m->ifa_family == AF_INET6 && RTA_PAYLOAD(a) == 16)
		memcpy(out->gid, vf_netlink_data(a), 16);
	else
		return 0;
	if (flags)
		memcpy(&bits, vf_netlink_data(flags), sizeof(bits));
	out->is_link_local = gid_is_link_local(out->gid);
	out->is_tentative =
		(bits & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) != 0 && (bits & IFA_F_OPTIMISTIC) == 0;
	f->addr_count++;
	return 0;
}

/* Mbit/s, or unknown: virtual links often say nothing. */
static void read_speed(int fd, struct vf_os_if *f)
{
	struct ethtool_cmd cmd = {.cmd = ETHTOOL_GSET};
	struct ifreq req;
	uint32_t mbit;

	memset(&req, 0, sizeof(req));
	memcpy(req.ifr_name, f->name, strnlen(f->name, sizeof(req.ifr_name) - 1));
	req.ifr_data = (void *)&cmd;
	if (ioctl(fd, SIOCETHTOOL, &req) < 0)
		return;
	mbit = (uint32_t)cmd.speed_hi << 16 | cmd.speed;
	if (mbit != 0 && mbit != (uint32_t)SPEED_UNKNOWN && mbit != UINT16_MAX)
		f->link_bits_per_s = (uint64_t)mbit * 1000000;
}

static int dump(unsigned short type, unsigned char family, vf_netlink_fn fn, struct listing *l)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg
			m; /* the larger of the two bodies; the family comes first in both */
	} req;

	memset(&req, 0, sizeof(req));
	req.h.nlmsg_len = NLMSG_LENGTH(type == RTM_GETLINK ? sizeof(struct ifinfomsg)
							   : sizeof(struct ifaddrmsg));
	req.h.nlmsg_type = type;
	req.h.nlmsg_flags = NLM_F_DUMP;
	req.m.ifi_family = family;
	return vf_netlink_ask(&req.h, fn, l);
}

int vf_os_if_list(struct vf_os_if **out, unsigned *count)
{
	struct listing l = {0};
	int fd, err = dump(RTM_GETLINK, AF_UNSPEC, take_link, &l);

	if (err == 0)
		err = dump(RTM_GETADDR, AF_INET, take_addr, &l);
	if (err == 0)
		dump(RTM_GETADDR, AF_INET6, take_addr, &l); /* a system without IPv6 has none */
	if (err) {
		free(l.ifs);
		return err;
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (unsigned i = 0; fd >= 0 && i < l.count; i++)
		read_speed(fd, &l.ifs[i]);
	if (fd >= 0)
		close(fd);
	if (!l.ifs)
		l.ifs = calloc(1, sizeof(*l.ifs));
	if (!l.ifs)
		return -ENOMEM;
	*out = l.ifs;
	*count = l.count;
	return 0;
}

int vf_os_if_watch_open(int *out)
{
	struct sockaddr_nl self = {.nl_family = AF_NETLINK,
				   .nl_groups =
					   RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	int err;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&self, sizeof(self)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

bool vf_os_if_watch_drain(int fd)
{
	static const int limit = 1000; /* buffers a call; poll comes back for the rest */
	uint8_t buf[8192];
	bool changed = false;

	for (int i = 0; i < limit; i++) {
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != ENOBUFS) /* which means: changes were missed */
			break;
		changed = true;
	}
	return changed;
}

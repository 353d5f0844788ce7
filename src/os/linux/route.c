/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is there a way? Answered by the kernel's own tables (RTM_GETROUTE). For IPv4 the table entry
 * itself is asked for: with an interface given, a plain look-up claims that everything is on that
 * link.
 */
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "os/posix/address.h"
#include "os/linux/netlink.h"

struct answer {
	unsigned char type; /* RTN_* */
	unsigned oif;
};

static int take_route(const struct nlmsghdr *h, void *arg)
{
	const struct rtmsg *m = vf_netlink_body(h);
	const struct rtattr *first =
		(const struct rtattr *)(const void *)((const uint8_t *)m + NLMSG_ALIGN(sizeof(*m)));
	const struct rtattr *oif =
		vf_netlink_attr(first, h->nlmsg_len - NLMSG_LENGTH(sizeof(*m)), RTA_OIF);
	struct answer *a = arg;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	a->type = m->rtm_type;
	a->oif = 0;
	if (oif)
		memcpy(&a->oif, vf_netlink_data(oif), sizeof(a->oif));
	return 0;
}

/* @sgid may be NULL, @oif 0. */
static int look_up(const uint8_t *sgid, const uint8_t *dgid, unsigned oif, struct answer *a)
{
	bool v4 = gid_is_v4(dgid);
	size_t skip = v4 ? 12 : 0, len = v4 ? 4 : 16;
	struct {
		struct nlmsghdr h;
		struct rtmsg m;
		uint8_t attrs[128];
	} req;

	memset(&req, 0, sizeof(req));
	memset(a, 0, sizeof(*a));
	req.h.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg));
	req.h.nlmsg_type = RTM_GETROUTE;
	req.m.rtm_family = v4 ? AF_INET : AF_INET6;
	req.m.rtm_dst_len = (unsigned char)(8 * len);
	if (v4 && oif)
		req.m.rtm_flags = RTM_F_FIB_MATCH;
	vf_netlink_put(&req.h, sizeof(req), RTA_DST, dgid + skip, len);
	if (sgid) {
		req.m.rtm_src_len = (unsigned char)(8 * len);
		vf_netlink_put(&req.h, sizeof(req), RTA_SRC, sgid + skip, len);
	}
	if (oif)
		vf_netlink_put(&req.h, sizeof(req), RTA_OIF, &oif, sizeof(oif));
	return vf_netlink_ask(&req.h, take_route, a);
}

/* @if_index 0: on any. */
static bool is_on_interface(const uint8_t gid[16], unsigned if_index)
{
	struct vf_os_if *ifs;
	unsigned count;
	bool found = false;

	if (vf_os_if_list(&ifs, &count))
		return false;
	for (unsigned i = 0; i < count && !found; i++)
		for (unsigned k = 0; k < ifs[i].addr_count && !found; k++)
			found = memcmp(ifs[i].addr[k].gid, gid, 16) == 0 &&
				(if_index == 0 || ifs[i].index == if_index);
	free(ifs);
	return found;
}

bool vf_os_is_local(const uint8_t gid[16])
{
	struct answer a;

	if (gid_is_zero(gid) || gid_is_multicast(gid))
		return false;
	if (!gid_is_v4(gid) && gid_is_link_local(gid))
		return is_on_interface(gid, 0);
	return look_up(NULL, gid, 0, &a) == 0 && a.type == RTN_LOCAL;
}

static bool is_transmitting(unsigned if_index)
{
	struct vf_os_if *ifs;
	unsigned count;
	bool yes = false;

	if (vf_os_if_list(&ifs, &count))
		return false;
	for (unsigned i = 0; i < count; i++)
		yes |= ifs[i].index == if_index && !ifs[i].is_loopback;
	free(ifs);
	return yes;
}

static int judge(int err, const struct answer *a)
{
	if (err == -EINVAL) /* what the kernel says of a way that cannot be */
		return -ENETUNREACH;
	if (err)
		return err;
	return a->type == RTN_UNREACHABLE || a->type == RTN_BLACKHOLE || a->type == RTN_PROHIBIT
		       ? -EHOSTUNREACH
		       : 0;
}

int vf_os_route_check(const uint8_t sgid[16], const uint8_t dgid[16], unsigned if_index,
		      unsigned *out_if)
{
	struct answer a;
	int err;

	if (!is_on_interface(sgid, 0) && !vf_os_is_local(sgid))
		return -EADDRNOTAVAIL;
	if (gid_is_multicast(dgid)) {
		*out_if = if_index;
		return 0;
	}
	if (!gid_is_v4(dgid) && gid_is_link_local(dgid)) {
		/* Reaches exactly one link. The host's own address is on it, or the neighbour is to
		 * be found there. */
		if (!is_on_interface(sgid, if_index) ||
		    (!is_on_interface(dgid, if_index) && is_on_interface(dgid, 0)))
			return -EHOSTUNREACH;
		*out_if = if_index;
		return 0;
	}
	if (vf_os_is_local(dgid)) {
		*out_if = 0;
		return 0;
	}
	err = judge(look_up(sgid, dgid, if_index, &a), &a);
	if (err == 0 && (a.oif == if_index || if_index == 0)) {
		*out_if = if_index;
		return 0;
	}
	if (is_transmitting(if_index))
		return err ? err : -ENETUNREACH;
	/* An address of the host as a whole (on the loopback interface) goes out wherever the table
	 * says. */
	if (gid_is_v4(sgid) && sgid[12] == 127)
		return -ENETUNREACH;
	err = judge(look_up(sgid, dgid, 0, &a), &a);
	if (err == 0)
		*out_if = 0;
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is there a way? A UDP socket is bound to the source address and the interface (IP_BOUND_IF,
 * IPV6_BOUND_IF) and connected, which sends nothing and looks the route up. Written from
 * documentation, never run on a Mac.
 */
#include "os/darwin/udp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/posix/address.h"

struct host {
	struct vf_os_if *ifs;
	unsigned count;
};

/* @if_index 0: on any. */
static const struct vf_os_if *holder_or_null(const struct host *h, const uint8_t gid[16],
					     unsigned if_index)
{
	for (unsigned i = 0; i < h->count; i++)
		for (unsigned k = 0; k < h->ifs[i].addr_count; k++)
			if (memcmp(h->ifs[i].addr[k].gid, gid, 16) == 0 &&
			    (if_index == 0 || h->ifs[i].index == if_index))
				return &h->ifs[i];
	return NULL;
}

bool vf_os_is_local(const uint8_t gid[16])
{
	struct host h;
	bool yes;

	if (gid_is_zero(gid) || gid_is_multicast(gid))
		return false;
	if (vf_os_if_list(&h.ifs, &h.count))
		return false;
	yes = holder_or_null(&h, gid, 0) != NULL;
	free(h.ifs);
	return yes;
}

/* @if_index 0: wherever the table says. */
static int try_connect(const uint8_t sgid[16], const uint8_t dgid[16], unsigned if_index)
{
	bool is_ipv6 = !gid_is_v4(dgid);
	union vf_udp_sockaddr from, to;
	socklen_t from_len = vf_udp_sockaddr_set(&from, is_ipv6, sgid, 0);
	socklen_t to_len = vf_udp_sockaddr_set(&to, is_ipv6, dgid, 4791);
	int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), err = 0;

	if (fd < 0)
		return -errno;
	if (if_index)
		err = vf_udp_set(fd, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
				 is_ipv6 ? IPV6_BOUND_IF : IP_BOUND_IF, (int)if_index);
	if (err == 0 && bind(fd, &from.sa, from_len) < 0)
		err = -errno;
	if (err == 0 && connect(fd, &to.sa, to_len) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int check(const struct host *h, const uint8_t sgid[16], const uint8_t dgid[16],
		 unsigned if_index, unsigned *out_if)
{
	int err;

	if (!holder_or_null(h, sgid, 0))
		return -EADDRNOTAVAIL;
	if (gid_is_v4(sgid) != gid_is_v4(dgid))
		return -ENETUNREACH;
	if (gid_is_multicast(dgid)) {
		*out_if = if_index;
		return 0;
	}
	if (!gid_is_v4(dgid) && gid_is_link_local(dgid)) {
		/* Reaches exactly one link. The host's own address is on it, or the neighbour is to
		 * be found there. */
		if (!holder_or_null(h, sgid, if_index) ||
		    (!holder_or_null(h, dgid, if_index) && holder_or_null(h, dgid, 0)))
			return -EHOSTUNREACH;
		*out_if = if_index;
		return 0;
	}
	if (holder_or_null(h, dgid, 0)) {
		*out_if = 0;
		return 0;
	}
	if (gid_is_v4(sgid) && sgid[12] == 127)
		return -ENETUNREACH;
	err = try_connect(sgid, dgid, if_index);
	if (err == 0) {
		*out_if = if_index;
		return 0;
	}
	/* An address of the host as a whole (on the loopback interface) goes out wherever the table
	 * says. */
	for (unsigned i = 0; i < h->count; i++)
		if (h->ifs[i].index == if_index && !h->ifs[i].is_loopback)
			return err;
	err = try_connect(sgid, dgid, 0);
	if (err == 0)
		*out_if = 0;
	return err;
}

int vf_os_route_check(const uint8_t sgid[16], const uint8_t dgid[16], unsigned if_index,
		      unsigned *out_if)
{
	struct host h;
	int err = vf_os_if_list(&h.ifs, &h.count);

	if (err)
		return err;
	err = check(&h, sgid, dgid, if_index, out_if);
	free(h.ifs);
	return err == -ENETUNREACH || err == -EHOSTUNREACH || err == -EADDRNOTAVAIL || err == 0
		       ? err
		       : -EHOSTUNREACH;
}

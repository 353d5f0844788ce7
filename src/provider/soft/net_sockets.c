/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets: one for each address family on the shared port, and a private one on the loopback
 * interface, to which other processes of this host hand what they got of ours.
 */
#include "provider/soft/net_state.h"

#include <errno.h>
#include <string.h>

#include "base/reason.h"
#include "base/settings.h"

enum { RCVBUF_MIN = 65536, RCVBUF_MAX = 1 << 30, SNDBUF = 4 << 20 };

static int open_one(struct vf_soft_net *net, enum net_socket_id id,
		    const struct vf_os_udp_options *o)
{
	struct net_socket *s = &net->socket[id];
	int err = vf_os_udp_open(o, &s->udp);

	if (err) {
		s->udp = NULL;
		return err;
	}
	vf_os_udp_segment_limits(s->udp, &s->segments, &s->segment_bytes);
	return 0;
}

static struct vf_os_udp_options options(const struct vf_soft_net *net)
{
	return (struct vf_os_udp_options){
		.is_shared = true,
		.port = net->port,
		.rcvbuf_bytes =
			(uint32_t)vf_setting_number(VF_SET_RCVBUF_BYTES, RCVBUF_MIN, RCVBUF_MAX),
		.sndbuf_bytes = SNDBUF,
	};
}

static int refuse(const struct vf_soft_net *net, int err)
{
	if (err == -EADDRINUSE)
		return vf_refuse(EADDRINUSE,
				 "UDP port %u is held by another user's process, by the kernel's "
				 "rdma_rxe, or by a "
				 "program that does not share it; one user at a time can run soft "
				 "devices on a port "
				 "(VERBIFROST_UDP_PORT chooses another, at both ends)",
				 net->port);
	return vf_refuse(-err, "no UDP socket on port %u: %s", net->port, strerror(-err));
}

void net_private_open(struct vf_soft_net *net)
{
	struct vf_os_udp_options o = options(net);

	if (net->socket[NET_PRIVATE].udp ||
	    vf_os_slot_address(net->slot_number, net->private_gid, &net->private_port))
		return;
	memcpy(o.bind_addr, net->private_gid, 16);
	o.port = net->private_port;
	o.is_shared = o.port != 0;
	if (open_one(net, NET_PRIVATE, &o)) {
		vf_log(VF_LOG_INFO, "no private socket (is the loopback interface up?): packets "
				    "for other processes "
				    "of this host cannot be handed on");
		return;
	}
	net->private_port = vf_os_udp_port(net->socket[NET_PRIVATE].udp);
	vf_os_slot_publish(net->slot, net->private_gid, net->private_port);
}

int net_sockets_open(struct vf_soft_net *net)
{
	struct vf_os_udp_options o = options(net);
	int err4, err6;

	err4 = open_one(net, NET_V4, &o);
	o.is_ipv6 = true;
	err6 = open_one(net, NET_V6, &o);
	if (err4 == -EADDRINUSE || err6 == -EADDRINUSE)
		return refuse(net, -EADDRINUSE);
	if (err4 && err6)
		return refuse(net, err4);
	if (err4 || err6)
		vf_log(VF_LOG_INFO, "no %s on this host: %s", err4 ? "IPv4" : "IPv6",
		       strerror(err4 ? -err4 : -err6));
	net_private_open(net);
	return 0;
}

void net_sockets_close(struct vf_soft_net *net)
{
	for (int i = 0; i < NET_SOCKETS; i++) {
		vf_os_udp_close(net->socket[i].udp);
		net->socket[i].udp = NULL;
	}
}

/*
 * What all peers together may have on the way to this process. Each socket has a buffer of its own
 * and all could be aimed at one, so the smallest counts; half of it is left for first windows,
 * acknowledgements, what is on its way to other processes, and what the system counts late.
 */
uint32_t net_rx_budget(const struct vf_soft_net *net)
{
	uint32_t least = UINT32_MAX;

	for (int i = 0; i < NET_SOCKETS; i++)
		if (net->socket[i].udp && vf_os_udp_rcvbuf(net->socket[i].udp) < least)
			least = vf_os_udp_rcvbuf(net->socket[i].udp);
	return least / 2;
}

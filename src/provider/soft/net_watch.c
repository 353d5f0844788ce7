/* SPDX-License-Identifier: BSD-2-Clause */
/* Watching other processes of this host: whose slot hangs up without a farewell has ended, and the
 * objects are told.
 * All with the lock held. */
#include "provider/soft/net_state.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

void net_watch_init(struct vf_soft_net *net)
{
	for (unsigned i = 0; i < VF_OS_SLOTS; i++)
		net->watch[i].fd = -1;
}

static void stop(struct net_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

void net_watch_close(struct vf_soft_net *net)
{
	for (unsigned i = 0; i < VF_OS_SLOTS; i++) {
		stop(&net->watch[i]);
		net->watch[i].users = 0;
	}
}

int vf_soft_net_watch_slot(struct vf_soft_net *net, unsigned slot)
{
	struct net_watch *w;
	int err = 0;

	if (slot >= VF_OS_SLOTS)
		return -EINVAL;
	if (net->is_orphan)
		return -ENODEV;
	w = &net->watch[slot];
	if (slot != net->slot_number && w->fd < 0) {
		err = vf_os_slot_watch(slot, &w->fd);
		if (err)
			w->fd = -1;
		else
			net_thread_wake(net);
	}
	if (err == 0)
		w->users++;
	return err;
}

void vf_soft_net_unwatch_slot(struct vf_soft_net *net, unsigned slot)
{
	struct net_watch *w;

	if (slot >= VF_OS_SLOTS)
		return;
	w = &net->watch[slot];
	if (w->users && --w->users == 0)
		stop(w);
}

void net_watch_hung_up(struct vf_soft_net *net, unsigned slot)
{
	/*
	 * The number of the descriptor that hung up may have been closed while the thread slept on
	 * it, and be that of a watch of the slot's next holder by now: only a look at what it is
	 * now tells.
	 */
	struct pollfd now = {.fd = net->watch[slot].fd, .events = POLLIN};
	bool is_left;

	if (poll(&now, 1, 0) <= 0)
		return;
	/* Whoever closed its devices in good order leaves its peers in peace, as an adapter does. */
	is_left = vf_os_slot_is_left(now.fd);
	stop(&net->watch[slot]);
	if (!is_left)
		vf_soft_peer_died(slot);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_NET_H
#define VF_PROVIDER_SOFT_NET_H
/*
 * The soft device's network side: one for the whole process, shared by all its soft devices and contexts. It holds the
 * process slot, the UDP sockets, the engine, the lock around the engine and the progress thread; puts ICRCs on and checks them; hands
 * packets of other processes' slots on; writes the capture; impairs on purpose.
 *
 * Above it: the objects (contexts, MRs, CQs, QPs), which give it vf_soft_host_ops and the callbacks below.
 */
#include "os/os.h"
#include "roce/roce.h"

struct vf_soft_net;

/*
 * vf_roce_path.host_tag: the interface to pin packets to (0: the system chooses), and whether the destination is an address of this host.
 */
#define VF_SOFT_TAG_LOCAL 0x80000000u

/** The one of this process, made at the first call (slot, sockets, thread). -ENOSPC, -EADDRINUSE, -ENOMEM, with a reason. */
int vf_soft_net_get(struct vf_soft_net **out);
/** The last put closes everything. Not to be called with the lock held. */
void vf_soft_net_put(struct vf_soft_net *net);

/** Around every call of the engine, and around everything that the host ops touch. Not recursive. */
void vf_soft_net_lock(struct vf_soft_net *net);
void vf_soft_net_unlock(struct vf_soft_net *net);
/** As vf_soft_net_lock, but false when somebody has it. */
bool vf_soft_net_trylock(struct vf_soft_net *net);
/** The engine; valid while the net is. Use with the lock held. */
struct vf_roce *vf_soft_net_engine(struct vf_soft_net *net);

/** Locked: sends what the engine has now, in the caller. Called after posting. */
void vf_soft_net_flush(struct vf_soft_net *net);
/**
 * Unlocked: one round of receive, process, tick, transmit in the caller, if nobody else is at it (try-lock). Called by
 * ibv_poll_cq when its queue is empty: tells the progress thread that somebody polls. True when packets came.
 */
bool vf_soft_net_progress(struct vf_soft_net *net);

/**
 * Any thread: so many more (or fewer) completion queues wait for an event now. While there are any, the progress thread
 * serves the network even though somebody polls.
 */
void vf_soft_net_arm(struct vf_soft_net *net, int delta);

/** Locked: joins the group on the sockets, counted; the interface by its index. */
int vf_soft_net_mcast_join(struct vf_soft_net *net, const uint8_t mgid[16], unsigned if_index);
void vf_soft_net_mcast_leave(struct vf_soft_net *net, const uint8_t mgid[16], unsigned if_index);

/** Locked: tells (vf_soft_peer_died) when the process that holds @slot on this host ends; counted. */
int vf_soft_net_watch_slot(struct vf_soft_net *net, unsigned slot);
void vf_soft_net_unwatch_slot(struct vf_soft_net *net, unsigned slot);

/* ---- given by the objects; all are called with the lock held ---- */

extern const struct vf_roce_host_ops vf_soft_host_ops;
/** The process that held @slot on this host has ended. */
void vf_soft_peer_died(unsigned slot);
/** Before packets are sent, outside the engine: what completions and events have left to do. */
void vf_soft_settle(void);
/** Interfaces or addresses have changed: compare and raise events. */
void vf_soft_interfaces_changed(void);
/** After fork, in the child: forget every object of the parent without touching the network. */
void vf_soft_forked(void);
/** Counters for packets of no QP. */
struct vf_roce_counters *vf_soft_stray_counters(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_FLOW_H
#define VF_ROCE_FLOW_H
/*
 * Flow control between two Verbifrost processes, below the transport: it keeps a receiver's socket buffer from
 * overflowing, so that UC and UD (which nobody repeats) lose nothing on a healthy network, and RC needs no repair.
 *
 * A flow is one direction between two processes: (peer's GID, peer's slot = QPN >> VF_ROCE_SLOT_SHIFT), shared by all QPs. The
 * sender counts the cost of what it sends; the receiver grants an absolute limit. Both speak through packets with a BTH opcode of
 * the manufacturer range (0xc0 and up), which other RoCE devices drop without a word.
 *
 *   HELLO  sender -> receiver: who I am (epoch), what I have sent so far; asks for a GRANT. Also the probe after silence.
 *   GRANT  receiver -> sender: epoch of both, limit up to which the sender may send.
 *
 * A sender that knows nothing yet, or was idle, may send VF_FLOW_FIRST_WINDOW at once; when half of it is used it says HELLO, and
 * again after 1, 4, 16 ms and so on. No GRANT for a while: RC goes on (it has its own window), UC and UD are paced. A peer that
 * answered before and stops answering (stopped or dead) holds UC for longer. docs/flow-control.md has all numbers.
 * HELLO carries the sent total, so what was lost on the way is forgotten at the next HELLO: the receiver sets its count to it.
 * A sender that is idle gives its credit back. A new epoch (peer restarted in the same slot) starts the flow anew.
 *
 * Gated (vf_flow_may_send before vf_flow_sent): requests and read responses. Counted but never gated (vf_flow_sent alone): ACK, NAK,
 * CNP. HELLO and GRANT are neither. The receiver calls vf_flow_received for everything that is counted.
 * Multicast and QPN 1 have no flow of their own: vf_flow_get gives one that never speaks and is only paced.
 */
#include "base/list.h"
#include "roce/roce.h"

struct vf_flow;	      /* one peer process: both directions */
struct vf_flow_table; /* all of an engine */

/** What one packet of @wire_len bytes (BTH to ICRC) costs a receiver's buffer, overhead included. */
static inline uint32_t vf_flow_cost(uint32_t wire_len) { return 2 * wire_len + 1024; }

struct vf_flow_config {
	uint64_t seed;
	uint32_t rx_budget_bytes; /* cost units that may be outstanding towards this process, all peers together */
	struct vf_roce_counters *counters;
	unsigned slot;
	bool is_off; /* everything may be sent, nothing is said */
};

/** What a sender may have on the way before it was granted anything; a host's buffer must bear some of these beside the budget. */
#define VF_FLOW_FIRST_WINDOW 12288u

int vf_flow_table_create(const struct vf_flow_config *cfg, struct vf_flow_table **out);
void vf_flow_table_destroy(struct vf_flow_table *t);

/** The flow to the process that owns @peer_qpn at path->dgid, made when new; referenced until vf_flow_put. NULL: no memory. */
struct vf_flow *vf_flow_get(struct vf_flow_table *t, const struct vf_roce_path *path,
			    uint32_t peer_qpn);
void vf_flow_put(struct vf_flow_table *t, struct vf_flow *f);
/** The flow that a packet which @src_qpn sent belongs to (UD; RC and UC know theirs). NULL when unknown: nothing is counted. */
struct vf_flow *vf_flow_find(struct vf_flow_table *t, const struct vf_roce_rx *rx,
			     uint32_t src_qpn);

/** May a packet of @cost go now? When not, the caller puts its QP in vf_flow_waiters and waits for vf_flow_next_released. */
bool vf_flow_may_send(struct vf_flow *f, vf_nsec now, uint32_t cost, enum vf_roce_type type);
void vf_flow_sent(struct vf_flow *f, vf_nsec now, uint32_t cost);
/** One packet of this flow came out of the socket. */
void vf_flow_received(struct vf_flow *f, vf_nsec now, uint32_t cost);
/** RC met an ACK time-out: what was outstanding is taken as gone (a HELLO tells the receiver). */
void vf_flow_lost_all(struct vf_flow *f, vf_nsec now);

bool vf_flow_is_control(uint8_t opcode);
/** HELLO or GRANT. -EINVAL: malformed or not ours; the caller counts VF_DROP_FLOW. */
int vf_flow_receive_control(struct vf_flow_table *t, vf_nsec now, const struct vf_roce_rx *rx);
/** The next control packet that is due; false when none. Call until false before the data packets of the same transmit. */
bool vf_flow_transmit(struct vf_flow_table *t, vf_nsec now, struct vf_roce_tx *out);
void vf_flow_tick(struct vf_flow_table *t, vf_nsec now);
vf_nsec vf_flow_deadline(const struct vf_flow_table *t);

/* QPs that wait for a flow sit in its list; the engine takes them out when the flow may send again. */
struct vf_list *vf_flow_waiters(struct vf_flow *f);
/** A flow that has waiters and may send again; NULL when there is none. */
struct vf_flow *vf_flow_next_released(struct vf_flow_table *t);
bool vf_flow_table_is_idle(const struct vf_flow_table *t);

#endif

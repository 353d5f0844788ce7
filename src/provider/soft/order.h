/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_ORDER_H
#define VF_PROVIDER_SOFT_ORDER_H
/*
 * Order where the system does not keep it. Loopback and virtual links have a queue for each
 * processor, so what two threads (or one that moved) send one after the other can arrive the other
 * way round when the machine is busy; UC never forgives that. So what is numbered (sends within a
 * host by us, UC packets by their PSN) and comes too early waits a little for what is before it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/list.h"

#define VF_ORDER_STREAMS 256

/* Which stream something belongs to, and its place in it. */
struct vf_order_tag {
	unsigned stream;
	uint32_t epoch;	 /* another one in the same place has another; not 0 */
	uint32_t number; /* one step more each time, and around */
};

struct vf_order_piece {
	const void *head, *body; /* body: NULL, when it is all one */
	size_t head_len, body_len;
};

/** Takes a piece whose turn it is. @is_kept: it is a copy, which is freed when this returns. */
typedef void (*vf_order_fn)(void *arg, const struct vf_order_piece *piece, bool is_kept);

struct vf_order {
	vf_order_fn deliver;
	void *arg;
	uint32_t step;
	unsigned held_count;
	struct vf_order_stream {
		uint32_t epoch, expected;
		vf_nsec deadline; /* until when the missing one is waited for; VF_NSEC_NEVER: none
				     is */
		struct vf_list held; /* by number */
	} stream[VF_ORDER_STREAMS];
};

/** @step from one number to the next: 1, or 256 for numbers of 24 bits in the upper part of 32. */
void vf_order_init(struct vf_order *o, uint32_t step, vf_order_fn deliver, void *arg);
/** Frees what waits. */
void vf_order_clear(struct vf_order *o);
/** Something came: delivers it and what waited for it, or keeps a copy. */
void vf_order_take(struct vf_order *o, vf_nsec now, const struct vf_order_tag *tag,
		   const struct vf_order_piece *piece);
/** Gives up waiting where time is up, and delivers what there is. */
void vf_order_expire(struct vf_order *o, vf_nsec now);
vf_nsec vf_order_deadline(const struct vf_order *o);

#endif

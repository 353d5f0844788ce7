/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_ORDER_H
#define VF_PROVIDER_SOFT_ORDER_H
/*
 * Order among processes of one host. The system's loopback has a queue for each processor, so what
 * two threads (or one that moved) send one after the other can arrive the other way round when the
 * machine is busy; UC never forgives that. So datagrams between local processes are numbered, and
 * one that comes too early waits a little for those before it.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/list.h"

#define VF_ORDER_SENDERS 256

/* Where a datagram comes from, and which it is. */
struct vf_order_tag {
	unsigned sender; /* process slot */
	uint32_t epoch;	 /* of that process: another one in the slot has another */
	uint32_t number; /* 0, 1, 2... */
};

/** Takes the datagram now; its bytes are gone when this returns. */
typedef void (*vf_order_fn)(void *arg, const uint8_t *data, size_t len);

struct vf_order {
	vf_order_fn deliver;
	void *arg;
	unsigned held_count;
	struct vf_order_sender {
		uint32_t epoch, expected;
		vf_nsec deadline; /* until when the missing one is waited for; VF_NSEC_NEVER: none
				     is */
		struct vf_list held; /* by number */
	} sender[VF_ORDER_SENDERS];
};

void vf_order_init(struct vf_order *o, vf_order_fn deliver, void *arg);
/** Frees what waits. */
void vf_order_clear(struct vf_order *o);
/** A datagram came: delivers it and those that waited for it, or keeps a copy. */
void vf_order_take(struct vf_order *o, vf_nsec now, const struct vf_order_tag *tag,
		   const uint8_t *data, size_t len);
/** Gives up waiting where time is up, and delivers what there is. */
void vf_order_expire(struct vf_order *o, vf_nsec now);
vf_nsec vf_order_deadline(const struct vf_order *o);

#endif

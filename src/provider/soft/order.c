/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Putting datagrams back in order, for each sender:
 *
 *   in order --one is missing--> waiting --it came, or 10 ms are over, or too many wait--> in order
 *
 * What comes later than that is delivered when it comes: the transport knows what to do with it.
 */
#include "provider/soft/order.h"

#include <stdlib.h>
#include <string.h>

enum { HELD_MAX = 256, AHEAD_MAX = 4096, YOUNG = 16 };
#define WAIT (10 * VF_MSEC)

struct held {
	struct vf_list link;
	uint32_t number;
	size_t len;
	uint8_t data[];
};

void vf_order_init(struct vf_order *o, vf_order_fn deliver, void *arg)
{
	memset(o, 0, sizeof(*o));
	o->deliver = deliver;
	o->arg = arg;
	for (unsigned i = 0; i < VF_ORDER_SENDERS; i++) {
		vf_list_init(&o->sender[i].held);
		o->sender[i].deadline = VF_NSEC_NEVER;
	}
}

static struct held *first_of(struct vf_order_sender *s)
{
	return VF_LIST_ENTRY(s->held.next, struct held, link);
}

static void release(struct vf_order *o, struct held *h)
{
	vf_list_del(&h->link);
	o->held_count--;
	free(h);
}

void vf_order_clear(struct vf_order *o)
{
	for (unsigned i = 0; i < VF_ORDER_SENDERS; i++)
		while (!vf_list_is_empty(&o->sender[i].held))
			release(o, first_of(&o->sender[i]));
}

/* Those that are next in line; @all: over gaps too. */
static void deliver_held(struct vf_order *o, struct vf_order_sender *s, bool all)
{
	while (!vf_list_is_empty(&s->held)) {
		struct held *h = first_of(s);

		if (h->number != s->expected && !all)
			return;
		o->deliver(o->arg, h->data, h->len);
		s->expected = h->number + 1;
		release(o, h);
	}
	s->deadline = VF_NSEC_NEVER;
}

static bool keep(struct vf_order *o, struct vf_order_sender *s, uint32_t number,
		 const uint8_t *data, size_t len)
{
	struct vf_list *before = s->held.prev;
	struct held *h;

	while (before != &s->held &&
	       (int32_t)(VF_LIST_ENTRY(before, struct held, link)->number - number) > 0)
		before = before->prev;
	if (before != &s->held && VF_LIST_ENTRY(before, struct held, link)->number == number)
		return true; /* we have it */
	h = o->held_count < HELD_MAX ? malloc(sizeof(*h) + len) : NULL;
	if (!h)
		return false;
	h->number = number;
	h->len = len;
	memcpy(h->data, data, len);
	vf_list_add_tail(before->next, &h->link);
	o->held_count++;
	return true;
}

/* Of a process not seen before: from its start, or from where we came in. */
static void meet(struct vf_order *o, struct vf_order_sender *s, const struct vf_order_tag *tag)
{
	deliver_held(o, s, true);
	s->epoch = tag->epoch;
	s->expected = tag->number < YOUNG ? 0 : tag->number;
}

void vf_order_take(struct vf_order *o, vf_nsec now, const struct vf_order_tag *tag,
		   const uint8_t *data, size_t len)
{
	struct vf_order_sender *s = &o->sender[tag->sender % VF_ORDER_SENDERS];
	int32_t ahead;

	if (s->epoch != tag->epoch)
		meet(o, s, tag);
	ahead = (int32_t)(tag->number - s->expected);
	if (ahead > 0 && ahead < AHEAD_MAX && keep(o, s, tag->number, data, len)) {
		if (s->deadline == VF_NSEC_NEVER)
			s->deadline = now + WAIT;
		return;
	}
	if (ahead > 0)
		deliver_held(o, s, true);
	o->deliver(o->arg, data, len);
	if (ahead >= 0)
		s->expected = tag->number + 1;
	deliver_held(o, s, false);
	if (!vf_list_is_empty(&s->held) && ahead == 0)
		s->deadline = now + WAIT; /* another one is missing */
}

void vf_order_expire(struct vf_order *o, vf_nsec now)
{
	for (unsigned i = 0; i < VF_ORDER_SENDERS; i++)
		if (o->sender[i].deadline <= now)
			deliver_held(o, &o->sender[i], true);
}

vf_nsec vf_order_deadline(const struct vf_order *o)
{
	vf_nsec first = VF_NSEC_NEVER;

	if (o->held_count == 0)
		return first;
	for (unsigned i = 0; i < VF_ORDER_SENDERS; i++)
		if (o->sender[i].deadline < first)
			first = o->sender[i].deadline;
	return first;
}

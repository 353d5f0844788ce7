/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Putting things back in order, for each stream:
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
	size_t head_len, body_len;
	_Alignas(8) uint8_t data[]; /* head, then body */
};

void vf_order_init(struct vf_order *o, uint32_t step, vf_order_fn deliver, void *arg)
{
	memset(o, 0, sizeof(*o));
	o->step = step;
	o->deliver = deliver;
	o->arg = arg;
	for (unsigned i = 0; i < VF_ORDER_STREAMS; i++) {
		vf_list_init(&o->stream[i].held);
		o->stream[i].deadline = VF_NSEC_NEVER;
	}
}

static struct held *first_of(struct vf_order_stream *s)
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
	for (unsigned i = 0; i < VF_ORDER_STREAMS; i++)
		while (!vf_list_is_empty(&o->stream[i].held))
			release(o, first_of(&o->stream[i]));
}

static void deliver_copy(struct vf_order *o, const struct held *h)
{
	struct vf_order_piece p = {.head = h->data,
				   .head_len = h->head_len,
				   .body = h->body_len ? h->data + h->head_len : NULL,
				   .body_len = h->body_len};

	o->deliver(o->arg, &p, true);
}

/* Those that are next in line; @all: over gaps too. */
static void deliver_held(struct vf_order *o, struct vf_order_stream *s, bool all)
{
	while (!vf_list_is_empty(&s->held)) {
		struct held *h = first_of(s);

		if (h->number != s->expected && !all)
			return;
		deliver_copy(o, h);
		s->expected = h->number + o->step;
		release(o, h);
	}
	s->deadline = VF_NSEC_NEVER;
}

static bool keep(struct vf_order *o, struct vf_order_stream *s, uint32_t number,
		 const struct vf_order_piece *p)
{
	struct vf_list *before = s->held.prev;
	struct held *h;

	while (before != &s->held &&
	       (int32_t)(VF_LIST_ENTRY(before, struct held, link)->number - number) > 0)
		before = before->prev;
	if (before != &s->held && VF_LIST_ENTRY(before, struct held, link)->number == number)
		return true; /* we have it */
	h = o->held_count < HELD_MAX ? malloc(sizeof(*h) + p->head_len + p->body_len) : NULL;
	if (!h)
		return false;
	h->number = number;
	h->head_len = p->head_len;
	h->body_len = p->body_len;
	memcpy(h->data, p->head, p->head_len);
	if (p->body_len)
		memcpy(h->data + p->head_len, p->body, p->body_len);
	vf_list_add_tail(before->next, &h->link);
	o->held_count++;
	return true;
}

/* Of a stream not seen before: from its start, or from where we came in. */
static void meet(struct vf_order *o, struct vf_order_stream *s, const struct vf_order_tag *tag)
{
	deliver_held(o, s, true);
	s->epoch = tag->epoch;
	s->expected = tag->number < YOUNG ? 0 : tag->number;
}

void vf_order_take(struct vf_order *o, vf_nsec now, const struct vf_order_tag *tag,
		   const struct vf_order_piece *piece)
{
	struct vf_order_stream *s = &o->stream[tag->stream % VF_ORDER_STREAMS];
	int32_t ahead;

	if (s->epoch != tag->epoch)
		meet(o, s, tag);
	ahead = (int32_t)(tag->number - s->expected);
	if (ahead > 0 && ahead < AHEAD_MAX * (int32_t)o->step && keep(o, s, tag->number, piece)) {
		if (s->deadline == VF_NSEC_NEVER)
			s->deadline = now + WAIT;
		return;
	}
	if (ahead > 0)
		deliver_held(o, s, true);
	o->deliver(o->arg, piece, false);
	if (ahead >= 0)
		s->expected = tag->number + o->step;
	deliver_held(o, s, false);
	if (!vf_list_is_empty(&s->held) && ahead == 0)
		s->deadline = now + WAIT; /* another one is missing */
}

void vf_order_expire(struct vf_order *o, vf_nsec now)
{
	for (unsigned i = 0; i < VF_ORDER_STREAMS; i++)
		if (o->stream[i].deadline <= now)
			deliver_held(o, &o->stream[i], true);
}

vf_nsec vf_order_deadline(const struct vf_order *o)
{
	vf_nsec first = VF_NSEC_NEVER;

	if (o->held_count == 0)
		return first;
	for (unsigned i = 0; i < VF_ORDER_STREAMS; i++)
		if (o->stream[i].deadline < first)
			first = o->stream[i].deadline;
	return first;
}

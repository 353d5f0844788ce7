/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers and time codes: RNR NAK timer (IBTA 9.7.5.2.8, table 46), local ACK time-out
 * (IBTA 9.7.6.1.3), and the heap that knows which timer is due first. Equal times are served in an
 * order that depends on nothing but the calls made before.
 */
#include "roce/timers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"

/* In units of 10 us, as the table has them. */
static const uint32_t rnr_10us[32] = {65536, 1,	   2,	 3,	4,     6,     8,     12,
				      16,    24,   32,	 48,	64,    96,    128,   192,
				      256,   384,  512,	 768,	1024,  1536,  2048,  3072,
				      4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};

vf_nsec vf_roce_rnr_ns(unsigned code) { return (vf_nsec)rnr_10us[code & 31u] * 10 * VF_USEC; }

vf_nsec vf_roce_timeout_ns(unsigned code)
{
	code &= 31u;
	return code == 0 ? VF_NSEC_NEVER : (vf_nsec)4096 << code;
}

bool vf_roce_gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

int vf_timers_reserve(struct vf_timers *t, uint32_t count)
{
	struct vf_timer **heap;
	uint32_t max = t->max ? t->max : 64;

	while (max < count)
		max *= 2;
	if (max == t->max)
		return 0;
	heap = realloc(t->heap, (max + 1u) * sizeof(struct vf_timer *));
	if (!heap)
		return vf_refuse(ENOMEM, "no memory for %u timers", max);
	t->heap = heap;
	t->max = max;
	return 0;
}

void vf_timers_free(struct vf_timers *t)
{
	free(t->heap);
	memset(t, 0, sizeof(*t));
}

static void put(struct vf_timers *t, struct vf_timer *timer, uint32_t pos)
{
	t->heap[pos] = timer;
	timer->pos = pos;
}

static void sift_up(struct vf_timers *t, struct vf_timer *timer, uint32_t pos)
{
	while (pos > 1 && t->heap[pos / 2]->due > timer->due) {
		put(t, t->heap[pos / 2], pos);
		pos /= 2;
	}
	put(t, timer, pos);
}

static void sift_down(struct vf_timers *t, struct vf_timer *timer, uint32_t pos)
{
	uint32_t child;

	while ((child = pos * 2) <= t->count) {
		if (child < t->count && t->heap[child + 1]->due < t->heap[child]->due)
			child++;
		if (t->heap[child]->due >= timer->due)
			break;
		put(t, t->heap[child], pos);
		pos = child;
	}
	put(t, timer, pos);
}

static void take_out(struct vf_timers *t, struct vf_timer *timer)
{
	struct vf_timer *last = t->heap[t->count--];
	uint32_t pos = timer->pos;

	timer->pos = 0;
	if (last == timer)
		return;
	if (pos > 1 && t->heap[pos / 2]->due > last->due)
		sift_up(t, last, pos);
	else
		sift_down(t, last, pos);
}

void vf_timer_set(struct vf_timers *t, struct vf_timer *timer, vf_nsec due)
{
	vf_nsec before = timer->due;

	if (due == VF_NSEC_NEVER) {
		if (timer->pos)
			take_out(t, timer);
		return;
	}
	timer->due = due;
	if (!timer->pos)
		sift_up(t, timer, ++t->count);
	else if (due < before)
		sift_up(t, timer, timer->pos);
	else
		sift_down(t, timer, timer->pos);
}

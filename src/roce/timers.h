/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_TIMERS_H
#define VF_ROCE_TIMERS_H
/* What is due when: a binary heap of timers that live inside the objects that they wake. */
#include "roce/roce.h"

struct vf_timer {
	vf_nsec due;
	uint32_t pos; /* in the heap, counted from 1; 0: not set */
};

struct vf_timers {
	struct vf_timer **heap; /* heap[1] is due first */
	uint32_t count, max;
};

/** Makes room for @count timers; the only function here that takes memory. -ENOMEM. */
int vf_timers_reserve(struct vf_timers *t, uint32_t count);
void vf_timers_free(struct vf_timers *t);
/** Sets or moves a timer; VF_NSEC_NEVER stops it. */
void vf_timer_set(struct vf_timers *t, struct vf_timer *timer, vf_nsec due);
static inline void vf_timer_stop(struct vf_timers *t, struct vf_timer *timer)
{
	vf_timer_set(t, timer, VF_NSEC_NEVER);
}
static inline bool vf_timer_is_set(const struct vf_timer *timer) { return timer->pos != 0; }
/** The timer that is due first, NULL when none is set. */
static inline struct vf_timer *vf_timers_first(const struct vf_timers *t)
{
	return t->count ? t->heap[1] : NULL;
}

#endif

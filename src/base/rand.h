/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_RAND_H
#define VF_BASE_RAND_H
/* A small seeded generator (xorshift64*), for everything that must be repeatable. Not for secrets. */
#include <stdint.h>

struct vf_rand {
	uint64_t state;
};

static inline void vf_rand_seed(struct vf_rand *r, uint64_t seed)
{
	r->state = seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0xd1b54a32d192ed03);
	if (r->state == 0)
		r->state = 1;
}

static inline uint64_t vf_rand_next(struct vf_rand *r)
{
	uint64_t x = r->state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	r->state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/** A number in [0, n); n must not be 0. */
static inline uint64_t vf_rand_below(struct vf_rand *r, uint64_t n)
{
	return (vf_rand_next(r) >> 11) % n;
}

#endif

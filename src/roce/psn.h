/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_PSN_H
#define VF_ROCE_PSN_H
/* Packet sequence numbers: 24 bits that wrap (IBTA 9.7.1). One half of the space is ahead of a
 * number, the other behind. */
#include <stdbool.h>
#include <stdint.h>

#define VF_PSN_MASK 0xffffffu

static inline uint32_t vf_psn_add(uint32_t psn, uint32_t n) { return (psn + n) & VF_PSN_MASK; }
static inline uint32_t vf_psn_sub(uint32_t psn, uint32_t n) { return (psn - n) & VF_PSN_MASK; }

/** How far @a is ahead of @b, -2^23 to 2^23 - 1. What is exactly half the space away counts as
 * behind. */
static inline int32_t vf_psn_diff(uint32_t a, uint32_t b)
{
	uint32_t d = (a - b) & VF_PSN_MASK;

	return d & 0x800000u ? (int32_t)d - 0x1000000 : (int32_t)d;
}

static inline bool vf_psn_is_before(uint32_t a, uint32_t b) { return vf_psn_diff(a, b) < 0; }

#endif

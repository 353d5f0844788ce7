/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_IMPAIR_H
#define VF_PROVIDER_SOFT_IMPAIR_H
/*
 * Impairment on purpose (VERBIFROST_IMPAIR): which packets that are about to be sent get lost,
 * doubled, late, out of order or damaged. Decided from the seed alone: the same packets meet the
 * same fate in every run. And the queue of the held ones.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/list.h"
#include "base/rand.h"

#define VF_IMPAIR_ONE 1000000u /* probabilities are in millionths */

struct vf_impair_config {
	uint32_t loss, duplicate, reorder, corrupt;
	vf_nsec delay_ns;
	uint64_t seed;
};

/**
 * loss=1%,dup=0.5%,reorder=1%,delay=5ms,corrupt=0.01%,seed=7, any subset in any order. Percentages
 * to four decimals, 0% to 100%; delays in ns, us, ms or s, up to 10 s. -EINVAL with a reason that
 * names the bad part.
 */
int vf_impair_parse(const char *text, struct vf_impair_config *out);

struct vf_impair_verdict {
	bool is_lost, is_duplicated, is_reordered, is_corrupt;
	unsigned overtaken_by; /* reordered: goes out after so many others */
	uint32_t corrupt_bit;  /* which bit flips */
};

struct vf_impair {
	struct vf_impair_config cfg;
	struct vf_rand rand;
	uint64_t sent;		  /* packets seen so far */
	struct vf_list late;	  /* held back for the same time all: in the order of their time */
	struct vf_list overtaken; /* held back for others to pass: few */
	unsigned held_count;
};

void vf_impair_init(struct vf_impair *im, const struct vf_impair_config *cfg);
/** Frees what is held. */
void vf_impair_clear(struct vf_impair *im);

/** The fate of the next packet, @bits long (where a damaged one may be hit). */
void vf_impair_next(struct vf_impair *im, uint32_t bits, struct vf_impair_verdict *out);

/** A packet that waits; @data is a copy, with whatever the owner needs to send it in front. */
struct vf_impair_held {
	struct vf_list link;
	vf_nsec due;
	uint64_t after; /* goes out once so many packets have been seen */
	size_t len;
	_Alignas(8) uint8_t data[];
};

/** Takes a copy; @after UINT64_MAX: by time alone. -ENOMEM; also when too many (16384) are held. */
int vf_impair_hold(struct vf_impair *im, vf_nsec due, uint64_t after, const void *data, size_t len);
/** The next packet that is due; the caller frees it. NULL: none now. */
struct vf_impair_held *vf_impair_release(struct vf_impair *im, vf_nsec now);
/** When something is due by time; VF_NSEC_NEVER. */
vf_nsec vf_impair_deadline(const struct vf_impair *im);

#endif

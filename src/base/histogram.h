/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_HISTOGRAM_H
#define VF_BASE_HISTOGRAM_H
/*
 * A log-linear histogram of 64-bit values: each power of two is cut into 32 equal buckets, so that
 * a value read back is at most 1/32 (3.2 %) above the one recorded, whatever its size. Values below
 * 32 are exact. Fixed memory, no allocation.
 */
#include <stdint.h>

#define VF_HIST_SUB_BITS 5
#define VF_HIST_BUCKETS	 ((64 - VF_HIST_SUB_BITS + 1) << VF_HIST_SUB_BITS)

struct vf_hist {
	uint64_t count, sum, min, max;
	uint64_t bucket[VF_HIST_BUCKETS];
};

void vf_hist_reset(struct vf_hist *h);
void vf_hist_record(struct vf_hist *h, uint64_t value);
/** Least recorded value (rounded up to its bucket's end, never above the maximum) that @percent of
 * all do not exceed; 0 if empty. */
uint64_t vf_hist_percentile(const struct vf_hist *h, double percent);
/** Bucket of a value, and the least value of a bucket. */
unsigned vf_hist_bucket_of(uint64_t value);
uint64_t vf_hist_bucket_low(unsigned bucket);

#endif

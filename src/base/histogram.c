/* SPDX-License-Identifier: BSD-2-Clause */
/* Log-linear histogram: bucket = power of two (group) and the five bits below its highest bit
 * (place in the group). */
#include "base/histogram.h"

#include <string.h>

#define SUB (1u << VF_HIST_SUB_BITS)

void vf_hist_reset(struct vf_hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

unsigned vf_hist_bucket_of(uint64_t value)
{
	unsigned shift;

	if (value < SUB)
		return (unsigned)value;
	shift = 63u - (unsigned)__builtin_clzll(value) - VF_HIST_SUB_BITS;
	return (shift + 1) * SUB + (unsigned)(value >> shift) - SUB;
}

uint64_t vf_hist_bucket_low(unsigned bucket)
{
	unsigned group = bucket / SUB, place = bucket % SUB;

	return group == 0 ? place : (uint64_t)(SUB + place) << (group - 1);
}

void vf_hist_record(struct vf_hist *h, uint64_t value)
{
	h->count++;
	h->sum += value;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->bucket[vf_hist_bucket_of(value)]++;
}

uint64_t vf_hist_percentile(const struct vf_hist *h, double percent)
{
	double exact = percent / 100.0 * (double)h->count;
	uint64_t rank = (uint64_t)exact, seen = 0;

	if (h->count == 0)
		return 0;
	if ((double)rank < exact || rank == 0)
		rank++;
	for (unsigned i = 0; i < VF_HIST_BUCKETS; i++) {
		uint64_t end = i + 1 < VF_HIST_BUCKETS ? vf_hist_bucket_low(i + 1) - 1 : UINT64_MAX;

		seen += h->bucket[i];
		if (seen >= rank)
			return end < h->max ? end : h->max;
	}
	return h->max;
}

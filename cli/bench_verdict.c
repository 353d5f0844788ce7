/* SPDX-License-Identifier: BSD-2-Clause */
/* What a measured bandwidth says about the link that it was measured on. */
#include <stdio.h>

#include "bench.h"
#include "device.h"

#define SLOW_SHARE    0.25	 /* of what the link should give */
#define SOFT_EXPECTED 4e9	 /* bits/s that a soft device reaches on any machine of today */
#define JUDGED_SIZE   (16 << 10) /* smaller messages say nothing about the link */

void vf_rate_text(double bits_per_s, char *out, size_t room)
{
	if (bits_per_s <= 0)
		snprintf(out, room, "unknown");
	else if (bits_per_s >= 1e9)
		snprintf(out, room, "%.4g Gbit/s", bits_per_s / 1e9);
	else
		snprintf(out, room, "%.4g Mbit/s", bits_per_s / 1e6);
}

int vf_bench_verdict(const struct vf_bench_session *s, const struct vf_bench_result *r, unsigned n,
		     char *text, size_t room)
{
	double best = 0, expected = s->link_rate;
	char link[32], measured[32], asked[64];

	if (s->is_soft && expected > SOFT_EXPECTED)
		expected = SOFT_EXPECTED;
	for (unsigned i = 0; i < n; i++) {
		if (r[i].what.measure != VF_BENCH_BANDWIDTH || r[i].what.size < JUDGED_SIZE)
			continue;
		if (r[i].receiver_rate * 8 > best)
			best = r[i].receiver_rate * 8;
	}
	vf_rate_text(s->link_rate, link, sizeof(link));
	vf_rate_text(best, measured, sizeof(measured));
	if (best <= 0 || s->link_rate <= 0) {
		snprintf(text, room, "not judged: %s",
			 best <= 0 ? "no bandwidth of 16 KiB messages or larger was measured"
				   : "the rate of the link is unknown");
		return 0;
	}
	if (best > s->link_rate * 1.02) {
		snprintf(text, room,
			 "above the link: %s measured on a link of %s cannot be; the figure is "
			 "wrong, or the data did not take that link",
			 measured, link);
		return 2;
	}
	if (expected < s->link_rate)
		snprintf(asked, sizeof(asked), "a soft device should reach %.0f Gbit/s",
			 SLOW_SHARE * expected / 1e9);
	else
		snprintf(asked, sizeof(asked), "%.0f %% of it", best / s->link_rate * 100);
	if (best < SLOW_SHARE * expected) {
		snprintf(text, room,
			 "up but slow: %s measured on a link of %s (%s); look at the link, its "
			 "driver and the "
			 "load of both hosts",
			 measured, link, asked);
		return 2;
	}
	snprintf(text, room, "healthy: %s measured on a link of %s (%s)", measured, link, asked);
	return 0;
}

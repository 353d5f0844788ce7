/* SPDX-License-Identifier: BSD-2-Clause */
/* The histogram: where values go, and what percentiles say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/histogram.h"

static struct vf_hist h;

static void every_bucket_begins_where_the_one_before_ends(void **state)
{
	(void)state;
	for (unsigned i = 0; i < VF_HIST_BUCKETS; i++) {
		uint64_t low = vf_hist_bucket_low(i);

		assert_int_equal(vf_hist_bucket_of(low), i);
		if (i > 0)
			assert_int_equal(vf_hist_bucket_of(low - 1), i - 1);
	}
	assert_int_equal(vf_hist_bucket_of(UINT64_MAX), VF_HIST_BUCKETS - 1);
}

static void no_bucket_is_wider_than_a_thirty_second_of_its_values(void **state)
{
	(void)state;
	for (unsigned i = 32; i + 1 < VF_HIST_BUCKETS; i++) {
		uint64_t low = vf_hist_bucket_low(i);

		assert_true(vf_hist_bucket_low(i + 1) - low <= low / 32);
	}
}

static void percentiles_of_one_to_a_thousand_are_within_the_promise(void **state)
{
	const double asked[] = {0.1, 50, 90, 99, 99.9, 100};

	(void)state;
	vf_hist_reset(&h);
	for (uint64_t v = 1000; v >= 1; v--)
		vf_hist_record(&h, v);
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		double exact = asked[i] * 10, got = (double)vf_hist_percentile(&h, asked[i]);

		assert_true(got >= exact && got <= exact * 33 / 32 + 1);
	}
	assert_int_equal(h.min, 1);
	assert_int_equal(h.max, 1000);
	assert_int_equal(vf_hist_percentile(&h, 100), 1000);
}

static void one_value_is_every_percentile_and_none_is_zero(void **state)
{
	(void)state;
	vf_hist_reset(&h);
	assert_int_equal(vf_hist_percentile(&h, 50), 0);
	vf_hist_record(&h, 12345);
	assert_int_equal(vf_hist_percentile(&h, 0), 12345);
	assert_int_equal(vf_hist_percentile(&h, 50), 12345);
	assert_int_equal(vf_hist_percentile(&h, 100), 12345);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bucket_begins_where_the_one_before_ends),
		cmocka_unit_test(no_bucket_is_wider_than_a_thirty_second_of_its_values),
		cmocka_unit_test(percentiles_of_one_to_a_thousand_are_within_the_promise),
		cmocka_unit_test(one_value_is_every_percentile_and_none_is_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

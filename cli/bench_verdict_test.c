/* SPDX-License-Identifier: BSD-2-Clause */
/* Verdicts: what cannot be, what is slow, what is healthy, and what says nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"
#include "device.h"

static char text[200];

/* Verdict on @gbit measured with messages of @size on a link of @link Gbit/s. */
static int verdict(double gbit, uint32_t size, double link, bool is_soft)
{
	static struct vf_bench_result r;
	static struct vf_bench_session s;

	r.what.measure = VF_BENCH_BANDWIDTH;
	r.what.size = size;
	r.receiver_rate = gbit * 1e9 / 8;
	s.link_rate = link * 1e9;
	s.is_soft = is_soft;
	return vf_bench_verdict(&s, &r, 1, text, sizeof(text));
}

static void more_than_the_link_carries_is_doubtful(void **state)
{
	(void)state;
	assert_int_equal(verdict(57, 65536, 40, false), 2);
	assert_non_null(strstr(text, "above the link"));
	assert_int_equal(verdict(40.2, 65536, 40, false), 0);
}

static void a_fast_link_that_is_up_and_slow_is_doubtful(void **state)
{
	(void)state;
	assert_int_equal(verdict(13, 65536, 200, false), 2);
	assert_non_null(strstr(text, "up but slow"));
	assert_int_equal(verdict(190, 65536, 200, false), 0);
	assert_non_null(strstr(text, "healthy"));
}

static void a_soft_device_is_judged_by_what_software_can_do(void **state)
{
	(void)state;
	assert_int_equal(verdict(13, 65536, 200, true), 0);
	assert_int_equal(verdict(0.5, 65536, 200, true), 2);
	assert_int_equal(verdict(0.5, 65536, 1, true), 0);
}

static void small_messages_and_unknown_links_are_not_judged(void **state)
{
	(void)state;
	assert_int_equal(verdict(0.1, 64, 100, false), 0);
	assert_non_null(strstr(text, "not judged"));
	assert_int_equal(verdict(13, 65536, 0, false), 0);
	assert_non_null(strstr(text, "not judged"));
}

static void rates_are_written_in_the_unit_that_fits(void **state)
{
	(void)state;
	vf_rate_text(25e9, text, sizeof(text));
	assert_string_equal(text, "25 Gbit/s");
	vf_rate_text(100e6, text, sizeof(text));
	assert_string_equal(text, "100 Mbit/s");
	vf_rate_text(0, text, sizeof(text));
	assert_string_equal(text, "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_than_the_link_carries_is_doubtful),
		cmocka_unit_test(a_fast_link_that_is_up_and_slow_is_doubtful),
		cmocka_unit_test(a_soft_device_is_judged_by_what_software_can_do),
		cmocka_unit_test(small_messages_and_unknown_links_are_not_judged),
		cmocka_unit_test(rates_are_written_in_the_unit_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

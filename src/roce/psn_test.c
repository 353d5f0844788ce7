/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic of 24-bit sequence numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "roce/psn.h"

static void numbers_wrap_at_24_bits(void **state)
{
	(void)state;
	assert_int_equal(vf_psn_add(0xffffff, 1), 0);
	assert_int_equal(vf_psn_add(0xfffffe, 5), 3);
	assert_int_equal(vf_psn_sub(0, 1), 0xffffff);
	assert_int_equal(vf_psn_sub(3, 5), 0xfffffe);
}

static void distance_is_signed_and_crosses_the_wrap(void **state)
{
	(void)state;
	assert_int_equal(vf_psn_diff(5, 5), 0);
	assert_int_equal(vf_psn_diff(2, 0xfffffe), 4);
	assert_int_equal(vf_psn_diff(0xfffffe, 2), -4);
	assert_int_equal(vf_psn_diff(0x7fffff, 0), 0x7fffff);
}

static void exactly_half_the_space_away_counts_as_behind(void **state)
{
	(void)state;
	for (uint32_t at = 0xfffff0; at != 0x10; at = vf_psn_add(at, 1)) {
		assert_int_equal(vf_psn_diff(vf_psn_add(at, 0x800000), at), -0x800000);
		assert_true(vf_psn_is_before(vf_psn_add(at, 0x800000), at));
		assert_false(vf_psn_is_before(vf_psn_add(at, 0x7fffff), at));
		assert_false(vf_psn_is_before(at, at));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_wrap_at_24_bits),
		cmocka_unit_test(distance_is_signed_and_crosses_the_wrap),
		cmocka_unit_test(exactly_half_the_space_away_counts_as_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

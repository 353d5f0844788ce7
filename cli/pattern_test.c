/* SPDX-License-Identifier: BSD-2-Clause */
/* Contents of messages: each kind of damage is seen, and what is only missing is told from what is
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pattern.h"

static unsigned char buf[9001];

static void every_length_matches_itself_and_no_other_message(void **state)
{
	(void)state;
	for (size_t len = 1; len <= 64; len++) {
		vf_pattern_fill(buf, len, 41);
		assert_true(vf_pattern_matches(buf, len, 41));
		assert_false(vf_pattern_matches(buf, len, 42));
	}
}

static void any_flipped_bit_is_seen(void **state)
{
	(void)state;
	vf_pattern_fill(buf, sizeof(buf), 7);
	for (size_t bit = 0; bit < sizeof(buf) * 8; bit += 61) {
		buf[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_false(vf_pattern_matches(buf, sizeof(buf), 7));
		buf[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	assert_true(vf_pattern_matches(buf, sizeof(buf), 7));
}

static void contents_in_the_wrong_place_are_seen(void **state)
{
	(void)state;
	vf_pattern_fill(buf, 4096, 7);
	memmove(buf + 1024, buf + 2048, 1024);
	assert_false(vf_pattern_matches(buf, 4096, 7));
	assert_false(vf_pattern_is_incomplete(buf, 4096, 7, 4));
}

static void a_write_that_ended_half_way_is_incomplete_and_not_wrong(void **state)
{
	(void)state;
	memset(buf, 0, sizeof(buf));
	assert_true(vf_pattern_is_incomplete(buf, 4096, 3, 8));
	vf_pattern_fill(buf, 4096, 3);
	vf_pattern_fill(buf, 1000, 11);
	assert_false(vf_pattern_matches(buf, 4096, 11));
	assert_true(vf_pattern_is_incomplete(buf, 4096, 11, 8));
	assert_false(vf_pattern_is_incomplete(buf, 4096, 11, 5));
	buf[2000] ^= 1;
	assert_false(vf_pattern_is_incomplete(buf, 4096, 11, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_matches_itself_and_no_other_message),
		cmocka_unit_test(any_flipped_bit_is_seen),
		cmocka_unit_test(contents_in_the_wrong_place_are_seen),
		cmocka_unit_test(a_write_that_ended_half_way_is_incomplete_and_not_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

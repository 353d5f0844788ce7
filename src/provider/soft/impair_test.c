/* SPDX-License-Identifier: BSD-2-Clause */
/* Impairment: what the setting says, what the seed decides, what is held. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/reason.h"
#include "provider/soft/impair.h"

static void a_full_setting_is_read(void **state)
{
	struct vf_impair_config c;

	(void)state;
	assert_int_equal(
		vf_impair_parse(
			"loss=1%,dup=0.5%,reorder=100%,delay=1.5ms,corrupt=0.0001%,seed=0x7", &c),
		0);
	assert_int_equal(c.loss, 10000);
	assert_int_equal(c.duplicate, 5000);
	assert_int_equal(c.reorder, VF_IMPAIR_ONE);
	assert_int_equal(c.corrupt, 1);
	assert_true(c.delay_ns == 1500 * VF_USEC);
	assert_true(c.seed == 7);
	assert_int_equal(vf_impair_parse("", &c), 0);
	assert_int_equal(c.loss + c.duplicate + c.reorder + c.corrupt, 0);
	assert_int_equal(vf_impair_parse("delay=10s", &c), 0);
	assert_true(c.delay_ns == 10 * VF_SEC);
}

static void a_bad_part_is_refused_and_named(void **state)
{
	static const struct {
		const char *text, *named;
	} bad[] = {
		{"loss=101%", "loss=101%"},
		{"loss=1", "loss=1"},
		{"loss=-1%", "loss=-1%"},
		{"loss=", "loss="},
		{"loss=1%,lag=5ms", "lag"},
		{"dup=1%%", "dup=1%%"},
		{"delay=5", "delay=5"},
		{"delay=11s", "delay=11s"},
		{"delay=5min", "delay=5min"},
		{"seed=x", "seed=x"},
		{"seed=", "seed="},
		{"reorder", "reorder"},
		{"loss=1%,,dup=1%", "no value"},
		{"corrupt=0.00001%", "corrupt=0.00001%"},
		{"loss=1%;dup=1%", "loss=1%;dup=1%"},
		{"loss=99999999999999999999999999999999999999999999999999999999999999999999%",
		 "too long"},
	};
	struct vf_impair_config c = {.loss = 42};

	(void)state;
	for (size_t i = 0; i < VF_ARRAY_SIZE(bad); i++) {
		vf_reason_clear();
		assert_int_equal(vf_impair_parse(bad[i].text, &c), -EINVAL);
		assert_non_null(strstr(vf_reason_last(), bad[i].named));
		assert_int_equal(c.loss, 42);
	}
}

static void the_same_seed_decides_the_same_and_shares_are_kept(void **state)
{
	enum { PACKETS = 100000 };
	struct vf_impair_config c;
	struct vf_impair a, b;
	unsigned lost = 0, doubled = 0, corrupt = 0, same = 0;

	(void)state;
	assert_int_equal(vf_impair_parse("loss=1%,dup=10%,corrupt=5%,seed=3", &c), 0);
	vf_impair_init(&a, &c);
	vf_impair_init(&b, &c);
	for (int i = 0; i < PACKETS; i++) {
		struct vf_impair_verdict v, w;

		vf_impair_next(&a, 8000, &v);
		vf_impair_next(&b, 8000, &w);
		same += v.is_lost == w.is_lost && v.is_duplicated == w.is_duplicated &&
			v.corrupt_bit == w.corrupt_bit;
		assert_true(v.corrupt_bit < 8000);
		assert_false(v.is_reordered);
		assert_false(v.is_lost && (v.is_duplicated || v.is_corrupt));
		lost += v.is_lost;
		doubled += v.is_duplicated;
		corrupt += v.is_corrupt;
	}
	assert_int_equal(same, PACKETS);
	assert_in_range(lost, 800, 1200);
	assert_in_range(doubled, 9000, 11000);
	assert_in_range(corrupt, 4500, 5500);
}

static void switching_one_fault_on_does_not_move_another(void **state)
{
	struct vf_impair_config c;
	struct vf_impair a, b;

	(void)state;
	assert_int_equal(vf_impair_parse("loss=5%,seed=9", &c), 0);
	vf_impair_init(&a, &c);
	assert_int_equal(vf_impair_parse("loss=5%,corrupt=20%,reorder=7%,seed=9", &c), 0);
	vf_impair_init(&b, &c);
	for (int i = 0; i < 10000; i++) {
		struct vf_impair_verdict v, w;

		vf_impair_next(&a, 800, &v);
		vf_impair_next(&b, 800, &w);
		assert_int_equal(v.is_lost, w.is_lost);
	}
}

static void a_held_packet_goes_by_time_or_when_overtaken(void **state)
{
	struct vf_impair_config c = {.seed = 1};
	struct vf_impair im;
	struct vf_impair_verdict v;
	struct vf_impair_held *h;

	(void)state;
	vf_impair_init(&im, &c);
	assert_true(vf_impair_deadline(&im) == VF_NSEC_NEVER);
	assert_int_equal(vf_impair_hold(&im, 100, UINT64_MAX, "late", 4), 0);
	assert_int_equal(vf_impair_hold(&im, 900, im.sent + 1, "over", 4), 0);
	assert_true(vf_impair_deadline(&im) == 100);
	assert_null(vf_impair_release(&im, 99));
	vf_impair_next(&im, 8, &v);
	h = vf_impair_release(&im, 99);
	assert_non_null(h);
	assert_int_equal(h->len, 4);
	assert_memory_equal(h->data, "over", 4);
	free(h);
	assert_null(vf_impair_release(&im, 99));
	h = vf_impair_release(&im, 100);
	assert_non_null(h);
	free(h);
	assert_int_equal(vf_impair_hold(&im, 100, UINT64_MAX, "left", 4), 0);
	vf_impair_clear(&im);
	assert_int_equal(im.held_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_setting_is_read),
		cmocka_unit_test(a_bad_part_is_refused_and_named),
		cmocka_unit_test(the_same_seed_decides_the_same_and_shares_are_kept),
		cmocka_unit_test(switching_one_fault_on_does_not_move_another),
		cmocka_unit_test(a_held_packet_goes_by_time_or_when_overtaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

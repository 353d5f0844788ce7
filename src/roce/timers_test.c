/* SPDX-License-Identifier: BSD-2-Clause */
/* Time codes against the specification's tables, the timer heap, QP numbers, and names of counters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "base/rand.h"
#include "roce/qpn.h"
#include "roce/timers.h"

static void rnr_codes_are_those_of_the_table(void **state)
{
	/* Milliseconds as the specification prints them. */
	static const char *const ms[32] = {
		"655.36", "0.01",  "0.02",  "0.03",   "0.04",	"0.06",	  "0.08",   "0.12",
		"0.16",	  "0.24",  "0.32",  "0.48",   "0.64",	"0.96",	  "1.28",   "1.92",
		"2.56",	  "3.84",  "5.12",  "7.68",   "10.24",	"15.36",  "20.48",  "30.72",
		"40.96",  "61.44", "81.92", "122.88", "163.84", "245.76", "327.68", "491.52"};

	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		vf_nsec ns = vf_roce_rnr_ns(i);
		char text[24];

		snprintf(text, sizeof(text), "%u.%02u", (unsigned)(ns / VF_MSEC),
			 (unsigned)(ns % VF_MSEC / 10000));
		assert_string_equal(text, ms[i]);
		assert_true(ns % 10000 == 0);
	}
}

static void time_out_codes_double_and_zero_is_never(void **state)
{
	(void)state;
	assert_true(vf_roce_timeout_ns(0) == VF_NSEC_NEVER);
	assert_true(vf_roce_timeout_ns(1) == 8192);
	assert_true(vf_roce_timeout_ns(14) == 67108864);
	assert_true(vf_roce_timeout_ns(31) == 4096 * UINT64_C(0x80000000));
}

#define TIMERS 300u

static void timers_come_out_in_the_order_of_their_times(void **state)
{
	struct vf_timers t = {0};
	static struct vf_timer timer[TIMERS];
	struct vf_rand r;
	unsigned set = 0;
	vf_nsec last = 0;

	(void)state;
	vf_rand_seed(&r, 5);
	memset(timer, 0, sizeof(timer));
	assert_int_equal(vf_timers_reserve(&t, TIMERS), 0);
	for (unsigned i = 0; i < 20000; i++)
		vf_timer_set(&t, &timer[vf_rand_below(&r, TIMERS)],
			     vf_rand_below(&r, 4) ? vf_rand_below(&r, 1000) : VF_NSEC_NEVER);
	for (unsigned i = 0; i < TIMERS; i++)
		set += vf_timer_is_set(&timer[i]);
	assert_int_equal(set, t.count);
	while (vf_timers_first(&t)) {
		struct vf_timer *first = vf_timers_first(&t);

		assert_true(first->due >= last);
		last = first->due;
		vf_timer_stop(&t, first);
		assert_false(vf_timer_is_set(first));
		set--;
	}
	assert_int_equal(set, 0);
	vf_timers_free(&t);
}

static void a_freed_number_is_not_used_again_before_all_others(void **state)
{
	struct vf_qpn_table t;
	uint32_t qpn, first;
	void *qp = &t;

	(void)state;
	vf_qpn_init(&t, 0xff, 4, 65530);
	assert_int_equal(vf_qpn_alloc(&t, qp, &first), 0);
	assert_int_equal(first >> VF_ROCE_SLOT_SHIFT, 0xff);
	assert_ptr_equal(vf_qpn_find(&t, first), qp);
	assert_null(vf_qpn_find(&t, first ^ 0x10000u));
	vf_qpn_free(&t, first);
	assert_null(vf_qpn_find(&t, first));
	for (unsigned i = 0; i < VF_QPN_INDEX_END - VF_QPN_INDEX_FIRST - 1; i++) {
		assert_int_equal(vf_qpn_alloc(&t, qp, &qpn), 0);
		assert_true(qpn != first);
		assert_true((qpn & 0xffff) >= VF_QPN_INDEX_FIRST && qpn != 0xffffff);
		vf_qpn_free(&t, qpn);
	}
	assert_int_equal(vf_qpn_alloc(&t, qp, &qpn), 0);
	assert_int_equal(qpn, first);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(vf_qpn_alloc(&t, qp, &qpn), 0);
	assert_int_equal(vf_qpn_alloc(&t, qp, &qpn), -ENOSPC);
	vf_qpn_free_all(&t);
}

static void every_counter_and_drop_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < VF_CNT_COUNT; i++) {
		assert_non_null(vf_roce_counter_name(i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(vf_roce_counter_name(i), vf_roce_counter_name(k));
	}
	assert_null(vf_roce_counter_name(-1));
	assert_null(vf_roce_counter_name(VF_CNT_COUNT));
	assert_string_equal(vf_roce_counter_name(VF_CNT_OUT_OF_SEQUENCE), "out_of_sequence");
	assert_string_equal(vf_roce_counter_name((int)VF_CNT_DROP_FIRST + (int)VF_DROP_BAD_QKEY),
			    "drop_bad_qkey");
	assert_string_equal(vf_roce_drop_name(VF_DROP_BAD_QKEY), "bad_qkey");
	assert_null(vf_roce_drop_name(VF_DROP_COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rnr_codes_are_those_of_the_table),
		cmocka_unit_test(time_out_codes_double_and_zero_is_never),
		cmocka_unit_test(timers_come_out_in_the_order_of_their_times),
		cmocka_unit_test(a_freed_number_is_not_used_again_before_all_others),
		cmocka_unit_test(every_counter_and_drop_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams out of order come out in order; what is missing is not waited for for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rand.h"
#include "provider/soft/order.h"

static uint32_t out[100000];
static unsigned count;
static struct vf_order order;

static void deliver(void *arg, const struct vf_order_piece *piece, bool is_kept)
{
	(void)arg;
	(void)is_kept;
	assert_int_equal(piece->head_len, 4);
	assert_int_equal(piece->body_len, 2);
	assert_memory_equal(piece->body, "xy", 2);
	memcpy(&out[count++], piece->head, 4);
}

static void come(vf_nsec now, unsigned sender, uint32_t epoch, uint32_t number)
{
	struct vf_order_tag tag = {.stream = sender, .epoch = epoch, .number = number};
	struct vf_order_piece p = {.head = &number, .head_len = 4, .body = "xy", .body_len = 2};

	vf_order_take(&order, now, &tag, &p);
}

static int begin(void **state)
{
	(void)state;
	count = 0;
	vf_order_init(&order, 1, deliver, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	vf_order_clear(&order);
	return order.held_count ? -1 : 0;
}

static void assert_out(const uint32_t *expected, unsigned n)
{
	assert_int_equal(count, n);
	assert_memory_equal(out, expected, n * sizeof(*expected));
	assert_int_equal(order.held_count, 0);
	assert_true(vf_order_deadline(&order) == VF_NSEC_NEVER);
}

static void in_order_nothing_waits(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		come(i, 3, 7, i);
	assert_int_equal(count, 1000);
	assert_int_equal(order.held_count, 0);
}

static void early_ones_wait_for_the_missing_one(void **state)
{
	static const uint32_t expected[] = {0, 1, 2, 3, 4, 5};

	(void)state;
	come(1, 3, 7, 0);
	come(1, 3, 7, 2);
	come(1, 3, 7, 5);
	come(1, 3, 7, 3);
	come(1, 3, 7, 3);
	assert_int_equal(count, 1);
	assert_true(vf_order_deadline(&order) == 1 + 10 * VF_MSEC);
	come(2, 3, 7, 1);
	assert_int_equal(count, 4);
	come(3, 3, 7, 4);
	assert_out(expected, 6);
}

static void the_very_first_may_come_second(void **state)
{
	static const uint32_t expected[] = {0, 1};

	(void)state;
	come(1, 3, 7, 1);
	come(1, 3, 7, 0);
	assert_out(expected, 2);
}

static void who_comes_in_late_starts_where_the_other_is(void **state)
{
	static const uint32_t expected[] = {5000, 5001};

	(void)state;
	come(1, 3, 7, 5000);
	come(1, 3, 7, 5001);
	assert_out(expected, 2);
}

static void a_lost_one_is_waited_for_ten_milliseconds_and_delivered_when_later(void **state)
{
	static const uint32_t expected[] = {0, 2, 3, 4, 1};

	(void)state;
	come(0, 3, 7, 0);
	come(5, 3, 7, 2);
	come(6, 3, 7, 3);
	vf_order_expire(&order, 4 + 10 * VF_MSEC);
	assert_int_equal(count, 1);
	vf_order_expire(&order, 5 + 10 * VF_MSEC);
	assert_int_equal(count, 3);
	come(7, 3, 7, 4);
	come(8, 3, 7, 1);
	assert_out(expected, 5);
}

static void another_process_in_the_slot_and_other_slots_are_not_waited_for(void **state)
{
	static const uint32_t expected[] = {0, 0, 2, 0};

	(void)state;
	come(1, 3, 7, 0);
	come(1, 3, 7, 2);
	come(1, 4, 7, 0);
	come(1, 3, 8, 0);
	assert_out(expected, 4);
}

static void numbers_wrap(void **state)
{
	static const uint32_t expected[] = {UINT32_MAX - 1, UINT32_MAX, 0, 1};

	(void)state;
	come(1, 3, 7, UINT32_MAX - 1);
	come(1, 3, 7, 0);
	come(1, 3, 7, UINT32_MAX);
	come(1, 3, 7, 1);
	assert_out(expected, 4);
}

static void numbers_of_24_bits_wrap(void **state)
{
	static const uint32_t expected[] = {0xfffffe00, 0xffffff00, 0, 0x100};

	(void)state;
	vf_order_init(&order, 256, deliver, NULL);
	come(1, 3, 7, 0xfffffe00);
	come(1, 3, 7, 0);
	come(1, 3, 7, 0x100);
	assert_int_equal(count, 1);
	come(1, 3, 7, 0xffffff00);
	assert_out(expected, 4);
}

static void what_waits_is_bounded(void **state)
{
	(void)state;
	come(1, 3, 7, 0);
	for (uint32_t i = 2; i < 2000; i++)
		come(1, 3, 7, i);
	assert_true(order.held_count <= 256);
	assert_true(count > 1);
	for (unsigned i = 2; i < count; i++)
		assert_true(out[i] == out[i - 1] + 1);
}

static void any_order_within_reach_comes_out_in_order(void **state)
{
	enum { N = 20000, REACH = 30 };
	static uint32_t in[N];
	struct vf_rand r;

	(void)state;
	vf_rand_seed(&r, 5);
	for (uint32_t i = 0; i < N; i++)
		in[i] = i;
	for (uint32_t i = 0; i + REACH < N; i += REACH)
		for (uint32_t k = 0; k < REACH; k++) {
			uint32_t a = i + k, b = i + (uint32_t)vf_rand_below(&r, REACH), t = in[a];

			in[a] = in[b];
			in[b] = t;
		}
	for (uint32_t i = 0; i < N; i++)
		come(i, 3, 7, in[i]);
	assert_int_equal(count, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(out[i], i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order_nothing_waits, begin, end),
		cmocka_unit_test_setup_teardown(early_ones_wait_for_the_missing_one, begin, end),
		cmocka_unit_test_setup_teardown(the_very_first_may_come_second, begin, end),
		cmocka_unit_test_setup_teardown(who_comes_in_late_starts_where_the_other_is, begin,
						end),
		cmocka_unit_test_setup_teardown(
			a_lost_one_is_waited_for_ten_milliseconds_and_delivered_when_later, begin,
			end),
		cmocka_unit_test_setup_teardown(
			another_process_in_the_slot_and_other_slots_are_not_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(numbers_wrap, begin, end),
		cmocka_unit_test_setup_teardown(numbers_of_24_bits_wrap, begin, end),
		cmocka_unit_test_setup_teardown(what_waits_is_bounded, begin, end),
		cmocka_unit_test_setup_teardown(any_order_within_reach_comes_out_in_order, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

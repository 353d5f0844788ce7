/* SPDX-License-Identifier: BSD-2-Clause */
/* Which identifications are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "provider/soft/ip_id.h"

static const uint8_t a[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1};
static const uint8_t b[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2};

static void a_peer_that_numbers_segments_is_held_to_small_numbers(void **state)
{
	static struct vf_ip_ids ids;

	(void)state;
	for (uint16_t i = 0; i < 64; i++)
		assert_true(vf_ip_id_is_plausible(&ids, a, b, i));
	assert_false(vf_ip_id_is_plausible(&ids, a, b, 64));
	for (uint16_t i = 0; i < 64; i++)
		assert_true(vf_ip_id_is_plausible(&ids, a, b, i));
}

static void a_peer_that_counts_is_believed_from_its_first_packet_on(void **state)
{
	static struct vf_ip_ids ids;

	(void)state;
	for (uint32_t i = 0; i < 70000; i++)
		assert_true(vf_ip_id_is_plausible(&ids, a, b, (uint16_t)(40000 + 3 * i)));
}

static void a_peer_replaced_by_one_that_counts_is_believed_from_the_second_packet_on(void **state)
{
	static struct vf_ip_ids ids;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(vf_ip_id_is_plausible(&ids, a, b, 0));
	assert_false(vf_ip_id_is_plausible(&ids, a, b, 5000));
	for (uint16_t i = 5001; i < 6000; i++)
		assert_true(vf_ip_id_is_plausible(&ids, a, b, i));
}

static void peers_do_not_answer_for_each_other(void **state)
{
	static struct vf_ip_ids ids;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(vf_ip_id_is_plausible(&ids, a, b, 0));
	assert_true(vf_ip_id_is_plausible(&ids, b, a, 9999));
	assert_false(vf_ip_id_is_plausible(&ids, a, b, 9999));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_numbers_segments_is_held_to_small_numbers),
		cmocka_unit_test(a_peer_that_counts_is_believed_from_its_first_packet_on),
		cmocka_unit_test(
			a_peer_replaced_by_one_that_counts_is_believed_from_the_second_packet_on),
		cmocka_unit_test(peers_do_not_answer_for_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

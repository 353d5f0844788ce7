/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads, stores, lists, the seeded generator, CRC-32 and the table of settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/crc32.h"
#include "base/list.h"
#include "base/rand.h"
#include "base/reason.h"
#include "base/settings.h"

static void stores_then_loads_give_the_value_back_at_any_alignment(void **state)
{
	uint8_t buf[16];

	(void)state;
	for (int at = 0; at < 8; at++) {
		vf_store_be16(buf + at, 0xa1b2);
		assert_int_equal(vf_load_be16(buf + at), 0xa1b2);
		assert_int_equal(buf[at], 0xa1);
		vf_store_be24(buf + at, 0xa1b2c3);
		assert_int_equal(vf_load_be24(buf + at), 0xa1b2c3);
		vf_store_be32(buf + at, 0xa1b2c3d4);
		assert_int_equal(vf_load_be32(buf + at), 0xa1b2c3d4);
		assert_int_equal(buf[at + 3], 0xd4);
		vf_store_be64(buf + at, 0x0102030405060708);
		assert_true(vf_load_be64(buf + at) == 0x0102030405060708);
		vf_store_le32(buf + at, 0xa1b2c3d4);
		assert_int_equal(buf[at], 0xd4);
		assert_int_equal(vf_load_le32(buf + at), 0xa1b2c3d4);
	}
}

static void crc_of_the_standard_check_string_is_right_whole_and_in_two_parts(void **state)
{
	(void)state;
	assert_int_equal(vf_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(vf_crc32(vf_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

static void a_removed_link_is_in_no_list_and_may_be_removed_again(void **state)
{
	struct vf_list head, a, b;
	int n = 0;

	(void)state;
	vf_list_init(&head);
	vf_list_add_tail(&head, &a);
	vf_list_add_tail(&head, &b);
	vf_list_del(&a);
	vf_list_del(&a);
	VF_LIST_FOR_EACH(it, &head) {
		assert_ptr_equal(it, &b);
		n++;
	}
	assert_int_equal(n, 1);
	vf_list_del(&b);
	assert_true(vf_list_is_empty(&head));
}

static void the_same_seed_gives_the_same_numbers(void **state)
{
	struct vf_rand a, b;
	int same = 0;

	(void)state;
	vf_rand_seed(&a, 7);
	vf_rand_seed(&b, 7);
	for (int i = 0; i < 100; i++)
		assert_true(vf_rand_next(&a) == vf_rand_next(&b));
	vf_rand_seed(&b, 8);
	for (int i = 0; i < 100; i++)
		same += vf_rand_below(&a, 1000) == vf_rand_below(&b, 1000);
	assert_true(same < 10);
}

static void a_setting_that_is_no_number_in_range_counts_as_its_default(void **state)
{
	(void)state;
	for (int i = 0; i < VF_SET_COUNT; i++) {
		assert_non_null(vf_setting_row(i)->name);
		assert_non_null(vf_setting_row(i)->fallback);
		assert_non_null(vf_setting_row(i)->help);
	}
	assert_null(vf_setting_row(VF_SET_COUNT));
	setenv("VERBIFROST_UDP_PORT", "4792", 1);
	assert_int_equal(vf_setting_number(VF_SET_UDP_PORT, 1, 65535), 4792);
	setenv("VERBIFROST_UDP_PORT", "70000", 1);
	assert_int_equal(vf_setting_number(VF_SET_UDP_PORT, 1, 65535), 4791);
	setenv("VERBIFROST_UDP_PORT", "12x", 1);
	assert_int_equal(vf_setting_number(VF_SET_UDP_PORT, 1, 65535), 4791);
	unsetenv("VERBIFROST_UDP_PORT");
	assert_int_equal(vf_setting_number(VF_SET_UDP_PORT, 1, 65535), 4791);
}

static char seen[512];

static void keep(enum vf_log_level level, const char *line, void *arg)
{
	(void)level;
	(void)arg;
	strncpy(seen, line, sizeof(seen) - 1);
}

static void a_refusal_is_kept_logged_and_returned_as_negative_errno(void **state)
{
	(void)state;
	vf_log_set(keep, NULL);
	vf_log_set_level(0);
	assert_int_equal(vf_refuse(22, "port_num %d is not in 1..%d", 3, 1), -22);
	assert_string_equal(vf_reason_last(), "port_num 3 is not in 1..1");
	assert_string_equal(seen, "");
	vf_log_set_level(VF_LOG_WARN);
	vf_refuse(22, "again");
	assert_string_equal(seen, "again");
	vf_reason_clear();
	assert_string_equal(vf_reason_last(), "");
	vf_log_set(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_then_loads_give_the_value_back_at_any_alignment),
		cmocka_unit_test(crc_of_the_standard_check_string_is_right_whole_and_in_two_parts),
		cmocka_unit_test(a_removed_link_is_in_no_list_and_may_be_removed_again),
		cmocka_unit_test(the_same_seed_gives_the_same_numbers),
		cmocka_unit_test(a_setting_that_is_no_number_in_range_counts_as_its_default),
		cmocka_unit_test(a_refusal_is_kept_logged_and_returned_as_negative_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

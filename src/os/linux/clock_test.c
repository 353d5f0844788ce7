/* SPDX-License-Identifier: BSD-2-Clause */
/* Clock, randomness, wake-ups, description. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "os/os.h"

static void the_clock_never_goes_back_and_the_wall_clock_is_past_2020(void **state)
{
	vf_nsec last = vf_os_now();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		vf_nsec now = vf_os_now();

		assert_true(now >= last);
		last = now;
	}
	assert_true(vf_os_wall_clock() > UINT64_C(1577836800) * VF_SEC);
}

static void random_bytes_differ_and_fill_the_whole_buffer(void **state)
{
	uint8_t a[64], b[64];
	uint8_t seen[64] = {0};

	(void)state;
	for (int round = 0; round < 8; round++) {
		memset(a, 0, sizeof(a));
		vf_os_random(a, sizeof(a));
		vf_os_random(b, sizeof(b));
		assert_memory_not_equal(a, b, sizeof(a));
		for (size_t i = 0; i < sizeof(a); i++)
			seen[i] |= a[i];
	}
	for (size_t i = 0; i < sizeof(seen); i++)
		assert_int_not_equal(seen[i], 0);
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void a_wake_up_is_readable_from_set_to_clear_however_often_it_is_set(void **state)
{
	struct vf_os_wake w;

	(void)state;
	assert_int_equal(vf_os_wake_open(&w), 0);
	assert_false(is_readable(w.read_fd));
	vf_os_wake_clear(&w);
	for (int i = 0; i < 1000; i++)
		vf_os_wake_set(&w);
	assert_true(is_readable(w.read_fd));
	vf_os_wake_clear(&w);
	assert_false(is_readable(w.read_fd));
	vf_os_wake_close(&w);
	vf_os_wake_close(&w);
}

static void a_sleep_ends_at_its_time_or_at_once_when_something_is_readable(void **state)
{
	struct vf_os_wake w;
	struct pollfd p = {.events = POLLIN};
	vf_nsec start = vf_os_now();

	(void)state;
	assert_int_equal(vf_os_wake_open(&w), 0);
	p.fd = w.read_fd;
	assert_int_equal(vf_os_poll(&p, 1, 300 * VF_USEC), 0);
	assert_true(vf_os_now() - start >= 300 * VF_USEC);
	vf_os_wake_set(&w);
	assert_int_equal(vf_os_poll(&p, 1, VF_NSEC_NEVER), 1);
	vf_os_wake_close(&w);
}

static void the_system_is_described_within_the_room_given(void **state)
{
	char text[128], small[4] = "xyz";

	(void)state;
	vf_os_describe(text, sizeof(text));
	assert_non_null(strstr(text, "Linux"));
	vf_os_describe(small, sizeof(small));
	assert_int_equal(strlen(small), 3);
	assert_true(vf_os_rcvbuf_max() == 0 || vf_os_rcvbuf_max() >= 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_never_goes_back_and_the_wall_clock_is_past_2020),
		cmocka_unit_test(random_bytes_differ_and_fill_the_whole_buffer),
		cmocka_unit_test(a_wake_up_is_readable_from_set_to_clear_however_often_it_is_set),
		cmocka_unit_test(a_sleep_ends_at_its_time_or_at_once_when_something_is_readable),
		cmocka_unit_test(the_system_is_described_within_the_room_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

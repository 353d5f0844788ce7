/* SPDX-License-Identifier: BSD-2-Clause */
/* The pipe that wakes. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "os/os.h"

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void setting_never_blocks_and_clearing_forgets_all_of_it(void **state)
{
	struct vf_os_wake w;

	(void)state;
	assert_int_equal(vf_os_wake_open(&w), 0);
	assert_int_not_equal(w.read_fd, w.write_fd);
	assert_false(is_readable(w.read_fd));
	vf_os_wake_clear(&w);
	for (int i = 0; i < 200000; i++) /* more than a pipe takes */
		vf_os_wake_set(&w);
	assert_true(is_readable(w.read_fd));
	vf_os_wake_clear(&w);
	assert_false(is_readable(w.read_fd));
	vf_os_wake_set(&w);
	assert_true(is_readable(w.read_fd));
	vf_os_wake_close(&w);
	vf_os_wake_close(&w);
	assert_int_equal(w.read_fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setting_never_blocks_and_clearing_forgets_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Sleeping finer than a millisecond. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/os.h"

static vf_nsec now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (vf_nsec)t.tv_sec * VF_SEC + (vf_nsec)t.tv_nsec;
}

static void a_sleep_lasts_at_least_its_time(void **state)
{
	static const vf_nsec spans[] = {0, 200 * VF_USEC, 3 * VF_MSEC, 101 * VF_MSEC};
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	for (size_t i = 0; i < VF_ARRAY_SIZE(spans); i++) {
		struct pollfd p = {.fd = fd[0], .events = POLLIN};
		vf_nsec start = now();

		assert_int_equal(vf_os_poll(&p, 1, spans[i]), 0);
		assert_true(now() - start >= spans[i]);
	}
	close(fd[0]);
	close(fd[1]);
}

static void what_is_ready_is_told_at_once_by_any_way_of_sleeping(void **state)
{
	static const vf_nsec spans[] = {0, 50 * VF_MSEC, 60 * VF_SEC, VF_NSEC_NEVER};
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], "x", 1), 1);
	for (size_t i = 0; i < VF_ARRAY_SIZE(spans); i++) {
		struct pollfd p[3] = {{.fd = -1, .events = POLLIN},
				      {.fd = fd[0], .events = POLLIN},
				      {.fd = fd[1], .events = POLLOUT}};

		assert_int_equal(vf_os_poll(p, 3, spans[i]), 2);
		assert_int_equal(p[0].revents, 0);
		assert_int_equal(p[1].revents, POLLIN);
		assert_int_equal(p[2].revents, POLLOUT);
	}
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleep_lasts_at_least_its_time),
		cmocka_unit_test(what_is_ready_is_told_at_once_by_any_way_of_sleeping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

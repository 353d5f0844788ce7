/* SPDX-License-Identifier: BSD-2-Clause */
/* Process slots: exclusive, watched, and gone with their process. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/os.h"

struct holder {
	pid_t pid;
	int tell; /* a byte lets the child go on */
	unsigned slot;
};

static void hold(int in, int out, unsigned hint)
{
	struct vf_os_slot *s;
	unsigned n = VF_OS_SLOTS;
	char c;

	if (vf_os_slot_claim(hint, &s) == 0)
		n = vf_os_slot_number(s);
	if (write(out, &n, sizeof(n)) != sizeof(n) || read(in, &c, 1) < 0)
		_exit(2);
	_exit(0);
}

static void start(struct holder *h, unsigned hint)
{
	int down[2], up[2];

	assert_int_equal(pipe(down), 0);
	assert_int_equal(pipe(up), 0);
	h->pid = fork();
	if (h->pid == 0) {
		close(down[1]);
		hold(down[0], up[1], hint);
	}
	close(down[0]);
	close(up[1]);
	assert_int_equal(read(up[0], &h->slot, sizeof(h->slot)), sizeof(h->slot));
	close(up[0]);
	h->tell = down[1];
	assert_true(h->slot < VF_OS_SLOTS);
}

static void end(struct holder *h, int sig)
{
	int status;

	if (sig)
		kill(h->pid, sig);
	else
		assert_int_equal(write(h->tell, "", 1), 1);
	close(h->tell);
	assert_int_equal(waitpid(h->pid, &status, 0), h->pid);
}

static bool hangs_up(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1;
}

static void a_slot_is_held_by_one_process_and_free_after_it_was_killed(void **state)
{
	struct holder h;
	struct vf_os_slot *s;
	int watch;

	(void)state;
	start(&h, 100);
	assert_true(vf_os_slot_is_held(h.slot));
	assert_int_equal(vf_os_slot_claim(h.slot, &s), 0);
	assert_int_not_equal(vf_os_slot_number(s), h.slot);
	vf_os_slot_release(s);
	assert_int_equal(vf_os_slot_watch(h.slot, &watch), 0);
	assert_false(hangs_up(watch, 0));
	end(&h, SIGKILL);
	assert_true(hangs_up(watch, 5000));
	assert_false(vf_os_slot_is_left(watch));
	close(watch);
	assert_false(vf_os_slot_is_held(h.slot));
	assert_int_equal(vf_os_slot_watch(h.slot, &watch), -ENOENT);
}

static void a_stopped_holder_keeps_its_slot_and_blocks_nobody(void **state)
{
	struct holder h;
	int watch[50];

	(void)state;
	start(&h, 100);
	kill(h.pid, SIGSTOP);
	for (size_t i = 0; i < VF_ARRAY_SIZE(watch); i++)
		assert_int_equal(vf_os_slot_watch(h.slot, &watch[i]), 0);
	assert_true(vf_os_slot_is_held(h.slot));
	assert_false(hangs_up(watch[0], 0));
	kill(h.pid, SIGCONT);
	end(&h, 0);
	for (size_t i = 0; i < VF_ARRAY_SIZE(watch); i++) {
		assert_true(hangs_up(watch[i], 5000));
		close(watch[i]);
	}
}

static void an_accepted_watcher_is_told_too_and_dead_watchers_are_forgotten(void **state)
{
	struct vf_os_slot *s;
	int watch, other;

	(void)state;
	assert_int_equal(vf_os_slot_claim(7, &s), 0);
	assert_int_equal(vf_os_slot_watch(vf_os_slot_number(s), &watch), 0);
	assert_true(hangs_up(vf_os_slot_fd(s), 0));
	vf_os_slot_serve(s);
	assert_false(hangs_up(vf_os_slot_fd(s), 0));
	for (int i = 0; i < 5000;
	     i++) { /* more than a queue takes, and than may be watched at once */
		assert_int_equal(vf_os_slot_watch(vf_os_slot_number(s), &other), 0);
		close(other);
		vf_os_slot_serve(s);
	}
	assert_false(hangs_up(watch, 0));
	vf_os_slot_release(s);
	assert_true(hangs_up(watch, 0));
	assert_true(vf_os_slot_is_left(watch));
	close(watch);
}

static void a_watcher_that_was_never_accepted_is_told_that_the_holder_left(void **state)
{
	struct vf_os_slot *s;
	int watch;

	(void)state;
	assert_int_equal(vf_os_slot_claim(8, &s), 0);
	assert_int_equal(vf_os_slot_watch(vf_os_slot_number(s), &watch), 0);
	vf_os_slot_release(s);
	assert_true(hangs_up(watch, 0));
	assert_true(vf_os_slot_is_left(watch));
	close(watch);
}

static void a_child_that_disowns_leaves_the_slot_to_the_parent(void **state)
{
	struct vf_os_slot *s;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(vf_os_slot_claim(9, &s), 0);
	pid = fork();
	if (pid == 0) {
		vf_os_slot_disown(s);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(vf_os_slot_is_held(vf_os_slot_number(s)));
	vf_os_slot_release(s);
}

static void sixteen_processes_that_start_at_once_get_sixteen_slots(void **state)
{
	struct holder h[16];
	bool seen[VF_OS_SLOTS] = {false};

	(void)state;
	for (size_t i = 0; i < VF_ARRAY_SIZE(h); i++)
		start(&h[i], 3);
	for (size_t i = 0; i < VF_ARRAY_SIZE(h); i++) {
		assert_false(seen[h[i].slot]);
		seen[h[i].slot] = true;
		end(&h[i], 0);
	}
}

static void every_slot_has_a_private_address_of_its_own(void **state)
{
	uint8_t a[16], b[16];
	uint16_t port;

	(void)state;
	assert_int_equal(vf_os_slot_address(0, a, &port), 0);
	assert_int_equal(vf_os_slot_address(255, b, &port), 0);
	assert_memory_not_equal(a, b, 16);
	assert_int_equal(vf_os_slot_address(256, b, &port), -EINVAL);
	assert_true(vf_os_is_local(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slot_is_held_by_one_process_and_free_after_it_was_killed),
		cmocka_unit_test(a_stopped_holder_keeps_its_slot_and_blocks_nobody),
		cmocka_unit_test(an_accepted_watcher_is_told_too_and_dead_watchers_are_forgotten),
		cmocka_unit_test(a_watcher_that_was_never_accepted_is_told_that_the_holder_left),
		cmocka_unit_test(a_child_that_disowns_leaves_the_slot_to_the_parent),
		cmocka_unit_test(sixteen_processes_that_start_at_once_get_sixteen_slots),
		cmocka_unit_test(every_slot_has_a_private_address_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

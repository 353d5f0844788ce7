/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that goes away in every way we know of, and faults that are the program's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32.h"
#include "memory/guard.h"

static size_t page;

static uint8_t *map_pages(size_t n)
{
	void *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

/* The test framework puts its own handlers in place before each test: ours goes in front again. */
static void begin(void **state)
{
	(void)state;
	assert_int_equal(vf_guard_install(), 0);
}

static void everything_says_fault(uint8_t *p, size_t len)
{
	uint8_t own[256] = {0};
	uint32_t crc = 7;
	uint64_t old;

	assert_int_equal(vf_guard_crc32(&crc, p, len), -EFAULT);
	assert_int_equal(crc, 7);
	assert_int_equal(vf_guard_copy(own, p, len), -EFAULT);
	assert_int_equal(vf_guard_copy(p, own, len), -EFAULT);
	assert_int_equal(vf_guard_copy_crc32(&crc, own, p, len), -EFAULT);
	assert_int_equal(crc, 7);
	assert_int_equal(vf_guard_atomic64(p, false, 1, 0, &old), -EFAULT);
	assert_int_equal(vf_guard_atomic64(p, true, 1, 0, &old), -EFAULT);
	assert_int_equal(vf_guard_probe(p, false), -EFAULT);
	assert_int_equal(vf_guard_probe(p, true), -EFAULT);
}

static void unmapped_memory_is_a_fault_and_nothing_more(void **state)
{
	uint8_t *p = map_pages(1);

	begin(state);
	munmap(p, page);
	everything_says_fault(p, 64);
}

static void protected_memory_is_a_fault_until_it_is_given_back(void **state)
{
	uint8_t *p = map_pages(1), own[8] = {1};

	begin(state);
	mprotect(p, page, PROT_NONE);
	everything_says_fault(p, 64);
	mprotect(p, page, PROT_READ);
	assert_int_equal(vf_guard_copy(own, p, sizeof(own)), 0);
	assert_int_equal(vf_guard_copy(p, own, sizeof(own)), -EFAULT);
	assert_int_equal(vf_guard_probe(p, false), 0);
	assert_int_equal(vf_guard_probe(p, true), -EFAULT);
	mprotect(p, page, PROT_READ | PROT_WRITE);
	assert_int_equal(vf_guard_copy(p, own, sizeof(own)), 0);
	munmap(p, page);
}

static void a_truncated_file_is_a_fault(void **state)
{
	char name[] = "/tmp/vf-guard-XXXXXX";
	int fd = mkstemp(name);
	uint8_t *p;

	begin(state);
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	assert_int_equal(vf_guard_probe(p, true), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	everything_says_fault(p, 64);
	munmap(p, page);
	close(fd);
}

static void a_range_that_ends_in_a_hole_is_a_fault_and_up_to_it_is_not(void **state)
{
	uint8_t *p = map_pages(2), own[256];

	begin(state);
	munmap(p + page, page);
	assert_int_equal(vf_guard_copy(own, p + page - 100, 100), 0);
	assert_int_equal(vf_guard_copy(own, p + page - 100, 101), -EFAULT);
	munmap(p, page);
}

static void whole_memory_is_copied_summed_and_changed(void **state)
{
	static uint8_t from[10000], to[10000];
	uint32_t crc = 0, copied = 0;
	_Alignas(8) uint64_t word = 5;
	uint64_t old;

	begin(state);
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7);
	assert_int_equal(vf_guard_crc32(&crc, from, sizeof(from)), 0);
	assert_int_equal(crc, vf_crc32(0, from, sizeof(from)));
	assert_int_equal(vf_guard_copy_crc32(&copied, to, from, sizeof(from)), 0);
	assert_int_equal(copied, crc);
	assert_memory_equal(from, to, sizeof(to));
	assert_int_equal(vf_guard_atomic64(&word, false, 3, 0, &old), 0);
	assert_true(old == 5 && word == 8);
	assert_int_equal(vf_guard_atomic64(&word, true, 5, 1, &old), 0);
	assert_true(old == 8 && word == 8);
	assert_int_equal(vf_guard_atomic64(&word, true, 8, 1, &old), 0);
	assert_true(old == 8 && word == 1);
	assert_int_equal(vf_guard_atomic64((uint8_t *)&word + 1, false, 1, 0, &old), -EINVAL);
}

/* How a child that runs @crash ends: its signal, or minus its exit code. */
static int end_of_child(void (*crash)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = {0, 0};

		setrlimit(RLIMIT_CORE, &none);
		crash();
		_exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void exit_with_signal_number(int sig) { _exit(sig == SIGSEGV ? 42 : 43); }

static void write_to_nothing(void)
{
	uint8_t *p = map_pages(1);

	munmap(p, page);
	*(volatile uint8_t *)p = 1;
}

static void crash_with_default_handler(void)
{
	signal(SIGSEGV, SIG_DFL);
	vf_guard_install();
	write_to_nothing();
}

static void crash_with_own_handler_before_ours(void)
{
	vf_guard_remove();
	signal(SIGSEGV, exit_with_signal_number);
	vf_guard_install();
	write_to_nothing();
}

static void crash_by_kill(void)
{
	signal(SIGSEGV, SIG_DFL);
	vf_guard_install();
	raise(SIGSEGV);
}

static struct sigaction behind;

static void hands_on(int sig, siginfo_t *info, void *context)
{
	behind.sa_sigaction(sig, info, context);
	_exit(44);
}

static void crash_with_a_handler_that_hands_on_to_ours(void)
{
	struct sigaction a;

	signal(SIGSEGV, SIG_DFL);
	vf_guard_install();
	memset(&a, 0, sizeof(a));
	a.sa_sigaction = hands_on;
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &a, &behind);
	vf_guard_install();
	write_to_nothing();
}

static void crash_outside_a_guard_after_a_guarded_fault(void)
{
	uint8_t *p = map_pages(1);

	signal(SIGSEGV, SIG_DFL);
	vf_guard_install();
	munmap(p, page);
	vf_guard_probe(p, true);
	*(volatile uint8_t *)p = 1;
}

static void the_programs_own_crashes_end_it_as_they_always_did(void **state)
{
	begin(state);
	assert_int_equal(end_of_child(crash_with_default_handler), SIGSEGV);
	assert_int_equal(end_of_child(crash_by_kill), SIGSEGV);
	assert_int_equal(end_of_child(crash_with_own_handler_before_ours), -42);
	assert_int_equal(end_of_child(crash_outside_a_guard_after_a_guarded_fault), SIGSEGV);
}

static void a_handler_that_hands_on_does_not_get_the_fault_back_for_ever(void **state)
{
	int end = end_of_child(crash_with_a_handler_that_hands_on_to_ours);

	begin(state);
	assert_true(end == SIGSEGV || end == -44);
}

static sigjmp_buf own_way_out;

static void jumps_out(int sig)
{
	(void)sig;
	siglongjmp(own_way_out, 1);
}

static void a_program_may_jump_out_of_its_handler_again_and_again(void **state)
{
	uint8_t *p = map_pages(1);
	volatile int caught = 0;

	begin(state);
	munmap(p, page);
	signal(SIGSEGV, jumps_out);
	assert_int_equal(vf_guard_install(), 0);
	while (caught < 3) {
		if (sigsetjmp(own_way_out, 1) == 0)
			*(volatile uint8_t *)p = 1;
		caught++;
		assert_int_equal(vf_guard_probe(p, false), -EFAULT);
	}
	assert_int_equal(caught, 3);
	signal(SIGSEGV, SIG_DFL);
	assert_int_equal(vf_guard_install(), 0);
}

static atomic_bool is_over;
static uint8_t *shared_page;

static void *flip_protection(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2000; i++) {
		mprotect(shared_page, page, i % 2 ? PROT_READ | PROT_WRITE : PROT_NONE);
	}
	atomic_store(&is_over, true);
	return NULL;
}

static void *copy_until_over(void *arg)
{
	uint8_t own[4096];

	(void)arg;
	while (!atomic_load(&is_over)) {
		uint32_t crc = 0;
		int err = vf_guard_copy_crc32(&crc, own, shared_page, sizeof(own));

		if (err && err != -EFAULT)
			return &is_over;
	}
	return NULL;
}

static void two_threads_copy_while_a_third_takes_the_memory_away_and_back(void **state)
{
	pthread_t t[3];
	void *wrong[3];

	begin(state);
	shared_page = map_pages(1);
	assert_int_equal(pthread_create(&t[0], NULL, copy_until_over, NULL), 0);
	assert_int_equal(pthread_create(&t[1], NULL, copy_until_over, NULL), 0);
	assert_int_equal(pthread_create(&t[2], NULL, flip_protection, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], &wrong[i]);
	assert_null(wrong[0]);
	assert_null(wrong[1]);
	munmap(shared_page, page);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unmapped_memory_is_a_fault_and_nothing_more),
		cmocka_unit_test(protected_memory_is_a_fault_until_it_is_given_back),
		cmocka_unit_test(a_truncated_file_is_a_fault),
		cmocka_unit_test(a_range_that_ends_in_a_hole_is_a_fault_and_up_to_it_is_not),
		cmocka_unit_test(whole_memory_is_copied_summed_and_changed),
		cmocka_unit_test(the_programs_own_crashes_end_it_as_they_always_did),
		cmocka_unit_test(a_handler_that_hands_on_does_not_get_the_fault_back_for_ever),
		cmocka_unit_test(a_program_may_jump_out_of_its_handler_again_and_again),
		cmocka_unit_test(two_threads_copy_while_a_third_takes_the_memory_away_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

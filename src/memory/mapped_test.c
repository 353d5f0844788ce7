/* SPDX-License-Identifier: BSD-2-Clause */
/* Which memory counts as there, with which rights; what is no dma-buf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/mapped.h"

static size_t page;

static uint8_t *map_pages(size_t n, int prot)
{
	void *p = mmap(NULL, n * page, prot, MAP_PRIVATE | MAP_ANON, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static void ordinary_memory_is_there(void **state)
{
	static char data[3];
	static const char constant[] = "constant";
	char stack[100];
	char *heap = malloc(1 << 20);

	(void)state;
	assert_int_equal(vf_memory_check(data, sizeof(data), true), 0);
	assert_int_equal(vf_memory_check(stack, sizeof(stack), true), 0);
	assert_int_equal(vf_memory_check(heap, 1 << 20, true), 0);
	assert_int_equal(vf_memory_check(constant, sizeof(constant), false), 0);
	assert_int_equal(vf_memory_check(constant, sizeof(constant), true), -EFAULT);
	free(heap);
}

static void holes_and_guard_pages_are_not(void **state)
{
	uint8_t *p = map_pages(4, PROT_READ | PROT_WRITE);

	(void)state;
	assert_int_equal(vf_memory_check(p, 4 * page, true), 0);
	mprotect(p + 2 * page, page, PROT_NONE);
	assert_int_equal(vf_memory_check(p, 4 * page, false), -EFAULT);
	assert_int_equal(vf_memory_check(p, 2 * page, true), 0);
	assert_int_equal(vf_memory_check(p, 2 * page + 1, true), -EFAULT);
	mprotect(p + 2 * page, page, PROT_READ);
	assert_int_equal(vf_memory_check(p, 4 * page, false), 0);
	assert_int_equal(vf_memory_check(p, 4 * page, true), -EFAULT);
	munmap(p + page, page);
	assert_int_equal(vf_memory_check(p, 4 * page, false), -EFAULT);
	assert_int_equal(vf_memory_check(p + page, 1, false), -EFAULT);
	munmap(p, page);
	munmap(p + 2 * page, 2 * page);
	assert_int_equal(vf_memory_check(NULL, 1, false), -EFAULT);
}

static void asking_touches_nothing(void **state)
{
	size_t pages = (size_t)1 << 20;
	uint8_t *p = map_pages(pages, PROT_READ | PROT_WRITE);
	unsigned char is_resident[1];

	(void)state;
	assert_int_equal(vf_memory_check(p, pages * page, true), 0);
	for (size_t i = 0; i < pages; i += pages / 64) {
		assert_int_equal(mincore(p + i * page, page, (void *)is_resident), 0);
		assert_int_equal(is_resident[0] & 1, 0);
	}
	munmap(p, pages * page);
}

static void other_files_are_no_dma_bufs(void **state)
{
	char name[] = "/tmp/vf-mapped-XXXXXX";
	struct vf_memory_map m = {.fd = -1, .length = 4096};
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(vf_memory_map_dmabuf(&m, true), -EBADF);
	m.fd = fd;
	assert_true(vf_memory_map_dmabuf(&m, true) == -EINVAL ||
		    vf_memory_map_dmabuf(&m, true) == -EOPNOTSUPP);
	close(fd);
	assert_int_equal(vf_memory_map_dmabuf(&m, true), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_memory_is_there),
		cmocka_unit_test(holes_and_guard_pages_are_not),
		cmocka_unit_test(asking_touches_nothing),
		cmocka_unit_test(other_files_are_no_dma_bufs),
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One instance of the library in a process, by whichever names it was loaded (docs/decisions/0001).
 * This program is linked to libibverbs.so.1 and librdmacm.so.1 and opens the other names; every
 * function has to be the same one. LD_LIBRARY_PATH leads to the names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <link.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"libibverbs.so.1", "libibverbs.so", "librdmacm.so.1",
				    "librdmacm.so",    "librdma.dylib", "libverbifrost.so.0"};

#define COUNT (sizeof(names) / sizeof(names[0]))

static void *handles[COUNT];

static void every_name_opens_the_same_library(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		handles[i] = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (!handles[i])
			fail_msg("%s", dlerror());
		assert_ptr_equal(handles[i], handles[0]);
	}
}

/* The address that a program's own call goes to: a pointer to the function may point into the
 * program. */
static void *bound(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);

	assert_non_null(p);
	return p;
}

static void functions_are_the_same_by_every_name_and_node(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		assert_ptr_equal(dlsym(handles[i], "ibv_wc_status_str"),
				 bound("ibv_wc_status_str"));
		assert_ptr_equal(dlvsym(handles[i], "ibv_wc_status_str", "IBVERBS_1.1"),
				 bound("ibv_wc_status_str"));
		assert_ptr_equal(dlsym(handles[i], "rdma_event_str"), bound("rdma_event_str"));
		assert_ptr_equal(dlvsym(handles[i], "rdma_event_str", "RDMACM_1.0"),
				 bound("rdma_event_str"));
		assert_non_null(dlvsym(handles[i], "verbifrost_version", "VERBIFROST_1"));
		assert_null(dlvsym(handles[i], "ibv_wc_status_str", "RDMACM_1.0"));
	}
}

static int count_one(struct dl_phdr_info *info, size_t size, void *count)
{
	static const char *const parts[] = {"libibverbs", "librdmacm", "librdma.", "libverbifrost"};

	(void)size;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (info->dlpi_name && strstr(info->dlpi_name, parts[i])) {
			++*(int *)count;
			return 0;
		}
	}
	return 0;
}

static void the_process_has_one_mapping_of_it(void **state)
{
	int count = 0;

	(void)state;
	dl_iterate_phdr(count_one, &count);
	assert_int_equal(count, 1);
}

static void calls_of_a_program_linked_to_debian_names_arrive(void **state)
{
	(void)state;
	assert_string_not_equal(ibv_wc_status_str(IBV_WC_SUCCESS), "stub");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ESTABLISHED), "RDMA_CM_EVENT_ESTABLISHED");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_opens_the_same_library),
		cmocka_unit_test(functions_are_the_same_by_every_name_and_node),
		cmocka_unit_test(the_process_has_one_mapping_of_it),
		cmocka_unit_test(calls_of_a_program_linked_to_debian_names_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

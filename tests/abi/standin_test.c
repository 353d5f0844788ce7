/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libraries that stand in for those of ConnectX, EFA and HNS cards: every function of their
 * lists is there by name and node, and refuses in its own convention. A zero from one of them would
 * make programs go on with memory that nobody filled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct row {
	const char *name, *node, *kind;
};

static const struct row mlx5[] = {
#include "standin-mlx5.inc"
};
static const struct row efa[] = {
#include "standin-efa.inc"
};
static const struct row hns[] = {
#include "standin-hns.inc"
};

static const char *folder;

/* The address that dlvsym found, as a function of the kind in question. */
union function {
	void *address;
	int (*number)(void);
	long (*wide)(void);
	void *(*pointer)(void);
	bool (*truth)(void);
	void (*nothing)(void);
};

static bool refuses(const char *kind, union function f)
{
	errno = 0;
	if (strcmp(kind, "errno") == 0)
		return f.number() == EOPNOTSUPP;
	if (strcmp(kind, "minus1") == 0)
		return f.wide() == -1 && errno == EOPNOTSUPP;
	if (strcmp(kind, "pointer") == 0)
		return f.pointer() == NULL && errno == EOPNOTSUPP;
	if (strcmp(kind, "bool") == 0)
		return !f.truth();
	f.nothing();
	return strcmp(kind, "void") == 0;
}

static void check(const char *library, const struct row *rows, size_t count)
{
	char path[4096];
	void *handle;
	unsigned wrong = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, library);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fail_msg("%s", dlerror());
	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		union function f = {.address = dlvsym(handle, rows[i].name, rows[i].node)};

		if (f.address && refuses(rows[i].kind, f))
			continue;
		print_message("%s@%s does not refuse as %s\n", rows[i].name, rows[i].node,
			      rows[i].kind);
		wrong++;
	}
	dlclose(handle);
	assert_int_equal(wrong, 0);
}

static void every_function_for_connectx_refuses(void **state)
{
	(void)state;
	check("libmlx5.so.1", mlx5, sizeof(mlx5) / sizeof(mlx5[0]));
}

static void every_function_for_efa_refuses(void **state)
{
	(void)state;
	check("libefa.so.1", efa, sizeof(efa) / sizeof(efa[0]));
}

static void every_function_for_hns_refuses(void **state)
{
	(void)state;
	check("libhns.so.1", hns, sizeof(hns) / sizeof(hns[0]));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_function_for_connectx_refuses),
		cmocka_unit_test(every_function_for_efa_refuses),
		cmocka_unit_test(every_function_for_hns_refuses),
	};

	folder = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}

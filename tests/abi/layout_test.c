/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The headers against tables of what programs were compiled with: every struct and constant of
 * rdma-core 65, and that programs compiled with 44 find everything where they look for it. The
 * tables are of x86-64 Linux, so is this test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <infiniband/opcode.h>
#include <infiniband/sa.h>
#include <infiniband/tm_types.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <string.h>

struct row {
	const char *name;
	long offset, size;	     /* of these headers */
	long offset_want, size_want; /* of the table; offset -1: the struct itself */
};

#define WHOLE(type, bytes) {#type, -1, (long)sizeof(struct type), -1, bytes},
#define ROW(type, member, at, bytes)                                                               \
	{#type "." #member, (long)offsetof(struct type, member),                                   \
	 (long)sizeof(((struct type *)NULL)->member), at, bytes},

static const struct row rows_65[] = {
#include "layout-65.inc"
};

static const struct row rows_44[] = {
#include "layout-44.inc"
};

#define CONSTANT(name, value) {#name, (long long)(name), value},

static const struct {
	const char *name;
	long long value, value_want;
} constants[] = {
#include "constants.inc"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void every_struct_is_laid_out_as_in_release_65(void **state)
{
	unsigned wrong = 0;

	(void)state;
	assert_true(COUNT(rows_65) > 900);
	for (size_t i = 0; i < COUNT(rows_65); i++) {
		const struct row *r = &rows_65[i];

		if (r->offset == r->offset_want && r->size == r->size_want)
			continue;
		print_message("%s: at %ld, %ld bytes; should be at %ld, %ld bytes\n", r->name,
			      r->offset, r->size, r->offset_want, r->size_want);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/*
 * Structs may have grown at the end. verbs_context grows at the front: what counts there is the
 * distance from its end. A struct that lies at the end of another one, or is the only member that a
 * caller passes by pointer, may be larger.
 */
static int is_found(const struct row *r)
{
	long from_end = 0;

	if (strncmp(r->name, "verbs_context", strlen("verbs_context")) == 0)
		from_end = (long)sizeof(struct verbs_context) - 648;
	if (r->offset < 0)
		return r->size >= r->size_want;
	return r->offset - from_end == r->offset_want && r->size == r->size_want;
}

static void programs_of_release_44_find_everything_where_it_was(void **state)
{
	unsigned wrong = 0;

	(void)state;
	assert_true(COUNT(rows_44) > 900);
	for (size_t i = 0; i < COUNT(rows_44); i++) {
		if (is_found(&rows_44[i]))
			continue;
		print_message("%s: at %ld; release 44 looks at %ld\n", rows_44[i].name,
			      rows_44[i].offset, rows_44[i].offset_want);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void every_constant_has_the_value_of_release_65(void **state)
{
	unsigned wrong = 0;

	(void)state;
	assert_true(COUNT(constants) > 600);
	for (size_t i = 0; i < COUNT(constants); i++) {
		if (constants[i].value == constants[i].value_want)
			continue;
		print_message("%s: %lld, should be %lld\n", constants[i].name, constants[i].value,
			      constants[i].value_want);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_struct_is_laid_out_as_in_release_65),
		cmocka_unit_test(programs_of_release_44_find_everything_where_it_was),
		cmocka_unit_test(every_constant_has_the_value_of_release_65),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

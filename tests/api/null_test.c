/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every exported call, and every operation that programs reach through the context, with NULL and 0
 * for all arguments: each answers in its own convention (conventions.txt), none crashes. The rows
 * are made from the version map.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "verbifrost/verbifrost.h"

enum answer {
	ANSWER_NULL,
	ANSWER_CODE,
	ANSWER_MINUS_ONE,
	ANSWER_NEGATIVE,
	ANSWER_VOID,
	ANSWER_TEXT,
	ANSWER_STRING,
	ANSWER_ZERO,
	ANSWER_VALUE,
	ANSWER_REREG,
	ANSWER_LIST,
};

/* By name only: each is called through the type below. On all systems we know six words in
 * registers serve any of them. */
#define TEXT_OF(x)		 #x
#define TEXT(x)			 TEXT_OF(x)
#define ROW(name, answer, value) void row_##name(void) __asm__(TEXT(__USER_LABEL_PREFIX__) #name);
#include "null_rows.inc"
#undef ROW

typedef uintptr_t (*any)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static const struct row {
	const char *name;
	void (*call)(void);
	enum answer answer;
	int value;
} rows[] = {
#define ROW(name, answer, value) {#name, row_##name, answer, value},
#include "null_rows.inc"
#undef ROW
};

static uintptr_t call(void (*f)(void))
{
	any g;

	memcpy(&g, &f, sizeof(g));
	errno = 0;
	return g(0, 0, 0, 0, 0, 0);
}

static bool is_list(uintptr_t got)
{
	struct ibv_device **list = (void *)got;
	bool is_right = list && list[0] && list[1] && !list[2];

	ibv_free_device_list(list);
	return is_right;
}

static bool is_as_agreed(const struct row *r, uintptr_t got)
{
	switch (r->answer) {
	case ANSWER_NULL:
		return got == 0 && errno == (strcmp(r->name, "ibv_import_device") ? EINVAL : errno);
	case ANSWER_CODE:
		return (int)got == EINVAL && errno == EINVAL;
	case ANSWER_MINUS_ONE:
		return (int)got == -1 && errno == EINVAL;
	case ANSWER_NEGATIVE:
		return (intptr_t)got == -EINVAL && errno == EINVAL;
	case ANSWER_VOID:
		return true;
	case ANSWER_TEXT:
		return got && *(const char *)got;
	case ANSWER_STRING:
		return got;
	case ANSWER_ZERO:
		return (int)got == 0;
	case ANSWER_VALUE:
		return (int)got == r->value;
	case ANSWER_REREG:
		return (int)got == IBV_REREG_MR_ERR_INPUT && errno == EINVAL;
	case ANSWER_LIST:
		return is_list(got);
	}
	return false;
}

static void count_line(int level, const char *line, void *arg)
{
	(void)level, (void)line;
	++*(int *)arg;
}

/* Those that refuse say so once. */
static int lines_agreed(const struct row *r)
{
	switch (r->answer) {
	case ANSWER_NULL:
	case ANSWER_CODE:
	case ANSWER_MINUS_ONE:
	case ANSWER_NEGATIVE:
	case ANSWER_REREG:
		return 1;
	default:
		return 0;
	}
}

static bool is_own(const char *name)
{
	return strncmp(name, "verbifrost_set", 14) == 0; /* sets the log back */
}

static void every_exported_call_bears_null(void **state)
{
	(void)state;
	fake_reset();
	for (size_t i = 0; i < VF_ARRAY_SIZE(rows); i++) {
		int lines = 0;
		uintptr_t got;

		verbifrost_set_log(count_line, &lines);
		verbifrost_set_log_level(2);
		got = call(rows[i].call);
		if (!is_as_agreed(&rows[i], got))
			fail_msg("%s answered %ld with errno %d", rows[i].name, (long)got, errno);
		if (!is_own(rows[i].name) && rows[i].answer != ANSWER_VOID &&
		    strcmp(rows[i].name, "ibv_get_device_guid") != 0 &&
		    strcmp(rows[i].name, "ibv_query_qp_data_in_order") != 0 &&
		    lines != lines_agreed(&rows[i]))
			fail_msg("%s said %d lines", rows[i].name, lines);
	}
	verbifrost_set_log(NULL, NULL);
	verbifrost_set_log_level(0);
}

/* The text says which argument it was. */
static void a_refused_null_is_named(void **state)
{
	(void)state;
	fake_reset();
	assert_null(ibv_alloc_pd(NULL));
	assert_string_equal(vf_reason_last(), "ibv_alloc_pd: context is NULL");
	assert_int_equal(ibv_dereg_mr(NULL), EINVAL);
	assert_string_equal(vf_reason_last(), "ibv_dereg_mr: mr is NULL");
}

enum { SLOT_BYTES = sizeof(void (*)(void)) };

/* Those in the context: pointers and codes both, so either convention with EINVAL is right. */
static void every_operation_of_a_context_bears_null(void **state)
{
	size_t count = offsetof(struct verbs_context, _ABI_placeholder3) / SLOT_BYTES;
	struct ibv_context *ctx;
	char *slots;

	(void)state;
	fake_reset();
	ctx = fake_open();
	slots = (char *)verbs_get_ctx(ctx);
	for (size_t i = 0; i < count; i++) {
		void (*f)(void);
		uintptr_t got;

		if (i * SLOT_BYTES == offsetof(struct verbs_context, priv) ||
		    i * SLOT_BYTES == offsetof(struct verbs_context, ABI_placeholder1) ||
		    i * SLOT_BYTES == offsetof(struct verbs_context, ABI_placeholder2))
			continue;
		memcpy(&f, slots + i * SLOT_BYTES, sizeof(f));
		if (!f)
			fail_msg("slot %zu of verbs_context is empty", i);
		got = call(f);
		if (errno != EINVAL)
			fail_msg("slot %zu answered %ld with errno %d", i, (long)got, errno);
		if (i * SLOT_BYTES == offsetof(struct verbs_context, free_buf))
			continue; /* returns nothing */
		if ((int)got != 0 && (int)got != EINVAL && (int)got != -1)
			fail_msg("slot %zu answered %ld", i, (long)got);
	}
	ibv_close_device(ctx);
	assert_int_equal(fake_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_exported_call_bears_null),
		cmocka_unit_test(a_refused_null_is_named),
		cmocka_unit_test(every_operation_of_a_context_bears_null),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("null", tests, NULL, NULL);
}

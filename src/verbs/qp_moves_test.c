/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of moves, against lists written from IBTA 11.2.5.2 in another form: one line a move,
 * attributes by their bits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "verbs/api.h"

const struct vf_provider_ops *const vf_providers[] = {NULL};

enum {
	R = IBV_QPS_RESET,
	I = IBV_QPS_INIT,
	T = IBV_QPS_RTR,
	S = IBV_QPS_RTS,
	D = IBV_QPS_SQD,
	Q = IBV_QPS_SQE,
	E = IBV_QPS_ERR
};

/* needs and bears as in the program's attr_mask, without IBV_QP_STATE */
struct row {
	enum ibv_qp_type type;
	int from, to;
	int needs, bears;
};

static const struct row rows[] = {
	/* port, pkey and access flags (RC, UC) or qkey (UD) */
	{IBV_QPT_RC, R, I, 0x38, 0},
	{IBV_QPT_UC, R, I, 0x38, 0},
	{IBV_QPT_UD, R, I, 0x70, 0},
	{IBV_QPT_RC, I, I, 0, 0x38},
	{IBV_QPT_UC, I, I, 0, 0x38},
	{IBV_QPT_UD, I, I, 0, 0x70},
	/* av, path_mtu, rq_psn, dest_qpn; RC: max_dest_rd_atomic, min_rnr_timer. May: access, pkey,
	   alternate path */
	{IBV_QPT_RC, I, T, 0x80 | 0x100 | 0x1000 | 0x8000 | 0x20000 | 0x100000,
	 0x8 | 0x10 | 0x4000},
	{IBV_QPT_UC, I, T, 0x80 | 0x100 | 0x1000 | 0x100000, 0x8 | 0x10 | 0x4000},
	{IBV_QPT_UD, I, T, 0, 0x10 | 0x40},
	/* sq_psn; RC: timeout, retry_cnt, rnr_retry, max_rd_atomic */
	{IBV_QPT_RC, T, S, 0x200 | 0x400 | 0x800 | 0x2000 | 0x10000,
	 0x2 | 0x8 | 0x4000 | 0x8000 | 0x40000},
	{IBV_QPT_UC, T, S, 0x10000, 0x2 | 0x8 | 0x4000 | 0x40000},
	{IBV_QPT_UD, T, S, 0x10000, 0x2 | 0x40},
	{IBV_QPT_RC, S, S, 0, 0x2 | 0x8 | 0x4000 | 0x8000 | 0x40000},
	{IBV_QPT_UC, S, S, 0, 0x2 | 0x8 | 0x4000 | 0x40000},
	{IBV_QPT_UD, S, S, 0, 0x2 | 0x40},
	{IBV_QPT_RC, S, D, 0, 0x4},
	{IBV_QPT_UC, S, D, 0, 0x4},
	{IBV_QPT_UD, S, D, 0, 0x4},
	{IBV_QPT_RC, D, S, 0, 0x2 | 0x8 | 0x4000 | 0x8000 | 0x40000},
	{IBV_QPT_UC, D, S, 0, 0x2 | 0x8 | 0x4000 | 0x40000},
	{IBV_QPT_UD, D, S, 0, 0x2 | 0x40},
	{IBV_QPT_RC, D, D, 0,
	 0x8 | 0x10 | 0x20 | 0x80 | 0x200 | 0x400 | 0x800 | 0x2000 | 0x4000 | 0x8000 | 0x20000 |
		 0x40000},
	{IBV_QPT_UC, D, D, 0, 0x8 | 0x10 | 0x80 | 0x4000 | 0x40000},
	{IBV_QPT_UD, D, D, 0, 0x10 | 0x40},
	{IBV_QPT_UC, Q, S, 0, 0x2 | 0x8},
	{IBV_QPT_UD, Q, S, 0, 0x2 | 0x40},
};

static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

static const struct row *row_of_move(enum ibv_qp_type type, int from, int to)
{
	static struct row any;

	if (to == R || to == E) {
		any = (struct row){type, from, to, 0, 0};
		return &any;
	}
	for (size_t i = 0; i < VF_ARRAY_SIZE(rows); i++)
		if (rows[i].type == type && rows[i].from == from && rows[i].to == to)
			return &rows[i];
	return NULL;
}

static int check(enum ibv_qp_type type, int from, int to, int mask)
{
	return vf_qp_move_check(type, (enum ibv_qp_state)from, (enum ibv_qp_state)to, mask);
}

static bool may(const struct row *r, int mask)
{
	return check(r->type, r->from, r->to, mask | IBV_QP_STATE) == 0;
}

static void check_row(const struct row *r)
{
	if (!may(r, r->needs) || !may(r, r->needs | r->bears))
		fail_msg("type %d from %d to %d is refused: %s", r->type, r->from, r->to,
			 vf_reason_last());
	for (int bit = 2; bit < 1 << 26; bit <<= 1) {
		bool is_needed = r->needs & bit, is_borne = r->bears & bit;

		if (is_needed && may(r, r->needs & ~bit))
			fail_msg("type %d from %d to %d goes without 0x%x", r->type, r->from, r->to,
				 bit);
		if (!is_needed && may(r, r->needs | bit) != is_borne)
			fail_msg("type %d from %d to %d: 0x%x is borne: %d", r->type, r->from,
				 r->to, bit, !is_borne);
	}
}

static void every_move_needs_and_bears_what_the_specification_lists(void **state)
{
	int legal = 0;

	(void)state;
	for (size_t t = 0; t < VF_ARRAY_SIZE(types); t++) {
		for (int move = 0; move < 49; move++) {
			const struct row *r = row_of_move(types[t], move / 7, move % 7);
			struct row none = {types[t], move / 7, move % 7, 0, 0};

			if (r) {
				check_row(r);
				legal++;
			} else if (may(&none, 0)) {
				fail_msg("type %d goes from %d to %d", types[t], move / 7,
					 move % 7);
			}
		}
	}
	assert_int_equal(legal, 3 * 14 + (int)VF_ARRAY_SIZE(rows));
}

static void a_refusal_names_the_attributes(void **state)
{
	(void)state;
	assert_int_equal(check(IBV_QPT_RC, R, T, IBV_QP_STATE), -EINVAL);
	assert_string_equal(vf_reason_last(),
			    "ibv_modify_qp: RC queue pairs do not go from RESET to RTR");
	assert_int_equal(check(IBV_QPT_UC, R, I, IBV_QP_STATE | IBV_QP_PORT), -EINVAL);
	assert_string_equal(vf_reason_last(), "ibv_modify_qp: UC from RESET to INIT: attr_mask "
					      "0x21 lacks qp_access_flags, pkey_index");
	assert_int_equal(check(IBV_QPT_UD, S, E, IBV_QP_STATE | IBV_QP_QKEY | 1 << 30), -EINVAL);
	assert_string_equal(vf_reason_last(), "ibv_modify_qp: UD from RTS to ERR: attr_mask "
					      "0x40000041 may not have qkey, 0x40000000");
	assert_int_equal(check(IBV_QPT_UD, S, 7, 1), -EINVAL);
	assert_int_equal(check(IBV_QPT_UD, S, -1, 1), -EINVAL);
}

/* Masks that programs in the field use: the pingpongs, perftest, a UC program of Apple's. */
static void masks_of_known_programs_are_taken(void **state)
{
	(void)state;
	assert_int_equal(check(IBV_QPT_UC, R, I, 0x39), 0);
	assert_int_equal(check(IBV_QPT_UC, I, T, 0x101181), 0);
	assert_int_equal(check(IBV_QPT_UC, T, S, 0x10001), 0);
	assert_int_equal(check(IBV_QPT_RC, I, T, 0x129181), 0);
	assert_int_equal(check(IBV_QPT_RC, T, S, 0x12e01), 0);
	assert_int_equal(check(IBV_QPT_UD, R, I, 0x71), 0);
	assert_int_equal(check(IBV_QPT_UD, I, T, 0x1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_move_needs_and_bears_what_the_specification_lists),
		cmocka_unit_test(a_refusal_names_the_attributes),
		cmocka_unit_test(masks_of_known_programs_are_taken),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("qp_moves", tests, NULL, NULL);
}

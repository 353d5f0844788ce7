/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for people: where lines break, where columns stand, what shapes look like. Into memory, so
 * without a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "term.h"

struct paper {
	FILE *to;
	char *text;
	size_t len;
};

static void begin(struct paper *p) { p->to = open_memstream(&p->text, &p->len); }

static void expect(struct paper *p, const char *text)
{
	fclose(p->to);
	assert_string_equal(p->text, text);
	free(p->text);
}

static void lines_break_between_words_and_begin_indented(void **state)
{
	struct paper p;

	(void)state;
	begin(&p);
	vf_term_wrap(p.to, "one two three four", 2, 11);
	expect(&p, "one two\n  three\n  four\n");
	begin(&p);
	vf_term_wrap(p.to, "averyverylongword x", 0, 5);
	expect(&p, "averyverylongword\nx\n");
}

static void columns_are_as_wide_as_their_widest_cell_whatever_its_bytes(void **state)
{
	struct paper p;
	struct vf_table t;

	(void)state;
	begin(&p);
	vf_table_begin(&t, "A|>N|B");
	vf_table_row(&t);
	vf_table_set(&t, 0, VF_PLAIN, "\xc3\xa4\xc3\xb6\xc3\xbc");
	vf_table_set(&t, 1, VF_PLAIN, "%d", 12345);
	vf_table_set(&t, 2, VF_RED, "x");
	vf_table_row(&t);
	vf_table_set(&t, 1, VF_PLAIN, "%d", 7);
	vf_table_print(&t, p.to);
	expect(&p, "A        N  B\n\xc3\xa4\xc3\xb6\xc3\xbc  12345  x\n         7\n");
}

static void a_shape_rises_where_the_values_are(void **state)
{
	static struct vf_hist h;
	char shape[32];

	(void)state;
	vf_hist_reset(&h);
	vf_term_sparkline(&h, 4, false, shape, sizeof(shape));
	assert_string_equal(shape, "");
	for (int i = 0; i < 1000; i++)
		vf_hist_record(&h, i < 900 ? 1000 : 2000);
	vf_term_sparkline(&h, 4, false, shape, sizeof(shape));
	assert_string_equal(shape, "@  .");
	vf_term_sparkline(&h, 4, true, shape, sizeof(shape));
	assert_string_equal(shape, "█  ▁");
}

static void no_colour_goes_to_what_is_no_terminal(void **state)
{
	FILE *f = tmpfile();
	char back[32] = "";

	(void)state;
	assert_non_null(f);
	assert_false(vf_term_has_colour(f));
	assert_false(vf_term_has_blocks(f));
	vf_term_paint(f, VF_RED, "red");
	rewind(f);
	assert_non_null(fgets(back, sizeof(back), f));
	assert_string_equal(back, "red");
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_break_between_words_and_begin_indented),
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell_whatever_its_bytes),
		cmocka_unit_test(a_shape_rises_where_the_values_are),
		cmocka_unit_test(no_colour_goes_to_what_is_no_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

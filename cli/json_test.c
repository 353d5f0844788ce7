/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON writer: what comes out, byte for byte. That it is JSON is checked on whole commands by
 * tests/cli. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json.h"

struct paper {
	char *text;
	size_t len;
	struct vf_json json;
};

static void begin(struct paper *p)
{
	memset(p, 0, sizeof(*p));
	vf_json_begin(&p->json, open_memstream(&p->text, &p->len));
}

static void expect(struct paper *p, const char *text)
{
	fclose(p->json.to);
	assert_string_equal(p->text, text);
	free(p->text);
}

static void objects_and_arrays_nest_with_commas_only_between_values(void **state)
{
	struct paper p;

	(void)state;
	begin(&p);
	vf_json_open(&p.json, NULL, '{');
	vf_json_u64(&p.json, "a", UINT64_MAX);
	vf_json_open(&p.json, "b", '[');
	vf_json_bool(&p.json, NULL, true);
	vf_json_open(&p.json, NULL, '{');
	vf_json_close(&p.json);
	vf_json_close(&p.json);
	vf_json_real(&p.json, "c", 1.25, 1);
	vf_json_close(&p.json);
	expect(&p, "{\n  \"a\": 18446744073709551615,\n  \"b\": [\n    true,\n    {}\n  ],\n  "
		   "\"c\": 1.2\n}\n");
}

static void quotes_backslashes_and_control_characters_are_escaped(void **state)
{
	struct paper p;

	(void)state;
	begin(&p);
	vf_json_text(&p.json, NULL, "a\"b\\c\n\x01 \xc3\xa9");
	expect(&p, "\"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9\"");
}

static void bytes_that_are_no_utf8_become_the_replacement_character(void **state)
{
	struct paper p;

	(void)state;
	begin(&p);
	vf_json_text(&p.json, NULL,
		     "\xff"
		     "a\xc3"
		     "\xed\xa0\x80"
		     "\xc0\x80"
		     "\xf0\x9f\x98\x80");
	expect(&p, "\"\\ufffda\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\xf0\x9f\x98\x80\"");
}

static void no_text_and_no_number_are_null(void **state)
{
	struct paper p;
	double zero = 0;

	(void)state;
	begin(&p);
	vf_json_open(&p.json, NULL, '[');
	vf_json_text(&p.json, NULL, NULL);
	vf_json_real(&p.json, NULL, 1 / zero, 1);
	vf_json_real(&p.json, NULL, zero / zero, 1);
	vf_json_close(&p.json);
	expect(&p, "[\n  null,\n  null,\n  null\n]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_and_arrays_nest_with_commas_only_between_values),
		cmocka_unit_test(quotes_backslashes_and_control_characters_are_escaped),
		cmocka_unit_test(bytes_that_are_no_utf8_become_the_replacement_character),
		cmocka_unit_test(no_text_and_no_number_are_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

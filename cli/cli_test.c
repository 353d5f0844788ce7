/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lines: numbers, nearest names, and options read from a table. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <verbifrost/verbifrost.h>

#include "cli.h"

const char *verbifrost_last_error(void) { return ""; }

static const struct vf_cli_option options[] = {
	{'n', "count", "N", "A number."}, {VF_CLI_LONG, "self", NULL, "A switch."}, VF_CLI_HELP};
static const struct vf_cli_command bench = {.name = "bench", .options = options},
				   devices = {.name = "devices", .options = options},
				   run = {.name = "run", .options = options, .stops_at_word = true};
const struct vf_cli_command *const vf_cli_commands[] = {&bench, &devices, &run, NULL};

static void numbers_have_units_and_limits(void **state)
{
	uint64_t n = 7;

	(void)state;
	assert_true(vf_cli_number("64", 1, 100, &n) && n == 64);
	assert_true(vf_cli_number("0x10", 1, 100, &n) && n == 16);
	assert_true(vf_cli_number("4k", 1, 1 << 20, &n) && n == 4096);
	assert_true(vf_cli_number("4K", 1, 1 << 20, &n) && n == 4096);
	assert_true(vf_cli_number("1G", 1, 1 << 30, &n) && n == 1 << 30);
	n = 7;
	assert_false(vf_cli_number("", 0, 100, &n));
	assert_false(vf_cli_number("-1", 0, UINT64_MAX, &n));
	assert_false(vf_cli_number("1x", 0, 100, &n));
	assert_false(vf_cli_number("1kk", 0, 1 << 20, &n));
	assert_false(vf_cli_number("0", 1, 100, &n));
	assert_false(vf_cli_number("101", 1, 100, &n));
	assert_false(vf_cli_number("18446744073709551615k", 0, UINT64_MAX, &n));
	assert_false(vf_cli_number("99999999999999999999", 0, UINT64_MAX, &n));
	assert_int_equal(n, 7);
}

static void decimal_numbers_are_finite_and_within_limits(void **state)
{
	double v = 7;

	(void)state;
	assert_true(vf_cli_real("0.5", 0, 1, &v) && v > 0.49 && v < 0.51);
	assert_false(vf_cli_real("nan", 0, 1, &v));
	assert_false(vf_cli_real("inf", 0, 1e300, &v));
	assert_false(vf_cli_real("2", 0, 1, &v));
	assert_false(vf_cli_real("1 ", 0, 1, &v));
	assert_false(vf_cli_real("", 0, 1, &v));
}

static void the_nearest_command_is_found_and_far_ones_are_not(void **state)
{
	(void)state;
	assert_ptr_equal(vf_cli_nearest("devcies"), &devices);
	assert_ptr_equal(vf_cli_nearest("benhc"), &bench);
	assert_ptr_equal(vf_cli_nearest("dev"), &devices);
	assert_null(vf_cli_nearest("x"));
	assert_null(vf_cli_nearest("somethingelse"));
	assert_null(vf_cli_nearest("averyveryveryveryverylongwordindeed"));
	assert_ptr_equal(vf_cli_find("run"), &run);
	assert_null(vf_cli_find("ru"));
}

static void options_come_by_either_name_and_stop_at_a_word_where_they_should(void **state)
{
	char words[5][8] = {"run", "-n", "5", "word", "--self"};
	char *argv[] = {words[0], words[1], words[2], words[3], words[4], NULL};
	const char *value;

	(void)state;
	optind = 1;
	assert_int_equal(vf_cli_next(&run, 5, argv, &value), 'n');
	assert_string_equal(value, "5");
	assert_int_equal(vf_cli_next(&run, 5, argv, &value), -1);
	assert_string_equal(argv[optind], "word");
	optind = 0; /* both libraries begin anew with that */
	assert_int_equal(vf_cli_next(&bench, 5, argv, &value), 'n');
	assert_int_equal(vf_cli_next(&bench, 5, argv, &value), VF_CLI_LONG);
	assert_int_equal(vf_cli_next(&bench, 5, argv, &value), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_units_and_limits),
		cmocka_unit_test(decimal_numbers_are_finite_and_within_limits),
		cmocka_unit_test(the_nearest_command_is_found_and_far_ones_are_not),
		cmocka_unit_test(options_come_by_either_name_and_stop_at_a_word_where_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

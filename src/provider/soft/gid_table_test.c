/* SPDX-License-Identifier: BSD-2-Clause */
/* Which address stands where, through everything that happens to an interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>

#include "provider/soft/gid_table.h"

static struct gid_table table;
static struct vf_os_if itf;
static uint8_t made[16];

static void gid_of(const char *text, uint8_t out[16])
{
	memset(out, 0, 16);
	if (strchr(text, ':')) {
		assert_int_equal(inet_pton(AF_INET6, text, out), 1);
		return;
	}
	out[10] = out[11] = 0xff;
	assert_int_equal(inet_pton(AF_INET, text, out + 12), 1);
}

static void have(const char *text)
{
	gid_of(text, itf.addr[itf.addr_count++].gid);
}

static void lose(const char *text)
{
	uint8_t gid[16];

	gid_of(text, gid);
	for (unsigned i = 0; i < itf.addr_count; i++)
		if (memcmp(itf.addr[i].gid, gid, 16) == 0)
			itf.addr[i] = itf.addr[--itf.addr_count];
}

static bool update(void) { return gid_table_update(&table, &itf, made); }

static void stands(int index, const char *text)
{
	uint8_t gid[16];
	char now[48];

	if (!text) {
		assert_false(gid_table_has(&table, index));
		return;
	}
	gid_of(text, gid);
	gid_format(table.slot[index].gid, now);
	if (!gid_table_has(&table, index) || memcmp(table.slot[index].gid, gid, 16) != 0)
		fail_msg("index %d holds %s, not %s", index, now, text);
	assert_int_equal(gid_table_find(&table, gid), index);
}

static int clear(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	memset(&itf, 0, sizeof(itf));
	gid_make_link_local(UINT64_C(0x0200c0fffe112233), made);
	return 0;
}

static void link_local_is_0_first_ipv4_is_1_the_others_follow_whatever_their_order(void **state)
{
	(void)state;
	have("2001:db8::7");
	have("192.0.2.1");
	have("192.0.2.2");
	have("fe80::7");
	assert_true(update());
	stands(0, "fe80::7");
	stands(1, "192.0.2.1");
	stands(2, "2001:db8::7");
	stands(3, "192.0.2.2");
	stands(4, NULL);
	assert_false(update());
}

static void an_interface_with_link_local_alone_has_exactly_that(void **state)
{
	(void)state;
	have("fe80::7");
	update();
	stands(0, "fe80::7");
	for (int i = 1; i < GID_TABLE_LEN; i++)
		stands(i, NULL);
	have("192.0.2.9"); /* comes later */
	assert_true(update());
	stands(1, "192.0.2.9");
}

static void an_address_that_comes_back_finds_its_place(void **state)
{
	(void)state;
	have("fe80::7");
	have("192.0.2.1");
	have("192.0.2.2");
	update();
	lose("192.0.2.1");
	assert_true(update());
	stands(1, NULL);
	stands(2, "192.0.2.2");
	have("192.0.2.3"); /* another does not take its place */
	update();
	stands(1, NULL);
	stands(3, "192.0.2.3");
	have("192.0.2.1");
	assert_true(update());
	stands(1, "192.0.2.1");
}

static void a_second_alias_never_takes_index_1(void **state)
{
	(void)state;
	have("192.0.2.1");
	update();
	have("10.0.0.1");
	update();
	stands(1, "192.0.2.1");
	stands(2, "10.0.0.1");
}

static void a_removed_link_local_address_leaves_an_empty_slot(void **state)
{
	(void)state;
	have("fe80::7");
	have("192.0.2.1");
	update();
	lose("fe80::7");
	assert_true(update());
	stands(0, NULL);
	have("fe80::7");
	update();
	stands(0, "fe80::7");
}

static void an_interface_without_ipv6_gets_a_made_one_that_stands_for_a_real_one(void **state)
{
	uint8_t gid[16], other[16];

	(void)state;
	have("192.0.2.1");
	update();
	stands(0, "fe80::200:c0ff:fe11:2233");
	gid_of("192.0.2.1", gid);
	assert_memory_equal(gid_table_real(&table, made), gid, 16);
	assert_memory_equal(gid_table_real(&table, gid), gid, 16);
	gid_of("2001:db8::1", other);
	assert_memory_equal(gid_table_real(&table, other), other, 16); /* not ours: as it is */
	have("::1"); /* of its own family: better */
	update();
	gid_of("::1", gid);
	assert_memory_equal(gid_table_real(&table, made), gid, 16);
	have("fe80::7"); /* the real one takes the made one's place */
	assert_true(update());
	stands(0, "fe80::7");
}

static void a_tentative_address_is_not_there_yet_but_its_place_is_kept(void **state)
{
	(void)state;
	have("fe80::7");
	itf.addr[0].is_tentative = true;
	have("192.0.2.1");
	update();
	stands(0, NULL);
	itf.addr[0].is_tentative = false;
	assert_true(update());
	stands(0, "fe80::7");
}

static void when_the_table_is_full_the_places_of_the_gone_are_given_away(void **state)
{
	uint8_t gid[16];
	char text[48];

	(void)state;
	for (int i = 0; i < 300; i++) {
		memset(&itf, 0, sizeof(itf));
		have("fe80::7");
		have("192.0.2.1");
		snprintf(text, sizeof(text), "10.1.%d.%d", i / 200, i % 200 + 1);
		have(text);
		update();
		gid_of(text, gid);
		assert_true(gid_table_find(&table, gid) >= 2);
	}
	stands(0, "fe80::7");
	stands(1, "192.0.2.1");
}

static void a_vanished_interface_has_no_gids_and_gets_them_back(void **state)
{
	char text[64];

	(void)state;
	have("fe80::7");
	have("192.0.2.1");
	update();
	gid_table_indexes(&table, text, sizeof(text));
	assert_string_equal(text, "0, 1");
	assert_true(gid_table_clear(&table));
	stands(0, NULL);
	stands(1, NULL);
	gid_table_indexes(&table, text, sizeof(text));
	assert_string_equal(text, "none");
	assert_true(update());
	stands(1, "192.0.2.1");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup(f, clear)
	const struct CMUnitTest tests[] = {
		CASE(link_local_is_0_first_ipv4_is_1_the_others_follow_whatever_their_order),
		CASE(an_interface_with_link_local_alone_has_exactly_that),
		CASE(an_address_that_comes_back_finds_its_place),
		CASE(a_second_alias_never_takes_index_1),
		CASE(a_removed_link_local_address_leaves_an_empty_slot),
		CASE(an_interface_without_ipv6_gets_a_made_one_that_stands_for_a_real_one),
		CASE(a_tentative_address_is_not_there_yet_but_its_place_is_kept),
		CASE(when_the_table_is_full_the_places_of_the_gone_are_given_away),
		CASE(a_vanished_interface_has_no_gids_and_gets_them_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

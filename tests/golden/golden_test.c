/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Linux's rxe sent (tests/golden/vectors): the ICRC of each packet is accepted without knowing
 * the IPv4 ID, and is what we would send with the ID known; damage is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/crc32.h"
#include "pcap.h"
#include "roce/icrc.h"

#define VECTORS 55
#define PACKETS 1442

static const char *folder;

struct tally {
	unsigned packets;
};

static struct vf_icrc_ip ip_of(const struct golden_packet *p)
{
	return (struct vf_icrc_ip){
		.sgid = p->sgid,
		.dgid = p->dgid,
		.sport = p->sport,
		.dport = p->dport,
		.udp_len = p->udp_len,
		.ip_id = p->ip_id,
		.is_dont_fragment = true,
	};
}

static void check_icrc(void *arg, struct golden_file *f)
{
	struct tally *t = arg;
	struct vf_icrc_hint hint = {0};

	for (unsigned i = 0; i < f->count; i++) {
		struct golden_packet *p = &f->packets[i];
		struct vf_icrc_ip ip = ip_of(p);
		uint32_t crc = vf_crc32(vf_icrc_start(&ip, p->data), p->data + 12, p->len - 16);

		assert_int_equal(crc, vf_load_le32(p->data + p->len - 4));
		assert_true(vf_icrc_is_valid(&ip, p->data, p->len, &hint));
		if (p->is_ipv4 && p->ip_id)
			assert_int_equal(hint.last_id, p->ip_id);
		t->packets++;
	}
}

static void every_icrc_is_accepted_and_is_what_we_would_send(void **state)
{
	struct tally t = {0};

	(void)state;
	assert_int_equal(golden_for_each(folder, check_icrc, &t), VECTORS);
	assert_int_equal(t.packets, PACKETS);
}

static void damage_one(void *arg, struct golden_file *f)
{
	struct tally *t = arg;

	for (unsigned i = 0; i < f->count; i++) {
		struct golden_packet *p = &f->packets[i];
		struct vf_icrc_ip ip = ip_of(p);

		for (uint32_t bit = i % 5; bit < p->len * 8; bit += 37) {
			if (bit / 8 == 4)
				continue; /* FECN, BECN, reserved: not covered */
			p->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(vf_icrc_is_valid(&ip, p->data, p->len, NULL));
			p->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			t->packets++;
		}
	}
}

static void a_turned_bit_is_noticed_in_every_packet(void **state)
{
	struct tally t = {0};

	(void)state;
	assert_int_equal(golden_for_each(folder, damage_one, &t), VECTORS);
	assert_true(t.packets > 100000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_icrc_is_accepted_and_is_what_we_would_send),
		cmocka_unit_test(a_turned_bit_is_noticed_in_every_packet),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: golden_test FOLDER\n");
		return 2;
	}
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

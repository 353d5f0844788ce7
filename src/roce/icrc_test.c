/* SPDX-License-Identifier: BSD-2-Clause */
/* The invariant CRC: packets that Linux's rxe sent, every IPv4 ID, every length, and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/crc32.h"
#include "base/rand.h"
#include "roce/icrc.h"

#define BTH_LEN 12

/* An atomic request that rxe sent over IPv4 (its ID is known), and one over IPv6: from the BTH to
 * the ICRC. */
#define RXE4_ID	   0x9f87
#define RXE4_SPORT 50546
static const uint8_t rxe4[] = {
	0x14, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x29, 0x80, 0x67, 0x32, 0xcc, 0x00, 0x00, 0x55,
	0x7e, 0xe7, 0x91, 0x70, 0x00, 0x00, 0x00, 0x19, 0x3b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xce, 0x1d, 0xcb, 0xf5,
};
#define RXE6_SPORT 50700
static const uint8_t rxe6[] = {
	0x14, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x2b, 0x80, 0x94, 0x3a, 0xee, 0x00, 0x00, 0x55,
	0xfe, 0x2b, 0x3e, 0xb0, 0x00, 0x00, 0x00, 0x1b, 0xcd, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x0d, 0x25, 0xb3,
};

static const uint8_t a4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 2};
static const uint8_t b4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 3};
static const uint8_t a6[16] = {0xfd, 0x77, [15] = 2};
static const uint8_t b6[16] = {0xfd, 0x77, [15] = 3};

static struct vf_icrc_ip ip_of(bool is_ipv4, uint32_t len, uint16_t sport)
{
	return (struct vf_icrc_ip){
		.sgid = is_ipv4 ? a4 : a6,
		.dgid = is_ipv4 ? b4 : b6,
		.sport = sport,
		.dport = 4791,
		.udp_len = (uint16_t)(8 + len),
		.is_dont_fragment = true,
	};
}

/* Puts the ICRC at the end of a packet of @len bytes, as a sender does. */
static void seal(const struct vf_icrc_ip *ip, uint8_t *data, uint32_t len)
{
	uint32_t crc = vf_icrc_start(ip, data);

	vf_store_le32(data + len - 4, vf_crc32(crc, data + BTH_LEN, len - BTH_LEN - 4));
}

static void icrc_of_packets_from_rxe_is_right_when_the_ip_id_is_known(void **state)
{
	struct vf_icrc_ip ip = ip_of(true, sizeof(rxe4), RXE4_SPORT);
	uint8_t copy[sizeof(rxe4)];

	(void)state;
	ip.ip_id = RXE4_ID;
	memcpy(copy, rxe4, sizeof(copy));
	vf_store_le32(copy + sizeof(copy) - 4, 0);
	seal(&ip, copy, sizeof(copy));
	assert_memory_equal(copy, rxe4, sizeof(copy));
	ip = ip_of(false, sizeof(rxe6), RXE6_SPORT);
	memcpy(copy, rxe6, sizeof(copy));
	vf_store_le32(copy + sizeof(copy) - 4, 0);
	seal(&ip, copy, sizeof(copy));
	assert_memory_equal(copy, rxe6, sizeof(copy));
}

static void packets_from_rxe_are_valid_though_the_ip_id_is_not_known(void **state)
{
	struct vf_icrc_ip ip = ip_of(true, sizeof(rxe4), RXE4_SPORT);
	struct vf_icrc_hint hint = {0};

	(void)state;
	assert_true(vf_icrc_is_valid(&ip, rxe4, sizeof(rxe4), NULL));
	assert_true(vf_icrc_is_valid(&ip, rxe4, sizeof(rxe4), &hint));
	assert_int_equal(hint.last_id, RXE4_ID);
	ip = ip_of(false, sizeof(rxe6), RXE6_SPORT);
	assert_true(vf_icrc_is_valid(&ip, rxe6, sizeof(rxe6), &hint));
}

static void every_single_bit_flip_of_a_packet_from_rxe_is_noticed(void **state)
{
	struct vf_icrc_ip ip4 = ip_of(true, sizeof(rxe4), RXE4_SPORT);
	struct vf_icrc_ip ip6 = ip_of(false, sizeof(rxe6), RXE6_SPORT);
	uint8_t copy[sizeof(rxe4)];

	(void)state;
	for (unsigned bit = 0; bit < sizeof(rxe4) * 8; bit++) {
		bool is_masked = bit / 8 == 4;

		memcpy(copy, rxe4, sizeof(copy));
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(vf_icrc_is_valid(&ip4, copy, sizeof(copy), NULL), is_masked);
		memcpy(copy, rxe6, sizeof(copy));
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(vf_icrc_is_valid(&ip6, copy, sizeof(copy), NULL), is_masked);
	}
}

static void every_ip_id_is_solved_for(void **state)
{
	struct vf_icrc_ip ip = ip_of(true, sizeof(rxe4), 0xc000);
	struct vf_icrc_hint hint = {0};
	uint8_t copy[sizeof(rxe4)];

	(void)state;
	memcpy(copy, rxe4, sizeof(copy));
	for (uint32_t id = 0; id < 0x10000; id++) {
		ip.ip_id = (uint16_t)id;
		seal(&ip, copy, sizeof(copy));
		assert_true(vf_icrc_is_valid(&ip, copy, sizeof(copy), &hint));
		if (id)
			assert_int_equal(hint.last_id, id);
	}
}

static void every_length_up_to_8000_works_with_one_hint_for_all(void **state)
{
	static uint8_t data[8000];
	struct vf_icrc_hint hint = {0};
	struct vf_rand r;

	(void)state;
	vf_rand_seed(&r, 1);
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)vf_rand_next(&r);
	for (uint32_t len = 16; len <= sizeof(data); len++) {
		struct vf_icrc_ip ip = ip_of(true, len, (uint16_t)len);

		ip.ip_id = (uint16_t)(1 + vf_rand_below(&r, 0xffff));
		seal(&ip, data, len);
		assert_true(vf_icrc_is_valid(&ip, data, len, &hint));
		assert_int_equal(hint.last_id, ip.ip_id);
		assert_true(vf_icrc_is_valid(&ip, data, len, NULL));
	}
}

static void random_damage_passes_about_once_in_65536_over_ipv4(void **state)
{
	struct vf_icrc_ip ip = ip_of(true, sizeof(rxe4), RXE4_SPORT);
	uint8_t copy[sizeof(rxe4)];
	struct vf_rand r;
	int passed = 0;

	(void)state;
	vf_rand_seed(&r, 2);
	memcpy(copy, rxe4, sizeof(copy));
	for (int i = 0; i < 655360; i++) {
		vf_store_le32(copy + 20, (uint32_t)vf_rand_next(&r));
		passed += vf_icrc_is_valid(&ip, copy, sizeof(copy), NULL);
	}
	assert_in_range(passed, 1, 40);
}

static void what_cannot_be_a_packet_by_its_length_is_invalid(void **state)
{
	static uint8_t zeros[65536];

	(void)state;
	for (uint32_t len = 0; len < sizeof(zeros); len += len < 16 ? 1 : 255) {
		struct vf_icrc_ip ip = ip_of(true, len, 1);

		if (len < 16 || len > 8192)
			assert_false(vf_icrc_is_valid(&ip, zeros, len, NULL));
	}
}

static void a_packet_without_dont_fragment_is_not_valid(void **state)
{
	struct vf_icrc_ip ip = ip_of(true, sizeof(rxe4), RXE4_SPORT);
	uint8_t copy[sizeof(rxe4)];

	(void)state;
	memcpy(copy, rxe4, sizeof(copy));
	ip.is_dont_fragment = false;
	for (uint32_t id = 0; id < 0x10000; id += 7) {
		ip.ip_id = (uint16_t)id;
		seal(&ip, copy, sizeof(copy));
		assert_false(vf_icrc_is_valid(&ip, copy, sizeof(copy), NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(icrc_of_packets_from_rxe_is_right_when_the_ip_id_is_known),
		cmocka_unit_test(packets_from_rxe_are_valid_though_the_ip_id_is_not_known),
		cmocka_unit_test(every_single_bit_flip_of_a_packet_from_rxe_is_noticed),
		cmocka_unit_test(every_ip_id_is_solved_for),
		cmocka_unit_test(every_length_up_to_8000_works_with_one_hint_for_all),
		cmocka_unit_test(random_damage_passes_about_once_in_65536_over_ipv4),
		cmocka_unit_test(what_cannot_be_a_packet_by_its_length_is_invalid),
		cmocka_unit_test(a_packet_without_dont_fragment_is_not_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

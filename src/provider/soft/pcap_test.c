/* SPDX-License-Identifier: BSD-2-Clause */
/* The capture: its bytes, its name, sharing and starting anew. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/reason.h"
#include "provider/soft/pcap.h"

static char folder[] = "/tmp/vf-pcap-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static size_t slurp(const char *name, uint8_t *out, size_t room)
{
	FILE *f = fopen(name, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(out, 1, room, f);
	fclose(f);
	return n;
}

static struct vf_os_udp_addr ipv4(void)
{
	struct vf_os_udp_addr a = {.src_port = 4791, .dst_port = 4791, .ttl = 64, .tos = 2};
	const uint8_t src[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1};
	const uint8_t dst[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2};

	memcpy(a.src, src, 16);
	memcpy(a.dst, dst, 16);
	return a;
}

/* Of a correct header, checksum field included, the words add up to all ones. */
static uint16_t sum(const uint8_t *p, size_t len, uint32_t start)
{
	for (size_t i = 0; i < len; i++)
		start += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (start > 0xffff)
		start = (start & 0xffff) + (start >> 16);
	return (uint16_t)start;
}

static void a_packet_is_written_with_right_headers_and_checksums(void **state)
{
	char name[64], text[] = "odd length";
	uint8_t b[256];
	struct vf_os_udp_addr a = ipv4();
	struct iovec iov[2] = {{.iov_base = text, .iov_len = 3},
			       {.iov_base = text + 3, .iov_len = 8}};
	struct vf_pcap *p;
	uint32_t magic, len;

	(void)state;
	snprintf(name, sizeof(name), "%s/a", folder);
	assert_int_equal(vf_pcap_open(name, &p), 0);
	vf_pcap_write(p, &a, 0x1234, iov, 2);
	assert_int_equal(slurp(name, b, sizeof(b)), 24 + 16 + 28 + 11); /* before it is closed */
	memcpy(&magic, b, 4);
	assert_int_equal(magic, 0xa1b23c4d);
	memcpy(&len, b + 24 + 8, 4);
	assert_int_equal(len, 28 + 11);
	assert_int_equal(b[40], 0x45);
	assert_int_equal(vf_load_be16(b + 42), 28 + 11);
	assert_int_equal(vf_load_be16(b + 44), 0x1234);
	assert_int_equal(sum(b + 40, 20, 0), 0xffff);
	assert_int_equal(sum(b + 60, 19, 17u + 19u + sum(b + 52, 8, 0)), 0xffff);
	assert_memory_equal(b + 68, text, 11);
	vf_pcap_close(p);
	unlink(name);
}

static void ipv6_is_written_too(void **state)
{
	char name[64], text[] = "even";
	uint8_t b[256];
	struct vf_os_udp_addr a = {
		.src = {0xfe, 0x80, [15] = 1}, .dst = {0xfe, 0x80, [15] = 2}, .tos = 0xb8};
	struct iovec iov = {.iov_base = text, .iov_len = 4};
	struct vf_pcap *p;

	(void)state;
	snprintf(name, sizeof(name), "%s/six", folder);
	assert_int_equal(vf_pcap_open(name, &p), 0);
	vf_pcap_write(p, &a, 0, &iov, 1);
	assert_int_equal(slurp(name, b, sizeof(b)), 24 + 16 + 48 + 4);
	assert_int_equal(vf_load_be32(b + 40), 0x6b800000);
	assert_int_equal(vf_load_be16(b + 44), 12);
	assert_int_equal(sum(b + 80, 12, 17u + 12u + sum(b + 48, 32, 0)), 0xffff);
	vf_pcap_close(p);
	unlink(name);
}

static void the_process_id_stands_for_percent_p(void **state)
{
	char name[64], made[64];
	struct vf_pcap *p;

	(void)state;
	snprintf(name, sizeof(name), "%s/x-%%p-%%%%", folder);
	snprintf(made, sizeof(made), "%s/x-%ld-%%", folder, (long)getpid());
	assert_int_equal(vf_pcap_open(name, &p), 0);
	vf_pcap_close(p);
	assert_int_equal(unlink(made), 0);
}

static void who_comes_second_appends_and_who_comes_later_starts_anew(void **state)
{
	char name[64], text[] = "four";
	uint8_t b[256];
	struct vf_os_udp_addr a = ipv4();
	struct iovec iov = {.iov_base = text, .iov_len = 4};
	struct vf_pcap *p, *q;

	(void)state;
	snprintf(name, sizeof(name), "%s/shared", folder);
	assert_int_equal(vf_pcap_open(name, &p), 0);
	vf_pcap_write(p, &a, 0, &iov, 1);
	assert_int_equal(vf_pcap_open(name, &q), 0);
	vf_pcap_write(q, &a, 0, &iov, 1);
	vf_pcap_write(p, &a, 0, &iov, 1);
	assert_int_equal(slurp(name, b, sizeof(b)), 24 + 3 * (16 + 32));
	vf_pcap_close(p);
	vf_pcap_close(q);
	assert_int_equal(vf_pcap_open(name, &p), 0);
	assert_int_equal(slurp(name, b, sizeof(b)), 24);
	vf_pcap_close(p);
	unlink(name);
}

static void a_file_that_cannot_be_written_is_refused_by_name(void **state)
{
	char name[64];
	struct vf_pcap *p = NULL;

	(void)state;
	snprintf(name, sizeof(name), "%s/no/such", folder);
	assert_int_equal(vf_pcap_open(name, &p), -ENOENT);
	assert_non_null(strstr(vf_reason_last(), name));
	assert_null(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_is_written_with_right_headers_and_checksums),
		cmocka_unit_test(ipv6_is_written_too),
		cmocka_unit_test(the_process_id_stands_for_percent_p),
		cmocka_unit_test(who_comes_second_appends_and_who_comes_later_starts_anew),
		cmocka_unit_test(a_file_that_cannot_be_written_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

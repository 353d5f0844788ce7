/* SPDX-License-Identifier: BSD-2-Clause */
/* The side channel: what is right goes through, what is wrong is refused with a reason, and no wait
 * is without an end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "bench.h"
#include "side.h"

static struct vf_side a, b;

static int setup(void **state)
{
	int pair[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return -1;
	vf_side_begin(&a, pair[0]);
	vf_side_begin(&b, pair[1]);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vf_side_end(&a);
	vf_side_end(&b);
	return 0;
}

static void raw(const void *bytes, size_t len) { assert_int_equal(write(a.fd, bytes, len), len); }

static void header(uint8_t h[VF_SIDE_HEADER], uint32_t magic, unsigned version, unsigned type,
		   uint32_t len)
{
	vf_store_be32(h, magic);
	vf_store_be16(h + 4, (uint16_t)version);
	vf_store_be16(h + 6, (uint16_t)type);
	vf_store_be32(h + 8, len);
}

static void frames_arrive_in_order_and_heartbeats_are_skipped(void **state)
{
	uint8_t got[4];

	(void)state;
	assert_int_equal(vf_side_send(&a, VF_SIDE_BEAT, NULL, 0), 0);
	assert_int_equal(vf_side_send(&a, VF_SIDE_HELLO, NULL, 0), 0);
	assert_int_equal(vf_side_send(&a, VF_SIDE_BEAT, NULL, 0), 0);
	assert_int_equal(vf_side_send(&a, VF_SIDE_DONE, "abcd", 4), 0);
	assert_int_equal(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 1000), 0);
	assert_int_equal(vf_side_receive(&b, VF_SIDE_DONE, got, 4, 1000), 0);
	assert_memory_equal(got, "abcd", 4);
}

static void a_frame_in_single_bytes_is_put_together(void **state)
{
	uint8_t frame[VF_SIDE_HEADER];

	(void)state;
	header(frame, 0x56465343, VF_SIDE_VERSION, VF_SIDE_READY, 0);
	for (size_t i = 0; i < sizeof(frame); i++) {
		assert_false(vf_side_has(&b, VF_SIDE_READY));
		raw(frame + i, 1);
		assert_int_equal(vf_side_beat(&b), 0);
	}
	assert_true(vf_side_has(&b, VF_SIDE_READY));
}

static void what_is_no_frame_is_refused_with_a_reason(void **state)
{
	uint8_t frame[VF_SIDE_HEADER];

	(void)state;
	raw("GET / HTTP/1.1\r\n", 16);
	assert_true(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 1000) < 0);
	assert_non_null(strstr(b.error, "protocol"));

	teardown(NULL);
	setup(NULL);
	header(frame, 0x56465343, VF_SIDE_VERSION + 1, VF_SIDE_HELLO, 0);
	raw(frame, sizeof(frame));
	assert_true(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 1000) < 0);
	assert_non_null(strstr(b.error, "version 2"));

	teardown(NULL);
	setup(NULL);
	header(frame, 0x56465343, VF_SIDE_VERSION, VF_SIDE_HELLO, UINT32_MAX);
	raw(frame, sizeof(frame));
	assert_true(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 1000) < 0);
	assert_non_null(strstr(b.error, "too long"));
}

static void another_frame_than_the_awaited_and_a_wrong_length_are_refused(void **state)
{
	uint8_t got[64];

	(void)state;
	assert_int_equal(vf_side_send(&a, VF_SIDE_CASE, "x", 1), 0);
	assert_true(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 1000) < 0);
	assert_int_equal(vf_side_send(&a, VF_SIDE_DONE, "x", 1), 0);
	assert_true(vf_side_receive(&b, VF_SIDE_DONE, got, 64, 1000) < 0);
}

static void an_error_of_the_peer_comes_with_its_text_made_printable(void **state)
{
	(void)state;
	vf_side_send_error(&a, "no \033[31mluck");
	vf_side_end(&a);
	assert_true(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 1000) < 0);
	assert_string_equal(b.error, "the peer says: no ?[31mluck");
}

static void a_peer_that_closed_is_reported_at_once(void **state)
{
	uint64_t start = vf_side_now();

	(void)state;
	vf_side_end(&a);
	assert_true(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 4000) < 0);
	assert_non_null(strstr(b.error, "gone"));
	assert_true(vf_side_now() - start < VF_SEC);
}

static void a_peer_that_says_nothing_is_waited_for_so_long_and_no_longer(void **state)
{
	(void)state;
	assert_int_equal(vf_side_receive(&b, VF_SIDE_HELLO, NULL, 0, 50), -ETIMEDOUT);
	b.heard_ns -= 5 * VF_SEC;
	assert_int_equal(vf_side_beat(&b), -ETIMEDOUT);
	assert_non_null(strstr(b.error, "silent"));
}

static void a_case_that_cannot_be_is_refused(void **state)
{
	struct vf_bench_case c = {.transport = VF_BENCH_RC,
				  .op = VF_BENCH_READ,
				  .size = 4096,
				  .slots = 16},
			     back;
	uint8_t body[64];
	const char *why;

	(void)state;
	vf_bench_put_case(body, &c);
	assert_true(vf_bench_get_case(body, &back, &why));
	assert_int_equal(back.size, 4096);
	assert_int_equal(back.op, VF_BENCH_READ);
	body[0] = VF_BENCH_UC;
	assert_false(vf_bench_get_case(body, &back, &why));
	body[0] = 77;
	assert_false(vf_bench_get_case(body, &back, &why));
	vf_bench_put_case(body, &c);
	vf_store_be32(body + 8, 1 << 20);
	assert_false(vf_bench_get_case(body, &back, &why));
	vf_bench_put_case(body, &c);
	vf_store_be32(body + 4, 0);
	assert_false(vf_bench_get_case(body, &back, &why));
}

static void an_endpoint_that_cannot_be_is_refused(void **state)
{
	struct vf_bench_endpoint e = {.qpn = 0x123456,
				      .psn = 0xfffffe,
				      .mtu = 1024,
				      .rd_atomic = 16,
				      .addr = 0x7f0000001000},
				 back;
	uint8_t body[64];

	(void)state;
	vf_bench_put_endpoint(body, &e);
	assert_true(vf_bench_get_endpoint(body, &back));
	assert_true(back.addr == e.addr && back.qpn == e.qpn && back.psn == e.psn);
	vf_store_be32(body, 1 << 24);
	assert_false(vf_bench_get_endpoint(body, &back));
	vf_bench_put_endpoint(body, &e);
	vf_store_be32(body + 12, 1500);
	assert_false(vf_bench_get_endpoint(body, &back));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(frames_arrive_in_order_and_heartbeats_are_skipped),
		CASE(a_frame_in_single_bytes_is_put_together),
		CASE(what_is_no_frame_is_refused_with_a_reason),
		CASE(another_frame_than_the_awaited_and_a_wrong_length_are_refused),
		CASE(an_error_of_the_peer_comes_with_its_text_made_printable),
		CASE(a_peer_that_closed_is_reported_at_once),
		CASE(a_peer_that_says_nothing_is_waited_for_so_long_and_no_longer),
		cmocka_unit_test(a_case_that_cannot_be_is_refused),
		cmocka_unit_test(an_endpoint_that_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

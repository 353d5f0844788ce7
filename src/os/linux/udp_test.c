/* SPDX-License-Identifier: BSD-2-Clause */
/* UDP over the loopback interface: addresses, segments, errors, steering. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <net/if.h>

#include <cmocka.h>

#include "os/os.h"

static const uint8_t v4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
static const uint8_t v4_other[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 3, 2, 1};
static const uint8_t v6[16] = {[15] = 1};
static uint8_t buffers[4][65536];

static struct vf_os_udp *open_socket(bool is_ipv6, uint16_t port, bool is_shared)
{
	struct vf_os_udp_options o = {.is_ipv6 = is_ipv6,
				      .port = port,
				      .is_shared = is_shared,
				      .rcvbuf_bytes = 1 << 20,
				      .sndbuf_bytes = 1 << 20};
	struct vf_os_udp *s = NULL;

	return vf_os_udp_open(&o, &s) == 0 ? s : NULL;
}

static struct vf_os_udp_send message(struct iovec *iov, const uint8_t *src, const uint8_t *dst,
				     uint16_t port)
{
	struct vf_os_udp_send m = {.iov = iov,
				   .iov_count = 1,
				   .segment_len = (uint32_t)iov->iov_len,
				   .total_len = (uint32_t)iov->iov_len};

	memcpy(m.addr.src, src, 16);
	memcpy(m.addr.dst, dst, 16);
	m.addr.dst_port = port;
	m.addr.ttl = 33;
	m.addr.tos = 0x68;
	return m;
}

static int receive(struct vf_os_udp *s, struct vf_os_udp_recv *m, unsigned count, int timeout_ms)
{
	struct pollfd p = {.fd = vf_os_udp_fd(s), .events = POLLIN};

	for (unsigned i = 0; i < count; i++)
		m[i] = (struct vf_os_udp_recv){.buf = buffers[i], .buf_len = sizeof(buffers[i])};
	poll(&p, 1, timeout_ms);
	return vf_os_udp_recv(s, m, count);
}

static void exchange(bool is_ipv6, const uint8_t *src, const uint8_t *dst)
{
	struct vf_os_udp *a = open_socket(is_ipv6, 0, false), *b = open_socket(is_ipv6, 0, false);
	char text[] = "hello";
	struct iovec iov = {.iov_base = text, .iov_len = sizeof(text)};
	struct vf_os_udp_recv r[2];
	struct vf_os_udp_send m;
	uint16_t id = 77;

	if (!a || !b)
		skip();
	m = message(&iov, src, dst, vf_os_udp_port(b));
	assert_int_equal(vf_os_udp_send(a, &m, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(receive(b, r, 2, 5000), 1);
	assert_int_equal(r[0].len, sizeof(text));
	assert_int_equal(r[0].segment_len, sizeof(text));
	assert_memory_equal(r[0].buf, text, sizeof(text));
	assert_memory_equal(r[0].addr.src, src, 16);
	assert_memory_equal(r[0].addr.dst, dst, 16);
	assert_int_equal(r[0].addr.src_port, vf_os_udp_port(a));
	assert_int_equal(r[0].addr.dst_port, vf_os_udp_port(b));
	assert_int_equal(r[0].addr.ttl, 33);
	assert_int_equal(r[0].addr.tos, 0x68);
	assert_int_equal(r[0].addr.if_index, if_nametoindex("lo"));
	assert_int_equal(receive(b, r, 2, 0), 0);
	vf_os_udp_close(a);
	vf_os_udp_close(b);
}

static void a_datagram_brings_its_addresses_ttl_and_tos(void **state)
{
	(void)state;
	exchange(false, v4, v4_other);
	exchange(false, v4_other, v4);
	exchange(true, v6, v6);
}

static void a_segmented_send_arrives_as_the_datagrams_it_was_made_of(void **state)
{
	struct vf_os_udp *a = open_socket(false, 0, false), *b = open_socket(false, 0, false);
	static uint8_t data[4000 * 10 + 100], got[sizeof(data)];
	struct iovec iov[2] = {{.iov_base = data, .iov_len = 17},
			       {.iov_base = data + 17, .iov_len = sizeof(data) - 17}};
	struct vf_os_udp_recv r[4];
	unsigned segments, datagrams = 0;
	uint32_t bytes, have = 0;
	struct vf_os_udp_send m;

	(void)state;
	vf_os_udp_segment_limits(a, &segments, &bytes);
	if (segments < 11)
		skip();
	assert_true(bytes >= sizeof(data));
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	m = message(iov, v4, v4, vf_os_udp_port(b));
	m.iov_count = 2;
	m.segment_len = 4000;
	m.total_len = sizeof(data);
	assert_int_equal(vf_os_udp_send(a, &m, NULL), 0);
	while (have < sizeof(data)) {
		int n = receive(b, r, 4, 5000);

		assert_true(n > 0);
		for (int i = 0; i < n; i++) {
			assert_true(have + r[i].len <= sizeof(data));
			assert_true(r[i].segment_len == 4000 || r[i].len == 100);
			memcpy(got + have, r[i].buf, r[i].len);
			have += r[i].len;
			datagrams += (r[i].len + r[i].segment_len - 1) / r[i].segment_len;
		}
	}
	assert_int_equal(datagrams, 11);
	assert_memory_equal(got, data, sizeof(data));
	vf_os_udp_close(a);
	vf_os_udp_close(b);
}

static void memory_that_is_gone_is_efault_and_nothing_is_sent(void **state)
{
	struct vf_os_udp *a = open_socket(false, 0, false), *b = open_socket(false, 0, false);
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov = {.iov_base = page, .iov_len = 100};
	struct vf_os_udp_send m = message(&iov, v4, v4, vf_os_udp_port(b));
	struct vf_os_udp_recv r[1];

	(void)state;
	assert_int_equal(vf_os_udp_send(a, &m, NULL), -EFAULT);
	assert_int_equal(receive(b, r, 1, 0), 0);
	munmap(page, 4096);
	vf_os_udp_close(a);
	vf_os_udp_close(b);
}

static void a_closed_port_at_the_peer_never_shows_as_an_error(void **state)
{
	struct vf_os_udp *a = open_socket(false, 0, false), *b = open_socket(false, 0, false);
	char text[] = "anybody";
	struct iovec iov = {.iov_base = text, .iov_len = sizeof(text)};
	struct vf_os_udp_send m = message(&iov, v4, v4, vf_os_udp_port(b));
	struct vf_os_udp_recv r[1];

	(void)state;
	vf_os_udp_close(b);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(vf_os_udp_send(a, &m, NULL), 0);
		assert_int_equal(receive(a, r, 1, 0), 0);
	}
	vf_os_udp_close(a);
}

static void what_the_receive_buffer_cannot_take_is_counted(void **state)
{
	struct vf_os_udp_options o = {.rcvbuf_bytes = 4096};
	struct vf_os_udp *a = open_socket(false, 0, false), *b = NULL;
	static uint8_t data[8000];
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
	struct vf_os_udp_send m;

	(void)state;
	assert_int_equal(vf_os_udp_open(&o, &b), 0);
	assert_true(vf_os_udp_rcvbuf(b) > 0 && vf_os_udp_rcvbuf(b) < 100000);
	m = message(&iov, v4, v4, vf_os_udp_port(b));
	assert_int_equal(vf_os_udp_overflows(b), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(vf_os_udp_send(a, &m, NULL), 0);
	assert_true(vf_os_udp_overflows(b) >= 30);
	vf_os_udp_close(a);
	vf_os_udp_close(b);
}

static void multicast_reaches_who_joined_on_that_interface_only(void **state)
{
	static const uint8_t group[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 77, 0, 9};
	struct vf_os_udp *a = open_socket(false, 0, false), *b = open_socket(false, 0, true);
	struct vf_os_udp *c = open_socket(false, vf_os_udp_port(b), true);
	char text[] = "all";
	struct iovec iov = {.iov_base = text, .iov_len = sizeof(text)};
	struct vf_os_udp_send m = message(&iov, v4, group, vf_os_udp_port(b));
	struct vf_os_udp_recv r[1];
	unsigned lo = if_nametoindex("lo");

	(void)state;
	m.addr.if_index = lo;
	assert_int_equal(vf_os_udp_mcast_join(b, group, lo), 0);
	assert_int_equal(vf_os_udp_mcast_join(b, group, lo), 0);
	assert_int_equal(vf_os_udp_send(a, &m, NULL), 0);
	assert_int_equal(receive(b, r, 1, 5000), 1);
	assert_memory_equal(r[0].addr.dst, group, 16);
	assert_int_equal(receive(c, r, 1, 0), 0);
	assert_int_equal(vf_os_udp_mcast_leave(b, group, lo), 0);
	assert_int_equal(vf_os_udp_send(a, &m, NULL), 0);
	assert_int_equal(receive(b, r, 1, 50), 0);
	vf_os_udp_close(a);
	vf_os_udp_close(b);
	vf_os_udp_close(c);
}

static void steering_goes_by_slot_and_probes_go_by_position(void **state)
{
	enum { MEMBERS = 4, PROBE = 0xdf };
	struct vf_os_udp *a = open_socket(false, 0, false), *member[MEMBERS];
	int slot_of[MEMBERS] = {200, -1, 7, 0};
	uint8_t packet[16] = {0};
	struct iovec iov = {.iov_base = packet, .iov_len = sizeof(packet)};
	struct vf_os_udp_recv r[1];
	struct vf_os_udp_send m;

	(void)state;
	member[0] = open_socket(false, 0, true);
	for (int i = 1; i < MEMBERS; i++)
		member[i] = open_socket(false, vf_os_udp_port(member[0]), true);
	assert_int_equal(vf_os_udp_steer(member[1], slot_of, MEMBERS, PROBE), 0);
	m = message(&iov, v4, v4, vf_os_udp_port(member[0]));
	for (int i = 0; i < MEMBERS; i++) {
		if (slot_of[i] >= 0) {
			packet[0] = 0x04;
			packet[5] = (uint8_t)slot_of[i];
			assert_int_equal(vf_os_udp_send(a, &m, NULL), 0);
			assert_int_equal(receive(member[i], r, 1, 5000), 1);
		}
		packet[0] = PROBE;
		packet[12] = (uint8_t)i;
		assert_int_equal(vf_os_udp_send(a, &m, NULL), 0);
		assert_int_equal(receive(member[i], r, 1, 5000), 1);
	}
	for (int i = 0; i < MEMBERS; i++)
		vf_os_udp_close(member[i]);
	vf_os_udp_close(a);
}

static void a_port_held_exclusively_is_address_in_use(void **state)
{
	struct vf_os_udp *a = open_socket(false, 0, false), *b = NULL;
	struct vf_os_udp_options o = {.port = vf_os_udp_port(a), .is_shared = true};

	(void)state;
	assert_int_equal(vf_os_udp_open(&o, &b), -EADDRINUSE);
	assert_null(b);
	vf_os_udp_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_brings_its_addresses_ttl_and_tos),
		cmocka_unit_test(a_segmented_send_arrives_as_the_datagrams_it_was_made_of),
		cmocka_unit_test(memory_that_is_gone_is_efault_and_nothing_is_sent),
		cmocka_unit_test(a_closed_port_at_the_peer_never_shows_as_an_error),
		cmocka_unit_test(what_the_receive_buffer_cannot_take_is_counted),
		cmocka_unit_test(multicast_reaches_who_joined_on_that_interface_only),
		cmocka_unit_test(steering_goes_by_slot_and_probes_go_by_position),
		cmocka_unit_test(a_port_held_exclusively_is_address_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

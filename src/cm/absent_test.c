/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of the connection manager while there is none: clear failures, and the calls that
 * are complete without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#include <string.h>

#include "base/reason.h"

static void assert_refused(const char *call)
{
	assert_int_equal(errno, EOPNOTSUPP);
	assert_non_null(strstr(vf_reason_last(), call));
	assert_non_null(strstr(vf_reason_last(), "connection manager"));
}

static void calls_that_make_something_return_nothing_and_say_why(void **state)
{
	struct rdma_cm_id *id = NULL;
	struct rdma_addrinfo *ai = NULL;
	int n = 7;

	(void)state;
	errno = 0;
	assert_null(rdma_create_event_channel());
	assert_refused("rdma_create_event_channel");
	errno = 0;
	assert_int_equal(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), -1);
	assert_refused("rdma_create_id");
	assert_null(id);
	errno = 0;
	assert_int_equal(rdma_getaddrinfo(NULL, NULL, NULL, &ai), -1);
	assert_refused("rdma_getaddrinfo");
	assert_null(ai);
	errno = 0;
	assert_null(rdma_get_devices(&n));
	assert_refused("rdma_get_devices");
	assert_int_equal(n, 0);
	errno = 0;
	assert_int_equal(rsocket(AF_INET, SOCK_STREAM, 0), -1);
	assert_refused("rsocket");
}

static void calls_on_nothing_fail_and_do_not_crash(void **state)
{
	(void)state;
	assert_int_equal(rdma_destroy_id(NULL), -1);
	assert_int_equal(rdma_listen(NULL, 1), -1);
	assert_int_equal(rdma_connect(NULL, NULL), -1);
	assert_int_equal(rdma_get_cm_event(NULL, NULL), -1);
	assert_int_equal(rdma_ack_cm_event(NULL), -1);
	assert_int_equal(rdma_create_qp(NULL, NULL, NULL), -1);
	assert_int_equal(rdma_join_multicast(NULL, NULL, NULL), -1);
	assert_int_equal(rpoll(NULL, 0, 0), -1);
	rdma_destroy_event_channel(NULL);
	rdma_destroy_ep(NULL);
	rdma_destroy_qp(NULL);
	rdma_destroy_srq(NULL);
	rdma_freeaddrinfo(NULL);
	rdma_free_devices(NULL);
}

static void a_descriptor_is_never_an_rsocket(void **state)
{
	char c = 0;

	(void)state;
	errno = 0;
	assert_int_equal(rsend(3, &c, 1, 0), -1);
	assert_int_equal(errno, EBADF);
	errno = 0;
	assert_int_equal(rclose(-1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(riowrite(3, &c, 1, 0, 0), (size_t)-1);
	assert_int_equal(riomap(3, &c, 1, 0, 0, 0), -1);
}

static void every_event_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED),
			    "RDMA_CM_EVENT_ADDR_RESOLVED");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ESTABLISHED), "RDMA_CM_EVENT_ESTABLISHED");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_INTERNAL), "RDMA_CM_EVENT_INTERNAL");
	for (int i = RDMA_CM_EVENT_ADDR_RESOLVED; i <= RDMA_CM_EVENT_INTERNAL; i++)
		assert_int_equal(
			strncmp(rdma_event_str((enum rdma_cm_event_type)i), "RDMA_CM_EVENT_", 14),
			0);
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type)(RDMA_CM_EVENT_INTERNAL + 1)),
			    "UNKNOWN EVENT");
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type) - 1), "UNKNOWN EVENT");
}

static void ports_are_read_from_the_addresses(void **state)
{
	struct rdma_cm_id id;
	struct sockaddr_ib sib;
	const uint8_t sid[8] = {0, 0, 0, 0, 1, 6, 0x1c, 0x35},
		      mask[8] = {255, 255, 255, 255, 255, 255, 255, 255};

	(void)state;
	memset(&id, 0, sizeof(id));
	assert_int_equal(rdma_get_src_port(&id), 0);
	assert_int_equal(rdma_get_src_port(NULL), 0);
	id.route.addr.src_sin.sin_family = AF_INET;
	id.route.addr.src_sin.sin_port = htons(7471);
	id.route.addr.dst_sin6.sin6_family = AF_INET6;
	id.route.addr.dst_sin6.sin6_port = htons(18515);
	assert_int_equal(ntohs(rdma_get_src_port(&id)), 7471);
	assert_int_equal(ntohs(rdma_get_dst_port(&id)), 18515);
	memset(&sib, 0, sizeof(sib));
	sib.sib_family = AF_IB;
	memcpy(&sib.sib_sid, sid, sizeof(sid));
	memcpy(&sib.sib_sid_mask, mask, sizeof(mask));
	memcpy(&id.route.addr.dst_storage, &sib, sizeof(sib));
	assert_int_equal(ntohs(rdma_get_dst_port(&id)), 0x1c35);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_make_something_return_nothing_and_say_why),
		cmocka_unit_test(calls_on_nothing_fail_and_do_not_crash),
		cmocka_unit_test(a_descriptor_is_never_an_rsocket),
		cmocka_unit_test(every_event_has_its_name),
		cmocka_unit_test(ports_are_read_from_the_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The GID table and the port while the interface changes under an open device: in a network namespace of this process's own, which an
 * unprivileged user may make on most systems. Exit code 77 where not.
 */
#include "soft_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MAKE_LINK                                                                               \
	"ip link add name vft0 type veth peer name vft9 && ip link set vft9 up addrgenmode none"

static struct ibv_context *ctx;

static void sh(const char *command)
{
	if (system(command) != 0)
		fail_msg("%s", command);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool enter_namespace(void)
{
	char map[64];
	unsigned uid = (unsigned)getuid(), gid = (unsigned)getgid();

	if (unshare(CLONE_NEWNET) != 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
			return false;
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", uid);
		if (!write_file("/proc/self/uid_map", map))
			return false;
		snprintf(map, sizeof(map), "0 %u 1", gid);
		write_file("/proc/self/gid_map", map);
	}
	return system("ip link set lo up 2>/dev/null && " MAKE_LINK " 2>/dev/null") == 0;
}

static bool saw[64]; /* by type of event */

/* Takes events until @type was there, for three seconds. */
static void wait_event(enum ibv_event_type type)
{
	time_t until = time(NULL) + 4;

	while (!saw[type] && time(NULL) < until)
		if (pair_has_event(ctx, 100))
			saw[pair_event(ctx)] = true;
	if (!saw[type])
		fail_msg("no event %s", ibv_event_type_str(type));
	memset(saw, 0, sizeof(saw));
}

static void no_more_events(void)
{
	while (pair_has_event(ctx, 100))
		pair_event(ctx);
}

static void stands(int index, const char *address)
{
	struct ibv_gid_entry e;
	uint8_t want[16] = {[10] = 0xff, [11] = 0xff};
	int err = ibv_query_gid_ex(ctx, 1, (uint32_t)index, &e, 0);

	if (!address) {
		union ibv_gid gid, zero;

		assert_int_equal(err, ENODATA);
		memset(&zero, 0, sizeof(zero));
		assert_int_equal(ibv_query_gid(ctx, 1, index, &gid), 0);
		assert_memory_equal(&gid, &zero, sizeof(gid));
		return;
	}
	if (strchr(address, ':'))
		inet_pton(AF_INET6, address, want);
	else
		inet_pton(AF_INET, address, want + 12);
	if (err || memcmp(want, e.gid.raw, 16) != 0)
		fail_msg("index %d does not hold %s (%d)", index, address, err);
	assert_int_equal(e.gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_true(e.ndev_ifindex != 0);
}

static enum ibv_port_state port_state(void)
{
	struct ibv_port_attr attr;

	assert_int_equal(ibv_query_port(ctx, 1, &attr), 0);
	return attr.state;
}

static int open_device(void **state)
{
	(void)state;
	sh("ip link set vft0 down; ip addr flush dev vft0; ip link set vft0 up mtu 1500 addrgenmode none");
	sh("ip addr add fe80::5/64 dev vft0 nodad; ip addr add 192.0.2.1/24 dev vft0");
	ctx = pair_open_device("vf_vft0");
	assert_non_null(ctx);
	memset(saw, 0, sizeof(saw));
	no_more_events();
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	return ibv_close_device(ctx);
}

static void addresses_come_and_go_under_an_open_device(void **state)
{
	(void)state;
	stands(0, "fe80::5");
	stands(1, "192.0.2.1");
	sh("ip addr add 198.51.100.3/24 dev vft0");
	wait_event(IBV_EVENT_GID_CHANGE);
	sh("ip addr del 192.0.2.1/24 dev vft0");
	wait_event(IBV_EVENT_GID_CHANGE);
	stands(1, NULL);
	sh("ip addr add 192.0.2.1/24 dev vft0");
	wait_event(IBV_EVENT_GID_CHANGE);
	stands(1, "192.0.2.1");
	sh("ip addr del fe80::5/64 dev vft0");
	wait_event(IBV_EVENT_GID_CHANGE);
	stands(0, NULL);
	sh("ip addr add fe80::5/64 dev vft0 nodad");
	wait_event(IBV_EVENT_GID_CHANGE);
	stands(0, "fe80::5");
}

static void the_port_follows_the_link(void **state)
{
	(void)state;
	assert_int_equal(port_state(), IBV_PORT_ACTIVE);
	sh("ip link set vft0 down");
	wait_event(IBV_EVENT_PORT_ERR);
	assert_int_equal(port_state(), IBV_PORT_DOWN);
	sh("ip link set vft0 up");
	wait_event(IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(port_state(), IBV_PORT_ACTIVE);
}

static void the_active_mtu_follows_the_interfaces(void **state)
{
	static const struct {
		int mtu;
		enum ibv_mtu active;
	} rows[] = {{1500, IBV_MTU_1024}, {9000, IBV_MTU_4096}, {4200, IBV_MTU_4096},
		    {4179, IBV_MTU_2048}, {1280, IBV_MTU_1024}};
	struct ibv_port_attr attr;
	char command[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		time_t until = time(NULL) + 4;

		snprintf(command, sizeof(command), "ip link set vft0 mtu %d", rows[i].mtu);
		sh(command);
		do
			assert_int_equal(ibv_query_port(ctx, 1, &attr), 0);
		while (attr.active_mtu != rows[i].active && time(NULL) < until);
		assert_int_equal(attr.active_mtu, rows[i].active);
	}
}

static void a_vanished_interface_is_named_and_its_return_is_noticed(void **state)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	(void)state;
	a.grh.sgid_index = 1;
	ibv_query_gid(ctx, 1, 1, &a.grh.dgid);
	sh("ip link del vft0");
	wait_event(IBV_EVENT_PORT_ERR);
	stands(1, NULL);
	errno = 0;
	assert_null(ibv_create_ah(pd, &a));
	if (errno != ENODEV || !strstr(verbifrost_last_error(), "vft0"))
		fail_msg("errno %d, \"%s\"", errno, verbifrost_last_error());
	sh(MAKE_LINK "; ip link set vft0 up; ip addr add 192.0.2.1/24 dev vft0");
	wait_event(IBV_EVENT_PORT_ACTIVE);
	no_more_events();
	stands(1, "192.0.2.1");
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void devices_without_use_are_left_out_with_a_reason(void **state)
{
	const char *what, *why;
	bool is_down = false, has_none = false;
	struct ibv_device **list;

	(void)state;
	sh("ip link add name vft1 type veth peer name vft2; ip link set vft2 up addrgenmode none");
	list = ibv_get_device_list(NULL);
	assert_non_null(list);
	for (unsigned i = 0; verbifrost_query_skipped(i, &what, &why) == 0; i++) {
		is_down |= strcmp(what, "vft1") == 0 && strcmp(why, "down") == 0;
		has_none |= strcmp(what, "vft2") == 0 && strcmp(why, "no IP address") == 0;
	}
	assert_true(is_down && has_none);
	ibv_free_device_list(list);
	sh("ip link del vft1");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_device, close_device)
	const struct CMUnitTest tests[] = {
		CASE(addresses_come_and_go_under_an_open_device),
		CASE(the_port_follows_the_link),
		CASE(the_active_mtu_follows_the_interfaces),
		CASE(devices_without_use_are_left_out_with_a_reason),
		CASE(a_vanished_interface_is_named_and_its_return_is_noticed),
	};

	if (!enter_namespace())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

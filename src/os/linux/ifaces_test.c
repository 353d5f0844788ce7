/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces, addresses, changes and routes. What needs interfaces of its own is done in namespaces
 * of its own, where allowed. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <net/if.h>

#include <cmocka.h>

#include "os/os.h"

static const uint8_t localhost[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
static const uint8_t alias[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 5, 5, 5};
static const uint8_t documentation[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 77};
static const uint8_t multicast[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 77, 0, 9};

static struct vf_os_if *loopback(struct vf_os_if *ifs, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (ifs[i].is_loopback)
			return &ifs[i];
	return NULL;
}

static void the_loopback_interface_is_listed_with_its_address_and_no_link_local_one(void **state)
{
	struct vf_os_if *ifs, *lo;
	unsigned count;

	(void)state;
	assert_int_equal(vf_os_if_list(&ifs, &count), 0);
	lo = loopback(ifs, count);
	assert_non_null(lo);
	assert_int_equal(lo->index, if_nametoindex(lo->name));
	assert_true(lo->mtu >= 1280);
	assert_false(lo->has_mac);
	assert_true(lo->is_up);
	assert_true(lo->addr_count >= 1);
	assert_memory_equal(lo->addr[0].gid, localhost, 16);
	for (unsigned i = 0; i < lo->addr_count; i++)
		assert_false(lo->addr[i].is_link_local);
	free(ifs);
}

static void addresses_of_this_host_are_local_and_others_are_not(void **state)
{
	static const uint8_t none[16];

	(void)state;
	assert_true(vf_os_is_local(localhost));
	assert_true(vf_os_is_local(alias));
	assert_false(vf_os_is_local(documentation));
	assert_false(vf_os_is_local(multicast));
	assert_false(vf_os_is_local(none));
}

static void a_route_to_oneself_pins_nothing_and_multicast_pins_the_interface(void **state)
{
	unsigned lo = if_nametoindex("lo"), out = 99;

	(void)state;
	assert_int_equal(vf_os_route_check(localhost, localhost, lo, &out), 0);
	assert_int_equal(out, 0);
	assert_int_equal(vf_os_route_check(localhost, alias, lo, &out), 0);
	assert_int_equal(out, 0);
	assert_int_equal(vf_os_route_check(localhost, multicast, lo, &out), 0);
	assert_int_equal(out, lo);
}

static void a_foreign_source_and_a_loopback_source_going_out_are_refused(void **state)
{
	unsigned lo = if_nametoindex("lo"), out = 99;

	(void)state;
	assert_int_equal(vf_os_route_check(documentation, localhost, lo, &out), -EADDRNOTAVAIL);
	assert_int_equal(vf_os_route_check(localhost, documentation, lo, &out), -ENETUNREACH);
	assert_int_equal(out, 99);
}

static int raise_loopback(void)
{
	struct ifreq r;
	int fd = socket(AF_INET, SOCK_DGRAM, 0), err;

	memset(&r, 0, sizeof(r));
	strcpy(r.ifr_name, "lo");
	r.ifr_flags = IFF_UP;
	err = ioctl(fd, SIOCSIFFLAGS, &r);
	close(fd);
	return err;
}

/* Exit codes: 0 right, 77 not allowed here, anything else is the number of the failed step. */
static int watch_in_own_namespace(void)
{
	struct pollfd p = {.events = POLLIN};
	struct vf_os_if *ifs, *lo;
	unsigned count, out;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return 77;
	if (vf_os_if_watch_open(&p.fd) || poll(&p, 1, 0) != 0)
		return 1;
	if (vf_os_if_list(&ifs, &count))
		return 2;
	lo = loopback(ifs, count);
	if (!lo || lo->is_up || lo->addr_count)
		return 3;
	free(ifs);
	if (vf_os_route_check(documentation, localhost, 1, &out) != -EADDRNOTAVAIL)
		return 4;
	if (raise_loopback())
		return 77;
	if (poll(&p, 1, 5000) != 1 || !vf_os_if_watch_drain(p.fd) || vf_os_if_watch_drain(p.fd))
		return 5;
	if (vf_os_if_list(&ifs, &count))
		return 6;
	lo = loopback(ifs, count);
	return lo && lo->is_up && lo->addr_count ? 0 : 7;
}

static void an_interface_that_comes_up_is_told_by_the_watch_once(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(watch_in_own_namespace());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_loopback_interface_is_listed_with_its_address_and_no_link_local_one),
		cmocka_unit_test(addresses_of_this_host_are_local_and_others_are_not),
		cmocka_unit_test(a_route_to_oneself_pins_nothing_and_multicast_pins_the_interface),
		cmocka_unit_test(a_foreign_source_and_a_loopback_source_going_out_are_refused),
		cmocka_unit_test(an_interface_that_comes_up_is_told_by_the_watch_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

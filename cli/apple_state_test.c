/* SPDX-License-Identifier: BSD-2-Clause */
/* Each of the five states, from texts as users reported them; made up in form, as no Mac was at
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "apple_state.h"

static const char thunderbolt4[] = "Thunderbolt/USB4 Bus 0:\n\n  Vendor Name: Apple Inc.\n  "
				   "Port:\n    Status: No device connected\n"
				   "    Speed: Up to 40 Gb/s\n";
static const char thunderbolt5[] = "Thunderbolt/USB4 Bus 1:\n\n  Vendor Name: Apple Inc.\n  "
				   "Port:\n    Status: Device connected\n"
				   "    Speed: Up to 80 Gb/s\n";
static const char bridge[] =
	"bridge0: flags=8863<UP,BROADCAST,SMART,RUNNING> mtu 1500\n\tConfiguration:\n"
	"\tmember: en2 flags=3<LEARNING,DISCOVER>\n\t        ifmaxaddr 0 port 8 priority 0\n"
	"\tmember: en12 flags=3<LEARNING,DISCOVER>\n";

static enum vf_apple_state state_from(const char *profiler, const char *rdma_ctl,
				      const char *ifconfig, bool is_active, bool has_ipv4)
{
	struct vf_apple_facts f = {.has_thunderbolt5 = vf_apple_has_thunderbolt5(profiler),
				   .is_enabled = vf_apple_is_enabled(rdma_ctl),
				   .is_bridge_member = vf_apple_is_member(ifconfig, "en2"),
				   .is_active = is_active,
				   .has_ipv4 = has_ipv4};

	return vf_apple_state_of(&f);
}

static void thunderbolt_4_is_no_hardware_whatever_rdma_ctl_says(void **state)
{
	(void)state;
	assert_int_equal(state_from(thunderbolt4, "enabled\n", "", true, true),
			 VF_APPLE_NO_HARDWARE);
	assert_non_null(strstr(vf_apple_state_text(VF_APPLE_NO_HARDWARE), "soft device works"));
}

static void a_flag_that_is_off_is_not_enabled(void **state)
{
	char fix[120];

	(void)state;
	assert_int_equal(state_from(thunderbolt5, "disabled\n", bridge, false, false),
			 VF_APPLE_NOT_ENABLED);
	assert_int_equal(state_from(thunderbolt5, "RDMA is not enabled\n", "", false, false),
			 VF_APPLE_NOT_ENABLED);
	vf_apple_state_fix(VF_APPLE_NOT_ENABLED, "en2", fix, sizeof(fix));
	assert_non_null(strstr(fix, "rdma_ctl enable"));
}

static void a_member_of_the_bridge_is_told_by_its_whole_name(void **state)
{
	char fix[120];

	(void)state;
	assert_int_equal(state_from(thunderbolt5, "enabled\n", bridge, true, true),
			 VF_APPLE_BRIDGE_MEMBER);
	assert_true(vf_apple_is_member(bridge, "en12"));
	assert_false(vf_apple_is_member(bridge, "en1"));
	vf_apple_state_fix(VF_APPLE_BRIDGE_MEMBER, "en2", fix, sizeof(fix));
	assert_string_equal(fix, "sudo ifconfig bridge0 deletem en2");
}

static void a_port_without_a_peer_and_one_without_an_address_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(state_from(thunderbolt5, "enabled\n", "", false, false), VF_APPLE_NO_PEER);
	assert_int_equal(state_from(thunderbolt5, "enabled\n", "", true, false),
			 VF_APPLE_NO_ADDRESS);
	assert_int_equal(state_from(thunderbolt5, "enabled\n", "", true, true), VF_APPLE_READY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thunderbolt_4_is_no_hardware_whatever_rdma_ctl_says),
		cmocka_unit_test(a_flag_that_is_off_is_not_enabled),
		cmocka_unit_test(a_member_of_the_bridge_is_told_by_its_whole_name),
		cmocka_unit_test(a_port_without_a_peer_and_one_without_an_address_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The five states in which Apple's Thunderbolt RDMA does not work, told apart; readers of
 * system_profiler, rdma_ctl and ifconfig. */
#include "apple_state.h"

#include <stdio.h>
#include <string.h>

enum vf_apple_state vf_apple_state_of(const struct vf_apple_facts *f)
{
	if (!f->has_thunderbolt5)
		return VF_APPLE_NO_HARDWARE;
	if (!f->is_enabled)
		return VF_APPLE_NOT_ENABLED;
	if (f->is_bridge_member)
		return VF_APPLE_BRIDGE_MEMBER;
	if (!f->is_active)
		return VF_APPLE_NO_PEER;
	return f->has_ipv4 ? VF_APPLE_READY : VF_APPLE_NO_ADDRESS;
}

const char *vf_apple_state_text(enum vf_apple_state state)
{
	static const char *const texts[] = {
		[VF_APPLE_NO_HARDWARE] =
			"no Thunderbolt 5 port: native RDMA impossible; the soft device works",
		[VF_APPLE_NOT_ENABLED] = "RDMA over Thunderbolt is not enabled",
		[VF_APPLE_NO_PEER] =
			"no peer: nothing is connected, or RDMA is not enabled at the other end",
		[VF_APPLE_BRIDGE_MEMBER] =
			"the port belongs to the Thunderbolt Bridge, which keeps it from RDMA",
		[VF_APPLE_NO_ADDRESS] = "the interface has no IPv4 address, so no usable GID",
		[VF_APPLE_READY] = "ready",
	};

	return texts[state];
}

void vf_apple_state_fix(enum vf_apple_state state, const char *interface, char *out, size_t room)
{
	out[0] = '\0';
	if (state == VF_APPLE_NOT_ENABLED)
		snprintf(out, room, "in Recovery, Terminal: rdma_ctl enable; then restart");
	else if (state == VF_APPLE_BRIDGE_MEMBER)
		snprintf(out, room, "sudo ifconfig bridge0 deletem %s", interface);
	else if (state == VF_APPLE_NO_ADDRESS)
		snprintf(out, room,
			 "sudo ifconfig %s inet 192.168.77.1/24 up   (another last number on the "
			 "other Mac)",
			 interface);
	else if (state == VF_APPLE_NO_PEER)
		snprintf(out, room, "at the other Mac: rdma_ctl status");
}

bool vf_apple_has_thunderbolt5(const char *profiler)
{
	return strstr(profiler, "80 Gb/s") || strstr(profiler, "120 Gb/s");
}

bool vf_apple_is_enabled(const char *rdma_ctl)
{
	return strstr(rdma_ctl, "enabled") && !strstr(rdma_ctl, "not enabled");
}

bool vf_apple_is_member(const char *ifconfig, const char *interface)
{
	size_t len = strlen(interface);

	for (const char *p = ifconfig; (p = strstr(p, "member: ")) != NULL;) {
		p += strlen("member: ");
		if (strncmp(p, interface, len) == 0 &&
		    (p[len] == ' ' || p[len] == '\n' || p[len] == '\0'))
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_APPLE_STATE_H
#define VF_CLI_APPLE_STATE_H
/*
 * Why Apple's RDMA over Thunderbolt does or does not work on a Mac: pure decisions over what was
 * found out, and pure readers of what Apple's tools print. The formats are those that users
 * reported; nothing here has run on a Mac.
 */
#include <stdbool.h>
#include <stddef.h>

struct vf_apple_facts {
	bool has_thunderbolt5, is_enabled;
	/* of one port */
	bool is_active;	       /* both ends have RDMA on */
	bool is_bridge_member; /* its interface belongs to the Thunderbolt Bridge */
	bool has_ipv4;
};

enum vf_apple_state {
	VF_APPLE_NO_HARDWARE,
	VF_APPLE_NOT_ENABLED,
	VF_APPLE_NO_PEER,
	VF_APPLE_BRIDGE_MEMBER,
	VF_APPLE_NO_ADDRESS,
	VF_APPLE_READY
};

/** The first thing that stands in the way, in the order in which it must be put right. */
enum vf_apple_state vf_apple_state_of(const struct vf_apple_facts *f);
/** One sentence. */
const char *vf_apple_state_text(enum vf_apple_state state);
/** The command that fixes it for @interface; "" when there is none. */
void vf_apple_state_fix(enum vf_apple_state state, const char *interface, char *out, size_t room);

/** From system_profiler SPThunderboltDataType: a port of 80 or 120 Gbit/s. */
bool vf_apple_has_thunderbolt5(const char *profiler);
/** From rdma_ctl status. */
bool vf_apple_is_enabled(const char *rdma_ctl);
/** From ifconfig of a bridge: a line "member: NAME flags=...". */
bool vf_apple_is_member(const char *ifconfig, const char *interface);

#endif

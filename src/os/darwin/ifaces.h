/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_DARWIN_IFACES_H
#define VF_OS_DARWIN_IFACES_H
/* Questions about interfaces that only ioctls answer; private to this folder. */
#include "os/os.h"

/** Is the IPv6 address @gid of interface @name still being probed for duplicates, or found to be
 * one? */
bool vf_if_is_tentative(int fd6, const char *name, const uint8_t gid[16]);

/** Marks the ports of the bridge interface @bridge among @ifs. */
void vf_if_mark_bridge_members(int fd4, const char *bridge, struct vf_os_if *ifs, unsigned count);

#endif

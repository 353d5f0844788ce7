/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_POSIX_SLOT_DIR_H
#define VF_OS_POSIX_SLOT_DIR_H
/* The one thing about slot files that differs from system to system: where a user's short-lived
 * files are. */
#include <stddef.h>

/** Writes the folder's path, with no slash at the end; 0 or -ENAMETOOLONG, -ENOENT. */
int vf_slot_dir_default(char *out, size_t len);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a user's process slots are on macOS: the folder that confstr(3) names for the user's
 * temporary files. It is per user, on the local disk, the same for every process of the user, and
 * out of the way of sandboxed ones, which have their own. Written from documentation, never run on
 * a Mac.
 */
#include "os/posix/slot_dir.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int vf_slot_dir_default(char *out, size_t len)
{
	char base[256];
	size_t n = confstr(_CS_DARWIN_USER_TEMP_DIR, base, sizeof(base));
	int m;

	if (n == 0)
		return -ENOENT;
	if (n > sizeof(base))
		return -ENAMETOOLONG;
	n = strlen(base);
	while (n && base[n - 1] == '/')
		base[--n] = 0;
	m = snprintf(out, len, "%s/verbifrost", base);
	return m > 0 && (size_t)m < len ? 0 : -ENAMETOOLONG;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the drop-in directory is: in a build tree beside cli/, installed at the same relative place
 * to bin/ as it was configured (so that a tree that was moved still works), and last at the
 * configured absolute path.
 */
#include "dropin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

static bool try(const char *base, const char *rest, char *out, size_t room)
{
	char file[PATH_MAX], resolved[PATH_MAX];

	if (snprintf(file, sizeof(file), "%s%s/%s", base, rest, vf_system_dropin_library) >=
		    (int)sizeof(file) ||
	    access(file, R_OK) != 0)
		return false;
	snprintf(file, sizeof(file), "%s%s", base, rest);
	if (!realpath(file, resolved) || strlen(resolved) >= room)
		return false;
	memcpy(out, resolved, strlen(resolved) + 1);
	return true;
}

bool vf_dropin_find(char *out, size_t room)
{
	char self[PATH_MAX] = "";
	char *slash;

	if (vf_system_self(self, sizeof(self)) && (slash = strrchr(self, '/')) != NULL) {
		*slash = '\0';
		if (try(self, "/../dropin", out, room) ||
		    try(self, "/" VF_DROPIN_FROM_BIN, out, room))
			return true;
	}
	if (try("", VF_DROPIN_DIR, out, room))
		return true;
	snprintf(out, room, "%s/../dropin, %s/%s, %s", self, self, VF_DROPIN_FROM_BIN,
		 VF_DROPIN_DIR);
	return false;
}

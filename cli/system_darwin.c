/* SPDX-License-Identifier: BSD-2-Clause */
/* macOS: own path, loader variables, programs from which System Integrity Protection takes the
 * variables away. Never run on a Mac. */
#include "system.h"

#include <limits.h>
#include <mach-o/dyld.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool vf_system_self(char *out, size_t room)
{
	char raw[PATH_MAX], resolved[PATH_MAX];
	uint32_t size = sizeof(raw);

	if (_NSGetExecutablePath(raw, &size) != 0 || !realpath(raw, resolved) ||
	    strlen(resolved) >= room)
		return false;
	memcpy(out, resolved, strlen(resolved) + 1);
	return true;
}

const char *const vf_system_loader_paths[] = {"DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
					      NULL};
const char *const vf_system_dropin_library = "libibverbs.1.dylib";
const char *const vf_system_dropin_files[] = {"libibverbs.1.dylib", "librdmacm.1.dylib",
					      "librdma.dylib", NULL};

const char *vf_system_loader_ignores(const char *program)
{
	static const char *const guarded[] = {"/System/",  "/bin/",	 "/sbin/",
					      "/usr/bin/", "/usr/sbin/", "/usr/libexec/"};
	struct stat st;

	for (size_t i = 0; i < sizeof(guarded) / sizeof(guarded[0]); i++)
		if (strncmp(program, guarded[i], strlen(guarded[i])) == 0)
			return "System Integrity Protection removes DYLD_ variables from programs "
			       "in system folders; use a copy, "
			       "or one from Homebrew";
	if (stat(program, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) && st.st_uid != geteuid())
		return "it is a set-user-ID or set-group-ID program, for which the loader ignores "
		       "DYLD_ variables";
	return NULL;
}

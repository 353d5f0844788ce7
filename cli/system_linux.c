/* SPDX-License-Identifier: BSD-2-Clause */
/* Linux (and other ELF systems with /proc): own path, loader variables, programs that the loader
 * protects. */
#include "system.h"

#include <sys/stat.h>
#include <unistd.h>

bool vf_system_self(char *out, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", out, room - 1);

	if (n <= 0)
		return false;
	out[n] = '\0';
	return true;
}

const char *const vf_system_loader_paths[] = {"LD_LIBRARY_PATH", NULL};
const char *const vf_system_dropin_library = "libibverbs.so.1";
const char *const vf_system_dropin_files[] = {"libibverbs.so.1",
					      "librdmacm.so.1",
					      "librdma.dylib",
					      "libmlx5.so.1",
					      "libefa.so.1",
					      "libhns.so.1",
					      NULL};

const char *vf_system_loader_ignores(const char *program)
{
	struct stat st;

	if (stat(program, &st) != 0)
		return NULL;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return "it is a set-user-ID program, for which the loader ignores LD_LIBRARY_PATH";
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid())
		return "it is a set-group-ID program, for which the loader ignores LD_LIBRARY_PATH";
	return NULL;
}

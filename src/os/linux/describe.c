/* SPDX-License-Identifier: BSD-2-Clause */
/* What this system is, and the limits that a user may want to raise. */
#include "os/os.h"

#include <stdio.h>
#include <sys/utsname.h>

void vf_os_describe(char *out, size_t len)
{
	struct utsname u;

	if (uname(&u) == 0)
		snprintf(out, len, "%s %s (%s)", u.sysname, u.release, u.machine);
	else
		snprintf(out, len, "Linux");
}

uint32_t vf_os_rcvbuf_max(void)
{
	FILE *f = fopen("/proc/sys/net/core/rmem_max", "re");
	unsigned long n = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	fclose(f);
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

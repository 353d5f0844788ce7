/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks, randomness, description and the progress thread of macOS. Written from documentation,
 * never run on a Mac.
 *
 * CLOCK_UPTIME_RAW is mach_absolute_time in nanoseconds: monotonic, and it stands still while the
 * machine sleeps, so that a closed lid is not taken for a peer that has not answered for hours.
 */
#include "os/os.h"

#include <pthread.h>
#include <pthread/qos.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <time.h>

vf_nsec vf_os_now(void) { return clock_gettime_nsec_np(CLOCK_UPTIME_RAW); }

vf_nsec vf_os_wall_clock(void) { return clock_gettime_nsec_np(CLOCK_REALTIME); }

void vf_os_random(void *out, size_t len) { arc4random_buf(out, len); }

/* User-interactive keeps a thread that polls on the fast cores. */
void vf_os_thread_prepare(const char *name)
{
	pthread_setname_np(name);
	pthread_set_qos_class_self_np(QOS_CLASS_USER_INTERACTIVE, 0);
}

void vf_os_describe(char *out, size_t len)
{
	char version[32] = "";
	size_t version_len = sizeof(version) - 1;
	struct utsname u;

	if (sysctlbyname("kern.osproductversion", version, &version_len, NULL, 0) < 0)
		version[0] = 0;
	if (uname(&u) == 0)
		snprintf(out, len, "macOS %s (Darwin %s, %s)", version[0] ? version : "?",
			 u.release, u.machine);
	else
		snprintf(out, len, "macOS %s", version[0] ? version : "?");
}

/* sb_max counts bookkeeping too: about eight ninths of it can be asked for. */
uint32_t vf_os_rcvbuf_max(void)
{
	uint32_t n = 0;
	size_t len = sizeof(n);

	if (sysctlbyname("kern.ipc.maxsockbuf", &n, &len, NULL, 0) < 0 || len != sizeof(n))
		return 0;
	return (uint32_t)((uint64_t)n * 8 / 9);
}

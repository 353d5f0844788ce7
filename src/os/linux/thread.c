/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The progress thread: its name, timers and slice. It works for microseconds at a time and should
 * do so as soon as it is woken, also where the program's own threads spin on every processor: a
 * short slice lets it preempt (sched_setattr(2), EEVDF of Linux 6.12 on; older kernels take no
 * notice). No privilege is needed, and the priority stays the program's.
 */
#include "os/os.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE (100 * VF_USEC)

/* As the kernel has it; C libraries do not all name it. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void shorten_slice(void)
{
	struct attributes a = {.size = sizeof(a)};

	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) < 0 || a.policy != 0)
		return; /* the program chose another class */
	a.size = sizeof(a);
	a.flags = 0;
	a.runtime = SLICE;
	syscall(SYS_sched_setattr, 0, &a, 0);
}

void vf_os_thread_prepare(const char *name)
{
	char cut[16]; /* what the kernel takes */

	snprintf(cut, sizeof(cut), "%s", name);
	pthread_setname_np(pthread_self(), cut);
	prctl(PR_SET_TIMERSLACK, 1000UL); /* its deadlines are microseconds; the default adds 50 */
	shorten_slice();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress thread's name and timers. Its scheduling class stays the program's: an ordinary
 * thread that sleeps most of the time is woken soon. */
#include "os/os.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

void vf_os_thread_prepare(const char *name)
{
	char cut[16]; /* what the kernel takes */

	snprintf(cut, sizeof(cut), "%s", name);
	pthread_setname_np(pthread_self(), cut);
	prctl(PR_SET_TIMERSLACK, 1000UL); /* its deadlines are microseconds; the default adds 50 */
}

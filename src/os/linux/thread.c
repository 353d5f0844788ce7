/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress thread's name. Its scheduling class stays the program's: an ordinary thread that
 * sleeps most of the time is woken soon. */
#include "os/os.h"

#include <pthread.h>
#include <stdio.h>

void vf_os_thread_prepare(const char *name)
{
	char cut[16]; /* what the kernel takes */

	snprintf(cut, sizeof(cut), "%s", name);
	pthread_setname_np(pthread_self(), cut);
}

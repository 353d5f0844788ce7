/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests that use slot files on a system which has no folder of its own for them: the setting names it. */
#include "os/posix/slot_dir.h"

#include <errno.h>

int vf_slot_dir_default(char *out, size_t len)
{
	(void)out;
	(void)len;
	return -ENOENT;
}

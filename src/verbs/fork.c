/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork: memory is never pinned and a child sees its own copy, so nothing has to be prepared, whenever and however often it is asked for.
 */
#include "verbs/api.h"

VF_EXPORT int ibv_fork_init(void) { return 0; }

VF_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

/* Of no public header. */
VF_EXPORT int ibv_dontfork_range(void *base, size_t size);
VF_EXPORT int ibv_dofork_range(void *base, size_t size);

VF_EXPORT int ibv_dontfork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}

VF_EXPORT int ibv_dofork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}

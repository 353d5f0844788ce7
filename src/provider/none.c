/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No devices: what a build has in the place of a provider that it leaves out.
 */
#include "provider.h"

static int list_none(struct vf_device_list *list)
{
	(void)list;
	return 0;
}

const struct vf_provider_ops vf_soft_ops = {.name = "soft", .list_devices = list_none};

/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of device in this build. */
#include "provider.h"

const struct vf_provider_ops *const vf_providers[] = {&vf_soft_ops, NULL};

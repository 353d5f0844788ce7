/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains: a name that memory, queue pairs and windows must have in common (IBTA 10.2.3). */
#include "provider/soft/soft.h"

#include <errno.h>
#include <stdlib.h>

int soft_alloc_pd(struct vf_context *ctx, struct vf_pd **out)
{
	struct soft_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return vf_refuse(ENOMEM, "no memory for a protection domain");
	pd->ctx = soft_ctx(ctx);
	*out = &pd->vf;
	return 0;
}

int soft_dealloc_pd(struct vf_pd *pd)
{
	free(pd);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles: paths that UD work requests name (IBTA 11.2.2). */
#include <errno.h>
#include <stdlib.h>

#include "provider/soft/soft.h"

int soft_create_ah(struct vf_pd *pd, struct ibv_ah_attr *attr, struct vf_ah **out)
{
	struct soft_pd *spd = (struct soft_pd *)pd;
	struct soft_ah *ah = calloc(1, sizeof(*ah));
	int err;

	if (!ah)
		return vf_refuse(ENOMEM, "no memory for an address handle");
	err = soft_path_fill(spd->ctx, attr, "ah_attr", &ah->path);
	if (err) {
		free(ah);
		return err;
	}
	ah->ctx = spd->ctx;
	ah->pd = spd;
	ah->is_local = vf_os_is_local(ah->path.dgid);
	*out = &ah->vf;
	return 0;
}

int soft_destroy_ah(struct vf_ah *ah)
{
	free(ah);
	return 0;
}

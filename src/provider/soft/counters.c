/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of a port. What belongs to no queue pair (a packet to an unknown one, a wrong checksum) is counted once for the process and
 * shown by each of its devices, since a packet like that has no device.
 */
#include "provider/soft/soft.h"

static struct vf_roce_counters stray;

struct vf_roce_counters *vf_soft_stray_counters(void) { return &stray; }

int soft_query_counters(struct vf_context *ctx, struct vf_counter *out, unsigned max,
			unsigned *count)
{
	struct soft_context *sc = soft_ctx(ctx);

	vf_soft_net_lock(sc->net);
	for (unsigned i = 0; i < max && i < (unsigned)VF_CNT_COUNT; i++) {
		out[i].name = vf_roce_counter_name((int)i);
		out[i].value = sc->dev->counters.value[i] + stray.value[i];
	}
	vf_soft_net_unlock(sc->net);
	*count = VF_CNT_COUNT;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_ENGINE_H
#define VF_ROCE_ENGINE_H
/* What one engine consists of. Only files of the engine include this. */
#include "base/list.h"
#include "base/rand.h"
#include "roce/flow.h"
#include "roce/qpn.h"
#include "roce/roce.h"
#include "roce/timers.h"

#define VF_MCAST_BUCKETS 64u

struct vf_roce {
	const struct vf_roce_host_ops *ops;
	void *host;
	struct vf_roce_counters *counters; /* of packets that belong to no QP */
	struct vf_flow_table *flows;
	struct vf_timers timers;
	struct vf_qpn_table qpns;
	struct vf_roce_qp *gsi;
	uint32_t srq_count;
	uint32_t rx_budget_bytes;
	struct vf_list answers; /* QPs with an ACK, NAK or CNP to send and no response before it
				   (vf_roce_qp.answer_link) */
	struct vf_list ready;	/* QPs with something else to send, in turn (vf_roce_qp.tx_link) */
	struct vf_list sent;	/* UC and UD QPs whose packets are out, completions to come
				   (vf_roce_qp.sent_link) */
	struct vf_list mcast[VF_MCAST_BUCKETS];
	struct vf_rand rand;
};

static inline void vf_count(struct vf_roce_counters *c, enum vf_roce_counter which)
{
	c->value[which]++;
}

static inline void vf_count_drop(struct vf_roce_counters *c, enum vf_roce_drop why)
{
	c->value[(unsigned)VF_CNT_DROP_FIRST + (unsigned)why]++;
}

#endif

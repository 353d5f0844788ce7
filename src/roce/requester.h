/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_REQUESTER_H
#define VF_ROCE_REQUESTER_H
/* One request packet in the making: what the requester's steps hand on to each other. */
#include "roce/qp.h"

struct vf_request {
	struct vf_roce_qp *qp;
	vf_nsec now;
	struct vf_roce_tx *tx;
	struct vf_send_wqe *w;
	struct vf_flow *flow;
	uint32_t psn;
	bool is_ack_req;
	uint32_t psn_count; /* PSNs that the packet takes: more than one for a read request */
};

/** Headers of the packet at the place to send from, into q->tx. */
void vf_request_headers(struct vf_request *q);
/** Its payload, as iovecs into the local memory. 0, or -errno of that memory. */
int vf_request_payload(struct vf_request *q);

#endif

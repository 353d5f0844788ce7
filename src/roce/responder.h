/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_RESPONDER_H
#define VF_ROCE_RESPONDER_H
/* One request packet on its way through the responder's steps. */
#include "roce/qp.h"

struct vf_inbound {
	struct vf_roce_qp *qp;
	vf_nsec now;
	const struct vf_packet *pkt;
	bool is_reliable;
	uint64_t room; /* sends: bytes of the receive request */
};

/* Why a request is refused, and what that does. */
struct vf_refusal {
	uint8_t nak; /* enum vf_nak */
	enum vf_roce_drop drop;
	enum vf_roce_wc_status status; /* of the receive request in use; SUCCESS: it is flushed */
	int event;		       /* enum vf_roce_event; -1: none */
};

enum vf_step vf_request_refuse(struct vf_inbound *in, const struct vf_refusal *why);

/* responder_execute.c: the last three steps */
enum vf_step vf_request_access(struct vf_inbound *in);
enum vf_step vf_request_execute(struct vf_inbound *in);
enum vf_step vf_request_acknowledge(struct vf_inbound *in);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_SQ_H
#define VF_ROCE_SQ_H
/* The send queue: a ring of work requests, copied when they are posted. */
#include "roce/flow.h"
#include "roce/opcode.h"
#include "roce/roce.h"

#define VF_BIND_MAX 64u

struct vf_send_wqe {
	uint64_t wr_id;
	const struct vf_wr_info *info;
	struct vf_flow *flow; /* UD: the one to its destination */
	uint32_t seq;	      /* number of the request, for fault tokens */
	uint32_t length;
	uint32_t first_psn, last_psn,
		packets; /* set when it is started; packets: PSNs that it takes */
	uint32_t imm_or_rkey;
	uint32_t rkey;
	uint64_t remote_addr, compare_add, swap;
	uint32_t remote_qpn, remote_qkey;
	uint8_t opcode; /* enum vf_roce_wr_opcode */
	uint8_t flags;	/* enum vf_roce_send_flags */
	uint8_t status; /* enum vf_roce_wc_status: not SUCCESS when it is known to end badly */
	uint8_t sge_count;
	uint8_t bind_len;
	uint8_t vendor_err; /* of the completion: the syndrome of the NAK that ended it */
	bool is_started, is_done;
	struct vf_roce_path path; /* UD */
	/* behind it: sge_count scatter/gather entries, or the inline data, or the bind request */
};

struct vf_sq {
	uint8_t *slots;
	size_t stride;
	uint32_t max, sge_max, inline_max;
	uint32_t head, count;
	uint32_t at;  /* the request to send from next, counted from head */
	uint32_t seq; /* of the next to be posted */
};

static inline struct vf_roce_sge *vf_send_wqe_sge(const struct vf_send_wqe *w)
{
	return (struct vf_roce_sge *)((uintptr_t)w + sizeof(*w));
}

static inline uint8_t *vf_send_wqe_bytes(const struct vf_send_wqe *w)
{
	return (uint8_t *)((uintptr_t)w + sizeof(*w));
}

static inline bool vf_send_wqe_has(const struct vf_send_wqe *w, unsigned wr_flags)
{
	return (w->info->flags & wr_flags) != 0;
}

int vf_sq_init(struct vf_sq *sq, const struct vf_roce_qp_config *cfg);
void vf_sq_free(struct vf_sq *sq);

static inline struct vf_send_wqe *vf_sq_at(const struct vf_sq *sq, uint32_t i)
{
	uint32_t slot = sq->head + i;

	if (slot >= sq->max)
		slot -= sq->max;
	return (struct vf_send_wqe *)(void *)(sq->slots + (size_t)slot * sq->stride);
}

/** Completes what is done, from the head, in order; ends the QP when the head is known to end
 * badly. */
void vf_sq_settle(struct vf_roce_qp *qp);
/** Completes everything in the queue: what is done well, the first bad one with its status, the
 * rest as flushed. */
void vf_sq_flush(struct vf_roce_qp *qp);
/** Forgets everything without completions. */
void vf_sq_clear(struct vf_roce_qp *qp);
/** UC and UD: packets are out of the host's hands now; completes what they ended. */
void vf_sq_deliver_sent(struct vf_roce *r);

#endif

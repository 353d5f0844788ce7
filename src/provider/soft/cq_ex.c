/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues read field by field: start_poll takes the poll lock and the oldest completion, next_poll the following one,
 * end_poll lets go. The same queue serves ibv_poll_cq.
 *
 *   outside ── start_poll, found ──> inside ── next_poll ──> inside ── end_poll ──> outside
 *   outside ── start_poll, ENOENT or EINVAL ──> outside (no end_poll)
 */
#include <errno.h>

#include "provider/soft/soft.h"

static struct soft_cq *cq_of(struct ibv_cq_ex *ex) { return (struct soft_cq *)(void *)ex; }

static bool take(struct soft_cq *cq)
{
	if (!soft_cq_take(cq, &cq->now))
		return false;
	cq->vf.ex.wr_id = cq->now.wr_id;
	cq->vf.ex.status = (enum ibv_wc_status)cq->now.status;
	return true;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct soft_cq *cq = cq_of(ex);

	if (attr && attr->comp_mask) {
		vf_refuse(EINVAL, "start_poll: comp_mask 0x%x, nothing is known", attr->comp_mask);
		return EINVAL;
	}
	soft_cq_poll_lock(cq);
	if (take(cq))
		return 0;
	soft_cq_poll_unlock(cq);
	vf_soft_net_progress(cq->ctx->net);
	soft_cq_poll_lock(cq);
	if (take(cq))
		return 0;
	soft_cq_poll_unlock(cq);
	return ENOENT;
}

static int next_poll(struct ibv_cq_ex *ex) { return take(cq_of(ex)) ? 0 : ENOENT; }
static void end_poll(struct ibv_cq_ex *ex) { soft_cq_poll_unlock(cq_of(ex)); }

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return (enum ibv_wc_opcode)cq_of(ex)->now.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex) { return cq_of(ex)->now.vendor_err; }
static uint32_t read_byte_len(struct ibv_cq_ex *ex) { return cq_of(ex)->now.byte_len; }
static __be32 read_imm_data(struct ibv_cq_ex *ex) { return cq_of(ex)->now.imm_or_rkey; }
static uint32_t read_qp_num(struct ibv_cq_ex *ex) { return cq_of(ex)->now.qpn; }
static uint32_t read_src_qp(struct ibv_cq_ex *ex) { return cq_of(ex)->now.src_qp; }
static unsigned read_wc_flags(struct ibv_cq_ex *ex) { return cq_of(ex)->now.wc_flags; }
static uint8_t read_sl(struct ibv_cq_ex *ex) { return cq_of(ex)->now.sl; }
static uint64_t read_timestamp(struct ibv_cq_ex *ex) { return cq_of(ex)->now.timestamp; }

/* RoCE has no LIDs. */
static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0;
}

void soft_cq_ex_init(struct soft_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vf.ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = read_timestamp;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = read_timestamp;
}

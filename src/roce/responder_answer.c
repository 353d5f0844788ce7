/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the responder sends: read responses (IBTA 9.7.5.1), atomic answers, ACK and NAK (9.7.5.1),
 * congestion notifications (A17.9). One ACK stands for everything before it, so only the last that
 * is due is kept; it goes out behind the responses whose PSNs come before it. Reads and atomics are
 * kept in a ring for repetition until as many new ones came as were agreed.
 *
 *   kept, oldest first:   answered │ answered │ pending │ pending │ …      then the ACK or NAK
 *                                             ▲ rd_at
 */
#include <errno.h>

#include "roce/qp.h"
#include "roce/wire.h"

/* ---- what is due ---- */

static void schedule(struct vf_roce_qp *qp)
{
	struct vf_responder *resp = &qp->resp;

	if (resp->rd_pending)
		vf_qp_ready(qp);
	if ((resp->wants_cnp || (resp->answer.is_pending && !resp->rd_pending)) &&
	    vf_list_is_empty(&qp->answer_link))
		vf_list_add_tail(&qp->r->answers, &qp->answer_link);
}

static void set_answer(struct vf_roce_qp *qp, uint8_t syndrome, uint32_t psn)
{
	qp->resp.answer = (struct vf_answer){.is_pending = true, .syndrome = syndrome, .psn = psn};
	schedule(qp);
}

void vf_responder_ack(struct vf_roce_qp *qp)
{
	if (!qp->resp.answer.is_pending || qp->resp.answer.syndrome == VF_AETH_ACK_PLAIN)
		set_answer(qp, VF_AETH_ACK_PLAIN, vf_psn_sub(qp->resp.psn, 1));
}

void vf_responder_nak(struct vf_roce_qp *qp, uint8_t syndrome, uint32_t psn)
{
	set_answer(qp, syndrome, psn);
}

void vf_responder_quiet(struct vf_roce_qp *qp)
{
	struct vf_responder *resp = &qp->resp;

	vf_list_del(&qp->answer_link);
	resp->answer.is_pending = false;
	resp->wants_cnp = false;
	for (uint32_t i = 0; i < resp->rd_count; i++)
		resp->rd[(resp->rd_head + i) % VF_RD_ATOMIC_MAX].is_pending = false;
	resp->rd_pending = 0;
	resp->rd_at = resp->rd_count;
}

void vf_responder_saw_mark(struct vf_roce_qp *qp, vf_nsec now)
{
	if (now < qp->resp.cnp_next)
		return;
	qp->resp.cnp_next = now + VF_CNP_GAP_NS;
	qp->resp.wants_cnp = true;
	schedule(qp);
}

/* ---- reads and atomics that are kept ---- */

static struct vf_rd_resource *kept_at(const struct vf_roce_qp *qp, uint32_t i)
{
	return &qp->resp.rd[(qp->resp.rd_head + i) % VF_RD_ATOMIC_MAX];
}

bool vf_responder_can_keep(const struct vf_roce_qp *qp)
{
	uint32_t max = qp->attr.max_dest_rd_atomic;

	/* What the oldest was asked is still to be answered for the first time: the requester has
	 * more in flight than agreed. */
	return max > 0 && (qp->resp.rd_count < max || !kept_at(qp, 0)->is_pending ||
			   kept_at(qp, 0)->is_replay);
}

static void forget_oldest(struct vf_responder *resp)
{
	if (resp->rd[resp->rd_head].is_pending)
		resp->rd_pending--;
	resp->rd_head = (resp->rd_head + 1) % VF_RD_ATOMIC_MAX;
	resp->rd_count--;
	if (resp->rd_at)
		resp->rd_at--;
}

bool vf_responder_keep(struct vf_roce_qp *qp, const struct vf_rd_resource *res)
{
	struct vf_responder *resp = &qp->resp;
	struct vf_rd_resource *r;

	if (!vf_responder_can_keep(qp))
		return false;
	while (resp->rd_count >= qp->attr.max_dest_rd_atomic)
		forget_oldest(resp);
	r = kept_at(qp, resp->rd_count);
	*r = *res;
	r->next = r->from = 0;
	r->is_replay = false;
	r->is_pending = true;
	if (!resp->rd_pending)
		resp->rd_at = resp->rd_count;
	resp->rd_count++;
	resp->rd_pending++;
	/* An ACK of what was before is said by the response itself; a NAK stays. */
	if (resp->answer.syndrome == VF_AETH_ACK_PLAIN) {
		resp->answer.is_pending = false;
		if (!resp->wants_cnp)
			vf_list_del(&qp->answer_link);
	}
	schedule(qp);
	return true;
}

struct vf_rd_resource *vf_responder_kept(struct vf_roce_qp *qp, uint32_t psn)
{
	/* From the newest: what is older may be of another round of the numbers. */
	for (uint32_t i = qp->resp.rd_count; i-- > 0;) {
		struct vf_rd_resource *r = kept_at(qp, i);

		if (((psn - r->psn) & VF_PSN_MASK) < r->count)
			return r;
	}
	return NULL;
}

void vf_responder_replay(struct vf_roce_qp *qp, struct vf_rd_resource *res, uint32_t psn)
{
	struct vf_responder *resp = &qp->resp;
	uint32_t next = (psn - res->psn) & VF_PSN_MASK;
	uint32_t i =
		((uint32_t)(res - resp->rd) + VF_RD_ATOMIC_MAX - resp->rd_head) % VF_RD_ATOMIC_MAX;

	if (res->is_pending && res->next <= next)
		return;
	if (!res->is_pending) {
		res->is_pending = true;
		res->is_replay = true;
		if (!resp->rd_pending || i < resp->rd_at)
			resp->rd_at = i;
		resp->rd_pending++;
	}
	res->next = res->from = next;
	schedule(qp);
}

static struct vf_rd_resource *next_pending(struct vf_roce_qp *qp)
{
	struct vf_responder *resp = &qp->resp;

	while (resp->rd_at < resp->rd_count && !kept_at(qp, resp->rd_at)->is_pending)
		resp->rd_at++;
	if (resp->rd_at < resp->rd_count)
		return kept_at(qp, resp->rd_at);
	vf_qp_broken(qp);
	return NULL;
}

/* ---- making packets ---- */

static void put_aeth(struct vf_roce_tx *tx, uint8_t syndrome, uint32_t msn)
{
	tx->headers[VF_BTH_LEN + VF_AETH_SYNDROME] = syndrome;
	vf_store_be24(tx->headers + VF_BTH_LEN + VF_AETH_MSN, msn);
}

/*
 * A NAK that was overtaken: what it asked for came before it was sent. It is an ACK then, or names
 * what is missing now.
 */
static void refresh(struct vf_roce_qp *qp)
{
	struct vf_responder *resp = &qp->resp;
	struct vf_answer *a = &resp->answer;
	bool is_rnr = (a->syndrome & VF_AETH_KIND_MASK) == VF_AETH_RNR;

	if (a->syndrome != VF_NAK_SEQUENCE && !is_rnr)
		return;
	if (a->psn == resp->psn)
		return;
	if (!is_rnr && !vf_psn_is_before(resp->psn_seen, resp->psn)) {
		a->psn = resp->psn;
		resp->is_gap = true;
		return;
	}
	a->syndrome = VF_AETH_ACK_PLAIN;
	a->psn = vf_psn_sub(resp->psn, 1);
}

static void make_answer(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx)
{
	struct vf_responder *resp = &qp->resp;
	struct vf_packet_start s = {.opcode = VF_OP_ACK, .dest_qpn = qp->attr.dest_qpn};

	refresh(qp);
	s.psn = resp->answer.psn;
	vf_qp_tx_start(qp, tx, &s);
	put_aeth(tx, resp->answer.syndrome, resp->msn);
	resp->answer.is_pending = false;
	vf_count(qp->cfg.counters, (resp->answer.syndrome & VF_AETH_KIND_MASK) == VF_AETH_RNR
					   ? VF_CNT_RNR_NAK_SENT
					   : VF_CNT_ACKS_SENT);
	vf_flow_sent(qp->flow, now, vf_packet_tx_cost(tx));
}

static void make_cnp(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx)
{
	struct vf_packet_start s = {.opcode = VF_OP_CNP, .dest_qpn = qp->attr.dest_qpn};

	vf_qp_tx_start(qp, tx, &s);
	tx->headers[VF_BTH_CONGESTION] = VF_BTH_BECN;
	qp->resp.wants_cnp = false;
	vf_count(qp->cfg.counters, VF_CNT_NP_CNP_SENT);
	vf_flow_sent(qp->flow, now, vf_packet_tx_cost(tx));
}

bool vf_responder_answer(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx)
{
	struct vf_responder *resp = &qp->resp;
	bool is_made = qp->flow != NULL;

	vf_list_del(&qp->answer_link);
	if (!is_made)
		resp->wants_cnp = resp->answer.is_pending = false;
	else if (resp->wants_cnp)
		make_cnp(qp, now, tx);
	else if (resp->answer.is_pending && !resp->rd_pending)
		make_answer(qp, now, tx);
	else
		is_made = false;
	schedule(qp);
	return is_made;
}

static void finish(struct vf_responder *resp, struct vf_rd_resource *res)
{
	if (++res->next < res->count)
		return;
	res->is_pending = false;
	resp->rd_pending--;
}

static uint8_t response_opcode(const struct vf_rd_resource *res)
{
	bool is_last = res->next + 1 == res->count;

	if (res->next == res->from)
		return is_last ? VF_OP_READ_RESP_ONLY : VF_OP_READ_RESP_FIRST;
	return is_last ? VF_OP_READ_RESP_LAST : VF_OP_READ_RESP_MIDDLE;
}

/* The memory is asked for again with each packet: the key may be gone since. */
static int map_response(struct vf_roce_qp *qp, const struct vf_rd_resource *res,
			struct vf_roce_tx *tx)
{
	struct vf_roce_mem m = {
		.key = res->rkey,
		.addr = res->va + (uint64_t)res->next * qp->attr.mtu_bytes,
		.len = tx->payload_len,
		.access = VF_ROCE_REMOTE_READ,
		.is_remote = true,
	};
	int n = m.len ? vf_qp_mem_map(qp, &m, tx->iov, VF_ROCE_TX_IOV) : 0;

	if (n < 0)
		return n;
	tx->iov_count = (uint8_t)n;
	tx->is_volatile = true;
	return 0;
}

static void make_response_headers(struct vf_roce_qp *qp, const struct vf_rd_resource *res,
				  struct vf_roce_tx *tx)
{
	uint32_t mtu = qp->attr.mtu_bytes;
	struct vf_packet_start s = {
		.opcode = res->is_atomic ? (uint8_t)VF_OP_ATOMIC_ACK : response_opcode(res),
		.dest_qpn = qp->attr.dest_qpn,
		.psn = vf_psn_add(res->psn, res->next),
		.payload_len = res->next + 1 == res->count ? res->len - res->next * mtu : mtu,
	};

	vf_qp_tx_start(qp, tx, &s);
	if (s.opcode != VF_OP_READ_RESP_MIDDLE)
		put_aeth(tx, VF_AETH_ACK_PLAIN, res->is_replay ? qp->resp.msn : res->msn);
	if (res->is_atomic)
		vf_store_be64(tx->headers + VF_BTH_LEN + VF_AETH_LEN, res->original);
	tx->fault_token = (uint64_t)qp->qpn << 40 | VF_FAULT_RESPONSE | s.psn;
}

enum vf_step vf_responder_next(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx)
{
	struct vf_responder *resp = &qp->resp;
	struct vf_rd_resource *res;
	int err;

	while (resp->rd_pending) {
		res = next_pending(qp);
		if (!res)
			return VF_STEP_IDLE;
		make_response_headers(qp, res, tx);
		if (!vf_flow_may_send(qp->flow, now, vf_packet_tx_cost(tx), VF_ROCE_RC))
			return VF_STEP_FLOW;
		err = map_response(qp, res, tx);
		if (err) {
			vf_responder_read_failed(qp, vf_psn_add(res->psn, res->next), err);
			continue;
		}
		vf_flow_sent(qp->flow, now, vf_packet_tx_cost(tx));
		finish(resp, res);
		return VF_STEP_SENT;
	}
	if (!resp->answer.is_pending && !resp->wants_cnp)
		return VF_STEP_IDLE;
	return vf_responder_answer(qp, now, tx) ? VF_STEP_SENT : VF_STEP_IDLE;
}

/* ---- when the memory of a read is gone ---- */

void vf_responder_read_failed(struct vf_roce_qp *qp, uint32_t psn, int err)
{
	struct vf_resp_failure f = {
		.syndrome = err == -EFAULT ? VF_NAK_REMOTE_OPERATION : VF_NAK_REMOTE_ACCESS,
		.psn = psn,
		.event = VF_ROCE_EVENT_QP_ACCESS_ERR,
	};

	if (f.syndrome == VF_NAK_REMOTE_ACCESS)
		vf_count(qp->cfg.counters, VF_CNT_RESP_REMOTE_ACCESS_ERRORS);
	vf_responder_quiet(qp);
	vf_responder_fail(qp, &f);
}

void vf_responder_tx_fault(struct vf_roce_qp *qp, const struct vf_roce_tx *tx)
{
	if (qp->attr.state != VF_ROCE_ERR)
		vf_responder_read_failed(qp, (uint32_t)tx->fault_token & VF_PSN_MASK, -EFAULT);
}

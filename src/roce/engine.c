/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine's face: packets in, packets out, time. A packet that came in goes flow control ─▶
 * parse ─▶ QP ─▶ checks that all types share (IBTA 9.6.1) ─▶ responder, completer or UD. Packets go
 * out in this order: flow control, then ACK, NAK and CNP, then the QPs that are ready, in turn,
 * each up to a quantum.
 */
#include "roce/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reason.h"
#include "roce/qp.h"
#include "roce/wire.h"

static int init(struct vf_roce *r, const struct vf_roce_config *cfg)
{
	struct vf_flow_config flow = {
		.rx_budget_bytes = cfg->rx_budget_bytes,
		.counters = cfg->counters,
		.slot = cfg->slot,
		.is_off = cfg->is_flow_off,
	};

	r->ops = cfg->ops;
	r->host = cfg->host;
	r->counters = cfg->counters;
	r->rx_budget_bytes = cfg->rx_budget_bytes;
	vf_rand_seed(&r->rand, cfg->seed);
	flow.seed = vf_rand_next(&r->rand);
	vf_qpn_init(&r->qpns, cfg->slot, cfg->max_qps, vf_rand_next(&r->rand) >> 16);
	vf_list_init(&r->answers);
	vf_list_init(&r->ready);
	vf_list_init(&r->sent);
	for (unsigned i = 0; i < VF_MCAST_BUCKETS; i++)
		vf_list_init(&r->mcast[i]);
	return vf_flow_table_create(&flow, &r->flows);
}

int vf_roce_create(const struct vf_roce_config *cfg, struct vf_roce **out)
{
	struct vf_roce *r;
	int err;

	if (!cfg->ops || !cfg->counters)
		return vf_refuse(EINVAL, "an engine needs the host's operations and counters");
	if (cfg->slot > 255 || cfg->max_qps > VF_QPN_INDEX_END - VF_QPN_INDEX_FIRST)
		return vf_refuse(EINVAL, "slot %u is not in 0..255 or max_qps %u not in 0..%u",
				 cfg->slot, cfg->max_qps, VF_QPN_INDEX_END - VF_QPN_INDEX_FIRST);
	r = calloc(1, sizeof(*r));
	if (!r)
		return vf_refuse(ENOMEM, "no memory for an engine");
	err = init(r, cfg);
	if (err) {
		free(r);
		return err;
	}
	*out = r;
	return 0;
}

void vf_roce_destroy(struct vf_roce *r)
{
	vf_flow_table_destroy(r->flows);
	vf_timers_free(&r->timers);
	vf_qpn_free_all(&r->qpns);
	free(r);
}

/* ---- in ---- */

static void release_waiters(struct vf_roce *r)
{
	struct vf_flow *flow;

	while ((flow = vf_flow_next_released(r->flows)) != NULL) {
		struct vf_list *waiters = vf_flow_waiters(flow);

		while (!vf_list_is_empty(waiters)) {
			struct vf_roce_qp *qp =
				VF_LIST_ENTRY(waiters->next, struct vf_roce_qp, tx_link);

			vf_qp_unready(qp);
			vf_qp_ready(qp);
		}
	}
}

static bool is_of_peer(const struct vf_roce_qp *qp, const struct vf_roce_rx *rx)
{
	return memcmp(rx->sgid, qp->attr.path.dgid, 16) == 0 &&
	       memcmp(rx->dgid, qp->attr.path.sgid, 16) == 0;
}

static void note_received(struct vf_roce_counters *c, const struct vf_roce_rx *rx)
{
	vf_count(c, VF_CNT_RCVD_PKTS);
	c->value[VF_CNT_RCVD_BYTES] += rx->len + 4u;
}

static void note_flow(struct vf_roce *r, vf_nsec now, const struct vf_roce_rx *rx,
		      struct vf_flow *flow)
{
	(void)r;
	if (flow)
		vf_flow_received(flow, now, vf_flow_cost(rx->len + 4u));
}

/* IBTA 9.6.1: equal but for the membership bit, and not both limited; ours is the default key
 * with full membership. */
static bool is_pkey_ours(uint16_t pkey)
{
	return (pkey & VF_PKEY_BASE_MASK) == (VF_PKEY_DEFAULT & VF_PKEY_BASE_MASK);
}

/* What every packet to a QP has to satisfy; VF_DROP_COUNT: all is well. */
static enum vf_roce_drop check_packet(const struct vf_roce_qp *qp, const struct vf_packet *pkt)
{
	if (pkt->op->type != (uint8_t)qp->cfg.type)
		return VF_DROP_BAD_OPCODE;
	if (!is_pkey_ours(pkt->pkey))
		return VF_DROP_BAD_PKEY;
	if (qp->attr.state < VF_ROCE_RTR || qp->attr.state == VF_ROCE_ERR)
		return VF_DROP_QP_STATE;
	if (qp->cfg.type != VF_ROCE_UD && !is_of_peer(qp, pkt->rx))
		return VF_DROP_WRONG_ADDRESS;
	return VF_DROP_COUNT;
}

static void receive_for_qp(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt)
{
	enum vf_roce_drop why = check_packet(qp, pkt);

	if (why != VF_DROP_COUNT) {
		vf_qp_drop(qp, why);
		return;
	}
	if (qp->cfg.type == VF_ROCE_UD) {
		note_flow(qp->r, now, pkt->rx, vf_flow_find(qp->r->flows, pkt->rx, pkt->src_qpn));
		vf_ud_receive(qp, now, pkt);
		return;
	}
	note_flow(qp->r, now, pkt->rx, qp->flow);
	if ((pkt->rx->traffic_class & 3u) == 3u)
		vf_responder_saw_mark(qp, now);
	if (pkt->op->flags & VF_OPF_RESPONSE)
		vf_completer_receive(qp, now, pkt);
	else
		vf_responder_receive(qp, now, pkt);
}

/* IBTA A17.9: the peer got marked packets of this QP. */
static void receive_cnp(struct vf_roce *r, vf_nsec now, const struct vf_roce_rx *rx)
{
	struct vf_roce_qp *qp = vf_roce_qp_find(r, vf_bth_dest_qpn(rx->data));

	note_received(qp ? qp->cfg.counters : r->counters, rx);
	if (!qp) {
		vf_count_drop(r->counters, VF_DROP_NO_QP);
	} else if (qp->cfg.type == VF_ROCE_UD || !qp->flow || !is_of_peer(qp, rx)) {
		vf_qp_drop(qp, VF_DROP_WRONG_ADDRESS);
	} else {
		note_flow(r, now, rx, qp->flow);
		vf_requester_cnp(qp, now);
	}
}

static void receive_flow(struct vf_roce *r, vf_nsec now, const struct vf_roce_rx *rx)
{
	note_received(r->counters, rx);
	if (vf_flow_receive_control(r->flows, now, rx))
		vf_count_drop(r->counters, VF_DROP_FLOW);
}

static void receive_one(struct vf_roce *r, vf_nsec now, const struct vf_roce_rx *rx)
{
	struct vf_packet pkt;
	enum vf_roce_drop why;
	struct vf_roce_qp *qp;

	if (rx->len >= VF_BTH_LEN && vf_flow_is_control(rx->data[VF_BTH_OPCODE])) {
		receive_flow(r, now, rx);
		return;
	}
	if (rx->len >= VF_BTH_LEN && rx->data[VF_BTH_OPCODE] == VF_OP_CNP) {
		receive_cnp(r, now, rx);
		return;
	}
	if (!vf_packet_parse(rx, &pkt, &why)) {
		note_received(r->counters, rx);
		vf_count_drop(r->counters, why);
		return;
	}
	if (pkt.dest_qpn == VF_ROCE_QPN_MULTICAST) {
		vf_mcast_receive(r, now, &pkt);
		return;
	}
	qp = vf_roce_qp_find(r, pkt.dest_qpn);
	note_received(qp ? qp->cfg.counters : r->counters, rx);
	if (qp)
		receive_for_qp(qp, now, &pkt);
	else
		vf_count_drop(r->counters, VF_DROP_NO_QP);
}

void vf_roce_receive(struct vf_roce *r, vf_nsec now, const struct vf_roce_rx *rx, unsigned count)
{
	vf_sq_deliver_sent(r);
	for (unsigned i = 0; i < count; i++)
		receive_one(r, now, &rx[i]);
	release_waiters(r);
}

/* ---- time ---- */

void vf_roce_tick(struct vf_roce *r, vf_nsec now)
{
	struct vf_timer *t;

	vf_sq_deliver_sent(r);
	vf_flow_tick(r->flows, now);
	while ((t = vf_timers_first(&r->timers)) != NULL && t->due <= now) {
		vf_timer_stop(&r->timers, t);
		vf_requester_timer(VF_CONTAINER_OF(t, struct vf_roce_qp, timer), now);
	}
	release_waiters(r);
}

vf_nsec vf_roce_deadline(const struct vf_roce *r)
{
	const struct vf_timer *t = vf_timers_first(&r->timers);
	vf_nsec flow = vf_flow_deadline(r->flows);

	if (!vf_list_is_empty(&r->answers) || !vf_list_is_empty(&r->ready) ||
	    !vf_list_is_empty(&r->sent))
		return 0;
	return t && t->due < flow ? t->due : flow;
}

/* ---- out ---- */

static void note_sent(struct vf_roce *r, const struct vf_roce_tx *tx)
{
	struct vf_roce_counters *c = tx->counters ? tx->counters : r->counters;

	vf_count(c, VF_CNT_SENT_PKTS);
	c->value[VF_CNT_SENT_BYTES] += tx->header_len + tx->payload_len + tx->pad_len + 4u;
}

static unsigned send_answers(struct vf_roce *r, vf_nsec now, struct vf_roce_tx *tx, unsigned max)
{
	unsigned n = 0;

	while (n < max && !vf_list_is_empty(&r->answers)) {
		struct vf_roce_qp *qp =
			VF_LIST_ENTRY(r->answers.next, struct vf_roce_qp, answer_link);

		if (vf_responder_answer(qp, now, &tx[n]))
			n++;
	}
	return n;
}

/* Responses and requests have sequences of their own; each goes first every other time. */
static enum vf_step next_of_qp(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx,
			       struct vf_flow **flow)
{
	enum vf_step step = VF_STEP_IDLE;

	if (qp->requests_first)
		step = vf_requester_next(qp, now, tx, flow);
	if (step != VF_STEP_IDLE)
		return step;
	*flow = qp->flow;
	step = vf_responder_next(qp, now, tx);
	if (step == VF_STEP_IDLE && !qp->requests_first)
		step = vf_requester_next(qp, now, tx, flow);
	return step;
}

static unsigned serve(struct vf_roce *r, vf_nsec now, struct vf_roce_tx *tx, unsigned max)
{
	struct vf_roce_qp *qp = VF_LIST_ENTRY(r->ready.next, struct vf_roce_qp, tx_link);
	unsigned quantum = max < VF_QUANTUM ? max : VF_QUANTUM, n = 0;
	enum vf_step step = VF_STEP_SENT;
	struct vf_flow *flow = NULL;

	while (n < quantum && (step = next_of_qp(qp, now, &tx[n], &flow)) == VF_STEP_SENT)
		n++;
	qp->requests_first = !qp->requests_first;
	if (step == VF_STEP_FLOW) {
		vf_qp_wait_for(qp, flow);
		return n;
	}
	vf_qp_unready(qp);
	if (step == VF_STEP_SENT)
		vf_qp_ready(qp);
	return n;
}

static unsigned send_flow(struct vf_roce *r, vf_nsec now, struct vf_roce_tx *tx, unsigned max)
{
	unsigned n = 0;

	while (n < max && vf_flow_transmit(r->flows, now, &tx[n]))
		n++;
	return n;
}

unsigned vf_roce_transmit(struct vf_roce *r, vf_nsec now, struct vf_roce_tx *tx, unsigned max)
{
	unsigned n;

	vf_sq_deliver_sent(r);
	n = send_flow(r, now, tx, max);
	n += send_answers(r, now, tx + n, max - n);
	release_waiters(r);
	while (n < max && !vf_list_is_empty(&r->ready))
		n += serve(r, now, tx + n, max - n);
	n += send_flow(r, now, tx + n, max - n); /* what these made it ask for */
	for (unsigned i = 0; i < n; i++)
		note_sent(r, &tx[i]);
	return n;
}

void vf_roce_tx_fault(struct vf_roce *r, vf_nsec now, const struct vf_roce_tx *tx)
{
	struct vf_roce_qp *qp = vf_roce_qp_find(r, (uint32_t)(tx->fault_token >> 40));

	(void)now;
	if (!qp || tx->fault_token == 0)
		return;
	if (tx->fault_token & VF_FAULT_RESPONSE)
		vf_responder_tx_fault(qp, tx);
	else
		vf_requester_tx_fault(qp, tx);
}

bool vf_roce_is_idle(const struct vf_roce *r)
{
	return vf_list_is_empty(&r->answers) && vf_list_is_empty(&r->ready) &&
	       vf_list_is_empty(&r->sent) && r->timers.count == 0 &&
	       vf_flow_table_is_idle(r->flows);
}

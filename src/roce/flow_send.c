/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sending half of a flow: how much may be on its way, and what to do about a peer that does not
 * answer.
 *
 *   fresh ──half of the first window sent, or somebody waits──▶ asking ──GRANT──▶ open ──idle 10
 * ms──▶ fresh (credit given back) ▲                │ └─ waited 1..16 ms, sent 1 MiB, or RC lost
 * something
 *
 * "asking" means that a HELLO is unanswered; HELLOs are repeated while there is something to send.
 * Who waits is let through when the silence exceeds its patience: RC at once (a peer that never
 * answered) or at the pace, the others at the pace. Prohibited: using credit while its return is
 * being announced, and using a GRANT from before the return.
 */
#include "roce/flow_state.h"

static const vf_nsec hello_wait_ns[] = {1 * VF_MSEC,  3 * VF_MSEC,   12 * VF_MSEC,
					48 * VF_MSEC, 186 * VF_MSEC, 750 * VF_MSEC};

void flow_sender_reset(struct vf_flow *f)
{
	f->tx = (struct flow_sender){
		.epoch = vf_rand_next(&f->table->rand),
		.limit = VF_FLOW_FIRST_WINDOW,
		/* One's own address: what else could answer there. */
		.has_peer = memcmp(f->path.sgid, f->path.dgid, 16) == 0,
	};
}

static bool has_waiters(const struct vf_flow *f)
{
	return f->tx.is_waiting && !vf_list_is_empty(&f->waiters);
}

static bool does_fit(const struct vf_flow *f, uint32_t cost)
{
	if (cost > FLOW_ONE_PACKET)
		cost = FLOW_ONE_PACKET;
	return f->tx.sent + cost <= f->tx.limit;
}

static void say_hello(struct vf_flow *f)
{
	f->tx.is_hello_due = true;
	flow_speak(f);
}

static void say_release(struct vf_flow *f)
{
	f->tx.is_release_due = true;
	flow_speak(f);
}

static void ask(struct vf_flow *f, vf_nsec now)
{
	if (f->tx.is_asking)
		return;
	f->tx.is_asking = true;
	f->tx.silent_since = now;
	f->tx.hello_tries = 0;
	say_hello(f);
}

/* The receiver may have taken it back meanwhile; its next GRANT says. */
static void void_credit(struct vf_flow *f)
{
	if (f->tx.is_open)
		f->tx.limit = f->tx.sent;
	f->tx.is_open = false;
}

/* Whoever sent nothing for a while starts with a first window again, and says that the rest is
 * free. */
static void renew_when_idle(struct vf_flow *f, vf_nsec now)
{
	if (f->tx.is_waiting || now - f->tx.last_sent < FLOW_IDLE_NS)
		return;
	if (f->tx.is_asking) {
		void_credit(f);
		return;
	}
	if (f->tx.is_open)
		say_release(f);
	f->tx.is_open = false;
	f->tx.limit = f->tx.sent + VF_FLOW_FIRST_WINDOW;
}

static vf_nsec patience_ns(const struct vf_flow *f, enum vf_roce_type type)
{
	if (type == VF_ROCE_RC)
		return FLOW_PATIENCE_RC_NS;
	return type == VF_ROCE_UC && f->tx.has_peer ? FLOW_PATIENCE_UC_NS : FLOW_PATIENCE_NS;
}

static void wait_for_credit(struct vf_flow *f, vf_nsec now, uint32_t cost)
{
	if (!f->tx.is_waiting) {
		f->tx.is_waiting = true;
		f->tx.wanted = cost;
		f->tx.patience_ns = f->tx.wake_at = VF_NSEC_NEVER;
		f->tx.probe_at = now + FLOW_PROBE_NS;
		f->tx.probe_step = 0;
		f->table->cfg.counters->value[VF_CNT_FLOW_STALLS]++;
	}
	if (cost < f->tx.wanted)
		f->tx.wanted = cost;
}

static bool may_send_at_pace(struct vf_flow *f, vf_nsec now, uint32_t cost)
{
	if (f->tx.pace_at <= now + FLOW_BURST_NS) {
		f->tx.does_pay = true;
		return true;
	}
	wait_for_credit(f, now, cost);
	if (f->tx.pace_at - FLOW_BURST_NS < f->tx.wake_at)
		f->tx.wake_at = f->tx.pace_at - FLOW_BURST_NS;
	flow_wake_by(f, f->tx.wake_at);
	return false;
}

bool vf_flow_may_send(struct vf_flow *f, vf_nsec now, uint32_t cost, enum vf_roce_type type)
{
	vf_nsec patience;

	f->tx.does_pay = false;
	if (f->table->cfg.is_off)
		return true;
	if (f->is_mute)
		return may_send_at_pace(f, now, cost);
	renew_when_idle(f, now);
	if (!has_waiters(f) && does_fit(f, cost))
		return true;
	patience = patience_ns(f, type);
	if (f->tx.is_asking && now - f->tx.silent_since >= patience) {
		if (type == VF_ROCE_RC && !f->tx.has_peer)
			return true;
		return may_send_at_pace(f, now, cost);
	}
	wait_for_credit(f, now, cost);
	if (patience < f->tx.patience_ns)
		f->tx.patience_ns = patience;
	if (!f->tx.is_open)
		ask(f, now);
	flow_wake_by(f, flow_sender_deadline(f));
	return false;
}

static bool is_time_to_ask(const struct vf_flow *f)
{
	uint64_t unsaid = f->tx.sent - f->tx.sent_at_hello;

	if (f->tx.is_open)
		return unsaid >= FLOW_HELLO_EACH;
	/* The second: many first windows, each hardly used, may pile up in front of a peer that
	 * stopped. */
	return f->tx.sent + VF_FLOW_FIRST_WINDOW / 2 >= f->tx.limit ||
	       unsaid >= 4 * VF_FLOW_FIRST_WINDOW;
}

void vf_flow_sent(struct vf_flow *f, vf_nsec now, uint32_t cost)
{
	if (f->table->cfg.is_off)
		return;
	if (f->tx.does_pay) {
		f->tx.pace_at =
			(f->tx.pace_at > now ? f->tx.pace_at : now) + (vf_nsec)cost * FLOW_PACE_NS;
		f->tx.does_pay = false;
	}
	if (f->is_mute)
		return;
	renew_when_idle(f, now);
	f->tx.sent += cost;
	f->tx.last_sent = now;
	if (is_time_to_ask(f))
		ask(f, now);
	flow_wake_by(f, flow_sender_deadline(f));
}

void vf_flow_lost_all(struct vf_flow *f, vf_nsec now)
{
	if (f->table->cfg.is_off || f->is_mute || !f->tx.is_open)
		return;
	ask(f, now);
	flow_wake_by(f, flow_sender_deadline(f));
}

static void let_go(struct vf_flow *f)
{
	if (vf_list_is_empty(&f->released))
		vf_list_add_tail(&f->table->released, &f->released);
}

static void probe_later(struct vf_flow *f, vf_nsec now)
{
	f->tx.probe_at = now + (FLOW_PROBE_NS << f->tx.probe_step);
	if (f->tx.probe_step < FLOW_PROBE_STEPS)
		f->tx.probe_step++;
}

/* Others wait at the receiver: what exceeds our share goes back, or all of it when we do not need
 * it. */
static void give_back(struct vf_flow *f, vf_nsec now, uint64_t limit)
{
	struct flow_sender *tx = &f->tx;

	if (!tx->is_waiting && now - tx->last_sent >= FLOW_RECALL_IDLE_NS) {
		tx->is_open = false;
		tx->limit = tx->sent + VF_FLOW_FIRST_WINDOW;
	} else if (limit < tx->limit) {
		tx->limit = limit > tx->sent ? limit : tx->sent;
	}
	say_release(f);
}

static void raise_limit(struct flow_sender *tx, uint64_t limit)
{
	if (limit <= tx->limit)
		return;
	tx->limit = limit;
	tx->probe_step = 0;
}

void flow_sender_granted(struct vf_flow *f, vf_nsec now, const struct flow_grant *g)
{
	if (g->peer_epoch != f->tx.epoch || (int32_t)(g->seq - f->tx.seq) > 0)
		return;
	f->tx.has_peer = true;
	if (f->tx.is_release_due)
		return;
	if ((int32_t)(g->seq - f->tx.release_seq) < 0) {
		if (g->is_recall)
			say_release(f); /* what we said on giving back was lost */
		return;
	}
	f->tx.is_asking = false;
	if (f->tx.is_open && g->epoch != f->tx.receiver_epoch)
		f->tx.limit = f->tx.sent; /* what the peer's predecessor granted is void */
	f->tx.receiver_epoch = g->epoch;
	f->tx.is_open = true;
	if (g->is_recall)
		give_back(f, now, g->limit);
	else
		raise_limit(&f->tx, g->limit);
	if (f->tx.is_waiting) {
		probe_later(f, now);
		if (does_fit(f, f->tx.wanted))
			let_go(f);
	}
	flow_wake_by(f, flow_sender_deadline(f));
}

/* The peer said something of its own: it lives, so a silence starts anew. */
void flow_sender_heard(struct vf_flow *f, vf_nsec now)
{
	f->tx.has_peer = true;
	if (!f->tx.is_asking || now - f->tx.silent_since < FLOW_PATIENCE_RC_NS)
		return;
	f->tx.is_asking = false;
	ask(f, now);
	flow_wake_by(f, flow_sender_deadline(f));
}

void flow_sender_make_hello(struct vf_flow *f, vf_nsec now, struct flow_hello *out)
{
	f->tx.seq++;
	*out = (struct flow_hello){
		.epoch = f->tx.epoch,
		.sent = f->tx.sent,
		.kept = f->tx.is_open ? f->tx.limit : f->tx.sent,
		.seq = f->tx.seq,
		.is_asking = f->tx.is_hello_due,
		.is_release = f->tx.is_release_due,
	};
	if (f->tx.is_release_due)
		f->tx.release_seq = f->tx.seq;
	if (f->tx.is_hello_due) {
		f->tx.sent_at_hello = f->tx.sent;
		f->tx.hello_at = now + hello_wait_ns[f->tx.hello_tries];
		if (f->tx.hello_tries + 1 < VF_ARRAY_SIZE(hello_wait_ns))
			f->tx.hello_tries++;
	}
	f->tx.is_hello_due = f->tx.is_release_due = false;
	flow_wake_by(f, flow_sender_deadline(f));
}

/* Is there a reason to ask again? */
static bool does_care(const struct vf_flow *f)
{
	return f->tx.is_open || f->tx.is_waiting || f->tx.sent != f->tx.sent_at_hello;
}

static vf_nsec earlier(vf_nsec a, vf_nsec b) { return a < b ? a : b; }

vf_nsec flow_sender_deadline(const struct vf_flow *f)
{
	const struct flow_sender *tx = &f->tx;
	vf_nsec d = VF_NSEC_NEVER;

	if (tx->is_waiting && vf_list_is_empty(&f->released)) {
		d = earlier(d, tx->wake_at);
		if (tx->is_asking && tx->patience_ns != VF_NSEC_NEVER)
			d = earlier(d, tx->silent_since + tx->patience_ns);
		if (!tx->is_asking && tx->is_open)
			d = earlier(d, tx->probe_at);
	}
	if (tx->is_asking && !tx->is_hello_due && does_care(f))
		d = earlier(d, tx->hello_at);
	if (tx->is_open && tx->is_asking)
		d = earlier(d, tx->silent_since + FLOW_STALE_NS);
	if (tx->is_open && !tx->is_asking && !tx->is_waiting)
		d = earlier(d, tx->last_sent + FLOW_IDLE_NS);
	return d;
}

void flow_sender_run(struct vf_flow *f, vf_nsec now)
{
	struct flow_sender *tx = &f->tx;

	if (tx->is_waiting && vf_list_is_empty(&f->waiters))
		tx->is_waiting = false; /* their queue pairs are gone */
	if (f->is_mute || !tx->is_asking) {
		if (tx->is_waiting && tx->wake_at <= now)
			let_go(f);
		if (tx->is_waiting && tx->is_open && tx->probe_at <= now)
			ask(f, now);
		renew_when_idle(f, now);
		return;
	}
	if (tx->is_waiting && (tx->wake_at <= now || (tx->patience_ns != VF_NSEC_NEVER &&
						      now - tx->silent_since >= tx->patience_ns)))
		let_go(f);
	if (tx->is_open && now - tx->silent_since >= FLOW_STALE_NS)
		void_credit(f);
	if (!tx->is_hello_due && tx->hello_at <= now && does_care(f))
		say_hello(f);
}

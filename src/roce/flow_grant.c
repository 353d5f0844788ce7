/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiving half of a flow: it divides the budget among those who send.
 *
 *   unknown ──HELLO──▶ known ──HELLO that asks──▶ active ──gave back, or silent for 30 ms──▶ known
 *
 * Each active flow's share is budget / active flows, but never less than one packet. A flow whose
 * outstanding credit fell to three quarters of its share stands in line; from the head of the line,
 * each is topped up to its share as soon as the budget has enough left for a useful part. When
 * somebody asked and cannot be served, the others are asked to give back what exceeds their share
 * (all, when they do not need it). So a newcomer is served as those who had more consume it, and
 * with more senders than packets fit, each gets one packet in turn. Prohibited: granting what
 * leaves a flow under one packet (it could wait with a remainder that nobody gets back), and more
 * in sum than the budget.
 */
#include "roce/flow_state.h"

static uint64_t outstanding(const struct vf_flow *f) { return f->rx.limit - f->rx.received; }

static void account(struct vf_flow *f, uint64_t received, uint64_t limit)
{
	f->table->outstanding -= outstanding(f);
	f->rx.received = received;
	f->rx.limit = limit > received ? limit : received;
	f->table->outstanding += outstanding(f);
}

static uint64_t share(const struct vf_flow_table *t)
{
	uint64_t s = t->cfg.rx_budget_bytes / (t->active ? t->active : 1);

	return s > FLOW_ONE_PACKET ? s : FLOW_ONE_PACKET;
}

static void activate(struct vf_flow *f)
{
	if (f->rx.is_active)
		return;
	f->rx.is_active = true;
	f->table->active++;
}

/* Takes back what was granted and not used. */
static void deactivate(struct vf_flow *f)
{
	account(f, f->rx.received, f->rx.received);
	vf_list_del(&f->wanting);
	if (!f->rx.is_active)
		return;
	f->rx.is_active = false;
	f->table->active--;
}

static void want(struct vf_flow *f)
{
	if (vf_list_is_empty(&f->wanting))
		vf_list_add_tail(&f->table->wanting, &f->wanting);
}

void flow_receiver_reset(struct vf_flow *f)
{
	deactivate(f);
	f->rx = (struct flow_receiver){.epoch = vf_rand_next(&f->table->rand)};
}

/* How much the flow would get now; 0 when it has to wait. */
static uint64_t grantable(const struct vf_flow *f)
{
	const struct vf_flow_table *t = f->table;
	uint64_t has = outstanding(f), s = share(t), need = s > has ? s - has : 0;
	uint64_t left = t->cfg.rx_budget_bytes > t->outstanding
				? t->cfg.rx_budget_bytes - t->outstanding
				: 0;
	uint64_t give = need < left ? need : left;

	if (has + give < FLOW_ONE_PACKET || (give < need && give < s / 4))
		return 0;
	return give;
}

bool flow_budget_can_serve(const struct vf_flow_table *t)
{
	const struct vf_flow *f;

	if (vf_list_is_empty(&t->wanting))
		return false;
	f = VF_LIST_ENTRY(t->wanting.next, struct vf_flow, wanting);
	return outstanding(f) >= share(t) || grantable(f) > 0;
}

static void recall(struct vf_flow_table *t)
{
	t->has_recalled = true;
	VF_LIST_FOR_EACH (it, &t->busy) {
		struct vf_flow *f = VF_LIST_ENTRY(it, struct vf_flow, busy);

		if (!f->rx.is_active || outstanding(f) == 0 || !vf_list_is_empty(&f->wanting))
			continue;
		f->rx.is_grant_due = f->rx.is_recall_due = true;
		flow_speak(f);
	}
}

void flow_budget_serve(struct vf_flow_table *t)
{
	while (flow_budget_can_serve(t)) {
		struct vf_flow *f = VF_LIST_ENTRY(t->wanting.next, struct vf_flow, wanting);
		uint64_t give = outstanding(f) >= share(t) ? 0 : grantable(f);

		vf_list_del(&f->wanting);
		if (give == 0)
			continue;
		account(f, f->rx.received, f->rx.limit + give);
		f->rx.is_grant_due = true;
		flow_speak(f);
	}
	if (!vf_list_is_empty(&t->wanting) && !t->has_recalled)
		recall(t);
}

void vf_flow_received(struct vf_flow *f, vf_nsec now, uint32_t cost)
{
	if (!f->rx.is_known || f->table->cfg.is_off)
		return;
	f->rx.last_heard = now;
	account(f, f->rx.received + cost, f->rx.limit);
	if (f->rx.is_active && outstanding(f) <= share(f->table) / 4 * 3)
		want(f);
}

static void begin(struct vf_flow *f, const struct flow_hello *h)
{
	flow_receiver_reset(f);
	f->rx.sender_epoch = h->epoch;
	f->rx.is_known = true;
	f->rx.seq = h->seq - 1;
	account(f, h->sent, h->sent);
}

void flow_receiver_greeted(struct vf_flow *f, vf_nsec now, const struct flow_hello *h)
{
	if (!f->rx.is_known || f->rx.sender_epoch != h->epoch)
		begin(f, h);
	f->rx.last_heard = now;
	if ((int32_t)(h->seq - f->rx.seq) > 0) {
		f->rx.seq = h->seq;
		account(f, h->sent, h->is_release && h->kept < f->rx.limit ? h->kept : f->rx.limit);
		if (h->is_release && h->kept <= h->sent)
			deactivate(f);
		if (h->is_asking)
			activate(f);
	}
	if (h->is_asking) {
		if (f->rx.is_active && outstanding(f) < share(f->table))
			want(f);
		f->table->has_recalled = false;
		f->rx.is_grant_due =
			true; /* even when there is nothing to give: it says that we live */
		flow_speak(f);
	}
	flow_wake_by(f, flow_receiver_deadline(f));
}

void flow_receiver_make_grant(struct vf_flow *f, struct flow_grant *out)
{
	uint64_t fair = f->rx.received + share(f->table);

	*out = (struct flow_grant){
		.epoch = f->rx.epoch,
		.peer_epoch = f->rx.sender_epoch,
		.limit = f->rx.is_recall_due && fair < f->rx.limit ? fair : f->rx.limit,
		.is_recall = f->rx.is_recall_due,
		.seq = f->rx.seq,
	};
	f->rx.is_grant_due = f->rx.is_recall_due = false;
}

vf_nsec flow_receiver_deadline(const struct vf_flow *f)
{
	return f->rx.is_active ? f->rx.last_heard + FLOW_RECLAIM_NS : VF_NSEC_NEVER;
}

void flow_receiver_run(struct vf_flow *f, vf_nsec now, bool is_late)
{
	if (flow_receiver_deadline(f) > now)
		return;
	if (is_late)
		f->rx.last_heard = now;
	else
		deactivate(f);
}

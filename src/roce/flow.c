/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow control (docs/flow-control.md): the table of flows, found by own address, peer's address and
 * peer's slot; and the timers. flow_send.c is the half of a flow that sends, flow_grant.c the half
 * that receives, flow_wire.c the packets.
 *
 * A flow that nobody references stays, because it may be the receiving half of a UD sender; the
 * oldest is taken when a new peer comes. Strangers (a HELLO from an unknown peer) never make the
 * table grow.
 */
#include "roce/flow_state.h"

#include <errno.h>
#include <stdlib.h>

#define FLOWS_AT_START 64
#define FLOWS_EASY     1024 /* below this, a new flow is new memory rather than an old one */
#define FLOWS_MAX      65536

static void flow_init(struct vf_flow_table *t, struct vf_flow *f)
{
	f->table = t;
	vf_list_init(&f->by_hash);
	vf_list_init(&f->by_age);
	vf_list_init(&f->busy);
	vf_list_init(&f->control);
	vf_list_init(&f->wanting);
	vf_list_init(&f->released);
	vf_list_init(&f->waiters);
	vf_list_add_tail(&t->free, &f->by_age);
}

static struct vf_flow *flow_alloc(struct vf_flow_table *t)
{
	struct vf_flow *f;

	if (t->flow_count == t->flow_max) {
		unsigned max = t->flow_max ? 2 * t->flow_max : FLOWS_AT_START;
		struct vf_flow **flows = realloc(t->flows, max * sizeof(struct vf_flow *));

		if (!flows)
			return NULL;
		t->flows = flows;
		t->flow_max = max;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	flow_init(t, f);
	t->flows[t->flow_count++] = f;
	return f;
}

int vf_flow_table_create(const struct vf_flow_config *cfg, struct vf_flow_table **out)
{
	struct vf_flow_table *t;

	if (!cfg->counters || cfg->slot > 255)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	if (t->cfg.rx_budget_bytes < FLOW_ONE_PACKET)
		t->cfg.rx_budget_bytes = FLOW_ONE_PACKET;
	t->deadline = VF_NSEC_NEVER;
	vf_rand_seed(&t->rand, cfg->seed);
	vf_list_init(&t->free);
	vf_list_init(&t->idle);
	vf_list_init(&t->busy);
	vf_list_init(&t->control);
	vf_list_init(&t->wanting);
	vf_list_init(&t->released);
	for (unsigned i = 0; i < FLOW_BUCKETS; i++)
		vf_list_init(&t->buckets[i]);
	for (unsigned i = 0; i < FLOWS_AT_START; i++) {
		if (!flow_alloc(t)) {
			vf_flow_table_destroy(t);
			return -ENOMEM;
		}
	}
	*out = t;
	return 0;
}

void vf_flow_table_destroy(struct vf_flow_table *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->flow_count; i++)
		free(t->flows[i]);
	free(t->flows);
	free(t);
}

static bool is_multicast(const uint8_t gid[16])
{
	static const uint8_t ipv4[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return gid[0] == 0xff || (memcmp(gid, ipv4, sizeof(ipv4)) == 0 && gid[12] >> 4 == 0xe);
}

static struct vf_list *bucket(struct vf_flow_table *t, const uint8_t own[16],
			      const uint8_t peer[16], unsigned slot)
{
	uint64_t h = slot;

	for (int i = 0; i < 16; i += 8) {
		h = (h ^ vf_load_be64(own + i)) * UINT64_C(0x9e3779b97f4a7c15);
		h = (h ^ h >> 32 ^ vf_load_be64(peer + i)) * UINT64_C(0xff51afd7ed558ccd);
	}
	return &t->buckets[(h ^ h >> 32) % FLOW_BUCKETS];
}

static struct vf_flow *lookup(struct vf_flow_table *t, const uint8_t own[16],
			      const uint8_t peer[16], unsigned slot)
{
	VF_LIST_FOR_EACH (it, bucket(t, own, peer, slot)) {
		struct vf_flow *f = VF_LIST_ENTRY(it, struct vf_flow, by_hash);

		if (f->slot == slot && !f->is_mute && memcmp(f->path.dgid, peer, 16) == 0 &&
		    memcmp(f->path.sgid, own, 16) == 0)
			return f;
	}
	return NULL;
}

static void retire(struct vf_flow *f)
{
	flow_receiver_reset(f);
	vf_list_del(&f->by_hash);
	vf_list_del(&f->by_age);
	vf_list_del(&f->busy);
	vf_list_del(&f->control);
	vf_list_del(&f->released);
	vf_list_add_tail(&f->table->free, &f->by_age);
}

/* One that is not in use: unused so far, or the one that was not referenced for longest. */
static struct vf_flow *take_free(struct vf_flow_table *t, bool may_grow)
{
	if (vf_list_is_empty(&t->free) && !vf_list_is_empty(&t->idle) &&
	    (!may_grow || t->flow_count >= FLOWS_EASY))
		retire(VF_LIST_ENTRY(t->idle.next, struct vf_flow, by_age));
	if (vf_list_is_empty(&t->free) && may_grow && t->flow_count < FLOWS_MAX)
		return flow_alloc(t);
	if (vf_list_is_empty(&t->free))
		return NULL;
	return VF_LIST_ENTRY(t->free.next, struct vf_flow, by_age);
}

static struct vf_flow *make(struct vf_flow_table *t, const struct vf_roce_path *path, unsigned slot,
			    bool may_grow)
{
	struct vf_flow *f = take_free(t, may_grow);

	if (!f)
		return NULL;
	vf_list_del(&f->by_age);
	f->path = *path;
	f->slot = slot;
	f->refs = 0;
	f->is_mute = false;
	flow_sender_reset(f);
	flow_receiver_reset(f);
	vf_list_add_tail(bucket(t, path->sgid, path->dgid, slot), &f->by_hash);
	return f;
}

struct vf_flow *vf_flow_get(struct vf_flow_table *t, const struct vf_roce_path *path,
			    uint32_t peer_qpn)
{
	unsigned slot = peer_qpn >> VF_ROCE_SLOT_SHIFT & 0xff;
	bool is_mute = peer_qpn == VF_ROCE_QPN_GSI || is_multicast(path->dgid);
	struct vf_flow *f = is_mute ? NULL : lookup(t, path->sgid, path->dgid, slot);

	if (f) {
		vf_list_del(&f->by_age);
		f->path = *path;
	} else {
		f = make(t, path, slot, true);
		if (!f)
			return NULL;
		f->is_mute = is_mute;
	}
	f->refs++;
	return f;
}

void vf_flow_put(struct vf_flow_table *t, struct vf_flow *f)
{
	if (--f->refs > 0)
		return;
	if (f->is_mute)
		retire(f);
	else
		vf_list_add_tail(&t->idle, &f->by_age);
}

struct vf_flow *vf_flow_find(struct vf_flow_table *t, const struct vf_roce_rx *rx, uint32_t src_qpn)
{
	if (src_qpn == VF_ROCE_QPN_GSI || is_multicast(rx->dgid))
		return NULL;
	return lookup(t, rx->dgid, rx->sgid, src_qpn >> VF_ROCE_SLOT_SHIFT & 0xff);
}

/* The flow of a control packet; a HELLO may make one. */
static struct vf_flow *flow_of_control(struct vf_flow_table *t, const struct vf_roce_rx *rx,
				       unsigned slot)
{
	struct vf_flow *f = lookup(t, rx->dgid, rx->sgid, slot);
	struct vf_roce_path path = {.hop_limit = 64, .host_tag = rx->host_tag};

	if (!f && rx->data[0] == FLOW_OPCODE_HELLO) {
		memcpy(path.sgid, rx->dgid, 16);
		memcpy(path.dgid, rx->sgid, 16);
		f = make(t, &path, slot, false);
	}
	if (f && f->refs == 0) {
		vf_list_del(&f->by_age);
		vf_list_add_tail(&t->idle, &f->by_age);
	}
	return f;
}

int vf_flow_receive_control(struct vf_flow_table *t, vf_nsec now, const struct vf_roce_rx *rx)
{
	int slot = flow_get_slot(rx, t->cfg.slot);
	struct flow_hello hello;
	struct flow_grant grant;
	struct vf_flow *f;

	if (slot < 0 || is_multicast(rx->dgid) || is_multicast(rx->sgid))
		return -EINVAL;
	if (t->cfg.is_off)
		return 0;
	f = flow_of_control(t, rx, (unsigned)slot);
	if (!f)
		return 0;
	if (rx->data[0] == FLOW_OPCODE_HELLO) {
		flow_get_hello(rx, &hello);
		flow_receiver_greeted(f, now, &hello);
		flow_sender_heard(f, now);
	} else {
		flow_get_grant(rx, &grant);
		t->cfg.counters->value[VF_CNT_FLOW_UPDATES_RCVD]++;
		flow_sender_granted(f, now, &grant);
	}
	return 0;
}

void flow_speak(struct vf_flow *f)
{
	if (vf_list_is_empty(&f->control))
		vf_list_add_tail(&f->table->control, &f->control);
}

void flow_wake_by(struct vf_flow *f, vf_nsec when)
{
	if (when == VF_NSEC_NEVER)
		return;
	if (vf_list_is_empty(&f->busy))
		vf_list_add_tail(&f->table->busy, &f->busy);
	if (when < f->table->deadline)
		f->table->deadline = when;
}

bool vf_flow_transmit(struct vf_flow_table *t, vf_nsec now, struct vf_roce_tx *out)
{
	struct flow_hello hello;
	struct flow_grant grant;
	struct vf_flow *f;

	flow_budget_serve(t);
	if (vf_list_is_empty(&t->control))
		return false;
	f = VF_LIST_ENTRY(t->control.next, struct vf_flow, control);
	if (f->tx.is_hello_due || f->tx.is_release_due) {
		flow_sender_make_hello(f, now, &hello);
		flow_put_hello(f, &hello, out);
	} else {
		flow_receiver_make_grant(f, &grant);
		flow_put_grant(f, &grant, out);
		t->cfg.counters->value[VF_CNT_FLOW_UPDATES_SENT]++;
	}
	if (!f->tx.is_hello_due && !f->tx.is_release_due && !f->rx.is_grant_due)
		vf_list_del(&f->control);
	return true;
}

void vf_flow_tick(struct vf_flow_table *t, vf_nsec now)
{
	bool is_late = now > t->deadline && now - t->deadline > FLOW_LATE_NS;

	if (now < t->deadline)
		return;
	t->deadline = VF_NSEC_NEVER;
	VF_LIST_FOR_EACH_SAFE (it, &t->busy) {
		struct vf_flow *f = VF_LIST_ENTRY(it, struct vf_flow, busy);
		vf_nsec tx, rx;

		flow_sender_run(f, now);
		flow_receiver_run(f, now, is_late);
		tx = flow_sender_deadline(f);
		rx = flow_receiver_deadline(f);
		if (tx == VF_NSEC_NEVER && rx == VF_NSEC_NEVER)
			vf_list_del(&f->busy);
		flow_wake_by(f, tx < rx ? tx : rx);
	}
}

vf_nsec vf_flow_deadline(const struct vf_flow_table *t)
{
	if (!vf_list_is_empty(&t->control) || !vf_list_is_empty(&t->released) ||
	    flow_budget_can_serve(t))
		return 0;
	return t->deadline;
}

struct vf_list *vf_flow_waiters(struct vf_flow *f) { return &f->waiters; }

struct vf_flow *vf_flow_next_released(struct vf_flow_table *t)
{
	while (!vf_list_is_empty(&t->released)) {
		struct vf_flow *f = VF_LIST_ENTRY(t->released.next, struct vf_flow, released);

		vf_list_del(&f->released);
		f->tx.is_waiting = false;
		if (!vf_list_is_empty(&f->waiters))
			return f;
	}
	return NULL;
}

bool vf_flow_table_is_idle(const struct vf_flow_table *t)
{
	unsigned unused = 0;

	for (unsigned i = 0; i < t->flow_count; i++)
		unused += t->flows[i]->refs == 0 && vf_list_is_empty(&t->flows[i]->waiters);
	return unused == t->flow_count && vf_list_is_empty(&t->released);
}

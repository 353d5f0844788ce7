/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow control in a small world of its own: nodes that want to send so many packets to each other, links that keep the
 * order, receive buffers of a fixed size as a socket has them, and a virtual clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "roce/flow_state.h"

#define NODES_MAX 65
#define BUDGET 400000u
#define BUFFER_SPARE 65536u /* for control packets, which no credit covers */

struct packet {
	vf_nsec at;
	uint64_t order;
	uint8_t from, to;
	bool is_control;
	uint32_t cost, len;
	uint8_t data[VF_ROCE_HEADERS_MAX];
};

struct link {
	struct vf_list waiter;
	struct vf_flow *flow;
	vf_nsec last_arrival;
	uint64_t backlog, sent, delivered;
	enum vf_roce_type type;
};

struct node {
	struct vf_flow_table *table;
	struct vf_roce_counters counters;
	struct vf_roce_path own; /* sgid is this node's address */
	struct link to[NODES_MAX];
	struct packet *buffer;
	unsigned buffered;
	uint32_t used, size; /* of the buffer, in cost units */
	vf_nsec run_at, stopped_until;
	unsigned rounds; /* runs at the same time */
	bool is_foreign;
};

struct world {
	struct node nodes[NODES_MAX];
	unsigned count;
	struct packet *heap;
	unsigned heaped;
	uint64_t order, overflows, controls;
	vf_nsec now;
	struct vf_rand rand;
	unsigned loss_percent;
	uint32_t wire_min, wire_max;
};

#define HEAP_MAX 65536u
#define BUFFERED_MAX 4096u

static bool is_before(const struct packet *a, const struct packet *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void swap(struct packet *a, struct packet *b)
{
	struct packet c = *a;

	*a = *b;
	*b = c;
}

static void heap_push(struct world *w, const struct packet *p)
{
	unsigned i = w->heaped++;

	assert_true(w->heaped < HEAP_MAX);
	w->heap[i] = *p;
	for (; i > 0 && is_before(&w->heap[i], &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&w->heap[i], &w->heap[(i - 1) / 2]);
}

static struct packet heap_pop(struct world *w)
{
	struct packet top = w->heap[0];
	unsigned i = 0, child;

	w->heap[0] = w->heap[--w->heaped];
	while ((child = 2 * i + 1) < w->heaped) {
		if (child + 1 < w->heaped && is_before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!is_before(&w->heap[child], &w->heap[i]))
			break;
		swap(&w->heap[child], &w->heap[i]);
		i = child;
	}
	return top;
}

static void node_start(struct world *w, unsigned i)
{
	struct vf_flow_config cfg = {
		.seed = vf_rand_next(&w->rand),
		.rx_budget_bytes = BUDGET,
		.counters = &w->nodes[i].counters,
		.slot = i,
	};

	assert_int_equal(vf_flow_table_create(&cfg, &w->nodes[i].table), 0);
}

static void link_open(struct world *w, unsigned from, unsigned to)
{
	struct node *n = &w->nodes[from];
	struct vf_roce_path path = n->own;

	memcpy(path.dgid, w->nodes[to].own.sgid, 16);
	n->to[to].flow = vf_flow_get(n->table, &path, to << VF_ROCE_SLOT_SHIFT | 77);
	assert_non_null(n->to[to].flow);
}

static struct world *world_make(unsigned count, uint64_t seed)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	vf_rand_seed(&w->rand, seed);
	w->heap = calloc(HEAP_MAX, sizeof(*w->heap));
	assert_non_null(w->heap);
	w->count = count;
	w->wire_min = 20;
	w->wire_max = 4160;
	for (unsigned i = 0; i < count; i++) {
		struct node *n = &w->nodes[i];

		n->own.sgid[10] = n->own.sgid[11] = 0xff;
		n->own.sgid[12] = 10;
		n->own.sgid[15] = (uint8_t)(i + 1);
		n->size = BUDGET + count * VF_FLOW_FIRST_WINDOW + BUFFER_SPARE;
		n->run_at = VF_NSEC_NEVER;
		n->buffer = calloc(BUFFERED_MAX, sizeof(*n->buffer));
		assert_non_null(n->buffer);
		node_start(w, i);
		for (unsigned k = 0; k < count; k++)
			vf_list_init(&n->to[k].waiter);
	}
	return w;
}

static void world_end(struct world *w)
{
	for (unsigned i = 0; i < w->count; i++) {
		struct node *n = &w->nodes[i];

		for (unsigned k = 0; k < w->count; k++) {
			vf_list_del(&n->to[k].waiter);
			if (n->to[k].flow)
				vf_flow_put(n->table, n->to[k].flow);
		}
		assert_true(vf_flow_table_is_idle(n->table));
		vf_flow_table_destroy(n->table);
		free(n->buffer);
	}
	free(w->heap);
	free(w);
}

static void send_packet(struct world *w, unsigned from, unsigned to, struct packet *p)
{
	struct link *l = &w->nodes[from].to[to];

	p->from = (uint8_t)from;
	p->to = (uint8_t)to;
	p->order = w->order++;
	p->at = w->now + 5 * VF_USEC + vf_rand_below(&w->rand, 20 * VF_USEC);
	if (p->at < l->last_arrival)
		p->at = l->last_arrival;
	l->last_arrival = p->at;
	if (vf_rand_below(&w->rand, 100) >= w->loss_percent)
		heap_push(w, p);
}

/* The socket: full means lost. */
static void arrive(struct world *w, const struct packet *p)
{
	struct node *n = &w->nodes[p->to];
	vf_nsec soon = w->now + vf_rand_below(&w->rand, 60 * VF_USEC);

	if (n->used + p->cost > n->size || n->buffered == BUFFERED_MAX) {
		w->overflows++;
		return;
	}
	n->used += p->cost;
	n->buffer[n->buffered++] = *p;
	if (n->run_at > soon)
		n->run_at = soon;
}

static void take_all(struct world *w, unsigned i)
{
	struct node *n = &w->nodes[i];

	for (unsigned k = 0; k < n->buffered; k++) {
		struct packet *p = &n->buffer[k];
		struct vf_roce_rx rx = {.data = p->data, .len = p->len};
		struct vf_flow *f;

		memcpy(rx.sgid, w->nodes[p->from].own.sgid, 16);
		memcpy(rx.dgid, n->own.sgid, 16);
		if (n->is_foreign && p->is_control)
			continue;
		if (p->is_control) {
			assert_int_equal(vf_flow_receive_control(n->table, w->now, &rx), 0);
			continue;
		}
		f = vf_flow_find(n->table, &rx, (uint32_t)p->from << VF_ROCE_SLOT_SHIFT);
		if (f)
			vf_flow_received(f, w->now, p->cost);
		w->nodes[p->from].to[i].delivered++;
	}
	n->buffered = 0;
	n->used = 0;
}

static void send_controls(struct world *w, unsigned i)
{
	struct node *n = &w->nodes[i];
	struct vf_roce_tx tx;

	while (vf_flow_transmit(n->table, w->now, &tx)) {
		struct packet p = {.is_control = true, .cost = vf_flow_cost(tx.header_len + 4u)};

		assert_true(vf_flow_is_control(tx.headers[0]));
		p.len = tx.header_len;
		memcpy(p.data, tx.headers, p.len);
		w->controls++;
		send_packet(w, i, tx.path->dgid[15] - 1u, &p);
	}
}

static void send_data(struct world *w, unsigned i)
{
	struct node *n = &w->nodes[i];
	bool is_moving = true;

	while (is_moving) {
		is_moving = false;
		for (unsigned k = 0; k < w->count; k++) {
			struct link *l = &n->to[k];
			uint32_t wire = w->wire_min +
					(uint32_t)vf_rand_below(&w->rand, w->wire_max - w->wire_min + 1);
			struct packet p = {.cost = vf_flow_cost(wire)};

			if (l->backlog == 0 || !vf_list_is_empty(&l->waiter))
				continue;
			if (!vf_flow_may_send(l->flow, w->now, p.cost, l->type)) {
				vf_list_add_tail(vf_flow_waiters(l->flow), &l->waiter);
				continue;
			}
			vf_flow_sent(l->flow, w->now, p.cost);
			l->backlog--;
			l->sent++;
			send_packet(w, i, k, &p);
			is_moving = true;
		}
	}
}

static void check_table(const struct vf_flow_table *t, unsigned loss_percent)
{
	uint64_t sum = 0;
	unsigned active = 0;

	for (unsigned i = 0; i < t->flow_count; i++) {
		sum += t->flows[i]->rx.limit - t->flows[i]->rx.received;
		active += t->flows[i]->rx.is_active;
	}
	assert_true(sum == t->outstanding);
	assert_int_equal(active, t->active);
	if (loss_percent == 0)
		assert_true(sum <= t->cfg.rx_budget_bytes);
}

static void node_run(struct world *w, unsigned i)
{
	struct node *n = &w->nodes[i];
	struct vf_flow *f;
	vf_nsec d;

	take_all(w, i);
	vf_flow_tick(n->table, w->now);
	while ((f = vf_flow_next_released(n->table)))
		VF_LIST_FOR_EACH_SAFE(it, vf_flow_waiters(f))
			vf_list_del(it);
	if (!n->is_foreign)
		send_controls(w, i);
	send_data(w, i);
	if (!n->is_foreign)
		send_controls(w, i);
	check_table(n->table, w->loss_percent);
	d = n->is_foreign ? VF_NSEC_NEVER : vf_flow_deadline(n->table);
	/* What is due at once is done in a few rounds: no spinning. */
	n->rounds = d <= w->now ? n->rounds + 1 : 0;
	assert_true(n->rounds < 4);
	n->run_at = d;
}

static void start_all(struct world *w)
{
	for (unsigned i = 0; i < w->count; i++)
		w->nodes[i].run_at = w->now;
}

static uint64_t backlog_of(const struct world *w)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < w->count; i++)
		for (unsigned k = 0; k < w->count; k++)
			sum += w->nodes[i].to[k].backlog;
	return sum;
}

/* Until nothing is left to send (or, with @is_to_the_end, to deliver and to say), or the time is over. */
static bool world_run(struct world *w, vf_nsec until, bool is_to_the_end)
{
	for (;;) {
		vf_nsec next = w->heaped ? w->heap[0].at : VF_NSEC_NEVER;
		unsigned who = w->count;

		if (!is_to_the_end && backlog_of(w) == 0)
			return true;
		for (unsigned i = 0; i < w->count; i++) {
			struct node *n = &w->nodes[i];
			vf_nsec at = n->run_at;

			if (at != VF_NSEC_NEVER && at < n->stopped_until)
				at = n->stopped_until;
			if (at < next) {
				next = at;
				who = i;
			}
		}
		if (next == VF_NSEC_NEVER)
			return backlog_of(w) == 0;
		if (next > until)
			return false;
		if (next > w->now)
			w->now = next;
		if (who < w->count) {
			node_run(w, who);
		} else {
			struct packet p = heap_pop(w);

			arrive(w, &p);
		}
	}
}

static void talk(struct world *w, unsigned from, unsigned to, uint64_t packets, enum vf_roce_type type)
{
	struct link *l = &w->nodes[from].to[to];

	if (!l->flow)
		link_open(w, from, to);
	l->backlog += packets;
	l->type = type;
}

/* @senders into node 0, and back when @is_both: all of it arrives. */
static void many_into_one(unsigned senders, uint64_t packets, bool is_both, uint64_t seed)
{
	struct world *w = world_make(senders + 1, seed);
	uint64_t least = UINT64_MAX, sum = 0;

	for (unsigned i = 1; i <= senders; i++) {
		talk(w, i, 0, packets, VF_ROCE_UC);
		if (is_both)
			talk(w, 0, i, packets, VF_ROCE_UC);
	}
	start_all(w);
	assert_true(world_run(w, 600 * VF_SEC, true));
	assert_true(w->overflows == 0);
	for (unsigned i = 1; i <= senders; i++) {
		assert_true(w->nodes[i].to[0].delivered == packets);
		if (is_both)
			assert_true(w->nodes[0].to[i].delivered == packets);
		sum += w->nodes[i].to[0].delivered;
		if (w->nodes[i].to[0].delivered < least)
			least = w->nodes[i].to[0].delivered;
	}
	/* Talk about the traffic stays below the traffic: a grant serves several packets when there is room for them. */
	assert_true(w->controls < (senders < 16 ? sum / 2 : 4 * sum) + 16);
	world_end(w);
}

static void one_unreliable_sender_loses_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		many_into_one(1, 20000, false, seed);
}

static void eight_unreliable_senders_into_one_lose_nothing_in_both_directions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		many_into_one(8, 30000, false, seed);
		many_into_one(8, 30000, true, seed);
	}
}

static void sixty_four_unreliable_senders_into_one_lose_nothing_in_both_directions(void **state)
{
	(void)state;
	many_into_one(64, 300, false, 1);
	many_into_one(64, 300, true, 2);
}

static void two_nodes_in_both_directions_lose_nothing(void **state)
{
	(void)state;
	many_into_one(1, 20000, true, 9);
}

static void senders_get_equal_shares_while_all_send(void **state)
{
	struct world *w = world_make(9, 4);
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	for (unsigned i = 1; i <= 8; i++)
		talk(w, i, 0, 1000000, VF_ROCE_UC);
	start_all(w);
	world_run(w, 500 * VF_MSEC, true);
	for (unsigned i = 1; i <= 8; i++) {
		uint64_t got = w->nodes[i].to[0].delivered;

		least = got < least ? got : least;
		most = got > most ? got : most;
	}
	assert_true(least > 1000 && most < 2 * least);
	world_end(w);
}

static void a_newcomer_gets_its_share_from_one_who_had_all(void **state)
{
	struct world *w = world_make(3, 5);

	(void)state;
	talk(w, 1, 0, 1000000, VF_ROCE_UC);
	start_all(w);
	world_run(w, 50 * VF_MSEC, true);
	talk(w, 2, 0, 1000000, VF_ROCE_UC);
	w->nodes[2].run_at = w->now;
	world_run(w, 250 * VF_MSEC, true);
	assert_true(w->nodes[2].to[0].delivered > w->nodes[1].to[0].delivered / 3);
	world_end(w);
}

static void a_newcomer_does_not_wait_for_one_who_holds_all_and_is_idle(void **state)
{
	struct world *w = world_make(3, 55);
	vf_nsec start;

	(void)state;
	talk(w, 1, 0, 1000, VF_ROCE_UC);
	start_all(w);
	assert_true(world_run(w, VF_SEC, false));
	world_run(w, w->now + VF_MSEC, true);
	assert_true(w->nodes[0].table->outstanding > BUDGET / 2);
	start = w->now;
	talk(w, 2, 0, 1000, VF_ROCE_UC);
	w->nodes[2].run_at = w->now;
	assert_true(world_run(w, start + 6 * VF_MSEC, false));
	world_end(w);
}

static void an_idle_sender_gives_its_credit_back(void **state)
{
	struct world *w = world_make(2, 6);

	(void)state;
	talk(w, 1, 0, 100, VF_ROCE_UC);
	start_all(w);
	assert_true(world_run(w, VF_SEC, false));
	assert_true(w->nodes[0].table->outstanding > 0);
	world_run(w, w->now + 2 * FLOW_IDLE_NS, true);
	assert_true(w->nodes[0].table->outstanding == 0);
	assert_int_equal(w->nodes[0].table->active, 0);
	for (int i = 0; i < 2; i++) {
		vf_flow_tick(w->nodes[i].table, w->now + VF_SEC);
		assert_true(vf_flow_deadline(w->nodes[i].table) == VF_NSEC_NEVER);
	}
	world_end(w);
}

static void a_receiver_takes_back_what_a_dead_sender_holds(void **state)
{
	struct world *w = world_make(2, 7);

	(void)state;
	talk(w, 1, 0, 1000000, VF_ROCE_UC);
	start_all(w);
	world_run(w, 20 * VF_MSEC, true);
	w->nodes[1].stopped_until = VF_NSEC_NEVER;
	world_run(w, w->now + 2 * FLOW_RECLAIM_NS, true);
	assert_true(w->nodes[0].table->outstanding == 0);
	world_end(w);
}

static void short_exchanges_need_no_words_at_all(void **state)
{
	struct world *w = world_make(2, 8);

	(void)state;
	w->wire_max = 100;
	for (int i = 0; i < 5; i++) {
		talk(w, 0, 1, 4, VF_ROCE_RC);
		start_all(w);
		world_run(w, w->now + 2 * FLOW_IDLE_NS, true);
		w->now += 2 * FLOW_IDLE_NS;
	}
	assert_true(w->controls == 0);
	assert_true(w->nodes[0].to[1].delivered == 20);
	world_end(w);
}

/* All to all, RC and UC; everything may be lost, control packets too. */
static void all_to_all_with_loss(unsigned loss_percent, uint64_t seed)
{
	unsigned count = 2 + (unsigned)seed % 7;
	struct world *w = world_make(count, 100 * loss_percent + seed);

	w->loss_percent = loss_percent;
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < count; k++)
			if (i != k)
				talk(w, i, k, 300, (i + k) % 2 ? VF_ROCE_UC : VF_ROCE_RC);
	start_all(w);
	assert_true(world_run(w, 400 * VF_SEC, false));
	world_end(w);
}

static void no_loss_of_any_kind_makes_anybody_wait_for_ever(void **state)
{
	static const unsigned percents[] = {1, 10, 30, 60, 90};

	(void)state;
	for (unsigned p = 0; p < VF_ARRAY_SIZE(percents); p++)
		for (uint64_t seed = 1; seed <= 8; seed++)
			all_to_all_with_loss(percents[p], seed);
}

static void losses_cost_a_fraction_of_the_throughput_only(void **state)
{
	struct world *w = world_make(2, 11);
	vf_nsec clean;

	(void)state;
	talk(w, 0, 1, 20000, VF_ROCE_UC);
	start_all(w);
	assert_true(world_run(w, 100 * VF_SEC, false));
	clean = w->now;
	w->loss_percent = 1;
	talk(w, 0, 1, 20000, VF_ROCE_UC);
	w->nodes[0].run_at = w->now;
	assert_true(world_run(w, 100 * VF_SEC, false));
	assert_true(w->now - clean < 3 * clean);
	world_end(w);
}

static void a_foreign_peer_gets_reliable_packets_freely_and_others_at_the_pace(void **state)
{
	struct world *w = world_make(2, 12);
	vf_nsec start;

	(void)state;
	w->nodes[1].is_foreign = true;
	w->nodes[1].size = UINT32_MAX;
	talk(w, 0, 1, 1000, VF_ROCE_RC);
	start_all(w);
	assert_true(world_run(w, FLOW_PATIENCE_RC_NS + VF_MSEC, false));
	w->wire_min = w->wire_max = 4112;
	talk(w, 0, 1, 10, VF_ROCE_UC);
	w->nodes[0].run_at = w->now;
	assert_true(world_run(w, w->now + FLOW_PATIENCE_NS, false));
	start = w->now;
	talk(w, 0, 1, 10000, VF_ROCE_UC);
	w->nodes[0].run_at = w->now;
	assert_true(world_run(w, w->now + VF_SEC, false));
	assert_in_range(w->now - start, 340 * VF_MSEC, 400 * VF_MSEC);
	/* A few HELLOs, then one each second. */
	assert_true(w->controls < 12);
	world_end(w);
}

static void a_peer_that_is_stopped_for_three_seconds_loses_no_unreliable_packet(void **state)
{
	struct world *w = world_make(2, 13);

	(void)state;
	talk(w, 0, 1, 30000, VF_ROCE_UC);
	start_all(w);
	world_run(w, 3 * VF_MSEC, true);
	assert_true(w->nodes[0].to[1].backlog > 0);
	w->nodes[1].stopped_until = 3 * VF_SEC;
	assert_true(world_run(w, 10 * VF_SEC, true));
	assert_true(w->overflows == 0);
	assert_true(w->nodes[0].to[1].delivered == 30000);
	world_end(w);
}

static void a_peer_that_died_lets_everybody_come_to_an_end(void **state)
{
	static const enum vf_roce_type types[] = {VF_ROCE_RC, VF_ROCE_UC, VF_ROCE_UD};

	(void)state;
	for (unsigned i = 0; i < VF_ARRAY_SIZE(types); i++) {
		struct world *w = world_make(2, 14 + i);

		talk(w, 0, 1, 30000, types[i]);
		start_all(w);
		world_run(w, 3 * VF_MSEC, true);
		assert_true(w->nodes[0].to[1].backlog > 0);
		w->nodes[1].stopped_until = VF_NSEC_NEVER;
		assert_true(world_run(w, types[i] == VF_ROCE_UC ? 6 * VF_SEC : VF_SEC, false));
		world_end(w);
	}
}

static void a_peer_that_restarts_in_its_slot_is_greeted_anew_and_loses_nothing_more(void **state)
{
	struct world *w = world_make(2, 20);
	uint64_t delivered, sent;

	(void)state;
	talk(w, 0, 1, 30000, VF_ROCE_UC);
	talk(w, 1, 0, 30000, VF_ROCE_UC);
	start_all(w);
	world_run(w, 3 * VF_MSEC, true);
	assert_true(w->nodes[0].to[1].backlog > 0);
	vf_list_del(&w->nodes[1].to[0].waiter);
	vf_flow_table_destroy(w->nodes[1].table);
	w->nodes[1].buffered = w->nodes[1].used = 0;
	node_start(w, 1);
	link_open(w, 1, 0);
	w->nodes[1].run_at = w->now;
	world_run(w, w->now + 30 * VF_MSEC, true);
	delivered = w->nodes[0].to[1].delivered;
	sent = w->nodes[0].to[1].sent;
	assert_true(world_run(w, 10 * VF_SEC, true));
	assert_true(w->overflows == 0);
	assert_true(w->nodes[0].to[1].sent == 30000 && w->nodes[1].to[0].sent == 30000);
	assert_true(30000 - w->nodes[0].to[1].delivered <= sent - delivered);
	world_end(w);
}

static void garbage_and_other_vendors_packets_are_refused(void **state)
{
	struct world *w = world_make(2, 30);
	uint8_t data[64] = {0};
	struct vf_roce_rx rx = {.data = data};
	struct vf_flow_table *t = w->nodes[0].table;
	struct vf_roce_tx tx;

	(void)state;
	talk(w, 1, 0, 100, VF_ROCE_UC);
	(void)vf_flow_may_send(w->nodes[1].to[0].flow, 0, 1000, VF_ROCE_UC);
	vf_flow_sent(w->nodes[1].to[0].flow, 0, VF_FLOW_FIRST_WINDOW);
	assert_true(vf_flow_transmit(w->nodes[1].table, 0, &tx));
	memcpy(rx.sgid, w->nodes[1].own.sgid, 16);
	memcpy(rx.dgid, w->nodes[0].own.sgid, 16);
	for (rx.len = 12; rx.len < 64; rx.len++) {
		memcpy(data, tx.headers, sizeof(data));
		if (rx.len != tx.header_len)
			assert_int_equal(vf_flow_receive_control(t, 0, &rx), -22);
	}
	rx.len = tx.header_len;
	for (int at = 12; at <= 16; at++) {
		memcpy(data, tx.headers, sizeof(data));
		data[at] ^= 0x40;
		assert_int_equal(vf_flow_receive_control(t, 0, &rx), -22);
	}
	memcpy(data, tx.headers, sizeof(data));
	data[5] ^= 1; /* another slot */
	assert_int_equal(vf_flow_receive_control(t, 0, &rx), -22);
	assert_true(vf_flow_deadline(t) == VF_NSEC_NEVER);
	data[5] ^= 1;
	assert_int_equal(vf_flow_receive_control(t, 0, &rx), 0);
	assert_true(vf_flow_deadline(t) == 0);
	world_end(w);
}

static void strangers_cannot_make_the_table_grow_or_hold_the_budget(void **state)
{
	struct world *w = world_make(2, 31);
	struct vf_flow_table *t = w->nodes[0].table;
	uint8_t data[64];
	struct vf_roce_rx rx = {.data = data};
	struct vf_roce_tx tx;
	unsigned before = t->flow_count;

	(void)state;
	talk(w, 1, 0, 100, VF_ROCE_UC);
	(void)vf_flow_may_send(w->nodes[1].to[0].flow, 0, 1000, VF_ROCE_UC);
	vf_flow_sent(w->nodes[1].to[0].flow, 0, VF_FLOW_FIRST_WINDOW);
	assert_true(vf_flow_transmit(w->nodes[1].table, 0, &tx));
	memcpy(data, tx.headers, sizeof(data));
	rx.len = tx.header_len;
	memcpy(rx.dgid, w->nodes[0].own.sgid, 16);
	for (uint32_t i = 0; i < 100000; i++) {
		memcpy(rx.sgid, w->nodes[1].own.sgid, 16);
		vf_store_be24(rx.sgid + 13, i);
		assert_int_equal(vf_flow_receive_control(t, i, &rx), 0);
		while (i % 3 == 0 && vf_flow_transmit(t, i, &tx))
			continue;
		assert_true(t->outstanding <= BUDGET);
	}
	assert_int_equal(t->flow_count, before);
	check_table(t, 0);
	vf_flow_tick(t, 100000 + 2 * FLOW_RECLAIM_NS);
	assert_true(t->outstanding == 0);
	world_end(w);
}

static void multicast_and_gsi_traffic_is_only_paced(void **state)
{
	struct world *w = world_make(1, 32);
	struct vf_flow_table *t = w->nodes[0].table;
	struct vf_roce_path path = w->nodes[0].own;
	struct vf_list waiter;
	struct vf_flow *f;
	vf_nsec now = 0;

	(void)state;
	path.dgid[0] = 0xff;
	f = vf_flow_get(t, &path, VF_ROCE_QPN_MULTICAST);
	vf_list_init(&waiter);
	for (int i = 0; i < 1000; i++) {
		while (!vf_flow_may_send(f, now, 9000, VF_ROCE_UD)) {
			vf_list_add_tail(vf_flow_waiters(f), &waiter);
			assert_true(vf_flow_deadline(t) > now);
			now = vf_flow_deadline(t);
			vf_flow_tick(t, now);
			assert_ptr_equal(vf_flow_next_released(t), f);
			vf_list_del(&waiter);
		}
		vf_flow_sent(f, now, 9000);
	}
	assert_in_range(now, 35 * VF_MSEC, 37 * VF_MSEC);
	assert_false(vf_flow_transmit(t, now, &(struct vf_roce_tx){0}));
	vf_flow_put(t, f);
	memset(path.dgid, 0xfd, 16);
	f = vf_flow_get(t, &path, VF_ROCE_QPN_GSI);
	vf_flow_sent(f, now, 100000);
	assert_false(vf_flow_transmit(t, now, &(struct vf_roce_tx){0}));
	vf_flow_put(t, f);
	world_end(w);
}

static void when_it_is_off_nothing_waits_and_nothing_is_said(void **state)
{
	struct vf_roce_counters counters = {0};
	struct vf_flow_config cfg = {.counters = &counters, .is_off = true};
	struct vf_roce_path path = {.dgid = {1}};
	struct vf_flow_table *t;
	struct vf_flow *f;

	(void)state;
	assert_int_equal(vf_flow_table_create(&cfg, &t), 0);
	f = vf_flow_get(t, &path, 5);
	for (int i = 0; i < 1000; i++) {
		assert_true(vf_flow_may_send(f, 0, 9000, VF_ROCE_UC));
		vf_flow_sent(f, 0, 9000);
		vf_flow_lost_all(f, 0);
	}
	assert_false(vf_flow_transmit(t, 0, &(struct vf_roce_tx){0}));
	assert_true(vf_flow_deadline(t) == VF_NSEC_NEVER);
	vf_flow_put(t, f);
	vf_flow_table_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_unreliable_sender_loses_nothing),
		cmocka_unit_test(two_nodes_in_both_directions_lose_nothing),
		cmocka_unit_test(eight_unreliable_senders_into_one_lose_nothing_in_both_directions),
		cmocka_unit_test(sixty_four_unreliable_senders_into_one_lose_nothing_in_both_directions),
		cmocka_unit_test(senders_get_equal_shares_while_all_send),
		cmocka_unit_test(a_newcomer_gets_its_share_from_one_who_had_all),
		cmocka_unit_test(a_newcomer_does_not_wait_for_one_who_holds_all_and_is_idle),
		cmocka_unit_test(an_idle_sender_gives_its_credit_back),
		cmocka_unit_test(a_receiver_takes_back_what_a_dead_sender_holds),
		cmocka_unit_test(short_exchanges_need_no_words_at_all),
		cmocka_unit_test(no_loss_of_any_kind_makes_anybody_wait_for_ever),
		cmocka_unit_test(losses_cost_a_fraction_of_the_throughput_only),
		cmocka_unit_test(a_foreign_peer_gets_reliable_packets_freely_and_others_at_the_pace),
		cmocka_unit_test(a_peer_that_is_stopped_for_three_seconds_loses_no_unreliable_packet),
		cmocka_unit_test(a_peer_that_died_lets_everybody_come_to_an_end),
		cmocka_unit_test(a_peer_that_restarts_in_its_slot_is_greeted_anew_and_loses_nothing_more),
		cmocka_unit_test(garbage_and_other_vendors_packets_are_refused),
		cmocka_unit_test(strangers_cannot_make_the_table_grow_or_hold_the_budget),
		cmocka_unit_test(multicast_and_gsi_traffic_is_only_paced),
		cmocka_unit_test(when_it_is_off_nothing_waits_and_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

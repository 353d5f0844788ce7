/* SPDX-License-Identifier: BSD-2-Clause */
/* The small world: a heap of packets, the nodes' buffers, and the clock that jumps to what is next.
 */
#include "flow_world_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEAP_MAX     65536u
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

void node_start(struct world *w, unsigned i)
{
	struct vf_flow_config cfg = {
		.seed = vf_rand_next(&w->rand),
		.rx_budget_bytes = BUDGET,
		.counters = &w->nodes[i].counters,
		.slot = i,
	};

	assert_int_equal(vf_flow_table_create(&cfg, &w->nodes[i].table), 0);
}

void link_open(struct world *w, unsigned from, unsigned to)
{
	struct node *n = &w->nodes[from];
	struct vf_roce_path path = n->own;

	memcpy(path.dgid, w->nodes[to].own.sgid, 16);
	n->to[to].flow = vf_flow_get(n->table, &path, to << VF_ROCE_SLOT_SHIFT | 77);
	assert_non_null(n->to[to].flow);
}

struct world *world_make(unsigned count, uint64_t seed)
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

void world_end(struct world *w)
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
			uint32_t wire =
				w->wire_min +
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

void check_table(const struct vf_flow_table *t, unsigned loss_percent)
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
		VF_LIST_FOR_EACH_SAFE (it, vf_flow_waiters(f))
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

void start_all(struct world *w)
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

/* Until nothing is left to send (or, with @is_to_the_end, to deliver and to say), or the time is
 * over. */
bool world_run(struct world *w, vf_nsec until, bool is_to_the_end)
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

void talk(struct world *w, unsigned from, unsigned to, uint64_t packets, enum vf_roce_type type)
{
	struct link *l = &w->nodes[from].to[to];

	if (!l->flow)
		link_open(w, from, to);
	l->backlog += packets;
	l->type = type;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzzer: flow control packets, forged by the input in the name of several peers, while traffic
 * goes both ways. The sums of the table stay right, nothing spins, and every waiter is let go in
 * the end. An input is a sequence of records: kind, peer, then 6 bytes that mean what the kind
 * says.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "roce/flow_state.h"

#define PEERS  4
#define RECORD 8

enum kind { HELLO, GRANT, GARBAGE, SEND, RECEIVED, TIME, LOST, PUT, KINDS };

struct world {
	struct vf_flow_table *table;
	struct vf_roce_counters counters;
	struct vf_roce_path paths[PEERS];
	struct vf_flow *flows[PEERS];
	struct vf_list waiters[PEERS];
	vf_nsec now;
};

static void check(const struct vf_flow_table *t)
{
	uint64_t sum = 0;
	unsigned active = 0;

	for (unsigned i = 0; i < t->flow_count; i++) {
		const struct vf_flow *f = t->flows[i];

		if (f->rx.limit < f->rx.received)
			abort();
		sum += f->rx.limit - f->rx.received;
		active += f->rx.is_active;
	}
	if (sum != t->outstanding || active != t->active)
		abort();
}

/* What is due is said and done; a table that never comes to rest at one time has failed. */
static void settle(struct world *w)
{
	struct vf_roce_tx tx;
	struct vf_flow *f;
	int rounds = 0;

	while (vf_flow_deadline(w->table) <= w->now) {
		if (++rounds > 1000)
			abort();
		vf_flow_tick(w->table, w->now);
		while ((f = vf_flow_next_released(w->table)))
			VF_LIST_FOR_EACH_SAFE (it, vf_flow_waiters(f))
				vf_list_del(it);
		while (vf_flow_transmit(w->table, w->now, &tx))
			if (!vf_flow_is_control(tx.headers[0]) ||
			    tx.header_len > VF_ROCE_HEADERS_MAX)
				abort();
	}
	check(w->table);
}

static void control(struct world *w, unsigned peer, const uint8_t *b, enum kind kind)
{
	uint8_t data[64] = {0};
	struct vf_roce_rx rx = {.data = data, .len = 52};
	const struct vf_flow *f = w->flows[peer];

	memcpy(rx.sgid, w->paths[peer].dgid, 16);
	memcpy(rx.dgid, w->paths[peer].sgid, 16);
	data[0] = kind == HELLO ? 0xc1 : 0xc2;
	vf_store_be24(data + 5, 1u << 16 | peer);
	vf_store_be32(data + 12, 0x56466663);
	data[16] = 1;
	data[17] = b[0];
	/* Numbers near those that mean something, or far from them. */
	vf_store_be32(data + 20, b[1] & 0x80 || !f ? b[1] : f->tx.seq + b[1]);
	vf_store_be64(data + 24, b[2] & 3);
	vf_store_be64(data + 32, b[3] == 255 ? UINT64_MAX - b[4] : (uint64_t)b[3] << b[4] % 60);
	vf_store_be64(data + 40, f && b[5] & 1 ? f->tx.epoch : (uint64_t)b[5] << b[4] % 60);
	if (kind == GARBAGE) {
		rx.len = b[0] % 64;
		data[12 + b[1] % 40] ^= b[2];
	}
	(void)vf_flow_receive_control(w->table, w->now, &rx);
}

static void send(struct world *w, unsigned peer, const uint8_t *b)
{
	uint32_t cost = vf_flow_cost(16u + b[0] * 16u);

	if (!w->flows[peer])
		w->flows[peer] = vf_flow_get(w->table, &w->paths[peer], peer << 16 | 5);
	if (!w->flows[peer])
		abort();
	for (int i = 0; i <= b[1]; i++) {
		if (!vf_list_is_empty(&w->waiters[peer]))
			return;
		if (vf_flow_may_send(w->flows[peer], w->now, cost, (enum vf_roce_type)(b[2] % 3)))
			vf_flow_sent(w->flows[peer], w->now, cost);
		else
			vf_list_add_tail(vf_flow_waiters(w->flows[peer]), &w->waiters[peer]);
	}
}

static void record(struct world *w, const uint8_t *b)
{
	enum kind kind = (enum kind)(b[0] % KINDS);
	unsigned peer = b[1] % PEERS;
	struct vf_flow *f = w->flows[peer];

	if (kind == HELLO || kind == GRANT || kind == GARBAGE) {
		control(w, peer, b + 2, kind);
	} else if (kind == SEND) {
		send(w, peer, b + 2);
	} else if (kind == TIME) {
		w->now += (vf_nsec)b[2] << b[3] % 30;
	} else if (f && kind == RECEIVED) {
		vf_flow_received(f, w->now, vf_flow_cost(b[2] * 16u));
	} else if (f && kind == LOST) {
		vf_flow_lost_all(f, w->now);
	} else if (f && kind == PUT) {
		vf_list_del(&w->waiters[peer]);
		vf_flow_put(w->table, f);
		w->flows[peer] = NULL;
	}
	settle(w);
}

static void finish(struct world *w)
{
	vf_nsec end = w->now + 1000 * VF_SEC;

	for (int i = 0; i < 10000 && vf_flow_deadline(w->table) != VF_NSEC_NEVER && w->now < end;
	     i++) {
		w->now = vf_flow_deadline(w->table) > w->now ? vf_flow_deadline(w->table) : w->now;
		settle(w);
	}
	for (unsigned i = 0; i < PEERS; i++) {
		if (!vf_list_is_empty(&w->waiters[i]))
			abort();
		if (w->flows[i])
			vf_flow_put(w->table, w->flows[i]);
	}
	if (!vf_flow_table_is_idle(w->table))
		abort();
	vf_flow_table_destroy(w->table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w = {.now = 1};
	struct vf_flow_config cfg = {
		.seed = 1, .rx_budget_bytes = 100000, .counters = &w.counters, .slot = 1};

	if (vf_flow_table_create(&cfg, &w.table))
		abort();
	for (unsigned i = 0; i < PEERS; i++) {
		w.paths[i].sgid[0] = 0xfd;
		w.paths[i].dgid[0] = 0xfd;
		w.paths[i].dgid[15] = (uint8_t)(1 + i / 2);
		vf_list_init(&w.waiters[i]);
	}
	w.paths[3].dgid[0] = 0xff; /* multicast */
	for (; size >= RECORD; data += RECORD, size -= RECORD)
		record(&w, data);
	finish(&w);
	return 0;
}

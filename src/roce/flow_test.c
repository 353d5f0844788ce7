/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow control: nothing is lost, shares are fair, nobody waits for ever. flow_world_fake.h is the
 * world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flow_world_fake.h"

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
	/* Talk about the traffic stays below the traffic: a grant serves several packets when there
	 * is room for them. */
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

/* Budget for 42 packets, 64 who want to send one: a remainder here and there must not block them
 * all. */
static void more_senders_than_packets_fit_take_turns(void **state)
{
	struct world *w = world_make(65, 3);

	(void)state;
	w->wire_min = 4100;
	for (unsigned i = 1; i <= 64; i++)
		talk(w, i, 0, 200, VF_ROCE_UC);
	start_all(w);
	assert_true(world_run(w, VF_SEC, true));
	assert_true(w->overflows == 0);
	world_end(w);
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

static void a_give_back_that_was_lost_is_said_again_when_credit_is_called_back(void **state)
{
	struct world *w = world_make(2, 34);
	struct vf_flow *sending, *granting;
	struct vf_roce_rx rx = {.len = 52};
	struct flow_grant grant;
	struct vf_roce_tx tx;

	(void)state;
	talk(w, 1, 0, 100, VF_ROCE_UC);
	start_all(w);
	assert_true(world_run(w, VF_SEC, false));
	world_run(w, w->now + VF_MSEC, true);
	sending = w->nodes[1].to[0].flow;
	memcpy(rx.sgid, w->nodes[1].own.sgid, 16);
	memcpy(rx.dgid, w->nodes[0].own.sgid, 16);
	granting = vf_flow_find(w->nodes[0].table, &rx, 1 << VF_ROCE_SLOT_SHIFT);
	assert_true(w->nodes[0].table->outstanding > 0);
	w->now += FLOW_IDLE_NS + VF_MSEC;
	vf_flow_tick(w->nodes[1].table, w->now);
	assert_true(vf_flow_transmit(w->nodes[1].table, w->now, &tx)); /* lost */
	assert_int_equal(tx.headers[17], 2);
	granting->rx.is_recall_due = true;
	flow_receiver_make_grant(granting, &grant);
	flow_sender_granted(sending, w->now, &grant);
	assert_true(vf_flow_transmit(w->nodes[1].table, w->now, &tx));
	assert_int_equal(tx.headers[17], 2);
	rx.data = tx.headers;
	assert_int_equal(vf_flow_receive_control(w->nodes[0].table, w->now, &rx), 0);
	assert_true(w->nodes[0].table->outstanding == 0);
	world_end(w);
}

static void a_stranger_is_answered_where_it_came_from(void **state)
{
	struct world *w = world_make(2, 33);
	struct vf_flow_table *t = w->nodes[0].table;
	uint8_t data[64];
	struct vf_roce_rx rx = {.data = data, .host_tag = 9};
	struct vf_roce_tx tx;

	(void)state;
	talk(w, 1, 0, 100, VF_ROCE_UD);
	vf_flow_sent(w->nodes[1].to[0].flow, 0, VF_FLOW_FIRST_WINDOW);
	assert_true(vf_flow_transmit(w->nodes[1].table, 0, &tx));
	memcpy(data, tx.headers, sizeof(data));
	rx.len = tx.header_len;
	memcpy(rx.sgid, w->nodes[1].own.sgid, 16);
	memcpy(rx.dgid, w->nodes[0].own.sgid, 16);
	assert_int_equal(vf_flow_receive_control(t, 0, &rx), 0);
	assert_true(vf_flow_transmit(t, 0, &tx));
	assert_int_equal(tx.headers[0], FLOW_OPCODE_GRANT);
	assert_memory_equal(tx.path->dgid, rx.sgid, 16);
	assert_memory_equal(tx.path->sgid, rx.dgid, 16);
	assert_int_equal(tx.path->host_tag, 9);
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
	vf_flow_tick(t, 100000 + 2 * FLOW_RECLAIM_NS); /* late, so it takes nothing back yet */
	assert_true(t->outstanding > 0);
	vf_flow_tick(t, 100000 + 3 * FLOW_RECLAIM_NS);
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
		cmocka_unit_test(
			sixty_four_unreliable_senders_into_one_lose_nothing_in_both_directions),
		cmocka_unit_test(more_senders_than_packets_fit_take_turns),
		cmocka_unit_test(senders_get_equal_shares_while_all_send),
		cmocka_unit_test(a_newcomer_gets_its_share_from_one_who_had_all),
		cmocka_unit_test(a_newcomer_does_not_wait_for_one_who_holds_all_and_is_idle),
		cmocka_unit_test(an_idle_sender_gives_its_credit_back),
		cmocka_unit_test(a_receiver_takes_back_what_a_dead_sender_holds),
		cmocka_unit_test(short_exchanges_need_no_words_at_all),
		cmocka_unit_test(no_loss_of_any_kind_makes_anybody_wait_for_ever),
		cmocka_unit_test(losses_cost_a_fraction_of_the_throughput_only),
		cmocka_unit_test(
			a_foreign_peer_gets_reliable_packets_freely_and_others_at_the_pace),
		cmocka_unit_test(
			a_peer_that_is_stopped_for_three_seconds_loses_no_unreliable_packet),
		cmocka_unit_test(a_peer_that_died_lets_everybody_come_to_an_end),
		cmocka_unit_test(
			a_peer_that_restarts_in_its_slot_is_greeted_anew_and_loses_nothing_more),
		cmocka_unit_test(garbage_and_other_vendors_packets_are_refused),
		cmocka_unit_test(
			a_give_back_that_was_lost_is_said_again_when_credit_is_called_back),
		cmocka_unit_test(a_stranger_is_answered_where_it_came_from),
		cmocka_unit_test(strangers_cannot_make_the_table_grow_or_hold_the_budget),
		cmocka_unit_test(multicast_and_gsi_traffic_is_only_paced),
		cmocka_unit_test(when_it_is_off_nothing_waits_and_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

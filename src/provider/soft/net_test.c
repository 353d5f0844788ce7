/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network side between processes of this host: sealing, runs, forwarding, steering, faults,
 * death, fork, impairment. The engine is a fake that sends and checks numbered packets.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/reason.h"
#include "provider/soft/net_fake.h"

static struct fake_command send_to(unsigned slot, unsigned count, unsigned len)
{
	return (struct fake_command){
		.op = FAKE_SEND, .slot = slot, .count = count, .len = len, .gone = -1};
}

static uint64_t dropped(const struct fake_report *r, enum vf_roce_drop d)
{
	return r->counters.value[VF_CNT_DROP_FIRST + (int)d];
}

static void assert_clean(const struct fake_report *r)
{
	assert_int_equal(r->disorder, 0);
	assert_int_equal(r->damaged, 0);
	assert_int_equal(dropped(r, VF_DROP_ICRC), 0);
	assert_int_equal(dropped(r, VF_DROP_NO_QP), 0);
}

struct transfer {
	struct fake_node a, b;
	uint64_t sent;
};

static void transfer(struct transfer *t, struct fake_command c)
{
	struct fake_report r;

	assert_int_equal(fake_node_command(&t->a, &c, &r), 0);
	assert_int_equal(r.error, 0);
	if (dropped(&r, VF_DROP_SOCKET))
		return; /* no IPv6 here */
	t->sent += c.count;
	fake_node_expect(&t->b, t->a.slot, t->sent, &r);
	assert_int_equal(r.from[t->a.slot], t->sent);
	assert_clean(&r);
}

static void packets_of_every_size_arrive_in_order_and_intact(void **state)
{
	static const unsigned sizes[] = {0, 1, 2, 3, 4, 255, 256, 1023, 1024, 4095, 4096};
	struct transfer t = {.sent = 0};

	(void)state;
	fake_node_start(&t.a);
	fake_node_start(&t.b);
	for (unsigned ways = 0; ways < 8; ways++)
		for (size_t i = 0; i < VF_ARRAY_SIZE(sizes); i++) {
			struct fake_command c = send_to(t.b.slot, 40, sizes[i]);

			c.is_ipv6 = ways & 1;
			c.is_volatile = ways & 2;
			c.is_straight = ways & 4;
			transfer(&t, c);
		}
	assert_true(t.sent >= 4 * 40 * VF_ARRAY_SIZE(sizes));
	fake_node_stop(&t.a);
	fake_node_stop(&t.b);
}

static void everybody_reaches_everybody_steered_or_not(void **state)
{
	enum { NODES = 5, ROUNDS = 20, EACH = 8 };
	struct fake_node n[NODES];
	struct fake_report r;
	uint64_t forwarded[2] = {0, 0};

	(void)state;
	for (int i = 0; i < NODES; i++)
		fake_node_start(&n[i]);
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < NODES * NODES; i++) {
			struct fake_command c = send_to(n[i % NODES].slot, EACH, 500);

			assert_int_equal(fake_node_command(&n[i / NODES], &c, &r), 0);
		}
		for (int i = 0; i < NODES * NODES; i++) {
			fake_node_expect(&n[i / NODES], n[i % NODES].slot, (uint64_t)round * EACH,
					 &r);
			assert_int_equal(r.from[n[i % NODES].slot], round * EACH);
			assert_clean(&r);
			if (round == ROUNDS - 1 || round == ROUNDS)
				forwarded[round - ROUNDS + 1] +=
					r.counters.value[VF_CNT_FORWARDED_PKTS];
		}
		usleep(10000);
	}
	/* By now the port is steered, and nothing needs a second hop any more. */
	assert_int_equal(forwarded[0], forwarded[1]);
	for (int i = 0; i < NODES; i++)
		fake_node_stop(&n[i]);
}

static void a_stopped_process_holds_up_nobody_and_gets_its_packets_later(void **state)
{
	struct fake_node a, b, stopped;
	struct fake_command c;
	struct fake_report r;

	(void)state;
	fake_node_start(&a);
	fake_node_start(&stopped);
	kill(stopped.pid, SIGSTOP);
	fake_node_start(&b);
	c = send_to(stopped.slot, 4, 1000);
	assert_int_equal(fake_node_command(&a, &c, &r), 0);
	for (uint64_t i = 1; i <= 10; i++) {
		c = send_to(b.slot, 10, 1000);
		assert_int_equal(fake_node_command(&a, &c, &r), 0);
		fake_node_expect(&b, a.slot, 10 * i, &r);
		assert_int_equal(r.from[a.slot], 10 * i);
	}
	kill(stopped.pid, SIGCONT);
	fake_node_expect(&stopped, a.slot, 4, &r);
	assert_int_equal(r.from[a.slot], 4);
	assert_clean(&r);
	fake_node_stop(&a);
	fake_node_stop(&b);
	fake_node_stop(&stopped);
}

static void the_end_of_a_watched_process_is_told_and_the_rest_goes_on(void **state)
{
	struct fake_node a, b, victim;
	struct fake_command watch = {.op = FAKE_WATCH}, look = {.op = FAKE_REPORT}, c;
	struct fake_report r;

	(void)state;
	fake_node_start(&victim);
	fake_node_start(&a);
	fake_node_start(&b);
	watch.slot = victim.slot;
	assert_int_equal(fake_node_command(&a, &watch, &r), 0);
	assert_int_equal(r.error, 0);
	assert_false(r.died[victim.slot]);
	fake_node_kill(&victim);
	for (int i = 0; i < 2000 && !r.died[victim.slot]; i++) {
		usleep(1000);
		assert_int_equal(fake_node_command(&a, &look, &r), 0);
	}
	assert_true(r.died[victim.slot]);
	assert_int_equal(fake_node_command(&b, &look, &r), 0);
	assert_false(r.died[victim.slot]); /* it did not ask */
	assert_int_equal(fake_node_command(&b, &watch, &r), 0);
	assert_int_equal(r.error, -ENOENT);
	c = send_to(victim.slot, 3, 100);
	assert_int_equal(fake_node_command(&a, &c, &r), 0);
	c = send_to(b.slot, 10, 1000);
	assert_int_equal(fake_node_command(&a, &c, &r), 0);
	fake_node_expect(&b, a.slot, 10, &r);
	assert_int_equal(r.from[a.slot], 10);
	fake_node_stop(&a);
	fake_node_stop(&b);
}

static void a_hang_up_of_another_watch_with_the_same_descriptor_ends_nobody(void **state)
{
	struct fake_node a, b;
	struct fake_command watch = {.op = FAKE_WATCH}, mishear = {.op = FAKE_MISHEAR},
			    look = {.op = FAKE_REPORT};
	struct fake_report r;

	(void)state;
	fake_node_start(&a);
	fake_node_start(&b);
	watch.slot = mishear.slot = b.slot;
	assert_int_equal(fake_node_command(&a, &watch, &r), 0);
	assert_int_equal(fake_node_command(&a, &mishear, &r), 0);
	assert_false(r.died[b.slot]);
	fake_node_kill(&b); /* and the watch still works */
	for (int i = 0; i < 2000 && !r.died[mishear.slot]; i++) {
		usleep(1000);
		assert_int_equal(fake_node_command(&a, &look, &r), 0);
	}
	assert_true(r.died[mishear.slot]);
	fake_node_stop(&a);
}

static void payload_that_is_gone_is_one_fault_and_the_others_arrive(void **state)
{
	struct fake_node a, b;
	struct fake_report r;
	uint64_t sent = 0, faults = 0;

	(void)state;
	fake_node_start(&a);
	fake_node_start(&b);
	for (int gone = 0; gone < 10; gone += 3)
		for (int is_volatile = 0; is_volatile < 2; is_volatile++) {
			struct fake_command c = send_to(b.slot, 10, 2000);

			c.gone = gone;
			c.is_volatile = is_volatile;
			assert_int_equal(fake_node_command(&a, &c, &r), 0);
			assert_int_equal(r.faults, ++faults);
			sent += 9;
			fake_node_expect(&b, a.slot, sent, &r);
			assert_int_equal(r.from[a.slot], sent);
			assert_int_equal(r.damaged, 0);
		}
	fake_node_stop(&a);
	fake_node_stop(&b);
}

static void a_forked_child_has_a_network_of_its_own_and_the_parent_keeps_its(void **state)
{
	struct fake_node a, b;
	struct fake_command c = {.op = FAKE_FORK};
	struct fake_report r;

	(void)state;
	fake_node_start(&a);
	fake_node_start(&b);
	assert_int_equal(fake_node_command(&a, &c, &r), 0);
	assert_int_equal(r.error, 0);
	for (int i = 0; i < 2000 && r.received == 0; i++) {
		c.op = FAKE_REPORT;
		assert_int_equal(fake_node_command(&a, &c, &r), 0);
		usleep(1000);
	}
	assert_int_equal(r.received, 1); /* what the child sent */
	c = send_to(b.slot, 10, 1000);
	assert_int_equal(fake_node_command(&a, &c, &r), 0);
	fake_node_expect(&b, a.slot, 10, &r);
	assert_int_equal(r.from[a.slot], 10);
	assert_clean(&r);
	fake_node_stop(&a);
	fake_node_stop(&b);
}

static void sixteen_processes_come_and_go_at_once(void **state)
{
	enum { NODES = 16 };
	struct fake_node n[NODES];
	struct fake_report r;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < NODES; i++)
			fake_node_start(&n[i]);
		for (int i = 0; i < NODES; i++) {
			struct fake_command c = send_to(n[(i + 1) % NODES].slot, 5, 700);

			assert_int_equal(fake_node_command(&n[i], &c, &r), 0);
		}
		for (int i = 0; i < NODES; i++) {
			fake_node_expect(&n[(i + 1) % NODES], n[i].slot, 5, &r);
			assert_int_equal(r.from[n[i].slot], 5);
			assert_clean(&r);
		}
		for (int i = 0; i < NODES; i++) {
			if (i % 2) {
				fake_node_kill(&n[i]);
			} else {
				fake_node_stop(&n[i]);
			}
		}
	}
}

/* Everything that may still come has come: sent, less what was lost, damaged, or is being held. */
static void wait_for_most(struct fake_node *b, uint64_t sent, const struct fake_report *a)
{
	enum { HELD = 8 };
	uint64_t off =
		dropped(a, VF_DROP_IMPAIR) + a->counters.value[VF_CNT_IMPAIR_CORRUPTED] + HELD;
	struct fake_command c = {.op = FAKE_REPORT};
	struct fake_report r;

	for (int i = 0; i < 2000; i++) {
		assert_int_equal(fake_node_command(b, &c, &r), 0);
		if (r.received + off >= sent)
			return;
		usleep(1000);
	}
	assert_true(r.received + off >= sent);
}

static void what_is_impaired_is_counted_and_adds_up(void **state)
{
	enum { BATCHES = 200, BATCH = 20, PACKETS = BATCHES * BATCH };
	struct fake_node a, b;
	struct fake_command c;
	struct fake_report ra, rb;
	uint64_t lost, doubled, corrupt;

	(void)state;
	fake_node_start(&b);
	setenv("VERBIFROST_IMPAIR", "loss=5%,dup=5%,corrupt=5%,reorder=5%,seed=11", 1);
	fake_node_start(&a);
	unsetenv("VERBIFROST_IMPAIR");
	for (unsigned i = 1; i <= BATCHES; i++) {
		c = send_to(b.slot, BATCH, 1000);
		assert_int_equal(fake_node_command(&a, &c, &ra), 0);
		wait_for_most(&b, (uint64_t)i * BATCH, &ra);
	}
	lost = dropped(&ra, VF_DROP_IMPAIR);
	doubled = ra.counters.value[VF_CNT_IMPAIR_DUPLICATED];
	corrupt = ra.counters.value[VF_CNT_IMPAIR_CORRUPTED];
	assert_in_range(lost, PACKETS / 40, PACKETS / 10);
	assert_in_range(doubled, PACKETS / 40, PACKETS / 10);
	assert_in_range(corrupt, PACKETS / 40, PACKETS / 10);
	assert_in_range(ra.counters.value[VF_CNT_IMPAIR_REORDERED], PACKETS / 40, PACKETS / 10);
	usleep(20000); /* what was held back is out by then */
	c = (struct fake_command){.op = FAKE_REPORT};
	assert_int_equal(fake_node_command(&b, &c, &rb), 0);
	assert_int_equal(rb.damaged, 0);
	assert_true(rb.disorder > 0);
	/* Some of the damaged were hit in the slot or in bits that no checksum covers; a doubled
	 * one of them counts twice. */
	assert_in_range(rb.received, PACKETS - lost + doubled - 2 * corrupt,
			PACKETS - lost + doubled);
	assert_true(dropped(&rb, VF_DROP_ICRC) > corrupt / 2);
	fake_node_stop(&a);
	fake_node_stop(&b);
}

static void a_setting_that_makes_no_sense_is_refused_when_opened(void **state)
{
	static const char *const bad[][2] = {{"VERBIFROST_IMPAIR", "loss=many"},
					     {"VERBIFROST_ICRC", "maybe"},
					     {"VERBIFROST_PROGRESS", "yes"},
					     {"VERBIFROST_PCAP", "/nonexistent/file"}};
	struct fake_node n;

	(void)state;
	for (size_t i = 0; i < VF_ARRAY_SIZE(bad); i++) {
		setenv(bad[i][0], bad[i][1], 1);
		assert_true(fake_node_try(&n) < 0);
		fake_node_stop(&n);
		unsetenv(bad[i][0]);
	}
}

static int try_as_nobody(void)
{
	struct vf_soft_net *net;

	if (setuid(65534))
		return 3;
	if (vf_soft_net_get(&net) != -EADDRINUSE)
		return 1;
	return strstr(vf_reason_last(), "another user") ? 0 : 2;
}

/* Where slots are files, each user's are in a folder of his own. */
static _Noreturn void open_as_nobody(void)
{
	char folder[] = "/tmp/vf-nobody-XXXXXX", command[64];
	int result;

	if (!getenv("VERBIFROST_SLOT_DIR"))
		_exit(try_as_nobody());
	if (!mkdtemp(folder) || chown(folder, 65534, 65534) || setenv("VERBIFROST_SLOT_DIR", folder, 1))
		_exit(4);
	result = try_as_nobody();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command))
		result = 5;
	_exit(result);
}

static void another_users_process_is_refused_with_the_cause(void **state)
{
	struct fake_node n;
	int status;
	pid_t pid;

	(void)state;
	if (getuid() != 0)
		skip();
	fake_node_start(&n);
	pid = fork();
	if (pid == 0)
		open_as_nobody();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	fake_node_stop(&n);
}

static int end_all(void **state)
{
	(void)state;
	fake_nodes_end();
	return 0;
}

static int use_own_port(void **state)
{
	char port[8];

	(void)state;
	/* Not to meet devices in use, or another run of this test. */
	snprintf(port, sizeof(port), "%d", 20000 + (int)(getpid() % 20000));
	setenv("VERBIFROST_UDP_PORT", port, 1);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(packets_of_every_size_arrive_in_order_and_intact,
					  end_all),
		cmocka_unit_test_teardown(everybody_reaches_everybody_steered_or_not, end_all),
		cmocka_unit_test_teardown(
			a_stopped_process_holds_up_nobody_and_gets_its_packets_later, end_all),
		cmocka_unit_test_teardown(the_end_of_a_watched_process_is_told_and_the_rest_goes_on,
					  end_all),
		cmocka_unit_test_teardown(
			a_hang_up_of_another_watch_with_the_same_descriptor_ends_nobody, end_all),
		cmocka_unit_test_teardown(payload_that_is_gone_is_one_fault_and_the_others_arrive,
					  end_all),
		cmocka_unit_test_teardown(
			a_forked_child_has_a_network_of_its_own_and_the_parent_keeps_its, end_all),
		cmocka_unit_test_teardown(sixteen_processes_come_and_go_at_once, end_all),
		cmocka_unit_test_teardown(what_is_impaired_is_counted_and_adds_up, end_all),
		cmocka_unit_test_teardown(another_users_process_is_refused_with_the_cause, end_all),
		cmocka_unit_test_teardown(a_setting_that_makes_no_sense_is_refused_when_opened,
					  end_all),
	};

	return cmocka_run_group_tests(tests, use_own_port, NULL);
}

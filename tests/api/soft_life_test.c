/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and threads: a peer that is killed, a child that forks off, contexts closed in any order, several threads that poll one
 * queue, counters, and what is left behind: nothing.
 */
#include "soft_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a peer that dies ---- */

struct card {
	uint32_t qpn, psn;
};

static void connect_to(struct pair *p, struct end *e, const struct card *c)
{
	struct ibv_qp peer_qp = {.qp_num = c->qpn};
	struct end peer = {.qp = &peer_qp, .psn = c->psn, .ctx = e->ctx};

	pair_to_rtr(p, e, &peer);
	pair_to_rts(p, e);
}

/* A fresh, unconnected end: of an opened pair, the other queue pair thrown away. */
static void open_one(struct pair *p, enum ibv_qp_type type)
{
	struct pair_options o = {.type = type, .timeout = 10, .retry_cnt = 2};
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	pair_open(p, &o);
	assert_int_equal(ibv_modify_qp(p->a.qp, &reset, IBV_QP_STATE), 0);
	pair_to_init(p, &p->a);
}

static void swap_cards(struct pair *p, int in, int out, struct card *theirs)
{
	struct card mine = {p->a.qp->qp_num, p->a.psn};

	assert_int_equal(write(out, &mine, sizeof(mine)), (ssize_t)sizeof(mine));
	assert_int_equal(read(in, theirs, sizeof(*theirs)), (ssize_t)sizeof(*theirs));
}

static void child_waits_to_be_killed(enum ibv_qp_type type, int in, int out)
{
	struct card theirs;
	struct pair p;
	char c = 1;

	alarm(20);
	open_one(&p, type);
	swap_cards(&p, in, out, &theirs);
	connect_to(&p, &p.a, &theirs);
	pair_recv(&p.a, 1, 0, 100);
	if (write(out, &c, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t start_peer(struct pair *p, enum ibv_qp_type type)
{
	int to[2], from[2];
	struct card theirs;
	pid_t pid;
	char c;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		child_waits_to_be_killed(type, to[0], from[1]);
	open_one(p, type);
	swap_cards(p, from[0], to[1], &theirs);
	connect_to(p, &p->a, &theirs);
	assert_int_equal(read(from[0], &c, 1), 1);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
	return pid;
}

static void end_peer(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void the_death_of_an_unreliable_peer_is_an_event_and_a_flush(void **state)
{
	struct pair p;
	pid_t pid = start_peer(&p, IBV_QPT_UC);

	(void)state;
	pair_recv(&p.a, 7, 0, 100);
	pair_send(&p.a, &p.b, 8, 10);
	pair_expect(p.a.send_cq, 8, IBV_WC_SUCCESS);
	assert_false(pair_has_event(p.a.ctx, 20));
	end_peer(pid);
	assert_int_equal(pair_event(p.a.ctx), IBV_EVENT_QP_FATAL);
	pair_expect(p.a.recv_cq, 7, IBV_WC_WR_FLUSH_ERR);
	pair_close(&p);
}

static void a_reliable_connection_finds_out_by_its_retries(void **state)
{
	struct pair p;
	pid_t pid = start_peer(&p, IBV_QPT_RC);

	(void)state;
	end_peer(pid);
	pair_recv(&p.a, 7, 0, 100);
	pair_send(&p.a, &p.b, 8, 10);
	pair_expect(p.a.send_cq, 8, IBV_WC_RETRY_EXC_ERR);
	pair_expect(p.a.recv_cq, 7, IBV_WC_WR_FLUSH_ERR);
	pair_close(&p);
}

/* ---- fork ---- */

/* ThreadSanitizer itself does not follow a process with threads into a child that makes more. */
#if defined(__SANITIZE_THREAD__)
#define CAN_FORK 0
#else
#define CAN_FORK 1
#endif

static void a_child_has_devices_of_its_own_and_the_parent_keeps_its(void **state)
{
	struct pair_options o = {0};
	struct pair p;
	int status;
	pid_t pid;

	(void)state;
	if (!CAN_FORK)
		skip();
	pair_open(&p, &o);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct pair q;

		alarm(20);
		pair_open(&q, &o);
		pair_recv(&q.b, 1, 0, 100);
		pair_send(&q.a, &q.b, 2, 10);
		pair_expect(q.b.recv_cq, 1, IBV_WC_SUCCESS);
		pair_close(&q);
		_exit(0);
	}
	for (uint64_t i = 0; i < 200; i++) {
		pair_recv(&p.b, i, 0, 100);
		pair_send(&p.a, &p.b, i, 10);
		pair_expect(p.b.recv_cq, i, IBV_WC_SUCCESS);
		pair_expect(p.a.send_cq, i, IBV_WC_SUCCESS);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	pair_close(&p);
}

static void a_child_that_only_exits_takes_nothing_from_the_parent(void **state)
{
	struct pair_options o = {0};
	struct pair p;
	int status;
	pid_t pid;

	(void)state;
	pair_open(&p, &o);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		ibv_destroy_qp(p.a.qp); /* its copies: whatever it does with them */
		ibv_dereg_mr(p.a.mr);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	pair_recv(&p.b, 1, 0, 100);
	pair_send(&p.a, &p.b, 2, 10);
	pair_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	pair_close(&p);
}

/* ---- threads ---- */

enum { POLLERS = 4, MESSAGES = 2000 };

static struct pair shared;
static atomic_int seen[MESSAGES];
static atomic_int total;

static void *poll_for_messages(void *arg)
{
	struct ibv_wc wc[4];

	(void)arg;
	while (atomic_load(&total) < MESSAGES) {
		int n = ibv_poll_cq(shared.b.recv_cq, 4, wc);

		for (int i = 0; i < n; i++) {
			struct ibv_sge sge = {.addr = (uintptr_t)shared.b.buf,
					      .length = 100,
					      .lkey = shared.b.mr->lkey};
			struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

			atomic_fetch_add(&seen[ntohl(wc[i].imm_data) % MESSAGES], 1);
			atomic_fetch_add(&total, 1);
			ibv_post_recv(shared.b.qp, &wr, &bad);
		}
	}
	return NULL;
}

static void several_threads_that_poll_share_every_completion_once(void **state)
{
	struct pair_options o = {.depth = 64, .cqe = 256};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	pthread_t t[POLLERS];

	(void)state;
	pair_open(&shared, &o);
	for (int i = 0; i < 64; i++)
		pair_recv(&shared.b, 1, 0, 100);
	for (int i = 0; i < POLLERS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, poll_for_messages, NULL), 0);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		pair_send_wr(&shared.a, &shared.b, IBV_WR_SEND_WITH_IMM, &wr, &sge);
		wr.imm_data = htonl(i);
		wr.wr_id = i;
		sge.length = 8;
		assert_int_equal(pair_post(&shared.a, &wr), 0);
		pair_expect(shared.a.send_cq, i, IBV_WC_SUCCESS);
	}
	for (int i = 0; i < POLLERS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < MESSAGES; i++)
		assert_int_equal(atomic_load(&seen[i]), 1);
	pair_close(&shared);
}

/* ---- counters ---- */

static uint64_t counter(struct ibv_context *ctx, const char *name)
{
	struct verbifrost_counter c[128];
	int n = verbifrost_query_counters(ctx, c, 128);

	assert_true(n > 20 && n <= 128);
	for (int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

static void counters_tell_what_went_over_the_port(void **state)
{
	struct pair_options o = {0};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint64_t sent, writes;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	sent = counter(p.a.ctx, "sent_pkts");
	writes = counter(p.a.ctx, "rx_write_requests");
	pair_send_wr(&p.a, &p.b, IBV_WR_RDMA_WRITE, &wr, &sge);
	sge.length = 5 * 1024;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	pair_expect(p.a.send_cq, 0, IBV_WC_SUCCESS);
	assert_true(counter(p.a.ctx, "sent_pkts") >= sent + 6);
	assert_true(counter(p.a.ctx, "rx_write_requests") > writes);
	assert_true(counter(p.a.ctx, "out_of_sequence") == 0 ||
		    counter(p.a.ctx, "packet_seq_err") > 0);
	pair_close(&p);
}

static void opening_and_closing_leaves_no_descriptor_behind(void **state)
{
	struct pair_options o = {.has_channel = true};
	struct pair p;
	int first, last;

	(void)state;
	pair_open(&p, &o);
	pair_close(&p);
	first = dup(0);
	close(first);
	for (int i = 0; i < 20; i++) {
		pair_open(&p, &o);
		pair_close(&p);
	}
	last = dup(0);
	close(last);
	assert_int_equal(first, last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_death_of_an_unreliable_peer_is_an_event_and_a_flush),
		cmocka_unit_test(a_reliable_connection_finds_out_by_its_retries),
		cmocka_unit_test(a_child_has_devices_of_its_own_and_the_parent_keeps_its),
		cmocka_unit_test(a_child_that_only_exits_takes_nothing_from_the_parent),
		cmocka_unit_test(several_threads_that_poll_share_every_completion_once),
		cmocka_unit_test(counters_tell_what_went_over_the_port),
		cmocka_unit_test(opening_and_closing_leaves_no_descriptor_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

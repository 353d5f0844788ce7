/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network side with the real engine, between two processes of this host: messages by RC and UC,
 * a peer that is stopped, one that is killed, memory that is gone. The objects above are the
 * smallest that will do: one key, one queue pair, a ring of completions.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory/guard.h"
#include "provider/soft/net.h"

enum { KEY = 0x1234, DEPTH = 320, RING = 1024, BUFFER = 1 << 20 };
#define PATIENCE (20 * VF_SEC)

struct side {
	struct vf_soft_net *net;
	struct vf_roce_qp *qp;
	int fd; /* to the other side */
	uint8_t *out, *in;
	bool is_spinning, is_straight;
};

static struct vf_roce_counters counters;
static struct vf_roce_cqe ring[RING];
static unsigned ring_head, ring_tail;
static bool has_died[VF_OS_SLOTS];

/* ---- objects ---- */

static int mem_check(void *host, const struct vf_roce_mem *m)
{
	(void)host;
	return m->key == KEY ? 0 : -EINVAL;
}

static int mem_map(void *host, const struct vf_roce_mem *m, struct iovec *iov, int max)
{
	if (mem_check(host, m) || max < 1)
		return -EINVAL;
	iov[0] = (struct iovec){.iov_base = (void *)(uintptr_t)m->addr, .iov_len = m->len};
	return 1;
}

static int mem_write(void *host, const struct iovec *iov, int count, const void *from, size_t len)
{
	const uint8_t *p = from;

	(void)host;
	for (int i = 0; i < count && len; i++) {
		size_t n = iov[i].iov_len < len ? iov[i].iov_len : len;

		if (vf_guard_copy(iov[i].iov_base, p, n))
			return -EFAULT;
		p += n;
		len -= n;
	}
	return 0;
}

static int mem_read(void *host, const struct iovec *iov, int count, void *to, size_t len)
{
	uint8_t *p = to;

	(void)host;
	for (int i = 0; i < count && len; i++) {
		size_t n = iov[i].iov_len < len ? iov[i].iov_len : len;

		if (vf_guard_copy(p, iov[i].iov_base, n))
			return -EFAULT;
		p += n;
		len -= n;
	}
	return 0;
}

static void complete(void *host, const struct vf_roce_cqe *cqe)
{
	(void)host;
	ring[ring_tail++ % RING] = *cqe;
}

static void on_event(void *host, void *object, enum vf_roce_event event)
{
	(void)host;
	(void)object;
	(void)event;
}

const struct vf_roce_host_ops vf_soft_host_ops = {
	.mem_check = mem_check,
	.mem_map = mem_map,
	.mem_write = mem_write,
	.mem_read = mem_read,
	.complete = complete,
	.qp_event = on_event,
	.srq_event = on_event,
};

void vf_soft_peer_died(unsigned slot) { has_died[slot] = true; }
void vf_soft_interfaces_changed(void) {}
void vf_soft_settle(void) {}
void vf_soft_forked(void) {}
struct vf_roce_counters *vf_soft_stray_counters(void) { return &counters; }

/* ---- one side, in a process of its own ---- */

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "# line %d: %s\n", __LINE__, #x);                          \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void connect_qp(struct side *s, enum vf_roce_type type, uint8_t timeout, uint8_t retries)
{
	struct vf_roce_qp_config cfg = {.type = type,
					.counters = &counters,
					.send_max = DEPTH,
					.recv_max = DEPTH,
					.send_sge_max = 1,
					.recv_sge_max = 1,
					.is_sig_all = true,
					.qp_host = s};
	struct vf_roce_qp_attr a = {.state = VF_ROCE_INIT,
				    .mtu_bytes = 4096,
				    .rq_psn = 0xfffffe,
				    .sq_psn = 0xfffffe,
				    .max_rd_atomic = 8,
				    .max_dest_rd_atomic = 8,
				    .min_rnr_timer = 1,
				    .timeout = timeout,
				    .retry_cnt = retries,
				    .rnr_retry = 7,
				    .access = VF_ROCE_REMOTE_WRITE | VF_ROCE_REMOTE_READ};
	uint32_t qpn;

	vf_soft_net_lock(s->net);
	CHECK(vf_roce_qp_create(vf_soft_net_engine(s->net), &cfg, &s->qp) == 0);
	qpn = vf_roce_qp_qpn(s->qp);
	vf_soft_net_unlock(s->net);
	CHECK(write(s->fd, &qpn, sizeof(qpn)) == sizeof(qpn));
	CHECK(read(s->fd, &a.dest_qpn, sizeof(a.dest_qpn)) == sizeof(a.dest_qpn));
	memcpy(a.path.sgid, (uint8_t[16]){[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}, 16);
	memcpy(a.path.dgid, a.path.sgid, 16);
	a.path.hop_limit = 64;
	a.path.host_tag = s->is_straight ? VF_SOFT_TAG_LOCAL : 0;
	vf_soft_net_lock(s->net);
	CHECK(vf_roce_qp_modify(s->qp, vf_os_now(), &a, VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_ACCESS) ==
	      0);
	a.state = VF_ROCE_RTR;
	CHECK(vf_roce_qp_modify(s->qp, vf_os_now(), &a,
				VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_PATH | VF_ROCE_ATTR_MTU |
					VF_ROCE_ATTR_DEST_QPN | VF_ROCE_ATTR_RQ_PSN |
					VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC |
					VF_ROCE_ATTR_MIN_RNR_TIMER) == 0);
	a.state = VF_ROCE_RTS;
	CHECK(vf_roce_qp_modify(s->qp, vf_os_now(), &a,
				VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_SQ_PSN |
					VF_ROCE_ATTR_MAX_RD_ATOMIC | VF_ROCE_ATTR_TIMEOUT |
					VF_ROCE_ATTR_RETRY_CNT | VF_ROCE_ATTR_RNR_RETRY) == 0);
	vf_soft_net_watch_slot(s->net, a.dest_qpn >> VF_ROCE_SLOT_SHIFT);
	vf_soft_net_unlock(s->net);
}

static void post_recv(struct side *s, uint32_t len)
{
	struct vf_roce_sge sge = {.addr = (uintptr_t)s->in, .length = len, .lkey = KEY};
	struct vf_roce_recv_wr wr = {.wr_id = 2, .sge_count = 1, .sge = &sge};

	vf_soft_net_lock(s->net);
	CHECK(vf_roce_post_recv(s->qp, &wr) == 0);
	vf_soft_net_unlock(s->net);
}

static void post_send(struct side *s, uint32_t len)
{
	struct vf_roce_sge sge = {.addr = (uintptr_t)s->out, .length = len, .lkey = KEY};
	struct vf_roce_send_wr wr = {
		.wr_id = 1, .opcode = VF_ROCE_WR_SEND, .sge_count = 1, .sge = &sge};

	vf_soft_net_lock(s->net);
	CHECK(vf_roce_post_send(s->qp, &wr) == 0);
	vf_soft_net_flush(s->net);
	vf_soft_net_unlock(s->net);
}

/* By polling, or by leaving the work to the thread. */
static struct vf_roce_cqe wait_completion(struct side *s)
{
	vf_nsec end = vf_os_now() + PATIENCE;
	struct vf_roce_cqe c;

	while (vf_os_now() < end) {
		bool is_there;

		vf_soft_net_lock(s->net);
		is_there = ring_head != ring_tail;
		if (is_there)
			c = ring[ring_head++ % RING];
		vf_soft_net_unlock(s->net);
		if (is_there)
			return c;
		if (s->is_spinning)
			vf_soft_net_progress(s->net);
		else
			poll(NULL, 0, 1);
	}
	fprintf(stderr, "# nothing completes\n");
	_exit(2);
}

static void sync_sides(struct side *s)
{
	char c = 0;

	CHECK(write(s->fd, &c, 1) == 1);
	CHECK(read(s->fd, &c, 1) == 1);
}

static void fill(uint8_t *p, uint32_t len, unsigned seed)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(seed * 13 + i * 5 + i / 4096);
}

static void ping_pong(struct side *s, bool is_first)
{
	static const uint32_t lens[] = {0, 1, 64, 4096, 4097, 65536, 100003};

	for (unsigned i = 0; i < 3 * VF_ARRAY_SIZE(lens); i++) {
		uint32_t len = lens[i % VF_ARRAY_SIZE(lens)];
		bool have_sent = false, have_received = false;

		fill(s->out, len, i);
		memset(s->in, 0, len);
		post_recv(s, BUFFER);
		sync_sides(s);
		if (is_first)
			post_send(s, len);
		while (!have_sent || !have_received) {
			struct vf_roce_cqe c = wait_completion(s);

			CHECK(c.status == VF_ROCE_WC_SUCCESS);
			have_sent |= c.wr_id == 1;
			if (c.wr_id != 2)
				continue;
			have_received = true;
			CHECK(c.byte_len == len);
			CHECK(memcmp(s->in, s->out, len) == 0);
			if (!is_first)
				post_send(s, len);
		}
	}
	sync_sides(s);
}

/* Many large messages in flight, both ways at once, and nothing is lost. */
static void uc_flood(struct side *s)
{
	enum { MESSAGES = 300, LEN = 65536, AHEAD = 32 };
	unsigned sent = 0, done = 0, received = 0;

	/* All at once: a message that finds none posted is lost, by rule. */
	for (int i = 0; i < MESSAGES; i++)
		post_recv(s, BUFFER);
	fill(s->out, LEN, 1);
	sync_sides(s);
	while (received < MESSAGES || done < MESSAGES) {
		struct vf_roce_cqe c;

		for (; sent < MESSAGES && sent - done < AHEAD; sent++)
			post_send(s, LEN);
		c = wait_completion(s);
		CHECK(c.status == VF_ROCE_WC_SUCCESS);
		if (c.wr_id == 1) {
			done++;
			continue;
		}
		CHECK(c.byte_len == LEN);
		received++;
	}
	sync_sides(s);
	CHECK(memcmp(s->in, s->out, LEN) == 0);
}

enum script { PING_RC, PING_RC_SPIN, PING_UC, FLOOD_UC, PEER_KILLED, PEER_STOPPED, PAYLOAD_GONE };

static void lose_payload(struct side *s, bool is_first)
{
	post_recv(s, BUFFER);
	sync_sides(s);
	if (is_first) {
		munmap(s->out + 65536, BUFFER - 65536);
		post_send(s, 200000);
		CHECK(wait_completion(s).status == VF_ROCE_WC_LOC_PROT_ERR);
	}
	sync_sides(s);
}

static void outlive_a_killed_peer(struct side *s, bool is_first)
{
	struct vf_roce_cqe c;
	uint32_t peer;
	struct vf_roce_qp_attr a;

	sync_sides(s);
	if (!is_first)
		kill(getpid(), SIGKILL);
	vf_soft_net_lock(s->net);
	vf_roce_qp_query(s->qp, &a, &(bool){false});
	vf_soft_net_unlock(s->net);
	peer = a.dest_qpn >> VF_ROCE_SLOT_SHIFT;
	post_send(s, 1000);
	c = wait_completion(s);
	CHECK(c.status == VF_ROCE_WC_RETRY_EXC_ERR);
	for (int i = 0; i < 5000 && !has_died[peer]; i++)
		poll(NULL, 0, 1);
	CHECK(has_died[peer]);
}

static void outlive_a_stopped_peer(struct side *s, bool is_first)
{
	struct timespec pause = {.tv_nsec = 300000000};
	pid_t peer = getpid();

	CHECK(write(s->fd, &peer, sizeof(peer)) == sizeof(peer));
	CHECK(read(s->fd, &peer, sizeof(peer)) == sizeof(peer));
	post_recv(s, BUFFER);
	sync_sides(s);
	if (is_first) {
		kill(peer, SIGSTOP);
		post_send(s, 100000);
		nanosleep(&pause, NULL);
		kill(peer, SIGCONT);
	}
	CHECK(wait_completion(s).status == VF_ROCE_WC_SUCCESS);
	sync_sides(s);
}

static _Noreturn void play(int fd, enum script script, bool is_first)
{
	struct side s = {.fd = fd,
			 .is_spinning = script == PING_RC_SPIN,
			 .is_straight = script != PING_RC && script != PING_UC};
	bool is_uc = script == PING_UC || script == FLOOD_UC;

	alarm(60);
	vf_guard_install();
	s.out = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s.in = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(vf_soft_net_get(&s.net) == 0);
	connect_qp(&s, is_uc ? VF_ROCE_UC : VF_ROCE_RC, script == PEER_KILLED ? 8 : 14,
		   script == PEER_KILLED ? 2 : 7);
	if (script == FLOOD_UC)
		uc_flood(&s);
	else if (script == PAYLOAD_GONE)
		lose_payload(&s, is_first);
	else if (script == PEER_KILLED)
		outlive_a_killed_peer(&s, is_first);
	else if (script == PEER_STOPPED)
		outlive_a_stopped_peer(&s, is_first);
	else
		ping_pong(&s, is_first);
	vf_soft_net_lock(s.net);
	vf_roce_qp_destroy(s.qp);
	vf_soft_net_unlock(s.net);
	vf_soft_net_put(s.net);
	_exit(0);
}

static void run_both(enum script script)
{
	int fd[2], status[2];
	pid_t pid[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			close(fd[!i]);
			play(fd[i], script, i == 0);
		}
	}
	close(fd[0]);
	close(fd[1]);
	for (int i = 0; i < 2; i++)
		assert_int_equal(waitpid(pid[i], &status[i], 0), pid[i]);
	assert_true(WIFEXITED(status[0]));
	assert_int_equal(WEXITSTATUS(status[0]), 0);
	if (script != PEER_KILLED)
		assert_int_equal(status[1], 0);
}

static void rc_messages_are_answered_while_nobody_polls(void **state)
{
	(void)state;
	run_both(PING_RC);
}

static void rc_messages_are_answered_while_both_poll(void **state)
{
	(void)state;
	run_both(PING_RC_SPIN);
}

static void rc_repairs_what_was_lost_doubled_damaged_or_out_of_order(void **state)
{
	(void)state;
	setenv("VERBIFROST_IMPAIR", "loss=3%,dup=3%,reorder=3%,corrupt=2%,delay=100us,seed=5", 1);
	run_both(PING_RC);
	unsetenv("VERBIFROST_IMPAIR");
}

static void rc_works_without_a_thread_while_both_poll(void **state)
{
	(void)state;
	setenv("VERBIFROST_PROGRESS", "none", 1);
	run_both(PING_RC_SPIN);
	unsetenv("VERBIFROST_PROGRESS");
}

static void uc_messages_are_answered(void **state)
{
	(void)state;
	run_both(PING_UC);
}

static void uc_messages_survive_being_out_of_order_on_the_way(void **state)
{
	(void)state;
	setenv("VERBIFROST_IMPAIR", "reorder=10%,seed=5", 1);
	run_both(PING_UC);
	unsetenv("VERBIFROST_IMPAIR");
}

static void uc_loses_nothing_with_two_megabytes_in_flight_each_way(void **state)
{
	(void)state;
	run_both(FLOOD_UC);
}

static void a_killed_peer_ends_in_retries_exceeded_and_is_told(void **state)
{
	(void)state;
	run_both(PEER_KILLED);
}

static void a_stopped_peer_is_waited_for(void **state)
{
	(void)state;
	run_both(PEER_STOPPED);
}

static void payload_that_is_gone_ends_the_request_and_not_the_process(void **state)
{
	(void)state;
	run_both(PAYLOAD_GONE);
}

static int use_own_port(void **state)
{
	char port[8];

	(void)state;
	snprintf(port, sizeof(port), "%d", 40000 + (int)(getpid() % 20000));
	setenv("VERBIFROST_UDP_PORT", port, 1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc_messages_are_answered_while_nobody_polls),
		cmocka_unit_test(rc_messages_are_answered_while_both_poll),
		cmocka_unit_test(rc_repairs_what_was_lost_doubled_damaged_or_out_of_order),
		cmocka_unit_test(rc_works_without_a_thread_while_both_poll),
		cmocka_unit_test(uc_messages_are_answered),
		cmocka_unit_test(uc_messages_survive_being_out_of_order_on_the_way),
		cmocka_unit_test(uc_loses_nothing_with_two_megabytes_in_flight_each_way),
		cmocka_unit_test(a_killed_peer_ends_in_retries_exceeded_and_is_told),
		cmocka_unit_test(a_stopped_peer_is_waited_for),
		cmocka_unit_test(payload_that_is_gone_ends_the_request_and_not_the_process),
	};

	return cmocka_run_group_tests(tests, use_own_port, NULL);
}

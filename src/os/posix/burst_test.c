/* SPDX-License-Identifier: BSD-2-Clause */
/* Bursts: over real sockets one call each, and over a made-up system call that behaves as macOS
 * says its own may. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/posix/burst.h"

/* The system call: a list of answers, then "all of them". */
static struct {
	int answer[16]; /* > 0 a count, < 0 -errno, 0 a short count of nothing */
	unsigned answers, at, calls, waits, sent;
	int next_name; /* datagrams carry 0, 1, 2... : they must go in order, each once */
} sys;

static int names[VF_BURST_MAX];

static ssize_t made_up_send(int fd, struct vf_burst_msg *m, unsigned count, int flags)
{
	int a = sys.at < sys.answers ? sys.answer[sys.at++] : (int)count;

	(void)fd;
	(void)flags;
	sys.calls++;
	if (a < 0) {
		errno = -a;
		return -1;
	}
	if (a > (int)count)
		a = (int)count;
	for (int i = 0; i < a; i++)
		assert_int_equal(*(int *)m[i].name, sys.next_name++);
	sys.sent += (unsigned)a;
	return a;
}

static void made_up_wait(int fd, int err)
{
	(void)fd;
	(void)err;
	sys.waits++;
}

static int burst(struct vf_burst *b, const int *answers, unsigned count, unsigned datagrams)
{
	struct vf_burst_msg m[VF_BURST_MAX];

	memset(&sys, 0, sizeof(sys));
	memset(m, 0, sizeof(m));
	memcpy(sys.answer, answers, count * sizeof(int));
	sys.answers = count;
	for (unsigned i = 0; i < datagrams; i++) {
		names[i] = (int)i;
		m[i].name = &names[i];
	}
	*b = (struct vf_burst){.send = made_up_send, .wait = made_up_wait};
	return vf_burst_send(b, -1, m, datagrams);
}

#define BURST(b, n, ...)                                                                           \
	burst(b, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int), n)

static void short_counts_go_on_where_they_stopped(void **state)
{
	struct vf_burst b;

	(void)state;
	assert_int_equal(BURST(&b, 20, 7, 1, 3), 0);
	assert_int_equal(sys.sent, 20);
	assert_int_equal(sys.calls, 4);
	assert_int_equal(b.lost, 0);
}

static void no_room_at_the_start_is_eagain_and_nothing_was_sent(void **state)
{
	struct vf_burst b;

	(void)state;
	assert_int_equal(BURST(&b, 8, -EWOULDBLOCK), -EAGAIN);
	assert_int_equal(BURST(&b, 8, -ENOBUFS), -EAGAIN);
	assert_int_equal(BURST(&b, 8, 0), -EAGAIN);
	assert_int_equal(sys.sent, 0);
	assert_int_equal(sys.waits, 0);
}

static void no_room_in_the_middle_is_waited_for(void **state)
{
	struct vf_burst b;

	(void)state;
	assert_int_equal(BURST(&b, 10, 4, -ENOBUFS, -EWOULDBLOCK, 0, 2, -ENOBUFS), 0);
	assert_int_equal(sys.sent, 10);
	assert_int_equal(sys.waits, 4);
	assert_int_equal(b.lost, 0);
}

static ssize_t never_room(int fd, struct vf_burst_msg *m, unsigned count, int flags)
{
	if (sys.sent == 0)
		return made_up_send(fd, m, count > 3 ? 3 : count, flags);
	sys.calls++;
	errno = ENOBUFS;
	return -1;
}

static void waiting_has_an_end_and_what_is_left_is_counted_as_lost(void **state)
{
	struct vf_burst b = {.send = never_room, .wait = made_up_wait};
	struct vf_burst_msg m[10];

	(void)state;
	memset(&sys, 0, sizeof(sys));
	memset(m, 0, sizeof(m));
	for (int i = 0; i < 10; i++) {
		names[i] = i;
		m[i].name = &names[i];
	}
	assert_int_equal(vf_burst_send(&b, -1, m, 10), 0);
	assert_int_equal(b.lost, 7);
	assert_true(sys.waits >= 10 && sys.waits <= 1000);
}

static void errors_of_earlier_datagrams_are_forgotten_and_real_ones_returned(void **state)
{
	struct vf_burst b;

	(void)state;
	assert_int_equal(BURST(&b, 4, -ECONNREFUSED, -EINTR), 0);
	assert_int_equal(sys.sent, 4);
	assert_int_equal(BURST(&b, 4, -EMSGSIZE), -EMSGSIZE);
	assert_int_equal(BURST(&b, 4, 2, -EFAULT), -EFAULT);
}

struct pair {
	int fd[2];
	struct sockaddr_in to;
};

static void pair_open(struct pair *p)
{
	socklen_t len = sizeof(p->to);

	memset(&p->to, 0, sizeof(p->to));
	p->to.sin_family = AF_INET;
	p->to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < 2; i++) {
		p->fd[i] = socket(AF_INET, SOCK_DGRAM, 0);
		assert_true(p->fd[i] >= 0);
	}
	assert_int_equal(bind(p->fd[1], (struct sockaddr *)&p->to, sizeof(p->to)), 0);
	assert_int_equal(getsockname(p->fd[1], (struct sockaddr *)&p->to, &len), 0);
}

static ssize_t unknown_call(int fd, struct vf_burst_msg *m, unsigned count, int flags)
{
	(void)fd;
	(void)m;
	(void)count;
	(void)flags;
	sys.calls++;
	errno = ENOSYS;
	return -1;
}

static void a_system_without_the_call_sends_one_datagram_a_call(void **state)
{
	struct vf_burst b = {.send = unknown_call, .recv = unknown_call};
	struct vf_burst_msg m[VF_BURST_MAX];
	struct iovec whole[3], room[VF_BURST_MAX + 3], in[VF_BURST_MAX];
	static uint8_t data[10500], got[VF_BURST_MAX][2000];
	struct sockaddr_in from[VF_BURST_MAX];
	struct pair p;
	int count, n = 0;

	(void)state;
	pair_open(&p);
	memset(&sys, 0, sizeof(sys));
	memset(m, 0, sizeof(m));
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 + i / 251);
	whole[0] = (struct iovec){.iov_base = data, .iov_len = 12};
	whole[1] = (struct iovec){.iov_base = data + 12, .iov_len = 0};
	whole[2] = (struct iovec){.iov_base = data + 12, .iov_len = sizeof(data) - 12};
	count = vf_burst_cut(whole, 3, 1000, sizeof(data), m, room);
	assert_int_equal(count, 11);
	for (int i = 0; i < count; i++) {
		m[i].name = &p.to;
		m[i].name_len = sizeof(p.to);
	}
	assert_int_equal(vf_burst_send(&b, p.fd[0], m, (unsigned)count), 0);
	assert_int_equal(sys.calls, 1);
	assert_null(b.send);
	memset(m, 0, sizeof(m));
	while (n < count) {
		struct pollfd wait = {.fd = p.fd[1], .events = POLLIN};

		for (int i = n; i < VF_BURST_MAX; i++) {
			in[i] = (struct iovec){.iov_base = got[i], .iov_len = sizeof(got[i])};
			m[i] = (struct vf_burst_msg){.name = &from[i],
						     .name_len = sizeof(from[i]),
						     .iov = &in[i],
						     .iov_count = 1};
		}
		assert_int_equal(poll(&wait, 1, 5000), 1);
		n += vf_burst_recv(&b, p.fd[1], m + n, (unsigned)(VF_BURST_MAX - n));
	}
	assert_int_equal(n, count);
	for (int i = 0; i < count; i++) {
		assert_int_equal(m[i].bytes, i == 10 ? 500 : 1000);
		assert_memory_equal(got[i], data + 1000 * i, m[i].bytes);
	}
	assert_int_equal(vf_burst_recv(&b, p.fd[1], m, 1), 0);
	close(p.fd[0]);
	close(p.fd[1]);
}

static void cutting_refuses_what_does_not_fit(void **state)
{
	struct vf_burst_msg m[VF_BURST_MAX];
	struct iovec room[VF_BURST_MAX + 1];
	static uint8_t data[VF_BURST_MAX + 1];
	struct iovec one = {.iov_base = data, .iov_len = sizeof(data)};

	(void)state;
	assert_int_equal(vf_burst_cut(&one, 1, 1, VF_BURST_MAX, m, room), VF_BURST_MAX);
	assert_int_equal(vf_burst_cut(&one, 1, 1, VF_BURST_MAX + 1, m, room), -EINVAL);
	assert_int_equal(vf_burst_cut(&one, 1, 0, 1, m, room), -EINVAL);
	assert_int_equal(vf_burst_cut(&one, 1, 100, sizeof(data) + 1, m, room), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_counts_go_on_where_they_stopped),
		cmocka_unit_test(no_room_at_the_start_is_eagain_and_nothing_was_sent),
		cmocka_unit_test(no_room_in_the_middle_is_waited_for),
		cmocka_unit_test(waiting_has_an_end_and_what_is_left_is_counted_as_lost),
		cmocka_unit_test(errors_of_earlier_datagrams_are_forgotten_and_real_ones_returned),
		cmocka_unit_test(a_system_without_the_call_sends_one_datagram_a_call),
		cmocka_unit_test(cutting_refuses_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

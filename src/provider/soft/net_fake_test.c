/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake engine, the silent objects, and nodes: the other half of net_test.c. */
#include "provider/soft/net_fake.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory/guard.h"
#include "provider/soft/net_state.h"

enum {
	BTH = 12,
	SLOT_AT = 5,
	SENDER_AT = 7,
	SEQ_AT = 8,
	FAKE_QUEUE = 4096,
	PAYLOAD_MAX = 4096,
	NODES_MAX = 64
};

struct vf_roce {
	unsigned slot, head, count;
	struct vf_roce_tx queue[FAKE_QUEUE];
};

static struct fake_report seen;
static uint32_t next_seq[VF_OS_SLOTS], expected[VF_OS_SLOTS];
static struct vf_roce_path path4, path6, straight4, straight6;
static uint8_t payload[FAKE_QUEUE][PAYLOAD_MAX];
static void *gone_page;
static struct {
	pid_t pid;
	int fd;
} living[NODES_MAX];

/* ---- engine ---- */

int vf_roce_create(const struct vf_roce_config *cfg, struct vf_roce **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->slot = cfg->slot;
	return 0;
}

void vf_roce_destroy(struct vf_roce *r) { free(r); }
vf_nsec vf_roce_deadline(const struct vf_roce *r)
{
	(void)r;
	return VF_NSEC_NEVER;
}

void vf_roce_tick(struct vf_roce *r, vf_nsec now)
{
	(void)r;
	(void)now;
}

static uint8_t pattern(unsigned sender, uint32_t seq, uint32_t at)
{
	return (uint8_t)(sender * 31 + seq * 7 + at * 3 + at / 256);
}

static void check(const struct vf_roce_rx *rx)
{
	unsigned sender = rx->data[SENDER_AT];
	uint32_t seq = vf_load_be32(rx->data + SEQ_AT), pad = rx->data[1] >> 4 & 3;

	seen.received++;
	seen.from[sender]++;
	seen.bytes += rx->len;
	seen.disorder += seq != expected[sender];
	expected[sender] = seq + 1;
	for (uint32_t i = BTH; i < rx->len - pad; i++)
		if (rx->data[i] != pattern(sender, seq, i - BTH)) {
			seen.damaged++;
			return;
		}
}

void vf_roce_receive(struct vf_roce *r, vf_nsec now, const struct vf_roce_rx *rx, unsigned count)
{
	(void)r;
	(void)now;
	for (unsigned i = 0; i < count; i++)
		check(&rx[i]);
}

unsigned vf_roce_transmit(struct vf_roce *r, vf_nsec now, struct vf_roce_tx *tx, unsigned max)
{
	unsigned n = r->count < max ? r->count : max;

	(void)now;
	memcpy(tx, r->queue + r->head, n * sizeof(*tx));
	r->head += n;
	r->count -= n;
	return n;
}

void vf_roce_tx_fault(struct vf_roce *r, vf_nsec now, const struct vf_roce_tx *tx)
{
	(void)r;
	(void)now;
	(void)tx;
	seen.faults++;
}

bool vf_roce_gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

/* ---- objects ---- */

const struct vf_roce_host_ops vf_soft_host_ops;
void vf_soft_peer_died(unsigned slot) { seen.died[slot] = true; }
void vf_soft_interfaces_changed(void) {}
void vf_soft_settle(void) {}
void vf_soft_forked(void) { memset(&seen, 0, sizeof(seen)); }
struct vf_roce_counters *vf_soft_stray_counters(void) { return &seen.counters; }

/* ---- the child's side of a node ---- */

static void queue_packet(struct vf_roce *r, const struct fake_command *c, unsigned i)
{
	struct vf_roce_tx *t = &r->queue[i];
	uint32_t len = c->count > 1 && i == c->count - 1 && c->len > 3 ? c->len - 3 : c->len;
	uint32_t seq = next_seq[c->slot]++;

	memset(t, 0, sizeof(*t));
	if (c->is_straight)
		t->path = c->is_ipv6 ? &straight6 : &straight4;
	else
		t->path = c->is_ipv6 ? &path6 : &path4;
	t->counters = &seen.counters;
	t->header_len = BTH;
	t->headers[0] = 0x04;
	t->headers[SLOT_AT] = (uint8_t)c->slot;
	t->headers[SENDER_AT] = (uint8_t)r->slot;
	vf_store_be32(t->headers + SEQ_AT, seq);
	t->payload_len = len;
	t->pad_len = (uint8_t)(-len & 3);
	t->headers[1] = (uint8_t)(t->pad_len << 4);
	t->is_volatile = c->is_volatile;
	for (uint32_t k = 0; k < len; k++)
		payload[i][k] = pattern(r->slot, seq, k);
	t->iov[0] = (struct iovec){.iov_base = payload[i], .iov_len = len / 2};
	t->iov[1] = (struct iovec){.iov_base = payload[i] + len / 2, .iov_len = len - len / 2};
	t->iov_count = 2;
	if ((int)i == c->gone)
		t->iov[1].iov_base = gone_page;
}

static int do_send(struct vf_soft_net *net, const struct fake_command *c)
{
	struct vf_roce *r;

	if (c->count > FAKE_QUEUE || c->len > PAYLOAD_MAX)
		return -EINVAL;
	vf_soft_net_lock(net);
	r = vf_soft_net_engine(net);
	for (unsigned i = 0; i < c->count; i++)
		queue_packet(r, c, i);
	r->head = 0;
	r->count = c->count;
	vf_soft_net_flush(net);
	vf_soft_net_unlock(net);
	return 0;
}

/* In a forked child: the parent's net is deaf, and one of its own can be had. */
static int use_in_child(struct vf_soft_net *net, unsigned parent_slot)
{
	struct vf_soft_net *own;
	struct fake_command c = {
		.op = FAKE_SEND, .slot = parent_slot, .count = 1, .len = 64, .gone = -1};

	if (vf_soft_net_progress(net))
		return 1;
	vf_soft_net_lock(net);
	vf_soft_net_flush(net);
	vf_soft_net_unlock(net);
	vf_soft_net_put(net);
	memset(next_seq, 0, sizeof(next_seq));
	if (vf_soft_net_get(&own))
		return 2;
	if (own == net || vf_soft_net_engine(own)->slot == parent_slot)
		return 3;
	if (do_send(own, &c))
		return 4;
	vf_soft_net_put(own);
	return 0;
}

static int do_fork(struct vf_soft_net *net)
{
	unsigned slot = vf_soft_net_engine(net)->slot;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(use_in_child(net, slot));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int obey(struct vf_soft_net *net, const struct fake_command *c)
{
	int err;

	switch (c->op) {
	case FAKE_SEND:
		return do_send(net, c);
	case FAKE_WATCH:
		vf_soft_net_lock(net);
		err = vf_soft_net_watch_slot(net, c->slot);
		vf_soft_net_unlock(net);
		return err;
	case FAKE_MISHEAR:
		vf_soft_net_lock(net);
		net_watch_hung_up(net, c->slot);
		vf_soft_net_unlock(net);
		return 0;
	case FAKE_FORK:
		return do_fork(net);
	case FAKE_REPORT:
	case FAKE_QUIT:
		break;
	}
	return 0;
}

static void report(struct vf_soft_net *net, int fd, int err)
{
	if (net)
		vf_soft_net_lock(net);
	seen.slot = net ? vf_soft_net_engine(net)->slot : VF_OS_SLOTS;
	seen.error = err;
	if (write(fd, &seen, sizeof(seen)) != sizeof(seen))
		_exit(3);
	if (net)
		vf_soft_net_unlock(net);
}

static _Noreturn void live(int fd)
{
	struct vf_soft_net *net = NULL;
	struct fake_command c;
	int err;

	path4 = path6 = (struct vf_roce_path){.hop_limit = 64};
	memcpy(path4.sgid, (uint8_t[16]){[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}, 16);
	memcpy(path4.dgid, path4.sgid, 16);
	path6.sgid[15] = path6.dgid[15] = 1;
	straight4 = path4;
	straight6 = path6;
	straight4.host_tag = straight6.host_tag = VF_SOFT_TAG_LOCAL;
	gone_page = mmap(NULL, PAYLOAD_MAX, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	vf_guard_install();
	err = vf_soft_net_get(&net);
	report(net, fd, err);
	while (err == 0 && read(fd, &c, sizeof(c)) == sizeof(c) && c.op != FAKE_QUIT)
		report(net, fd, obey(net, &c));
	if (net)
		vf_soft_net_put(net);
	_exit(0);
}

/* ---- the test's side ---- */

static int read_report(struct fake_node *n, struct fake_report *out)
{
	uint8_t *p = (uint8_t *)out;
	size_t have = 0;

	while (have < sizeof(*out)) {
		struct pollfd f = {.fd = n->fd, .events = POLLIN};
		ssize_t k;

		if (poll(&f, 1, 20000) != 1)
			return -ETIMEDOUT;
		k = read(n->fd, p + have, sizeof(*out) - have);
		if (k <= 0)
			return -EPIPE;
		have += (size_t)k;
	}
	return 0;
}

/* The test's ends: a later child must not keep an earlier one's alive. */
static void remember(pid_t pid, int fd)
{
	for (int i = 0; i < NODES_MAX; i++)
		if (living[i].pid == 0) {
			living[i].pid = pid;
			living[i].fd = fd;
			return;
		}
	abort();
}

static void forget(pid_t pid)
{
	for (int i = 0; i < NODES_MAX; i++)
		if (living[i].pid == pid)
			living[i].pid = 0;
}

void fake_nodes_end(void)
{
	for (int i = 0; i < NODES_MAX; i++) {
		if (!living[i].pid)
			continue;
		kill(living[i].pid, SIGKILL);
		waitpid(living[i].pid, NULL, 0);
		close(living[i].fd);
		living[i].pid = 0;
	}
}

int fake_node_try(struct fake_node *n)
{
	struct fake_report r;
	int fd[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		return -errno;
	n->pid = fork();
	if (n->pid == 0) {
		for (int i = 0; i < NODES_MAX; i++)
			if (living[i].pid)
				close(living[i].fd);
		close(fd[0]);
		live(fd[1]);
	}
	close(fd[1]);
	n->fd = fd[0];
	remember(n->pid, n->fd);
	err = read_report(n, &r);
	n->slot = r.slot;
	return err ? err : r.error;
}

void fake_node_start(struct fake_node *n)
{
	if (fake_node_try(n))
		abort();
}

int fake_node_command(struct fake_node *n, const struct fake_command *c, struct fake_report *out)
{
	if (write(n->fd, c, sizeof(*c)) != sizeof(*c))
		return -EPIPE;
	return read_report(n, out);
}

void fake_node_expect(struct fake_node *n, unsigned slot, uint64_t packets, struct fake_report *out)
{
	static const struct timespec pause = {.tv_nsec = 2000000};
	struct fake_command c = {.op = FAKE_REPORT};

	for (int i = 0; i < 2500; i++) {
		if (fake_node_command(n, &c, out) || out->from[slot] >= packets)
			return;
		nanosleep(&pause, NULL);
	}
}

void fake_node_kill(struct fake_node *n)
{
	forget(n->pid);
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
	close(n->fd);
}

void fake_node_stop(struct fake_node *n)
{
	struct fake_command c = {.op = FAKE_QUIT};

	forget(n->pid);
	if (write(n->fd, &c, sizeof(c)) != sizeof(c))
		kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
	close(n->fd);
}

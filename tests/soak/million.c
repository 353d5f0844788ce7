/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many messages of random size and operation between two processes, with the library's own
 * impairment switched on. Each process keeps a model of the memory that its peer writes and reads;
 * everything that arrives is compared.
 *
 *   million [-n messages] [-i impairment] [-s seed] [-d device] [-u]
 *
 * Ends well when every message arrived once, in order and unchanged, and when the counters of both
 * ends add up to what was injected: sent + duplicated - lost == received + refused for a wrong ICRC
 * + dropped by the system. -u: a UC flood instead: 32 messages of 512 KiB in flight, both
 * directions, nothing may be missing.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <verbifrost/verbifrost.h>

#include "base/bytes.h"
#include "base/rand.h"

#define MSG_MAX	 16384u
#define DEPTH	 16u
#define UC_MSG	 (512u * 1024)
#define UC_DEPTH 32u

struct options {
	uint64_t messages, seed;
	const char *impair, *device;
	bool is_uc;
};

/* What one end tells the other before and after. */
struct hello {
	uint32_t qpn, rkey;
	uint64_t addr;
	uint8_t gid[16];
};

struct totals {
	uint64_t sent, rcvd, lost, duplicated, icrc, overflow, retransmitted;
};

struct end {
	const struct options *o;
	int fd; /* to the other process */
	bool is_first;
	_Atomic uint64_t
		*taken; /* [2], shared: how many messages each end has received (and reposted) */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint8_t *mem; /* recv slots | send slots | window written and read by the peer | model of
			 the peer's window | read-back */
	uint32_t slot, depth;
	struct hello peer;
	struct vf_rand rnd;
	uint64_t tx, rx, done, corrupt;
	uint64_t counter_model; /* the peer's atomic cell, as it must stand */
};

#define WINDOW 65536u

static uint8_t *recv_slot(struct end *e, uint64_t n) { return e->mem + (n % e->depth) * e->slot; }
static uint8_t *send_slot(struct end *e, uint64_t n)
{
	return e->mem + (e->depth + n % e->depth) * e->slot;
}
static uint8_t *window(struct end *e) { return e->mem + 2ull * e->depth * e->slot; }
static uint8_t *model(struct end *e) { return window(e) + WINDOW; }
static uint8_t *readback(struct end *e) { return model(e) + WINDOW; }
static uint8_t *cell(struct end *e) { return readback(e) + MSG_MAX; }
static size_t mem_len(const struct end *e)
{
	return 2ull * e->depth * e->slot + 2 * WINDOW + MSG_MAX + 64;
}

static int die(const char *what)
{
	fprintf(stderr, "%s: %s (%s)\n", what, strerror(errno), verbifrost_last_error());
	return -1;
}

static int say(int fd, const void *p, size_t len)
{
	return write(fd, p, len) == (ssize_t)len ? 0 : die("write");
}

static int hear(int fd, void *p, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = read(fd, (char *)p + got, len - got);

		if (n <= 0)
			return die("the other process is gone");
		got += (size_t)n;
	}
	return 0;
}

static int post_recv(struct end *e, uint64_t n)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)recv_slot(e, n), .length = e->slot, .lkey = e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = n, .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(e->qp, &wr, &bad) ? die("post_recv") : 0;
}

static int open_device(struct end *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (!e->ctx && strcmp(ibv_get_device_name(list[i]), e->o->device) == 0)
			e->ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return e->ctx ? 0 : die("no such device");
}

static int make(struct end *e)
{
	struct ibv_qp_init_attr init = {.qp_type = e->o->is_uc ? IBV_QPT_UC : IBV_QPT_RC,
					.cap = {.max_send_wr = e->depth,
						.max_recv_wr = e->depth,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	e->depth = e->o->is_uc ? UC_DEPTH : DEPTH;
	e->slot = e->o->is_uc ? UC_MSG : MSG_MAX;
	init.cap.max_send_wr = init.cap.max_recv_wr = e->depth;
	if (!e->o->is_uc)
		a.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	if (open_device(e))
		return -1;
	e->mem = aligned_alloc(4096, (mem_len(e) + 4095) & ~(size_t)4095);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, (int)(2 * e->depth + 8), NULL, NULL, 0);
	if (!e->mem || !e->pd || !e->cq)
		return die("pd, cq");
	memset(e->mem, 0, mem_len(e));
	e->mr = ibv_reg_mr(e->pd, e->mem, mem_len(e),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!e->mr)
		return die("reg_mr");
	init.send_cq = init.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &init);
	if (!e->qp ||
	    ibv_modify_qp(e->qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return die("qp");
	for (uint64_t n = 0; n < e->depth; n++)
		if (post_recv(e, n))
			return -1;
	return 0;
}

static int connect_qp(struct end *e)
{
	struct hello h = {.qpn = e->qp->qp_num, .rkey = e->mr->rkey, .addr = (uintptr_t)window(e)};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.rq_psn = 0xfffff0,
				.max_dest_rd_atomic = 8,
				.min_rnr_timer = 1,
				.ah_attr = {.is_global = 1,
					    .port_num = 1,
					    .grh = {.sgid_index = 1, .hop_limit = 64}}};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (ibv_query_gid(e->ctx, 1, 1, (union ibv_gid *)(void *)h.gid) ||
	    say(e->fd, &h, sizeof(h)) || hear(e->fd, &e->peer, sizeof(e->peer)))
		return -1;
	memcpy(&a.ah_attr.grh.dgid, e->peer.gid, 16);
	a.dest_qp_num = e->peer.qpn;
	if (ibv_modify_qp(e->qp, &a,
			  e->o->is_uc ? mask
				      : mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return die("RTR");
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .sq_psn = 0xfffff0,
				 .timeout = 12,
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .max_rd_atomic = 8};
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (ibv_modify_qp(e->qp, &a,
			  e->o->is_uc ? mask
				      : mask | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		return die("RTS");
	h.qpn = 0; /* both are ready */
	return say(e->fd, &h, sizeof(h)) || hear(e->fd, &h, sizeof(h));
}

/* A message is its number, then bytes that depend on number and place. */
static void fill(uint8_t *p, uint64_t n, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(n * 37 + i * 11 + (i >> 8));
	memcpy(p, &n, sizeof(n));
}

static void verify(struct end *e, uint64_t n, uint32_t len)
{
	const uint8_t *p = recv_slot(e, n);
	uint64_t got;

	memcpy(&got, p, sizeof(got));
	if (got != n) {
		if (e->corrupt++ == 0)
			fprintf(stderr, "message %llu arrived in place of %llu\n",
				(unsigned long long)got, (unsigned long long)n);
		return;
	}
	for (uint32_t i = sizeof(got); i < len; i++) {
		if (p[i] != (uint8_t)(n * 37 + i * 11 + (i >> 8))) {
			if (e->corrupt++ == 0)
				fprintf(stderr, "message %llu, byte %u of %u is wrong\n",
					(unsigned long long)n, i, len);
			return;
		}
	}
}

static int post(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	wr->num_sge = 1;
	e->tx++;
	return ibv_post_send(e->qp, wr, &bad) ? die("post_send") : 0;
}

static int post_message(struct end *e, uint64_t n)
{
	uint32_t len = e->o->is_uc ? UC_MSG
				   : 8 + (uint32_t)vf_rand_below(&e->rnd, vf_rand_below(&e->rnd, 4)
										  ? 256
										  : MSG_MAX - 8);
	struct ibv_sge sge = {
		.addr = (uintptr_t)send_slot(e, n), .length = len, .lkey = e->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = n, .sg_list = &sge, .opcode = IBV_WR_SEND};

	if (e->o->is_uc) /* filling half a MiB each time would measure memset */
		memcpy(send_slot(e, n), &n, sizeof(n));
	else
		fill(send_slot(e, n), n, len);
	return post(e, &wr);
}

/* One-sided work goes one at a time, between messages, so that the model of the peer's window is
 * exact. */
static int post_one_sided(struct end *e)
{
	uint64_t kind = vf_rand_below(&e->rnd, 3);
	uint32_t len = 1 + (uint32_t)vf_rand_below(&e->rnd, MSG_MAX - 1),
		 at = 64 + (uint32_t)vf_rand_below(&e->rnd, WINDOW - MSG_MAX - 64);
	struct ibv_sge sge = {
		.addr = (uintptr_t)(model(e) + at), .length = len, .lkey = e->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = (UINT64_C(1) << 63) | kind << 48 | (uint64_t)at << 16 | len,
		.sg_list = &sge,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = e->peer.addr + at, .rkey = e->peer.rkey}};

	if (kind == 0) {
		for (uint32_t i = 0; i < len; i++)
			model(e)[at + i] = (uint8_t)vf_rand_next(&e->rnd);
	} else if (kind == 1) {
		wr.opcode = IBV_WR_RDMA_READ;
		sge.addr = (uintptr_t)readback(e);
	} else {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		sge.addr = (uintptr_t)cell(e);
		sge.length = 8;
		wr.wr.atomic.remote_addr = e->peer.addr;
		wr.wr.atomic.rkey = e->peer.rkey;
		wr.wr.atomic.compare_add = 1 + at;
		wr.wr_id = (UINT64_C(1) << 63) | kind << 48 | (uint64_t)(1 + at) << 16 | 8;
	}
	return post(e, &wr);
}

static void one_sided_done(struct end *e, uint64_t id)
{
	uint32_t at = (uint32_t)(id >> 16), len = (uint32_t)(id & 0xffff);
	uint64_t kind = id >> 48 & 3, was;

	if (kind == 1 && memcmp(readback(e), model(e) + at, len) && e->corrupt++ == 0)
		fprintf(stderr, "READ of %u bytes at %u differs from what was written\n", len, at);
	if (kind != 2)
		return;
	memcpy(&was, cell(e), 8);
	if (was != e->counter_model && e->corrupt++ == 0)
		fprintf(stderr, "FETCH_ADD returned %llu, expected %llu\n", (unsigned long long)was,
			(unsigned long long)e->counter_model);
	e->counter_model += at;
}

static int poll(struct end *e, bool *one_sided)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(e->cq, 16, wc);

	for (int i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			fprintf(stderr, "completion %d: %s\n", i, ibv_wc_status_str(wc[i].status));
			return -1;
		}
		if (wc[i].opcode & IBV_WC_RECV) {
			verify(e, e->rx, e->o->is_uc ? 8 : wc[i].byte_len);
			if (post_recv(e, e->rx + e->depth))
				return -1;
			atomic_store(&e->taken[!e->is_first], ++e->rx);
			continue;
		}
		e->done++;
		if (wc[i].wr_id >> 63) {
			one_sided_done(e, wc[i].wr_id);
			*one_sided = false;
		}
	}
	return n;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int exchange(struct end *e)
{
	uint64_t sent = 0;
	bool one_sided = false;
	_Atomic uint64_t *far_taken = &e->taken[e->is_first];
	double heard = now_s();

	while (e->rx < e->o->messages || sent < e->o->messages || e->done < e->tx) {
		int n = poll(e, &one_sided);

		if (n < 0)
			return -1;
		if (n > 0)
			heard = now_s();
		if (now_s() - heard > 20) {
			fprintf(stderr,
				"nothing for 20 s: sent %llu, completed %llu, received %llu\n",
				(unsigned long long)sent, (unsigned long long)e->done,
				(unsigned long long)e->rx);
			return -1;
		}
		if (!e->o->is_uc && !one_sided && sent < e->o->messages &&
		    vf_rand_below(&e->rnd, 3) == 0) {
			one_sided = true;
			if (post_one_sided(e))
				return -1;
		}
		/* UC: without a receive a message is lost, by rule; the same limit for RC keeps RNR
		 * out of the count */
		while (sent < e->o->messages && e->tx - e->done < e->depth - 1 &&
		       sent < *far_taken + e->depth) {
			if (post_message(e, sent))
				return -1;
			sent++;
		}
	}
	return 0;
}

static uint64_t find(const struct verbifrost_counter *c, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	fprintf(stderr, "no counter named %s\n", name);
	return UINT64_MAX / 4;
}

static int read_totals(struct end *e, struct totals *t)
{
	struct verbifrost_counter c[256];
	int n = verbifrost_query_counters(e->ctx, c, 256);

	if (n < 0)
		return die("counters");
	t->sent = find(c, n, "sent_pkts");
	t->rcvd = find(c, n, "rcvd_pkts");
	t->lost = find(c, n, "drop_impair");
	t->duplicated = find(c, n, "impair_duplicated");
	t->icrc = find(c, n, "drop_icrc");
	t->overflow = find(c, n, "socket_overflows");
	t->retransmitted = find(c, n, "retransmitted_pkts");
	return 0;
}

/* Both ends stand still: what one sent, less what was lost on purpose, is what the other saw. */
static int compare(const struct totals *a, const struct totals *b)
{
	uint64_t sent = a->sent + b->sent + a->duplicated + b->duplicated - a->lost - b->lost;
	uint64_t seen = a->rcvd + b->rcvd + a->icrc + b->icrc + a->overflow + b->overflow;

	printf("sent %llu (again %llu), lost on purpose %llu, duplicated %llu; received %llu, "
	       "wrong ICRC %llu, overflow %llu: %s\n",
	       (unsigned long long)(a->sent + b->sent),
	       (unsigned long long)(a->retransmitted + b->retransmitted),
	       (unsigned long long)(a->lost + b->lost),
	       (unsigned long long)(a->duplicated + b->duplicated),
	       (unsigned long long)(a->rcvd + b->rcvd), (unsigned long long)(a->icrc + b->icrc),
	       (unsigned long long)(a->overflow + b->overflow),
	       sent == seen ? "adds up" : "DOES NOT ADD UP");
	return sent == seen ? 0 : -1;
}

static void linger(struct end *e, double seconds)
{
	bool ignored = false;

	for (double until = now_s() + seconds; now_s() < until;)
		poll(e, &ignored);
}

static int run(struct end *e)
{
	struct totals mine = {0}, theirs = {0};
	char ok = 1;
	int rc;

	if (make(e) || connect_qp(e))
		return -1;
	rc = exchange(e);
	if (rc || say(e->fd, &ok, 1) || hear(e->fd, &ok, 1))
		return -1;
	linger(e, 1.0); /* late acknowledgements, delayed packets */
	if (read_totals(e, &mine) || say(e->fd, &mine, sizeof(mine)) ||
	    hear(e->fd, &theirs, sizeof(theirs)))
		return -1;
	printf("%llu messages received and verified, %llu wrong\n", (unsigned long long)e->rx,
	       (unsigned long long)e->corrupt);
	rc = e->is_first ? compare(&mine, &theirs) : 0;
	return rc || e->corrupt ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = {.messages = 100000,
			    .seed = 1,
			    .impair = "loss=1%,dup=1%,reorder=1%",
			    .device = "vf_lo"};
	struct end e = {.o = &o};
	int c, fds[2], status, rc;
	double began = now_s();
	pid_t pid;

	while ((c = getopt(argc, argv, "n:i:s:d:u")) != -1) {
		switch (c) {
		case 'n':
			o.messages = strtoull(optarg, NULL, 0);
			break;
		case 'i':
			o.impair = optarg;
			break;
		case 's':
			o.seed = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			o.device = optarg;
			break;
		case 'u':
			o.is_uc = true;
			o.impair = "";
			break;
		default:
			fprintf(stderr, "usage: million [-n messages] [-i impairment] [-s seed] "
					"[-d device] [-u]\n");
			return 2;
		}
	}
	setenv("VERBIFROST_IMPAIR", o.impair, 1);
	e.taken = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (e.taken == MAP_FAILED)
		return die("mmap") ? 1 : 0;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || (pid = fork()) < 0)
		return die("socketpair, fork") ? 1 : 0;
	e.fd = pid ? fds[0] : fds[1];
	e.is_first = pid != 0;
	close(pid ? fds[1] : fds[0]);
	vf_rand_seed(&e.rnd, o.seed + (pid ? 0 : 1000));
	rc = run(&e);
	if (!pid) {
		fflush(NULL);
		_exit(rc ? 1 : 0);
	}
	close(e.fd);
	if (waitpid(pid, &status, 0) != pid || status)
		rc = -1;
	printf("%.1f s\n%d passed, %d failed\n", now_s() - began, rc ? 0 : 1, rc ? 1 : 0);
	return rc ? 1 : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One process of the chaos test. For each peer and each of the QPs towards it:
 *
 *   ABSENT -> INIT (published) -> RTS (peer published the same pair of generations) -> sends, once
 * the peer's end can receive -> gone, when the peer's generation moved on
 *
 * The last of the QPs to a peer is UC, the others RC. Every RC or UC message is a SEND that carries
 * (sender, generation, qp, sequence number) and a pattern made of them; the receiver checks all of
 * it. RC may lose nothing; UC may lose whole messages, never change, repeat or reorder them. Each
 * eighth message of an RC QP is followed by an RDMA WRITE into, and a READ back from, a cell of the
 * peer's memory that is this connection's own.
 */
#include "shared.h"

#include <dirent.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <verbifrost/verbifrost.h>

#include "base/bytes.h"
#include "base/rand.h"

#define MSG_MAX 9000u
#define RECVS	8
#define SENDS	4
#define CELL	256u /* bytes of each connection's cell in the peer's memory */

enum phase { ABSENT, INIT, RTS };

struct header {
	uint32_t sender, gen, qp, len;
	uint64_t seq;
};

struct link {
	struct worker *w;
	int peer, q;
	enum phase phase;
	uint32_t peer_gen, peer_qpn;
	struct ibv_qp *qp;
	uint64_t tx_seq, rx_seq;
	unsigned in_flight, cell_ops;
	bool failed; /* the QP is in error; allowed only when the peer is dead */
	uint8_t *recv_buf, *send_buf, *cell_src, *cell_back;
};

struct worker {
	struct chaos_shared *sh;
	struct chaos_proc *me;
	int self;
	uint32_t gen;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *mem;
	size_t mem_len;
	struct vf_rand rnd;
	struct link link[CHAOS_PROCS_MAX][CHAOS_QPS_MAX];
};

/* wr_id: link index in the upper half, kind and buffer number in the lower */
enum kind { K_SEND = 1, K_RECV, K_WRITE, K_READ };

static uint64_t wr_id(const struct link *l, enum kind k, unsigned n)
{
	return (uint64_t)(unsigned)(l->peer * CHAOS_QPS_MAX + l->q) << 32 | (uint64_t)k << 8 | n;
}

static bool peer_is_dead(const struct link *l)
{
	const struct chaos_proc *p = &l->w->sh->proc[l->peer];

	return atomic_load(&p->dying) || atomic_load(&p->gen) != l->peer_gen ||
	       atomic_load(&l->w->sh->stop);
}

static void __attribute__((format(printf, 2, 3))) fault(struct worker *w, const char *fmt, ...)
{
	va_list ap;

	if (atomic_fetch_add(&w->me->errors, 1) == 0) {
		va_start(ap, fmt);
		vsnprintf(w->me->text, sizeof(w->me->text), fmt, ap);
		va_end(ap);
	}
}

static uint8_t pattern_byte(const struct header *h, uint32_t i)
{
	return (uint8_t)(i * 7 + h->seq * 13 + h->sender * 31 + h->qp * 61 + h->gen);
}

static void fill(uint8_t *buf, const struct header *h)
{
	memcpy(buf, h, sizeof(*h));
	for (uint32_t i = sizeof(*h); i < h->len; i++)
		buf[i] = pattern_byte(h, i);
}

static void check(struct link *l, const uint8_t *buf, uint32_t len)
{
	struct header h;

	memcpy(&h, buf, sizeof(h));
	/* UC loses what finds no receive, as at first, when the peer is connected before this end
	 * is */
	if (l->qp->qp_type == IBV_QPT_UC && h.seq > l->rx_seq)
		l->rx_seq = h.seq;
	if (len < sizeof(h) || h.len != len || h.sender != (uint32_t)l->peer ||
	    h.gen != l->peer_gen || h.qp != (uint32_t)l->q || h.seq != l->rx_seq) {
		fault(l->w,
		      "qp %d from %d: got sender %u gen %u qp %u seq %llu len %u, expected gen %u "
		      "seq %llu len %u",
		      l->q, l->peer, h.sender, h.gen, h.qp, (unsigned long long)h.seq, h.len,
		      l->peer_gen, (unsigned long long)l->rx_seq, len);
		return;
	}
	for (uint32_t i = sizeof(h); i < len; i++) {
		if (buf[i] != pattern_byte(&h, i)) {
			fault(l->w, "qp %d from %d seq %llu: byte %u is wrong", l->q, l->peer,
			      (unsigned long long)h.seq, i);
			return;
		}
	}
	l->rx_seq++;
	atomic_fetch_add(&l->w->me->messages, 1);
	atomic_fetch_add(&l->w->me->bytes, len);
}

static int post_recv(struct link *l, unsigned n)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(l->recv_buf + n * MSG_MAX),
			      .length = MSG_MAX,
			      .lkey = l->w->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id(l, K_RECV, n), .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(l->qp, &wr, &bad);
}

static void post_send(struct link *l)
{
	struct worker *w = l->w;
	unsigned n = (unsigned)(l->tx_seq % SENDS);
	struct header h = {
		.sender = (uint32_t)w->self, .gen = w->gen, .qp = (uint32_t)l->q, .seq = l->tx_seq};
	struct ibv_sge sge = {.addr = (uintptr_t)(l->send_buf + n * MSG_MAX), .lkey = w->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id(l, K_SEND, n),
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	h.len = (uint32_t)(sizeof(h) + vf_rand_below(&w->rnd, MSG_MAX - sizeof(h)));
	if (vf_rand_below(&w->rnd, 4))
		h.len = (uint32_t)sizeof(h) + h.len % 500;
	fill(l->send_buf + n * MSG_MAX, &h);
	sge.length = h.len;
	if (ibv_post_send(l->qp, &wr, &bad)) {
		if (!peer_is_dead(l))
			fault(w, "post_send to %d: %s", l->peer, strerror(errno));
		l->failed = true;
		return;
	}
	l->tx_seq++;
	l->in_flight++;
}

/* Writes this connection's cell at the peer, then reads it back; the completion of the read
 * compares. */
static void post_cell(struct link *l)
{
	struct worker *w = l->w;
	const struct chaos_proc *p = &w->sh->proc[l->peer];
	uint64_t at = p->addr + (uint64_t)(w->self * CHAOS_QPS_MAX + l->q) * CELL;
	struct ibv_sge from = {.addr = (uintptr_t)l->cell_src, .length = CELL, .lkey = w->mr->lkey};
	struct ibv_sge to = {.addr = (uintptr_t)l->cell_back, .length = CELL, .lkey = w->mr->lkey};
	struct ibv_send_wr read = {.wr_id = wr_id(l, K_READ, 0),
				   .sg_list = &to,
				   .num_sge = 1,
				   .opcode = IBV_WR_RDMA_READ,
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.rdma = {.remote_addr = at, .rkey = p->rkey}};
	struct ibv_send_wr write = {.wr_id = wr_id(l, K_WRITE, 0),
				    .next = &read,
				    .sg_list = &from,
				    .num_sge = 1,
				    .opcode = IBV_WR_RDMA_WRITE,
				    .send_flags = IBV_SEND_SIGNALED,
				    .wr.rdma = {.remote_addr = at, .rkey = p->rkey}},
			   *bad;

	for (unsigned i = 0; i < CELL; i++)
		l->cell_src[i] = (uint8_t)vf_rand_next(&w->rnd);
	if (ibv_post_send(l->qp, &write, &bad)) {
		l->failed = true;
		return;
	}
	l->cell_ops = 2;
}

static int make_qp(struct link *l)
{
	struct worker *w = l->w;
	bool is_uc = l->q == w->sh->qps - 1 && w->sh->qps > 1;
	struct ibv_qp_init_attr init = {.send_cq = w->cq,
					.recv_cq = w->cq,
					.qp_type = is_uc ? IBV_QPT_UC : IBV_QPT_RC,
					.cap = {.max_send_wr = SENDS + 2,
						.max_recv_wr = RECVS,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						   (is_uc ? 0 : IBV_ACCESS_REMOTE_READ)};

	l->qp = ibv_create_qp(w->pd, &init);
	if (!l->qp)
		return -errno;
	if (ibv_modify_qp(l->qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return -errno;
	for (unsigned i = 0; i < RECVS; i++)
		if (post_recv(l, i))
			return -errno;
	return 0;
}

static void publish(struct link *l)
{
	struct chaos_end *e = &l->w->me->end[l->peer][l->q];

	atomic_store(&e->own_gen, 0);
	atomic_store(&e->ready_qpn, 0);
	e->qpn = l->qp->qp_num;
	atomic_store(&e->peer_gen, l->peer_gen);
	atomic_store(&e->own_gen, l->w->gen);
}

static int to_rts(struct link *l, uint32_t peer_qpn)
{
	struct worker *w = l->w;
	bool is_uc = l->qp->qp_type == IBV_QPT_UC;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = peer_qpn,
				.rq_psn = (0xfffff0 + l->peer_gen) & 0xffffff,
				.max_dest_rd_atomic = 4,
				.min_rnr_timer = 1,
				.ah_attr = {.is_global = 1,
					    .port_num = 1,
					    .grh = {.sgid_index = 1, .hop_limit = 64}}};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	memcpy(&a.ah_attr.grh.dgid, w->sh->proc[l->peer].gid, 16);
	if (ibv_modify_qp(l->qp, &a,
			  is_uc ? mask : mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return -errno;
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = (0xfffff0 + w->gen) & 0xffffff;
	a.timeout = 17; /* 0.5 s: more processes than processors */
	a.retry_cnt = 7;
	a.rnr_retry = 7;
	a.max_rd_atomic = 4;
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (ibv_modify_qp(l->qp, &a,
			  is_uc ? mask
				: mask | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					  IBV_QP_MAX_QP_RD_ATOMIC))
		return -errno;
	return 0;
}

static void drop_link(struct link *l)
{
	if (l->qp && ibv_destroy_qp(l->qp))
		fault(l->w, "destroy_qp: %s", strerror(errno));
	l->qp = NULL;
	l->phase = ABSENT;
	l->failed = false;
	l->tx_seq = l->rx_seq = 0;
	l->in_flight = l->cell_ops = 0;
	atomic_store(&l->w->me->end[l->peer][l->q].own_gen, 0);
	atomic_store(&l->w->me->end[l->peer][l->q].ready_qpn, 0);
}

/* One step of a link's life, outside of completions. */
static void advance(struct link *l)
{
	struct worker *w = l->w;
	struct chaos_proc *p = &w->sh->proc[l->peer];
	uint32_t gen = atomic_load(&p->gen);
	struct chaos_end *far = &p->end[w->self][l->q];
	int rc = 0;

	if (l->phase != ABSENT && gen != l->peer_gen)
		drop_link(l);
	if (atomic_load(&p->up_gen) != gen || atomic_load(&p->dying))
		return;
	if (l->phase == ABSENT) {
		l->peer_gen = gen;
		rc = make_qp(l);
		l->phase = INIT;
		if (!rc)
			publish(l);
	}
	if (!rc && l->phase == INIT && atomic_load(&far->own_gen) == gen &&
	    atomic_load(&far->peer_gen) == w->gen) {
		rc = to_rts(l, far->qpn);
		l->phase = RTS;
		l->peer_qpn = far->qpn;
		if (!rc)
			atomic_store(&w->me->end[l->peer][l->q].ready_qpn, l->qp->qp_num);
	}
	if (rc && !peer_is_dead(l))
		fault(w, "connecting to %d: %s", l->peer, strerror(-rc));
	if (l->phase == RTS && !l->failed && !rc && atomic_load(&far->ready_qpn) == l->peer_qpn) {
		if (l->in_flight < 2)
			post_send(l);
		if (!l->cell_ops && l->tx_seq % 8 == 7 && l->qp->qp_type == IBV_QPT_RC)
			post_cell(l);
	}
}

static void completed(struct link *l, const struct ibv_wc *wc)
{
	unsigned n = (unsigned)wc->wr_id & 0xff;

	switch ((enum kind)(wc->wr_id >> 8 & 0xff)) {
	case K_SEND:
		l->in_flight--;
		break;
	case K_RECV:
		check(l, l->recv_buf + n * MSG_MAX, wc->byte_len);
		if (post_recv(l, n) && !peer_is_dead(l))
			fault(l->w, "post_recv: %s", strerror(errno));
		break;
	case K_WRITE:
		l->cell_ops--;
		break;
	case K_READ:
		l->cell_ops--;
		if (memcmp(l->cell_src, l->cell_back, CELL))
			fault(l->w, "qp %d to %d: read back other bytes than were written", l->q,
			      l->peer);
		break;
	default:
		fault(l->w, "completion with wr_id %llx", (unsigned long long)wc->wr_id);
	}
}

/* True when there was anything. */
static bool poll_all(struct worker *w)
{
	struct ibv_wc wc[32];
	int n = ibv_poll_cq(w->cq, 32, wc);

	if (n < 0)
		fault(w, "poll_cq: %d", n);
	for (int i = 0; i < n; i++) {
		unsigned at = (unsigned)(wc[i].wr_id >> 32);
		struct link *l = &w->link[at / CHAOS_QPS_MAX % CHAOS_PROCS_MAX][at % CHAOS_QPS_MAX];

		if (!l->qp || l->qp->qp_num != wc[i].qp_num) {
			fault(w, "completion for a QP that is gone (qpn 0x%x)", wc[i].qp_num);
		} else if (wc[i].status == IBV_WC_SUCCESS) {
			completed(l, &wc[i]);
		} else {
			l->failed = true;
			if (!peer_is_dead(l))
				fault(w, "qp %d (qpn 0x%x) to %d, which lives: %s, opcode %d", l->q,
				      wc[i].qp_num, l->peer, ibv_wc_status_str(wc[i].status),
				      wc[i].opcode);
		}
	}
	return n > 0;
}

static struct ibv_context *open_named(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i]; i++)
		if (!ctx && strcmp(ibv_get_device_name(list[i]), name) == 0)
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static void carve(struct worker *w)
{
	uint8_t *at = w->mem + (size_t)CHAOS_PROCS_MAX * CHAOS_QPS_MAX * CELL;

	for (int p = 0; p < w->sh->procs; p++) {
		for (int q = 0; q < w->sh->qps; q++) {
			struct link *l = &w->link[p][q];

			l->w = w;
			l->peer = p;
			l->q = q;
			l->recv_buf = at;
			l->send_buf = at += RECVS * MSG_MAX;
			l->cell_src = at += SENDS * MSG_MAX;
			l->cell_back = at += CELL;
			at += CELL;
		}
	}
}

static int open_all(struct worker *w, const char *device)
{
	union ibv_gid gid;

	w->mem_len = (size_t)CHAOS_PROCS_MAX * CHAOS_QPS_MAX * CELL +
		     (size_t)(w->sh->procs * w->sh->qps) * ((RECVS + SENDS) * MSG_MAX + 2 * CELL);
	w->mem = calloc(1, w->mem_len);
	w->ctx = open_named(device);
	if (!w->mem || !w->ctx)
		return -ENODEV;
	w->pd = ibv_alloc_pd(w->ctx);
	w->cq = ibv_create_cq(w->ctx, w->sh->procs * w->sh->qps * (RECVS + SENDS + 2), NULL, NULL,
			      0);
	if (!w->pd || !w->cq || ibv_query_gid(w->ctx, 1, 1, &gid))
		return -errno;
	w->mr = ibv_reg_mr(w->pd, w->mem, w->mem_len,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	if (!w->mr)
		return -errno;
	carve(w);
	memcpy(w->me->gid, &gid, 16);
	w->me->addr = (uintptr_t)w->mem;
	w->me->rkey = w->mr->rkey;
	atomic_store(&w->me->up_gen, w->gen);
	atomic_store(&w->me->is_up, 1);
	return 0;
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	if (!d)
		return 0;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void keep_counters(struct worker *w)
{
	struct verbifrost_counter c[128];
	int n = verbifrost_query_counters(w->ctx, c, 128);

	for (int i = 0; i < n && i < 128; i++) {
		if (strcmp(c[i].name, "forwarded_pkts") == 0)
			atomic_fetch_add(&w->me->forwarded, c[i].value);
		if (strcmp(c[i].name, "socket_overflows") == 0)
			atomic_fetch_add(&w->me->overflows, c[i].value);
		if (strcmp(c[i].name, "retransmitted_pkts") == 0)
			atomic_fetch_add(&w->me->retransmitted, c[i].value);
	}
}

static void close_all(struct worker *w)
{
	keep_counters(w);
	for (int p = 0; p < w->sh->procs; p++)
		for (int q = 0; q < w->sh->qps; q++)
			if (w->link[p][q].phase != ABSENT)
				drop_link(&w->link[p][q]);
	if (ibv_dereg_mr(w->mr) || ibv_destroy_cq(w->cq) || ibv_dealloc_pd(w->pd) ||
	    ibv_close_device(w->ctx))
		fault(w, "closing: %s", strerror(errno));
	free(w->mem);
}

int chaos_worker(struct chaos_shared *shared, int self, const char *device)
{
	struct worker *w = calloc(1, sizeof(*w));
	int rc, fds = count_fds();

	if (!w)
		return 1;
	w->sh = shared;
	w->self = self;
	w->me = &shared->proc[self];
	w->gen = atomic_load(&w->me->gen);
	vf_rand_seed(&w->rnd, (uint64_t)(unsigned)self << 32 | w->gen);
	rc = open_all(w, device);
	if (rc) {
		fault(w, "opening %s: %s", device, strerror(-rc));
		return 1;
	}
	while (!atomic_load(&shared->stop)) {
		if (!poll_all(w))
			nanosleep(&(struct timespec){.tv_nsec = 100000},
				  NULL); /* more processes than processors */
		for (int p = 0; p < shared->procs; p++)
			for (int q = 0; q < shared->qps; q++)
				if (p != self)
					advance(&w->link[p][q]);
	}
	close_all(w);
	if (count_fds() != fds)
		fault(w, "%d descriptors at the start, %d at the end", fds, count_fds());
	free(w);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The world of the engine's own tests: see engine_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "roce/engine_world.h"
#include "roce/wire.h"

#define TX_MAX	   16u
#define PACKET_MAX (VF_ROCE_HEADERS_MAX + VF_ROCE_MTU_MAX + 4u)

/* ---- the host's operations ---- */

static int find_key(struct world_node *n, const struct vf_roce_mem *m, uint64_t *offset)
{
	uint32_t i = m->key - WORLD_KEY;
	uint64_t base;

	if (i >= WORLD_KEYS || !n->keys[i].is_valid)
		return -EINVAL;
	if ((n->keys[i].access & m->access) != m->access)
		return -EACCES;
	base = world_addr(n, (uint32_t)n->keys[i].offset);
	if (m->addr < base || m->len > n->keys[i].len || m->addr - base > n->keys[i].len - m->len)
		return -ERANGE;
	*offset = m->addr - world_addr(n, 0);
	return 0;
}

static int mem_check(void *host, const struct vf_roce_mem *m)
{
	uint64_t offset;

	return find_key(host, m, &offset);
}

static int mem_map(void *host, const struct vf_roce_mem *m, struct iovec *iov, int max)
{
	struct world_node *n = host;
	uint64_t offset;
	int err = find_key(n, m, &offset);

	if (err)
		return err;
	assert_true(max > 0 && m->len <= VF_ROCE_MTU_MAX && m->len > 0);
	iov[0] = (struct iovec){n->mem + offset, m->len};
	return 1;
}

static bool is_gone(const struct world_node *n, const struct iovec *iov)
{
	uintptr_t at = (uintptr_t)iov->iov_base, gone = (uintptr_t)n->mem + n->gone_at;

	return n->gone_len && at < gone + n->gone_len && at + iov->iov_len > gone;
}

static int mem_write(void *host, const struct iovec *iov, int count, const void *from, size_t len)
{
	const uint8_t *p = from;

	for (int i = 0; i < count; i++) {
		if (is_gone(host, &iov[i]))
			return -EFAULT;
		assert_true(iov[i].iov_len <= len);
		memcpy(iov[i].iov_base, p, iov[i].iov_len);
		p += iov[i].iov_len;
		len -= iov[i].iov_len;
	}
	assert_int_equal(len, 0);
	return 0;
}

static int mem_read(void *host, const struct iovec *iov, int count, void *to, size_t len)
{
	uint8_t *p = to;

	(void)len;
	for (int i = 0; i < count; i++) {
		if (is_gone(host, &iov[i]))
			return -EFAULT;
		memcpy(p, iov[i].iov_base, iov[i].iov_len);
		p += iov[i].iov_len;
	}
	return 0;
}

static int mem_atomic(void *host, const struct iovec *iov, bool is_swap, uint64_t compare_add,
		      uint64_t swap, uint64_t *original)
{
	uint64_t v;

	if (is_gone(host, iov))
		return -EFAULT;
	memcpy(&v, iov->iov_base, 8);
	*original = v;
	if (is_swap)
		v = v == compare_add ? swap : v;
	else
		v += compare_add;
	memcpy(iov->iov_base, &v, 8);
	return 0;
}

static int mem_bind(void *host, void *qp_host, const void *bind, uint32_t len)
{
	struct world_node *n = host;

	(void)qp_host;
	n->binds++;
	return len == 4 && memcmp(bind, "good", 4) == 0 ? 0 : -EINVAL;
}

static int mem_invalidate(void *host, void *qp_host, uint32_t rkey, bool is_remote)
{
	struct world_node *n = host;

	(void)qp_host;
	(void)is_remote;
	if (rkey - WORLD_KEY >= WORLD_KEYS || !n->keys[rkey - WORLD_KEY].is_valid)
		return -EINVAL;
	n->keys[rkey - WORLD_KEY].is_valid = false;
	n->invalidated++;
	n->last_invalidated = rkey;
	return 0;
}

static void complete(void *host, const struct vf_roce_cqe *cqe)
{
	struct world_node *n = host;

	assert_true(n->cqe_count < WORLD_LOG);
	n->cqe[n->cqe_count++] = *cqe;
}

static void note_event(struct world_node *n, void *who, enum vf_roce_event event)
{
	assert_true(n->event_count < VF_ARRAY_SIZE(n->event));
	n->event[n->event_count].who = who;
	n->event[n->event_count++].event = event;
}

static void qp_event(void *host, void *qp_host, enum vf_roce_event event)
{
	note_event(host, qp_host, event);
}
static void srq_event(void *host, void *srq_host, enum vf_roce_event event)
{
	note_event(host, srq_host, event);
}

static const struct vf_roce_host_ops ops = {
	.mem_check = mem_check,
	.mem_map = mem_map,
	.mem_write = mem_write,
	.mem_read = mem_read,
	.mem_atomic = mem_atomic,
	.mem_bind = mem_bind,
	.mem_invalidate = mem_invalidate,
	.complete = complete,
	.qp_event = qp_event,
	.srq_event = srq_event,
};

/* ---- making the world ---- */

void world_open(struct world *w) { world_open_flow(w, 0); }

void world_open_flow(struct world *w, uint32_t rx_budget_bytes)
{
	static const uint8_t v4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};

	memset(w, 0, sizeof(*w));
	w->now = VF_SEC;
	for (int i = 0; i < 2; i++) {
		struct world_node *n = &w->node[i];
		struct vf_roce_config cfg = {.ops = &ops,
					     .host = n,
					     .seed = 7,
					     .counters = &n->counters,
					     .slot = WORLD_SLOT + (unsigned)i,
					     .max_qps = 64,
					     .rx_budget_bytes = rx_budget_bytes,
					     .is_flow_off = rx_budget_bytes == 0};

		n->w = w;
		n->index = i;
		memcpy(n->gid, v4, 16);
		n->gid[15] = (uint8_t)(1 + i);
		n->keys[0] = (struct world_key){0, WORLD_MEM, 15, true};
		assert_int_equal(vf_roce_create(&cfg, &n->engine), 0);
	}
}

void world_close(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		assert_true(vf_roce_is_idle(w->node[i].engine));
		vf_roce_destroy(w->node[i].engine);
	}
}

struct world_pair world_pair_of(enum vf_roce_type type)
{
	return (struct world_pair){.type = type,
				   .mtu_bytes = 256,
				   .psn = {0xfffffe, 0xfffffd},
				   .rnr_retry = 7,
				   .retry_cnt = 7,
				   .timeout = 10,
				   .min_rnr_timer = 1,
				   .rd_atomic = 4,
				   .dest_rd_atomic = 4};
}

static struct vf_roce_qp_attr attr_of(struct world *w, const struct world_pair *p, int node)
{
	struct vf_roce_qp_attr a = {
		.mtu_bytes = p->mtu_bytes,
		.rq_psn = p->psn[!node],
		.sq_psn = p->psn[node],
		.qkey = 0x11111111,
		.max_rd_atomic = p->rd_atomic,
		.max_dest_rd_atomic = p->dest_rd_atomic,
		.min_rnr_timer = p->min_rnr_timer,
		.timeout = p->timeout,
		.retry_cnt = p->retry_cnt,
		.rnr_retry = p->rnr_retry,
		.access = 15,
	};

	if (p->qp[!node])
		a.dest_qpn = vf_roce_qp_qpn(p->qp[!node]);
	memcpy(a.path.sgid, w->node[node].gid, 16);
	memcpy(a.path.dgid, w->node[!node].gid, 16);
	a.path.hop_limit = 64;
	return a;
}

void world_to_init(struct world *w, struct world_pair *p, int node)
{
	struct vf_roce_qp_attr a = attr_of(w, p, node);

	a.state = VF_ROCE_INIT;
	assert_int_equal(
		vf_roce_qp_modify(p->qp[node], w->now, &a,
				  VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_ACCESS | VF_ROCE_ATTR_QKEY),
		0);
}

void world_to_rtr(struct world *w, struct world_pair *p, int node)
{
	struct vf_roce_qp_attr a = attr_of(w, p, node);

	a.state = VF_ROCE_RTR;
	assert_int_equal(vf_roce_qp_modify(p->qp[node], w->now, &a,
					   VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_PATH |
						   VF_ROCE_ATTR_MTU | VF_ROCE_ATTR_DEST_QPN |
						   VF_ROCE_ATTR_RQ_PSN |
						   VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC |
						   VF_ROCE_ATTR_MIN_RNR_TIMER),
			 0);
}

void world_to_rts(struct world *w, struct world_pair *p, int node)
{
	struct vf_roce_qp_attr a = attr_of(w, p, node);

	a.state = VF_ROCE_RTS;
	assert_int_equal(vf_roce_qp_modify(p->qp[node], w->now, &a,
					   VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_SQ_PSN |
						   VF_ROCE_ATTR_TIMEOUT | VF_ROCE_ATTR_RETRY_CNT |
						   VF_ROCE_ATTR_RNR_RETRY |
						   VF_ROCE_ATTR_MAX_RD_ATOMIC),
			 0);
}

void world_connect(struct world *w, struct world_pair *p)
{
	for (int i = 0; i < 2; i++) {
		struct vf_roce_qp_config cfg = {.type = p->type,
						.qp_host = &p->qp[i],
						.srq = p->srq[i],
						.send_max = 32,
						.recv_max = 32,
						.send_sge_max = 4,
						.recv_sge_max = 4,
						.inline_max = 1024,
						.counters = &w->node[i].counters,
						.is_sig_all = p->is_sig_all};

		assert_int_equal(vf_roce_qp_create(w->node[i].engine, &cfg, &p->qp[i]), 0);
		world_to_init(w, p, i);
	}
	for (int i = 0; i < 2; i++) {
		world_to_rtr(w, p, i);
		world_to_rts(w, p, i);
	}
}

void world_disconnect(struct world_pair *p)
{
	for (int i = 0; i < 2; i++) {
		vf_roce_qp_destroy(p->qp[i]);
		p->qp[i] = NULL;
	}
}

/* ---- running it ---- */

static uint32_t flatten(const struct vf_roce_tx *tx, uint8_t *to)
{
	uint8_t *p = to;

	memcpy(p, tx->headers, tx->header_len);
	p += tx->header_len;
	for (int i = 0; i < tx->iov_count; i++) {
		memcpy(p, tx->iov[i].iov_base, tx->iov[i].iov_len);
		p += tx->iov[i].iov_len;
	}
	assert_int_equal(p - to, tx->header_len + tx->payload_len);
	memset(p, 0, tx->pad_len);
	return (uint32_t)(p - to) + tx->pad_len;
}

static void note_sent(struct world_node *n, const struct vf_roce_tx *tx)
{
	unsigned i = n->sent++ % WORLD_LOG;

	n->sent_opcode[i] = tx->headers[0];
	n->sent_psn[i] = vf_bth_psn(tx->headers);
	n->sent_syndrome[i] = tx->headers[VF_BTH_LEN];
	n->sent_ack_req[i] = vf_bth_is_ack_req(tx->headers);
	n->sent_at[i] = n->w->now;
}

static bool is_lost(struct world_node *n)
{
	bool lost = n->lose & 1u;

	n->lose >>= 1;
	return lost || n->w->is_cut;
}

/* The host meets memory that is gone when it computes the checksum: says so, sends nothing. */
static bool is_faulty(struct world_node *n, const struct vf_roce_tx *tx)
{
	for (int i = 0; i < tx->iov_count; i++)
		if (is_gone(n, &tx->iov[i]))
			return true;
	return false;
}

static bool transfer(struct world *w, int from)
{
	static uint8_t bytes[2 * TX_MAX][PACKET_MAX];
	static struct vf_roce_tx tx[TX_MAX];
	struct vf_roce_rx rx[2 * TX_MAX];
	struct world_node *n = &w->node[from];
	unsigned count = vf_roce_transmit(n->engine, w->now, tx, TX_MAX), arrived = 0;
	bool faulty[TX_MAX];

	for (unsigned i = 0; i < count; i++) {
		faulty[i] = is_faulty(n, &tx[i]);
		if (faulty[i])
			continue;
		note_sent(n, &tx[i]);
		if (is_lost(n))
			continue;
		for (int copy = 0; copy <= (w->is_twice ? 1 : 0); copy++) {
			rx[arrived] = (struct vf_roce_rx){.data = bytes[arrived],
							  .len = flatten(&tx[i], bytes[arrived]),
							  .traffic_class = n->mark_ce,
							  .hop_limit = 64};
			memcpy(rx[arrived].sgid, tx[i].path->sgid, 16);
			memcpy(rx[arrived].dgid, tx[i].path->dgid, 16);
			arrived++;
		}
	}
	for (unsigned i = 0; i < count; i++)
		if (faulty[i])
			vf_roce_tx_fault(n->engine, w->now, &tx[i]);
	if (arrived)
		vf_roce_receive(w->node[!from].engine, w->now, rx, arrived);
	return count > 0;
}

static vf_nsec next_due(const struct world *w)
{
	vf_nsec a = vf_roce_deadline(w->node[0].engine), b = vf_roce_deadline(w->node[1].engine);

	return a < b ? a : b;
}

void world_run(struct world *w, vf_nsec until)
{
	for (unsigned round = 0;; round++) {
		vf_nsec due;

		assert_true(round < 1000000);
		while (transfer(w, 0) || transfer(w, 1) || next_due(w) == 0)
			assert_true(round++ < 1000000);
		due = next_due(w);
		if (due == VF_NSEC_NEVER || due > until) {
			if (until != VF_NSEC_NEVER)
				w->now = until;
			return;
		}
		if (due > w->now)
			w->now = due;
		for (int i = 0; i < 2; i++)
			vf_roce_tick(w->node[i].engine, w->now);
	}
}

void world_settle(struct world *w) { world_run(w, VF_NSEC_NEVER); }

/* ---- memory and posting ---- */

uint64_t world_addr(const struct world_node *n, uint32_t offset)
{
	return ((uint64_t)n->index + 1) * UINT64_C(0x100000000) - 0x100u + offset;
}

static uint8_t pattern(uint32_t i, unsigned seed)
{
	return (uint8_t)(i * 7u + (i >> 8) + seed * 31u + 1u);
}

void world_fill(struct world_node *n, uint32_t offset, uint32_t len, unsigned seed)
{
	for (uint32_t i = 0; i < len; i++)
		n->mem[offset + i] = pattern(i, seed);
}

bool world_is_filled(const struct world_node *n, uint32_t offset, uint32_t len, unsigned seed)
{
	for (uint32_t i = 0; i < len; i++)
		if (n->mem[offset + i] != pattern(i, seed))
			return false;
	return true;
}

void world_post_recv(struct world_node *n, struct vf_roce_qp *qp, uint64_t id, uint32_t offset,
		     uint32_t len)
{
	struct vf_roce_sge sge = {world_addr(n, offset), len, WORLD_KEY};
	struct vf_roce_recv_wr wr = {.wr_id = id, .sge_count = 1, .sge = &sge};

	assert_int_equal(vf_roce_post_recv(qp, &wr), 0);
}

int world_post(struct world_node *n, struct vf_roce_qp *qp, struct vf_roce_send_wr *wr,
	       uint32_t offset, uint32_t len)
{
	struct vf_roce_sge sge = {world_addr(n, offset), len, WORLD_KEY};

	wr->sge_count = 1;
	wr->sge = &sge;
	if (wr->flags & VF_ROCE_SEND_INLINE)
		sge.addr = (uintptr_t)n->mem + offset;
	return vf_roce_post_send(qp, wr);
}

uint64_t world_count(const struct world_node *n, int counter) { return n->counters.value[counter]; }

uint64_t world_dropped(const struct world_node *n, enum vf_roce_drop why)
{
	return n->counters.value[(int)VF_CNT_DROP_FIRST + (int)why];
}

unsigned world_events(const struct world_node *n, enum vf_roce_event event)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n->event_count; i++)
		count += n->event[i].event == event;
	return count;
}

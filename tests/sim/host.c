/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine's host in the simulator: callbacks for memory and completions, and a node that moves
 * packets. */
#include "host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "roce/flow.h"
#include "roce/icrc.h"

#define BTH_LEN	 12u
#define ICRC_LEN 4u
#define UDP_PORT 4791

/* ---- memory ---- */

static struct host_mr *find_mr(struct host *h, uint32_t key)
{
	unsigned i = key >> 8;

	if (i >= h->mr_count || !h->mrs[i].is_valid || h->mrs[i].key != key)
		return NULL;
	return &h->mrs[i];
}

static int mem_check(void *host, const struct vf_roce_mem *m)
{
	struct host_mr *mr = find_mr(host, m->key);

	if (!mr || (mr->is_window && !m->is_remote))
		return -EINVAL;
	if ((mr->access & m->access) != m->access)
		return -EACCES;
	if (m->addr < mr->addr || m->len > mr->len || m->addr - mr->addr > mr->len - m->len)
		return -ERANGE;
	return 0;
}

/* In two pieces, when there is room for two: the cut moves with the address. */
static int mem_map(void *host, const struct vf_roce_mem *m, struct iovec *iov, int max)
{
	struct host_mr *mr = find_mr(host, m->key);
	uint64_t cut = 1 + m->addr % 61;
	int err = mem_check(host, m);
	uint8_t *at;

	if (err)
		return err;
	at = mr->mem + (m->addr - mr->addr);
	if (max < 2 || cut >= m->len || m->access & VF_ROCE_REMOTE_ATOMIC) {
		iov[0] = (struct iovec){.iov_base = at, .iov_len = m->len};
		return 1;
	}
	iov[0] = (struct iovec){.iov_base = at, .iov_len = cut};
	iov[1] = (struct iovec){.iov_base = at + cut, .iov_len = m->len - cut};
	return 2;
}

static bool is_gone(struct host *h, const void *p)
{
	const uint8_t *b = p;

	for (unsigned i = 0; i < h->mr_count; i++)
		if (h->mrs[i].is_gone && b >= h->mrs[i].mem && b < h->mrs[i].mem + h->mrs[i].len)
			return true;
	return false;
}

static int mem_write(void *host, const struct iovec *iov, int count, const void *from, size_t len)
{
	const uint8_t *p = from;

	for (int i = 0; i < count && len; i++) {
		size_t n = iov[i].iov_len < len ? iov[i].iov_len : len;

		if (is_gone(host, iov[i].iov_base))
			return -EFAULT;
		memcpy(iov[i].iov_base, p, n);
		p += n;
		len -= n;
	}
	return 0;
}

static int mem_read(void *host, const struct iovec *iov, int count, void *to, size_t len)
{
	uint8_t *p = to;

	for (int i = 0; i < count && len; i++) {
		size_t n = iov[i].iov_len < len ? iov[i].iov_len : len;

		if (is_gone(host, iov[i].iov_base))
			return -EFAULT;
		memcpy(p, iov[i].iov_base, n);
		p += n;
		len -= n;
	}
	return 0;
}

static int mem_atomic(void *host, const struct iovec *iov, bool is_swap, uint64_t compare_add,
		      uint64_t swap, uint64_t *original)
{
	uint64_t v;

	if (is_gone(host, iov->iov_base))
		return -EFAULT;
	memcpy(&v, iov->iov_base, sizeof(v));
	*original = v;
	if (!is_swap)
		v += compare_add;
	else if (v == compare_add)
		v = swap;
	memcpy(iov->iov_base, &v, sizeof(v));
	return 0;
}

static int mem_bind(void *host, void *qp_host, const void *bind, uint32_t len)
{
	const struct host_bind *b = bind;
	struct host *h = host;
	struct host_mr *w, *mr;

	(void)qp_host;
	if (len != sizeof(*b) || b->window >= h->mr_count || b->mr >= h->mr_count)
		return -EINVAL;
	w = &h->mrs[b->window];
	mr = &h->mrs[b->mr];
	if (!mr->is_valid || b->offset > mr->len || b->len > mr->len - b->offset)
		return -EINVAL;
	w->key = (w->key & ~0xffu) | ((w->key + 1) & 0xff);
	w->addr = mr->addr + b->offset;
	w->mem = mr->mem + b->offset;
	w->len = b->len;
	w->access = b->access;
	w->is_valid = true;
	return 0;
}

static int mem_invalidate(void *host, void *qp_host, uint32_t rkey, bool is_remote)
{
	struct host_mr *mr = find_mr(host, rkey);

	(void)qp_host;
	(void)is_remote;
	if (!mr || !mr->is_window)
		return -EINVAL;
	mr->is_valid = false;
	return 0;
}

/* ---- completions ---- */

static void complete(void *host, const struct vf_roce_cqe *cqe)
{
	struct host_cq *cq = cqe->cq;
	struct host *h = host;

	if (cq->count == cq->max) {
		cq->max = cq->max ? 2 * cq->max : 32;
		cq->entries = realloc(cq->entries, cq->max * sizeof(*cq->entries));
		SIM_CHECK(h->sim, cq->entries);
	}
	cq->entries[cq->count++] = *cqe;
	h->has_completions = true;
	h->completions++;
	sim_note(h->sim, cqe->wr_id << 8 | cqe->status);
	sim_note(h->sim, (uint64_t)cqe->byte_len << 32 | cqe->imm_or_rkey);
}

static void qp_event(void *host, void *qp_host, enum vf_roce_event event)
{
	struct host_qp *q = qp_host;

	(void)host;
	q->events[event]++;
}

static void srq_event(void *host, void *srq_host, enum vf_roce_event event)
{
	struct host *h = host;

	(void)srq_host;
	h->srq_limit_events += event == VF_ROCE_EVENT_SRQ_LIMIT;
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

const struct vf_roce_cqe *host_cq_next(struct host_cq *cq)
{
	if (cq->seen == cq->count) {
		cq->seen = cq->count = 0;
		return NULL;
	}
	return &cq->entries[cq->seen++];
}

/* ---- the node ---- */

static struct vf_icrc_ip ip_of(const struct sim_packet *p)
{
	return (struct vf_icrc_ip){
		.sgid = p->sgid,
		.dgid = p->dgid,
		.sport = 0xc000,
		.dport = UDP_PORT,
		.udp_len = (uint16_t)(8 + p->len),
		.is_dont_fragment = true,
	};
}

/* Takes what is right, as an array. */
static void node_take(void *arg, vf_nsec now, struct sim_packet *const *packets, unsigned count)
{
	struct vf_roce_rx rx[64];
	struct host *h = arg;
	unsigned n = 0;

	if (h->is_dead)
		return;
	for (unsigned i = 0; i < count; i++) {
		const struct sim_packet *p = packets[i];
		struct vf_icrc_ip ip = ip_of(p);

		if (!vf_icrc_is_valid(&ip, p->data, p->len, NULL)) {
			h->counters.value[VF_CNT_RX_ICRC_ENCAPSULATED]++;
			h->counters.value[(int)VF_CNT_DROP_FIRST + (int)VF_DROP_ICRC]++;
			continue;
		}
		rx[n] = (struct vf_roce_rx){.data = p->data,
					    .len = p->len - ICRC_LEN,
					    .traffic_class = p->traffic_class,
					    .hop_limit = 64};
		memcpy(rx[n].sgid, p->sgid, 16);
		memcpy(rx[n++].dgid, p->dgid, 16);
	}
	if (n)
		vf_roce_receive(h->roce, now, rx, n);
}

static vf_nsec node_when(void *arg)
{
	struct host *h = arg;

	return h->is_dead ? VF_NSEC_NEVER : vf_roce_deadline(h->roce);
}

/* From the engine's description to bytes; false when the payload's memory is gone. */
static bool put_packet(struct host *h, const struct vf_roce_tx *tx, struct sim_packet *p)
{
	struct vf_icrc_ip ip;
	uint32_t at = tx->header_len, crc;

	*p = (struct sim_packet){.from = (uint8_t)h->node,
				 .traffic_class = tx->path->traffic_class};
	memcpy(p->sgid, tx->path->sgid, 16);
	memcpy(p->dgid, tx->path->dgid, 16);
	SIM_CHECK(h->sim,
		  tx->header_len + tx->payload_len + tx->pad_len + ICRC_LEN <= SIM_PACKET_MAX);
	memcpy(p->data, tx->headers, tx->header_len);
	for (int i = 0; i < tx->iov_count; i++) {
		SIM_CHECK(h->sim, at + tx->iov[i].iov_len <= tx->header_len + tx->payload_len);
		if (is_gone(h, tx->iov[i].iov_base))
			return false;
		memcpy(p->data + at, tx->iov[i].iov_base, tx->iov[i].iov_len);
		at += (uint32_t)tx->iov[i].iov_len;
	}
	SIM_CHECK(h->sim, at == tx->header_len + tx->payload_len);
	memset(p->data + at, 0, tx->pad_len);
	at += tx->pad_len;
	p->len = at + ICRC_LEN;
	ip = ip_of(p);
	crc = vf_crc32(vf_icrc_start(&ip, p->data), p->data + BTH_LEN, at - BTH_LEN);
	vf_store_le32(p->data + at, crc);
	return true;
}

static void transmit_all(struct host *h, vf_nsec now)
{
	struct vf_roce_tx tx[HOST_TX_BATCH];
	static struct sim_packet p;
	unsigned n;

	do {
		n = vf_roce_transmit(h->roce, now, tx, HOST_TX_BATCH);
		for (unsigned i = 0; i < n; i++) {
			if (put_packet(h, &tx[i], &p))
				sim_send(h->sim, &p);
			else
				vf_roce_tx_fault(h->roce, now, &tx[i]);
		}
	} while (n == HOST_TX_BATCH);
}

static void node_run(void *arg, vf_nsec now)
{
	struct host *h = arg;

	if (h->is_dead)
		return;
	vf_roce_tick(h->roce, now);
	transmit_all(h, now);
	while (h->has_completions && h->work) {
		h->has_completions = false;
		h->work(h->work_arg, h);
		transmit_all(h, now);
	}
	h->has_completions = false;
}

static const struct sim_node_ops node_ops = {.take = node_take, .when = node_when, .run = node_run};

/* ---- making and ending ---- */

void host_create(struct host *h, struct sim *s, const struct host_options *opt)
{
	struct vf_roce_config cfg = {
		.ops = &ops,
		.host = h,
		.seed = opt->seed,
		.counters = &h->counters,
		.slot = opt->slot,
		.rx_budget_bytes = opt->rx_budget_bytes ? opt->rx_budget_bytes : 400000,
		.max_qps = opt->max_qps ? opt->max_qps : 64,
		.is_flow_off = opt->is_flow_off,
	};

	*h = (struct host){.sim = s};
	h->node = sim_add_node(s, &node_ops, h);
	if (opt->is_ipv6)
		h->gid[0] = 0xfd;
	else
		h->gid[10] = h->gid[11] = 0xff;
	h->gid[12] = 10;
	h->gid[15] = (uint8_t)(h->node + 1);
	sim_add_address(s, h->node, h->gid);
	SIM_CHECK(s, vf_roce_create(&cfg, &h->roce) == 0);
}

void host_destroy(struct host *h)
{
	SIM_CHECK(h->sim, vf_roce_is_idle(h->roce));
	vf_roce_destroy(h->roce);
	for (unsigned i = 0; i < h->mr_count; i++)
		free(h->mrs[i].allocated);
	h->roce = NULL;
}

struct host_mr *host_reg(struct host *h, uint64_t len, unsigned access)
{
	struct host_mr *mr = &h->mrs[h->mr_count];

	SIM_CHECK(h->sim, h->mr_count < HOST_MRS_MAX);
	*mr = (struct host_mr){
		.key = h->mr_count << 8 | 0x11,
		.addr = UINT64_C(0x7000000000) + ((uint64_t)h->node << 32) +
			h->mr_count * UINT64_C(0x10000000),
		.mem = calloc(1, len ? len : 1),
		.len = len,
		.access = access,
		.is_valid = true,
	};
	SIM_CHECK(h->sim, mr->mem);
	mr->allocated = mr->mem;
	h->mr_count++;
	return mr;
}

struct vf_roce_path host_path(const struct host *from, const struct host *to)
{
	struct vf_roce_path path = {.hop_limit = 64};

	memcpy(path.sgid, from->gid, 16);
	memcpy(path.dgid, to->gid, 16);
	return path;
}

struct host_qp_options host_qp_defaults(enum vf_roce_type type)
{
	return (struct host_qp_options){
		.type = type,
		.send_max = 64,
		.recv_max = 64,
		.mtu_bytes = 256,
		.psn = 0xfffffd,
		.max_rd_atomic = 4,
		.timeout = 10,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 1,
		.qkey = 0x11111111,
	};
}

void host_qp_create(struct host *h, struct host_qp *q, const struct host_qp_options *opt)
{
	struct vf_roce_qp_config cfg = {
		.type = opt->type,
		.qp_host = q,
		.send_cq = &q->send_cq,
		.recv_cq = &q->recv_cq,
		.counters = &h->counters,
		.srq = opt->srq,
		.send_max = opt->send_max,
		.recv_max = opt->recv_max,
		.send_sge_max = 4,
		.recv_sge_max = 4,
		.inline_max = 256,
		.is_sig_all = opt->is_sig_all,
	};
	struct vf_roce_qp_attr attr = {
		.state = VF_ROCE_INIT,
		.qkey = opt->qkey,
		.access = VF_ROCE_REMOTE_WRITE | VF_ROCE_REMOTE_READ | VF_ROCE_REMOTE_ATOMIC,
	};

	*q = (struct host_qp){.host = h};
	SIM_CHECK(h->sim, vf_roce_qp_create(h->roce, &cfg, &q->qp) == 0);
	SIM_CHECK(h->sim,
		  vf_roce_qp_modify(q->qp, sim_now(h->sim), &attr,
				    VF_ROCE_ATTR_STATE |
					    (opt->type == VF_ROCE_UD ? VF_ROCE_ATTR_QKEY
								     : VF_ROCE_ATTR_ACCESS)) == 0);
}

void host_qp_connect(struct host_qp *q, const struct host_qp *peer,
		     const struct host_qp_options *opt)
{
	unsigned rtr = VF_ROCE_ATTR_STATE, rts = VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_SQ_PSN;
	struct vf_roce_qp_attr attr = {
		.state = VF_ROCE_RTR,
		.mtu_bytes = opt->mtu_bytes,
		.rq_psn = opt->psn,
		.sq_psn = opt->psn,
		.max_rd_atomic = opt->max_rd_atomic,
		.max_dest_rd_atomic = opt->max_rd_atomic,
		.min_rnr_timer = opt->min_rnr_timer,
		.timeout = opt->timeout,
		.retry_cnt = opt->retry_cnt,
		.rnr_retry = opt->rnr_retry,
	};
	struct sim *s = q->host->sim;

	if (opt->type != VF_ROCE_UD) {
		attr.path = host_path(q->host, peer->host);
		attr.dest_qpn = vf_roce_qp_qpn(peer->qp);
		rtr |= VF_ROCE_ATTR_PATH | VF_ROCE_ATTR_MTU | VF_ROCE_ATTR_DEST_QPN |
		       VF_ROCE_ATTR_RQ_PSN;
	}
	if (opt->type == VF_ROCE_RC) {
		rtr |= VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC | VF_ROCE_ATTR_MIN_RNR_TIMER;
		rts |= VF_ROCE_ATTR_MAX_RD_ATOMIC | VF_ROCE_ATTR_TIMEOUT | VF_ROCE_ATTR_RETRY_CNT |
		       VF_ROCE_ATTR_RNR_RETRY;
	}
	SIM_CHECK(s, vf_roce_qp_modify(q->qp, sim_now(s), &attr, rtr) == 0);
	attr.state = VF_ROCE_RTS;
	SIM_CHECK(s, vf_roce_qp_modify(q->qp, sim_now(s), &attr, rts) == 0);
}

void host_qp_destroy(struct host_qp *q)
{
	vf_roce_qp_destroy(q->qp);
	free(q->send_cq.entries);
	free(q->recv_cq.entries);
	*q = (struct host_qp){0};
}

void host_post_send(struct host_qp *q, const struct vf_roce_send_wr *wr)
{
	SIM_CHECK(q->host->sim, vf_roce_post_send(q->qp, wr) == 0);
	sim_kick(q->host->sim, q->host->node);
}

void host_post_recv(struct host_qp *q, const struct vf_roce_recv_wr *wr)
{
	SIM_CHECK(q->host->sim, vf_roce_post_recv(q->qp, wr) == 0);
	sim_kick(q->host->sim, q->host->node);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random work requests and the model that checks them. Each outstanding message of a lane has
 * memory slots of its own, which are used again only when it is complete, so what must lie there at
 * that moment is known exactly.
 */
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#define GRH	   40u
#define INLINE_MAX 256u
#define SRQ_DEPTH  64u

/* ---- bytes ---- */

static uint8_t byte_of(uint64_t seed, uint32_t i)
{
	return (uint8_t)((seed * 31 + i) ^ (seed >> 8) ^ (i >> 8) * 5);
}

static void fill(uint8_t *p, uint32_t len, uint64_t seed)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = byte_of(seed, i);
}

static void check_bytes(struct lane *l, const uint8_t *p, const struct message *m,
			const char *where)
{
	for (uint32_t i = 0; i < m->len; i++)
		if (p[i] != byte_of(m->seed, i))
			sim_fail(l->traffic->sim, "lane %d, opcode %d, %s: byte %u of %u is wrong",
				 (int)(l - l->traffic->lanes), m->opcode, where, i, m->len);
}

static bool is_atomic(enum vf_roce_wr_opcode o)
{
	return o == VF_ROCE_WR_ATOMIC_CMP_AND_SWP || o == VF_ROCE_WR_ATOMIC_FETCH_AND_ADD;
}

static bool is_write(enum vf_roce_wr_opcode o)
{
	return o == VF_ROCE_WR_RDMA_WRITE || o == VF_ROCE_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(enum vf_roce_wr_opcode o)
{
	return o == VF_ROCE_WR_SEND_WITH_IMM || o == VF_ROCE_WR_RDMA_WRITE_WITH_IMM;
}

static bool takes_receive(enum vf_roce_wr_opcode o) { return o == VF_ROCE_WR_SEND || has_imm(o); }

/* ---- receiving ---- */

static uint32_t receive_len(const struct lane *l) { return l->traffic->opt.len_max + GRH; }

static void post_receive(struct lane *l, uint64_t slot)
{
	struct traffic *t = l->traffic;
	unsigned node = l->to->host->node;
	bool is_srq = l->type == VF_ROCE_RC && t->opt.has_srq;
	struct host_mr *mr = is_srq ? t->srq_mrs[node] : l->receives;
	uint32_t len = receive_len(l), part = len / 3;
	struct vf_roce_sge sge[2] = {{mr->addr + slot * len, part, mr->key},
				     {mr->addr + slot * len + part, len - part, mr->key}};
	struct vf_roce_recv_wr wr = {.wr_id = slot, .sge_count = 2, .sge = sge};

	if (is_srq)
		SIM_CHECK(t->sim, vf_roce_srq_post(t->srqs[node], &wr) == 0);
	else
		host_post_recv(l->to, &wr);
}

/*
 * The message that a completion is about. RC: the next one. UC and UD: its immediate says which;
 * they may lose messages, but repeat and exchange them only when the network did so.
 */
static struct message *find_message(struct lane *l, const struct vf_roce_cqe *c)
{
	struct traffic *t = l->traffic;
	const struct sim_injected *in = sim_injected(t->sim, l->from->host->node);
	uint64_t which = l->type == VF_ROCE_RC ? l->received : c->imm_or_rkey;
	struct message *m = &l->log[which % LOG_MAX];

	SIM_CHECK(t->sim, which < l->sends && l->sends - which <= LOG_MAX);
	if (l->type != VF_ROCE_RC && in->duplicated + in->delayed == 0)
		SIM_CHECK(t->sim, which >= l->received);
	if (!m->is_received)
		l->distinct++;
	m->is_received = true;
	if (which >= l->received)
		l->received = which + 1;
	return m;
}

static void check_receive(struct lane *l, const struct vf_roce_cqe *c)
{
	struct traffic *t = l->traffic;
	bool is_srq = l->type == VF_ROCE_RC && t->opt.has_srq;
	struct host_mr *mr = is_srq ? t->srq_mrs[l->to->host->node] : l->receives;
	uint32_t head = l->type == VF_ROCE_UD ? GRH : 0;
	const struct message *m;

	if (c->status == VF_ROCE_WC_WR_FLUSH_ERR && l->from->host->is_dead)
		return;
	SIM_CHECK(t->sim, c->status == VF_ROCE_WC_SUCCESS);
	m = find_message(l, c);
	SIM_CHECK(t->sim, c->byte_len == m->len + head);
	SIM_CHECK(t->sim, has_imm(m->opcode) == ((c->wc_flags & VF_ROCE_WC_WITH_IMM) != 0));
	if (has_imm(m->opcode))
		SIM_CHECK(t->sim, c->imm_or_rkey == m->imm);
	if (!is_write(m->opcode))
		check_bytes(l, mr->mem + c->wr_id * receive_len(l) + head, m, "receive");
	if (l->type == VF_ROCE_UD)
		SIM_CHECK(t->sim, c->src_qp == vf_roce_qp_qpn(l->from->qp));
	post_receive(l, c->wr_id);
}

/* ---- sending ---- */

static enum vf_roce_wr_opcode pick_opcode(struct lane *l)
{
	static const enum vf_roce_wr_opcode rc[] = {
		VF_ROCE_WR_SEND,
		VF_ROCE_WR_SEND_WITH_IMM,
		VF_ROCE_WR_RDMA_WRITE,
		VF_ROCE_WR_RDMA_WRITE_WITH_IMM,
		VF_ROCE_WR_RDMA_READ,
		VF_ROCE_WR_RDMA_READ,
		VF_ROCE_WR_ATOMIC_CMP_AND_SWP,
		VF_ROCE_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct vf_rand *r = &l->traffic->rand;

	if (l->type == VF_ROCE_RC && l->traffic->opt.is_bulk)
		return rc[vf_rand_below(r, 4)];
	if (l->type == VF_ROCE_RC)
		return rc[vf_rand_below(r, VF_ARRAY_SIZE(rc))];
	if (l->type == VF_ROCE_UC && !l->traffic->opt.is_flood && vf_rand_below(r, 3) == 0)
		return vf_rand_below(r, 2) ? VF_ROCE_WR_RDMA_WRITE : VF_ROCE_WR_RDMA_WRITE_WITH_IMM;
	return VF_ROCE_WR_SEND_WITH_IMM;
}

static uint32_t pick_len(struct lane *l)
{
	const struct traffic_options *o = &l->traffic->opt;
	struct vf_rand *r = &l->traffic->rand;
	uint32_t max = l->type == VF_ROCE_UD ? o->mtu_bytes : o->len_max, len;

	if (o->is_flood)
		return max;
	switch (o->is_bulk ? 8 : vf_rand_below(r, 8)) {
	case 0:
		return 0;
	case 1: /* whole packets, and one byte beside */
		len = (uint32_t)(vf_rand_below(r, 3) + 1) * o->mtu_bytes +
		      (uint32_t)vf_rand_below(r, 3) - 1;
		return len < max ? len : max;
	case 2:
	case 3:
		return (uint32_t)vf_rand_below(r, max < 64 ? max : 64);
	default:
		return (uint32_t)vf_rand_below(r, max + 1);
	}
}

static struct message pick_message(struct lane *l)
{
	struct vf_rand *r = &l->traffic->rand;
	struct message m = {
		.opcode = pick_opcode(l), .imm = (uint32_t)l->sends, .seed = vf_rand_next(r) >> 16};

	m.len = is_atomic(m.opcode) ? 8 : pick_len(l);
	if (m.opcode == VF_ROCE_WR_RDMA_READ)
		m.seed =
			(uint64_t)(l -
				   l->traffic->lanes); /* what the constant region is filled with */
	return m;
}

static unsigned split(struct lane *l, uint64_t addr, uint32_t len, uint32_t key,
		      struct vf_roce_sge *sge)
{
	struct vf_rand *r = &l->traffic->rand;
	unsigned count = 1 + (unsigned)vf_rand_below(r, 3);
	uint32_t part;

	for (unsigned i = 0; i < count; i++) {
		part = i + 1 == count ? len : (uint32_t)vf_rand_below(r, len + 1);
		sge[i] = (struct vf_roce_sge){addr, part, key};
		addr += part;
		len -= part;
	}
	return count;
}

static void set_atomic(struct lane *l, struct message *m, struct vf_roce_send_wr *wr)
{
	uint64_t v = vf_rand_next(&l->traffic->rand);

	wr->remote_addr = l->counter->addr;
	wr->rkey = l->counter->key;
	wr->swap = v;
	m->original = l->counter_value;
	if (m->opcode == VF_ROCE_WR_ATOMIC_FETCH_AND_ADD) {
		wr->compare_add = v;
		l->counter_value += v;
	} else {
		wr->compare_add = v & 1 ? l->counter_value : ~l->counter_value;
		l->counter_value = v & 1 ? v : l->counter_value;
	}
}

static void set_target(struct lane *l, struct message *m, unsigned slot, struct vf_roce_send_wr *wr)
{
	uint32_t stride = l->traffic->opt.len_max + 16;

	if (is_atomic(m->opcode)) {
		set_atomic(l, m, wr);
	} else if (m->opcode == VF_ROCE_WR_RDMA_READ) {
		wr->remote_addr = l->constant->addr;
		wr->rkey = l->constant->key;
	} else {
		wr->remote_addr = l->remote->addr + slot * stride;
		wr->rkey = l->remote->key;
	}
}

static unsigned pick_flags(struct lane *l, const struct message *m)
{
	struct vf_rand *r = &l->traffic->rand;
	unsigned flags = vf_rand_below(r, 4) == 0 ? VF_ROCE_SEND_SOLICITED : 0;

	if (l->posted % (l->depth / 2 + 1) == 0 || l->posted + 1 == l->quota || vf_rand_below(r, 2))
		flags |= VF_ROCE_SEND_SIGNALED;
	if (l->type == VF_ROCE_RC && vf_rand_below(r, 8) == 0)
		flags |= VF_ROCE_SEND_FENCE;
	if (!is_atomic(m->opcode) && m->opcode != VF_ROCE_WR_RDMA_READ && m->len <= INLINE_MAX &&
	    vf_rand_below(r, 2))
		flags |= VF_ROCE_SEND_INLINE;
	return flags;
}

static void post_one(struct lane *l)
{
	struct traffic *t = l->traffic;
	unsigned slot = (unsigned)(l->posted % l->depth);
	struct vf_roce_path path = host_path(l->from->host, l->to->host);
	struct message *m = &l->out[slot];
	uint32_t stride = t->opt.len_max + 16;
	uint8_t *mem = l->local->mem + slot * stride;
	uint64_t addr = l->local->addr + slot * stride;
	struct vf_roce_sge sge[3];
	struct vf_roce_send_wr wr;

	*m = pick_message(l);
	wr = (struct vf_roce_send_wr){
		.wr_id = l->posted, .opcode = m->opcode, .imm_or_rkey = m->imm, .sge = sge};
	wr.flags = pick_flags(l, m);
	set_target(l, m, slot, &wr);
	if (m->opcode == VF_ROCE_WR_RDMA_READ || is_atomic(m->opcode))
		memset(mem, 0xee, m->len);
	else
		fill(mem, m->len, m->seed);
	if (wr.flags & VF_ROCE_SEND_INLINE)
		addr = (uint64_t)(uintptr_t)mem;
	wr.sge_count = is_atomic(m->opcode) ? 1 : split(l, addr, m->len, l->local->key, sge);
	if (is_atomic(m->opcode))
		sge[0] = (struct vf_roce_sge){addr, 8, l->local->key};
	if (l->type == VF_ROCE_UD) {
		wr.path = &path;
		wr.remote_qpn = vf_roce_qp_qpn(l->to->qp);
		wr.remote_qkey = 0x11111111;
	}
	host_post_send(l->from, &wr);
	if (wr.flags & VF_ROCE_SEND_INLINE)
		memset(mem, 0xdd, m->len); /* it was copied */
	if (takes_receive(m->opcode))
		l->log[l->sends++ % LOG_MAX] = *m;
	l->posted++;
}

static void post_more(struct lane *l)
{
	while (!l->is_ended && l->posted < l->quota && l->posted - l->done < l->depth &&
	       l->sends - l->received < LOG_MAX - 1)
		post_one(l);
}

/* Message @i of the lane is complete at its sender: what it was to do is done. */
static void check_done(struct lane *l, uint64_t i)
{
	unsigned slot = (unsigned)(i % l->depth);
	const struct message *m = &l->out[slot];
	uint32_t stride = l->traffic->opt.len_max + 16;
	uint64_t original;

	if (l->type != VF_ROCE_RC)
		return;
	if (is_write(m->opcode))
		check_bytes(l, l->remote->mem + slot * stride, m, "write");
	if (m->opcode == VF_ROCE_WR_RDMA_READ)
		check_bytes(l, l->local->mem + slot * stride, m, "read");
	if (is_atomic(m->opcode)) {
		memcpy(&original, l->local->mem + slot * stride, 8);
		if (original != m->original)
			sim_fail(l->traffic->sim, "atomic %llu returned %llx instead of %llx",
				 (unsigned long long)i, (unsigned long long)original,
				 (unsigned long long)m->original);
	}
}

/* Who talks to the dead: retries run out once, and everything behind is flushed. */
static bool is_end_of(struct lane *l, const struct vf_roce_cqe *c)
{
	if (c->status == VF_ROCE_WC_SUCCESS || l->type != VF_ROCE_RC || !l->to->host->is_dead)
		return false;
	SIM_CHECK(l->traffic->sim,
		  c->status == (l->is_ended ? VF_ROCE_WC_WR_FLUSH_ERR : VF_ROCE_WC_RETRY_EXC_ERR));
	l->is_ended = true;
	return true;
}

static void check_send(struct lane *l, const struct vf_roce_cqe *c)
{
	if (is_end_of(l, c))
		return;
	if (c->status != VF_ROCE_WC_SUCCESS)
		sim_fail(l->traffic->sim, "lane %d: message %llu ended with status %d",
			 (int)(l - l->traffic->lanes), (unsigned long long)c->wr_id, c->status);
	SIM_CHECK(l->traffic->sim, c->wr_id >= l->done && c->wr_id < l->posted);
	for (; l->done <= c->wr_id; l->done++)
		check_done(l, l->done);
}

static void work(void *arg, struct host *h)
{
	struct traffic *t = arg;
	const struct vf_roce_cqe *c;

	for (unsigned i = 0; i < t->lane_count; i++) {
		struct lane *l = &t->lanes[i];

		if (l->to->host == h)
			while ((c = host_cq_next(&l->to->recv_cq)))
				check_receive(l, c);
		if (l->from->host != h)
			continue;
		while ((c = host_cq_next(&l->from->send_cq)))
			check_send(l, c);
		post_more(l);
	}
}

/* ---- making it ---- */

static void lane_init(struct traffic *t, struct lane *l, struct host_qp *from, struct host_qp *to)
{
	const struct traffic_options *o = &t->opt;
	uint64_t slots = (uint64_t)l->depth * (o->len_max + 16);
	unsigned rw = VF_ROCE_LOCAL_WRITE | VF_ROCE_REMOTE_WRITE;

	l->from = from;
	l->to = to;
	l->quota = o->messages;
	l->local = host_reg(from->host, slots, VF_ROCE_LOCAL_WRITE);
	l->remote = host_reg(to->host, slots, rw);
	l->constant = host_reg(to->host, o->len_max + 16, VF_ROCE_REMOTE_READ);
	fill(l->constant->mem, o->len_max, (uint64_t)(l - t->lanes));
	l->counter = host_reg(to->host, 8, rw | VF_ROCE_REMOTE_ATOMIC);
	l->receives = host_reg(to->host, (uint64_t)l->receive_count * receive_len(l),
			       VF_ROCE_LOCAL_WRITE);
	if (l->type == VF_ROCE_RC && o->has_srq)
		return;
	for (unsigned i = 0; i < l->receive_count; i++)
		post_receive(l, i);
}

static void watch_lane(struct traffic *t, const struct lane *l)
{
	struct oracle_lane o = {
		.from = l->from->host->node,
		.to = l->to->host->node,
		.requester_qpn = vf_roce_qp_qpn(l->from->qp),
		.responder_qpn = vf_roce_qp_qpn(l->to->qp),
		.psn = 0xfffffd,
		.mtu = t->opt.mtu_bytes,
	};

	if (l->type == VF_ROCE_RC)
		oracle_add(&t->oracle, &o);
}

static enum vf_roce_type pick_type(const struct traffic_options *o, unsigned i)
{
	if (o->is_flood || (o->has_uc && i % 3 == 1))
		return VF_ROCE_UC;
	return o->has_ud && i % 3 == 2 ? VF_ROCE_UD : VF_ROCE_RC;
}

static unsigned receives_of(const struct traffic_options *o, enum vf_roce_type type)
{
	if (type == VF_ROCE_RC)
		return o->is_scarce ? 1 + o->depth / 4 : 64;
	return o->is_flood ? 8 : 1000;
}

static void make_pair(struct traffic *t, unsigned i)
{
	const struct traffic_options *o = &t->opt;
	enum vf_roce_type type = pick_type(o, i);
	unsigned a = (unsigned)vf_rand_below(&t->rand, o->nodes), b;
	struct host_qp_options q = host_qp_defaults(type), qb;
	struct host_qp *qps = &t->qps[t->lane_count];
	struct lane *l = &t->lanes[t->lane_count];

	b = (a + 1 + (unsigned)vf_rand_below(&t->rand, o->nodes - 1)) % o->nodes;
	q.mtu_bytes = o->mtu_bytes;
	q.timeout = o->timeout;
	q.send_max = DEPTH_MAX;
	q.recv_max = 1024;
	q.max_rd_atomic = (uint8_t)(1 + vf_rand_below(&t->rand, 8));
	qb = q;
	q.srq = o->has_srq && type == VF_ROCE_RC ? t->srqs[a] : NULL;
	qb.srq = o->has_srq && type == VF_ROCE_RC ? t->srqs[b] : NULL;
	host_qp_create(&t->hosts[a], &qps[0], &q);
	host_qp_create(&t->hosts[b], &qps[1], &qb);
	host_qp_connect(&qps[0], &qps[1], &q);
	host_qp_connect(&qps[1], &qps[0], &qb);
	for (unsigned k = 0; k < 2; k++) {
		l[k].traffic = t;
		l[k].type = type;
		l[k].depth = o->depth;
		l[k].receive_count = receives_of(o, type);
		l[k].back = &l[1 - k];
	}
	lane_init(t, &l[0], &qps[0], &qps[1]);
	lane_init(t, &l[1], &qps[1], &qps[0]);
	watch_lane(t, &l[0]);
	watch_lane(t, &l[1]);
	t->lane_count += 2;
}

static void make_srq(struct traffic *t, unsigned node)
{
	struct vf_roce_srq_config cfg = {.srq_host = t, .max = SRQ_DEPTH, .sge_max = 2};
	uint32_t len = t->opt.len_max + GRH, part = len / 3;
	struct host_mr *mr =
		host_reg(&t->hosts[node], (uint64_t)SRQ_DEPTH * len, VF_ROCE_LOCAL_WRITE);

	t->srq_mrs[node] = mr;
	SIM_CHECK(t->sim, vf_roce_srq_create(t->hosts[node].roce, &cfg, &t->srqs[node]) == 0);
	for (uint64_t i = 0; i < (t->opt.is_scarce ? 4 : SRQ_DEPTH); i++) {
		struct vf_roce_sge sge[2] = {{mr->addr + i * len, part, mr->key},
					     {mr->addr + i * len + part, len - part, mr->key}};
		struct vf_roce_recv_wr wr = {.wr_id = i, .sge_count = 2, .sge = sge};

		SIM_CHECK(t->sim, vf_roce_srq_post(t->srqs[node], &wr) == 0);
	}
}

void traffic_create(struct traffic *t, struct sim *s, const struct traffic_options *opt)
{
	memset(t, 0, sizeof(*t));
	t->opt = *opt;
	t->sim = s;
	vf_rand_seed(&t->rand, opt->seed);
	for (unsigned i = 0; i < opt->nodes; i++) {
		struct host_options h = {
			.seed = opt->seed + i,
			.slot = i + 1,
			.is_ipv6 = opt->is_ipv6,
			.is_flow_off = opt->is_flow_off,
			.rx_budget_bytes =
				opt->is_flood ? 425984 / 2 : 0, /* as the soft device does */
		};

		host_create(&t->hosts[i], s, &h);
		t->hosts[i].work = work;
		t->hosts[i].work_arg = t;
		if (opt->has_srq)
			make_srq(t, i);
	}
	for (unsigned i = 0; i < opt->pairs; i++)
		make_pair(t, i);
	t->oracle.window = 128;
	sim_set_watch(s, oracle_watch, &t->oracle);
}

/* ---- running it ---- */

static bool is_complete(void *arg)
{
	struct traffic *t = arg;

	for (unsigned i = 0; i < t->lane_count; i++) {
		const struct lane *l = &t->lanes[i];

		if (l->from->host->is_dead || l->is_ended)
			continue;
		if (l->to->host->is_dead && l->type == VF_ROCE_RC && l->posted == l->quota &&
		    l->done == l->quota)
			continue;
		if (l->done < l->quota || (l->type == VF_ROCE_RC && l->received < l->sends))
			return false;
	}
	return true;
}

static uint64_t sum_of(const struct traffic *t, int counter)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < t->opt.nodes; i++)
		sum += t->hosts[i].counters.value[counter];
	return sum;
}

static struct sim_injected injected_sum(const struct traffic *t)
{
	struct sim_injected sum = {0};

	for (unsigned i = 0; i < t->opt.nodes; i++) {
		const struct sim_injected *in = sim_injected(t->sim, i);

		sum.sent += in->sent;
		sum.lost += in->lost;
		sum.duplicated += in->duplicated;
		sum.delayed += in->delayed;
		sum.damaged += in->damaged;
		sum.overflowed += in->overflowed;
		sum.arrived += in->arrived;
	}
	return sum;
}

/* The engine's counters against what was done to the packets. */
static void check_counters(struct traffic *t)
{
	struct sim_injected in = injected_sum(t);

	SIM_CHECK(t->sim, sum_of(t, VF_CNT_RX_ICRC_ENCAPSULATED) == in.damaged);
	SIM_CHECK(t->sim, in.arrived == in.sent - in.lost + in.duplicated - in.overflowed);
	SIM_CHECK(t->sim, sum_of(t, VF_CNT_SENT_PKTS) == in.sent);
	SIM_CHECK(t->sim, sum_of(t, VF_CNT_RCVD_PKTS) == in.arrived - in.damaged);
	if (in.lost + in.duplicated + in.delayed + in.damaged + in.overflowed > 0)
		return;
	SIM_CHECK(t->sim, sum_of(t, VF_CNT_OUT_OF_SEQUENCE) == 0 || t->opt.is_scarce);
	SIM_CHECK(t->sim, sum_of(t, VF_CNT_DUPLICATE_REQUEST) == 0 || t->opt.is_scarce);
	SIM_CHECK(t->sim, sum_of(t, VF_CNT_LOCAL_ACK_TIMEOUT_ERR) == 0);
	SIM_CHECK(t->sim, t->lost_messages == 0);
}

void traffic_run(struct traffic *t)
{
	struct sim_injected in;

	for (unsigned i = 0; i < t->lane_count; i++)
		post_more(&t->lanes[i]);
	if (t->opt.kill_ns && !sim_run(t->sim, t->opt.kill_ns, is_complete, t))
		t->hosts[0].is_dead = true;
	if (!sim_run(t->sim, 100000 * VF_SEC, is_complete, t))
		sim_fail(t->sim, "not complete");
	if (!is_complete(t))
		sim_fail(t->sim, "everybody waits and not all is done");
	SIM_CHECK(t->sim, sim_run(t->sim, 200000 * VF_SEC, NULL, NULL));
	for (unsigned i = 0; i < t->lane_count; i++) {
		struct lane *l = &t->lanes[i];
		uint64_t value;

		memcpy(&value, l->counter->mem, 8);
		if (l->from->host->is_dead || l->to->host->is_dead)
			continue;
		SIM_CHECK(t->sim, l->type != VF_ROCE_RC || value == l->counter_value);
		t->lost_messages += l->sends - l->distinct;
	}
	if (t->hosts[0].is_dead)
		return;
	in = injected_sum(t);
	if (in.lost + in.delayed + in.damaged + in.overflowed + in.duplicated == 0)
		SIM_CHECK(t->sim, t->lost_messages == 0);
	check_counters(t);
}

void traffic_end(struct traffic *t)
{
	for (unsigned i = 0; i < t->lane_count; i++)
		host_qp_destroy(&t->qps[i]);
	for (unsigned i = 0; i < t->opt.nodes; i++)
		if (t->srqs[i])
			vf_roce_srq_destroy(t->srqs[i]);
	for (unsigned i = 0; i < t->opt.nodes; i++)
		host_destroy(&t->hosts[i]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzzer: packets into queue pairs in each state. Two hosts of the simulator talk honestly while
 * the input forges packets in the name of either, posts work, moves states and lets time pass. An
 * input is
 *
 *   type and state of both ends (1 byte), options (1 byte), then records: kind, flags, length (2
 * bytes, little-endian), data
 *
 * Whatever comes, the engine neither crashes nor spins, touches nothing outside its regions, and is
 * idle once its queue pairs are gone.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "host.h"

#define RECORDS_MAX 64
#define REGION	    8192u
#define MTU	    256u

enum kind { RAW, FORGED, POST_RECV, POST_SEND, TIME, MODIFY, GONE, KINDS };
enum flags { TO_B = 1, FIX_QPN = 2, FIX_PSN = 4, FIX_KEY = 8, FIX_ADDRESS = 16 };

struct world {
	struct sim *sim;
	struct host hosts[2];
	struct host_qp qps[2];
	struct vf_roce_srq *srqs[2];
	struct host_mr *mrs[2];
	enum vf_roce_type type;
	uint32_t raw_psn; /* of the first raw packet: the others are placed relative to it */
	bool has_raw_psn;
};

struct input {
	const uint8_t *data;
	size_t len;
};

static uint8_t take8(struct input *in)
{
	if (in->len == 0)
		return 0;
	in->len--;
	return *in->data++;
}

static uint32_t take32(struct input *in)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++)
		v = v << 8 | take8(in);
	return v;
}

static void set_up(struct world *w, uint8_t options)
{
	struct sim_options so = {.seed = 1, .link_ns = 1000, .wake_ns = 1000};
	struct host_qp_options q = host_qp_defaults(w->type);
	unsigned all = VF_ROCE_LOCAL_WRITE | VF_ROCE_REMOTE_WRITE | VF_ROCE_REMOTE_READ |
		       VF_ROCE_REMOTE_ATOMIC;

	sim_reset(w->sim, &so);
	q.send_max = q.recv_max = 16;
	q.retry_cnt = q.rnr_retry = 1;
	for (unsigned i = 0; i < 2; i++) {
		struct host_options ho = {.seed = i,
					  .slot = i + 1,
					  .is_flow_off = options & 1,
					  .is_ipv6 = (options & 2) != 0,
					  .max_qps = 4};
		struct vf_roce_srq_config sc = {.srq_host = w, .max = 16, .sge_max = 2, .limit = 2};

		host_create(&w->hosts[i], w->sim, &ho);
		w->mrs[i] = host_reg(&w->hosts[i], REGION, all);
		w->srqs[i] = NULL;
		if ((options & 4) && vf_roce_srq_create(w->hosts[i].roce, &sc, &w->srqs[i]))
			abort();
		q.srq = w->srqs[i];
		host_qp_create(&w->hosts[i], &w->qps[i], &q);
	}
}

static void move(struct world *w, unsigned i, unsigned state)
{
	struct host_qp_options q = host_qp_defaults(w->type);
	struct vf_roce_qp_attr a = {.state = (enum vf_roce_state)state};

	q.retry_cnt = q.rnr_retry = 1;
	if (state >= VF_ROCE_RTR)
		host_qp_connect(&w->qps[i], &w->qps[1 - i], &q);
	if (state == VF_ROCE_SQD || state == VF_ROCE_ERR)
		(void)vf_roce_qp_modify(w->qps[i].qp, sim_now(w->sim), &a, VF_ROCE_ATTR_STATE);
}

static uint32_t expected_psn(const struct host_qp *q)
{
	struct vf_roce_qp_attr a;
	bool is_draining;

	vf_roce_qp_query(q->qp, &a, &is_draining);
	return a.rq_psn;
}

static uint32_t sent_psn(const struct host_qp *q)
{
	struct vf_roce_qp_attr a;
	bool is_draining;

	vf_roce_qp_query(q->qp, &a, &is_draining);
	return a.sq_psn;
}

static bool is_answer(uint8_t opcode) { return opcode >= 13 && opcode <= 18; }

static void deliver(struct world *w, unsigned to, uint8_t flags, uint8_t *data, uint32_t len)
{
	struct vf_roce_rx rx = {.data = data, .len = len, .hop_limit = 64, .traffic_class = 3};

	memcpy(rx.sgid, w->hosts[1 - to].gid, 16);
	memcpy(rx.dgid, w->hosts[to].gid, 16);
	if (!(flags & FIX_ADDRESS))
		rx.sgid[15] ^= len & 1 ? 0 : 7;
	vf_roce_receive(w->hosts[to].roce, sim_now(w->sim), &rx, 1);
	sim_kick(w->sim, to);
}

/* Makes a packet plausible in the ways that its flags ask for. */
static void fix(struct world *w, unsigned to, uint8_t flags, uint8_t *data, uint32_t len)
{
	struct host_mr *mr = w->mrs[to];
	uint8_t op = data[0];
	uint32_t psn, base;

	if (len < 12)
		return;
	if (flags & FIX_QPN)
		vf_store_be24(data + 5, vf_roce_qp_qpn(w->qps[to].qp));
	if (flags & FIX_PSN) {
		psn = vf_load_be24(data + 9);
		if (!w->has_raw_psn)
			w->raw_psn = psn;
		w->has_raw_psn = true;
		base = is_answer(op) ? sent_psn(&w->qps[to]) - 1 : expected_psn(&w->qps[to]);
		vf_store_be24(data + 9, (base + ((psn - w->raw_psn) & 7)) & 0xffffff);
	}
	op &= 31;
	if ((flags & FIX_KEY) && len >= 28 &&
	    (op == 6 || op == 10 || op == 11 || op == 12 || op == 19 || op == 20)) {
		vf_store_be64(data + 12, mr->addr + (vf_load_be64(data + 12) & 0xfff));
		vf_store_be32(data + 20, mr->key);
	}
}

static void raw(struct world *w, uint8_t flags, struct input *in)
{
	uint8_t data[SIM_PACKET_MAX];
	uint32_t len = in->len < sizeof(data) ? (uint32_t)in->len : (uint32_t)sizeof(data);

	memcpy(data, in->data, len);
	if (len)
		fix(w, flags & TO_B, flags, data, len);
	deliver(w, flags & TO_B, flags, data, len);
}

/* A packet built from few bytes: opcode, PSN near the expected, and the rest of the headers as
 * given. */
static void forge(struct world *w, uint8_t flags, struct input *in)
{
	uint8_t data[12 + 64 + 512] = {0};
	uint8_t op = take8(in), near = take8(in), bits = take8(in);
	unsigned to = flags & TO_B, at = 12;
	uint32_t len;

	data[0] = op;
	data[1] = (uint8_t)(take8(in) & (bits & 1 ? 0xff : 0xb0));
	vf_store_be16(data + 2, bits & 2 ? 0x1234 : 0xffff);
	vf_store_be24(data + 5, vf_roce_qp_qpn(w->qps[to].qp));
	data[8] = bits & 4 ? 0x80 : 0;
	vf_store_be24(data + 9,
		      ((is_answer(op) ? sent_psn(&w->qps[to]) : expected_psn(&w->qps[to])) + near -
		       128) & 0xffffff);
	for (; at < 12 + 28 && in->len; at++)
		data[at] = take8(in);
	len = 12 + 4 * (take8(in) % 8u) + (bits & 8 ? MTU : take8(in));
	fix(w, to, (uint8_t)(flags & ~FIX_PSN), data, 64);
	deliver(w, to, flags, data, len < sizeof(data) ? len : (uint32_t)sizeof(data));
}

static void post_recv(struct world *w, unsigned i, struct input *in)
{
	struct vf_roce_sge sge[2] = {
		{w->mrs[i]->addr + take8(in), take8(in) * 4u, w->mrs[i]->key},
		{w->mrs[i]->addr + 4096, take8(in), w->mrs[i]->key ^ (take8(in) > 250)}};
	struct vf_roce_recv_wr wr = {.wr_id = 1, .sge_count = 2, .sge = sge};

	if (w->srqs[i])
		(void)vf_roce_srq_post(w->srqs[i], &wr);
	else
		(void)vf_roce_post_recv(w->qps[i].qp, &wr);
}

static void post_send(struct world *w, unsigned i, struct input *in)
{
	struct vf_roce_path path = host_path(&w->hosts[i], &w->hosts[1 - i]);
	struct host_bind bind = {.window = take8(in) & 3, .mr = 0, .len = 64};
	struct vf_roce_sge sge = {w->mrs[i]->addr + take8(in), take8(in) * 5u, w->mrs[i]->key};
	struct vf_roce_send_wr wr = {
		.wr_id = 2,
		.opcode = (enum vf_roce_wr_opcode)(take8(in) % 11),
		.flags = take8(in) & 7u,
		.imm_or_rkey = take32(in),
		.remote_addr = w->mrs[1 - i]->addr + take8(in) * 8u,
		.rkey = w->mrs[1 - i]->key ^ (take8(in) > 250),
		.compare_add = 1,
		.swap = 2,
		.path = &path,
		.remote_qpn = vf_roce_qp_qpn(w->qps[1 - i].qp),
		.remote_qkey = 0x11111111,
		.bind = &bind,
		.bind_len = sizeof(bind),
		.sge_count = take8(in) & 1,
		.sge = &sge,
	};

	if (wr.opcode == VF_ROCE_WR_ATOMIC_CMP_AND_SWP ||
	    wr.opcode == VF_ROCE_WR_ATOMIC_FETCH_AND_ADD)
		sge.length = 8;
	(void)vf_roce_post_send(w->qps[i].qp, &wr);
	sim_kick(w->sim, i);
}

static void record(struct world *w, uint8_t kind, uint8_t flags, struct input *in)
{
	unsigned i = flags & TO_B;

	switch ((enum kind)(kind % KINDS)) {
	case RAW:
		raw(w, flags, in);
		break;
	case FORGED:
		forge(w, flags, in);
		break;
	case POST_RECV:
		post_recv(w, i, in);
		break;
	case POST_SEND:
		post_send(w, i, in);
		break;
	case TIME:
		(void)sim_run(w->sim, sim_now(w->sim) + (vf_nsec)take8(in) * 100 * VF_USEC, NULL,
			      NULL);
		break;
	case MODIFY:
		if (vf_roce_qp_state(w->qps[i].qp) == VF_ROCE_RTS)
			move(w, i, take8(in) & 1 ? VF_ROCE_ERR : VF_ROCE_SQD);
		break;
	case GONE:
		w->mrs[i]->is_gone = !w->mrs[i]->is_gone;
		break;
	case KINDS:
		break;
	}
}

static void tear_down(struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct vf_roce_cqe *c;

		while ((c = host_cq_next(&w->qps[i].send_cq)))
			SIM_CHECK(w->sim, c->qp_host == &w->qps[i] && c->wr_id == 2);
		while ((c = host_cq_next(&w->qps[i].recv_cq)))
			SIM_CHECK(w->sim, c->qp_host == &w->qps[i] && c->wr_id == 1);
		host_qp_destroy(&w->qps[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		if (w->srqs[i])
			vf_roce_srq_destroy(w->srqs[i]);
		host_destroy(&w->hosts[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t states[] = {VF_ROCE_INIT, VF_ROCE_RTR, VF_ROCE_RTS, VF_ROCE_RTS,
					 VF_ROCE_RTS,  VF_ROCE_SQD, VF_ROCE_ERR, VF_ROCE_RTS};
	static struct world w;
	struct input in = {data, size};
	struct sim_options none = {0};
	uint8_t first = take8(&in), options = take8(&in);
	struct sim *s = w.sim ? w.sim : sim_create(&none);

	w = (struct world){.sim = s, .type = (enum vf_roce_type)((first & 3) % 3)};
	set_up(&w, options);
	move(&w, 0, states[first >> 2 & 7]);
	move(&w, 1, states[first >> 5]);
	for (int i = 0; i < RECORDS_MAX && in.len >= 4; i++) {
		uint8_t kind = take8(&in), flags = take8(&in);
		size_t len = take8(&in);
		struct input part = {in.data, 0};

		len |= (size_t)take8(&in) << 8;
		part.data = in.data;
		part.len = len < in.len ? len : in.len;
		in.data += part.len;
		in.len -= part.len;
		record(&w, kind, flags, &part);
	}
	(void)sim_run(w.sim, sim_now(w.sim) + 20 * VF_SEC, NULL, NULL);
	tear_down(&w);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine in the place of rxe. Its memory is a list of regions, one for each key that the
 * capture mentions, filled with what rxe's reads and atomics returned. Receives are posted as rxe's
 * answers show that they were there.
 */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32.h"
#include "roce/roce.h"

#define REGIONS_MAX 16
#define RECEIVE_KEY 0xfffffff0u
#define RECEIVE_LEN 65536u
#define NO_SYNDROME 0xff

struct region {
	uint32_t key;
	uint64_t start, end;
	uint8_t *mem;
	bool is_valid;
};

struct world {
	const struct golden_file *file;
	const struct replay_side *side;
	const struct replay_hints *hints;
	struct replay_result *out;
	struct vf_roce *roce;
	struct vf_roce_qp *qp;
	struct vf_roce_counters counters;
	struct region regions[REGIONS_MAX];
	unsigned region_count;
	uint8_t receive[RECEIVE_LEN];
	uint32_t mtu;
	unsigned posted;
};

/* ---- reading packets, without the engine's help ---- */

static uint8_t opcode_of(const struct golden_packet *p) { return p->data[0]; }
static uint32_t qpn_of(const struct golden_packet *p) { return vf_load_be24(p->data + 5); }
static uint32_t psn_of(const struct golden_packet *p) { return vf_load_be24(p->data + 9); }
static bool is_rc(const struct golden_packet *p) { return opcode_of(p) < 0x20; }
static bool is_answer(const struct golden_packet *p)
{
	return opcode_of(p) >= 13 && opcode_of(p) <= 18;
}
static bool has_reth(uint8_t op) { return op == 6 || op == 10 || op == 11 || op == 12; }
static bool is_atomic(uint8_t op) { return op == 19 || op == 20; }

/* SEND packets that start a message, and WRITE packets that end one with immediate data. */
static bool takes_receive(uint8_t op)
{
	return op == 0 || op == 4 || op == 5 || op == 23 || op == 9 || op == 11;
}

static struct replay_answer answer_of(const uint8_t *d, uint32_t len)
{
	struct replay_answer a = {
		.opcode = d[0],
		.syndrome = NO_SYNDROME,
		.psn = vf_load_be24(d + 9),
		.dest_qpn = vf_load_be24(d + 5),
	};
	uint32_t head = 12, pad = d[1] >> 4 & 3;

	if (a.opcode != 14) {
		a.syndrome = d[12];
		a.msn = vf_load_be24(d + 13);
		head = 16;
	}
	if (a.opcode == 18) {
		a.original = vf_load_be64(d + 16);
		head = 24;
	}
	a.payload_len = len - head - pad;
	a.payload_crc = vf_crc32(0, d + head, a.payload_len);
	return a;
}

static bool is_request_of(const struct golden_packet *p, const struct replay_side *s)
{
	return is_rc(p) && !is_answer(p) && p->sport == s->sport && qpn_of(p) == s->responder_qpn &&
	       memcmp(p->sgid, s->requester, 16) == 0;
}

static bool is_answer_of(const struct golden_packet *p, const struct replay_side *s)
{
	return is_rc(p) && is_answer(p) && p->sport == s->sport && qpn_of(p) == s->requester_qpn &&
	       memcmp(p->sgid, s->responder, 16) == 0;
}

unsigned replay_find(const struct golden_file *f, struct replay_side *out, unsigned max)
{
	unsigned count = 0;

	for (unsigned i = 0; i < f->count && count < max; i++) {
		const struct golden_packet *p = &f->packets[i];
		struct replay_side s = {.sport = p->sport, .responder_qpn = qpn_of(p)};
		bool is_new = is_rc(p) && !is_answer(p);

		for (unsigned k = 0; k < count; k++)
			is_new = is_new && !is_request_of(p, &out[k]);
		if (!is_new)
			continue;
		memcpy(s.requester, p->sgid, 16);
		memcpy(s.responder, p->dgid, 16);
		for (unsigned k = i; k < f->count; k++) {
			const struct golden_packet *a = &f->packets[k];

			if (is_rc(a) && is_answer(a) && a->sport == s.sport &&
			    psn_of(a) == psn_of(p) && memcmp(a->sgid, s.responder, 16) == 0)
				s.requester_qpn = qpn_of(a);
		}
		/* The ACK may carry the PSN of a later packet of the message. */
		for (unsigned k = i; k < f->count && s.requester_qpn == 0; k++) {
			const struct golden_packet *a = &f->packets[k];

			if (is_rc(a) && is_answer(a) && a->sport == s.sport &&
			    memcmp(a->sgid, s.responder, 16) == 0)
				s.requester_qpn = qpn_of(a);
		}
		if (s.requester_qpn)
			out[count++] = s;
	}
	return count;
}

/* ---- memory ---- */

static struct region *region_of(struct world *w, uint32_t key)
{
	for (unsigned i = 0; i < w->region_count; i++)
		if (w->regions[i].key == key)
			return &w->regions[i];
	return NULL;
}

static void cover(struct world *w, uint32_t key, uint64_t va, uint64_t len)
{
	struct region *r = region_of(w, key);

	if (!r) {
		if (w->region_count == REGIONS_MAX)
			return;
		r = &w->regions[w->region_count++];
		*r = (struct region){.key = key, .start = va, .end = va + len, .is_valid = true};
	}
	r->start = va < r->start ? va : r->start;
	r->end = va + len > r->end ? va + len : r->end;
}

static void find_regions(struct world *w)
{
	for (unsigned i = 0; i < w->file->count; i++) {
		const struct golden_packet *p = &w->file->packets[i];
		const uint8_t *d = p->data;

		if (!is_request_of(p, w->side))
			continue;
		if (has_reth(d[0]))
			cover(w, vf_load_be32(d + 20), vf_load_be64(d + 12), vf_load_be32(d + 24));
		if (is_atomic(d[0]))
			cover(w, vf_load_be32(d + 20), vf_load_be64(d + 12), 8);
		if (d[0] == 22 || d[0] == 23)
			cover(w, vf_load_be32(d + 12), 0, 0);
	}
	for (unsigned i = 0; i < w->region_count; i++) {
		struct region *r = &w->regions[i];

		r->mem = calloc(1, r->end - r->start + 8);
		if (w->hints->is_short_region)
			r->end -= (r->end - r->start) / 2;
	}
}

static int check(struct world *w, const struct vf_roce_mem *m, uint8_t **at)
{
	struct region *r = region_of(w, m->key);

	if (!m->is_remote) {
		*at = w->receive + m->addr;
		return m->addr + m->len <= RECEIVE_LEN ? 0 : -ERANGE;
	}
	if (!r || !r->is_valid || (w->hints->is_key_bad && m->key == w->hints->bad_key))
		return -EINVAL;
	if (m->addr < r->start || m->len > r->end - r->start ||
	    m->addr - r->start > r->end - r->start - m->len)
		return -ERANGE;
	*at = r->mem + (m->addr - r->start);
	return 0;
}

static int mem_check(void *host, const struct vf_roce_mem *m)
{
	uint8_t *at;

	return check(host, m, &at);
}

static int mem_map(void *host, const struct vf_roce_mem *m, struct iovec *iov, int max)
{
	uint8_t *at;
	int err = check(host, m, &at);

	(void)max;
	if (err)
		return err;
	iov[0] = (struct iovec){.iov_base = at, .iov_len = m->len};
	return 1;
}

static int mem_write(void *host, const struct iovec *iov, int count, const void *from, size_t len)
{
	const uint8_t *p = from;

	(void)host;
	for (int i = 0; i < count && len; i++) {
		size_t n = iov[i].iov_len < len ? iov[i].iov_len : len;

		memcpy(iov[i].iov_base, p, n);
		p += n;
		len -= n;
	}
	return 0;
}

static int mem_read(void *host, const struct iovec *iov, int count, void *to, size_t len)
{
	(void)host;
	(void)count;
	memcpy(to, iov[0].iov_base, len);
	return 0;
}

/* Memory is kept as it lies on the wire, so that what an atomic returns can be put there from the
 * capture. */
static int mem_atomic(void *host, const struct iovec *iov, bool is_swap, uint64_t compare_add,
		      uint64_t swap, uint64_t *original)
{
	uint64_t v = vf_load_be64(iov->iov_base);

	(void)host;
	*original = v;
	if (!is_swap)
		v += compare_add;
	else if (v == compare_add)
		v = swap;
	vf_store_be64(iov->iov_base, v);
	return 0;
}

static int mem_bind(void *host, void *qp_host, const void *bind, uint32_t len)
{
	(void)host;
	(void)qp_host;
	(void)bind;
	(void)len;
	return -EINVAL;
}

static int mem_invalidate(void *host, void *qp_host, uint32_t rkey, bool is_remote)
{
	struct region *r = region_of(host, rkey);

	(void)qp_host;
	(void)is_remote;
	if (!r)
		return -EINVAL;
	r->is_valid = false;
	return 0;
}

static void complete(void *host, const struct vf_roce_cqe *cqe)
{
	struct world *w = host;

	w->posted -= cqe->opcode >= VF_ROCE_WC_RECV;
}

static void qp_event(void *host, void *qp_host, enum vf_roce_event event)
{
	(void)host;
	(void)qp_host;
	(void)event;
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
	.srq_event = qp_event,
};

/* Where the read or atomic that @psn answers has its memory; NULL when there is none. */
static uint8_t *memory_of(struct world *w, uint32_t psn, unsigned before, bool *is_first)
{
	for (unsigned i = 0; i < before; i++) {
		const struct golden_packet *p = &w->file->packets[i];
		const uint8_t *d = p->data;
		uint32_t ahead = (psn - psn_of(p)) & 0xffffff, len = 8;
		struct region *r;

		if (!is_request_of(p, w->side) || (d[0] != 12 && !is_atomic(d[0])))
			continue;
		if (d[0] == 12)
			len = vf_load_be32(d + 24);
		if (ahead > 0 && ahead * w->mtu >= len)
			continue;
		r = region_of(w, vf_load_be32(d + 20));
		*is_first = true;
		return r ? r->mem + (vf_load_be64(d + 12) - r->start) + (uint64_t)ahead * w->mtu
			 : NULL;
	}
	return NULL;
}

static void fill_memory(struct world *w)
{
	uint8_t *seen[GOLDEN_PACKETS_MAX];
	unsigned seen_count = 0;

	for (unsigned i = 0; i < w->file->count; i++) {
		const struct golden_packet *p = &w->file->packets[i];
		bool is_first = false, is_known = false;
		uint32_t head = p->data[0] == 14 ? 12 : 16;
		uint8_t *at;

		if (!is_answer_of(p, w->side) || opcode_of(p) == 17)
			continue;
		at = memory_of(w, psn_of(p), i, &is_first);
		for (unsigned k = 0; k < seen_count; k++)
			is_known = is_known || seen[k] == at;
		if (!at || is_known)
			continue;
		seen[seen_count++] = at;
		memcpy(at, p->data + head, p->len - head - 4 - (p->data[1] >> 4 & 3u));
	}
}

/* ---- the conversation ---- */

/* What comes before another packet of its message is as long as the path MTU. */
static uint32_t find_mtu(const struct world *w)
{
	static const uint8_t head[] = {
		[0] = 12, [1] = 12, [6] = 28, [7] = 12, [13] = 16, [14] = 12};

	for (unsigned i = 0; i < w->file->count; i++) {
		const struct golden_packet *p = &w->file->packets[i];
		uint8_t op = opcode_of(p);

		if (op < sizeof(head) && head[op] && p->sport == w->side->sport)
			return p->len - 4 - head[op];
	}
	return 1024;
}

static uint8_t rnr_code(const struct world *w)
{
	for (unsigned i = 0; i < w->file->count; i++) {
		const struct golden_packet *p = &w->file->packets[i];

		if (is_answer_of(p, w->side) && opcode_of(p) == 17 && (p->data[12] & 0xe0) == 0x20)
			return p->data[12] & 0x1f;
	}
	return 1;
}

static int set_up(struct world *w, uint32_t first_psn)
{
	struct vf_roce_config cfg = {.ops = &ops,
				     .host = w,
				     .seed = 1,
				     .counters = &w->counters,
				     .slot = 1,
				     .max_qps = 8,
				     .is_flow_off = true};
	struct vf_roce_qp_config qc = {.type = VF_ROCE_RC,
				       .qp_host = w,
				       .send_cq = w,
				       .recv_cq = w,
				       .counters = &w->counters,
				       .send_max = 4,
				       .recv_max = 512,
				       .send_sge_max = 1,
				       .recv_sge_max = 1};
	struct vf_roce_qp_attr a = {
		.state = VF_ROCE_INIT,
		.access = VF_ROCE_REMOTE_WRITE | VF_ROCE_REMOTE_READ | VF_ROCE_REMOTE_ATOMIC,
		.path = {.hop_limit = 64},
		.mtu_bytes = w->mtu,
		.dest_qpn = w->side->requester_qpn,
		.rq_psn = first_psn,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = rnr_code(w),
	};

	memcpy(a.path.sgid, w->side->responder, 16);
	memcpy(a.path.dgid, w->side->requester, 16);
	if (vf_roce_create(&cfg, &w->roce))
		return -1;
	if (vf_roce_qp_create(w->roce, &qc, &w->qp) ||
	    vf_roce_qp_modify(w->qp, 0, &a, VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_ACCESS))
		return -1;
	a.state = VF_ROCE_RTR;
	if (vf_roce_qp_modify(w->qp, 0, &a,
			      VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_PATH | VF_ROCE_ATTR_MTU |
				      VF_ROCE_ATTR_DEST_QPN | VF_ROCE_ATTR_RQ_PSN |
				      VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC | VF_ROCE_ATTR_MIN_RNR_TIMER))
		return -1;
	a.state = VF_ROCE_RTS;
	a.timeout = 14;
	a.retry_cnt = a.rnr_retry = 7;
	a.max_rd_atomic = 1;
	return vf_roce_qp_modify(w->qp, 0, &a,
				 VF_ROCE_ATTR_STATE | VF_ROCE_ATTR_SQ_PSN | VF_ROCE_ATTR_TIMEOUT |
					 VF_ROCE_ATTR_RETRY_CNT | VF_ROCE_ATTR_RNR_RETRY |
					 VF_ROCE_ATTR_MAX_RD_ATOMIC);
}

/* rxe had a receive for this packet unless its next answer to it says "receiver not ready". */
static bool had_receive(const struct world *w, unsigned at)
{
	uint32_t psn = psn_of(&w->file->packets[at]);

	for (unsigned i = at + 1; i < w->file->count; i++) {
		const struct golden_packet *p = &w->file->packets[i];

		if (is_answer_of(p, w->side) && opcode_of(p) == 17 && psn_of(p) == psn &&
		    (p->data[12] & 0xe0) != 0x60)
			return (p->data[12] & 0xe0) != 0x20;
	}
	return true;
}

static bool is_expected(const struct world *w, uint32_t psn)
{
	struct vf_roce_qp_attr attr;
	bool is_draining;

	vf_roce_qp_query(w->qp, &attr, &is_draining);
	return attr.rq_psn == psn;
}

/* The program behind rxe wrote into this memory between two reads: as the next response has it. */
static void renew_memory(struct world *w, unsigned at)
{
	const struct golden_packet *p = &w->file->packets[at];
	struct region *r = region_of(w, vf_load_be32(p->data + 20));

	for (unsigned i = at + 1; r && i < w->file->count; i++) {
		const struct golden_packet *a = &w->file->packets[i];

		if (!is_answer_of(a, w->side) || opcode_of(a) != 16 || psn_of(a) != psn_of(p))
			continue;
		memcpy(r->mem + (vf_load_be64(p->data + 12) - r->start), a->data + 16,
		       vf_load_be32(p->data + 24));
		return;
	}
}

static void post_receive(struct world *w)
{
	struct vf_roce_sge sge = {0, w->hints->receive_len ? w->hints->receive_len : RECEIVE_LEN,
				  RECEIVE_KEY};
	struct vf_roce_recv_wr wr = {.sge_count = 1, .sge = &sge};

	if (w->posted == 0 && vf_roce_post_recv(w->qp, &wr) == 0)
		w->posted++;
}

static void take_answers(struct world *w, vf_nsec now)
{
	uint8_t packet[GOLDEN_DATA_MAX];
	struct vf_roce_tx tx;

	while (vf_roce_transmit(w->roce, now, &tx, 1) == 1) {
		uint32_t at = tx.header_len;

		memcpy(packet, tx.headers, at);
		for (int i = 0; i < tx.iov_count; i++) {
			memcpy(packet + at, tx.iov[i].iov_base, tx.iov[i].iov_len);
			at += (uint32_t)tx.iov[i].iov_len;
		}
		memset(packet + at, 0, tx.pad_len);
		if (w->out->our_count < REPLAY_ANSWERS_MAX)
			w->out->ours[w->out->our_count++] = answer_of(packet, at + tx.pad_len);
	}
}

static void feed(struct world *w, unsigned at, vf_nsec now)
{
	const struct golden_packet *p = &w->file->packets[at];
	uint8_t data[GOLDEN_DATA_MAX];
	struct vf_roce_rx rx = {.data = data, .len = p->len - 4, .hop_limit = 64};

	memcpy(data, p->data, p->len);
	vf_store_be24(data + 5, vf_roce_qp_qpn(w->qp));
	memcpy(rx.sgid, p->sgid, 16);
	memcpy(rx.dgid, p->dgid, 16);
	if (takes_receive(opcode_of(p)) && is_expected(w, psn_of(p)) && had_receive(w, at))
		post_receive(w);
	if (opcode_of(p) == 12 && w->hints->is_memory_changing)
		renew_memory(w, at);
	vf_roce_receive(w->roce, now, &rx, 1);
	take_answers(w, now);
	for (int i = 0; i < 8 && vf_roce_deadline(w->roce) <= now + VF_MSEC; i++) {
		now = vf_roce_deadline(w->roce) > now ? vf_roce_deadline(w->roce) : now;
		vf_roce_tick(w->roce, now);
		take_answers(w, now);
	}
}

static void converse(struct world *w)
{
	unsigned sent = 0;

	for (unsigned i = 0; i < w->file->count; i++) {
		const struct golden_packet *p = &w->file->packets[i];
		vf_nsec now = (p->time_us - w->file->packets[0].time_us) * VF_USEC;

		if (is_answer_of(p, w->side) && w->out->rxe_count < REPLAY_ANSWERS_MAX)
			w->out->rxe[w->out->rxe_count++] = answer_of(p->data, p->len - 4);
		if (!is_request_of(p, w->side))
			continue;
		w->out->requests++;
		if (w->hints->drop_every && sent++ % w->hints->drop_every == w->hints->drop_at)
			continue;
		feed(w, i, now);
	}
}

int replay_run(const struct golden_file *f, const struct replay_side *side,
	       const struct replay_hints *hints, struct replay_result *out)
{
	static struct world w;
	int err = -1;

	w = (struct world){.file = f, .side = side, .hints = hints, .out = out};
	memset(out, 0, sizeof(*out));
	w.mtu = find_mtu(&w);
	find_regions(&w);
	fill_memory(&w);
	for (unsigned i = 0; i < f->count && err; i++) {
		if (!is_request_of(&f->packets[i], side))
			continue;
		err = set_up(&w, psn_of(&f->packets[i]));
		break;
	}
	if (err == 0)
		converse(&w);
	if (w.qp)
		vf_roce_qp_destroy(w.qp);
	if (w.roce)
		vf_roce_destroy(w.roce);
	for (unsigned i = 0; i < w.region_count; i++)
		free(w.regions[i].mem);
	return err;
}

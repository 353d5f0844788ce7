/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every pattern of deliver, drop, duplicate and delay of the first packets of each operation.
 *
 *   exhaustive [--depth N] [--op NAME] [--pattern DIGITS]
 *
 * 0 delivers, 1 drops, 2 duplicates, 3 delays by more than the ACK time-out, so that old packets
 * meet new ones. Each run must complete the operations in order, with the memory of both sides
 * exactly as it should be and the oracle content; the run without faults sends exactly the packets
 * that the operation needs. Output is TAP.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "host.h"
#include "oracle.h"

#define MTU	 256
#define SLOT	 2048 /* bytes of memory for each message */
#define MSGS_MAX 3
#define GUARD	 16
#define START	 1000 /* what atomics start from */

struct message {
	enum vf_roce_wr_opcode opcode;
	uint32_t len;
};

struct op {
	const char *name;
	enum vf_roce_type type;
	unsigned count;
	struct message msgs[MSGS_MAX];
	unsigned packets; /* without faults, answers included */
	bool is_late;	  /* the receives are posted when a receiver-not-ready NAK went out */
};

static const struct op ops[] = {
	{"send", VF_ROCE_RC, 1, {{VF_ROCE_WR_SEND, 600}}, 4, false},
	{"send_only_twice",
	 VF_ROCE_RC,
	 2,
	 {{VF_ROCE_WR_SEND, 256}, {VF_ROCE_WR_SEND, 3}},
	 3,
	 false},
	{"send_zero", VF_ROCE_RC, 1, {{VF_ROCE_WR_SEND, 0}}, 2, false},
	{"send_imm", VF_ROCE_RC, 1, {{VF_ROCE_WR_SEND_WITH_IMM, 513}}, 4, false},
	{"send_inv", VF_ROCE_RC, 1, {{VF_ROCE_WR_SEND_WITH_INV, 300}}, 3, false},
	{"send_late", VF_ROCE_RC, 2, {{VF_ROCE_WR_SEND, 300}, {VF_ROCE_WR_SEND, 20}}, 8, true},
	{"write", VF_ROCE_RC, 1, {{VF_ROCE_WR_RDMA_WRITE, 700}}, 4, false},
	{"write_zero", VF_ROCE_RC, 1, {{VF_ROCE_WR_RDMA_WRITE, 0}}, 2, false},
	{"write_imm", VF_ROCE_RC, 1, {{VF_ROCE_WR_RDMA_WRITE_WITH_IMM, 511}}, 3, false},
	{"write_then_send",
	 VF_ROCE_RC,
	 2,
	 {{VF_ROCE_WR_RDMA_WRITE, 300}, {VF_ROCE_WR_SEND, 30}},
	 4,
	 false},
	{"read", VF_ROCE_RC, 1, {{VF_ROCE_WR_RDMA_READ, 700}}, 4, false},
	{"read_zero", VF_ROCE_RC, 1, {{VF_ROCE_WR_RDMA_READ, 0}}, 2, false},
	{"reads",
	 VF_ROCE_RC,
	 2,
	 {{VF_ROCE_WR_RDMA_READ, 500}, {VF_ROCE_WR_RDMA_READ, 100}},
	 5,
	 false},
	{"read_between_writes",
	 VF_ROCE_RC,
	 3,
	 {{VF_ROCE_WR_RDMA_WRITE, 40}, {VF_ROCE_WR_RDMA_READ, 300}, {VF_ROCE_WR_RDMA_WRITE, 50}},
	 6,
	 false},
	{"fetch_add", VF_ROCE_RC, 1, {{VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, 8}}, 2, false},
	{"fetch_adds",
	 VF_ROCE_RC,
	 3,
	 {{VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, 8},
	  {VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, 8},
	  {VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, 8}},
	 6,
	 false},
	{"cmp_swap",
	 VF_ROCE_RC,
	 2,
	 {{VF_ROCE_WR_ATOMIC_CMP_AND_SWP, 8}, {VF_ROCE_WR_ATOMIC_CMP_AND_SWP, 8}},
	 4,
	 false},
	{"atomic_then_send",
	 VF_ROCE_RC,
	 2,
	 {{VF_ROCE_WR_ATOMIC_FETCH_AND_ADD, 8}, {VF_ROCE_WR_SEND, 300}},
	 5,
	 false},
	{"uc_send",
	 VF_ROCE_UC,
	 2,
	 {{VF_ROCE_WR_SEND, 600}, {VF_ROCE_WR_SEND_WITH_IMM, 300}},
	 5,
	 false},
	{"uc_write",
	 VF_ROCE_UC,
	 2,
	 {{VF_ROCE_WR_RDMA_WRITE_WITH_IMM, 600}, {VF_ROCE_WR_RDMA_WRITE_WITH_IMM, 20}},
	 4,
	 false},
	{"ud_send",
	 VF_ROCE_UD,
	 3,
	 {{VF_ROCE_WR_SEND, 200}, {VF_ROCE_WR_SEND_WITH_IMM, 9}, {VF_ROCE_WR_SEND, 0}},
	 3,
	 false},
};

struct run {
	const struct op *op;
	struct choices *choices;
	unsigned depth, decided, faults, repeats;
	struct sim *sim;
	struct host a, b; /* a asks, b answers */
	struct host_qp qa, qb;
	struct host_mr *ma, *mb, *window;
	struct oracle oracle;
	bool has_late;
	unsigned received;
	uint8_t seen[MSGS_MAX]; /* UC, UD: message was received */
};

static uint8_t pattern(unsigned side, uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + side * 101 + 1);
}

static void decide(void *arg, struct sim *s, const struct sim_packet *p, struct sim_fate *out)
{
	struct run *r = arg;
	unsigned c;

	(void)s;
	(void)p;
	if (r->decided++ >= r->depth)
		return;
	c = choices_pick(r->choices, 4);
	r->faults += c != 0;
	r->repeats += c >= 2 && r->op->type != VF_ROCE_RC;
	out->is_lost = c == 1;
	out->copies = c == 2;
	out->delay_ns = c == 3 ? 9 * VF_MSEC : 0;
}

static void post_receives(struct run *r)
{
	for (unsigned i = 0; i < r->op->count; i++) {
		struct vf_roce_sge sge = {r->mb->addr + i * SLOT, SLOT, r->mb->key};
		struct vf_roce_recv_wr wr = {.wr_id = i, .sge_count = 1, .sge = &sge};

		host_post_recv(&r->qb, &wr);
	}
	r->has_late = false;
}

static bool is_atomic(enum vf_roce_wr_opcode o)
{
	return o == VF_ROCE_WR_ATOMIC_CMP_AND_SWP || o == VF_ROCE_WR_ATOMIC_FETCH_AND_ADD;
}

static bool takes_receive(enum vf_roce_wr_opcode o)
{
	return o == VF_ROCE_WR_SEND || o == VF_ROCE_WR_SEND_WITH_IMM ||
	       o == VF_ROCE_WR_SEND_WITH_INV || o == VF_ROCE_WR_RDMA_WRITE_WITH_IMM;
}

/* Message i: local bytes at i * SLOT, remote ones at i * SLOT + 8; atomics share one place at the
 * end. */
static void post_message(struct run *r, unsigned i)
{
	const struct message *m = &r->op->msgs[i];
	struct vf_roce_path path = host_path(&r->a, &r->b);
	struct vf_roce_sge sge[2] = {
		{r->ma->addr + i * SLOT, m->len / 2, r->ma->key},
		{r->ma->addr + i * SLOT + m->len / 2, m->len - m->len / 2, r->ma->key}};
	struct vf_roce_send_wr wr = {
		.wr_id = i,
		.opcode = m->opcode,
		.flags = VF_ROCE_SEND_SIGNALED,
		.imm_or_rkey =
			m->opcode == VF_ROCE_WR_SEND_WITH_INV ? r->window->key : 0x12340000 + i,
		.remote_addr = r->mb->addr + i * SLOT + 8,
		.rkey = r->mb->key,
		.sge_count = 2,
		.sge = sge,
	};

	if (is_atomic(m->opcode)) {
		wr.remote_addr = r->mb->addr + MSGS_MAX * SLOT;
		wr.compare_add = m->opcode == VF_ROCE_WR_ATOMIC_CMP_AND_SWP ? START : i + 1;
		wr.swap = 5000 + i;
	}
	if (r->op->type == VF_ROCE_UD) {
		wr.path = &path;
		wr.remote_qpn = vf_roce_qp_qpn(r->qb.qp);
		wr.remote_qkey = 0x11111111;
	}
	host_post_send(&r->qa, &wr);
}

static void add_oracle(struct run *r)
{
	struct oracle_lane l = {
		.from = 0,
		.to = 1,
		.requester_qpn = vf_roce_qp_qpn(r->qa.qp),
		.responder_qpn = vf_roce_qp_qpn(r->qb.qp),
		.psn = 0xfffffd,
		.mtu = MTU,
	};

	r->oracle.window = 128;
	if (r->op->type == VF_ROCE_RC)
		oracle_add(&r->oracle, &l);
	sim_set_watch(r->sim, oracle_watch, &r->oracle);
}

static void set_up(struct run *r)
{
	struct host_options ha = {.seed = 1, .slot = 1, .is_flow_off = true, .max_qps = 4};
	struct host_options hb = {.seed = 2, .slot = 2, .is_flow_off = true, .max_qps = 4};
	struct host_qp_options q = host_qp_defaults(r->op->type);
	unsigned all = VF_ROCE_LOCAL_WRITE | VF_ROCE_REMOTE_WRITE | VF_ROCE_REMOTE_READ |
		       VF_ROCE_REMOTE_ATOMIC;
	uint64_t start = START;

	q.send_max = q.recv_max = 8;
	q.mtu_bytes = MTU;
	host_create(&r->a, r->sim, &ha);
	host_create(&r->b, r->sim, &hb);
	r->ma = host_reg(&r->a, (MSGS_MAX + 1) * SLOT, all);
	r->mb = host_reg(&r->b, (MSGS_MAX + 1) * SLOT, all);
	r->window = host_reg(&r->b, 16, all);
	r->window->is_window = true;
	for (uint32_t i = 0; i < r->ma->len; i++) {
		r->ma->mem[i] = pattern(0, i);
		r->mb->mem[i] = pattern(1, i);
	}
	memcpy(r->mb->mem + MSGS_MAX * SLOT, &start, sizeof(start));
	host_qp_create(&r->a, &r->qa, &q);
	host_qp_create(&r->b, &r->qb, &q);
	host_qp_connect(&r->qa, &r->qb, &q);
	host_qp_connect(&r->qb, &r->qa, &q);
	sim_set_decide(r->sim, decide, r);
	add_oracle(r);
}

static void check_receive(struct run *r, const struct vf_roce_cqe *c)
{
	bool has_imm, is_inv;
	unsigned i = r->received++;
	const struct message *m;

	SIM_CHECK(r->sim, c->status == VF_ROCE_WC_SUCCESS);
	SIM_CHECK(r->sim, c->wr_id == i);
	if (r->repeats)
		i = 0;
	if (r->op->type == VF_ROCE_RC)
		while (!takes_receive(r->op->msgs[i].opcode))
			i++;
	else /* which of them it is, its length says */
		while (i < r->op->count &&
		       r->op->msgs[i].len + (r->op->type == VF_ROCE_UD ? 40 : 0) != c->byte_len)
			i++;
	/* Only a network that repeats or exchanges packets makes UC and UD do so with messages. */
	SIM_CHECK(r->sim, i < r->op->count && (!r->seen[i] || r->repeats));
	r->seen[i] = 1 + (uint8_t)c->wr_id;
	m = &r->op->msgs[i];
	has_imm = m->opcode == VF_ROCE_WR_SEND_WITH_IMM ||
		  m->opcode == VF_ROCE_WR_RDMA_WRITE_WITH_IMM;
	is_inv = m->opcode == VF_ROCE_WR_SEND_WITH_INV;
	SIM_CHECK(r->sim, c->byte_len == m->len + (r->op->type == VF_ROCE_UD ? 40 : 0));
	SIM_CHECK(r->sim, has_imm == ((c->wc_flags & VF_ROCE_WC_WITH_IMM) != 0));
	SIM_CHECK(r->sim, is_inv == ((c->wc_flags & VF_ROCE_WC_WITH_INV) != 0));
	if (has_imm)
		SIM_CHECK(r->sim, c->imm_or_rkey == 0x12340000 + i);
	if (is_inv)
		SIM_CHECK(r->sim, !r->window->is_valid && c->imm_or_rkey == r->window->key);
	SIM_CHECK(r->sim, c->opcode == (m->opcode == VF_ROCE_WR_RDMA_WRITE_WITH_IMM
						? VF_ROCE_WC_RECV_RDMA_WITH_IMM
						: VF_ROCE_WC_RECV));
}

/* The memory of b as it should be, and of a: computed anew, from which messages came. */
static void expect_memory(const struct run *r, uint8_t *a, uint8_t *b)
{
	uint64_t value = START, original;

	for (unsigned i = 0; i < r->op->count; i++) {
		const struct message *m = &r->op->msgs[i];
		uint8_t *local = a + i * SLOT, *remote = b + i * SLOT + 8;
		unsigned slot = r->op->type == VF_ROCE_RC ? i : r->seen[i] ? r->seen[i] - 1u : 0;

		if (m->opcode == VF_ROCE_WR_RDMA_READ)
			memcpy(local, remote, m->len);
		else if (m->opcode == VF_ROCE_WR_RDMA_WRITE ||
			 m->opcode == VF_ROCE_WR_RDMA_WRITE_WITH_IMM)
			memcpy(remote, local, m->len);
		if (is_atomic(m->opcode)) {
			original = value;
			memcpy(local, &original, 8);
			if (m->opcode == VF_ROCE_WR_ATOMIC_FETCH_AND_ADD)
				value += i + 1;
			else if (value == START)
				value = 5000 + i;
		} else if (takes_receive(m->opcode) &&
			   m->opcode != VF_ROCE_WR_RDMA_WRITE_WITH_IMM) {
			/* RC: receives are used in the order of the messages that take one. */
			for (unsigned k = 0; r->op->type == VF_ROCE_RC && k < i; k++)
				slot -= !takes_receive(r->op->msgs[k].opcode);
			memcpy(b + slot * SLOT + (r->op->type == VF_ROCE_UD ? 40 : 0), local,
			       m->len);
		}
	}
	memcpy(b + MSGS_MAX * SLOT, &value, 8);
}

static void check_memory(struct run *r)
{
	size_t len = (MSGS_MAX + 1) * SLOT;
	uint8_t *a = malloc(2 * len), *b = a + len;

	SIM_CHECK(r->sim, a);
	for (uint32_t i = 0; i < len; i++) {
		a[i] = pattern(0, i);
		b[i] = pattern(1, i);
	}
	expect_memory(r, a, b);
	for (uint32_t i = 0; i < len; i++)
		if (r->ma->mem[i] != a[i])
			sim_fail(r->sim, "byte %u of the asking side is %#x, not %#x", i,
				 r->ma->mem[i], a[i]);
	for (uint32_t i = 0; i < len; i++)
		if (r->mb->mem[i] != b[i])
			sim_fail(r->sim, "byte %u of the answering side is %#x, not %#x", i,
				 r->mb->mem[i], b[i]);
	free(a);
}

/* Lost messages of UC and UD leave partial data: only those that came whole are compared. */
static void check_unreliable(struct run *r)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < r->op->count; i++) {
		const struct message *m = &r->op->msgs[i];
		const uint8_t *at = m->opcode == VF_ROCE_WR_RDMA_WRITE_WITH_IMM
					    ? r->mb->mem + i * SLOT + 8
					    : r->mb->mem + (r->seen[i] - 1) * SLOT +
						      (r->op->type == VF_ROCE_UD ? 40 : 0);

		if (!r->seen[i])
			continue;
		seen++;
		SIM_CHECK(r->sim, memcmp(at, r->ma->mem + i * SLOT, m->len) == 0);
	}
	if (r->faults == 0)
		SIM_CHECK(r->sim, seen == r->op->count);
}

static bool is_rnr_seen(void *arg)
{
	struct run *r = arg;

	return r->a.counters.value[VF_CNT_RNR_NAK_RCVD] > 0 ||
	       r->b.counters.value[VF_CNT_RNR_NAK_SENT] > 0;
}

static void run_world(struct run *r)
{
	for (unsigned i = 0; i < r->op->count; i++)
		post_message(r, i);
	if (r->has_late) {
		SIM_CHECK(r->sim, sim_run(r->sim, 10 * VF_SEC, is_rnr_seen, r));
		post_receives(r);
	}
	SIM_CHECK(r->sim, sim_run(r->sim, 100 * VF_SEC, NULL, NULL));
}

static void check_sends(struct run *r, bool *has_failed)
{
	const struct vf_roce_cqe *c;
	unsigned done = 0;

	*has_failed = false;
	while ((c = host_cq_next(&r->qa.send_cq))) {
		SIM_CHECK(r->sim, c->wr_id == done++);
		if (c->status == VF_ROCE_WC_SUCCESS && !*has_failed)
			continue;
		/* Only who lost every try may have given up: the first and seven more. */
		SIM_CHECK(r->sim,
			  *has_failed ? c->status == VF_ROCE_WC_WR_FLUSH_ERR
				      : c->status == VF_ROCE_WC_RETRY_EXC_ERR && r->faults >= 8);
		*has_failed = true;
	}
	SIM_CHECK(r->sim, done == r->op->count);
}

static void say_replay(const struct run *r)
{
	char digits[CHOICES_MAX + 1], replay[128];

	choices_text(r->choices, digits, sizeof(digits));
	snprintf(replay, sizeof(replay), "exhaustive --depth %u --op %s --pattern %s", r->depth,
		 r->op->name, *digits ? digits : "0");
	sim_set_replay(r->sim, replay);
}

static void run_one(struct run *r)
{
	struct sim_options opt = {.seed = 1, .link_ns = 10 * VF_USEC, .wake_ns = VF_USEC};
	const struct vf_roce_cqe *c;
	unsigned expected = 0;
	bool has_failed;

	sim_reset(r->sim, &opt);
	say_replay(r);
	set_up(r);
	r->has_late = r->op->is_late;
	if (!r->has_late)
		post_receives(r);
	run_world(r);
	check_sends(r, &has_failed);
	while ((c = host_cq_next(&r->qb.recv_cq)))
		check_receive(r, c);
	for (unsigned i = 0; i < r->op->count; i++)
		expected += takes_receive(r->op->msgs[i].opcode);
	if (r->op->type != VF_ROCE_RC) {
		check_unreliable(r);
	} else if (!has_failed) {
		SIM_CHECK(r->sim, r->received == expected);
		check_memory(r);
	}
	if (r->faults == 0 && r->op->packets)
		SIM_CHECK(r->sim, sim_injected(r->sim, 0)->sent + sim_injected(r->sim, 1)->sent ==
					  r->op->packets);
	host_qp_destroy(&r->qa);
	host_qp_destroy(&r->qb);
	host_destroy(&r->a);
	host_destroy(&r->b);
}

static uint64_t run_all(struct sim *s, const struct op *op, unsigned depth, const char *only)
{
	struct choices choices = {0};
	uint64_t runs = 0;
	static struct run r;

	if (only)
		choices_from_text(&choices, only);
	do {
		r = (struct run){.op = op, .choices = &choices, .depth = depth, .sim = s};
		run_one(&r);
		runs++;
	} while (!only && choices_next(&choices));
	return runs;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"depth", required_argument, NULL, 'd'},
						{"op", required_argument, NULL, 'o'},
						{"pattern", required_argument, NULL, 'p'},
						{0}};
	const char *op = NULL, *only = NULL;
	unsigned depth = 6, n = 0;
	uint64_t runs;
	struct sim_options opt = {0};
	struct sim *s;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd')
			depth = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'o')
			op = optarg;
		else if (c == 'p')
			only = optarg;
		else
			return 2;
	}
	if (depth > CHOICES_MAX)
		return 2;
	s = sim_create(&opt);
	printf("TAP version 13\n1..%zu\n", op ? (size_t)1 : VF_ARRAY_SIZE(ops));
	for (unsigned i = 0; i < VF_ARRAY_SIZE(ops); i++) {
		if (op && strcmp(op, ops[i].name) != 0)
			continue;
		runs = run_all(s, &ops[i], depth, only);
		printf("ok %u - %s survives each of %llu patterns\n", ++n, ops[i].name,
		       (unsigned long long)runs);
		fflush(stdout);
	}
	sim_destroy(s);
	return n ? 0 : 2;
}

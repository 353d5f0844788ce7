/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The world of the simulator: a heap of packets in flight, the nodes' receive buffers and
 * deadlines, and the clock that jumps to whatever comes first. Ties are broken by order of sending
 * and by node number, so a run is a function of its seed.
 */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES_MAX 32
#define SPINS_MAX     10000 /* runs of one node without time passing */
#define BATCH	      64

struct address {
	uint8_t gid[16];
	unsigned node;
};

struct node {
	const struct sim_node_ops *ops;
	void *arg;
	struct sim_packet **queue; /* receive buffer */
	unsigned queued, queue_max;
	uint64_t queue_cost;
	vf_nsec take_at;
	bool is_kicked;
	unsigned spins;
	vf_nsec spin_at;
	struct sim_injected injected;
};

struct sim {
	struct sim_options opt;
	struct node nodes[SIM_NODES_MAX];
	unsigned node_count;
	struct address addresses[ADDRESSES_MAX], groups[ADDRESSES_MAX];
	unsigned address_count, group_count;
	struct sim_packet **heap;
	unsigned heaped, heap_max;
	struct sim_packet **spare; /* packets to use again */
	unsigned spare_count, spare_max;
	vf_nsec now;
	uint64_t order, trace;
	struct vf_rand rand;
	sim_decide_fn decide;
	void *decide_arg;
	sim_watch_fn watch;
	void *watch_arg;
	char replay[256];
	bool is_printing;
};

static void *checked(void *p)
{
	if (!p) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return p;
}

static void push(struct sim_packet ***list, unsigned *count, unsigned *max, struct sim_packet *p)
{
	if (*count == *max) {
		*max = *max ? *max * 2 : 64;
		*list = checked(realloc(*list, *max * sizeof(struct sim_packet *)));
	}
	(*list)[(*count)++] = p;
}

static struct sim_packet *packet_new(struct sim *s, const struct sim_packet *from)
{
	struct sim_packet *p;

	p = s->spare_count ? s->spare[--s->spare_count] : checked(malloc(sizeof(*p)));
	memcpy(p, from, offsetof(struct sim_packet, data) + from->len);
	return p;
}

static void packet_free(struct sim *s, struct sim_packet *p)
{
	push(&s->spare, &s->spare_count, &s->spare_max, p);
}

static bool is_before(const struct sim_packet *a, const struct sim_packet *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_push(struct sim *s, struct sim_packet *p)
{
	unsigned i = s->heaped;

	push(&s->heap, &s->heaped, &s->heap_max, p);
	for (; i > 0 && is_before(p, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = p;
}

static struct sim_packet *heap_pop(struct sim *s)
{
	struct sim_packet *top = s->heap[0], *last = s->heap[--s->heaped];
	unsigned i = 0, child;

	while ((child = 2 * i + 1) < s->heaped) {
		if (child + 1 < s->heaped && is_before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s->heap[child], last))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	if (s->heaped)
		s->heap[i] = last;
	return top;
}

struct sim *sim_create(const struct sim_options *opt)
{
	struct sim *s = checked(calloc(1, sizeof(*s)));

	sim_reset(s, opt);
	return s;
}

void sim_reset(struct sim *s, const struct sim_options *opt)
{
	while (s->heaped)
		packet_free(s, s->heap[--s->heaped]);
	for (unsigned i = 0; i < s->node_count; i++) {
		struct node *n = &s->nodes[i];

		while (n->queued)
			packet_free(s, n->queue[--n->queued]);
		free(n->queue);
		*n = (struct node){0};
	}
	s->opt = *opt;
	s->node_count = s->address_count = s->group_count = 0;
	s->now = s->order = 0;
	s->trace = UINT64_C(0xcbf29ce484222325);
	s->decide = NULL;
	s->watch = NULL;
	s->replay[0] = 0;
	s->is_printing = false;
	vf_rand_seed(&s->rand, opt->seed);
}

void sim_destroy(struct sim *s)
{
	sim_reset(s, &s->opt);
	while (s->spare_count)
		free(s->spare[--s->spare_count]);
	free(s->spare);
	free(s->heap);
	free(s);
}

unsigned sim_add_node(struct sim *s, const struct sim_node_ops *ops, void *arg)
{
	struct node *n = &s->nodes[s->node_count];

	SIM_CHECK(s, s->node_count < SIM_NODES_MAX);
	*n = (struct node){.ops = ops, .arg = arg, .take_at = VF_NSEC_NEVER};
	return s->node_count++;
}

static void add(struct sim *s, struct address *list, unsigned *count, struct address a)
{
	SIM_CHECK(s, *count < ADDRESSES_MAX);
	list[(*count)++] = a;
}

void sim_add_address(struct sim *s, unsigned node, const uint8_t gid[16])
{
	struct address a = {.node = node};

	memcpy(a.gid, gid, 16);
	add(s, s->addresses, &s->address_count, a);
}

void sim_join(struct sim *s, unsigned node, const uint8_t mgid[16])
{
	struct address a = {.node = node};

	memcpy(a.gid, mgid, 16);
	add(s, s->groups, &s->group_count, a);
}

void sim_set_decide(struct sim *s, sim_decide_fn decide, void *arg)
{
	s->decide = decide;
	s->decide_arg = arg;
}

void sim_set_watch(struct sim *s, sim_watch_fn watch, void *arg)
{
	s->watch = watch;
	s->watch_arg = arg;
}

vf_nsec sim_now(const struct sim *s) { return s->now; }
struct vf_rand *sim_rand(struct sim *s) { return &s->rand; }
uint64_t sim_trace(const struct sim *s) { return s->trace; }
const struct sim_injected *sim_injected(const struct sim *s, unsigned from)
{
	return &s->nodes[from].injected;
}

void sim_note(struct sim *s, uint64_t v)
{
	s->trace = (s->trace ^ v) * UINT64_C(0x100000001b3);
	s->trace ^= s->trace >> 29;
}

static void note_packet(struct sim *s, const struct sim_packet *p)
{
	sim_note(s, s->now);
	sim_note(s, (uint64_t)p->from << 40 | (uint64_t)p->to << 32 | p->len);
	for (uint32_t i = 0; i + 8 <= p->len; i += 8)
		sim_note(s, vf_load_be64(p->data + i));
}

static bool happens(struct sim *s, uint32_t ppm)
{
	return ppm && vf_rand_below(&s->rand, 1000000) < ppm;
}

static void decide_by_seed(struct sim *s, const struct sim_packet *p, struct sim_fate *out)
{
	out->is_lost = happens(s, s->opt.loss_ppm);
	out->copies = happens(s, s->opt.duplicate_ppm);
	if (happens(s, s->opt.reorder_ppm))
		out->delay_ns = 1 + vf_rand_below(&s->rand, s->opt.reorder_ns);
	if (happens(s, s->opt.damage_ppm))
		out->flip_bit = 1 + (uint32_t)vf_rand_below(&s->rand, p->len * 8);
	if (out->flip_bit && (out->flip_bit - 1) / 8 == 4)
		out->flip_bit += 8; /* that byte may change on the way: no ICRC notices */
}

static void launch(struct sim *s, const struct sim_packet *p, const struct sim_fate *fate)
{
	struct sim_injected *in = &s->nodes[p->from].injected;
	struct sim_packet *copy;

	in->lost += fate->is_lost;
	if (fate->is_lost)
		return;
	in->duplicated += fate->copies;
	in->delayed += fate->delay_ns > 0;
	for (unsigned i = 0; i <= fate->copies; i++) {
		copy = packet_new(s, p);
		copy->order = s->order++;
		copy->at = s->now + s->opt.link_ns + (i == 0 ? fate->delay_ns : 0);
		if (fate->flip_bit && i == 0) {
			copy->data[(fate->flip_bit - 1) / 8] ^=
				(uint8_t)(1 << (fate->flip_bit - 1) % 8);
			copy->is_damaged = true;
			in->damaged++;
		}
		heap_push(s, copy);
	}
}

void sim_print(struct sim *s) { s->is_printing = true; }

static void print_packet(const struct sim *s, const struct sim_packet *p,
			 const struct sim_fate *fate)
{
	printf("# %12.6f %u>%u op %02x qp %06x psn %06x len %u%s", (double)s->now / 1e6, p->from,
	       p->to, p->data[0], vf_load_be24(p->data + 5), vf_load_be24(p->data + 9), p->len,
	       p->data[8] & 0x80 ? " A" : "");
	if (p->data[0] >= 13 && p->data[0] <= 18 && p->data[0] != 14)
		printf(" syndrome %02x", p->data[12]);
	if (p->data[0] == 12)
		printf(" read %u", vf_load_be32(p->data + 24));
	if (p->data[0] >= 0xc0)
		printf(" flags %u seq %u amount %llu", p->data[17], vf_load_be32(p->data + 20),
		       (unsigned long long)vf_load_be64(p->data + 32));
	printf("%s", fate->is_lost ? " LOST" : fate->copies ? " TWICE" : "");
	if (fate->delay_ns)
		printf(" LATE %.3f ms", (double)fate->delay_ns / 1e6);
	printf("%s\n", fate->flip_bit ? " DAMAGED" : "");
}

static void send_to(struct sim *s, struct sim_packet *p, unsigned to)
{
	struct sim_fate fate = {0};

	p->to = (uint8_t)to;
	p->order = s->order++;
	s->nodes[p->from].injected.sent++;
	note_packet(s, p);
	if (s->watch)
		s->watch(s->watch_arg, s, p, false);
	if (s->decide)
		s->decide(s->decide_arg, s, p, &fate);
	else
		decide_by_seed(s, p, &fate);
	if (s->is_printing)
		print_packet(s, p, &fate);
	launch(s, p, &fate);
}

void sim_send(struct sim *s, struct sim_packet *p)
{
	for (unsigned i = 0; i < s->address_count; i++) {
		if (memcmp(s->addresses[i].gid, p->dgid, 16) == 0) {
			send_to(s, p, s->addresses[i].node);
			return;
		}
	}
	for (unsigned i = 0; i < s->group_count; i++)
		if (memcmp(s->groups[i].gid, p->dgid, 16) == 0)
			send_to(s, p, s->groups[i].node);
}

void sim_kick(struct sim *s, unsigned node) { s->nodes[node].is_kicked = true; }

static uint64_t cost_of(const struct sim_packet *p) { return 2 * p->len + 1024; }

static void arrive(struct sim *s, struct sim_packet *p)
{
	struct node *n = &s->nodes[p->to];

	if (s->opt.buffer_cost && n->queue_cost + cost_of(p) > s->opt.buffer_cost) {
		s->nodes[p->from].injected.overflowed++;
		packet_free(s, p);
		return;
	}
	s->nodes[p->from].injected.arrived++;
	n->queue_cost += cost_of(p);
	push(&n->queue, &n->queued, &n->queue_max, p);
	if (n->take_at == VF_NSEC_NEVER)
		n->take_at = s->now + s->opt.wake_ns;
}

static void take_all(struct sim *s, struct node *n)
{
	n->take_at = VF_NSEC_NEVER;
	for (unsigned at = 0; at < n->queued; at += BATCH) {
		unsigned count = n->queued - at < BATCH ? n->queued - at : BATCH;

		if (s->watch)
			for (unsigned i = at; i < at + count; i++)
				s->watch(s->watch_arg, s, n->queue[i], true);
		n->ops->take(n->arg, s->now, n->queue + at, count);
	}
	while (n->queued)
		packet_free(s, n->queue[--n->queued]);
	n->queue_cost = 0;
}

static void run_node(struct sim *s, unsigned i)
{
	struct node *n = &s->nodes[i];

	n->spins = n->spin_at == s->now ? n->spins + 1 : 0;
	n->spin_at = s->now;
	if (n->spins > SPINS_MAX)
		sim_fail(s, "node %u spins: it has been run %d times without time passing", i,
			 SPINS_MAX);
	n->is_kicked = false;
	if (n->take_at <= s->now)
		take_all(s, n);
	n->ops->run(n->arg, s->now);
}

static vf_nsec node_time(const struct sim *s, const struct node *n)
{
	vf_nsec at = n->ops->when(n->arg);

	if (n->is_kicked || at < s->now)
		at = s->now;
	return at < n->take_at ? at : n->take_at;
}

bool sim_run(struct sim *s, vf_nsec until, bool (*is_done)(void *arg), void *arg)
{
	for (;;) {
		vf_nsec next = s->heaped ? s->heap[0]->at : VF_NSEC_NEVER;
		unsigned who = s->node_count;

		if (is_done && is_done(arg))
			return true;
		for (unsigned i = 0; i < s->node_count; i++) {
			vf_nsec at = node_time(s, &s->nodes[i]);

			if (at < next) {
				next = at;
				who = i;
			}
		}
		if (next == VF_NSEC_NEVER)
			return true;
		if (next > until)
			return false;
		if (next > s->now)
			s->now = next;
		if (who < s->node_count)
			run_node(s, who);
		else
			arrive(s, heap_pop(s));
	}
}

void sim_set_replay(struct sim *s, const char *line)
{
	snprintf(s->replay, sizeof(s->replay), "%s", line);
}

void sim_fail(const struct sim *s, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "# FAILED at %.6f ms, seed %llu: ", (double)s->now / 1e6,
		(unsigned long long)s->opt.seed);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	if (s->replay[0])
		fprintf(stderr, "# replay: %s\n", s->replay);
	exit(1);
}

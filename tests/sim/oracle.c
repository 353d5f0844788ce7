/* SPDX-License-Identifier: BSD-2-Clause */
/* The observer of RC connections: IBTA 9.2 (headers), 9.7.3 (requester), 9.7.5 (responder), seen
 * from the wire alone. */
#include "oracle.h"

#include "roce/roce.h"

enum kind { REQUEST, READ, ATOMIC, ACK, RESPONSE, OTHER };

struct seen {
	uint8_t opcode;
	enum kind kind;
	uint32_t qpn, psn, payload, syndrome, dma_len;
	bool has_next,
		has_previous; /* other packets of the same message must follow, came before */
};

/* Length of the extension headers after the BTH of an RC packet; -1 for what RC does not have. */
static int extension_len(uint8_t opcode)
{
	static const int8_t len[] = {/* SEND first, middle, last, last imm, only, only imm */
				     0, 0, 0, 4, 0, 4,
				     /* WRITE the same */
				     16, 0, 0, 4, 16, 20,
				     /* READ request; response first, middle, last, only; ACK;
					ATOMIC ACK; CMP_SWAP; FETCH_ADD */
				     16, 4, 0, 4, 4, 4, 12, 28, 28,
				     /* reserved; SEND last with invalidate, only with invalidate */
				     -1, 4, 4};

	return opcode < sizeof(len) ? len[opcode] : -1;
}

static enum kind kind_of(uint8_t opcode)
{
	if (opcode == 12)
		return READ;
	if (opcode == 19 || opcode == 20)
		return ATOMIC;
	if (opcode == 17)
		return ACK;
	return (opcode >= 13 && opcode <= 16) || opcode == 18 ? RESPONSE : REQUEST;
}

static bool in_set(uint8_t opcode, const char *set)
{
	for (; *set; set++)
		if (opcode == (uint8_t)(*set - 1))
			return true;
	return false;
}

/* Opcodes plus one: FIRST and MIDDLE; MIDDLE and LAST of sends, writes, read responses. */
#define HAS_NEXT     "\x01\x02\x07\x08\x0e\x0f"
#define HAS_PREVIOUS "\x02\x03\x04\x08\x09\x0a\x0f\x10\x17"

static void check_fields(struct sim *s, const struct sim_packet *p, int extension)
{
	const uint8_t *b = p->data;
	uint32_t pad = (uint32_t)b[1] >> 4 & 3;

	SIM_CHECK(s, (b[1] & 0x0f) == 0);			/* version */
	SIM_CHECK(s, vf_load_be16(b + 2) == 0xffff);		/* P_Key */
	SIM_CHECK(s, (b[4] & 0x3f) == 0 && (b[8] & 0x7f) == 0); /* reserved */
	SIM_CHECK(s, p->len % 4 == 0);
	SIM_CHECK(s, p->len >= 12 + (uint32_t)extension + pad + 4);
	for (uint32_t i = 0; i < pad; i++)
		SIM_CHECK(s, b[p->len - 5 - i] == 0);
}

/* False for a packet of another service, which is none of ours. */
static bool decode(struct sim *s, const struct sim_packet *p, struct seen *out)
{
	const uint8_t *b = p->data;
	int extension = p->len >= 16 ? extension_len(b[0]) : -1;

	if (extension < 0)
		return false;
	check_fields(s, p, extension);
	*out = (struct seen){
		.opcode = b[0],
		.kind = kind_of(b[0]),
		.qpn = vf_load_be24(b + 5),
		.psn = vf_load_be24(b + 9),
		.payload = p->len - 16 - (uint32_t)extension - ((uint32_t)b[1] >> 4 & 3),
		.has_next = in_set(b[0], HAS_NEXT),
		.has_previous = in_set(b[0], HAS_PREVIOUS),
	};
	if (out->kind == READ)
		out->dma_len = vf_load_be32(b + 24);
	if (out->kind == ACK || (out->kind == RESPONSE && b[0] != 14))
		out->syndrome = b[12];
	return true;
}

static void check_payload(struct sim *s, const struct oracle_lane *l, const struct seen *x)
{
	SIM_CHECK(s, x->payload <= l->mtu);
	if (x->has_next)
		SIM_CHECK(s, x->payload == l->mtu);
	else if (x->has_previous)
		SIM_CHECK(s, x->payload > 0);
	if (x->kind == READ || x->kind == ATOMIC || x->kind == ACK || x->opcode == 18)
		SIM_CHECK(s, x->payload == 0);
}

/* The position nearest to @near that has this PSN. */
static uint64_t position(const struct oracle_lane *l, uint32_t psn, uint64_t near)
{
	uint32_t ahead = (psn - l->psn - (uint32_t)near) & 0xffffff;

	if (ahead < 0x800000)
		return near + ahead;
	return near + ahead < 0x1000000 ? UINT64_MAX : near + ahead - 0x1000000;
}

static uint32_t packets_of(const struct oracle_lane *l, const struct seen *x)
{
	if (x->kind != READ || x->dma_len == 0)
		return 1;
	return (x->dma_len + l->mtu - 1) / l->mtu;
}

static void request_sent(struct sim *s, struct oracle *o, struct oracle_lane *l,
			 const struct seen *x)
{
	uint64_t at = position(l, x->psn, l->sent_end), end = at + packets_of(l, x);

	if (at == UINT64_MAX || at > l->sent_end)
		sim_fail(s, "PSN %#x leaves a gap after what was sent", x->psn);
	if (at < l->acked_end)
		sim_fail(s, "PSN %#x was acknowledged and is sent again (op %#x)", x->psn,
			 x->opcode);
	if (o->window && at - l->acked_end >= o->window)
		sim_fail(s, "PSN %#x is %llu packets ahead of the acknowledged", x->psn,
			 (unsigned long long)(at - l->acked_end));
	if (l->has_nak && l->wanted >= l->acked_end && at > l->wanted)
		sim_fail(s, "PSN %#x is sent though a NAK asks for one %llu before it", x->psn,
			 (unsigned long long)(at - l->wanted));
	l->has_nak = false;
	if (x->kind == READ || x->kind == ATOMIC) {
		if (at >= l->last_read_end) {
			unsigned i = (l->read_head + l->read_count++) % ORACLE_READS_MAX;

			SIM_CHECK(s, l->read_count <= ORACLE_READS_MAX);
			l->reads[i] = (struct oracle_read){.first = at, .end = end, .next = at};
			l->last_read_end = end;
		}
	}
	if (end > l->sent_end)
		l->sent_end = end;
}

static void request_arrived(struct oracle_lane *l, const struct seen *x)
{
	uint64_t at = position(l, x->psn, l->got_end);

	if (at == l->got_end)
		l->got_end += packets_of(l, x);
}

/* Everything before @end is acknowledged, but for reads and atomics whose data did not come. */
static void acknowledge(struct oracle_lane *l, uint64_t end)
{
	while (l->read_count) {
		struct oracle_read *r = &l->reads[l->read_head];

		if (r->next < r->end) {
			if (end > r->next)
				end = r->next;
			break;
		}
		l->read_head = (l->read_head + 1) % ORACLE_READS_MAX;
		l->read_count--;
	}
	if (end > l->acked_end)
		l->acked_end = end;
}

static void response_arrived(struct oracle_lane *l, const struct seen *x)
{
	uint64_t at = position(l, x->psn, l->acked_end);

	if (at == UINT64_MAX || at >= l->sent_end)
		return;
	for (unsigned i = 0; i < l->read_count; i++) {
		struct oracle_read *r = &l->reads[(l->read_head + i) % ORACLE_READS_MAX];

		/* A later one counts only once those before it are complete. */
		if (r->next == at)
			r->next++;
		if (r->next < r->end)
			break;
	}
	acknowledge(l, at + 1);
}

static void ack_sent(struct sim *s, const struct oracle_lane *l, const struct seen *x)
{
	uint64_t at = position(l, x->psn, l->got_end);

	if (x->kind == RESPONSE || (x->syndrome & 0xe0) == 0)
		SIM_CHECK(s, at != UINT64_MAX && at < l->got_end);
	else
		SIM_CHECK(s, at != UINT64_MAX && at <= l->got_end);
}

static void ack_arrived(struct oracle_lane *l, const struct seen *x)
{
	uint64_t at = position(l, x->psn, l->acked_end);

	if (at == UINT64_MAX || at >= l->sent_end)
		return;
	if (x->syndrome == 0x60 && at >= l->acked_end) {
		l->has_nak = true;
		l->wanted = at;
	}
	acknowledge(l, (x->syndrome & 0xe0) == 0 ? at + 1 : at);
}

static void request(struct sim *s, struct oracle *o, struct oracle_lane *l, const struct seen *x,
		    bool is_arrival)
{
	check_payload(s, l, x);
	if (is_arrival)
		request_arrived(l, x);
	else
		request_sent(s, o, l, x);
}

static void answer(struct sim *s, struct oracle_lane *l, const struct seen *x, bool is_arrival)
{
	check_payload(s, l, x);
	if (!is_arrival)
		ack_sent(s, l, x);
	else if (x->kind == ACK)
		ack_arrived(l, x);
	else
		response_arrived(l, x);
}

void oracle_add(struct oracle *o, const struct oracle_lane *lane) { o->lanes[o->count++] = *lane; }

void oracle_watch(void *arg, struct sim *s, const struct sim_packet *p, bool is_arrival)
{
	struct oracle *o = arg;
	struct seen x;

	if (p->is_damaged || !decode(s, p, &x))
		return;
	o->packets += !is_arrival;
	for (unsigned i = 0; i < o->count; i++) {
		struct oracle_lane *l = &o->lanes[i];
		bool is_answer = x.kind == ACK || x.kind == RESPONSE;

		if (!is_answer && p->from == l->from && p->to == l->to && x.qpn == l->responder_qpn)
			request(s, o, l, &x, is_arrival);
		if (is_answer && p->from == l->to && p->to == l->from && x.qpn == l->requester_qpn)
			answer(s, l, &x, is_arrival);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two ends of a measurement tell each other: bodies of 64 bytes, big-endian, unused bytes
 * zero. Names of operations and transports. */
#include <string.h>

#include "base/bytes.h"
#include "bench.h"

const char *vf_bench_op_name(enum vf_bench_op op)
{
	static const char *const names[VF_BENCH_OPS] = {"send", "write", "read", "atomic"};

	return names[op];
}

const char *vf_bench_transport_name(enum vf_bench_transport t)
{
	static const char *const names[VF_BENCH_TRANSPORTS] = {"RC", "UC", "UD"};

	return names[t];
}

const char *vf_bench_measure_name(enum vf_bench_measure m)
{
	return m == VF_BENCH_BANDWIDTH ? "bandwidth" : "latency";
}

bool vf_bench_is_possible(enum vf_bench_transport t, enum vf_bench_op op)
{
	static const bool table[VF_BENCH_TRANSPORTS][VF_BENCH_OPS] = {
		[VF_BENCH_RC] = {true, true, true, true},
		[VF_BENCH_UC] = {true, true, false, false},
		[VF_BENCH_UD] = {true, false, false, false}};

	return table[t][op];
}

void vf_bench_put_case(uint8_t body[64], const struct vf_bench_case *c)
{
	memset(body, 0, 64);
	body[0] = (uint8_t)c->transport;
	body[1] = (uint8_t)c->op;
	body[2] = (uint8_t)c->measure;
	body[3] = (uint8_t)(c->verify | c->events << 1);
	vf_store_be32(body + 4, c->size);
	vf_store_be32(body + 8, c->slots);
	vf_store_be32(body + 12, c->mtu);
	vf_store_be64(body + 16, c->count);
	vf_store_be64(body + 24, c->duration_ns);
	vf_store_be64(body + 32, c->interval_ns);
}

bool vf_bench_get_case(const uint8_t body[64], struct vf_bench_case *c, const char **why)
{
	memset(c, 0, sizeof(*c));
	*why = "unknown transport, operation or measure";
	if (body[0] >= VF_BENCH_TRANSPORTS || body[1] >= VF_BENCH_OPS ||
	    body[2] >= VF_BENCH_MEASURES)
		return false;
	c->transport = (enum vf_bench_transport)body[0];
	c->op = (enum vf_bench_op)body[1];
	c->measure = (enum vf_bench_measure)body[2];
	c->verify = body[3] & 1;
	c->events = body[3] >> 1 & 1;
	c->size = vf_load_be32(body + 4);
	c->slots = vf_load_be32(body + 8);
	c->mtu = vf_load_be32(body + 12);
	c->count = vf_load_be64(body + 16);
	c->duration_ns = vf_load_be64(body + 24);
	c->interval_ns = vf_load_be64(body + 32);
	*why = "the transport does not have the operation";
	if (!vf_bench_is_possible(c->transport, c->op))
		return false;
	*why = "size out of range";
	if (c->size < 1 || c->size > VF_BENCH_SIZE_MAX ||
	    (c->op == VF_BENCH_ATOMIC && c->size != 8))
		return false;
	*why = "number of messages in flight out of range";
	return c->slots >= 2 && c->slots <= VF_BENCH_SLOTS_MAX &&
	       (uint64_t)c->size * c->slots <= 2ull * VF_BENCH_SIZE_MAX;
}

void vf_bench_put_endpoint(uint8_t body[64], const struct vf_bench_endpoint *e)
{
	memset(body, 0, 64);
	vf_store_be32(body, e->qpn);
	vf_store_be32(body + 4, e->psn);
	vf_store_be32(body + 8, e->rkey);
	vf_store_be32(body + 12, e->mtu);
	vf_store_be32(body + 16, e->rd_atomic);
	vf_store_be32(body + 20, e->lid);
	vf_store_be64(body + 24, e->addr);
	memcpy(body + 32, e->gid.raw, 16);
}

bool vf_bench_get_endpoint(const uint8_t body[64], struct vf_bench_endpoint *e)
{
	memset(e, 0, sizeof(*e));
	e->qpn = vf_load_be32(body);
	e->psn = vf_load_be32(body + 4);
	e->rkey = vf_load_be32(body + 8);
	e->mtu = vf_load_be32(body + 12);
	e->rd_atomic = vf_load_be32(body + 16);
	e->lid = vf_load_be32(body + 20);
	e->addr = vf_load_be64(body + 24);
	memcpy(e->gid.raw, body + 32, 16);
	return e->qpn < 1u << 24 && e->psn < 1u << 24 && e->mtu >= 256 && e->mtu <= 4096 &&
	       (e->mtu & (e->mtu - 1)) == 0 && e->rd_atomic <= 255 && e->lid < 1u << 16;
}

void vf_bench_put_tally(uint8_t body[64], const struct vf_bench_tally *t)
{
	const uint64_t fields[8] = {t->messages, t->bytes,	t->span_ns, t->corrupt,
				    t->lost,	 t->duplicates, t->stalls,  t->counter};

	for (int i = 0; i < 8; i++)
		vf_store_be64(body + i * 8, fields[i]);
}

void vf_bench_get_tally(const uint8_t body[64], struct vf_bench_tally *t)
{
	t->messages = vf_load_be64(body);
	t->bytes = vf_load_be64(body + 8);
	t->span_ns = vf_load_be64(body + 16);
	t->corrupt = vf_load_be64(body + 24);
	t->lost = vf_load_be64(body + 32);
	t->duplicates = vf_load_be64(body + 40);
	t->stalls = vf_load_be64(body + 48);
	t->counter = vf_load_be64(body + 56);
}

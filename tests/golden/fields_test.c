/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Linux's rxe sent: each packet is read by the engine to the fields that a decoder of this
 * file's own finds, and is built again from those fields, byte for byte, with its ICRC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32.h"
#include "pcap.h"
#include "roce/icrc.h"
#include "roce/packet.h"
#include "roce/wire.h"

#define VECTORS 55
#define PACKETS 1442

static const char *folder;

struct tally {
	unsigned packets;
};

/* ---- fields, read with nothing of the engine's ---- */

struct fields {
	uint8_t syndrome;
	bool is_solicited, is_ack_req;
	uint32_t dest_qpn, psn, msn, src_qpn, qkey, rkey, dma_len, imm;
	uint64_t va, swap_add, compare, original;
	uint32_t header_len, pad;
};

static uint64_t big(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* Which headers follow the BTH, in order: D, R, T (AtomicETH), A (AETH), 8 (AtomicAckETH), I, V
 * (IETH). */
static const char *extensions_of(uint8_t opcode)
{
	static const char *const rc[] = {"",  "",  "",	 "I",  "",  "I",  "R", "",
					 "",  "I", "R",	 "RI", "R", "A",  "",  "A",
					 "A", "A", "A8", "T",  "T", NULL, "V", "V"};

	if (opcode >= 0x60)
		return opcode == 0x64 ? "D" : opcode == 0x65 ? "DI" : NULL;
	return (opcode & 31) < 24 && opcode < 0x40 ? rc[opcode & 31] : NULL;
}

static void read_extension(const uint8_t *p, char kind, struct fields *f)
{
	if (kind == 'D') {
		f->qkey = (uint32_t)big(p, 4);
		f->src_qpn = (uint32_t)big(p + 5, 3);
	} else if (kind == 'R' || kind == 'T') {
		f->va = big(p, 8);
		f->rkey = (uint32_t)big(p + 8, 4);
		if (kind == 'R')
			f->dma_len = (uint32_t)big(p + 12, 4);
	} else if (kind == 'A') {
		f->syndrome = p[0];
		f->msn = (uint32_t)big(p + 1, 3);
	} else if (kind == '8') {
		f->original = big(p, 8);
	} else if (kind == 'I') {
		memcpy(&f->imm, p, 4);
	} else if (kind == 'V') {
		f->imm = (uint32_t)big(p, 4);
	}
	if (kind == 'T') {
		f->swap_add = big(p + 12, 8);
		f->compare = big(p + 20, 8);
	}
}

static struct fields fields_of(const struct golden_packet *p)
{
	static const struct {
		char kind;
		uint8_t len;
	} lens[] = {{'D', 8}, {'R', 16}, {'T', 28}, {'A', 4}, {'8', 8}, {'I', 4}, {'V', 4}};
	const uint8_t *d = p->data;
	struct fields f = {.is_solicited = d[1] >> 7,
			   .is_ack_req = d[8] >> 7,
			   .dest_qpn = (uint32_t)big(d + 5, 3),
			   .psn = (uint32_t)big(d + 9, 3),
			   .header_len = 12,
			   .pad = (uint32_t)d[1] >> 4 & 3};
	const char *e = extensions_of(d[0]);

	for (assert_non_null(e); *e; e++) {
		read_extension(d + f.header_len, *e, &f);
		for (unsigned i = 0; i < VF_ARRAY_SIZE(lens); i++)
			f.header_len += lens[i].kind == *e ? lens[i].len : 0;
	}
	return f;
}

static bool parse(const struct golden_packet *p, struct vf_roce_rx *rx, struct vf_packet *out)
{
	enum vf_roce_drop why;

	*rx = (struct vf_roce_rx){.data = p->data, .len = p->len - 4, .hop_limit = p->hop_limit};
	memcpy(rx->sgid, p->sgid, 16);
	memcpy(rx->dgid, p->dgid, 16);
	return vf_packet_parse(rx, out, &why);
}

static void check_parse(void *arg, struct golden_file *file)
{
	struct tally *t = arg;

	for (unsigned i = 0; i < file->count; i++) {
		const struct golden_packet *p = &file->packets[i];
		struct fields f = fields_of(p);
		struct vf_packet got;
		struct vf_roce_rx rx;

		assert_true(parse(p, &rx, &got));
		assert_int_equal(got.opcode, p->data[0]);
		assert_int_equal(got.is_solicited, f.is_solicited);
		assert_int_equal(got.is_ack_req, f.is_ack_req);
		assert_int_equal(got.pkey, 0xffff);
		assert_int_equal(got.dest_qpn, f.dest_qpn);
		assert_int_equal(got.psn, f.psn);
		assert_int_equal(got.syndrome, f.syndrome);
		assert_int_equal(got.msn, f.msn);
		assert_int_equal(got.src_qpn, f.src_qpn);
		assert_int_equal(got.qkey, f.qkey);
		assert_int_equal(got.rkey, f.rkey);
		assert_int_equal(got.dma_len, f.dma_len);
		assert_int_equal(got.imm_or_rkey, f.imm);
		assert_true(got.va == f.va && got.original == f.original);
		assert_true(got.swap_add == f.swap_add && got.compare == f.compare);
		assert_ptr_equal(got.payload, p->data + f.header_len);
		assert_int_equal(got.payload_len, p->len - 4 - f.header_len - f.pad);
		t->packets++;
	}
}

static void every_packet_is_read_to_the_fields_that_it_has(void **state)
{
	struct tally t = {0};

	(void)state;
	assert_int_equal(golden_for_each(folder, check_parse, &t), VECTORS);
	assert_int_equal(t.packets, PACKETS);
}

/* ---- and built again ---- */

static void put_addresses(uint8_t *h, const struct vf_packet *p)
{
	const struct vf_opcode_info *op = p->op;

	if (op->reth_at) {
		vf_store_be64(h + op->reth_at + VF_RETH_VA, p->va);
		vf_store_be32(h + op->reth_at + VF_RETH_RKEY, p->rkey);
		vf_store_be32(h + op->reth_at + VF_RETH_DMA_LEN, p->dma_len);
	}
	if (op->atomic_at) {
		vf_store_be64(h + op->atomic_at + VF_ATOMIC_VA, p->va);
		vf_store_be32(h + op->atomic_at + VF_ATOMIC_RKEY, p->rkey);
		vf_store_be64(h + op->atomic_at + VF_ATOMIC_SWAP_ADD, p->swap_add);
		vf_store_be64(h + op->atomic_at + VF_ATOMIC_COMPARE, p->compare);
	}
}

static void put_extensions(uint8_t *h, const struct vf_packet *p)
{
	const struct vf_opcode_info *op = p->op;

	put_addresses(h, p);
	if (op->deth_at) {
		vf_store_be32(h + op->deth_at + VF_DETH_QKEY, p->qkey);
		vf_store_be24(h + op->deth_at + VF_DETH_SRC_QPN, p->src_qpn);
	}
	if (op->aeth_at) {
		h[op->aeth_at + VF_AETH_SYNDROME] = p->syndrome;
		vf_store_be24(h + op->aeth_at + VF_AETH_MSN, p->msn);
	}
	if (op->atomic_ack_at)
		vf_store_be64(h + op->atomic_ack_at, p->original);
	if (op->imm_at)
		memcpy(h + op->imm_at, &p->imm_or_rkey, 4);
	if (op->ieth_at)
		vf_store_be32(h + op->ieth_at, p->imm_or_rkey);
}

static uint32_t rebuild(const struct golden_packet *p, const struct vf_packet *from, uint8_t *out)
{
	struct vf_icrc_ip ip = {
		.sgid = p->sgid,
		.dgid = p->dgid,
		.sport = p->sport,
		.dport = p->dport,
		.udp_len = p->udp_len,
		.ip_id = p->ip_id,
		.is_dont_fragment = true,
	};
	struct vf_packet_start start = {
		.opcode = from->opcode,
		.is_solicited = from->is_solicited,
		.is_ack_req = from->is_ack_req,
		.dest_qpn = from->dest_qpn,
		.psn = from->psn,
		.payload_len = from->payload_len,
	};
	struct vf_roce_tx tx = {0};
	uint32_t len;

	vf_packet_start(&tx, &start);
	put_extensions(tx.headers, from);
	memcpy(out, tx.headers, tx.header_len);
	memcpy(out + tx.header_len, from->payload, from->payload_len);
	len = tx.header_len + from->payload_len + tx.pad_len;
	vf_store_le32(out + len, vf_crc32(vf_icrc_start(&ip, out), out + 12, len - 12));
	return len + 4;
}

static void check_rebuild(void *arg, struct golden_file *file)
{
	struct tally *t = arg;

	for (unsigned i = 0; i < file->count; i++) {
		const struct golden_packet *p = &file->packets[i];
		uint8_t built[GOLDEN_DATA_MAX] = {0};
		struct vf_packet got;
		struct vf_roce_rx rx;

		assert_true(parse(p, &rx, &got));
		assert_int_equal(rebuild(p, &got, built), p->len);
		assert_memory_equal(built, p->data, p->len);
		t->packets++;
	}
}

static void every_packet_is_built_again_byte_for_byte_with_its_icrc(void **state)
{
	struct tally t = {0};

	(void)state;
	assert_int_equal(golden_for_each(folder, check_rebuild, &t), VECTORS);
	assert_int_equal(t.packets, PACKETS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_is_read_to_the_fields_that_it_has),
		cmocka_unit_test(every_packet_is_built_again_byte_for_byte_with_its_icrc),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: fields_test FOLDER\n");
		return 2;
	}
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

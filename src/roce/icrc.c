/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The invariant CRC (IBTA A17.3.3), computed and checked.
 *
 * Checking over IPv4: the CRC covers the identification field, which a UDP socket does not show. A
 * CRC is linear, so the CRC of a packet with some ID differs from that of the same packet with ID 0
 * by
 *
 *     D = (ID's two bytes, first in bits 0 to 7) * x^(8n)   modulo the CRC's polynomial
 *
 * where n is the number of bytes from the ID to the end of what is covered. So D * x^(-8n) is the
 * ID when the packet is right: its upper 16 bits are then zero, which is the check that remains.
 * The powers x^(-8n) come from two small tables (n = 64 * block + byte); both are what icrc_test.c
 * computes anew, bit by bit.
 */
#include "roce/icrc.h"

#include "base/crc32.h"

#define POLYNOMIAL   0xedb88320u
#define UDP_PROTOCOL 17
#define PSEUDO_MAX   (8 + 40 + 8 + 12)
/* Bytes that the CRC covers from the IPv4 ID to the end of the UDP header. */
#define FROM_ID_TO_BTH (16 + 8)
#define BTH_LEN	       12u
#define ICRC_LEN       4u

static const uint32_t undo_bytes[64] = {
	0x80000000, 0x6567cb95, 0xd7125358, 0x1f81b6e1, 0x5b358fd3, 0xeb21cebf, 0x2ff880c5,
	0x97fc423c, 0x2e9bb40b, 0x2fb98a7d, 0xd6f6fa3c, 0x2059d4a0, 0x36511375, 0x525983aa,
	0x31619cb3, 0x0f125cae, 0x12a59a49, 0x12731959, 0xc4f00959, 0x9143e1f9, 0x278d6e4e,
	0x8f2fe471, 0x4a7a8edc, 0xa52b9d64, 0x21280f27, 0x9cfb9234, 0xf2949dc4, 0xf69d8a53,
	0x24ac08d5, 0x18ab73f3, 0x1c3484d7, 0x58e5b551, 0x8df9403d, 0xf14dc81f, 0x992a5dd1,
	0x230c6b03, 0xd50cbcf7, 0x6cfd1322, 0xfb86cf54, 0x5283315f, 0xebd369b3, 0xdd5f8cc5,
	0x52f00c6f, 0x98ee59b3, 0x3c790f42, 0x7aeb9324, 0x81c98c8b, 0x779a46d4, 0x9d764201,
	0xa435ae85, 0xe46ae866, 0x64276d8c, 0x4cc54c19, 0xac5c4721, 0xe0be612b, 0x6b88350a,
	0xe364fe50, 0x07f54288, 0x98869104, 0x54b1b842, 0x6fef6bf6, 0x5f1c17d6, 0x199fde39,
	0xf3e84896,
};
static const uint32_t undo_blocks[128] = {
	0x80000000, 0x5139de12, 0xba340226, 0xfb844d1f, 0x29c45641, 0xa6c0c5ab, 0x2c87538c,
	0x418e4cb6, 0x12fbc105, 0x9ca45ac2, 0x948e59af, 0xcd8e37c6, 0x8b712bc1, 0x036e7dcf,
	0x3c4f050e, 0x256d5bfe, 0xecd30c55, 0xdb465360, 0xb856ae08, 0x5ea6c0c7, 0x930588dc,
	0x1e274fb3, 0x93e27f2f, 0x41fb3e30, 0x3c4c471a, 0x6f45b935, 0xbc2e9b14, 0xb1f343dd,
	0x25cd5760, 0x80110200, 0x401ef0db, 0xe6c21565, 0x3755ebd8, 0xf9ef28fd, 0xbb5b9e1e,
	0xd33d06eb, 0xe264a9e0, 0x313f1c27, 0xe28939fa, 0x4ae60554, 0xc3a68b42, 0x0e1ebc4a,
	0xee3102b3, 0x7b781b08, 0x219c9d64, 0xdaa3daa6, 0xab9ef0a3, 0xe3d3f183, 0x75cc86fa,
	0x7ad033af, 0x2bde52b6, 0x83fbfe70, 0xebcce135, 0xb576d013, 0x761d3ac8, 0x38a097ef,
	0x84773a36, 0xce72ae8f, 0x48d9880a, 0xacd115de, 0x4e1b970f, 0x98b18139, 0xddf1f7e9,
	0x39484642, 0x24ee460c, 0xeafc4a74, 0xac57b1eb, 0x979ac8a0, 0x64b913e3, 0xe57744ac,
	0xaad8fe8f, 0xb4463d86, 0x95b5d523, 0x11043b67, 0x8b97c98d, 0x73b7acc5, 0xbd6ad537,
	0x5ba61662, 0x1cc1d3b8, 0xad0824b3, 0x712715c6, 0x171df48f, 0xb3620c4b, 0xe7252b96,
	0xe36efe38, 0xd45b9fd8, 0xe8b18d56, 0xfbbc4c9e, 0x01e906a1, 0x5e839893, 0xe3aa9564,
	0xd509784b, 0x3e126202, 0x81d2d955, 0x22b7719a, 0x4a058db0, 0x66c5cb48, 0x58f8487d,
	0xfd4210cd, 0x05b2777b, 0x9c1770c3, 0x9f8fd944, 0xe50d15ab, 0xb61da88e, 0x451d0b9b,
	0x0a8ad7c7, 0xdec3dce6, 0xec52fed8, 0x0d8612a4, 0x5a95f66d, 0x93e0539d, 0x62f252ce,
	0xfbbed370, 0x54731774, 0xe6f6f51a, 0x581d04ba, 0xde56273d, 0x2e877577, 0x933f3dea,
	0xd3109ce2, 0x6ea3d5cf, 0xb29cab65, 0x17c990c6, 0xcc35488f, 0x6bf15eb4, 0xa13e23be,
	0x9148c0ed, 0x061afea1,
};

#define BLOCK	 VF_ARRAY_SIZE(undo_bytes)
#define UNDO_MAX (BLOCK * VF_ARRAY_SIZE(undo_blocks) - 1)

static uint8_t *put_ipv4(uint8_t *p, const struct vf_icrc_ip *ip)
{
	memset(p, 0xff, 20);
	p[0] = 0x45;
	vf_store_be16(p + 2, (uint16_t)(20 + ip->udp_len));
	vf_store_be16(p + 4, ip->ip_id);
	vf_store_be16(p + 6, ip->is_dont_fragment ? 0x4000 : 0);
	p[9] = UDP_PROTOCOL;
	memcpy(p + 12, ip->sgid + 12, 4);
	memcpy(p + 16, ip->dgid + 12, 4);
	return p + 20;
}

static uint8_t *put_ipv6(uint8_t *p, const struct vf_icrc_ip *ip)
{
	memset(p, 0xff, 8);
	p[0] = 0x6f;
	vf_store_be16(p + 4, ip->udp_len);
	p[6] = UDP_PROTOCOL;
	memcpy(p + 8, ip->sgid, 16);
	memcpy(p + 24, ip->dgid, 16);
	return p + 40;
}

static bool is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

uint32_t vf_icrc_start(const struct vf_icrc_ip *ip, const uint8_t bth[12])
{
	uint8_t pseudo[PSEUDO_MAX];
	uint8_t *p = pseudo;

	memset(p, 0xff, 8);
	p += 8;
	p = is_ipv4(ip->dgid) ? put_ipv4(p, ip) : put_ipv6(p, ip);
	vf_store_be16(p, ip->sport);
	vf_store_be16(p + 2, ip->dport);
	vf_store_be16(p + 4, ip->udp_len);
	vf_store_be16(p + 6, 0xffff);
	p += 8;
	memcpy(p, bth, BTH_LEN);
	p[4] = 0xff;
	return vf_crc32(0, pseudo, (size_t)(p + BTH_LEN - pseudo));
}

/* Product of two polynomials modulo the CRC's, bit 31 being x^0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (int i = 0; i < 32; i++) {
		product ^= (0u - (a >> 31)) & b;
		a <<= 1;
		b = b >> 1 ^ ((0u - (b & 1)) & POLYNOMIAL);
	}
	return product;
}

static uint32_t undo_factor(uint32_t count, struct vf_icrc_hint *hint)
{
	uint32_t factor;

	if (hint && hint->undo_count == count)
		return hint->undo_factor;
	factor = multiply(undo_blocks[count / BLOCK], undo_bytes[count % BLOCK]);
	if (hint) {
		hint->undo_count = count;
		hint->undo_factor = factor;
	}
	return factor;
}

bool vf_icrc_is_valid(const struct vf_icrc_ip *ip, const uint8_t *data, uint32_t len,
		      struct vf_icrc_hint *hint)
{
	struct vf_icrc_ip zero_id = *ip;
	uint32_t crc, difference, id, count = FROM_ID_TO_BTH + len - ICRC_LEN;

	if (len < BTH_LEN + ICRC_LEN || len > UNDO_MAX - FROM_ID_TO_BTH)
		return false;
	zero_id.ip_id = 0;
	zero_id.is_dont_fragment = true;
	crc = vf_icrc_start(&zero_id, data);
	crc = vf_crc32(crc, data + BTH_LEN, len - BTH_LEN - ICRC_LEN);
	difference = crc ^ vf_load_le32(data + len - ICRC_LEN);
	if (difference == 0 || !is_ipv4(ip->dgid))
		return difference == 0;
	id = multiply(difference, undo_factor(count, hint));
	if (id > 0xffff)
		return false;
	if (hint)
		hint->last_id = vf_bswap16((uint16_t)id);
	return true;
}

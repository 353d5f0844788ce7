/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_ICRC_H
#define VF_ROCE_ICRC_H
/*
 * The invariant CRC of RoCEv2 (IBTA annex A17.3.3; facts: CRC-32 over eight bytes of ones, IP and UDP header with the
 * changeable fields as ones, BTH with byte 4 as ones, everything to the end of the pad), least significant byte first on the wire.
 * What a plain UDP socket does not show (IPv4 identification) is tried and solved for on receipt.
 */
#include "roce/roce.h"

/* The pseudo header's inputs. udp_len is the UDP length field (8 + BTH to ICRC). */
struct vf_icrc_ip {
	const uint8_t *sgid, *dgid; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t sport, dport;
	uint16_t udp_len;
	uint16_t ip_id;	     /* IPv4 */
	bool is_dont_fragment; /* IPv4 */
};

/** CRC state after the pseudo headers and the masked BTH (@bth: 12 bytes); go on with vf_crc32 over what follows the BTH. */
uint32_t vf_icrc_start(const struct vf_icrc_ip *ip, const uint8_t bth[12]);

/** What checking one peer's packets leaves for the next check; zero it at the start. May be shared by peers. */
struct vf_icrc_hint {
	uint32_t undo_count, undo_factor; /* of the packet length seen last: saves half of the solving */
	uint16_t last_id;		  /* IPv4 ID solved for last, for those who look */
};

/**
 * Checks a received packet: @data is the UDP payload (BTH to ICRC), @len its length, ip->ip_id and is_dont_fragment are ignored.
 * IPv6: exact. IPv4: true when the CRC is right for DF set and some ID (0 costs nothing; any other is solved for, about 50 ns,
 * and leaves 16 of the 32 bits as the check). @hint may be NULL. False for what is no RoCE packet by its length (under 16, over 8 KiB).
 */
bool vf_icrc_is_valid(const struct vf_icrc_ip *ip, const uint8_t *data, uint32_t len,
		      struct vf_icrc_hint *hint);

#endif

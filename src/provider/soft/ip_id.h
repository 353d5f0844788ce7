/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_IP_ID_H
#define VF_PROVIDER_SOFT_IP_ID_H
/*
 * Which IPv4 identifications a peer uses. The ICRC covers that field, a socket does not show it, so
 * it is solved for (icrc.h), which leaves 16 of the 32 bits as a check. A peer that has used none
 * but small ones (Verbifrost numbers the segments of one send) is held to that: 26 bits. Peers that
 * count, or do as they like, are taken as they are.
 */
#include <stdbool.h>
#include <stdint.h>

struct vf_ip_ids {
	struct vf_ip_id_peer {
		uint8_t sgid[16], dgid[16];
		uint8_t small;	  /* packets with a small one, up to "enough" */
		uint8_t suspects; /* others since */
		bool is_any;
	} peer[64];
};

/** A packet whose ICRC is right for @id has come: is it to be believed? Zero the whole at the
 * start. */
bool vf_ip_id_is_plausible(struct vf_ip_ids *ids, const uint8_t sgid[16], const uint8_t dgid[16],
			   uint16_t id);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IPv4 identifications, for each pair of addresses.
 *
 *   new --16 small ones--> small --2 others--> any
 *   new --another--> any
 *
 * In "small" the first other one is disbelieved: a damaged packet passes the check once in 65536
 * times. The second is believed: the peer has been replaced by another kind.
 */
#include "provider/soft/ip_id.h"

#include <string.h>

#include "base/bytes.h"

enum { SMALL_BELOW = 64, ENOUGH = 16, SUSPECTS_MAX = 2 };

static struct vf_ip_id_peer *find(struct vf_ip_ids *ids, const uint8_t *sgid, const uint8_t *dgid)
{
	unsigned at = (sgid[15] * 5u + sgid[14] * 3u + dgid[15]) % VF_ARRAY_SIZE(ids->peer);
	struct vf_ip_id_peer *p = &ids->peer[at];

	if (memcmp(p->sgid, sgid, 16) != 0 || memcmp(p->dgid, dgid, 16) != 0) {
		memset(p, 0,
		       sizeof(*p)); /* whoever had the place starts anew when it comes again */
		memcpy(p->sgid, sgid, 16);
		memcpy(p->dgid, dgid, 16);
	}
	return p;
}

bool vf_ip_id_is_plausible(struct vf_ip_ids *ids, const uint8_t sgid[16], const uint8_t dgid[16],
			   uint16_t id)
{
	struct vf_ip_id_peer *p = find(ids, sgid, dgid);

	if (p->is_any)
		return true;
	if (id < SMALL_BELOW) {
		if (p->small < ENOUGH)
			p->small++;
		return true;
	}
	if (p->small < ENOUGH || ++p->suspects >= SUSPECTS_MAX) {
		p->is_any = true;
		return true;
	}
	return false;
}

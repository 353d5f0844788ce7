/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which address stands at which index. Programs in the field depend on the order: 0 is the link-local IPv6 address, 1 the first
 * IPv4 address, then the others as they come.
 *
 *   FREE ── link-local wanted, none there ──> MADE ── a real one comes ──> LIVE
 *   FREE ── address comes ──> LIVE <── goes, comes back ──> GONE
 *   prohibited: LIVE to another address. GONE is given to another only when no slot is FREE.
 */
#include "provider/soft/gid_table.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "roce/roce.h"

#define LINK_LOCAL_AT 0
#define IPV4_AT 1
#define OTHERS_AT 2

bool gid_is_zero(const uint8_t gid[16])
{
	static const uint8_t zero[16];

	return memcmp(gid, zero, 16) == 0;
}

bool gid_is_multicast(const uint8_t gid[16])
{
	return vf_roce_gid_is_ipv4(gid) ? (gid[12] & 0xf0) == 0xe0 : gid[0] == 0xff;
}

bool gid_is_link_local(const uint8_t gid[16])
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

void gid_make_link_local(uint64_t guid, uint8_t out[16])
{
	memset(out, 0, 8);
	out[0] = 0xfe;
	out[1] = 0x80;
	vf_store_be64(out + 8, guid);
}

void gid_format(const uint8_t gid[16], char out[48])
{
	if (vf_roce_gid_is_ipv4(gid))
		inet_ntop(AF_INET, gid + 12, out, 48);
	else
		inet_ntop(AF_INET6, gid, out, 48);
}

bool gid_table_has(const struct gid_table *t, int index)
{
	if (index < 0 || index >= GID_TABLE_LEN)
		return false;
	return t->slot[index].state == GID_LIVE || t->slot[index].state == GID_MADE;
}

static int slot_of(const struct gid_table *t, const uint8_t gid[16])
{
	for (int i = 0; i < GID_TABLE_LEN; i++)
		if (t->slot[i].state != GID_FREE && memcmp(t->slot[i].gid, gid, 16) == 0)
			return i;
	return -1;
}

int gid_table_find(const struct gid_table *t, const uint8_t gid[16])
{
	int i = slot_of(t, gid);

	return gid_table_has(t, i) ? i : -1;
}

const uint8_t *gid_table_real(const struct gid_table *t, const uint8_t gid[16])
{
	const uint8_t *ipv4 = NULL;
	int i = slot_of(t, gid);

	if (i < 0 || t->slot[i].state != GID_MADE)
		return gid;
	for (i = 0; i < GID_TABLE_LEN; i++) {
		const struct gid_slot *s = &t->slot[i];

		if (s->state != GID_LIVE)
			continue;
		if (!vf_roce_gid_is_ipv4(s->gid))
			return s->gid; /* of the made one's own family */
		if (!ipv4)
			ipv4 = s->gid;
	}
	return ipv4;
}

void gid_table_indexes(const struct gid_table *t, char *out, size_t len)
{
	size_t at = 0;

	out[0] = 0;
	for (int i = 0; i < GID_TABLE_LEN && at + 8 < len; i++)
		if (gid_table_has(t, i))
			at += (size_t)snprintf(out + at, len - at, "%s%d", at ? ", " : "", i);
	if (at == 0)
		snprintf(out, len, "none");
}

static bool is_on(const struct vf_os_if *itf, const uint8_t gid[16])
{
	for (unsigned i = 0; i < itf->addr_count; i++)
		if (!itf->addr[i].is_tentative && memcmp(itf->addr[i].gid, gid, 16) == 0)
			return true;
	return false;
}

/* Slots whose address went or came back. */
static bool refresh(struct gid_table *t, const struct vf_os_if *itf)
{
	bool is_changed = false;

	for (int i = 0; i < GID_TABLE_LEN; i++) {
		struct gid_slot *s = &t->slot[i];
		enum gid_slot_state now = s->state;

		if (s->state == GID_LIVE && !is_on(itf, s->gid))
			now = GID_GONE;
		else if ((s->state == GID_GONE || s->state == GID_MADE) && is_on(itf, s->gid))
			now = GID_LIVE;
		is_changed |= now != s->state && s->state != GID_MADE;
		s->state = now;
	}
	return is_changed;
}

static struct gid_slot *place_for(struct gid_table *t, const uint8_t gid[16])
{
	struct gid_slot *gone = NULL;

	if (gid_is_link_local(gid) && t->slot[LINK_LOCAL_AT].state <= GID_MADE)
		return &t->slot[LINK_LOCAL_AT];
	if (vf_roce_gid_is_ipv4(gid) && t->slot[IPV4_AT].state == GID_FREE)
		return &t->slot[IPV4_AT];
	for (int i = OTHERS_AT; i < GID_TABLE_LEN; i++) {
		if (t->slot[i].state == GID_FREE)
			return &t->slot[i];
		if (t->slot[i].state == GID_GONE && !gone)
			gone = &t->slot[i];
	}
	return gone;
}

static void put(struct gid_slot *s, const uint8_t gid[16], enum gid_slot_state state)
{
	memcpy(s->gid, gid, 16);
	s->state = state;
}

/* A link-local address that is not usable yet will be soon: its place is kept. */
static bool has_link_local(const struct vf_os_if *itf)
{
	for (unsigned i = 0; i < itf->addr_count; i++)
		if (gid_is_link_local(itf->addr[i].gid))
			return true;
	return false;
}

bool gid_table_update(struct gid_table *t, const struct vf_os_if *itf, const uint8_t made[16])
{
	bool is_changed = refresh(t, itf);

	for (unsigned i = 0; i < itf->addr_count; i++) {
		const struct vf_os_if_addr *a = &itf->addr[i];
		struct gid_slot *s;

		if (a->is_tentative || slot_of(t, a->gid) >= 0)
			continue;
		s = place_for(t, a->gid);
		if (s) {
			put(s, a->gid, GID_LIVE);
			is_changed = true;
		}
	}
	if (!t->is_started && t->slot[LINK_LOCAL_AT].state == GID_FREE && !has_link_local(itf)) {
		put(&t->slot[LINK_LOCAL_AT], made, GID_MADE);
		is_changed = true;
	}
	t->is_started = true;
	return is_changed;
}

bool gid_table_clear(struct gid_table *t)
{
	bool is_changed = false;

	for (int i = 0; i < GID_TABLE_LEN; i++)
		if (t->slot[i].state == GID_LIVE) {
			t->slot[i].state = GID_GONE;
			is_changed = true;
		}
	return is_changed;
}

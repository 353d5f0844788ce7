/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_GID_TABLE_H
#define VF_PROVIDER_SOFT_GID_TABLE_H
/*
 * The GID table of one soft device. Pure data: given what an interface has now, which slots hold what. A slot that has held an
 * address holds it, or nothing, until the table has no other place left.
 */
#include <stdbool.h>
#include <stdint.h>

#include "os/os.h"

#define GID_TABLE_LEN 128

struct gid_slot {
	uint8_t gid[16];
	enum gid_slot_state {
		GID_FREE, /* never used */
		GID_MADE, /* the link-local GID made from the MAC, which the interface does not have */
		GID_LIVE, /* an address of the interface */
		GID_GONE, /* kept for an address that the interface had */
	} state;
};

struct gid_table {
	struct gid_slot slot[GID_TABLE_LEN];
	bool is_started; /* it has been brought up to date once */
};

/** Brings the table up to date with @itf; @made is the link-local GID for an interface without one. True when something changed. */
bool gid_table_update(struct gid_table *t, const struct vf_os_if *itf, const uint8_t made[16]);
/** The interface is gone: every address is. */
bool gid_table_clear(struct gid_table *t);
/** Is there a GID at @index? */
bool gid_table_has(const struct gid_table *t, int index);
/** Index of @gid, -1 when it is not there. */
int gid_table_find(const struct gid_table *t, const uint8_t gid[16]);
/**
 * The address that goes on the wire for @gid: itself, unless it is this table's made GID, which stands for the first real address. NULL:
 * the interface has none.
 */
const uint8_t *gid_table_real(const struct gid_table *t, const uint8_t gid[16]);
/** "0, 1, 4", for messages. */
void gid_table_indexes(const struct gid_table *t, char *out, size_t len);

/** fe80::/64 and the EUI-64 of the device. */
void gid_make_link_local(uint64_t guid, uint8_t out[16]);
/** As people write addresses: 192.0.2.1, fe80::1. Fits in 48 bytes. */
void gid_format(const uint8_t gid[16], char out[48]);
bool gid_is_zero(const uint8_t gid[16]);
bool gid_is_multicast(const uint8_t gid[16]);
bool gid_is_link_local(const uint8_t gid[16]);

#endif

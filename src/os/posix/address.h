/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_POSIX_ADDRESS_H
#define VF_OS_POSIX_ADDRESS_H
/* Addresses in GID form, as the rest of the library has them: IPv4 is ::ffff:a.b.c.d. */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool gid_is_v4(const uint8_t g[16])
{
	static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	return memcmp(g, prefix, sizeof(prefix)) == 0;
}

static inline bool gid_is_zero(const uint8_t g[16])
{
	static const uint8_t zero[16];
	return memcmp(g, zero, sizeof(zero)) == 0;
}

static inline void gid_from_v4(uint8_t g[16], const void *four)
{
	memset(g, 0, 10);
	g[10] = g[11] = 0xff;
	memcpy(g + 12, four, 4);
}

static inline bool gid_is_link_local(const uint8_t g[16])
{
	if (gid_is_v4(g))
		return g[12] == 169 && g[13] == 254;
	return g[0] == 0xfe && (g[1] & 0xc0) == 0x80;
}

static inline bool gid_is_multicast(const uint8_t g[16])
{
	return gid_is_v4(g) ? (g[12] & 0xf0) == 0xe0 : g[0] == 0xff;
}

#endif

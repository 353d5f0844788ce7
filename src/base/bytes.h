/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_BYTES_H
#define VF_BASE_BYTES_H
/*
 * Loads and stores of big-endian and little-endian integers at any alignment, and compile-time checks of layouts.
 * Each is one load or store and at most one byte swap on the compilers we use; a 24-bit field is read as three bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** A point on, or a span of, the clock that the caller chose, in nanoseconds. */
typedef uint64_t vf_nsec;
#define VF_NSEC_NEVER UINT64_MAX
#define VF_USEC ((vf_nsec)1000)
#define VF_MSEC ((vf_nsec)1000000)
#define VF_SEC ((vf_nsec)1000000000)

#define VF_CHECK_SIZE(type, n) _Static_assert(sizeof(type) == (n), "size of " #type)
#define VF_CHECK_AT(type, member, at) \
	_Static_assert(offsetof(type, member) == (at), "offset of " #type "." #member)
#define VF_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define VF_CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

static inline uint16_t vf_bswap16(uint16_t v) { return (uint16_t)(v << 8 | v >> 8); }
static inline uint32_t vf_bswap32(uint32_t v) { return __builtin_bswap32(v); }
static inline uint64_t vf_bswap64(uint64_t v) { return __builtin_bswap64(v); }

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define VF_BE(bits, v) vf_bswap##bits(v)
#define VF_LE(bits, v) (v)
#else
#define VF_BE(bits, v) (v)
#define VF_LE(bits, v) vf_bswap##bits(v)
#endif

static inline uint16_t vf_load_be16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return VF_BE(16, v);
}

static inline uint32_t vf_load_be24(const void *p)
{
	const uint8_t *b = p;
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t vf_load_be32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return VF_BE(32, v);
}

static inline uint64_t vf_load_be64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return VF_BE(64, v);
}

static inline uint32_t vf_load_le32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return VF_LE(32, v);
}

static inline void vf_store_be16(void *p, uint16_t v)
{
	v = VF_BE(16, v);
	memcpy(p, &v, sizeof(v));
}

static inline void vf_store_be24(void *p, uint32_t v)
{
	uint8_t *b = p;
	b[0] = (uint8_t)(v >> 16);
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)v;
}

static inline void vf_store_be32(void *p, uint32_t v)
{
	v = VF_BE(32, v);
	memcpy(p, &v, sizeof(v));
}

static inline void vf_store_be64(void *p, uint64_t v)
{
	v = VF_BE(64, v);
	memcpy(p, &v, sizeof(v));
}

static inline void vf_store_le32(void *p, uint32_t v)
{
	v = VF_LE(32, v);
	memcpy(p, &v, sizeof(v));
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H
/*
 * Byte order of 64-bit numbers, for programs that were written before systems had it. New ones use
 * <endian.h>.
 */
#include <stdint.h>

#ifndef ntohll
static inline uint64_t _verbs_swap64_if_little(uint64_t x)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(x) : x;
}
#define htonll(x) _verbs_swap64_if_little(x)
#define ntohll(x) _verbs_swap64_if_little(x)
#endif

#endif

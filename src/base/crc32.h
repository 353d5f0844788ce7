/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_CRC32_H
#define VF_BASE_CRC32_H
/* CRC-32 of Ethernet (reflected, polynomial 0x04c11db7), as zlib and the InfiniBand invariant CRC have it. */
#include <stddef.h>
#include <stdint.h>

/** Goes on from @crc (0 at the start) over @len bytes; the result is finished (inverted) and may be continued. */
uint32_t vf_crc32(uint32_t crc, const void *p, size_t len);

#endif

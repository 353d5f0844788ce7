/* SPDX-License-Identifier: BSD-2-Clause */
/* The one place that names the CRC library. */
#include "base/crc32.h"

#include <libdeflate.h>

uint32_t vf_crc32(uint32_t crc, const void *p, size_t len) { return libdeflate_crc32(crc, p, len); }

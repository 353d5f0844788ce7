/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef INFINIBAND_VERBS_PLATFORM_H
#define INFINIBAND_VERBS_PLATFORM_H
/*
 * The fixed-width and big-endian type names that verbs programs use. Linux has them in its kernel
 * headers; other systems get plain integers of the same size.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#if defined(__has_include)
#if __has_include(<linux/types.h>)
#define VERBS_HAVE_KERNEL_TYPES 1
#endif
#endif

#ifdef VERBS_HAVE_KERNEL_TYPES
#include <linux/types.h>
#else
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;
#ifndef __aligned_u64
#define __aligned_u64 __u64 __attribute__((aligned(8)))
#endif
#endif

#endif

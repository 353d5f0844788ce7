/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_MEMORY_GUARD_H
#define VF_MEMORY_GUARD_H
/*
 * Access to memory that may be gone. Nothing pins registered memory: the program may unmap it, protect it, or truncate
 * the file behind it at any moment, also while it is being read here. Each function works on the whole range, or says -EFAULT (what was
 * copied by then is undefined) and leaves the program running.
 *
 * Any thread. No function allocates or locks. Not from signal handlers.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Puts the fault handler in place (SIGSEGV, SIGBUS), in front of what the program has; again and again is harmless. When the program has
 * installed a handler of its own since, ours goes in front of that one. Costs two system calls, so: at device open, at
 * registration, and now and then while packets flow. 0 or -errno.
 */
int vf_guard_install(void);
/** Gives the program's handlers back, if ours is still the one in place. */
void vf_guard_remove(void);

/** CRC-32 as vf_crc32, of memory that may be gone: 0 and *crc gone on with, or -EFAULT and *crc as it was. */
int vf_guard_crc32(uint32_t *crc, const void *p, size_t len);
/** Either side may be gone. */
int vf_guard_copy(void *dst, const void *src, size_t len);
/** Copies and goes on with *crc over what arrived in @dst, which must be private to the caller. */
int vf_guard_copy_crc32(uint32_t *crc, void *dst, const void *src, size_t len);
/**
 * One atomic operation on the 8 bytes at @p, in this host's order: fetch-and-add of @compare_add, or (is_swap) store @swap if they equal
 * @compare_add. *original is what was there. -EINVAL when @p is not a multiple of 8.
 */
int vf_guard_atomic64(void *p, bool is_swap, uint64_t compare_add, uint64_t swap,
		      uint64_t *original);
/** Can one byte at @p be read (and written back unchanged, with @is_write)? 0 or -EFAULT. */
int vf_guard_probe(void *p, bool is_write);

#endif

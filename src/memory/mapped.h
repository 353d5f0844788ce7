/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_MEMORY_MAPPED_H
#define VF_MEMORY_MAPPED_H
/*
 * What kind of memory an address is, without touching it; and memory that comes as a dma-buf. linux/ and darwin/ implement it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Is all of [@addr, @addr + @len) mapped with the right to read, and with @is_write to write? 0 or -EFAULT. Where the system does not
 * say, 0: what is wrong shows when the memory is used.
 */
int vf_memory_check(const void *addr, size_t len, bool is_write);

struct vf_memory_map {
	int fd;
	uint64_t offset;
	size_t length;
	uint8_t *addr; /* out: of the first byte */
	void *base;    /* out: for vf_memory_unmap */
	size_t base_len;
};

/**
 * Maps a dma-buf; stays valid when the descriptor is closed. -EBADF: no descriptor; -EINVAL: not a dma-buf, or beyond its end;
 * -EOPNOTSUPP: its owner does not let the CPU at it, or the system has none. With a reason.
 */
int vf_memory_map_dmabuf(struct vf_memory_map *m, bool is_write);
void vf_memory_unmap(const struct vf_memory_map *m);

#endif

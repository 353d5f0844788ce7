/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings as macOS tells of them (vm_region_recurse_64); dma-bufs do not exist there. */
#include "memory/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <mach/vm_map.h>

#include "base/reason.h"

/* The mapping at @at or behind it, inside of submaps too. False: none. */
static bool find(vm_address_t at, vm_address_t *start, vm_size_t *size, vm_prot_t *prot)
{
	natural_t depth = 0;

	for (;;) {
		struct vm_region_submap_info_64 info;
		mach_msg_type_number_t count = VM_REGION_SUBMAP_INFO_COUNT_64;

		*start = at;
		if (vm_region_recurse_64(mach_task_self(), start, size, &depth,
					 (vm_region_recurse_info_t)&info, &count) != KERN_SUCCESS)
			return false;
		if (!info.is_submap) {
			*prot = info.protection;
			return true;
		}
		depth++;
	}
}

int vf_memory_check(const void *addr, size_t len, bool is_write)
{
	vm_address_t at = (uintptr_t)addr, last = at + len - 1, start;
	vm_prot_t need = VM_PROT_READ | (is_write ? VM_PROT_WRITE : 0), prot;
	vm_size_t size;

	do {
		if (!find(at, &start, &size, &prot) || start > at || (prot & need) != need)
			return -EFAULT;
		at = start + size;
	} while (at - 1 < last);
	return 0;
}

int vf_memory_map_dmabuf(struct vf_memory_map *m, bool is_write)
{
	(void)is_write;
	if (m->fd < 0 || fcntl(m->fd, F_GETFD) < 0)
		return vf_refuse(EBADF, "dma-buf: %d is no open descriptor", m->fd);
	return vf_refuse(EOPNOTSUPP, "macOS has no dma-bufs");
}

void vf_memory_unmap(const struct vf_memory_map *m) { (void)m; }

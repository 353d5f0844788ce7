/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings as macOS tells of them (mach_vm_region); dma-bufs do not exist there. */
#include "memory/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <mach/mach_vm.h>

#include "base/reason.h"

int vf_memory_check(const void *addr, size_t len, bool is_write)
{
	mach_vm_address_t at = (uintptr_t)addr, last = at + len - 1;
	vm_prot_t need = VM_PROT_READ | (is_write ? VM_PROT_WRITE : 0);

	for (;;) {
		vm_region_basic_info_data_64_t info;
		mach_msg_type_number_t count = VM_REGION_BASIC_INFO_COUNT_64;
		mach_vm_address_t start = at;
		mach_vm_size_t size = 0;
		mach_port_t object = MACH_PORT_NULL;

		if (mach_vm_region(mach_task_self(), &start, &size, VM_REGION_BASIC_INFO_64,
				   (vm_region_info_t)&info, &count, &object) != KERN_SUCCESS)
			return -EFAULT;
		if (start > at || (info.protection & need) != need)
			return -EFAULT;
		if (start + size - 1 >= last)
			return 0;
		at = start + size;
	}
}

int vf_memory_map_dmabuf(struct vf_memory_map *m, bool is_write)
{
	(void)is_write;
	if (m->fd < 0 || fcntl(m->fd, F_GETFD) < 0)
		return vf_refuse(EBADF, "dma-buf: %d is no open descriptor", m->fd);
	return vf_refuse(EOPNOTSUPP, "macOS has no dma-bufs");
}

void vf_memory_unmap(const struct vf_memory_map *m) { (void)m; }

/* SPDX-License-Identifier: BSD-2-Clause */
/* dma-bufs on Linux: told from other files by the file system that they live on, mapped when their owner allows it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/reason.h"
#include "memory/mapped.h"

#define DMA_BUF_FS 0x444d4142 /* DMA_BUF_MAGIC of <linux/magic.h> */

static int check_fd(int fd)
{
	struct statfs fs;

	if (fd < 0 || fcntl(fd, F_GETFD) < 0)
		return vf_refuse(EBADF, "dma-buf: %d is no open descriptor", fd);
	if (fstatfs(fd, &fs) || (unsigned long)fs.f_type != DMA_BUF_FS)
		return vf_refuse(EINVAL, "dma-buf: descriptor %d is another kind of file", fd);
	return 0;
}

int vf_memory_map_dmabuf(struct vf_memory_map *m, bool is_write)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skip = m->offset % page;
	int prot = PROT_READ | (is_write ? PROT_WRITE : 0);
	int err = check_fd(m->fd);
	off_t size;
	void *p;

	if (err)
		return err;
	size = lseek(m->fd, 0, SEEK_END);
	if (size >= 0 && (m->offset > (uint64_t)size || m->length > (uint64_t)size - m->offset))
		return vf_refuse(EINVAL, "dma-buf: offset %llu + length %zu, but its size is %lld",
				 (unsigned long long)m->offset, m->length, (long long)size);
	p = mmap(NULL, m->length + skip, prot, MAP_SHARED, m->fd, (off_t)(m->offset - skip));
	if (p == MAP_FAILED)
		return vf_refuse(EOPNOTSUPP,
				 "dma-buf: its owner does not let the CPU map it (%s); copy through "
				 "ordinary memory instead",
				 strerror(errno));
	m->base = p;
	m->base_len = m->length + skip;
	m->addr = (uint8_t *)p + skip;
	return 0;
}

void vf_memory_unmap(const struct vf_memory_map *m) { munmap(m->base, m->base_len); }

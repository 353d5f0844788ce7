/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mappings as Linux tells of them, in /proc/self/maps: by a binary query for one address where the kernel has it (6.11),
 * otherwise as text. The file is opened anew each time, because after a fork it would still speak of the parent.
 */
#include "memory/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* struct procmap_query and PROCMAP_QUERY of <linux/fs.h>, which older headers lack. */
struct procmap_query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t dev_major, dev_minor, name_len, build_id_len;
	uint64_t name, build_id;
};

#define QUERY_MAP _IOWR('f', 17, struct procmap_query)
#define VMA_READABLE 1u
#define VMA_WRITABLE 2u

/* 1: goes on at *at; 0 or -EFAULT: the answer; -ENOTTY: no such query. */
static int query(int fd, uintptr_t *at, uintptr_t last, bool is_write)
{
	uint64_t need = VMA_READABLE | (is_write ? VMA_WRITABLE : 0);
	struct procmap_query q = {.size = sizeof(q), .address = *at};

	if (ioctl(fd, QUERY_MAP, &q) < 0)
		return errno == ENOENT ? -EFAULT : -ENOTTY;
	if ((q.vma_flags & need) != need)
		return -EFAULT;
	if (q.end - 1 >= last)
		return 0;
	*at = (uintptr_t)q.end;
	return 1;
}

static int check_by_query(int fd, uintptr_t first, uintptr_t last, bool is_write)
{
	uintptr_t at = first;
	int err;

	do
		err = query(fd, &at, last, is_write);
	while (err == 1);
	return err;
}

static int check_by_text(int fd, uintptr_t first, uintptr_t last, bool is_write)
{
	FILE *f = fdopen(dup(fd), "r");
	uintptr_t start, end, at = first;
	char line[512], r, w;
	int answer = -EFAULT;

	if (!f)
		return 0;
	while (answer && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c%c", &start, &end, &r, &w) != 4 ||
		    end <= at)
			continue;
		if (start > at || r != 'r' || (is_write && w != 'w'))
			break;
		if (end - 1 >= last)
			answer = 0;
		at = end;
	}
	fclose(f);
	return answer;
}

int vf_memory_check(const void *addr, size_t len, bool is_write)
{
	uintptr_t first = (uintptr_t)addr, last = first + len - 1;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return 0;
	err = check_by_query(fd, first, last, is_write);
	if (err == -ENOTTY)
		err = check_by_text(fd, first, last, is_write);
	close(fd);
	return err;
}

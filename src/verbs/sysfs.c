/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that Linux's kernel shows of its own RDMA devices. Ours have none, and nothing is made up:
 * what is there is read, what is not there is an error.
 */
#include "verbs/api.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of no public header. */
VF_EXPORT const char *ibv_get_sysfs_path(void);
VF_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

static pthread_once_t path_once = PTHREAD_ONCE_INIT;
static char path[IBV_SYSFS_PATH_MAX];

/* SYSFS_PATH as other implementations have it, without slashes at the end. */
static void find_path(void)
{
	const char *given = getenv("SYSFS_PATH");
	size_t len;

	snprintf(path, sizeof(path), "%s", given && *given ? given : "/sys");
	len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		path[--len] = 0;
}

VF_EXPORT const char *ibv_get_sysfs_path(void)
{
	pthread_once(&path_once, find_path);
	return path;
}

/* How many bytes, the newline at the end taken off; -errno. Room for a final 0 is left. */
static int read_file(const char *dir, const char *file, char *buf, size_t size)
{
	char name[2 * IBV_SYSFS_PATH_MAX];
	ssize_t n;
	int fd;

	if (snprintf(name, sizeof(name), "%s/%s", dir, file) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	if (n >= 0)
		buf[n] = 0;
	return (int)n;
}

/* -1 and errno; a file that is not there is what the caller asks about, not a refusal. */
VF_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	int n;

	if (!dir || !file || !buf)
		return vf_api_minus_one(vf_is_null(__func__, !dir    ? "dir"
							     : !file ? "file"
								     : "buf"));
	if (size < 1 || size > INT32_MAX)
		return vf_api_minus_one(vf_refuse(EINVAL, "%s: room for %zu bytes, the least is 1",
						  __func__, size));
	n = read_file(dir, file, buf, size);
	return n < 0 ? vf_api_minus_one(n) : n;
}

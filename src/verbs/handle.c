/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of objects: what ibv_pd.handle and its like hold. One table for the process; number 0 is
 * never given, so it stands for "none".
 */
#include "verbs/api.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
	void *object; /* NULL: free */
	enum vf_kind kind;
	uint32_t next_free;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table; /* entry 0 is not used */
static uint32_t table_len;
static uint32_t first_free; /* 0: none */

/* Locked. */
static bool grow(void)
{
	uint32_t len = table_len ? table_len * 2 : 64;
	struct entry *bigger = len < table_len ? NULL : realloc(table, len * sizeof(*table));

	if (!bigger)
		return false;
	for (uint32_t i = len - 1; i >= table_len && i > 0; i--) {
		bigger[i] = (struct entry){.next_free = first_free};
		first_free = i;
	}
	table = bigger;
	table_len = len;
	return true;
}

uint32_t vf_handle_new(enum vf_kind kind, void *object)
{
	uint32_t handle = 0;

	pthread_mutex_lock(&lock);
	if (first_free || grow()) {
		handle = first_free;
		first_free = table[handle].next_free;
		table[handle] = (struct entry){.object = object, .kind = kind};
	}
	pthread_mutex_unlock(&lock);
	return handle;
}

void vf_handle_drop(uint32_t handle)
{
	pthread_mutex_lock(&lock);
	if (handle && handle < table_len && table[handle].object) {
		table[handle] = (struct entry){.next_free = first_free};
		first_free = handle;
	}
	pthread_mutex_unlock(&lock);
}

int vf_handle_use(uint32_t handle, enum vf_kind kind, int (*use)(void *object, void *arg),
		  void *arg)
{
	int err = -ENOENT;

	pthread_mutex_lock(&lock);
	if (handle && handle < table_len && table[handle].object && table[handle].kind == kind)
		err = use(table[handle].object, arg);
	pthread_mutex_unlock(&lock);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys: what lkeys and rkeys stand for. A key is an index (24 bits) and a tag (8 bits) that changes each time the index is given
 * to something new, so that a key that outlives its memory fails (IBTA 10.6.3.1). Indexes that become free wait in a queue, so
 * that a stale key stays stale for long.
 *
 * The table grows in chunks as it is used. Everything is under the network side's lock, but for the count of users.
 */
#include <errno.h>
#include <stdlib.h>

#include "provider/soft/soft.h"

#define CHUNK_SHIFT 10
#define CHUNK (1u << CHUNK_SHIFT)
#define INDEXES_MAX (SOFT_MAX_MR + SOFT_MAX_MW + CHUNK)
#define CHUNKS_MAX (INDEXES_MAX / CHUNK)

struct entry {
	struct soft_key *key; /* NULL: free */
	uint32_t next_free;
	uint8_t tag; /* of the next owner */
};

struct soft_keys {
	unsigned users;
	struct entry *chunk[CHUNKS_MAX];
	uint32_t count; /* indexes that have ever been used, with 0, which never is */
	uint32_t free_first, free_last; /* 0: none */
};

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_keys *keys_now;

struct soft_keys *soft_keys_get(void)
{
	pthread_mutex_lock(&users_lock);
	if (!keys_now)
		keys_now = calloc(1, sizeof(*keys_now));
	if (keys_now) {
		keys_now->users++;
		if (keys_now->count == 0)
			keys_now->count = 1;
	}
	pthread_mutex_unlock(&users_lock);
	return keys_now;
}

void soft_keys_put(struct soft_keys *k)
{
	bool is_last;

	pthread_mutex_lock(&users_lock);
	is_last = --k->users == 0;
	if (is_last && k == keys_now)
		keys_now = NULL;
	pthread_mutex_unlock(&users_lock);
	if (!is_last)
		return;
	for (unsigned i = 0; i < CHUNKS_MAX; i++)
		free(k->chunk[i]);
	free(k);
}

/* The child's own devices start with a table of their own; the parent's stays with what still refers to it. */
void soft_keys_forked(void)
{
	pthread_mutex_init(&users_lock, NULL);
	keys_now = NULL;
}

static struct entry *entry_at(const struct soft_keys *k, uint32_t index)
{
	return &k->chunk[index >> CHUNK_SHIFT][index & (CHUNK - 1)];
}

/* A fresh index, with memory for it. -ENOMEM. */
static int grow(struct soft_keys *k, uint32_t *out)
{
	uint32_t index = k->count;

	if (index >= INDEXES_MAX)
		return -ENOMEM;
	if (!k->chunk[index >> CHUNK_SHIFT]) {
		k->chunk[index >> CHUNK_SHIFT] = calloc(CHUNK, sizeof(struct entry));
		if (!k->chunk[index >> CHUNK_SHIFT])
			return -ENOMEM;
	}
	k->count++;
	*out = index;
	return 0;
}

int soft_key_add(struct soft_keys *k, struct soft_key *key)
{
	uint32_t index = k->free_first;
	struct entry *e;

	if (index == 0) {
		int err = grow(k, &index);

		if (err)
			return err;
		e = entry_at(k, index);
	} else {
		e = entry_at(k, index);
		k->free_first = e->next_free;
		if (k->free_first == 0)
			k->free_last = 0;
	}
	e->key = key;
	key->value = index << 8 | e->tag;
	return 0;
}

void soft_key_remove(struct soft_keys *k, struct soft_key *key)
{
	uint32_t index = key->value >> 8;
	struct entry *e = entry_at(k, index);

	e->key = NULL;
	e->tag = (uint8_t)(key->value + 1);
	e->next_free = 0;
	if (k->free_last)
		entry_at(k, k->free_last)->next_free = index;
	else
		k->free_first = index;
	k->free_last = index;
}

void soft_key_change(struct soft_keys *k, struct soft_key *key, uint32_t value)
{
	(void)k;
	key->value = (key->value & 0xffffff00u) | (value & 0xffu);
}

struct soft_key *soft_key_at(uint32_t value)
{
	const struct soft_keys *k = keys_now;
	uint32_t index = value >> 8;

	return k && index && index < k->count ? entry_at(k, index)->key : NULL;
}

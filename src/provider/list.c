/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of devices: who is there, and who was left out and why. A device is counted by the lists
 * and contexts that refer to it.
 *
 * Names of a kind that programs look for outside the API (dev_name, dev_path, ibdev_path) are made
 * here from an index that a device name keeps for as long as the process runs, also when its
 * interface goes and comes back.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "provider.h"

struct skipped {
	char *what, *why;
};

struct vf_device_list {
	struct vf_device **devices;
	unsigned count;
	struct skipped *skipped;
	unsigned skipped_count;
};

/* ---- what lasts as long as the process ---- */

#define KINDS_MAX 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char (*names)[IBV_SYSFS_NAME_MAX]; /* by index */
static int name_count;
static struct kind {
	const struct vf_provider_ops *partial;
	struct vf_provider_ops filled;
} kinds[KINDS_MAX];

/* Locked. -ENOMEM. */
static int index_of_name(const char *name)
{
	void *grown;

	for (int i = 0; i < name_count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	grown = realloc(names, ((size_t)name_count + 1) * sizeof(*names));
	if (!grown)
		return -ENOMEM;
	names = grown;
	snprintf(names[name_count], sizeof(*names), "%s", name);
	return name_count++;
}

/* Locked. The operations with every slot filled; @partial itself when it is such already. */
static const struct vf_provider_ops *filled_ops(const struct vf_provider_ops *partial)
{
	for (struct kind *k = kinds; k < kinds + KINDS_MAX; k++) {
		if (partial == &k->filled || k->partial == partial)
			return &k->filled;
		if (!k->partial) {
			k->partial = partial;
			vf_provider_ops_fill(&k->filled, partial);
			return &k->filled;
		}
	}
	return NULL;
}

/* Locked. Once for each device, before any program sees it. */
static int complete(struct vf_device *dev)
{
	const struct vf_provider_ops *ops = filled_ops(dev->ops);
	int index = index_of_name(dev->ibv.name);

	if (!ops || index < 0)
		return vf_refuse(ENOMEM, "%s: no memory for the device's names", dev->ibv.name);
	dev->ops = ops;
	dev->index = index;
	dev->ibv.node_type = IBV_NODE_CA;
	dev->ibv.transport_type = IBV_TRANSPORT_IB;
	snprintf(dev->ibv.dev_path, sizeof(dev->ibv.dev_path),
		 "/sys/class/infiniband_verbs/uverbs%d", index);
	snprintf(dev->ibv.ibdev_path, sizeof(dev->ibv.ibdev_path), "/sys/class/infiniband/%.63s",
		 dev->ibv.name);
	snprintf(dev->ibv.dev_name, sizeof(dev->ibv.dev_name), "uverbs%d", index);
	return 0;
}

/* ---- lists ---- */

struct vf_device_list *vf_device_list_create(void)
{
	return calloc(1, sizeof(struct vf_device_list));
}

int vf_device_list_add(struct vf_device_list *list, struct vf_device *dev)
{
	void *grown = realloc(list->devices, (list->count + 1) * sizeof(struct vf_device *));
	int err = 0;

	if (!grown) {
		vf_device_put(dev);
		return vf_refuse(ENOMEM, "no memory for a list of %u devices", list->count + 1);
	}
	list->devices = grown;
	pthread_mutex_lock(&lock);
	if (dev->ibv.dev_name[0] == 0)
		err = complete(dev);
	pthread_mutex_unlock(&lock);
	if (err) {
		vf_device_put(dev);
		return err;
	}
	list->devices[list->count++] = dev;
	return 0;
}

void vf_device_list_skip(struct vf_device_list *list, const char *what, const char *why)
{
	struct skipped s = {strdup(what ? what : ""), strdup(why ? why : "")};
	void *grown = realloc(list->skipped, (list->skipped_count + 1) * sizeof(s));

	if (grown)
		list->skipped = grown;
	if (!s.what || !s.why || !grown) {
		free(s.what);
		free(s.why);
		return;
	}
	list->skipped[list->skipped_count++] = s;
}

int vf_device_list_collect(struct vf_device_list *list)
{
	int err = 0;

	for (const struct vf_provider_ops *const *p = vf_providers; *p; p++) {
		int e = (*p)->list_devices ? (*p)->list_devices(list) : 0;

		if (e == -ENOMEM)
			err = e;
		else if (e)
			vf_device_list_skip(list, (*p)->name, strerror(-e));
	}
	return err;
}

unsigned vf_device_list_count(const struct vf_device_list *list) { return list->count; }

struct vf_device *vf_device_list_at(const struct vf_device_list *list, unsigned i)
{
	return i < list->count ? list->devices[i] : NULL;
}

bool vf_device_list_skipped(const struct vf_device_list *list, unsigned i, const char **what,
			    const char **why)
{
	if (i >= list->skipped_count)
		return false;
	*what = list->skipped[i].what;
	*why = list->skipped[i].why;
	return true;
}

void vf_device_list_destroy(struct vf_device_list *list)
{
	if (!list)
		return;
	for (unsigned i = 0; i < list->count; i++)
		vf_device_put(list->devices[i]);
	for (unsigned i = 0; i < list->skipped_count; i++) {
		free(list->skipped[i].what);
		free(list->skipped[i].why);
	}
	free(list->devices);
	free(list->skipped);
	free(list);
}

/* ---- references ---- */

void vf_device_get(struct vf_device *dev) { atomic_fetch_add(&dev->refs, 1); }

void vf_device_put(struct vf_device *dev)
{
	if (atomic_fetch_sub(&dev->refs, 1) == 1 && dev->ops->free_device)
		dev->ops->free_device(dev);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device list, and what a device tells before it is opened.
 *
 * A list that a program holds is a NULL-terminated array in an allocation of its own: some programs give it to free(3). What is kept
 * about it is kept beside it, found by its address, and never read through it.
 *
 * Devices are shared between lists and contexts and live as long as one of them refers to them, so a pointer stays good after the list
 * is freed while the device is open. It stays good until the next ibv_get_device_list in any case: programs free the list first and
 * open the device then.
 */
#include "verbs/api.h"

#include <pthread.h>
#include <stdlib.h>

#include "verbifrost/verbifrost.h"

struct held_list {
	struct vf_list link;
	struct vf_device_list *list;
	struct ibv_device **entry; /* what the program has, or has freed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vf_list held = {&held, &held};
/* What the last ibv_get_device_list found and left out. */
static struct vf_device_list *last;

static bool copy_devices(struct vf_device_list *to, const struct vf_device_list *from)
{
	struct vf_device *dev;

	for (unsigned i = 0; (dev = vf_device_list_at(from, i)); i++) {
		vf_device_get(dev);
		if (vf_device_list_add(to, dev))
			return false;
	}
	return true;
}

/* For verbifrost_query_skipped and for those who open a device of a freed list. Without memory both
 * have nothing. */
static void remember(const struct vf_device_list *list)
{
	struct vf_device_list *copy = vf_device_list_create(), *old;
	const char *what, *why;

	for (unsigned i = 0; copy && vf_device_list_skipped(list, i, &what, &why); i++)
		vf_device_list_skip(copy, what, why);
	if (copy && !copy_devices(copy, list)) {
		vf_device_list_destroy(copy);
		copy = NULL;
	}
	pthread_mutex_lock(&lock);
	old = last;
	last = copy;
	pthread_mutex_unlock(&lock);
	vf_device_list_destroy(old);
}

/* Locked: out of the list of lists. */
static struct held_list *take(struct ibv_device **entry)
{
	VF_LIST_FOR_EACH(it, &held) {
		struct held_list *h = VF_LIST_ENTRY(it, struct held_list, link);

		if (h->entry == entry) {
			vf_list_del(&h->link);
			return h;
		}
	}
	return NULL;
}

static void drop(struct held_list *h)
{
	if (h)
		vf_device_list_destroy(h->list);
	free(h);
}

/* An address that is held already was given to free(3) by the program. */
static int hold(struct vf_device_list *list, struct held_list **out)
{
	unsigned count = vf_device_list_count(list);
	struct held_list *h = calloc(1, sizeof(*h)), *freed;

	if (h)
		h->entry = calloc((size_t)count + 1, sizeof(*h->entry));
	if (!h || !h->entry) {
		free(h);
		return vf_refuse(ENOMEM, "ibv_get_device_list: no memory for %u devices", count);
	}
	for (unsigned i = 0; i < count; i++)
		h->entry[i] = &vf_device_list_at(list, i)->ibv;
	h->list = list;
	pthread_mutex_lock(&lock);
	freed = take(h->entry);
	vf_list_add_tail(&held, &h->link);
	pthread_mutex_unlock(&lock);
	drop(freed);
	*out = h;
	return 0;
}

static int get_list(struct held_list **out)
{
	struct vf_device_list *list = vf_device_list_create();
	int err;

	if (!list)
		return vf_refuse(ENOMEM, "ibv_get_device_list: no memory");
	err = vf_device_list_collect(list);
	if (!err) {
		remember(list);
		err = hold(list, out);
	}
	if (err)
		vf_device_list_destroy(list);
	return err;
}

VF_EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct held_list *h = NULL;
	int err = get_list(&h);

	if (err) {
		if (num_devices)
			*num_devices = 0;
		return vf_api_null(err);
	}
	if (num_devices)
		*num_devices = (int)vf_device_list_count(h->list);
	return h->entry;
}

/* A pointer that is no list of ours, or was freed before, is left alone. */
VF_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	struct held_list *h;

	pthread_mutex_lock(&lock);
	h = take(list);
	pthread_mutex_unlock(&lock);
	if (h)
		free(list);
	drop(h);
}

static bool is_in(const struct vf_device_list *list, const struct ibv_device *dev)
{
	for (unsigned i = 0; list && i < vf_device_list_count(list); i++)
		if (&vf_device_list_at(list, i)->ibv == dev)
			return true;
	return false;
}

bool vf_device_is_known(const struct ibv_device *dev)
{
	bool is_found = false;

	pthread_mutex_lock(&lock);
	VF_LIST_FOR_EACH (it, &held) {
		is_found = is_found || is_in(VF_LIST_ENTRY(it, struct held_list, link)->list, dev);
	}
	is_found = is_found || is_in(last, dev);
	pthread_mutex_unlock(&lock);
	return is_found || vf_device_is_open(dev);
}

VF_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	if (!device)
		return vf_api_null(vf_is_null(__func__, "device"));
	return device->name;
}

VF_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	if (!device)
		return vf_api_minus_one(vf_is_null(__func__, "device"));
	return VF_CONTAINER_OF(device, struct vf_device, ibv)->index;
}

VF_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	__be64 guid;

	if (!device) {
		vf_api_code(vf_is_null(__func__, "device"));
		return 0;
	}
	vf_store_be64(&guid, VF_CONTAINER_OF(device, struct vf_device, ibv)->guid);
	return guid;
}

VF_EXPORT int verbifrost_query_skipped(unsigned i, const char **what, const char **why)
{
	bool is_there;

	if (!what || !why)
		return vf_api_minus_one(vf_is_null(__func__, what ? "why" : "what"));
	pthread_mutex_lock(&lock);
	is_there = last && vf_device_list_skipped(last, i, what, why);
	pthread_mutex_unlock(&lock);
	return is_there ? 0 : -1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices: one for each usable interface, kept for as long as the process runs, so that names, indexes and GID slots are stable. Brought
 * up to date when a list is asked for and when the system says that something changed; open contexts then get events.
 *
 *   absent ── interface seen ──> there, down <── link ──> there, active
 *   there ── interface removed ──> gone (open contexts keep it: port down, no GIDs) ── same name again ──> there
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "provider/soft/soft.h"

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vf_list devices = {&devices, &devices};

void soft_registry_lock(void) { pthread_mutex_lock(&registry_lock); }
void soft_registry_unlock(void) { pthread_mutex_unlock(&registry_lock); }

void soft_registry_forked(void)
{
	pthread_mutex_init(&registry_lock, NULL);
	VF_LIST_FOR_EACH(it, &devices)
	{
		struct soft_device *d = VF_LIST_ENTRY(it, struct soft_device, link);

		VF_LIST_FOR_EACH_SAFE(c, &d->contexts)
		{
			VF_LIST_ENTRY(c, struct soft_context, link)->is_orphan = true;
			vf_list_del(c);
		}
	}
}

/* ---- names and numbers ---- */

/* "vf_eth0.10": a pure function of the interface's name. */
static void name_device(const char *if_name, char out[IBV_SYSFS_NAME_MAX])
{
	snprintf(out, IBV_SYSFS_NAME_MAX, "vf_%s", if_name);
	for (char *p = out; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '.')
			*p = '_';
}

static uint64_t hash(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
	return h;
}

/* EUI-64 of the MAC; without one, something local that stays the same on this host. */
static uint64_t guid_of(const struct vf_os_if *itf)
{
	static const uint8_t zero[6];
	char host[256] = "";
	const uint8_t *m = itf->mac;

	if (itf->has_mac && memcmp(m, zero, sizeof(zero)) != 0)
		return (uint64_t)(m[0] ^ 2) << 56 | (uint64_t)m[1] << 48 | (uint64_t)m[2] << 40 |
		       UINT64_C(0xfffe) << 24 | (uint64_t)m[3] << 16 | (uint64_t)m[4] << 8 | m[5];
	gethostname(host, sizeof(host) - 1);
	/* not a universal number (bit 57 clear), never 0 */
	return (hash(hash(UINT64_C(0xcbf29ce484222325), host), itf->name) &
		~(UINT64_C(2) << 56)) | 1;
}

/* ---- what becomes a device ---- */

static bool is_wanted(const char *if_name)
{
	const char *p = vf_setting_string(VF_SET_INTERFACES);
	size_t n = strlen(if_name);

	if (!*p)
		return true;
	while (*p) {
		size_t len = strcspn(p, ",");

		if (len == n && memcmp(p, if_name, n) == 0)
			return true;
		p += len + (p[len] == ',');
	}
	return false;
}

/* Why @itf is no device; NULL when it is one. */
static const char *unusable(const struct vf_os_if *itf)
{
	bool has_address = false;

	for (unsigned i = 0; i < itf->addr_count; i++)
		has_address |= !itf->addr[i].is_tentative;
	if (!is_wanted(itf->name))
		return "not among VERBIFROST_INTERFACES";
	if (!itf->is_up)
		return "down";
	if (itf->is_bridge_member)
		return "member of a bridge: the bridge is the device";
	if (soft_port_mtu(itf->mtu) == 0)
		return "MTU too small for RoCE (at least 340)";
	if (!has_address)
		return "no IP address";
	return NULL;
}

/* ---- bringing up to date; registry locked ---- */

static struct soft_device *find(const char *if_name)
{
	VF_LIST_FOR_EACH(it, &devices)
	{
		struct soft_device *d = VF_LIST_ENTRY(it, struct soft_device, link);

		if (strcmp(d->if_name, if_name) == 0)
			return d;
	}
	return NULL;
}

static bool is_name_taken(const char *name)
{
	VF_LIST_FOR_EACH(it, &devices)
	if (strcmp(VF_LIST_ENTRY(it, struct soft_device, link)->vf.ibv.name, name) == 0)
		return true;
	return false;
}

static struct soft_device *make(const struct vf_os_if *itf)
{
	struct soft_device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	snprintf(d->if_name, sizeof(d->if_name), "%s", itf->name);
	name_device(itf->name, d->vf.ibv.name);
	d->vf.ops = &vf_soft_ops;
	d->vf.guid = guid_of(itf);
	d->is_loopback = itf->is_loopback;
	vf_list_init(&d->contexts);
	vf_list_add_tail(&devices, &d->link);
	return d;
}

static void tell(struct soft_device *d, enum ibv_event_type type)
{
	VF_LIST_FOR_EACH(it, &d->contexts)
	soft_context_event(VF_LIST_ENTRY(it, struct soft_context, link), type);
}

static void update(struct soft_device *d, const struct vf_os_if *itf)
{
	bool was_active = d->is_active, are_gids_new;
	uint8_t made[16];

	if (itf) {
		gid_make_link_local(d->vf.guid, made);
		are_gids_new = gid_table_update(&d->gids, itf, made);
		d->if_index = itf->index;
		d->mtu = itf->mtu;
		d->link_bits_per_s = itf->link_bits_per_s;
	} else {
		are_gids_new = gid_table_clear(&d->gids);
		d->if_index = 0;
	}
	d->is_there = itf != NULL;
	d->is_active = itf && itf->is_up && itf->is_running;
	if (was_active && !d->is_active)
		tell(d, IBV_EVENT_PORT_ERR);
	if (are_gids_new)
		tell(d, IBV_EVENT_GID_CHANGE);
	if (!was_active && d->is_active)
		tell(d, IBV_EVENT_PORT_ACTIVE);
}

static const struct vf_os_if *find_if(const struct vf_os_if *ifs, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(ifs[i].name, name) == 0)
			return &ifs[i];
	return NULL;
}

static void update_all(const struct vf_os_if *ifs, unsigned count)
{
	VF_LIST_FOR_EACH(it, &devices)
	{
		struct soft_device *d = VF_LIST_ENTRY(it, struct soft_device, link);

		update(d, find_if(ifs, count, d->if_name));
	}
}

/* ---- for others ---- */

static int list_one(struct vf_device_list *list, const struct vf_os_if *itf)
{
	const char *why = unusable(itf);
	struct soft_device *d = find(itf->name);
	char name[IBV_SYSFS_NAME_MAX];

	name_device(itf->name, name);
	if (!why && !d && is_name_taken(name))
		why = "its device name is taken by another interface";
	if (why) {
		vf_device_list_skip(list, itf->name, why);
		return 0;
	}
	if (!d) {
		d = make(itf);
		if (!d)
			return vf_refuse(ENOMEM, "%s: no memory for a device", itf->name);
		update(d, itf);
	}
	vf_device_get(&d->vf);
	return vf_device_list_add(list, &d->vf);
}

/* Loopback comes last: programs that take the first device want one that others can reach. */
int soft_device_list(struct vf_device_list *list)
{
	struct vf_os_if *ifs;
	unsigned count;
	int err = vf_os_if_list(&ifs, &count);

	if (err)
		return vf_refuse(-err, "interfaces cannot be listed: %s", strerror(-err));
	soft_registry_lock();
	update_all(ifs, count);
	for (int loopback = 0; loopback < 2; loopback++)
		for (unsigned i = 0; i < count && !err; i++)
			if (ifs[i].is_loopback == (loopback == 1))
				err = list_one(list, &ifs[i]);
	soft_registry_unlock();
	free(ifs);
	return err;
}

/* Devices stay in the registry, so that names, slots and counters outlive a list. */
void soft_device_free(struct vf_device *dev) { (void)dev; }

void soft_devices_refresh(void)
{
	struct vf_os_if *ifs;
	unsigned count;

	if (vf_os_if_list(&ifs, &count))
		return;
	soft_registry_lock();
	update_all(ifs, count);
	soft_registry_unlock();
	free(ifs);
}

/* The network side calls with its lock held. */
void vf_soft_interfaces_changed(void) { soft_devices_refresh(); }

int soft_device_gid(struct soft_device *dev, int index, uint8_t gid[16])
{
	int err = 0;

	soft_registry_lock();
	if (gid_table_has(&dev->gids, index))
		memcpy(gid, dev->gids.slot[index].gid, 16);
	else
		err = dev->is_there ? -ENODATA : -ENODEV;
	soft_registry_unlock();
	return err;
}

/*
 * A program that ends without destroying its queue pairs still owes its peers what a card would have sent by itself: the last
 * acknowledgements. Nothing is waited for: the program may end inside a signal handler that interrupted us.
 */
__attribute__((destructor)) static void send_the_last(void)
{
	if (pthread_mutex_trylock(&registry_lock))
		return;
	VF_LIST_FOR_EACH(it, &devices)
	{
		struct soft_device *d = VF_LIST_ENTRY(it, struct soft_device, link);
		struct soft_context *sc;

		if (vf_list_is_empty(&d->contexts))
			continue;
		sc = VF_LIST_ENTRY(d->contexts.next, struct soft_context, link);
		if (!vf_soft_net_trylock(sc->net))
			continue;
		vf_soft_net_flush(sc->net);
		vf_soft_net_unlock(sc->net);
	}
	pthread_mutex_unlock(&registry_lock);
}

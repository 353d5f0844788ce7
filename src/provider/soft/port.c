/* SPDX-License-Identifier: BSD-2-Clause */
/* The one port of a soft device: the interface as verbs see one (IBTA 11.2.1.3, annex A17). */
#include <errno.h>
#include <string.h>

#include "provider/soft/soft.h"

/* What stands in front of and behind the payload at most: IPv6, UDP, BTH, RETH, immediate data, ICRC. */
#define HEADERS_BYTES (40 + 8 + 12 + 16 + 4 + 4)

#define PHYS_LINK_UP 5
#define PHYS_DISABLED 3

/** The largest path MTU whose packets fit; 0 when not even the smallest does. */
enum ibv_mtu soft_port_mtu(uint32_t if_mtu)
{
	for (int code = IBV_MTU_4096; code >= IBV_MTU_256; code--)
		if (if_mtu >= (128u << code) + HEADERS_BYTES)
			return (enum ibv_mtu)code;
	return (enum ibv_mtu)0;
}

int soft_check_port(const struct soft_context *sc, unsigned port)
{
	return port == SOFT_PORT ? 0
				 : vf_refuse(EINVAL, "%s: port %u, but it has only port %d",
					     sc->dev->vf.ibv.name, port, SOFT_PORT);
}

/* Speed codes are one lane's; width codes 1, 2, 4, 8 are 1, 4, 8, 12 lanes (IBTA 14.2.5.6). */
static const struct rate {
	uint64_t gbit; /* at most */
	uint8_t speed, width;
} rates[] = {
	{3, 1, 1},    {5, 2, 1},    {10, 4, 1},	  {14, 16, 1},	{25, 32, 1},  {40, 4, 2},
	{56, 16, 2},  {100, 32, 2}, {200, 64, 2}, {400, 128, 2}, {UINT64_MAX, 128, 4},
};

/* A link that does not say how fast it is gets the code for 10 Gbit/s, the loopback interface the one for 100. */
static void fill_rate(const struct soft_device *d, struct ibv_port_attr *attr)
{
	uint64_t gbit = (d->link_bits_per_s + 999999999) / 1000000000;
	size_t i = 0;

	if (gbit == 0)
		gbit = d->is_loopback ? 100 : 10;
	while (rates[i].gbit < gbit)
		i++;
	attr->active_speed = rates[i].speed;
	attr->active_width = rates[i].width;
	attr->active_speed_ex = rates[i].speed;
}

int soft_query_port(struct vf_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	struct soft_context *sc = soft_ctx(ctx);
	struct soft_device *d = sc->dev;
	int err = soft_check_port(sc, port);

	if (err)
		return err;
	memset(attr, 0, sizeof(*attr));
	soft_registry_lock();
	attr->state = d->is_active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	attr->phys_state = d->is_active ? PHYS_LINK_UP : PHYS_DISABLED;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = soft_port_mtu(d->mtu);
	if (attr->active_mtu == 0)
		attr->active_mtu = IBV_MTU_256;
	fill_rate(d, attr);
	soft_registry_unlock();
	attr->gid_tbl_len = GID_TABLE_LEN;
	attr->port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_DEVICE_MGMT_SUP |
			       IBV_PORT_REINIT_SUP | IBV_PORT_VENDOR_CLASS_SUP |
			       IBV_PORT_IP_BASED_GIDS;
	attr->max_msg_sz = VF_ROCE_MSG_MAX;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	return 0;
}

int soft_query_gid(struct vf_context *ctx, uint8_t port, int index, struct ibv_gid_entry *entry)
{
	struct soft_context *sc = soft_ctx(ctx);
	int err = soft_check_port(sc, port);
	uint8_t gid[16];

	if (err)
		return err;
	if (index < 0 || index >= GID_TABLE_LEN)
		return vf_refuse(EINVAL, "%s: GID index %d outside 0..%d", sc->dev->vf.ibv.name,
				 index, GID_TABLE_LEN - 1);
	err = soft_device_gid(sc->dev, index, gid);
	if (err)
		return err;
	memset(entry, 0, sizeof(*entry));
	memcpy(entry->gid.raw, gid, 16);
	entry->gid_index = (uint32_t)index;
	entry->port_num = port;
	entry->gid_type = IBV_GID_TYPE_ROCE_V2;
	soft_registry_lock();
	entry->ndev_ifindex = sc->dev->if_index; /* another when the interface came back */
	soft_registry_unlock();
	return 0;
}

int soft_query_pkey(struct vf_context *ctx, uint8_t port, int index, uint16_t *pkey_be)
{
	int err = soft_check_port(soft_ctx(ctx), port);

	if (err)
		return err;
	if (index != 0)
		return vf_refuse(EINVAL, "P_Key index %d: the table has only index 0", index);
	*pkey_be = 0xffff;
	return 0;
}

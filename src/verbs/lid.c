/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs, for programs that know no GIDs. RoCE has none, so this is off unless the user asks for it (VERBIFROST_LID=on): then the LID
 * of a port is the last two bytes of its first IPv4 address, and a LID without a GID stands for the address that has the port's own
 * first two bytes. Both ends must be in one /16 network, and nothing of it is seen on the wire.
 *
 * Such programs have their path MTU from InfiniBand too (2048, where an Ethernet of 1500 bytes bears 1024), so it is lowered to the
 * port's instead of being refused.
 */
#include "base/settings.h"
#include "verbs/api.h"

static bool is_asked_for(void) { return strcmp(vf_setting_string(VF_SET_LID), "on") == 0; }

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid->raw, prefix, sizeof(prefix)) == 0;
}

/* Index of the first IPv4 address in the port's table, -1 when there is none. */
static int first_ipv4(struct ibv_context *context, uint8_t port, union ibv_gid *out)
{
	struct ibv_port_attr attr = {.gid_tbl_len = 0};
	struct ibv_gid_entry e;

	if (vf_ops(context)->query_port(vf_ctx(context), port, &attr) ||
	    attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return -1;
	for (int i = 0; i < attr.gid_tbl_len && i <= UINT8_MAX; i++) {
		if (vf_ops(context)->query_gid(vf_ctx(context), port, i, &e) || !is_ipv4(&e.gid))
			continue;
		*out = e.gid;
		return i;
	}
	return -1;
}

uint16_t vf_lid_of_port(struct ibv_context *context, uint8_t port)
{
	union ibv_gid gid;

	if (!is_asked_for() || first_ipv4(context, port, &gid) < 0)
		return 0;
	return vf_load_be16(gid.raw + 14);
}

bool vf_lid_resolve(struct ibv_context *context, struct ibv_ah_attr *av)
{
	enum { HOP_LIMIT = 64 };
	union ibv_gid gid;
	int index;

	if (av->is_global || !av->dlid || !is_asked_for() || av->port_num < 1 ||
	    av->port_num > vf_api_ctx(context)->attr.orig_attr.phys_port_cnt)
		return false;
	index = first_ipv4(context, av->port_num, &gid);
	if (index < 0)
		return false;
	vf_store_be16(gid.raw + 14, av->dlid);
	av->is_global = 1;
	av->grh = (struct ibv_global_route){
		.dgid = gid, .sgid_index = (uint8_t)index, .hop_limit = HOP_LIMIT};
	return true;
}

void vf_lid_resolve_qp(struct ibv_context *context, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_port_attr port = {.active_mtu = IBV_MTU_4096};

	if (!vf_lid_resolve(context, &attr->ah_attr) || !(mask & IBV_QP_PATH_MTU) ||
	    vf_ops(context)->query_port(vf_ctx(context), attr->ah_attr.port_num, &port))
		return;
	if (attr->path_mtu > port.active_mtu)
		attr->path_mtu = port.active_mtu;
}

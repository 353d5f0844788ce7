/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identifiers: what is bound, connected or listening. Their ports are read from the addresses that
 * they carry; making one needs the connection manager.
 */
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

#include "base/export.h"
#include "cm/absent.h"

/* The port bits of an InfiniBand service identifier are those that its mask selects in the low 16.
 */
static __be16 port_of_sid(const struct sockaddr_ib *sib)
{
	uint16_t sid, mask;

	memcpy(&sid, (const char *)&sib->sib_sid + 6, sizeof(sid));
	memcpy(&mask, (const char *)&sib->sib_sid_mask + 6, sizeof(mask));
	return (__be16)(sid & mask);
}

static __be16 port_of(const struct sockaddr_storage *addr)
{
	switch (addr->ss_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)(const void *)addr)->sin_port;
	case AF_INET6:
		return ((const struct sockaddr_in6 *)(const void *)addr)->sin6_port;
	case AF_IB:
		return port_of_sid((const struct sockaddr_ib *)(const void *)addr);
	default:
		return 0;
	}
}

VF_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id ? port_of(&id->route.addr.src_storage) : 0;
}

VF_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return id ? port_of(&id->route.addr.dst_storage) : 0;
}

VF_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
			     void *context, enum rdma_port_space ps)
{
	(void)channel;
	(void)id;
	(void)context;
	(void)ps;
	return vf_cm_absent("rdma_create_id");
}

VF_EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	(void)id;
	return vf_cm_absent("rdma_destroy_id");
}

VF_EXPORT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
			     struct ibv_qp_init_attr *qp_init_attr)
{
	(void)id;
	(void)res;
	(void)pd;
	(void)qp_init_attr;
	return vf_cm_absent("rdma_create_ep");
}

VF_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (id)
		vf_cm_absent("rdma_destroy_ep");
}

VF_EXPORT int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	(void)id;
	(void)channel;
	return vf_cm_absent("rdma_migrate_id");
}

VF_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			      size_t optlen)
{
	(void)id;
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return vf_cm_absent("rdma_set_option");
}

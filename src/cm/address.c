/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From names to addresses, devices and routes. All of it needs the connection manager.
 */
#include <rdma/rdma_cma.h>

#include "base/export.h"
#include "cm/absent.h"

VF_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
			       const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	(void)node;
	(void)service;
	(void)hints;
	(void)res;
	return vf_cm_absent("rdma_getaddrinfo");
}

VF_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	if (res)
		vf_cm_absent("rdma_freeaddrinfo");
}

VF_EXPORT int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
				    const struct rdma_addrinfo *hints)
{
	(void)id;
	(void)node;
	(void)service;
	(void)hints;
	return vf_cm_absent("rdma_resolve_addrinfo");
}

VF_EXPORT int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	(void)id;
	(void)info;
	return vf_cm_absent("rdma_query_addrinfo");
}

VF_EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	(void)id;
	(void)addr;
	return vf_cm_absent("rdma_bind_addr");
}

VF_EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
				struct sockaddr *dst_addr, int timeout_ms)
{
	(void)id;
	(void)src_addr;
	(void)dst_addr;
	(void)timeout_ms;
	return vf_cm_absent("rdma_resolve_addr");
}

VF_EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	(void)id;
	(void)timeout_ms;
	return vf_cm_absent("rdma_resolve_route");
}

VF_EXPORT struct ibv_context **rdma_get_devices(int *num_devices)
{
	if (num_devices)
		*num_devices = 0;
	vf_cm_absent("rdma_get_devices");
	return NULL;
}

VF_EXPORT void rdma_free_devices(struct ibv_context **list)
{
	if (list)
		vf_cm_absent("rdma_free_devices");
}

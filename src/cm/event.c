/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event channels and events of the connection manager. The names of events are complete; channels
 * need the connection manager.
 */
#include <rdma/rdma_cma.h>

#include "base/export.h"
#include "cm/absent.h"

static const char *const event_names[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
	[RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
	[RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
	[RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
	[RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
	[RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
	[RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
	[RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
	[RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
	[RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
	[RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
	[RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
	[RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	[RDMA_CM_EVENT_ADDRINFO_RESOLVED] = "RDMA_CM_EVENT_ADDRINFO_RESOLVED",
	[RDMA_CM_EVENT_ADDRINFO_ERROR] = "RDMA_CM_EVENT_ADDRINFO_ERROR",
	[RDMA_CM_EVENT_USER] = "RDMA_CM_EVENT_USER",
	[RDMA_CM_EVENT_INTERNAL] = "RDMA_CM_EVENT_INTERNAL",
};

VF_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
	size_t i = (size_t)event;

	return i < sizeof(event_names) / sizeof(event_names[0]) ? event_names[i] : "UNKNOWN EVENT";
}

VF_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	vf_cm_absent("rdma_create_event_channel");
	return NULL;
}

VF_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	if (channel)
		vf_cm_absent("rdma_destroy_event_channel");
}

VF_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	(void)channel;
	(void)event;
	return vf_cm_absent("rdma_get_cm_event");
}

VF_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	(void)event;
	return vf_cm_absent("rdma_ack_cm_event");
}

VF_EXPORT int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
				  uint64_t arg)
{
	(void)id;
	(void)event;
	(void)status;
	(void)arg;
	return vf_cm_absent("rdma_write_cm_event");
}

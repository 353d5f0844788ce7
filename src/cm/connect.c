/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs, connections and multicast groups of an identifier. All of it needs the connection
 * manager.
 */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "base/export.h"
#include "cm/absent.h"

/* ---- queues ---- */

VF_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			     struct ibv_qp_init_attr *qp_init_attr)
{
	(void)id;
	(void)pd;
	(void)qp_init_attr;
	return vf_cm_absent("rdma_create_qp");
}

VF_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr)
{
	(void)id;
	(void)qp_init_attr;
	return vf_cm_absent("rdma_create_qp_ex");
}

VF_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (id)
		vf_cm_absent("rdma_destroy_qp");
}

VF_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
			      struct ibv_srq_init_attr *attr)
{
	(void)id;
	(void)pd;
	(void)attr;
	return vf_cm_absent("rdma_create_srq");
}

VF_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	(void)id;
	(void)attr;
	return vf_cm_absent("rdma_create_srq_ex");
}

VF_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	if (id)
		vf_cm_absent("rdma_destroy_srq");
}

VF_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
				int *qp_attr_mask)
{
	(void)id;
	(void)qp_attr;
	(void)qp_attr_mask;
	return vf_cm_absent("rdma_init_qp_attr");
}

/* ---- connections ---- */

VF_EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	(void)id;
	(void)conn_param;
	return vf_cm_absent("rdma_connect");
}

VF_EXPORT int rdma_establish(struct rdma_cm_id *id)
{
	(void)id;
	return vf_cm_absent("rdma_establish");
}

VF_EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	(void)id;
	(void)backlog;
	return vf_cm_absent("rdma_listen");
}

VF_EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	(void)listen;
	(void)id;
	return vf_cm_absent("rdma_get_request");
}

VF_EXPORT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	(void)id;
	(void)conn_param;
	return vf_cm_absent("rdma_accept");
}

VF_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	(void)id;
	(void)private_data;
	(void)private_data_len;
	return vf_cm_absent("rdma_reject");
}

VF_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
			      uint8_t private_data_len)
{
	(void)id;
	(void)private_data;
	(void)private_data_len;
	return vf_cm_absent("rdma_reject_ece");
}

VF_EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	(void)id;
	(void)event;
	return vf_cm_absent("rdma_notify");
}

VF_EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
	(void)id;
	return vf_cm_absent("rdma_disconnect");
}

VF_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	(void)id;
	(void)ece;
	return vf_cm_absent("rdma_set_local_ece");
}

VF_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	(void)id;
	(void)ece;
	return vf_cm_absent("rdma_get_remote_ece");
}

/* ---- multicast ---- */

VF_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	(void)id;
	(void)addr;
	(void)context;
	return vf_cm_absent("rdma_join_multicast");
}

VF_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id,
				     struct rdma_cm_join_mc_attr_ex *mc_join_attr, void *context)
{
	(void)id;
	(void)mc_join_attr;
	(void)context;
	return vf_cm_absent("rdma_join_multicast_ex");
}

VF_EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	(void)id;
	(void)addr;
	return vf_cm_absent("rdma_leave_multicast");
}

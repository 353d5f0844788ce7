/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The "not supported" answer of every operation that a provider leaves out, so that nobody has to
 * test for NULL. In the order of struct vf_provider_ops.
 */
#include <errno.h>

#include "provider.h"

static int none_list_devices(struct vf_device_list *list)
{
	(void)list;
	return 0;
}

static void none_free_device(struct vf_device *dev) { (void)dev; }

static int none(const char *what)
{
	return vf_refuse(EOPNOTSUPP, "%s: this kind of device does not have it", what);
}

static int none_open(struct vf_context *ctx)
{
	(void)ctx;
	return none("open");
}

static void none_close(struct vf_context *ctx) { (void)ctx; }

static int none_query_device(struct vf_context *ctx, struct ibv_device_attr_ex *attr)
{
	(void)ctx, (void)attr;
	return none("query_device");
}

static int none_query_port(struct vf_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	(void)ctx, (void)port, (void)attr;
	return none("query_port");
}

static int none_query_gid(struct vf_context *ctx, uint8_t port, int index,
			  struct ibv_gid_entry *entry)
{
	(void)ctx, (void)port, (void)index, (void)entry;
	return none("query_gid");
}

static int none_query_pkey(struct vf_context *ctx, uint8_t port, int index, uint16_t *pkey_be)
{
	(void)ctx, (void)port, (void)index, (void)pkey_be;
	return none("query_pkey");
}

static int none_query_rt_values(struct vf_context *ctx, struct ibv_values_ex *values)
{
	(void)ctx, (void)values;
	return none("query_rt_values");
}

static int none_query_counters(struct vf_context *ctx, struct vf_counter *out, unsigned max,
			       unsigned *count)
{
	(void)ctx, (void)out, (void)max, (void)count;
	return none("query_counters");
}

static int none_alloc_pd(struct vf_context *ctx, struct vf_pd **out)
{
	(void)ctx, (void)out;
	return none("alloc_pd");
}

static int none_dealloc_pd(struct vf_pd *pd)
{
	(void)pd;
	return none("dealloc_pd");
}

static int none_reg_mr(struct vf_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access,
		       struct vf_mr **out)
{
	(void)pd, (void)addr, (void)length, (void)iova, (void)access, (void)out;
	return none("reg_mr");
}

static int none_reg_dmabuf_mr(struct vf_pd *pd, const struct vf_dmabuf *buf, unsigned access,
			      struct vf_mr **out)
{
	(void)pd, (void)buf, (void)access, (void)out;
	return none("reg_dmabuf_mr");
}

static int none_alloc_null_mr(struct vf_pd *pd, struct vf_mr **out)
{
	(void)pd, (void)out;
	return none("alloc_null_mr");
}

static int none_rereg_mr(struct vf_mr *mr, int flags, struct vf_pd *pd, void *addr, size_t length,
			 int access)
{
	(void)mr, (void)flags, (void)pd, (void)addr, (void)length, (void)access;
	return none("rereg_mr");
}

static int none_dereg_mr(struct vf_mr *mr)
{
	(void)mr;
	return none("dereg_mr");
}

static int none_advise_mr(struct vf_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
			  struct ibv_sge *sg, uint32_t count)
{
	(void)pd, (void)advice, (void)flags, (void)sg, (void)count;
	return none("advise_mr");
}

static int none_alloc_mw(struct vf_pd *pd, enum ibv_mw_type type, struct vf_mw **out)
{
	(void)pd, (void)type, (void)out;
	return none("alloc_mw");
}

static int none_dealloc_mw(struct vf_mw *mw)
{
	(void)mw;
	return none("dealloc_mw");
}

static int none_bind_mw(struct vf_qp *qp, struct vf_mw *mw, struct ibv_mw_bind *bind)
{
	(void)qp, (void)mw, (void)bind;
	return none("bind_mw");
}

static int none_create_cq(struct vf_context *ctx, struct ibv_cq_init_attr_ex *attr,
			  struct vf_cq **out)
{
	(void)ctx, (void)attr, (void)out;
	return none("create_cq");
}

static int none_resize_cq(struct vf_cq *cq, int cqe)
{
	(void)cq, (void)cqe;
	return none("resize_cq");
}

static int none_modify_cq(struct vf_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq, (void)attr;
	return none("modify_cq");
}

static int none_destroy_cq(struct vf_cq *cq)
{
	(void)cq;
	return none("destroy_cq");
}

static int none_create_srq(struct vf_pd *pd, struct ibv_srq_init_attr_ex *attr, struct vf_srq **out)
{
	(void)pd, (void)attr, (void)out;
	return none("create_srq");
}

static int none_modify_srq(struct vf_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	(void)srq, (void)attr, (void)mask;
	return none("modify_srq");
}

static int none_query_srq(struct vf_srq *srq, struct ibv_srq_attr *attr)
{
	(void)srq, (void)attr;
	return none("query_srq");
}

static int none_destroy_srq(struct vf_srq *srq)
{
	(void)srq;
	return none("destroy_srq");
}

static int none_create_qp(struct vf_context *ctx, struct ibv_qp_init_attr_ex *attr,
			  struct vf_qp **out)
{
	(void)ctx, (void)attr, (void)out;
	return none("create_qp");
}

static int none_modify_qp(struct vf_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp, (void)attr, (void)mask;
	return none("modify_qp");
}

static int none_query_qp(struct vf_qp *qp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init)
{
	(void)qp, (void)attr, (void)init;
	return none("query_qp");
}

static int none_destroy_qp(struct vf_qp *qp)
{
	(void)qp;
	return none("destroy_qp");
}

static int none_create_ah(struct vf_pd *pd, struct ibv_ah_attr *attr, struct vf_ah **out)
{
	(void)pd, (void)attr, (void)out;
	return none("create_ah");
}

static int none_destroy_ah(struct vf_ah *ah)
{
	(void)ah;
	return none("destroy_ah");
}

static int none_mcast(struct vf_qp *qp, const union ibv_gid *gid)
{
	(void)qp, (void)gid;
	return none("multicast");
}

static void fill_device(struct vf_provider_ops *o)
{
	o->name = o->name ? o->name : "none";
	o->list_devices = o->list_devices ? o->list_devices : none_list_devices;
	o->free_device = o->free_device ? o->free_device : none_free_device;
	o->open = o->open ? o->open : none_open;
	o->close = o->close ? o->close : none_close;
	o->query_device = o->query_device ? o->query_device : none_query_device;
	o->query_port = o->query_port ? o->query_port : none_query_port;
	o->query_gid = o->query_gid ? o->query_gid : none_query_gid;
	o->query_pkey = o->query_pkey ? o->query_pkey : none_query_pkey;
	o->query_rt_values = o->query_rt_values ? o->query_rt_values : none_query_rt_values;
	o->query_counters = o->query_counters ? o->query_counters : none_query_counters;
}

static void fill_memory(struct vf_provider_ops *o)
{
	o->alloc_pd = o->alloc_pd ? o->alloc_pd : none_alloc_pd;
	o->dealloc_pd = o->dealloc_pd ? o->dealloc_pd : none_dealloc_pd;
	o->reg_mr = o->reg_mr ? o->reg_mr : none_reg_mr;
	o->reg_dmabuf_mr = o->reg_dmabuf_mr ? o->reg_dmabuf_mr : none_reg_dmabuf_mr;
	o->alloc_null_mr = o->alloc_null_mr ? o->alloc_null_mr : none_alloc_null_mr;
	o->rereg_mr = o->rereg_mr ? o->rereg_mr : none_rereg_mr;
	o->dereg_mr = o->dereg_mr ? o->dereg_mr : none_dereg_mr;
	o->advise_mr = o->advise_mr ? o->advise_mr : none_advise_mr;
	o->alloc_mw = o->alloc_mw ? o->alloc_mw : none_alloc_mw;
	o->dealloc_mw = o->dealloc_mw ? o->dealloc_mw : none_dealloc_mw;
	o->bind_mw = o->bind_mw ? o->bind_mw : none_bind_mw;
}

static void fill_queues(struct vf_provider_ops *o)
{
	o->create_cq = o->create_cq ? o->create_cq : none_create_cq;
	o->resize_cq = o->resize_cq ? o->resize_cq : none_resize_cq;
	o->modify_cq = o->modify_cq ? o->modify_cq : none_modify_cq;
	o->destroy_cq = o->destroy_cq ? o->destroy_cq : none_destroy_cq;
	o->create_srq = o->create_srq ? o->create_srq : none_create_srq;
	o->modify_srq = o->modify_srq ? o->modify_srq : none_modify_srq;
	o->query_srq = o->query_srq ? o->query_srq : none_query_srq;
	o->destroy_srq = o->destroy_srq ? o->destroy_srq : none_destroy_srq;
	o->create_qp = o->create_qp ? o->create_qp : none_create_qp;
	o->modify_qp = o->modify_qp ? o->modify_qp : none_modify_qp;
	o->query_qp = o->query_qp ? o->query_qp : none_query_qp;
	o->destroy_qp = o->destroy_qp ? o->destroy_qp : none_destroy_qp;
	o->create_ah = o->create_ah ? o->create_ah : none_create_ah;
	o->destroy_ah = o->destroy_ah ? o->destroy_ah : none_destroy_ah;
	o->attach_mcast = o->attach_mcast ? o->attach_mcast : none_mcast;
	o->detach_mcast = o->detach_mcast ? o->detach_mcast : none_mcast;
}

void vf_provider_ops_fill(struct vf_provider_ops *out, const struct vf_provider_ops *partial)
{
	*out = *partial;
	fill_device(out);
	fill_memory(out);
	fill_queues(out);
}

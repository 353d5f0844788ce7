/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef INFINIBAND_VERBS_H
#define INFINIBAND_VERBS_H
/*
 * The verbs interface, source- and binary-compatible with libibverbs up to IBVERBS_1.18. Types are
 * in the verbs_*.h headers that this one brings in; here are the calls. Unless said otherwise a
 * call that returns a pointer returns NULL and sets errno when it fails, and one that returns int
 * returns 0 or an errno value.
 */
#include <infiniband/verbs_poll.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices ---- */

struct ibv_device **ibv_get_device_list(int *num_devices);
void ibv_free_device_list(struct ibv_device **list);
const char *ibv_get_device_name(struct ibv_device *device);
int ibv_get_device_index(struct ibv_device *device);
__be64 ibv_get_device_guid(struct ibv_device *device);
struct ibv_context *ibv_open_device(struct ibv_device *device);
int ibv_close_device(struct ibv_context *context);

/* objects of another process's context */
struct ibv_context *ibv_import_device(int cmd_fd);
struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle);
void ibv_unimport_pd(struct ibv_pd *pd);
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle);
void ibv_unimport_mr(struct ibv_mr *mr);
struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle);
void ibv_unimport_dm(struct ibv_dm *dm);

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
void ibv_ack_async_event(struct ibv_async_event *event);

int ibv_fork_init(void);
enum ibv_fork_status ibv_is_fork_initialized(void);

const char *ibv_node_type_str(enum ibv_node_type node_type);
const char *ibv_port_state_str(enum ibv_port_state port_state);
const char *ibv_event_type_str(enum ibv_event_type event);

/* ---- queries ---- */

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr);

/* Falls back to ibv_query_device, with the extended part zero. */
static inline int ibv_query_device_ex(struct ibv_context *context,
				      const struct ibv_query_device_ex_input *input,
				      struct ibv_device_attr_ex *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_device_ex);
	int err = EOPNOTSUPP;

	if (input && input->comp_mask != 0)
		return EINVAL;
	if (vctx)
		err = vctx->query_device_ex(context, input, attr, sizeof(*attr));
	if (err == EOPNOTSUPP || err == ENOSYS) {
		memset(attr, 0, sizeof(*attr));
		err = ibv_query_device(context, &attr->orig_attr);
	}
	return err;
}

/* The exported function writes 48 bytes; the macro of the same name fills all that this header
 * knows. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *port_attr);

static inline int ___ibv_query_port(struct ibv_context *context, uint8_t port_num,
				    struct ibv_port_attr *port_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_port);

	if (vctx)
		return vctx->query_port(context, port_num, port_attr, sizeof(*port_attr));
	memset(port_attr, 0, sizeof(*port_attr));
	return ibv_query_port(context, port_num, (struct _compat_ibv_port_attr *)(void *)port_attr);
}

#define ibv_query_port(context, port_num, port_attr) ___ibv_query_port(context, port_num, port_attr)

/* in units of 100 Mbit/s */
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);

/* -1 and errno */
int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size);

static inline int ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
				   uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags)
{
	return _ibv_query_gid_ex(context, port_num, gid_index, entry, flags, sizeof(*entry));
}

/* How many entries were filled, or a negative errno value. */
static inline ssize_t ibv_query_gid_table(struct ibv_context *context,
					  struct ibv_gid_entry *entries, size_t max_entries,
					  uint32_t flags)
{
	return _ibv_query_gid_table(context, entries, max_entries, flags, sizeof(*entries));
}

/* -1 and errno */
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);
/* the index, or -1 and errno */
int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey);

static inline int ibv_query_rt_values_ex(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_rt_values);

	return vctx ? vctx->query_rt_values(context, values) : EOPNOTSUPP;
}

static inline int ibv_is_qpt_supported(uint32_t caps, enum ibv_qp_type qpt)
{
	return (int)(caps >> qpt & 1);
}

/* ---- domains ---- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);
int ibv_dealloc_pd(struct ibv_pd *pd);

static inline struct ibv_td *ibv_alloc_td(struct ibv_context *context,
					  struct ibv_td_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_td);

	if (vctx)
		return vctx->alloc_td(context, init_attr);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_dealloc_td(struct ibv_td *td)
{
	struct verbs_context *vctx = verbs_get_ctx_op(td->context, dealloc_td);

	return vctx ? vctx->dealloc_td(td) : EOPNOTSUPP;
}

static inline struct ibv_pd *ibv_alloc_parent_domain(struct ibv_context *context,
						     struct ibv_parent_domain_init_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_parent_domain);

	if (vctx)
		return vctx->alloc_parent_domain(context, attr);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline struct ibv_xrcd *ibv_open_xrcd(struct ibv_context *context,
					     struct ibv_xrcd_init_attr *xrcd_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_xrcd);

	if (vctx)
		return vctx->open_xrcd(context, xrcd_init_attr);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_close_xrcd(struct ibv_xrcd *xrcd)
{
	struct verbs_context *vctx = verbs_get_ctx_op(xrcd->context, close_xrcd);

	return vctx ? vctx->close_xrcd(xrcd) : EOPNOTSUPP;
}

/* ---- memory regions ---- */

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access);
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access);
/* 0, or one of enum ibv_rereg_mr_err_code */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access);
int ibv_dereg_mr(struct ibv_mr *mr);

/*
 * Optional access flags go to ibv_reg_mr_iova2, which ignores those that the device lacks; so do
 * flags that are not known when the program is compiled. A library without that function thus still
 * serves programs that use none.
 */
#define _verbs_has_optional_access(access)                                                         \
	(!__builtin_constant_p(((int)(access)&IBV_ACCESS_OPTIONAL_RANGE) == 0) ||                  \
	 ((int)(access)&IBV_ACCESS_OPTIONAL_RANGE) != 0)

__attribute__((always_inline)) static inline struct ibv_mr *__ibv_reg_mr(struct ibv_pd *pd,
									 void *addr, size_t length,
									 unsigned int access,
									 int has_optional)
{
	return has_optional ? ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access)
			    : ibv_reg_mr(pd, addr, length, (int)access);
}

__attribute__((always_inline)) static inline struct ibv_mr *__ibv_reg_mr_iova(
	struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
	int has_optional)
{
	return has_optional ? ibv_reg_mr_iova2(pd, addr, length, iova, access)
			    : ibv_reg_mr_iova(pd, addr, length, iova, (int)access);
}

#define ibv_reg_mr(pd, addr, length, access)                                                       \
	__ibv_reg_mr(pd, addr, length, (unsigned int)(access), _verbs_has_optional_access(access))
#define ibv_reg_mr_iova(pd, addr, length, iova, access)                                            \
	__ibv_reg_mr_iova(pd, addr, length, iova, (unsigned int)(access),                          \
			  _verbs_has_optional_access(access))

static inline struct ibv_mr *ibv_alloc_null_mr(struct ibv_pd *pd)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, alloc_null_mr);

	if (vctx)
		return vctx->alloc_null_mr(pd);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
				struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, advise_mr);

	return vctx ? vctx->advise_mr(pd, advice, flags, sg_list, num_sge) : EOPNOTSUPP;
}

/* Memory that the device chose; NULL without errno when there is none. */
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
void ibv_free_buf(struct ibv_buf *buf);
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length,
			      int access);
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);

struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr);
int ibv_dealloc_dmah(struct ibv_dmah *dmah);

/* ---- device memory ---- */

static inline struct ibv_dm *ibv_alloc_dm(struct ibv_context *context,
					  struct ibv_alloc_dm_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_dm);

	if (vctx)
		return vctx->alloc_dm(context, attr);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_free_dm(struct ibv_dm *dm)
{
	struct verbs_context *vctx = verbs_get_ctx_op(dm->context, free_dm);

	return vctx ? vctx->free_dm(dm) : EOPNOTSUPP;
}

static inline struct ibv_mr *ibv_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
					   size_t length, unsigned int access)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, reg_dm_mr);

	if (vctx)
		return vctx->reg_dm_mr(pd, dm, dm_offset, length, access);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_memcpy_to_dm(struct ibv_dm *dm, uint64_t dm_offset, const void *host_addr,
				   size_t length)
{
	return dm->memcpy_to_dm(dm, dm_offset, host_addr, length);
}

static inline int ibv_memcpy_from_dm(void *host_addr, struct ibv_dm *dm, uint64_t dm_offset,
				     size_t length)
{
	return dm->memcpy_from_dm(host_addr, dm, dm_offset, length);
}

/* -1 and errno */
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);

/* ---- memory windows ---- */

static inline struct ibv_mw *ibv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	if (pd->context->ops.alloc_mw)
		return pd->context->ops.alloc_mw(pd, type);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_dealloc_mw(struct ibv_mw *mw)
{
	return mw->context->ops.dealloc_mw ? mw->context->ops.dealloc_mw(mw) : EOPNOTSUPP;
}

/* For windows of type 1. A zero length unbinds. */
static inline int ibv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	const struct ibv_mw_bind_info *info = &mw_bind->bind_info;

	if (mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	if (info->mr ? mw->pd != info->mr->pd : 0)
		return EPERM;
	if (!info->mr && (info->addr != 0 || info->length != 0))
		return EINVAL;
	return mw->context->ops.bind_mw ? mw->context->ops.bind_mw(qp, mw, mw_bind) : EOPNOTSUPP;
}

/* The same key with the next tag in its low byte. */
static inline uint32_t ibv_inc_rkey(uint32_t rkey)
{
	return (rkey & 0xffffff00u) | ((rkey + 1) & 0xffu);
}

/* ---- completion channels and queues ---- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);
int ibv_destroy_comp_channel(struct ibv_comp_channel *channel);

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector);

static inline struct ibv_cq_ex *ibv_create_cq_ex(struct ibv_context *context,
						 struct ibv_cq_init_attr_ex *cq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_cq_ex);

	if (vctx)
		return vctx->create_cq_ex(context, cq_attr);
	errno = EOPNOTSUPP;
	return NULL;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe);

static inline int ibv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(cq->context, modify_cq);

	return vctx ? vctx->modify_cq(cq, attr) : EOPNOTSUPP;
}

int ibv_destroy_cq(struct ibv_cq *cq);

/* -1 and errno */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents);

/* How many completions were taken, or a negative number. */
static inline int ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return cq->context->ops.poll_cq(cq, num_entries, wc);
}

static inline int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return cq->context->ops.req_notify_cq(cq, solicited_only);
}

/* ---- shared receive queues ---- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *srq_init_attr);

/* What ibv_create_srq can express goes there. */
static inline struct ibv_srq *ibv_create_srq_ex(struct ibv_context *context,
						struct ibv_srq_init_attr_ex *srq_init_attr_ex)
{
	const uint32_t pd = IBV_SRQ_INIT_ATTR_PD, type = IBV_SRQ_INIT_ATTR_TYPE;
	uint32_t mask = srq_init_attr_ex->comp_mask;
	struct verbs_context *vctx;

	if (mask == pd || (mask == (pd | type) && srq_init_attr_ex->srq_type == IBV_SRQT_BASIC))
		return ibv_create_srq(srq_init_attr_ex->pd,
				      (struct ibv_srq_init_attr *)(void *)srq_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_srq_ex);
	if (vctx)
		return vctx->create_srq_ex(context, srq_init_attr_ex);
	errno = EOPNOTSUPP;
	return NULL;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr, int srq_attr_mask);
int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *srq_attr);

static inline int ibv_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, get_srq_num);

	return vctx ? vctx->get_srq_num(srq, srq_num) : EOPNOTSUPP;
}

int ibv_destroy_srq(struct ibv_srq *srq);

static inline int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr,
				    struct ibv_recv_wr **bad_recv_wr)
{
	return srq->context->ops.post_srq_recv(srq, recv_wr, bad_recv_wr);
}

static inline int ibv_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op,
				   struct ibv_ops_wr **bad_op)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, post_srq_ops);

	if (vctx)
		return vctx->post_srq_ops(srq, op, bad_op);
	*bad_op = op;
	return EOPNOTSUPP;
}

/* ---- queue pairs ---- */

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);

/* What ibv_create_qp can express goes there. */
static inline struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context,
					      struct ibv_qp_init_attr_ex *qp_init_attr_ex)
{
	struct verbs_context *vctx;

	if (qp_init_attr_ex->comp_mask == IBV_QP_INIT_ATTR_PD)
		return ibv_create_qp(qp_init_attr_ex->pd,
				     (struct ibv_qp_init_attr *)(void *)qp_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_qp_ex);
	if (vctx)
		return vctx->create_qp_ex(context, qp_init_attr_ex);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline struct ibv_qp *ibv_open_qp(struct ibv_context *context,
					 struct ibv_qp_open_attr *qp_open_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_qp);

	if (vctx)
		return vctx->open_qp(context, qp_open_attr);
	errno = EOPNOTSUPP;
	return NULL;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);

static inline int ibv_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, modify_qp_rate_limit);

	return vctx ? vctx->modify_qp_rate_limit(qp, attr) : EOPNOTSUPP;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);
/* 0, 1 or a set of enum ibv_query_qp_data_in_order_caps */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int ibv_destroy_qp(struct ibv_qp *qp);

static inline int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	return qp->context->ops.post_send(qp, wr, bad_wr);
}

static inline int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad_wr)
{
	return qp->context->ops.post_recv(qp, wr, bad_wr);
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

/* ---- receive work queues and their tables ---- */

static inline struct ibv_wq *ibv_create_wq(struct ibv_context *context,
					   struct ibv_wq_init_attr *wq_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_wq);
	struct ibv_wq *wq = NULL;

	if (vctx)
		wq = vctx->create_wq(context, wq_init_attr);
	else
		errno = EOPNOTSUPP;
	if (wq) {
		pthread_mutex_init(&wq->mutex, NULL);
		pthread_cond_init(&wq->cond, NULL);
		wq->events_completed = 0;
		wq->wq_context = wq_init_attr->wq_context;
	}
	return wq;
}

static inline int ibv_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, modify_wq);

	return vctx ? vctx->modify_wq(wq, wq_attr) : EOPNOTSUPP;
}

static inline int ibv_destroy_wq(struct ibv_wq *wq)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, destroy_wq);

	return vctx ? vctx->destroy_wq(wq) : EOPNOTSUPP;
}

static inline struct ibv_rwq_ind_table *ibv_create_rwq_ind_table(
	struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_rwq_ind_table);

	if (vctx)
		return vctx->create_rwq_ind_table(context, init_attr);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_destroy_rwq_ind_table(struct ibv_rwq_ind_table *rwq_ind_table)
{
	struct verbs_context *vctx =
		verbs_get_ctx_op(rwq_ind_table->context, destroy_rwq_ind_table);

	return vctx ? vctx->destroy_rwq_ind_table(rwq_ind_table) : EOPNOTSUPP;
}

/* ---- address handles ---- */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *ah_attr);
struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num);
int ibv_destroy_ah(struct ibv_ah *ah);
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
				uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid);

#define IB_ROCE_UDP_ENCAP_VALID_PORT_MIN 0xc000
#define IB_ROCE_UDP_ENCAP_VALID_PORT_MAX 0xffff
#define IB_GRH_FLOWLABEL_MASK		 0x000fffff

/* The UDP source port that stands for a flow label: its high six bits folded into the low fourteen.
 */
static inline uint16_t ibv_flow_label_to_udp_sport(uint32_t fl)
{
	uint32_t folded = (fl & 0x3fff) ^ ((fl & IB_GRH_FLOWLABEL_MASK) >> 14);

	return (uint16_t)(IB_ROCE_UDP_ENCAP_VALID_PORT_MIN | folded);
}

/* ---- flow steering ---- */

static inline struct ibv_flow *ibv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *flow)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, ibv_create_flow);

	if (vctx)
		return vctx->ibv_create_flow(qp, flow);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_destroy_flow(struct ibv_flow *flow_id)
{
	struct verbs_context *vctx = verbs_get_ctx_op(flow_id->context, ibv_destroy_flow);

	return vctx ? vctx->ibv_destroy_flow(flow_id) : EOPNOTSUPP;
}

static inline struct ibv_flow_action *ibv_create_flow_action_esp(
	struct ibv_context *ctx, struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(ctx, create_flow_action_esp);

	if (vctx)
		return vctx->create_flow_action_esp(ctx, esp);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_modify_flow_action_esp(struct ibv_flow_action *action,
					     struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, modify_flow_action_esp);

	return vctx ? vctx->modify_flow_action_esp(action, esp) : EOPNOTSUPP;
}

static inline int ibv_destroy_flow_action(struct ibv_flow_action *action)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, destroy_flow_action);

	return vctx ? vctx->destroy_flow_action(action) : EOPNOTSUPP;
}

/* ---- flow counters ---- */

static inline struct ibv_counters *ibv_create_counters(struct ibv_context *context,
						       struct ibv_counters_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_counters);

	if (vctx)
		return vctx->create_counters(context, init_attr);
	errno = EOPNOTSUPP;
	return NULL;
}

static inline int ibv_destroy_counters(struct ibv_counters *counters)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, destroy_counters);

	return vctx ? vctx->destroy_counters(counters) : EOPNOTSUPP;
}

static inline int ibv_attach_counters_point_flow(struct ibv_counters *counters,
						 struct ibv_counter_attach_attr *attr,
						 struct ibv_flow *flow)
{
	struct verbs_context *vctx =
		verbs_get_ctx_op(counters->context, attach_counters_point_flow);

	return vctx ? vctx->attach_counters_point_flow(counters, attr, flow) : EOPNOTSUPP;
}

static inline int ibv_read_counters(struct ibv_counters *counters, uint64_t *counters_value,
				    uint32_t ncounters, uint32_t flags)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, read_counters);

	return vctx ? vctx->read_counters(counters, counters_value, ncounters, flags) : EOPNOTSUPP;
}

/* ---- completion counters ---- */

int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
			      size_t caps_size);

static inline int ibv_query_comp_cntr_caps(struct ibv_context *context,
					   struct ibv_comp_cntr_caps *caps)
{
	return _ibv_query_comp_cntr_caps(context, caps, sizeof(*caps));
}

struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context,
					   struct ibv_comp_cntr_init_attr *cc_attr);
int ibv_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr);
int ibv_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);
int ibv_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value);
int ibv_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount);
int ibv_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
int ibv_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
			    struct ibv_qp_attach_comp_cntr_attr *attr);

#ifdef __cplusplus
}
#endif

#endif

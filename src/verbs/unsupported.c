/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs that no device of ours has: device memory, buffers and DMA handles, counters, flow steering and its actions, receive work queues,
 * XRC, rate limits, tag matching, connection establishment data. Each answers EOPNOTSUPP (EINVAL for NULL) in its own convention.
 */
#include "verbs/api.h"

/* The error of a call on @p that is not supported: -EINVAL when @p is NULL. */
static int absent(const char *verb, const char *argument, const void *p)
{
	return p ? vf_no_support(verb) : vf_is_null(verb, argument);
}

/* ---- exported ---- */

VF_EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
	(void)dm_handle;
	return vf_api_null(absent(__func__, "context", context));
}

VF_EXPORT void ibv_unimport_dm(struct ibv_dm *dm) { vf_api_code(absent(__func__, "dm", dm)); }

VF_EXPORT int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	return vf_api_minus_one(absent(__func__, "dm", dm));
}

VF_EXPORT struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context,
					  struct ibv_dmah_init_attr *attr)
{
	return vf_api_null(context ? absent(__func__, "attr", attr) : vf_is_null(__func__, "context"));
}

VF_EXPORT int ibv_dealloc_dmah(struct ibv_dmah *dmah)
{
	return vf_api_code(absent(__func__, "dmah", dmah));
}

VF_EXPORT void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	(void)size;
	return vf_api_null(pd ? absent(__func__, "buf", buf) : vf_is_null(__func__, "pd"));
}

VF_EXPORT void ibv_free_buf(struct ibv_buf *buf) { vf_api_code(absent(__func__, "buf", buf)); }

VF_EXPORT struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
					size_t length, int access)
{
	(void)addr, (void)length, (void)access;
	return vf_api_null(pd ? absent(__func__, "buf", buf) : vf_is_null(__func__, "pd"));
}

VF_EXPORT int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	return vf_api_minus_one(absent(__func__, "buf", buf));
}

VF_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return vf_api_code(qp ? absent(__func__, "ece", ece) : vf_is_null(__func__, "qp"));
}

VF_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return vf_api_code(qp ? absent(__func__, "ece", ece) : vf_is_null(__func__, "qp"));
}

VF_EXPORT int _ibv_query_comp_cntr_caps(struct ibv_context *context,
					struct ibv_comp_cntr_caps *caps, size_t caps_size)
{
	static const char verb[] = "ibv_query_comp_cntr_caps";

	(void)caps_size;
	return vf_api_code(context ? absent(verb, "caps", caps) : vf_is_null(verb, "context"));
}

VF_EXPORT struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context,
						     struct ibv_comp_cntr_init_attr *cc_attr)
{
	return vf_api_null(context ? absent(__func__, "cc_attr", cc_attr)
				   : vf_is_null(__func__, "context"));
}

VF_EXPORT int ibv_destroy_comp_cntr(struct ibv_comp_cntr *comp_cntr)
{
	return vf_api_code(absent(__func__, "comp_cntr", comp_cntr));
}

VF_EXPORT int ibv_set_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value)
{
	(void)value;
	return vf_api_code(absent(__func__, "comp_cntr", comp_cntr));
}

VF_EXPORT int ibv_set_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t value)
{
	(void)value;
	return vf_api_code(absent(__func__, "comp_cntr", comp_cntr));
}

VF_EXPORT int ibv_inc_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount)
{
	(void)amount;
	return vf_api_code(absent(__func__, "comp_cntr", comp_cntr));
}

VF_EXPORT int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t amount)
{
	(void)amount;
	return vf_api_code(absent(__func__, "comp_cntr", comp_cntr));
}

VF_EXPORT int ibv_read_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value)
{
	return vf_api_code(comp_cntr ? absent(__func__, "value", value)
				     : vf_is_null(__func__, "comp_cntr"));
}

VF_EXPORT int ibv_read_err_comp_cntr(struct ibv_comp_cntr *comp_cntr, uint64_t *value)
{
	return vf_api_code(comp_cntr ? absent(__func__, "value", value)
				     : vf_is_null(__func__, "comp_cntr"));
}

VF_EXPORT int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr,
				      struct ibv_qp_attach_comp_cntr_attr *attr)
{
	(void)attr;
	return vf_api_code(qp ? absent(__func__, "comp_cntr", comp_cntr)
			      : vf_is_null(__func__, "qp"));
}

/* ---- in the context ---- */

static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t n,
			 uint32_t flags)
{
	(void)values, (void)n, (void)flags;
	return vf_api_code(absent("ibv_read_counters", "counters", counters));
}

static int attach_counters_point_flow(struct ibv_counters *counters,
				      struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	(void)attr, (void)flow;
	return vf_api_code(absent("ibv_attach_counters_point_flow", "counters", counters));
}

static struct ibv_counters *create_counters(struct ibv_context *context,
					    struct ibv_counters_init_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_create_counters", "context", context));
}

static int destroy_counters(struct ibv_counters *counters)
{
	return vf_api_code(absent("ibv_destroy_counters", "counters", counters));
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				size_t length, unsigned int access)
{
	(void)dm, (void)dm_offset, (void)length, (void)access;
	return vf_api_null(absent("ibv_reg_dm_mr", "pd", pd));
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_alloc_dm", "context", context));
}

static int free_dm(struct ibv_dm *dm) { return vf_api_code(absent("ibv_free_dm", "dm", dm)); }

static int modify_flow_action_esp(struct ibv_flow_action *action,
				  struct ibv_flow_action_esp_attr *attr)
{
	(void)attr;
	return vf_api_code(absent("ibv_modify_flow_action_esp", "action", action));
}

static int destroy_flow_action(struct ibv_flow_action *action)
{
	return vf_api_code(absent("ibv_destroy_flow_action", "action", action));
}

static struct ibv_flow_action *create_flow_action_esp(struct ibv_context *context,
						      struct ibv_flow_action_esp_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_create_flow_action_esp", "context", context));
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	(void)attr;
	return vf_api_code(absent("ibv_modify_qp_rate_limit", "qp", qp));
}

static int post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad_op)
{
	if (bad_op)
		*bad_op = op;
	return vf_api_code(absent("ibv_post_srq_ops", "srq", srq));
}

static int destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	return vf_api_code(absent("ibv_destroy_rwq_ind_table", "rwq_ind_table", table));
}

static struct ibv_rwq_ind_table *create_rwq_ind_table(struct ibv_context *context,
						      struct ibv_rwq_ind_table_init_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_create_rwq_ind_table", "context", context));
}

static int destroy_wq(struct ibv_wq *wq)
{
	return vf_api_code(absent("ibv_destroy_wq", "wq", wq));
}

static int modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	(void)attr;
	return vf_api_code(absent("ibv_modify_wq", "wq", wq));
}

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_create_wq", "context", context));
}

static int destroy_flow(struct ibv_flow *flow)
{
	return vf_api_code(absent("ibv_destroy_flow", "flow", flow));
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_create_flow", "qp", qp));
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_open_qp", "context", context));
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	(void)number;
	return vf_api_code(absent("ibv_get_srq_num", "srq", srq));
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	(void)attr;
	return vf_api_null(absent("ibv_open_xrcd", "context", context));
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
	return vf_api_code(absent("ibv_close_xrcd", "xrcd", xrcd));
}

static void placeholder(void) {}

void vf_slots_fill_unsupported(struct verbs_context *vctx)
{
	vctx->free_buf = ibv_free_buf;
	vctx->alloc_buf = ibv_alloc_buf;
	vctx->dm_export_dmabuf_fd = ibv_dm_export_dmabuf_fd;
	vctx->dealloc_dmah = ibv_dealloc_dmah;
	vctx->alloc_dmah = ibv_alloc_dmah;
	vctx->read_counters = read_counters;
	vctx->attach_counters_point_flow = attach_counters_point_flow;
	vctx->create_counters = create_counters;
	vctx->destroy_counters = destroy_counters;
	vctx->reg_dm_mr = reg_dm_mr;
	vctx->alloc_dm = alloc_dm;
	vctx->free_dm = free_dm;
	vctx->modify_flow_action_esp = modify_flow_action_esp;
	vctx->destroy_flow_action = destroy_flow_action;
	vctx->create_flow_action_esp = create_flow_action_esp;
	vctx->modify_qp_rate_limit = modify_qp_rate_limit;
	vctx->post_srq_ops = post_srq_ops;
	vctx->destroy_rwq_ind_table = destroy_rwq_ind_table;
	vctx->create_rwq_ind_table = create_rwq_ind_table;
	vctx->destroy_wq = destroy_wq;
	vctx->modify_wq = modify_wq;
	vctx->create_wq = create_wq;
	vctx->ibv_destroy_flow = destroy_flow;
	vctx->ABI_placeholder2 = placeholder;
	vctx->ibv_create_flow = create_flow;
	vctx->ABI_placeholder1 = placeholder;
	vctx->open_qp = open_qp;
	vctx->get_srq_num = get_srq_num;
	vctx->open_xrcd = open_xrcd;
	vctx->close_xrcd = close_xrcd;
}

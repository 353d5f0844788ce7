/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations that programs find in the verbs_context and that this library has; unsupported.c has the rest. */
#include "verbs/api.h"

void vf_slots_fill(struct verbs_context *vctx)
{
	vf_slots_fill_unsupported(vctx);
	vctx->query_port = vf_verb_query_port;
	vctx->query_device_ex = vf_verb_query_device_ex;
	vctx->query_rt_values = vf_verb_query_rt_values;
	vctx->reg_mr_ex = ibv_reg_mr_ex;
	vctx->advise_mr = vf_verb_advise_mr;
	vctx->alloc_null_mr = vf_verb_alloc_null_mr;
	vctx->alloc_parent_domain = vf_verb_alloc_parent_domain;
	vctx->alloc_td = vf_verb_alloc_td;
	vctx->dealloc_td = vf_verb_dealloc_td;
	vctx->create_cq_ex = vf_verb_create_cq_ex;
	vctx->modify_cq = vf_verb_modify_cq;
	vctx->create_srq_ex = vf_verb_create_srq_ex;
	vctx->create_qp_ex = vf_verb_create_qp_ex;
}

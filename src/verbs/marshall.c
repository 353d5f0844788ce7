/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the verbs' structs and those of Linux's kernel interface, field by field. */
#include <infiniband/marshall.h>

#include "verbs/api.h"
#include "verbs/kern_abi.h"

/* @src may be NULL in none of these; @dst neither. The calls have no way to say so but errno. */
static bool has_both(const char *verb, const void *dst, const void *src)
{
	if (dst && src)
		return true;
	vf_api_code(vf_is_null(verb, dst ? "src" : "dst"));
	return false;
}

static void ah_from_kern(struct ibv_ah_attr *dst, const struct vf_kern_ah_attr *src)
{
	memcpy(dst->grh.dgid.raw, src->dgid, sizeof(src->dgid));
	dst->grh.flow_label = src->flow_label;
	dst->grh.sgid_index = src->sgid_index;
	dst->grh.hop_limit = src->hop_limit;
	dst->grh.traffic_class = src->traffic_class;
	dst->dlid = src->dlid;
	dst->sl = src->sl;
	dst->src_path_bits = src->src_path_bits;
	dst->static_rate = src->static_rate;
	dst->is_global = src->is_global;
	dst->port_num = src->port_num;
}

VF_EXPORT void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src)
{
	if (has_both(__func__, dst, src))
		ah_from_kern(dst, (const void *)src);
}

VF_EXPORT void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *kern)
{
	const struct vf_kern_qp_attr *src = (const void *)kern;

	if (!has_both(__func__, dst, src))
		return;
	dst->qp_state = src->qp_state;
	dst->cur_qp_state = src->cur_qp_state;
	dst->path_mtu = src->path_mtu;
	dst->path_mig_state = src->path_mig_state;
	dst->qkey = src->qkey;
	dst->rq_psn = src->rq_psn;
	dst->sq_psn = src->sq_psn;
	dst->dest_qp_num = src->dest_qp_num;
	dst->qp_access_flags = src->qp_access_flags;
	dst->cap.max_send_wr = src->max_send_wr;
	dst->cap.max_recv_wr = src->max_recv_wr;
	dst->cap.max_send_sge = src->max_send_sge;
	dst->cap.max_recv_sge = src->max_recv_sge;
	dst->cap.max_inline_data = src->max_inline_data;
	ah_from_kern(&dst->ah_attr, &src->ah_attr);
	ah_from_kern(&dst->alt_ah_attr, &src->alt_ah_attr);
	dst->pkey_index = src->pkey_index;
	dst->alt_pkey_index = src->alt_pkey_index;
	dst->en_sqd_async_notify = src->en_sqd_async_notify;
	dst->sq_draining = src->sq_draining;
	dst->max_rd_atomic = src->max_rd_atomic;
	dst->max_dest_rd_atomic = src->max_dest_rd_atomic;
	dst->min_rnr_timer = src->min_rnr_timer;
	dst->port_num = src->port_num;
	dst->timeout = src->timeout;
	dst->retry_cnt = src->retry_cnt;
	dst->rnr_retry = src->rnr_retry;
	dst->alt_port_num = src->alt_port_num;
	dst->alt_timeout = src->alt_timeout;
}

VF_EXPORT void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst,
					   struct ib_user_path_rec *kern)
{
	const struct vf_kern_path_rec *src = (const void *)kern;

	if (!has_both(__func__, dst, src))
		return;
	memcpy(dst->dgid.raw, src->dgid, sizeof(src->dgid));
	memcpy(dst->sgid.raw, src->sgid, sizeof(src->sgid));
	dst->dlid = src->dlid_be;
	dst->slid = src->slid_be;
	dst->raw_traffic = (int)src->raw_traffic;
	dst->flow_label = src->flow_label_be;
	dst->hop_limit = src->hop_limit;
	dst->traffic_class = src->traffic_class;
	dst->reversible = (int)src->reversible;
	dst->numb_path = src->numb_path;
	dst->pkey = src->pkey_be;
	dst->sl = src->sl;
	dst->mtu_selector = src->mtu_selector;
	dst->mtu = (uint8_t)src->mtu;
	dst->rate_selector = src->rate_selector;
	dst->rate = src->rate;
	dst->packet_life_time_selector = src->packet_life_time_selector;
	dst->packet_life_time = src->packet_life_time;
	dst->preference = src->preference;
}

VF_EXPORT void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *kern, struct ibv_sa_path_rec *src)
{
	struct vf_kern_path_rec *dst = (void *)kern;

	if (!has_both(__func__, dst, src))
		return;
	memcpy(dst->dgid, src->dgid.raw, sizeof(dst->dgid));
	memcpy(dst->sgid, src->sgid.raw, sizeof(dst->sgid));
	dst->dlid_be = src->dlid;
	dst->slid_be = src->slid;
	dst->raw_traffic = (uint32_t)src->raw_traffic;
	dst->flow_label_be = src->flow_label;
	dst->hop_limit = src->hop_limit;
	dst->traffic_class = src->traffic_class;
	dst->reversible = (uint32_t)src->reversible;
	dst->numb_path = src->numb_path;
	dst->pkey_be = src->pkey;
	dst->sl = src->sl;
	dst->mtu_selector = src->mtu_selector;
	dst->mtu = src->mtu;
	dst->rate_selector = src->rate_selector;
	dst->rate = src->rate;
	dst->packet_life_time_selector = src->packet_life_time_selector;
	dst->packet_life_time = src->packet_life_time;
	dst->preference = src->preference;
}

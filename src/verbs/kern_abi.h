/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_VERBS_KERN_ABI_H
#define VF_VERBS_KERN_ABI_H
/*
 * Structs of Linux's RDMA kernel interface that <infiniband/marshall.h> speaks of, by their layout: the kernel's own headers are not
 * on every system. Beside each the kernel's name, which programs' pointers have.
 */
#include <stdint.h>

#include "base/bytes.h"

/* ib_uverbs_ah_attr */
struct vf_kern_ah_attr {
	uint8_t dgid[16];
	uint32_t flow_label;
	uint8_t sgid_index, hop_limit, traffic_class, reserved_route;
	uint16_t dlid;
	uint8_t sl, src_path_bits, static_rate, is_global, port_num, reserved;
};
VF_CHECK_SIZE(struct vf_kern_ah_attr, 32);

/* ib_uverbs_qp_attr */
struct vf_kern_qp_attr {
	uint32_t qp_attr_mask, qp_state, cur_qp_state, path_mtu, path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags;
	struct vf_kern_ah_attr ah_attr, alt_ah_attr;
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic;
	uint8_t min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout;
	uint8_t reserved[5];
};
VF_CHECK_SIZE(struct vf_kern_qp_attr, 144);

/* ib_user_path_rec */
struct vf_kern_path_rec {
	uint8_t dgid[16], sgid[16];
	uint16_t dlid_be, slid_be;
	uint32_t raw_traffic;
	uint32_t flow_label_be;
	uint32_t reversible, mtu;
	uint16_t pkey_be;
	uint8_t hop_limit, traffic_class, numb_path, sl, mtu_selector, rate_selector, rate;
	uint8_t packet_life_time_selector, packet_life_time, preference;
};
VF_CHECK_SIZE(struct vf_kern_path_rec, 64);

#endif

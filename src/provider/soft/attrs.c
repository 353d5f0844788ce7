/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device says of itself (IBTA 11.2.1.2). Every number is one that is granted; what is absent is 0. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "provider/soft/soft.h"

#define VENDOR_ID 0xffffff /* no organisation's */
#define PART_ID 1
#define CLOCK_KHZ 1000000 /* time stamps are nanoseconds */
#define ACK_DELAY 15	  /* 4.096 us * 2^15: a busy process answers within 134 ms */

static unsigned page_sizes(void)
{
	unsigned page = (unsigned)sysconf(_SC_PAGESIZE);

	return ~(page - 1);
}

static void fill_limits(struct ibv_device_attr *a)
{
	a->max_mr_size = UINT64_MAX >> 1;
	a->page_size_cap = page_sizes();
	a->max_qp = SOFT_MAX_QP;
	a->max_qp_wr = SOFT_MAX_QP_WR;
	a->max_sge = VF_ROCE_SGE_MAX;
	a->max_sge_rd = VF_ROCE_SGE_MAX;
	a->max_cq = SOFT_MAX_CQ;
	a->max_cqe = SOFT_MAX_CQE;
	a->max_mr = SOFT_MAX_MR;
	a->max_pd = SOFT_MAX_PD;
	a->max_qp_rd_atom = SOFT_MAX_RD_ATOMIC;
	a->max_qp_init_rd_atom = SOFT_MAX_RD_ATOMIC;
	a->max_res_rd_atom = SOFT_MAX_RD_ATOMIC * SOFT_MAX_QP;
	a->atomic_cap = IBV_ATOMIC_GLOB;
	a->max_mw = SOFT_MAX_MW;
	a->max_mcast_grp = SOFT_MAX_MCAST_GRP;
	a->max_mcast_qp_attach = SOFT_MAX_MCAST_QP;
	a->max_total_mcast_qp_attach = SOFT_MAX_MCAST_GRP * SOFT_MAX_MCAST_QP;
	a->max_ah = SOFT_MAX_AH;
	a->max_srq = SOFT_MAX_SRQ;
	a->max_srq_wr = SOFT_MAX_SRQ_WR;
	a->max_srq_sge = VF_ROCE_SGE_MAX;
	a->max_pkeys = 1;
	a->local_ca_ack_delay = ACK_DELAY;
	a->phys_port_cnt = 1;
}

int soft_query_device(struct vf_context *ctx, struct ibv_device_attr_ex *attr)
{
	struct soft_device *d = soft_ctx(ctx)->dev;
	struct ibv_device_attr *a = &attr->orig_attr;

	memset(attr, 0, sizeof(*attr));
	snprintf(a->fw_ver, sizeof(a->fw_ver), "0.1.0");
	vf_store_be64(&a->node_guid, d->vf.guid);
	vf_store_be64(&a->sys_image_guid, d->vf.guid);
	a->vendor_id = VENDOR_ID;
	a->vendor_part_id = PART_ID;
	a->hw_ver = 1;
	a->device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
			      IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT |
			      IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
			      IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_N_NOTIFY_CQ |
			      IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS |
			      IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	fill_limits(a);
	attr->completion_timestamp_mask = UINT64_MAX;
	attr->hca_core_clock = CLOCK_KHZ;
	attr->device_cap_flags_ex = a->device_cap_flags;
	attr->phys_port_cnt_ex = 1;
	return 0;
}

int soft_query_rt_values(struct vf_context *ctx, struct ibv_values_ex *values)
{
	vf_nsec now = vf_os_now();

	(void)ctx;
	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return vf_refuse(EINVAL, "query_rt_values: comp_mask 0x%x, known are 0x%x",
				 values->comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
		values->raw_clock.tv_sec = (time_t)(now / VF_SEC);
		values->raw_clock.tv_nsec = (long)(now % VF_SEC);
	}
	return 0;
}

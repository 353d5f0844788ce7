/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the attributes of devices and ports, in the order of ibv_devinfo, with the words for
 * bits and values. */
#include "info_fields.h"

#include <infiniband/verbs.h>

#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define DEV_OLD(member)	 AT(ibv_device_attr_ex, orig_attr.member)
#define DEV(member)	 AT(ibv_device_attr_ex, member)
#define PORT(member)	 AT(ibv_port_attr, member)

static const struct vf_info_name device_flags[] = {
	{IBV_DEVICE_RESIZE_MAX_WR, "RESIZE_MAX_WR"},
	{IBV_DEVICE_BAD_PKEY_CNTR, "BAD_PKEY_CNTR"},
	{IBV_DEVICE_BAD_QKEY_CNTR, "BAD_QKEY_CNTR"},
	{IBV_DEVICE_RAW_MULTI, "RAW_MULTI"},
	{IBV_DEVICE_AUTO_PATH_MIG, "AUTO_PATH_MIG"},
	{IBV_DEVICE_CHANGE_PHY_PORT, "CHANGE_PHY_PORT"},
	{IBV_DEVICE_UD_AV_PORT_ENFORCE, "UD_AV_PORT_ENFORCE"},
	{IBV_DEVICE_CURR_QP_STATE_MOD, "CURR_QP_STATE_MOD"},
	{IBV_DEVICE_SHUTDOWN_PORT, "SHUTDOWN_PORT"},
	{IBV_DEVICE_INIT_TYPE, "INIT_TYPE"},
	{IBV_DEVICE_PORT_ACTIVE_EVENT, "PORT_ACTIVE_EVENT"},
	{IBV_DEVICE_SYS_IMAGE_GUID, "SYS_IMAGE_GUID"},
	{IBV_DEVICE_RC_RNR_NAK_GEN, "RC_RNR_NAK_GEN"},
	{IBV_DEVICE_SRQ_RESIZE, "SRQ_RESIZE"},
	{IBV_DEVICE_N_NOTIFY_CQ, "N_NOTIFY_CQ"},
	{IBV_DEVICE_MEM_WINDOW, "MEM_WINDOW"},
	{IBV_DEVICE_UD_IP_CSUM, "UD_IP_CSUM"},
	{IBV_DEVICE_XRC, "XRC"},
	{IBV_DEVICE_MEM_MGT_EXTENSIONS, "MEM_MGT_EXTENSIONS"},
	{IBV_DEVICE_MEM_WINDOW_TYPE_2A, "MEM_WINDOW_TYPE_2A"},
	{IBV_DEVICE_MEM_WINDOW_TYPE_2B, "MEM_WINDOW_TYPE_2B"},
	{IBV_DEVICE_RC_IP_CSUM, "RC_IP_CSUM"},
	{IBV_DEVICE_RAW_IP_CSUM, "RAW_IP_CSUM"},
	{IBV_DEVICE_MANAGED_FLOW_STEERING, "MANAGED_FLOW_STEERING"},
	{IBV_DEVICE_RAW_SCATTER_FCS, "RAW_SCATTER_FCS"},
	{IBV_DEVICE_PCI_WRITE_END_PADDING, "PCI_WRITE_END_PADDING"},
	{0, NULL},
};

static const struct vf_info_name port_flags[] = {
	{IBV_PORT_SM, "SM"},
	{IBV_PORT_NOTICE_SUP, "NOTICE_SUP"},
	{IBV_PORT_TRAP_SUP, "TRAP_SUP"},
	{IBV_PORT_OPT_IPD_SUP, "OPT_IPD_SUP"},
	{IBV_PORT_AUTO_MIGR_SUP, "AUTO_MIGR_SUP"},
	{IBV_PORT_SL_MAP_SUP, "SL_MAP_SUP"},
	{IBV_PORT_MKEY_NVRAM, "MKEY_NVRAM"},
	{IBV_PORT_PKEY_NVRAM, "PKEY_NVRAM"},
	{IBV_PORT_LED_INFO_SUP, "LED_INFO_SUP"},
	{IBV_PORT_SYS_IMAGE_GUID_SUP, "SYS_IMAGE_GUID_SUP"},
	{IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP, "PKEY_SW_EXT_PORT_TRAP_SUP"},
	{IBV_PORT_EXTENDED_SPEEDS_SUP, "EXTENDED_SPEEDS_SUP"},
	{IBV_PORT_CAP_MASK2_SUP, "CAP_MASK2_SUP"},
	{IBV_PORT_CM_SUP, "CM_SUP"},
	{IBV_PORT_SNMP_TUNNEL_SUP, "SNMP_TUNNEL_SUP"},
	{IBV_PORT_REINIT_SUP, "REINIT_SUP"},
	{IBV_PORT_DEVICE_MGMT_SUP, "DEVICE_MGMT_SUP"},
	{IBV_PORT_VENDOR_CLASS_SUP, "VENDOR_CLASS_SUP"},
	{IBV_PORT_DR_NOTICE_SUP, "DR_NOTICE_SUP"},
	{IBV_PORT_CAP_MASK_NOTICE_SUP, "CAP_MASK_NOTICE_SUP"},
	{IBV_PORT_BOOT_MGMT_SUP, "BOOT_MGMT_SUP"},
	{IBV_PORT_LINK_LATENCY_SUP, "LINK_LATENCY_SUP"},
	{IBV_PORT_CLIENT_REG_SUP, "CLIENT_REG_SUP"},
	{IBV_PORT_IP_BASED_GIDS, "IP_BASED_GIDS"},
	{0, NULL},
};

static const struct vf_info_name odp_transport[] = {
	{IBV_ODP_SUPPORT_SEND, "SUPPORT_SEND"},
	{IBV_ODP_SUPPORT_RECV, "SUPPORT_RECV"},
	{IBV_ODP_SUPPORT_WRITE, "SUPPORT_WRITE"},
	{IBV_ODP_SUPPORT_READ, "SUPPORT_READ"},
	{IBV_ODP_SUPPORT_ATOMIC, "SUPPORT_ATOMIC"},
	{IBV_ODP_SUPPORT_SRQ_RECV, "SUPPORT_SRQ_RECV"},
	{0, NULL},
};

static const struct vf_info_name odp_general[] = {
	{IBV_ODP_SUPPORT, "SUPPORT"},
	{IBV_ODP_SUPPORT_IMPLICIT, "SUPPORT_IMPLICIT"},
	{0, NULL},
};

static const struct vf_info_name raw_caps[] = {
	{IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, "CVLAN_STRIPPING"},
	{IBV_RAW_PACKET_CAP_SCATTER_FCS, "SCATTER_FCS"},
	{IBV_RAW_PACKET_CAP_IP_CSUM, "IP_CSUM"},
	{IBV_RAW_PACKET_CAP_DELAY_DROP, "DELAY_DROP"},
	{0, NULL},
};

static const struct vf_info_name tm_flags[] = {
	{IBV_TM_CAP_RC, "RC"},
	{0, NULL},
};

static const struct vf_info_name atomic_names[] = {
	{IBV_ATOMIC_NONE, "NONE"},
	{IBV_ATOMIC_HCA, "HCA"},
	{IBV_ATOMIC_GLOB, "GLOB"},
	{0, NULL},
};

static const struct vf_info_name port_states[] = {
	{IBV_PORT_NOP, "NOP"},
	{IBV_PORT_DOWN, "DOWN"},
	{IBV_PORT_INIT, "INIT"},
	{IBV_PORT_ARMED, "ARMED"},
	{IBV_PORT_ACTIVE, "ACTIVE"},
	{IBV_PORT_ACTIVE_DEFER, "ACTIVE_DEFER"},
	{0, NULL},
};

static const struct vf_info_name phys_states[] = {
	{1, "SLEEP"},	 {2, "POLLING"},
	{3, "DISABLED"}, {4, "PORT_CONFIGURATION_TRAINING"},
	{5, "LINK_UP"},	 {6, "LINK_ERROR_RECOVERY"},
	{7, "PHY_TEST"}, {0, NULL},
};

static const struct vf_info_name link_layers[] = {
	{IBV_LINK_LAYER_UNSPECIFIED, "Unspecified"},
	{IBV_LINK_LAYER_INFINIBAND, "InfiniBand"},
	{IBV_LINK_LAYER_ETHERNET, "Ethernet"},
	{100, "Thunderbolt"},
	{0, NULL},
};

static const struct vf_info_name mtus[] = {
	{IBV_MTU_256, "256"},	{IBV_MTU_512, "512"},	{IBV_MTU_1024, "1024"},
	{IBV_MTU_2048, "2048"}, {IBV_MTU_4096, "4096"}, {0, NULL},
};

static const struct vf_info_name widths[] = {
	{1, "1X"}, {2, "4X"}, {4, "8X"}, {8, "12X"}, {16, "2X"}, {0, NULL},
};

static const struct vf_info_name speeds[] = {
	{1, "2.5 Gbit/s"},	    {2, "5.0 Gbit/s"},	   {4, "10.0 Gbit/s"},
	{8, "10.0 Gbit/s (FDR10)"}, {16, "14.0 Gbit/s"},   {32, "25.0 Gbit/s"},
	{64, "50.0 Gbit/s"},	    {128, "100.0 Gbit/s"}, {0, NULL},
};

/* clang-format off */
const struct vf_info_field vf_info_device[] = {
	{"fw_ver", DEV_OLD(fw_ver), VF_INFO_TEXT, NULL},
	{"node_guid", DEV_OLD(node_guid), VF_INFO_GUID, NULL},
	{"sys_image_guid", DEV_OLD(sys_image_guid), VF_INFO_GUID, NULL},
	{"vendor_id", DEV_OLD(vendor_id), VF_INFO_HEX, NULL},
	{"vendor_part_id", DEV_OLD(vendor_part_id), VF_INFO_NUMBER, NULL},
	{"hw_ver", DEV_OLD(hw_ver), VF_INFO_HEX, NULL},
	{"phys_port_cnt", DEV_OLD(phys_port_cnt), VF_INFO_NUMBER, NULL},
	{"max_mr_size", DEV_OLD(max_mr_size), VF_INFO_HEX, NULL},
	{"page_size_cap", DEV_OLD(page_size_cap), VF_INFO_HEX, NULL},
	{"max_qp", DEV_OLD(max_qp), VF_INFO_NUMBER, NULL},
	{"max_qp_wr", DEV_OLD(max_qp_wr), VF_INFO_NUMBER, NULL},
	{"device_cap_flags", DEV_OLD(device_cap_flags), VF_INFO_FLAGS, device_flags},
	{"max_sge", DEV_OLD(max_sge), VF_INFO_NUMBER, NULL},
	{"max_sge_rd", DEV_OLD(max_sge_rd), VF_INFO_NUMBER, NULL},
	{"max_cq", DEV_OLD(max_cq), VF_INFO_NUMBER, NULL},
	{"max_cqe", DEV_OLD(max_cqe), VF_INFO_NUMBER, NULL},
	{"max_mr", DEV_OLD(max_mr), VF_INFO_NUMBER, NULL},
	{"max_pd", DEV_OLD(max_pd), VF_INFO_NUMBER, NULL},
	{"max_qp_rd_atom", DEV_OLD(max_qp_rd_atom), VF_INFO_NUMBER, NULL},
	{"max_ee_rd_atom", DEV_OLD(max_ee_rd_atom), VF_INFO_NUMBER, NULL},
	{"max_res_rd_atom", DEV_OLD(max_res_rd_atom), VF_INFO_NUMBER, NULL},
	{"max_qp_init_rd_atom", DEV_OLD(max_qp_init_rd_atom), VF_INFO_NUMBER, NULL},
	{"max_ee_init_rd_atom", DEV_OLD(max_ee_init_rd_atom), VF_INFO_NUMBER, NULL},
	{"atomic_cap", DEV_OLD(atomic_cap), VF_INFO_CHOICE, atomic_names},
	{"max_ee", DEV_OLD(max_ee), VF_INFO_NUMBER, NULL},
	{"max_rdd", DEV_OLD(max_rdd), VF_INFO_NUMBER, NULL},
	{"max_mw", DEV_OLD(max_mw), VF_INFO_NUMBER, NULL},
	{"max_raw_ipv6_qp", DEV_OLD(max_raw_ipv6_qp), VF_INFO_NUMBER, NULL},
	{"max_raw_ethy_qp", DEV_OLD(max_raw_ethy_qp), VF_INFO_NUMBER, NULL},
	{"max_mcast_grp", DEV_OLD(max_mcast_grp), VF_INFO_NUMBER, NULL},
	{"max_mcast_qp_attach", DEV_OLD(max_mcast_qp_attach), VF_INFO_NUMBER, NULL},
	{"max_total_mcast_qp_attach", DEV_OLD(max_total_mcast_qp_attach), VF_INFO_NUMBER, NULL},
	{"max_ah", DEV_OLD(max_ah), VF_INFO_NUMBER, NULL},
	{"max_fmr", DEV_OLD(max_fmr), VF_INFO_NUMBER, NULL},
	{"max_map_per_fmr", DEV_OLD(max_map_per_fmr), VF_INFO_NUMBER, NULL},
	{"max_srq", DEV_OLD(max_srq), VF_INFO_NUMBER, NULL},
	{"max_srq_wr", DEV_OLD(max_srq_wr), VF_INFO_NUMBER, NULL},
	{"max_srq_sge", DEV_OLD(max_srq_sge), VF_INFO_NUMBER, NULL},
	{"max_pkeys", DEV_OLD(max_pkeys), VF_INFO_NUMBER, NULL},
	{"local_ca_ack_delay", DEV_OLD(local_ca_ack_delay), VF_INFO_NUMBER, NULL},
	{"odp_caps.general_caps", DEV(odp_caps.general_caps), VF_INFO_FLAGS, odp_general},
	{"odp_caps.rc_odp_caps", DEV(odp_caps.per_transport_caps.rc_odp_caps), VF_INFO_FLAGS, odp_transport},
	{"odp_caps.uc_odp_caps", DEV(odp_caps.per_transport_caps.uc_odp_caps), VF_INFO_FLAGS, odp_transport},
	{"odp_caps.ud_odp_caps", DEV(odp_caps.per_transport_caps.ud_odp_caps), VF_INFO_FLAGS, odp_transport},
	{"xrc_odp_caps", DEV(xrc_odp_caps), VF_INFO_FLAGS, odp_transport},
	{"completion_timestamp_mask", DEV(completion_timestamp_mask), VF_INFO_HEX, NULL},
	{"hca_core_clock", DEV(hca_core_clock), VF_INFO_NUMBER, NULL},
	{"device_cap_flags_ex", DEV(device_cap_flags_ex), VF_INFO_FLAGS, device_flags},
	{"tso_caps.max_tso", DEV(tso_caps.max_tso), VF_INFO_NUMBER, NULL},
	{"tso_caps.supported_qpts", DEV(tso_caps.supported_qpts), VF_INFO_TYPES, NULL},
	{"rss_caps.supported_qpts", DEV(rss_caps.supported_qpts), VF_INFO_TYPES, NULL},
	{"rss_caps.max_rwq_indirection_tables", DEV(rss_caps.max_rwq_indirection_tables), VF_INFO_NUMBER, NULL},
	{"rss_caps.max_rwq_indirection_table_size", DEV(rss_caps.max_rwq_indirection_table_size), VF_INFO_NUMBER, NULL},
	{"rss_caps.rx_hash_fields_mask", DEV(rss_caps.rx_hash_fields_mask), VF_INFO_HEX, NULL},
	{"rss_caps.rx_hash_function", DEV(rss_caps.rx_hash_function), VF_INFO_HEX, NULL},
	{"max_wq_type_rq", DEV(max_wq_type_rq), VF_INFO_NUMBER, NULL},
	{"packet_pacing_caps.qp_rate_limit_min", DEV(packet_pacing_caps.qp_rate_limit_min), VF_INFO_NUMBER, NULL},
	{"packet_pacing_caps.qp_rate_limit_max", DEV(packet_pacing_caps.qp_rate_limit_max), VF_INFO_NUMBER, NULL},
	{"packet_pacing_caps.supported_qpts", DEV(packet_pacing_caps.supported_qpts), VF_INFO_TYPES, NULL},
	{"raw_packet_caps", DEV(raw_packet_caps), VF_INFO_FLAGS, raw_caps},
	{"tm_caps.max_rndv_hdr_size", DEV(tm_caps.max_rndv_hdr_size), VF_INFO_NUMBER, NULL},
	{"tm_caps.max_num_tags", DEV(tm_caps.max_num_tags), VF_INFO_NUMBER, NULL},
	{"tm_caps.flags", DEV(tm_caps.flags), VF_INFO_FLAGS, tm_flags},
	{"tm_caps.max_ops", DEV(tm_caps.max_ops), VF_INFO_NUMBER, NULL},
	{"tm_caps.max_sge", DEV(tm_caps.max_sge), VF_INFO_NUMBER, NULL},
	{"cq_mod_caps.max_cq_count", DEV(cq_mod_caps.max_cq_count), VF_INFO_NUMBER, NULL},
	{"cq_mod_caps.max_cq_period", DEV(cq_mod_caps.max_cq_period), VF_INFO_NUMBER, NULL},
	{"max_dm_size", DEV(max_dm_size), VF_INFO_NUMBER, NULL},
	{"pci_atomic_caps.fetch_add", DEV(pci_atomic_caps.fetch_add), VF_INFO_HEX, NULL},
	{"pci_atomic_caps.swap", DEV(pci_atomic_caps.swap), VF_INFO_HEX, NULL},
	{"pci_atomic_caps.compare_swap", DEV(pci_atomic_caps.compare_swap), VF_INFO_HEX, NULL},
	{"phys_port_cnt_ex", DEV(phys_port_cnt_ex), VF_INFO_NUMBER, NULL},
	{NULL, 0, 0, VF_INFO_NUMBER, NULL},
};

const struct vf_info_field vf_info_port[] = {
	{"state", PORT(state), VF_INFO_CHOICE, port_states},
	{"phys_state", PORT(phys_state), VF_INFO_CHOICE, phys_states},
	{"link_layer", PORT(link_layer), VF_INFO_CHOICE, link_layers},
	{"max_mtu", PORT(max_mtu), VF_INFO_CHOICE, mtus},
	{"active_mtu", PORT(active_mtu), VF_INFO_CHOICE, mtus},
	{"sm_lid", PORT(sm_lid), VF_INFO_NUMBER, NULL},
	{"lid", PORT(lid), VF_INFO_NUMBER, NULL},
	{"lmc", PORT(lmc), VF_INFO_HEX, NULL},
	{"max_msg_sz", PORT(max_msg_sz), VF_INFO_HEX, NULL},
	{"port_cap_flags", PORT(port_cap_flags), VF_INFO_FLAGS, port_flags},
	{"port_cap_flags2", PORT(port_cap_flags2), VF_INFO_HEX, NULL},
	{"max_vl_num", PORT(max_vl_num), VF_INFO_NUMBER, NULL},
	{"bad_pkey_cntr", PORT(bad_pkey_cntr), VF_INFO_NUMBER, NULL},
	{"qkey_viol_cntr", PORT(qkey_viol_cntr), VF_INFO_NUMBER, NULL},
	{"sm_sl", PORT(sm_sl), VF_INFO_NUMBER, NULL},
	{"pkey_tbl_len", PORT(pkey_tbl_len), VF_INFO_NUMBER, NULL},
	{"gid_tbl_len", PORT(gid_tbl_len), VF_INFO_NUMBER, NULL},
	{"subnet_timeout", PORT(subnet_timeout), VF_INFO_NUMBER, NULL},
	{"init_type_reply", PORT(init_type_reply), VF_INFO_NUMBER, NULL},
	{"active_width", PORT(active_width), VF_INFO_CHOICE, widths},
	{"active_speed", PORT(active_speed), VF_INFO_CHOICE, speeds},
	{"flags", PORT(flags), VF_INFO_HEX, NULL},
	{NULL, 0, 0, VF_INFO_NUMBER, NULL},
};
/* clang-format on */

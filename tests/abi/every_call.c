/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uses every header and every inline function of the public interface, so that a compiler has seen
 * all of it. Compiled as C and as C++ in several dialects (tests/abi/compiles), never run.
 */
#include <infiniband/arch.h>
#include <infiniband/ib.h>
#include <infiniband/marshall.h>
#include <infiniband/opcode.h>
#include <infiniband/sa-kern-abi.h>
#include <infiniband/sa.h>
#include <infiniband/tm_types.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#include <verbifrost/verbifrost.h>

struct all {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_td *td;
	struct ibv_xrcd *xrcd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_dm *dm;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex;
	struct ibv_wq *wq;
	struct ibv_rwq_ind_table *table;
	struct ibv_ah *ah;
	struct ibv_flow *flow;
	struct ibv_flow_action *action;
	struct ibv_counters *counters;
	struct rdma_cm_id *id;
	char buf[64];
};

int use_device(struct all *a);
int use_memory(struct all *a, int access);
int use_completions(struct all *a);
int use_queues(struct all *a);
int use_wr(struct all *a);
int use_flows(struct all *a);
int use_cm(struct all *a);
int use_small_headers(void);

int use_device(struct all *a)
{
	struct ibv_device_attr_ex device;
	struct ibv_query_device_ex_input input = {0};
	struct ibv_port_attr port;
	struct ibv_gid_entry gid;
	struct ibv_values_ex values;
	struct ibv_td_init_attr td = {0};
	struct ibv_parent_domain_init_attr pd;
	struct ibv_xrcd_init_attr xrcd;
	struct verbs_context *vctx = verbs_get_ctx_op(a->ctx, query_port);
	int err = vctx == NULL || verbs_get_ctx(a->ctx) == NULL;

	memset(&pd, 0, sizeof(pd));
	memset(&xrcd, 0, sizeof(xrcd));
	err |= ibv_query_device_ex(a->ctx, &input, &device);
	err |= ibv_query_port(a->ctx, 1, &port);
	err |= ibv_query_gid_ex(a->ctx, 1, 0, &gid, 0);
	err |= ibv_query_gid_table(a->ctx, &gid, 1, 0) < 0;
	err |= ibv_query_rt_values_ex(a->ctx, &values);
	err |= !ibv_is_qpt_supported(device.tso_caps.supported_qpts, IBV_QPT_RAW_PACKET);
	err |= !vext_field_avail(struct ibv_device_attr_ex, tm_caps, sizeof(device));
	a->td = ibv_alloc_td(a->ctx, &td);
	a->pd = ibv_alloc_parent_domain(a->ctx, &pd);
	a->xrcd = ibv_open_xrcd(a->ctx, &xrcd);
	err |= ibv_dealloc_td(a->td);
	err |= ibv_close_xrcd(a->xrcd);
	return err;
}

int use_memory(struct all *a, int access)
{
	struct ibv_alloc_dm_attr dm = {0, 0, 0};
	struct ibv_mw_bind bind;
	struct ibv_sge sge = {0, 0, 0};
	int err = 0;

	a->mr = ibv_reg_mr(a->pd, a->buf, sizeof(a->buf), IBV_ACCESS_LOCAL_WRITE);
	a->mr = ibv_reg_mr(a->pd, a->buf, sizeof(a->buf), access);
	a->mr = ibv_reg_mr_iova(a->pd, a->buf, sizeof(a->buf), 0, IBV_ACCESS_LOCAL_WRITE);
	a->mr = ibv_reg_mr_iova(a->pd, a->buf, sizeof(a->buf), 0, access);
	a->mr = ibv_reg_mr(a->pd, a->buf, sizeof(a->buf),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	a->mr = ibv_alloc_null_mr(a->pd);
	err |= ibv_advise_mr(a->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, &sge,
			     1);
	a->dm = ibv_alloc_dm(a->ctx, &dm);
	a->mr = ibv_reg_dm_mr(a->pd, a->dm, 0, 8, IBV_ACCESS_ZERO_BASED);
	err |= ibv_memcpy_to_dm(a->dm, 0, a->buf, 8);
	err |= ibv_memcpy_from_dm(a->buf, a->dm, 0, 8);
	err |= ibv_free_dm(a->dm);
	a->mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_1);
	memset(&bind, 0, sizeof(bind));
	err |= ibv_bind_mw(a->qp, a->mw, &bind);
	err |= ibv_inc_rkey(a->mw->rkey) == a->mw->rkey;
	err |= ibv_dealloc_mw(a->mw);
	return err;
}

int use_completions(struct all *a)
{
	struct ibv_cq_init_attr_ex init;
	struct ibv_modify_cq_attr modify = {IBV_CQ_ATTR_MODERATE, {1, 1}};
	struct ibv_poll_cq_attr poll = {0};
	struct ibv_wc_tm_info tm;
	struct ibv_wc wc;
	uint64_t sum;

	memset(&init, 0, sizeof(init));
	a->cq_ex = ibv_create_cq_ex(a->ctx, &init);
	a->cq = ibv_cq_ex_to_cq(a->cq_ex);
	sum = (uint64_t)ibv_modify_cq(a->cq, &modify);
	sum += (uint64_t)ibv_poll_cq(a->cq, 1, &wc) + (uint64_t)ibv_req_notify_cq(a->cq, 0);
	sum += (uint64_t)ibv_start_poll(a->cq_ex, &poll) + (uint64_t)ibv_next_poll(a->cq_ex);
	sum += (uint64_t)ibv_wc_read_opcode(a->cq_ex) + ibv_wc_read_vendor_err(a->cq_ex);
	sum += ibv_wc_read_byte_len(a->cq_ex) + (uint64_t)ibv_wc_read_imm_data(a->cq_ex);
	sum += ibv_wc_read_invalidated_rkey(a->cq_ex) + ibv_wc_read_qp_num(a->cq_ex);
	sum += ibv_wc_read_src_qp(a->cq_ex) + ibv_wc_read_wc_flags(a->cq_ex);
	sum += ibv_wc_read_slid(a->cq_ex) + ibv_wc_read_sl(a->cq_ex);
	sum += ibv_wc_read_dlid_path_bits(a->cq_ex) + ibv_wc_read_completion_ts(a->cq_ex);
	sum += ibv_wc_read_completion_wallclock_ns(a->cq_ex) + ibv_wc_read_cvlan(a->cq_ex);
	sum += ibv_wc_read_flow_tag(a->cq_ex);
	ibv_wc_read_tm_info(a->cq_ex, &tm);
	ibv_end_poll(a->cq_ex);
	return (int)(sum + tm.tag);
}

int use_queues(struct all *a)
{
	struct ibv_srq_init_attr_ex srq;
	struct ibv_qp_init_attr_ex qp;
	struct ibv_qp_open_attr open;
	struct ibv_qp_rate_limit_attr rate = {0, 0, 0, 0};
	struct ibv_wq_init_attr wq;
	struct ibv_wq_attr wq_attr;
	struct ibv_rwq_ind_table_init_attr table;
	struct ibv_recv_wr recv, *bad_recv;
	struct ibv_send_wr send, *bad_send;
	struct ibv_ops_wr ops, *bad_ops;
	uint32_t srq_num;
	int err = 0;

	memset(&srq, 0, sizeof(srq));
	memset(&qp, 0, sizeof(qp));
	memset(&open, 0, sizeof(open));
	memset(&wq, 0, sizeof(wq));
	memset(&wq_attr, 0, sizeof(wq_attr));
	memset(&table, 0, sizeof(table));
	memset(&recv, 0, sizeof(recv));
	memset(&send, 0, sizeof(send));
	memset(&ops, 0, sizeof(ops));
	a->srq = ibv_create_srq_ex(a->ctx, &srq);
	err |= ibv_get_srq_num(a->srq, &srq_num);
	err |= ibv_post_srq_recv(a->srq, &recv, &bad_recv);
	err |= ibv_post_srq_ops(a->srq, &ops, &bad_ops);
	a->qp = ibv_create_qp_ex(a->ctx, &qp);
	a->qp = ibv_open_qp(a->ctx, &open);
	err |= ibv_modify_qp_rate_limit(a->qp, &rate);
	err |= ibv_post_send(a->qp, &send, &bad_send);
	err |= ibv_post_recv(a->qp, &recv, &bad_recv);
	a->wq = ibv_create_wq(a->ctx, &wq);
	err |= ibv_modify_wq(a->wq, &wq_attr);
	err |= ibv_post_wq_recv(a->wq, &recv, &bad_recv);
	a->table = ibv_create_rwq_ind_table(a->ctx, &table);
	err |= ibv_destroy_rwq_ind_table(a->table);
	err |= ibv_destroy_wq(a->wq);
	err |= ibv_flow_label_to_udp_sport(IB_GRH_FLOWLABEL_MASK) <
	       IB_ROCE_UDP_ENCAP_VALID_PORT_MIN;
	return err;
}

int use_wr(struct all *a)
{
	struct ibv_mw_bind_info info = {NULL, 0, 0, 0};
	struct ibv_data_buf buf = {a->buf, sizeof(a->buf)};
	struct ibv_sge sge = {0, 0, 0};

	a->qp_ex->wr_id = 1;
	a->qp_ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_start(a->qp_ex);
	ibv_wr_send(a->qp_ex);
	ibv_wr_send_imm(a->qp_ex, 0);
	ibv_wr_send_inv(a->qp_ex, 0);
	ibv_wr_send_tso(a->qp_ex, a->buf, 14, 1024);
	ibv_wr_rdma_write(a->qp_ex, 0, 0);
	ibv_wr_rdma_write_imm(a->qp_ex, 0, 0, 0);
	ibv_wr_rdma_read(a->qp_ex, 0, 0);
	ibv_wr_atomic_cmp_swp(a->qp_ex, 0, 0, 0, 0);
	ibv_wr_atomic_fetch_add(a->qp_ex, 0, 0, 0);
	ibv_wr_atomic_write(a->qp_ex, 0, 0, a->buf);
	ibv_wr_flush(a->qp_ex, 0, 0, 8, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	ibv_wr_bind_mw(a->qp_ex, a->mw, 0, &info);
	ibv_wr_local_inv(a->qp_ex, 0);
	ibv_wr_set_ud_addr(a->qp_ex, a->ah, 1, 0x11111111);
	ibv_wr_set_xrc_srqn(a->qp_ex, 1);
	ibv_wr_set_inline_data(a->qp_ex, a->buf, 8);
	ibv_wr_set_inline_data_list(a->qp_ex, 1, &buf);
	ibv_wr_set_sge(a->qp_ex, 0, 0, 8);
	ibv_wr_set_sge_list(a->qp_ex, 1, &sge);
	ibv_wr_abort(a->qp_ex);
	return ibv_wr_complete(a->qp_ex);
}

int use_flows(struct all *a)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule;
	struct ibv_flow_action_esp_attr esp;
	struct ibv_counters_init_attr counters = {0};
	struct ibv_counter_attach_attr attach = {IBV_COUNTER_PACKETS, 0, 0};
	struct ibv_comp_cntr_caps caps;
	uint64_t value;
	int err = 0;

	memset(&rule, 0, sizeof(rule));
	memset(&esp, 0, sizeof(esp));
	rule.eth.type = IBV_FLOW_SPEC_ETH;
	a->flow = ibv_create_flow(a->qp, &rule.attr);
	a->action = ibv_create_flow_action_esp(a->ctx, &esp);
	err |= ibv_modify_flow_action_esp(a->action, &esp);
	err |= ibv_destroy_flow_action(a->action);
	a->counters = ibv_create_counters(a->ctx, &counters);
	err |= ibv_attach_counters_point_flow(a->counters, &attach, a->flow);
	err |= ibv_read_counters(a->counters, &value, 1, IBV_READ_COUNTERS_ATTR_PREFER_CACHED);
	err |= ibv_destroy_counters(a->counters);
	err |= ibv_destroy_flow(a->flow);
	err |= ibv_query_comp_cntr_caps(a->ctx, &caps);
	return err;
}

int use_cm(struct all *a)
{
	struct ibv_sge sge = {0, 0, 0};
	struct ibv_wc wc;
	int err = 0;

	err |= rdma_get_local_addr(a->id)->sa_family != rdma_get_peer_addr(a->id)->sa_family;
	a->mr = rdma_reg_msgs(a->id, a->buf, sizeof(a->buf));
	a->mr = rdma_reg_read(a->id, a->buf, sizeof(a->buf));
	a->mr = rdma_reg_write(a->id, a->buf, sizeof(a->buf));
	err |= rdma_post_recvv(a->id, a, &sge, 1);
	err |= rdma_post_sendv(a->id, a, &sge, 1, IBV_SEND_INLINE);
	err |= rdma_post_readv(a->id, a, &sge, 1, 0, 0, 0);
	err |= rdma_post_writev(a->id, a, &sge, 1, 0, 0, 0);
	err |= rdma_post_recv(a->id, a, a->buf, 8, a->mr);
	err |= rdma_post_send(a->id, a, a->buf, 8, a->mr, 0);
	err |= rdma_post_read(a->id, a, a->buf, 8, a->mr, 0, 0, 0);
	err |= rdma_post_write(a->id, a, a->buf, 8, a->mr, 0, 0, 0);
	err |= rdma_post_ud_send(a->id, a, a->buf, 8, a->mr, 0, a->ah, 1);
	err |= rdma_get_send_comp(a->id, &wc) != 1 || rdma_get_recv_comp(a->id, &wc) != 1;
	err |= rdma_dereg_mr(a->mr);
	return rdma_seterrno(err);
}

int use_small_headers(void)
{
	struct ib_addr a, b;
	struct sockaddr_ib sib;

	memset(&sib, 0, sizeof(sib));
	sib.sib_family = AF_IB;
	ib_addr_set(&a, 0, 0, 0, 0);
	b = a;
	return ib_addr_any(&a) + ib_addr_loopback(&a) + ib_addr_cmp(&a, &b) + sib.sib_family +
	       (int)ntohll(htonll(1)) + IBV_OPCODE_RC_FETCH_ADD + IBV_TMH_EAGER;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs through the exported calls: creation, every attribute set wrong one at a time,
 * states, groups. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "verbifrost/verbifrost.h"

static struct fake_rig rig;

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_rig_make(&rig);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_rig_end(&rig);
	return 0;
}

/* ---- creation ---- */

static void what_was_granted_comes_back(void **state)
{
	struct ibv_qp_init_attr a = {.send_cq = rig.cq,
				     .recv_cq = rig.cq,
				     .qp_type = IBV_QPT_UC,
				     .qp_context = &rig,
				     .cap.max_inline_data = 5};
	struct ibv_qp_init_attr_ex x = {.send_cq = rig.cq,
					.recv_cq = rig.cq,
					.qp_type = IBV_QPT_UC,
					.comp_mask = IBV_QP_INIT_ATTR_PD |
						     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					.pd = rig.pd};
	struct ibv_qp *qp = ibv_create_qp(rig.pd, &a);
	struct ibv_qp *ex = ibv_create_qp_ex(rig.ctx, &x);

	(void)state;
	assert_int_equal(a.cap.max_inline_data, 1024);
	assert_int_equal(x.cap.max_inline_data, 1024);
	assert_ptr_equal(qp->qp_context, &rig);
	assert_ptr_equal(qp->pd, rig.pd);
	assert_ptr_equal(qp->send_cq, rig.cq);
	assert_int_equal(qp->qp_type, IBV_QPT_UC);
	assert_int_equal(qp->state, IBV_QPS_RESET);
	assert_null(ibv_qp_to_qp_ex(qp));
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(ibv_qp_to_qp_ex(ex), ex);
	ibv_destroy_qp(ex);
	ibv_destroy_qp(qp);
}

static void types_and_masks_that_are_not_served_are_refused(void **state)
{
	static const struct {
		uint32_t type, mask;
		int err;
	} rows[] = {
		{IBV_QPT_RAW_PACKET, 1, EOPNOTSUPP},
		{IBV_QPT_XRC_SEND, 1, EOPNOTSUPP},
		{IBV_QPT_XRC_RECV, 1, EOPNOTSUPP},
		{IBV_QPT_DRIVER, 1, EOPNOTSUPP},
		{0, 1, EINVAL},
		{5, 1, EINVAL},
		{IBV_QPT_RC, 0, EINVAL},
		{IBV_QPT_RC, 1 << 12, EINVAL},
		{IBV_QPT_RC, 1 | 1 << 1, EOPNOTSUPP},
		{IBV_QPT_RC, 1 | 1 << 3, EOPNOTSUPP},
		{IBV_QPT_RC, 1 | 1 << 5, EOPNOTSUPP},
	};

	(void)state;
	for (size_t i = 0; i < VF_ARRAY_SIZE(rows); i++) {
		struct ibv_qp_init_attr_ex x = {.send_cq = rig.cq,
						.recv_cq = rig.cq,
						.qp_type = (enum ibv_qp_type)rows[i].type,
						.comp_mask = rows[i].mask,
						.pd = rig.pd};

		errno = 0;
		assert_null(verbs_get_ctx(rig.ctx)->create_qp_ex(rig.ctx, &x));
		if (errno != rows[i].err)
			fail_msg("row %zu: errno %d", i, errno);
	}
}

static void a_queue_pair_needs_both_completion_queues(void **state)
{
	struct ibv_qp_init_attr a = {.send_cq = rig.cq, .qp_type = IBV_QPT_RC};

	(void)state;
	assert_null(ibv_create_qp(rig.pd, &a));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(vf_reason_last(), "ibv_create_qp: recv_cq is NULL");
}

/* ---- moves ---- */

static const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
static const int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
static const int to_rts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

static struct ibv_qp_attr right(enum ibv_qp_state state)
{
	struct ibv_qp_attr a = {.qp_state = state,
				.port_num = 1,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = 0x11,
				.rq_psn = 7,
				.sq_psn = 7,
				.max_rd_atomic = 1,
				.max_dest_rd_atomic = 1,
				.min_rnr_timer = 12,
				.timeout = 14,
				.retry_cnt = 7,
				.rnr_retry = 7};

	a.ah_attr = fake_av();
	return a;
}

static struct ibv_qp *rc_in(enum ibv_qp_state state)
{
	struct ibv_qp *qp = fake_qp(&rig, IBV_QPT_RC);
	struct ibv_qp_attr a = right(IBV_QPS_INIT);

	assert_int_equal(ibv_modify_qp(qp, &a, to_init), 0);
	a.qp_state = IBV_QPS_RTR;
	if (state >= IBV_QPS_RTR)
		assert_int_equal(ibv_modify_qp(qp, &a, to_rtr), 0);
	a.qp_state = IBV_QPS_RTS;
	if (state >= IBV_QPS_RTS)
		assert_int_equal(ibv_modify_qp(qp, &a, to_rts), 0);
	assert_int_equal(qp->state, state);
	return qp;
}

static void a_queue_pair_goes_through_its_states(void **state)
{
	struct ibv_qp *qp = rc_in(IBV_QPS_RTS);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};

	(void)state;
	assert_int_equal(fake.last_mask, to_rts);
	assert_int_equal(ibv_query_qp(qp, &a, IBV_QP_STATE, &init), 0);
	assert_int_equal(a.qp_state, IBV_QPS_RTS);
	assert_ptr_equal(init.send_cq, rig.cq);
	assert_int_equal(init.qp_type, IBV_QPT_RC);
	a.qp_state = IBV_QPS_ERR;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	assert_int_equal(qp->state, IBV_QPS_ERR);
	a.qp_state = IBV_QPS_RESET;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	ibv_destroy_qp(qp);
}

static void a_move_counts_from_the_state_that_it_really_has(void **state)
{
	struct ibv_qp *qp = rc_in(IBV_QPS_RTR);
	struct ibv_qp_attr a = right(IBV_QPS_RTS);
	struct ibv_qp_init_attr init;

	(void)state;
	fake.has_own_state = true;
	fake.state = IBV_QPS_ERR;
	assert_int_equal(ibv_modify_qp(qp, &a, to_rts), EINVAL);
	assert_string_equal(vf_reason_last(),
			    "ibv_modify_qp: RC queue pairs do not go from ERR to RTS");
	assert_int_equal(ibv_query_qp(qp, &a, 0, &init), 0);
	assert_int_equal(qp->state, IBV_QPS_ERR);
	fake.has_own_state = false;
	ibv_destroy_qp(qp);
}

static void a_wrong_current_state_is_refused(void **state)
{
	struct ibv_qp *qp = rc_in(IBV_QPS_RTR);
	struct ibv_qp_attr a = right(IBV_QPS_RTS);

	(void)state;
	a.cur_qp_state = IBV_QPS_SQD;
	assert_int_equal(ibv_modify_qp(qp, &a, to_rts | IBV_QP_CUR_STATE), EINVAL);
	assert_non_null(strstr(vf_reason_last(), "cur_qp_state SQD"));
	a.cur_qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, to_rts | IBV_QP_CUR_STATE), 0);
	ibv_destroy_qp(qp);
}

static void a_refusal_of_the_device_leaves_the_state(void **state)
{
	struct ibv_qp *qp = rc_in(IBV_QPS_INIT);
	struct ibv_qp_attr a = right(IBV_QPS_RTR);

	(void)state;
	fake.error = ENETUNREACH;
	errno = 0;
	assert_int_equal(ibv_modify_qp(qp, &a, to_rtr), ENETUNREACH);
	assert_int_equal(errno, ENETUNREACH);
	assert_int_equal(qp->state, IBV_QPS_INIT);
	ibv_destroy_qp(qp);
}

/* Each row spoils one attribute; the reason must name it. */
struct wrong {
	const char *name;
	int err;
	void (*spoil)(struct ibv_qp_attr *a);
};

static void port_0(struct ibv_qp_attr *a) { a->ah_attr.port_num = 0; }
static void port_2(struct ibv_qp_attr *a) { a->ah_attr.port_num = 2; }
static void not_global(struct ibv_qp_attr *a) { a->ah_attr.is_global = 0; }
static void empty_source(struct ibv_qp_attr *a) { a->ah_attr.grh.sgid_index = 2; }
static void far_source(struct ibv_qp_attr *a) { a->ah_attr.grh.sgid_index = 4; }
static void no_dgid(struct ibv_qp_attr *a) { memset(&a->ah_attr.grh.dgid, 0, 16); }
static void group(struct ibv_qp_attr *a) { a->ah_attr.grh.dgid.raw[12] = 224; }
static void group_v6(struct ibv_qp_attr *a) { a->ah_attr.grh.dgid.raw[0] = 0xff; }
static void other_family(struct ibv_qp_attr *a) { a->ah_attr.grh.dgid = fake.gid[0]; }
static void mtu_0(struct ibv_qp_attr *a) { a->path_mtu = 0; }
static void mtu_6(struct ibv_qp_attr *a) { a->path_mtu = (enum ibv_mtu)6; }
static void mtu_2048(struct ibv_qp_attr *a) { a->path_mtu = IBV_MTU_2048; }
static void qpn_25_bits(struct ibv_qp_attr *a) { a->dest_qp_num = 1 << 24; }
static void psn_25_bits(struct ibv_qp_attr *a) { a->rq_psn = 1 << 24; }
static void atomics_17(struct ibv_qp_attr *a) { a->max_dest_rd_atomic = 17; }
static void timer_32(struct ibv_qp_attr *a) { a->min_rnr_timer = 32; }

static const struct wrong wrong_rtr[] = {
	{"ah_attr.port_num", EINVAL, port_0},
	{"ah_attr.port_num", EINVAL, port_2},
	{"ah_attr.is_global 0: RoCE needs is_global=1 and a dgid", EINVAL, not_global},
	{"ah_attr.grh.sgid_index 2 is an empty entry; vf_fake0 has 0: fe80::1, 1: ::ffff:10.0.0.1",
	 ENODATA, empty_source},
	{"ah_attr.grh.sgid_index 4 is outside the table", EINVAL, far_source},
	{"ah_attr.grh.dgid :: is zero; the GIDs here are 0: fe80::1", EINVAL, no_dgid},
	{"ah_attr.grh.dgid ::ffff:224.0.0.2 is that of a group", EINVAL, group},
	{"ah_attr.grh.dgid ff00::ffff:a00:2 is that of a group", EINVAL, group_v6},
	{"one is IPv4 and one is IPv6", EINVAL, other_family},
	{"path_mtu 0, allowed", EINVAL, mtu_0},
	{"path_mtu 6, allowed", EINVAL, mtu_6},
	{"path_mtu 4 (2048 bytes), but port 1 has active_mtu 3 (1024 bytes)", EINVAL, mtu_2048},
	{"dest_qp_num 16777216, allowed are 0 to 16777215", EINVAL, qpn_25_bits},
	{"rq_psn 16777216", EINVAL, psn_25_bits},
	{"max_dest_rd_atomic 17, allowed are 0 to 16", EINVAL, atomics_17},
	{"min_rnr_timer 32, allowed are 0 to 31", EINVAL, timer_32},
};

static void timeout_32(struct ibv_qp_attr *a) { a->timeout = 32; }
static void retry_8(struct ibv_qp_attr *a) { a->retry_cnt = 8; }
static void rnr_8(struct ibv_qp_attr *a) { a->rnr_retry = 8; }
static void sq_psn(struct ibv_qp_attr *a) { a->sq_psn = 0xff000000; }
static void atomics_9(struct ibv_qp_attr *a) { a->max_rd_atomic = 9; }

static const struct wrong wrong_rts[] = {
	{"timeout 32", EINVAL, timeout_32},
	{"retry_cnt 8, allowed are 0 to 7", EINVAL, retry_8},
	{"rnr_retry 8", EINVAL, rnr_8},
	{"sq_psn 4278190080", EINVAL, sq_psn},
	{"max_rd_atomic 9, allowed are 0 to 8", EINVAL, atomics_9},
};

static void qp_port_2(struct ibv_qp_attr *a) { a->port_num = 2; }
static void pkey_1(struct ibv_qp_attr *a) { a->pkey_index = 1; }
static void access_12(struct ibv_qp_attr *a) { a->qp_access_flags = 1 << 12; }

static const struct wrong wrong_init[] = {
	{"port_num: port 2", EINVAL, qp_port_2},
	{"pkey_index 1", EINVAL, pkey_1},
	{"qp_access_flags 0x1000", EINVAL, access_12},
};

static void count_line(int level, const char *line, void *arg)
{
	(void)level, (void)line;
	++*(int *)arg;
}

static void check_wrong(struct ibv_qp *qp, const struct wrong *w, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr a = right(to);
	int got, lines = 0;

	w->spoil(&a);
	verbifrost_set_log(count_line, &lines);
	verbifrost_set_log_level(2);
	errno = 0;
	got = ibv_modify_qp(qp, &a, mask);
	verbifrost_set_log_level(0);
	verbifrost_set_log(NULL, NULL);
	if (lines != 1 || got != w->err || errno != w->err || !strstr(vf_reason_last(), w->name))
		fail_msg("%s: %d, errno %d, %d lines: %s", w->name, got, errno, lines,
			 vf_reason_last());
}

static void every_attribute_out_of_range_is_named(void **state)
{
	struct ibv_qp *reset = fake_qp(&rig, IBV_QPT_RC), *init = rc_in(IBV_QPS_INIT);
	struct ibv_qp *rtr = rc_in(IBV_QPS_RTR);

	(void)state;
	for (size_t i = 0; i < VF_ARRAY_SIZE(wrong_init); i++)
		check_wrong(reset, &wrong_init[i], IBV_QPS_INIT, to_init);
	for (size_t i = 0; i < VF_ARRAY_SIZE(wrong_rtr); i++)
		check_wrong(init, &wrong_rtr[i], IBV_QPS_RTR, to_rtr);
	for (size_t i = 0; i < VF_ARRAY_SIZE(wrong_rts); i++)
		check_wrong(rtr, &wrong_rts[i], IBV_QPS_RTS, to_rts);
	ibv_destroy_qp(reset);
	ibv_destroy_qp(init);
	ibv_destroy_qp(rtr);
}

/* 10.0.0.1 is the fake device's address. */
static void a_lid_stands_for_an_address_when_lids_are_asked_for(void **state)
{
	struct ibv_ah_attr av = {.port_num = 1, .dlid = 0x0709};
	struct ibv_qp *qp = rc_in(IBV_QPS_INIT);
	struct ibv_qp_attr a = right(IBV_QPS_RTR);
	struct ibv_port_attr port;
	struct ibv_ah *ah;

	(void)state;
	assert_int_equal(ibv_query_port(rig.ctx, 1, &port), 0);
	assert_int_equal(port.lid, 0);
	setenv("VERBIFROST_LID", "on", 1);
	assert_int_equal(ibv_query_port(rig.ctx, 1, &port), 0);
	assert_int_equal(port.lid, 0x0001);
	ah = ibv_create_ah(rig.pd, &av);
	assert_non_null(ah);
	assert_int_equal(fake.last_av.is_global, 1);
	assert_int_equal(fake.last_av.grh.sgid_index, 1);
	assert_memory_equal(fake.last_av.grh.dgid.raw + 10, "\xff\xff\x0a\0\x07\x09", 6);
	ibv_destroy_ah(ah);
	a.ah_attr = av;
	a.path_mtu = IBV_MTU_2048; /* more than the port's */
	assert_int_equal(ibv_modify_qp(qp, &a, to_rtr), 0);
	assert_int_equal(fake.last_mtu, IBV_MTU_1024);
	assert_int_equal(fake.last_av.grh.dgid.raw[15], 9);
	assert_int_equal(a.ah_attr.is_global, 0); /* the program's own stays as it is */
	av.dlid = 0;
	assert_null(ibv_create_ah(rig.pd, &av));
	unsetenv("VERBIFROST_LID");
	av.dlid = 9;
	assert_null(ibv_create_ah(rig.pd, &av));
	ibv_destroy_qp(qp);
}

static void one_path_is_all_there_is(void **state)
{
	struct ibv_qp *qp = rc_in(IBV_QPS_RTS);
	struct ibv_qp_attr a = right(IBV_QPS_RTS);

	(void)state;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_ALT_PATH), EOPNOTSUPP);
	a.path_mig_state = IBV_MIG_ARMED;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_PATH_MIG_STATE), EOPNOTSUPP);
	a.path_mig_state = IBV_MIG_MIGRATED;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_PATH_MIG_STATE), 0);
	ibv_destroy_qp(qp);
}

/* ---- groups ---- */

static void only_datagram_queue_pairs_join_groups(void **state)
{
	struct ibv_qp *ud = fake_qp(&rig, IBV_QPT_UD), *rc = fake_qp(&rig, IBV_QPT_RC);
	union ibv_gid mgid = {.raw = {0xff, 0x0e, [15] = 1}};

	(void)state;
	assert_int_equal(ibv_attach_mcast(ud, &mgid, 0), 0);
	assert_int_equal(ibv_detach_mcast(ud, &mgid, 0), 0);
	assert_int_equal(ibv_attach_mcast(rc, &mgid, 0), EINVAL);
	assert_int_equal(ibv_attach_mcast(ud, &fake.gid[1], 0), EINVAL);
	assert_string_equal(vf_reason_last(),
			    "ibv_attach_mcast: gid ::ffff:10.0.0.1 is not that of a group");
	ibv_destroy_qp(ud);
	ibv_destroy_qp(rc);
}

/* ---- address handles ---- */

static void address_handles_are_checked_as_paths_are(void **state)
{
	struct ibv_ah_attr av = fake_av();
	struct ibv_ah *ah = ibv_create_ah(rig.pd, &av);

	(void)state;
	assert_ptr_equal(ah->pd, rig.pd);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	av.is_global = 0;
	assert_null(ibv_create_ah(rig.pd, &av));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(vf_reason_last(),
			    "ah_attr.is_global 0: RoCE needs is_global=1 and a dgid");
	fake.link_layer = IBV_LINK_LAYER_INFINIBAND;
	ah = ibv_create_ah(rig.pd, &av);
	assert_non_null(ah);
	ibv_destroy_ah(ah);
	fake.link_layer = IBV_LINK_LAYER_ETHERNET;
	av = fake_av();
	av.grh.dgid.raw[12] = 239;
	ah = ibv_create_ah(rig.pd, &av);
	assert_non_null(ah); /* groups are for datagrams */
	ibv_destroy_ah(ah);
	av = fake_av();
	av.port_num = 2;
	assert_null(ibv_create_ah(rig.pd, &av));
	av = fake_av();
	av.grh.sgid_index = 3;
	assert_null(ibv_create_ah(rig.pd, &av));
	assert_int_equal(errno, ENODATA);
}

static void grh_ipv4(struct ibv_grh *grh, uint8_t last)
{
	uint8_t h[40] = {0};
	uint32_t sum = 0;

	h[20] = 0x45;
	h[21] = 0x20;
	h[28] = 64;
	h[29] = 17;
	memcpy(h + 32, (const uint8_t[]){10, 0, 0, 9, 10, 0, 0, last}, 8);
	for (int i = 20; i < 40; i += 2)
		sum += (uint32_t)(h[i] << 8 | h[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	vf_store_be16(h + 30, (uint16_t)~sum);
	memset(h, 0xff, 20); /* may hold anything */
	memcpy(grh, h, 40);
}

static void the_way_back_is_read_from_an_ipv4_header(void **state)
{
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .sl = 3};
	struct ibv_ah_attr av;
	struct ibv_grh grh;
	struct ibv_ah *ah;

	(void)state;
	grh_ipv4(&grh, 1);
	assert_int_equal(ibv_init_ah_from_wc(rig.ctx, 1, &wc, &grh, &av), 0);
	assert_int_equal(av.is_global, 1);
	assert_int_equal(av.grh.sgid_index, 1);
	assert_memory_equal(av.grh.dgid.raw + 12, "\x0a\0\0\x09", 4);
	assert_int_equal(av.grh.dgid.raw[11], 0xff);
	assert_int_equal(av.grh.traffic_class, 0x20);
	assert_int_equal(av.sl, 3);
	assert_int_equal(av.port_num, 1);
	ah = ibv_create_ah_from_wc(rig.pd, &wc, &grh, 1);
	assert_non_null(ah);
	ibv_destroy_ah(ah);
	grh_ipv4(&grh, 77);
	assert_null(ibv_create_ah_from_wc(rig.pd, &wc, &grh, 1));
	assert_string_equal(
		vf_reason_last(),
		"ibv_init_ah_from_wc: ::ffff:10.0.0.77 is no GID of port 1 of vf_fake0");
	((uint8_t *)&grh)[30] ^= 1;
	assert_int_equal(ibv_init_ah_from_wc(rig.ctx, 1, &wc, &grh, &av), EINVAL);
}

static void the_way_back_is_read_from_an_ipv6_header(void **state)
{
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH};
	struct ibv_grh grh = {.hop_limit = 1};
	struct ibv_ah_attr av;

	(void)state;
	vf_store_be32(&grh.version_tclass_flow, 0x6ab12345);
	grh.sgid = fake.gid[0];
	grh.sgid.raw[15] = 9;
	grh.dgid = fake.gid[0];
	assert_int_equal(ibv_init_ah_from_wc(rig.ctx, 1, &wc, &grh, &av), 0);
	assert_int_equal(av.grh.sgid_index, 0);
	assert_int_equal(av.grh.flow_label, 0x12345);
	assert_int_equal(av.grh.traffic_class, 0xab);
	assert_memory_equal(&av.grh.dgid, &grh.sgid, 16);
	grh.dgid = (union ibv_gid){.raw = {0xff, 2, [15] = 1}};
	assert_int_equal(ibv_init_ah_from_wc(rig.ctx, 1, &wc, &grh, &av), 0);
	assert_int_equal(av.grh.sgid_index, 0);
	assert_int_equal(ibv_init_ah_from_wc(rig.ctx, 1, &wc, NULL, &av), EINVAL);
	assert_int_equal(ibv_init_ah_from_wc(rig.ctx, 2, &wc, &grh, &av), EINVAL);
	wc.wc_flags = 0;
	assert_int_equal(ibv_init_ah_from_wc(rig.ctx, 1, &wc, NULL, &av), 0);
	assert_int_equal(av.is_global, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_granted_comes_back),
		TEST(types_and_masks_that_are_not_served_are_refused),
		TEST(a_queue_pair_needs_both_completion_queues),
		TEST(a_queue_pair_goes_through_its_states),
		TEST(a_move_counts_from_the_state_that_it_really_has),
		TEST(a_wrong_current_state_is_refused),
		TEST(a_refusal_of_the_device_leaves_the_state),
		TEST(every_attribute_out_of_range_is_named),
		TEST(a_lid_stands_for_an_address_when_lids_are_asked_for),
		TEST(one_path_is_all_there_is),
		TEST(only_datagram_queue_pairs_join_groups),
		TEST(address_handles_are_checked_as_paths_are),
		TEST(the_way_back_is_read_from_an_ipv4_header),
		TEST(the_way_back_is_read_from_an_ipv6_header),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("qp", tests, NULL, NULL);
}

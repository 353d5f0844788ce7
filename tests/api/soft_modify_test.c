/* SPDX-License-Identifier: BSD-2-Clause */
/* What modify_qp, create_ah and the create verbs refuse, with which number, and that the reason names the attribute. */
#include "soft_pair.h"

#include <arpa/inet.h>
#include <errno.h>

#define RTR_RC                                                                                  \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |         \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)

static struct pair pair;

/* Right in every field, towards the loopback device itself. */
static struct ibv_qp_attr rtr_attr(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = 0x123,
				.rq_psn = 5,
				.max_dest_rd_atomic = 1,
				.min_rnr_timer = 12};

	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.sgid_index = 1;
	a.ah_attr.grh.hop_limit = 64;
	ibv_query_gid(pair.a.ctx, 1, 1, &a.ah_attr.grh.dgid);
	return a;
}

static void refused(struct ibv_qp_attr *a, int mask, int err, const char *names)
{
	int got;

	errno = 0;
	got = ibv_modify_qp(pair.a.qp, a, mask);
	if (got != err || errno != err || !strstr(verbifrost_last_error(), names))
		fail_msg("expected %d and \"%s\", got %d, errno %d, \"%s\"", err, names, got, errno,
			 verbifrost_last_error());
}

static void fresh_pair(void)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};

	pair_open(&pair, &o);
	assert_int_equal(ibv_modify_qp(pair.a.qp, &a, IBV_QP_STATE), 0);
	pair_to_init(&pair, &pair.a);
}

static void each_wrong_attribute_of_rtr_is_named(void **state)
{
	struct ibv_qp_attr a;

	(void)state;
	fresh_pair();
#define WRONG(change, err, names)                                                               \
	do {                                                                                    \
		a = rtr_attr();                                                                 \
		change;                                                                         \
		refused(&a, RTR_RC, err, names);                                                \
	} while (0)
	WRONG(a.ah_attr.is_global = 0, EINVAL, "is_global");
	WRONG(a.ah_attr.port_num = 0, EINVAL, "port");
	WRONG(a.ah_attr.port_num = 2, EINVAL, "port");
	WRONG(a.ah_attr.grh.sgid_index = 200, EINVAL, "sgid_index");
	WRONG(a.ah_attr.grh.sgid_index = 100, ENODATA, "vf_lo has 0: ");
	WRONG(memset(&a.ah_attr.grh.dgid, 0, 16), EINVAL, "dgid");
	WRONG(a.ah_attr.grh.dgid.raw[12] = 224, EINVAL, "that of a group");
	WRONG(a.ah_attr.grh.dgid.raw[0] = 0x20, EINVAL, "one is IPv4 and one is IPv6");
	WRONG(a.dest_qp_num = 1 << 24, EINVAL, "dest_qp_num");
	WRONG(a.path_mtu = (enum ibv_mtu)0, EINVAL, "path_mtu");
	WRONG(a.path_mtu = (enum ibv_mtu)6, EINVAL, "path_mtu");
	WRONG(a.max_dest_rd_atomic = 129, EINVAL, "max_dest_rd_atomic");
	WRONG(a.min_rnr_timer = 32, EINVAL, "min_rnr_timer");
	WRONG(a.rq_psn = 1 << 24, EINVAL, "rq_psn");
	a = rtr_attr();
	refused(&a, RTR_RC & ~IBV_QP_AV, EINVAL, "lacks ah_attr");
	assert_int_equal(ibv_modify_qp(pair.a.qp, &a, RTR_RC), 0);
	pair_close(&pair);
}

static void where_no_route_leads_is_refused_at_once(void **state)
{
	struct ibv_qp_attr a;
	int err;

	(void)state;
	fresh_pair();
	a = rtr_attr(); /* from 127.0.0.1 to a documentation address of somebody else */
	a.ah_attr.grh.dgid.raw[12] = 198;
	a.ah_attr.grh.dgid.raw[13] = 51;
	a.ah_attr.grh.dgid.raw[14] = 100;
	a.ah_attr.grh.dgid.raw[15] = 7;
	err = ibv_modify_qp(pair.a.qp, &a, RTR_RC);
	assert_true(err == ENETUNREACH || err == EHOSTUNREACH);
	assert_non_null(strstr(verbifrost_last_error(), "198.51.100.7"));
	a = rtr_attr(); /* a link-local address that is not on this link */
	a.ah_attr.grh.sgid_index = 0;
	memset(&a.ah_attr.grh.dgid, 0, 16);
	a.ah_attr.grh.dgid.raw[0] = 0xfe;
	a.ah_attr.grh.dgid.raw[1] = 0x80;
	a.ah_attr.grh.dgid.raw[15] = 0x77;
	err = ibv_modify_qp(pair.a.qp, &a, RTR_RC);
	assert_true(err == ENETUNREACH || err == EHOSTUNREACH);
	assert_non_null(strstr(verbifrost_last_error(), "fe80::77"));
	pair_close(&pair);
}

static void a_refused_move_changes_nothing(void **state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a, now;

	(void)state;
	fresh_pair();
	a = rtr_attr();
	a.path_mtu = (enum ibv_mtu)9;
	assert_int_equal(ibv_modify_qp(pair.a.qp, &a, RTR_RC), EINVAL);
	assert_int_equal(ibv_query_qp(pair.a.qp, &now, IBV_QP_STATE | IBV_QP_DEST_QPN, &init), 0);
	assert_int_equal(now.qp_state, IBV_QPS_INIT);
	assert_int_equal(now.dest_qp_num, 0);
	pair_close(&pair);
}

static void everything_set_is_read_back(void **state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a, now;

	(void)state;
	fresh_pair();
	a = rtr_attr();
	a.ah_attr.sl = 3;
	a.ah_attr.grh.flow_label = 0x54321;
	a.ah_attr.grh.traffic_class = 0x20;
	assert_int_equal(ibv_modify_qp(pair.a.qp, &a, RTR_RC), 0);
	pair_to_rts(&pair, &pair.a);
	memset(&now, 0xff, sizeof(now));
	assert_int_equal(ibv_query_qp(pair.a.qp, &now, 0x1ffffff, &init), 0);
	assert_int_equal(now.qp_state, IBV_QPS_RTS);
	assert_int_equal(now.cur_qp_state, IBV_QPS_RTS);
	assert_int_equal(now.path_mtu, IBV_MTU_1024);
	assert_int_equal(now.dest_qp_num, 0x123);
	assert_int_equal(now.rq_psn, 5);
	assert_int_equal(now.sq_psn, pair.a.psn);
	assert_int_equal(now.max_dest_rd_atomic, 1);
	assert_int_equal(now.max_rd_atomic, 16);
	assert_int_equal(now.min_rnr_timer, 12);
	assert_int_equal(now.timeout, 14);
	assert_int_equal(now.retry_cnt, 7);
	assert_int_equal(now.rnr_retry, 7);
	assert_int_equal(now.port_num, 1);
	assert_int_equal(now.pkey_index, 0);
	assert_int_equal(now.sq_draining, 0);
	assert_int_equal(now.path_mig_state, IBV_MIG_MIGRATED);
	assert_int_equal(now.ah_attr.sl, 3);
	assert_int_equal(now.ah_attr.grh.flow_label, 0x54321);
	assert_int_equal(now.ah_attr.grh.traffic_class, 0x20);
	assert_memory_equal(&now.ah_attr.grh.dgid, &a.ah_attr.grh.dgid, 16);
	assert_int_equal(now.qp_access_flags & 0xe, 0xe);
	assert_int_equal(init.qp_type, IBV_QPT_RC);
	assert_int_equal(init.cap.max_send_wr, 16);
	assert_ptr_equal(init.send_cq, pair.a.send_cq);
	pair_close(&pair);
}

static struct ibv_qp *make_qp(const struct end *e, struct ibv_qp_init_attr *a)
{
	a->send_cq = e->send_cq;
	a->recv_cq = e->recv_cq;
	a->qp_type = IBV_QPT_RC;
	return ibv_create_qp(e->pd, a);
}

static void caps_beyond_the_limits_are_named_with_value_and_limit(void **state)
{
	static const struct {
		struct ibv_qp_cap cap;
		const char *names;
	} rows[] = {
		{{.max_send_wr = 32769}, "max_send_wr 32769 > 32768"},
		{{.max_recv_wr = 4000000000}, "max_recv_wr 4000000000 > 32768"},
		{{.max_send_sge = 33}, "max_send_sge 33 > 32"},
		{{.max_recv_sge = 1000}, "max_recv_sge 1000 > 32"},
		{{.max_inline_data = 5000}, "max_inline_data 5000 > 1024"},
	};
	struct pair_options o = {.type = IBV_QPT_RC};

	(void)state;
	pair_open(&pair, &o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_qp_init_attr a = {.cap = rows[i].cap};

		errno = 0;
		assert_null(make_qp(&pair.a, &a));
		assert_int_equal(errno, EINVAL);
		if (!strstr(verbifrost_last_error(), rows[i].names))
			fail_msg("\"%s\" does not say \"%s\"", verbifrost_last_error(),
				 rows[i].names);
	}
	pair_close(&pair);
}

static void the_limits_themselves_are_granted(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_qp_init_attr a = {.cap = {32768, 32768, 32, 32, 1024}};
	struct ibv_srq_init_attr s = {.attr = {.max_sge = 32}};
	struct ibv_device_attr d;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	(void)state;
	pair_open(&pair, &o);
	assert_int_equal(ibv_query_device(pair.a.ctx, &d), 0);
	assert_int_equal(d.max_qp_wr, 32768);
	qp = make_qp(&pair.a, &a);
	assert_non_null(qp);
	assert_int_equal(a.cap.max_send_wr, 32768);
	assert_int_equal(a.cap.max_inline_data, 1024);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	cq = ibv_create_cq(pair.a.ctx, d.max_cqe, NULL, NULL, 0);
	assert_non_null(cq);
	assert_true(cq->cqe >= d.max_cqe);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_null(ibv_create_cq(pair.a.ctx, d.max_cqe + 1, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	s.attr.max_wr = (uint32_t)d.max_srq_wr;
	srq = ibv_create_srq(pair.a.pd, &s);
	assert_non_null(srq);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	pair_close(&pair);
}

static void foreign_types_and_flags_are_not_supported(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_qp_init_attr a = {.cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_RAW_PACKET};

	(void)state;
	pair_open(&pair, &o);
	a.send_cq = pair.a.send_cq;
	a.recv_cq = pair.a.recv_cq;
	errno = 0;
	assert_null(ibv_create_qp(pair.a.pd, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.qp_type = IBV_QPT_RC;
	a.send_cq = pair.b.send_cq; /* of another context */
	assert_null(ibv_create_qp(pair.a.pd, &a));
	assert_int_equal(errno, EINVAL);
	pair_close(&pair);
}

static void a_queue_pair_goes_through_error_and_reset_to_work_again(void **state)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR}, reset = {.qp_state = IBV_QPS_RESET};

	(void)state;
	for (int t = IBV_QPT_RC; t <= IBV_QPT_UD; t++) {
		struct pair_options o = {.type = (enum ibv_qp_type)t};

		pair_open(&pair, &o);
		pair_recv(&pair.a, 9, 0, 100);
		assert_int_equal(ibv_modify_qp(pair.a.qp, &err, IBV_QP_STATE), 0);
		assert_int_equal(ibv_modify_qp(pair.a.qp, &reset, IBV_QP_STATE), 0);
		assert_int_equal(ibv_modify_qp(pair.b.qp, &reset, IBV_QP_STATE), 0);
		assert_true(pair_is_quiet(pair.a.recv_cq, 10)); /* quietly forgotten */
		if (pair.a.ah) {
			ibv_destroy_ah(pair.a.ah);
			ibv_destroy_ah(pair.b.ah);
		}
		pair_to_init(&pair, &pair.a);
		pair_to_init(&pair, &pair.b);
		pair_to_rtr(&pair, &pair.a, &pair.b);
		pair_to_rtr(&pair, &pair.b, &pair.a);
		pair_to_rts(&pair, &pair.a);
		pair_to_rts(&pair, &pair.b);
		pair_recv(&pair.b, 1, 0, 200);
		pair_send(&pair.a, &pair.b, 2, 60);
		pair_expect(pair.a.send_cq, 2, IBV_WC_SUCCESS);
		pair_expect(pair.b.recv_cq, 1, IBV_WC_SUCCESS);
		pair_close(&pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wrong_attribute_of_rtr_is_named),
		cmocka_unit_test(where_no_route_leads_is_refused_at_once),
		cmocka_unit_test(a_refused_move_changes_nothing),
		cmocka_unit_test(everything_set_is_read_back),
		cmocka_unit_test(caps_beyond_the_limits_are_named_with_value_and_limit),
		cmocka_unit_test(the_limits_themselves_are_granted),
		cmocka_unit_test(foreign_types_and_flags_are_not_supported),
		cmocka_unit_test(a_queue_pair_goes_through_error_and_reset_to_work_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Work requests built by function calls: each operation, all or nothing, mistakes kept until the end, data copied at once. */
#include "soft_pair.h"

#include <arpa/inet.h>
#include <errno.h>

static struct pair pair;
static struct ibv_qp_ex *ex;

static void open_pair(enum ibv_qp_type type)
{
	struct pair_options o = {.type = type, .is_ex = true};

	o.ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	if (type != IBV_QPT_UD)
		o.ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV |
			 IBV_QP_EX_WITH_BIND_MW;
	if (type == IBV_QPT_RC)
		o.ops |= IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	pair_open(&pair, &o);
	ex = ibv_qp_to_qp_ex(pair.a.qp);
	assert_non_null(ex);
}

static void begin(uint64_t wr_id)
{
	ibv_wr_start(ex);
	ex->wr_id = wr_id;
	ex->wr_flags = IBV_SEND_SIGNALED;
}

static void finish(uint64_t wr_id)
{
	int err = ibv_wr_complete(ex);

	if (err)
		fail_msg("wr_complete: %d, %s", err, verbifrost_last_error());
	pair_expect(pair.a.send_cq, wr_id, IBV_WC_SUCCESS);
}

static void sge(uint32_t len)
{
	ibv_wr_set_sge(ex, pair.a.mr->lkey, (uintptr_t)pair.a.buf, len);
}

static void sends_arrive_from_every_type(void **state)
{
	(void)state;
	for (int t = IBV_QPT_RC; t <= IBV_QPT_UD; t++) {
		uint32_t skip = t == IBV_QPT_UD ? 40 : 0;
		struct ibv_data_buf two[2];
		struct ibv_wc wc;

		open_pair((enum ibv_qp_type)t);
		pair_fill(pair.a.buf, 300, 4);
		pair_recv(&pair.b, 1, 0, 1000);
		pair_recv(&pair.b, 2, 2000, 1000);
		begin(5);
		ibv_wr_send(ex);
		if (t == IBV_QPT_UD)
			ibv_wr_set_ud_addr(ex, pair.a.ah, pair.b.qp->qp_num, PAIR_QKEY);
		sge(300);
		finish(5);
		pair_expect(pair.b.recv_cq, 1, IBV_WC_SUCCESS);
		assert_memory_equal(pair.b.buf + skip, pair.a.buf, 300);
		begin(6);
		ibv_wr_send_imm(ex, htonl(77));
		if (t == IBV_QPT_UD)
			ibv_wr_set_ud_addr(ex, pair.a.ah, pair.b.qp->qp_num, PAIR_QKEY);
		two[0] = (struct ibv_data_buf){pair.a.buf, 100};
		two[1] = (struct ibv_data_buf){pair.a.buf + 200, 50};
		ibv_wr_set_inline_data_list(ex, 2, two);
		memset(pair.a.buf, 0, 300); /* copied already */
		finish(6);
		pair_poll(pair.b.recv_cq, &wc);
		assert_int_equal(wc.wr_id, 2);
		assert_int_equal(ntohl(wc.imm_data), 77);
		pair_fill(pair.a.buf, 300, 4);
		assert_memory_equal(pair.b.buf + 2000 + skip, pair.a.buf, 100);
		assert_memory_equal(pair.b.buf + 2100 + skip, pair.a.buf + 200, 50);
		pair_close(&pair);
	}
}

static void remote_operations_do_what_they_say(void **state)
{
	uint64_t *there, *here;
	uintptr_t to;

	(void)state;
	open_pair(IBV_QPT_RC);
	there = (uint64_t *)(void *)pair.b.buf;
	here = (uint64_t *)(void *)pair.a.buf;
	to = (uintptr_t)pair.b.buf;
	pair_recv(&pair.b, 1, 60000, 8);
	*here = 11;
	begin(1);
	ibv_wr_rdma_write(ex, pair.b.mr->rkey, to);
	sge(8);
	ex->wr_id = 2;
	ibv_wr_rdma_write_imm(ex, pair.b.mr->rkey, to + 8, htonl(5));
	ibv_wr_set_inline_data(ex, here, 8);
	assert_int_equal(ibv_wr_complete(ex), 0);
	pair_expect(pair.a.send_cq, 1, IBV_WC_SUCCESS);
	pair_expect(pair.a.send_cq, 2, IBV_WC_SUCCESS);
	pair_expect(pair.b.recv_cq, 1, IBV_WC_SUCCESS);
	assert_true(there[0] == 11 && there[1] == 11);
	begin(3);
	ibv_wr_atomic_fetch_add(ex, pair.b.mr->rkey, to, 4);
	sge(8);
	finish(3);
	assert_true(*here == 11 && there[0] == 15);
	begin(4);
	ibv_wr_atomic_cmp_swp(ex, pair.b.mr->rkey, to, 15, 99);
	sge(8);
	finish(4);
	assert_true(*here == 15 && there[0] == 99);
	begin(5);
	ibv_wr_rdma_read(ex, pair.b.mr->rkey, to);
	sge(16);
	finish(5);
	assert_true(here[0] == 99 && here[1] == 11);
	pair_close(&pair);
}

static void windows_are_bound_and_invalidated(void **state)
{
	struct ibv_mw_bind_info info = {.length = 100, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_mw *mw;
	uint32_t key;

	(void)state;
	open_pair(IBV_QPT_RC);
	mw = ibv_alloc_mw(pair.a.pd, IBV_MW_TYPE_2);
	assert_non_null(mw);
	key = ibv_inc_rkey(mw->rkey);
	info.mr = pair.a.mr;
	info.addr = (uintptr_t)pair.a.buf;
	begin(1);
	ibv_wr_bind_mw(ex, mw, key, &info);
	finish(1);
	begin(2);
	ibv_wr_local_inv(ex, key);
	finish(2);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	pair_close(&pair);
}

static void one_mistake_keeps_the_whole_batch_back(void **state)
{
	(void)state;
	open_pair(IBV_QPT_RC);
	pair_recv(&pair.b, 1, 0, 100);
	begin(1);
	ibv_wr_send(ex);
	sge(10);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, pair.a.buf, 2000);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	assert_non_null(strstr(verbifrost_last_error(), "2000"));
	begin(2);
	for (int i = 0; i < 17; i++) { /* one more than the queue holds */
		ibv_wr_rdma_write(ex, pair.b.mr->rkey, (uintptr_t)pair.b.buf);
		sge(1);
	}
	assert_int_equal(ibv_wr_complete(ex), ENOMEM);
	begin(3);
	ibv_wr_send(ex);
	sge(10);
	ibv_wr_abort(ex);
	assert_true(pair_is_quiet(pair.a.send_cq, 20));
	assert_true(pair_is_quiet(pair.b.recv_cq, 1));
	begin(4);
	ibv_wr_send(ex);
	sge(10);
	finish(4);
	pair_expect(pair.b.recv_cq, 1, IBV_WC_SUCCESS);
	pair_close(&pair);
}

static void operations_a_type_lacks_are_not_given(void **state)
{
	struct ibv_qp_init_attr_ex a = {.cap = {1, 1, 1, 1, 0},
					.qp_type = IBV_QPT_UD,
					.comp_mask = IBV_QP_INIT_ATTR_PD |
						     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};

	(void)state;
	open_pair(IBV_QPT_RC);
	a.send_cq = pair.a.send_cq;
	a.recv_cq = pair.a.recv_cq;
	a.pd = pair.a.pd;
	errno = 0;
	assert_null(ibv_create_qp_ex(pair.a.ctx, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.qp_type = IBV_QPT_RC;
	a.send_ops_flags = IBV_QP_EX_WITH_TSO;
	assert_null(ibv_create_qp_ex(pair.a.ctx, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	pair_close(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_arrive_from_every_type),
		cmocka_unit_test(remote_operations_do_what_they_say),
		cmocka_unit_test(windows_are_bound_and_invalidated),
		cmocka_unit_test(one_mistake_keeps_the_whole_batch_back),
		cmocka_unit_test(operations_a_type_lacks_are_not_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

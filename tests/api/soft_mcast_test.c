/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast: who is attached gets a copy, whoever sent it; who is not, or is detached, gets nothing; what is refused. */
#include "soft_pair.h"

#include <arpa/inet.h>
#include <errno.h>

static struct pair pair;
static union ibv_gid group;

static void open_pair(enum ibv_qp_type type)
{
	struct pair_options o = {.type = type};

	memset(&group, 0, sizeof(group));
	group.raw[10] = group.raw[11] = 0xff;
	group.raw[12] = 239;
	group.raw[13] = 77;
	group.raw[15] = 9;
	pair_open(&pair, &o);
}

static struct ibv_ah *group_ah(struct end *e)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	a.grh.dgid = group;
	a.grh.sgid_index = 1;
	a.grh.hop_limit = 1;
	ah = ibv_create_ah(e->pd, &a);
	if (!ah)
		fail_msg("create_ah: %s", verbifrost_last_error());
	return ah;
}

static void send_to_group(struct ibv_ah *ah, uint64_t wr_id)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	pair_send_wr(&pair.a, &pair.b, IBV_WR_SEND, &wr, &sge);
	wr.wr_id = wr_id;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = 0xffffff;
	if (pair_post(&pair.a, &wr))
		fail_msg("post_send: %s", verbifrost_last_error());
	pair_expect(pair.a.send_cq, wr_id, IBV_WC_SUCCESS);
}

static void attached_queue_pairs_get_a_copy_each(void **state)
{
	struct ibv_ah *ah;
	struct ibv_wc wc;

	(void)state;
	open_pair(IBV_QPT_UD);
	ah = group_ah(&pair.a);
	pair_fill(pair.a.buf, 100, 8);
	assert_int_equal(ibv_attach_mcast(pair.a.qp, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(pair.b.qp, &group, 0), 0);
	pair_recv(&pair.a, 1, 8192, 200);
	pair_recv(&pair.b, 2, 8192, 200);
	send_to_group(ah, 3);
	pair_poll(pair.b.recv_cq, &wc);
	assert_int_equal(wc.wr_id, 2);
	assert_int_equal(wc.src_qp, pair.a.qp->qp_num);
	assert_memory_equal(pair.b.buf + 8192 + 40, pair.a.buf, 100);
	pair_expect(pair.a.recv_cq, 1, IBV_WC_SUCCESS);
	assert_int_equal(ibv_detach_mcast(pair.b.qp, &group, 0), 0);
	pair_recv(&pair.a, 4, 8192, 200);
	pair_recv(&pair.b, 5, 8192, 200);
	send_to_group(ah, 6);
	pair_expect(pair.a.recv_cq, 4, IBV_WC_SUCCESS);
	assert_true(pair_is_quiet(pair.b.recv_cq, 30));
	assert_int_equal(ibv_destroy_ah(ah), 0);
	pair_close(&pair);
}

static void what_is_no_group_or_no_datagram_queue_pair_is_refused(void **state)
{
	union ibv_gid plain;

	(void)state;
	open_pair(IBV_QPT_RC);
	assert_int_equal(ibv_attach_mcast(pair.a.qp, &group, 0), EINVAL);
	pair_close(&pair);
	open_pair(IBV_QPT_UD);
	plain = group;
	plain.raw[12] = 10;
	assert_int_equal(ibv_attach_mcast(pair.a.qp, &plain, 0), EINVAL);
	assert_int_equal(ibv_detach_mcast(pair.a.qp, &group, 0), EINVAL);
	assert_int_equal(ibv_attach_mcast(pair.a.qp, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(pair.a.qp, &group, 0), 0); /* twice is once */
	pair_close(&pair); /* destroying detaches */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached_queue_pairs_get_a_copy_each),
		cmocka_unit_test(what_is_no_group_or_no_datagram_queue_pair_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

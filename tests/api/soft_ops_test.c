/* SPDX-License-Identifier: BSD-2-Clause */
/* Every operation of every type of queue pair, what arrives, and every field of the completions. */
#include "soft_pair.h"

#include <arpa/inet.h>
#include <errno.h>

static void check_send_wc(const struct pair *p, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	memset(&wc, 0xff, sizeof(wc));
	pair_poll(p->a.send_cq, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.opcode, opcode);
	assert_int_equal(wc.qp_num, p->a.qp->qp_num);
	assert_int_equal(wc.vendor_err, 0);
}

static void check_recv_wc(const struct pair *p, uint64_t wr_id, enum ibv_wc_opcode opcode,
			  uint32_t len, struct ibv_wc *wc)
{
	bool is_ud = p->o.type == IBV_QPT_UD;

	memset(wc, 0xff, sizeof(*wc));
	pair_poll(p->b.recv_cq, wc);
	assert_int_equal(wc->status, IBV_WC_SUCCESS);
	assert_int_equal(wc->wr_id, wr_id);
	assert_int_equal(wc->opcode, opcode);
	assert_int_equal(wc->byte_len, len + (is_ud ? 40 : 0));
	assert_int_equal(wc->qp_num, p->b.qp->qp_num);
	assert_int_equal(wc->pkey_index, 0);
	assert_int_equal(wc->slid, 0);
	assert_int_equal(wc->dlid_path_bits, 0);
	if (is_ud) {
		assert_int_equal(wc->src_qp, p->a.qp->qp_num);
		assert_int_not_equal(wc->wc_flags & IBV_WC_GRH, 0);
	}
}

static void send_arrives(enum ibv_qp_type type, bool is_inline, uint32_t len, bool has_imm)
{
	struct pair_options o = {.type = type};
	uint32_t skip = type == IBV_QPT_UD ? 40 : 0;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &o);
	pair_fill(p.a.buf, len, len);
	pair_recv(&p.b, 7, 0, PAIR_BUF);
	pair_send_wr(&p.a, &p.b, has_imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, &wr, &sge);
	wr.wr_id = 8;
	wr.imm_data = htonl(0x12345678);
	sge.length = len;
	if (is_inline) {
		wr.send_flags |= IBV_SEND_INLINE;
		sge.lkey = 0xdeadbeef;
	}
	assert_int_equal(pair_post(&p.a, &wr), 0);
	if (is_inline)
		memset(p.a.buf, 0, len);
	check_send_wc(&p, 8, IBV_WC_SEND);
	check_recv_wc(&p, 7, IBV_WC_RECV, len, &wc);
	assert_int_equal(wc.wc_flags & IBV_WC_WITH_IMM, has_imm ? IBV_WC_WITH_IMM : 0);
	if (has_imm)
		assert_int_equal(ntohl(wc.imm_data), 0x12345678);
	pair_fill(p.a.buf, len, len);
	assert_memory_equal(p.b.buf + skip, p.a.buf, len);
	pair_close(&p);
}

static void sends_arrive_with_every_length_and_kind(void **state)
{
	static const uint32_t lengths[] = {0, 1, 3, 1023, 1024, 1025, 2048, 4095, 40000};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (int t = IBV_QPT_RC; t <= IBV_QPT_UD; t++) {
			if (t == IBV_QPT_UD && lengths[i] > 4096)
				continue;
			send_arrives((enum ibv_qp_type)t, false, lengths[i], i % 2);
			if (lengths[i] <= 1024)
				send_arrives((enum ibv_qp_type)t, true, lengths[i], i % 2 == 0);
		}
}

static void write_arrives(enum ibv_qp_type type, bool has_imm)
{
	struct pair_options o = {.type = type};
	struct ibv_send_wr wr;
	struct ibv_sge sge[3];
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &o);
	pair_fill(p.a.buf, 9000, 5);
	if (has_imm)
		pair_recv(&p.b, 3, 60000, 16);
	pair_send_wr(&p.a, &p.b, has_imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE, &wr,
		     sge);
	wr.imm_data = htonl(99);
	sge[0].length = 1;
	sge[1] = sge[2] = sge[0];
	sge[1].addr += 1;
	sge[1].length = 4999;
	sge[2].addr += 5000;
	sge[2].length = 4000;
	wr.num_sge = 3;
	wr.wr.rdma.remote_addr += 17;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	check_send_wc(&p, 0, IBV_WC_RDMA_WRITE);
	if (has_imm) {
		check_recv_wc(&p, 3, IBV_WC_RECV_RDMA_WITH_IMM, 9000, &wc);
		assert_int_equal(ntohl(wc.imm_data), 99);
	} else if (type == IBV_QPT_UC) {
		pair_recv(&p.b, 4, 60000, 0);
		pair_send(&p.a, &p.b, 5, 0); /* behind the write */
		pair_expect(p.b.recv_cq, 4, IBV_WC_SUCCESS);
	}
	assert_memory_equal(p.b.buf + 17, p.a.buf, 9000);
	assert_int_equal(p.b.buf[16], 0);
	assert_int_equal(p.b.buf[9017], 0);
	pair_close(&p);
}

static void writes_arrive(void **state)
{
	(void)state;
	write_arrives(IBV_QPT_RC, false);
	write_arrives(IBV_QPT_RC, true);
	write_arrives(IBV_QPT_UC, false);
	write_arrives(IBV_QPT_UC, true);
}

static void reads_bring_the_peers_memory(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_send_wr wr;
	struct ibv_sge sge[2];
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	pair_fill(p.b.buf, 30000, 77);
	pair_send_wr(&p.a, &p.b, IBV_WR_RDMA_READ, &wr, sge);
	sge[0].length = 9999;
	sge[1] = sge[0];
	sge[1].addr += 20000;
	sge[1].length = 20001;
	wr.num_sge = 2;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	check_send_wc(&p, 0, IBV_WC_RDMA_READ);
	assert_memory_equal(p.a.buf, p.b.buf, 9999);
	assert_memory_equal(p.a.buf + 20000, p.b.buf + 9999, 20001);
	pair_close(&p);
}

static void atomics_change_the_peers_memory_and_bring_what_was_there(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair p;
	uint64_t *there, *here;

	(void)state;
	pair_open(&p, &o);
	there = (uint64_t *)(void *)p.b.buf;
	here = (uint64_t *)(void *)p.a.buf;
	*there = 40;
	pair_send_wr(&p.a, &p.b, IBV_WR_ATOMIC_FETCH_AND_ADD, &wr, &sge);
	wr.wr.atomic.compare_add = 2;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	check_send_wc(&p, 0, IBV_WC_FETCH_ADD);
	assert_true(*here == 40 && *there == 42);
	pair_send_wr(&p.a, &p.b, IBV_WR_ATOMIC_CMP_AND_SWP, &wr, &sge);
	wr.wr.atomic.compare_add = 41;
	wr.wr.atomic.swap = 7;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	check_send_wc(&p, 0, IBV_WC_COMP_SWAP);
	assert_true(*here == 42 && *there == 42);
	wr.wr.atomic.compare_add = 42;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	check_send_wc(&p, 0, IBV_WC_COMP_SWAP);
	assert_true(*here == 42 && *there == 7);
	pair_close(&p);
}

static void unsignaled_requests_complete_silently(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (int i = 0; i < 100; i++) {
		pair_send_wr(&p.a, &p.b, IBV_WR_RDMA_WRITE, &wr, &sge);
		wr.wr_id = (uint64_t)i;
		wr.send_flags = i % 10 == 9 ? IBV_SEND_SIGNALED : 0;
		assert_int_equal(pair_post(&p.a, &wr), 0);
		if (i % 10 == 9)
			pair_expect(p.a.send_cq, (uint64_t)i, IBV_WC_SUCCESS);
	}
	pair_close(&p);
}

/* Where a bad request stands in a list: what is before it stays. */
static void a_list_is_posted_up_to_its_bad_request(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC, .depth = 4};
	struct ibv_send_wr wr[6], *bad = NULL;
	struct ibv_recv_wr rwr[6], *rbad = NULL;
	struct ibv_sge sge;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	memset(rwr, 0, sizeof(rwr));
	for (int i = 0; i < 6; i++) {
		pair_send_wr(&p.a, &p.b, IBV_WR_SEND, &wr[i], &sge);
		wr[i].wr_id = (uint64_t)i;
		wr[i].next = i < 5 ? &wr[i + 1] : NULL;
		wr[i].num_sge = i == 2 ? 40 : 0;
		rwr[i].wr_id = (uint64_t)i;
		rwr[i].next = i < 5 ? &rwr[i + 1] : NULL;
	}
	assert_int_equal(ibv_post_recv(p.b.qp, rwr, &rbad), ENOMEM);
	assert_ptr_equal(rbad, &rwr[4]);
	assert_int_equal(ibv_post_send(p.a.qp, wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[2]);
	assert_non_null(strstr(verbifrost_last_error(), "num_sge 40"));
	pair_expect(p.a.send_cq, 0, IBV_WC_SUCCESS);
	pair_expect(p.a.send_cq, 1, IBV_WC_SUCCESS);
	assert_true(pair_is_quiet(p.a.send_cq, 20));
	pair_expect(p.b.recv_cq, 0, IBV_WC_SUCCESS);
	pair_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	pair_close(&p);
}

static void moving_to_the_error_state_flushes_both_queues(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr init;

	(void)state;
	for (int t = IBV_QPT_RC; t <= IBV_QPT_UD; t++) {
		struct pair_options o = {.type = (enum ibv_qp_type)t};
		struct pair p;

		pair_open(&p, &o);
		pair_recv(&p.a, 1, 0, 100);
		pair_recv(&p.a, 2, 0, 100);
		assert_int_equal(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0);
		pair_expect(p.a.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
		pair_expect(p.a.recv_cq, 2, IBV_WC_WR_FLUSH_ERR);
		pair_send(&p.a, &p.b, 3, 1);
		pair_expect(p.a.send_cq, 3, IBV_WC_WR_FLUSH_ERR);
		pair_recv(&p.a, 4, 0, 100);
		pair_expect(p.a.recv_cq, 4, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(ibv_query_qp(p.a.qp, &attr, IBV_QP_STATE, &init), 0);
		assert_int_equal(attr.qp_state, IBV_QPS_ERR);
		attr.qp_state = IBV_QPS_ERR;
		pair_close(&p);
	}
}

static void completions_of_a_destroyed_queue_pair_are_gone(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_wc wc;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	for (uint64_t i = 0; i < 8; i++)
		pair_recv(&p.b, i, 0, 100);
	for (uint64_t i = 0; i < 8; i++)
		pair_send(&p.a, &p.b, i, 10);
	pair_expect(p.b.recv_cq, 0, IBV_WC_SUCCESS);
	pair_expect(p.a.send_cq, 0, IBV_WC_SUCCESS);
	pair_is_quiet(p.b.send_cq, 20);
	assert_int_equal(ibv_destroy_qp(p.b.qp), 0);
	assert_int_equal(ibv_destroy_qp(p.a.qp), 0);
	p.a.qp = p.b.qp = NULL;
	assert_int_equal(ibv_poll_cq(p.b.recv_cq, 1, &wc), 0);
	assert_int_equal(ibv_poll_cq(p.a.send_cq, 1, &wc), 0);
	pair_close(&p);
}

static void a_send_nobody_waits_for_ends_as_rnr_says(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC, .has_no_rnr_retry = true};
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	pair_send(&p.a, &p.b, 1, 10);
	pair_expect(p.a.send_cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	pair_close(&p);
}

static void wrong_keys_bounds_and_rights_are_remote_access_errors(void **state)
{
	(void)state;
	for (int wrong = 0; wrong < 4; wrong++) {
		struct pair_options o = {.type = IBV_QPT_RC};
		struct ibv_send_wr wr;
		struct ibv_sge sge;
		struct pair p;

		pair_open(&p, &o);
		pair_send_wr(&p.a, &p.b, wrong == 3 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, &wr,
			     &sge);
		if (wrong == 0)
			wr.wr.rdma.rkey ^= 1; /* its tag */
		else if (wrong == 1)
			wr.wr.rdma.remote_addr += PAIR_BUF - 99;
		else if (wrong == 2)
			wr.wr.rdma.remote_addr -= 1;
		else
			assert_int_equal(ibv_rereg_mr(p.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL,
						      NULL, 0, IBV_ACCESS_LOCAL_WRITE),
					 0);
		assert_int_equal(pair_post(&p.a, &wr), 0);
		pair_expect(p.a.send_cq, 0, IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(pair_event(p.b.ctx), IBV_EVENT_QP_ACCESS_ERR);
		assert_int_equal(p.b.buf[0], 0);
		pair_close(&p);
	}
}

static void a_wrong_local_key_ends_the_request_that_names_it(void **state)
{
	struct pair_options o = {.type = IBV_QPT_RC};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	pair_send_wr(&p.a, &p.b, IBV_WR_RDMA_WRITE, &wr, &sge);
	sge.lkey ^= 0x100;
	assert_int_equal(pair_post(&p.a, &wr), 0);
	pair_expect(p.a.send_cq, 0, IBV_WC_LOC_PROT_ERR);
	pair_close(&p);
}

static void every_gid_of_the_loopback_device_carries_every_type(void **state)
{
	static const int index[] = {-1, 1, 2};

	(void)state;
	for (size_t i = 0; i < sizeof(index) / sizeof(index[0]); i++)
		for (int t = IBV_QPT_RC; t <= IBV_QPT_UD; t++) {
			struct pair_options o = {.type = (enum ibv_qp_type)t,
						 .gid_index = index[i]};
			union ibv_gid gid;
			struct pair p;
			struct ibv_context *ctx = pair_open_device(PAIR_DEVICE);

			assert_int_equal(ibv_query_gid(ctx, 1, index[i] < 0 ? 0 : index[i], &gid),
					 0);
			ibv_close_device(ctx);
			if (gid.global.subnet_prefix == 0 && gid.global.interface_id == 0)
				continue; /* a host without IPv6 */
			pair_open(&p, &o);
			pair_recv(&p.b, 1, 0, 200);
			pair_send(&p.a, &p.b, 2, 50);
			pair_expect(p.a.send_cq, 2, IBV_WC_SUCCESS);
			pair_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
			pair_close(&p);
		}
}

static void an_answer_goes_to_the_address_in_the_datagrams_header(void **state)
{
	struct pair_options o = {.type = IBV_QPT_UD};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct ibv_ah *ah;
	struct pair p;

	(void)state;
	pair_open(&p, &o);
	pair_recv(&p.b, 1, 0, 200);
	pair_recv(&p.a, 2, 1000, 200);
	pair_send(&p.a, &p.b, 3, 50);
	pair_expect(p.a.send_cq, 3, IBV_WC_SUCCESS);
	check_recv_wc(&p, 1, IBV_WC_RECV, 50, &wc);
	ah = ibv_create_ah_from_wc(p.b.pd, &wc, (struct ibv_grh *)(void *)p.b.buf, 1);
	if (!ah)
		fail_msg("create_ah_from_wc: %s", verbifrost_last_error());
	pair_send_wr(&p.b, &p.a, IBV_WR_SEND, &wr, &sge);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = wc.src_qp;
	assert_int_equal(pair_post(&p.b, &wr), 0);
	pair_expect(p.b.send_cq, 0, IBV_WC_SUCCESS);
	pair_expect(p.a.recv_cq, 2, IBV_WC_SUCCESS);
	ibv_destroy_ah(ah);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_arrive_with_every_length_and_kind),
		cmocka_unit_test(writes_arrive),
		cmocka_unit_test(reads_bring_the_peers_memory),
		cmocka_unit_test(atomics_change_the_peers_memory_and_bring_what_was_there),
		cmocka_unit_test(unsignaled_requests_complete_silently),
		cmocka_unit_test(a_list_is_posted_up_to_its_bad_request),
		cmocka_unit_test(moving_to_the_error_state_flushes_both_queues),
		cmocka_unit_test(completions_of_a_destroyed_queue_pair_are_gone),
		cmocka_unit_test(a_send_nobody_waits_for_ends_as_rnr_says),
		cmocka_unit_test(wrong_keys_bounds_and_rights_are_remote_access_errors),
		cmocka_unit_test(a_wrong_local_key_ends_the_request_that_names_it),
		cmocka_unit_test(every_gid_of_the_loopback_device_carries_every_type),
		cmocka_unit_test(an_answer_goes_to_the_address_in_the_datagrams_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

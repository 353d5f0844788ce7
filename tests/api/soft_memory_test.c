/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions and windows: what is refused, keys that go stale, registering anew, the null region, huge and shifted regions, binding. */
#include "soft_pair.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static struct pair pair;

static void open_pair(void)
{
	struct pair_options o = {.type = IBV_QPT_RC};

	pair_open(&pair, &o);
}

static void refused(void *addr, size_t len, unsigned access, int err, const char *names)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr_iova2(pair.a.pd, addr, len, (uintptr_t)addr, access);
	if (mr || errno != err || !strstr(verbifrost_last_error(), names))
		fail_msg("expected %d and \"%s\", got %p, errno %d, \"%s\"", err, names, (void *)mr,
			 errno, verbifrost_last_error());
}

static void registrations_that_cannot_be_are_refused_with_a_reason(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);

	(void)state;
	open_pair();
	refused(p, page, IBV_ACCESS_REMOTE_WRITE, EINVAL, "local write");
	refused(p, page, IBV_ACCESS_REMOTE_ATOMIC, EINVAL, "local write");
	refused(p, page, IBV_ACCESS_ON_DEMAND, EOPNOTSUPP, "ON_DEMAND");
	refused(p, page, 1u << 15, EINVAL, "access");
	refused(p, 0, 0, EINVAL, "length 0");
	refused(p, SIZE_MAX - 10, 0, EINVAL, "beyond the end of memory");
	mprotect(p + page, page, PROT_NONE);
	refused(p, 4 * page, 0, EFAULT, "memory");
	mprotect(p + page, page, PROT_READ);
	refused(p, 4 * page, IBV_ACCESS_LOCAL_WRITE, EFAULT, "write");
	munmap(p, 4 * page);
	refused(p, page, 0, EFAULT, "memory");
	refused(NULL, 1, 0, EINVAL, "addr is NULL");
	pair_close(&pair);
}

static void read_only_memory_and_optional_flags_are_taken(void **state)
{
	static const char text[] = "constant";
	struct ibv_mr *mr;

	(void)state;
	open_pair();
	mr = ibv_reg_mr_iova2(pair.a.pd, (void *)(uintptr_t)text, sizeof(text), (uintptr_t)text,
			      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING);
	assert_non_null(mr);
	assert_int_equal(mr->lkey, mr->rkey);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	pair_close(&pair);
}

static void keys_are_new_and_stale_ones_fail(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint32_t old;

	(void)state;
	open_pair();
	old = pair.b.mr->rkey;
	assert_int_equal(ibv_dereg_mr(pair.b.mr), 0);
	pair.b.mr = ibv_reg_mr(pair.b.pd, pair.b.buf, PAIR_BUF, PAIR_ALL_ACCESS);
	assert_non_null(pair.b.mr);
	assert_int_not_equal(pair.b.mr->rkey, old);
	pair_send_wr(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, &wr, &sge);
	wr.wr.rdma.rkey = old;
	assert_int_equal(pair_post(&pair.a, &wr), 0);
	pair_expect(pair.a.send_cq, 0, IBV_WC_REM_ACCESS_ERR);
	pair_close(&pair);
}

static void a_region_of_another_domain_is_nobodys_here(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	(void)state;
	open_pair();
	pd = ibv_alloc_pd(pair.b.ctx);
	mr = ibv_reg_mr(pd, pair.b.buf, 100, PAIR_ALL_ACCESS);
	assert_non_null(mr);
	pair_send_wr(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, &wr, &sge);
	wr.wr.rdma.rkey = mr->rkey;
	assert_int_equal(pair_post(&pair.a, &wr), 0);
	pair_expect(pair.a.send_cq, 0, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	pair_close(&pair);
}

static void write_to(uint64_t addr, uint32_t rkey, uint32_t len, enum ibv_wc_status status)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	pair_send_wr(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, &wr, &sge);
	sge.length = len;
	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = addr;
	assert_int_equal(pair_post(&pair.a, &wr), 0);
	pair_expect(pair.a.send_cq, 0, status);
}

static void a_region_has_its_own_addresses(void **state)
{
	struct ibv_mr *shifted, *zero;

	(void)state;
	open_pair();
	pair_fill(pair.a.buf, 100, 3);
	shifted = ibv_reg_mr_iova(pair.b.pd, pair.b.buf, 4096, 0x123456789000, PAIR_ALL_ACCESS);
	assert_non_null(shifted);
	write_to(0x123456789000 + 10, shifted->rkey, 100, IBV_WC_SUCCESS);
	assert_memory_equal(pair.b.buf + 10, pair.a.buf, 100);
	zero = ibv_reg_mr(pair.b.pd, pair.b.buf + 8192, 4096,
			  PAIR_ALL_ACCESS | IBV_ACCESS_ZERO_BASED);
	assert_non_null(zero);
	write_to(20, zero->rkey, 100, IBV_WC_SUCCESS);
	assert_memory_equal(pair.b.buf + 8192 + 20, pair.a.buf, 100);
	write_to((uintptr_t)pair.b.buf, shifted->rkey, 100, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(shifted), 0);
	assert_int_equal(ibv_dereg_mr(zero), 0);
	pair_close(&pair);
}

static void registering_anew_is_all_or_nothing(void **state)
{
	uint32_t key;

	(void)state;
	open_pair();
	key = pair.b.mr->rkey;
	assert_int_not_equal(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
					  (void *)(uintptr_t)4096, 4096, 0),
			     0);
	assert_int_equal(pair.b.mr->rkey, key);
	write_to((uintptr_t)pair.b.buf, key, 100, IBV_WC_SUCCESS);
	assert_int_equal(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
				      pair.b.buf + 4096, 4096, 0),
			 0);
	assert_ptr_equal(pair.b.mr->addr, pair.b.buf + 4096);
	assert_int_equal(pair.b.mr->length, 4096);
	write_to((uintptr_t)pair.b.buf + 4096, pair.b.mr->rkey, 100, IBV_WC_SUCCESS);
	write_to((uintptr_t)pair.b.buf, pair.b.mr->rkey, 100, IBV_WC_REM_ACCESS_ERR);
	pair_close(&pair);
}

static void the_null_region_reads_as_zeros_and_takes_anything(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge[2];
	struct ibv_mr *null;

	(void)state;
	open_pair();
	null = ibv_alloc_null_mr(pair.a.pd);
	assert_non_null(null);
	memset(pair.b.buf, 0xff, 6000);
	pair_send_wr(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, &wr, sge);
	memset(pair.a.buf, 7, 100);
	sge[1] = (struct ibv_sge){.addr = 0, .length = 5000, .lkey = null->lkey};
	wr.num_sge = 2;
	assert_int_equal(pair_post(&pair.a, &wr), 0);
	pair_expect(pair.a.send_cq, 0, IBV_WC_SUCCESS);
	assert_int_equal(pair.b.buf[99], 7);
	assert_int_equal(pair.b.buf[100], 0);
	assert_int_equal(pair.b.buf[5099], 0);
	assert_int_equal(pair.b.buf[5100], 0xff);
	pair_send_wr(&pair.a, &pair.b, IBV_WR_RDMA_READ, &wr, sge);
	sge[0] = sge[1];
	sge[1] = (struct ibv_sge){
		.addr = (uintptr_t)pair.a.buf, .length = 200, .lkey = pair.a.mr->lkey};
	wr.num_sge = 2;
	assert_int_equal(pair_post(&pair.a, &wr), 0);
	pair_expect(pair.a.send_cq, 0, IBV_WC_SUCCESS);
	assert_memory_equal(pair.a.buf, pair.b.buf + 5000, 200);
	assert_int_equal(ibv_dereg_mr(null), 0);
	pair_close(&pair);
}

/* Address space only: nothing of it is touched but what is transferred. */
static void a_region_across_4_gib_lines_is_right_on_both_sides_of_each(void **state)
{
	const size_t size = (size_t)6 << 30;
	uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
	uint64_t line;
	struct ibv_mr *mr;

	(void)state;
	if (p == MAP_FAILED)
		skip();
	open_pair();
	mr = ibv_reg_mr(pair.b.pd, p, size, PAIR_ALL_ACCESS);
	assert_non_null(mr);
	pair_fill(pair.a.buf, 8000, 9);
	line = ((uintptr_t)p + (UINT64_C(1) << 32)) & ~UINT64_C(0xffffffff);
	write_to(line - 4000, mr->rkey, 8000, IBV_WC_SUCCESS);
	assert_memory_equal((uint8_t *)(uintptr_t)line - 4000, pair.a.buf, 8000);
	write_to((uintptr_t)p + size - 8000, mr->rkey, 8000, IBV_WC_SUCCESS);
	assert_memory_equal(p + size - 8000, pair.a.buf, 8000);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, size);
	pair_close(&pair);
}

/* ---- windows ---- */

static struct ibv_mw_bind_info whole(unsigned access)
{
	return (struct ibv_mw_bind_info){.mr = pair.b.mr,
					 .addr = (uintptr_t)pair.b.buf + 1000,
					 .length = 500,
					 .mw_access_flags = access};
}

static void a_window_of_type_1_opens_its_part_and_closes_with_length_0(void **state)
{
	struct ibv_mw_bind bind = {.wr_id = 4, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_mw *mw;
	uint32_t first;

	(void)state;
	open_pair();
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	assert_non_null(mw);
	first = mw->rkey;
	bind.bind_info = whole(IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(ibv_bind_mw(pair.b.qp, mw, &bind), 0);
	pair_expect(pair.b.send_cq, 4, IBV_WC_SUCCESS);
	assert_int_not_equal(mw->rkey, first);
	write_to((uintptr_t)pair.b.buf + 1000, mw->rkey, 500, IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(pair.b.mr), EBUSY);
	first = mw->rkey;
	bind.bind_info = (struct ibv_mw_bind_info){0};
	assert_int_equal(ibv_bind_mw(pair.b.qp, mw, &bind), 0);
	pair_expect(pair.b.send_cq, 4, IBV_WC_SUCCESS);
	write_to((uintptr_t)pair.b.buf + 1000, first, 500, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	pair_close(&pair);
}

static void outside_a_window_nothing_is_open(void **state)
{
	(void)state;
	for (int wrong = 0; wrong < 3; wrong++) {
		struct ibv_mw_bind bind = {.wr_id = 4, .send_flags = IBV_SEND_SIGNALED};
		struct ibv_mw *mw;

		open_pair();
		mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
		bind.bind_info =
			whole(wrong == 2 ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE);
		assert_int_equal(ibv_bind_mw(pair.b.qp, mw, &bind), 0);
		pair_expect(pair.b.send_cq, 4, IBV_WC_SUCCESS);
		write_to((uintptr_t)pair.b.buf + (wrong == 0 ? 999 : 1001), mw->rkey, 500,
			 IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(ibv_dealloc_mw(mw), 0);
		pair_close(&pair);
	}
}

static void bind_type_2(struct ibv_mw *mw, uint32_t key, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = {.wr_id = 6,
				 .opcode = IBV_WR_BIND_MW,
				 .send_flags = IBV_SEND_SIGNALED};

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info = whole(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (pair_post(&pair.b, &wr))
		fail_msg("bind: %s", verbifrost_last_error());
	pair_expect(pair.b.send_cq, 6, status);
}

static void a_window_of_type_2_is_taken_back_by_the_peers_send(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	(void)state;
	open_pair();
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_2);
	assert_non_null(mw);
	key = ibv_inc_rkey(mw->rkey);
	bind_type_2(mw, key, IBV_WC_SUCCESS);
	write_to((uintptr_t)pair.b.buf + 1000, key, 500, IBV_WC_SUCCESS);
	pair_recv(&pair.b, 8, 0, 200);
	pair_send_wr(&pair.a, &pair.b, IBV_WR_SEND_WITH_INV, &wr, &sge);
	wr.invalidate_rkey = key;
	assert_int_equal(pair_post(&pair.a, &wr), 0);
	pair_expect(pair.a.send_cq, 0, IBV_WC_SUCCESS);
	pair_poll(pair.b.recv_cq, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_not_equal(wc.wc_flags & IBV_WC_WITH_INV, 0);
	assert_int_equal(wc.invalidated_rkey, key);
	bind_type_2(mw, ibv_inc_rkey(key), IBV_WC_SUCCESS); /* unbound: it can be bound again */
	write_to((uintptr_t)pair.b.buf + 1000, key, 500, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	pair_close(&pair);
}

static void a_bound_window_of_type_2_is_not_bound_again(void **state)
{
	struct ibv_send_wr wr = {.wr_id = 9,
				 .opcode = IBV_WR_LOCAL_INV,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_mw *mw;
	uint32_t key;

	(void)state;
	open_pair();
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_2);
	key = ibv_inc_rkey(mw->rkey);
	bind_type_2(mw, key, IBV_WC_SUCCESS);
	wr.invalidate_rkey = key;
	assert_int_equal(pair_post(&pair.b, &wr), 0);
	pair_expect(pair.b.send_cq, 9, IBV_WC_SUCCESS);
	key = ibv_inc_rkey(key);
	bind_type_2(mw, key, IBV_WC_SUCCESS);
	bind_type_2(mw, ibv_inc_rkey(key), IBV_WC_MW_BIND_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	pair_close(&pair);
}

static void many_regions_are_registered_and_each_is_its_own(void **state)
{
	enum { COUNT = 20000 };
	static struct ibv_mr *mr[COUNT];

	(void)state;
	open_pair();
	for (int i = 0; i < COUNT; i++) {
		mr[i] = ibv_reg_mr(pair.b.pd, pair.b.buf + i % 1000, 100, PAIR_ALL_ACCESS);
		if (!mr[i])
			fail_msg("region %d: %s", i, verbifrost_last_error());
	}
	pair.a.buf[0] = 0x5a;
	write_to((uintptr_t)pair.b.buf + 999, mr[COUNT - 1]->rkey, 1, IBV_WC_SUCCESS);
	assert_int_equal(pair.b.buf[999], 0x5a);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(ibv_dereg_mr(mr[i]), 0);
	pair_close(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registrations_that_cannot_be_are_refused_with_a_reason),
		cmocka_unit_test(read_only_memory_and_optional_flags_are_taken),
		cmocka_unit_test(keys_are_new_and_stale_ones_fail),
		cmocka_unit_test(a_region_of_another_domain_is_nobodys_here),
		cmocka_unit_test(a_region_has_its_own_addresses),
		cmocka_unit_test(registering_anew_is_all_or_nothing),
		cmocka_unit_test(the_null_region_reads_as_zeros_and_takes_anything),
		cmocka_unit_test(a_region_across_4_gib_lines_is_right_on_both_sides_of_each),
		cmocka_unit_test(a_window_of_type_1_opens_its_part_and_closes_with_length_0),
		cmocka_unit_test(outside_a_window_nothing_is_open),
		cmocka_unit_test(a_window_of_type_2_is_taken_back_by_the_peers_send),
		cmocka_unit_test(a_bound_window_of_type_2_is_not_bound_again),
		cmocka_unit_test(many_regions_are_registered_and_each_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

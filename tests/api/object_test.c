/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects and what they depend on: who is in use, whose context it is, what the provider is given,
 * what the program gets back. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static struct fake_rig rig;
static char memory[4096];

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_rig_make(&rig);
	return 0;
}

/* Whatever a test makes it must end: the rig's end counts. */
static int teardown(void **state)
{
	(void)state;
	fake_rig_end(&rig);
	return 0;
}

static const char *reason(void) { return vf_reason_last(); }

/* ---- in use ---- */

static void a_domain_with_objects_is_busy(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp *qp = fake_qp(&rig, IBV_QPT_UD);
	struct ibv_ah_attr av = fake_av();
	struct ibv_ah *ah = ibv_create_ah(rig.pd, &av);
	struct ibv_srq_init_attr sa = {.attr.max_wr = 3};
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &sa);
	struct ibv_mw *mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1);

	(void)state;
	assert_true(mr && ah && srq && mw);
	assert_int_equal(ibv_dealloc_pd(rig.pd), EBUSY);
	assert_int_equal(errno, EBUSY);
	assert_non_null(strstr(reason(), "5 objects use the domain"));
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(rig.pd), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(rig.pd), EBUSY);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_dealloc_pd(rig.pd), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_dealloc_pd(rig.pd), EBUSY);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void a_completion_queue_with_queue_pairs_is_busy(void **state)
{
	struct ibv_qp *qp = fake_qp(&rig, IBV_QPT_RC);

	(void)state;
	assert_int_equal(ibv_destroy_cq(rig.cq), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void a_shared_receive_queue_with_queue_pairs_is_busy(void **state)
{
	struct ibv_srq_init_attr sa = {.attr.max_wr = 3};
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &sa);
	struct ibv_qp_init_attr qa = {
		.send_cq = rig.cq, .recv_cq = rig.cq, .srq = srq, .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(rig.pd, &qa);

	(void)state;
	assert_ptr_equal(qp->srq, srq);
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void a_channel_with_completion_queues_is_busy(void **state)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(rig.ctx);
	struct ibv_cq *cq = ibv_create_cq(rig.ctx, 1, &rig, ch, 0);

	(void)state;
	assert_ptr_equal(cq->channel, ch);
	assert_ptr_equal(cq->cq_context, &rig);
	assert_int_equal(ch->refcnt, 1);
	assert_int_equal(ibv_destroy_comp_channel(ch), EBUSY);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ch->refcnt, 0);
	assert_int_equal(ibv_destroy_comp_channel(ch), 0);
}

static void a_region_with_bound_windows_is_busy(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	struct vf_mr *inner = (struct vf_mr *)(void *)mr;

	(void)state;
	atomic_store(&inner->users, 1);
	assert_int_equal(ibv_dereg_mr(mr), EBUSY);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
			 IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(errno, EBUSY);
	atomic_store(&inner->users, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void what_the_provider_cannot_end_lives_on(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, sizeof(memory), 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig.ctx), *again;
	struct ibv_cq *cq = ibv_create_cq(rig.ctx, 1, NULL, NULL, 0);

	(void)state;
	fake.error = EIO;
	assert_int_equal(ibv_dereg_mr(mr), EIO);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	fake.error = EIO;
	assert_int_equal(ibv_destroy_cq(cq), EIO);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	fake.error = EIO;
	assert_int_equal(ibv_dealloc_pd(pd), EIO);
	again = ibv_import_pd(rig.ctx, pd->handle);
	assert_non_null(again);
	ibv_unimport_pd(again);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* ---- whose it is ---- */

static void objects_of_another_context_are_refused(void **state)
{
	struct ibv_context *other = fake_open_nth(1);
	struct ibv_pd *pd = ibv_alloc_pd(other);
	struct ibv_cq *cq = ibv_create_cq(other, 1, NULL, NULL, 0);
	struct ibv_comp_channel *ch = ibv_create_comp_channel(other);
	struct ibv_qp_init_attr qa = {.send_cq = cq, .recv_cq = rig.cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp_init_attr_ex qx = {.comp_mask = IBV_QP_INIT_ATTR_PD |
						      IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					 .pd = pd,
					 .send_cq = rig.cq,
					 .recv_cq = rig.cq,
					 .qp_type = IBV_QPT_RC};

	(void)state;
	assert_null(ibv_create_qp(rig.pd, &qa));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(reason(), "ibv_create_qp: send_cq was made in another context");
	assert_null(ibv_create_qp_ex(rig.ctx, &qx));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(rig.ctx, 1, NULL, ch, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_comp_channel(ch), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(other), 0);
}

static void handles_of_objects_that_live_differ(void **state)
{
	struct ibv_pd *a = ibv_alloc_pd(rig.ctx), *b = ibv_alloc_pd(rig.ctx);
	struct ibv_mr *m = ibv_reg_mr(a, memory, 1, 0);

	(void)state;
	assert_int_not_equal(a->handle, b->handle);
	assert_int_not_equal(a->handle, m->handle);
	assert_int_not_equal(a->handle, rig.cq->handle);
	assert_int_not_equal(a->handle, 0);
	ibv_dereg_mr(m);
	ibv_dealloc_pd(a);
	ibv_dealloc_pd(b);
}

/* ---- memory ---- */

static void registrations_are_checked_before_the_provider_sees_them(void **state)
{
	static const struct {
		void *addr;
		size_t length;
		int access;
	} rows[] = {
		{NULL, 1, 0},
		{memory, 0, 0},
		{memory, SIZE_MAX, 0},
		{memory, 1, 1 << 12},
		{memory, 1, IBV_ACCESS_REMOTE_WRITE},
		{memory, 1, IBV_ACCESS_REMOTE_ATOMIC},
	};

	(void)state;
	for (size_t i = 0; i < VF_ARRAY_SIZE(rows); i++) {
		errno = 0;
		assert_null(ibv_reg_mr(rig.pd, rows[i].addr, rows[i].length, rows[i].access));
		assert_int_equal(errno, EINVAL);
	}
	assert_null(ibv_reg_mr(rig.pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void a_region_tells_what_was_registered(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, 100, IBV_ACCESS_LOCAL_WRITE);

	(void)state;
	assert_ptr_equal(mr->addr, memory);
	assert_int_equal(mr->length, 100);
	assert_ptr_equal(mr->pd, rig.pd);
	assert_ptr_equal(mr->context, rig.ctx);
	assert_int_equal(fake.last_iova, (uintptr_t)memory);
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr_iova(rig.pd, memory, 100, 0x5000, 0);
	assert_int_equal(fake.last_iova, 0x5000);
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr_iova2(rig.pd, memory, 100, (uintptr_t)memory, IBV_ACCESS_ZERO_BASED);
	assert_int_equal(fake.last_iova, 0);
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr_iova2(rig.pd, memory, 100, 0x5000, IBV_ACCESS_RELAXED_ORDERING);
	assert_int_equal(fake.last_iova, 0x5000);
	ibv_dereg_mr(mr);
}

static void registration_by_attributes_takes_address_or_descriptor(void **state)
{
	struct ibv_mr_init_attr a = {
		.length = 64, .addr = memory, .comp_mask = IBV_REG_MR_MASK_ADDR};
	struct ibv_mr *mr = ibv_reg_mr_ex(rig.pd, &a);

	(void)state;
	assert_ptr_equal(mr->addr, memory);
	ibv_dereg_mr(mr);
	a.comp_mask |= IBV_REG_MR_MASK_IOVA;
	a.iova = 0x7000;
	mr = ibv_reg_mr_ex(rig.pd, &a);
	assert_int_equal(fake.last_iova, 0x7000);
	ibv_dereg_mr(mr);
	a.comp_mask = IBV_REG_MR_MASK_FD;
	assert_null(ibv_reg_mr_ex(rig.pd, &a));
	assert_int_equal(errno, EINVAL);
	a.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;
	assert_null(ibv_reg_mr_ex(rig.pd, &a));
	assert_int_equal(errno, EINVAL);
	a.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
	assert_null(ibv_reg_mr_ex(rig.pd, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET;
	a.fd = -1;
	assert_null(ibv_reg_mr_ex(rig.pd, &a));
	assert_int_equal(errno, EBADF);
}

static void a_dma_buf_request_is_checked(void **state)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ibv_mr *mr;

	(void)state;
	assert_null(ibv_reg_dmabuf_mr(rig.pd, 0, 1, 0, -1, 0));
	assert_int_equal(errno, EBADF);
	assert_null(ibv_reg_dmabuf_mr(rig.pd, 0, 0, 0, fd, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_dmabuf_mr(rig.pd, 8, 1, page + 16, fd, 0));
	assert_int_equal(errno, EINVAL);
	mr = ibv_reg_dmabuf_mr(rig.pd, 8, 1, 5 * page + 8, fd, 0);
	assert_non_null(mr);
	assert_int_equal(fake.last_iova, 5 * page + 8);
	ibv_dereg_mr(mr);
	close(fd);
}

static void reregistration_answers_with_its_own_codes(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, 100, 0);
	struct ibv_pd *other = ibv_alloc_pd(rig.ctx);

	(void)state;
	assert_int_equal(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0),
			 IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory, 0, 0),
			 IBV_REREG_MR_ERR_INPUT);
	fake.error = ENOMEM;
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0),
			 IBV_REREG_MR_ERR_CMD);
	assert_int_equal(errno, ENOMEM);
	assert_ptr_equal(mr->pd, rig.pd);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0), 0);
	assert_ptr_equal(mr->pd, other);
	assert_int_equal(ibv_dealloc_pd(other), EBUSY);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory + 8, 16, 0),
			 0);
	assert_ptr_equal(mr->addr, memory + 8);
	assert_int_equal(mr->length, 16);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
}

static void windows_are_bound_within_their_domain(void **state)
{
	struct ibv_pd *other = ibv_alloc_pd(rig.ctx);
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, 100, IBV_ACCESS_MW_BIND);
	struct ibv_qp *qp = fake_qp(&rig, IBV_QPT_RC);
	struct ibv_mw *mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1),
		      *far = ibv_alloc_mw(other, IBV_MW_TYPE_1);
	struct ibv_mw *second = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2);
	struct ibv_mw_bind b = {.bind_info = {.mr = mr, .addr = (uintptr_t)memory, .length = 8}};
	int (*bind)(struct ibv_qp *, struct ibv_mw *, struct ibv_mw_bind *) = rig.ctx->ops.bind_mw;

	(void)state;
	assert_null(ibv_alloc_mw(rig.pd, (enum ibv_mw_type)3));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(bind(qp, mw, &b), 0);
	assert_int_equal(bind(qp, far, &b), EPERM);
	assert_int_equal(bind(qp, second, &b), EINVAL);
	b.bind_info.mw_access_flags = 1 << 9;
	assert_int_equal(bind(qp, mw, &b), EINVAL);
	b.bind_info = (struct ibv_mw_bind_info){.mr = NULL};
	assert_int_equal(bind(qp, mw, &b), 0);
	ibv_dealloc_mw(second);
	ibv_dealloc_mw(far);
	ibv_dealloc_mw(mw);
	ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(other);
}

/* ---- parent and thread domains ---- */

static void a_parent_domain_stands_for_its_domain(void **state)
{
	struct ibv_td_init_attr ta = {.comp_mask = 0};
	struct ibv_td *td = ibv_alloc_td(rig.ctx, &ta);
	struct ibv_parent_domain_init_attr pa = {.pd = rig.pd, .td = td};
	struct ibv_pd *parent = ibv_alloc_parent_domain(rig.ctx, &pa);
	struct ibv_mr *mr = ibv_reg_mr(parent, memory, 100, 0);
	struct ibv_cq_init_attr_ex ca = {
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parent};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig.ctx, &ca);

	(void)state;
	assert_ptr_equal(mr->pd, parent);
	assert_ptr_equal(fake.last_pd, rig.pd);
	assert_int_equal(ibv_dealloc_pd(rig.pd), EBUSY);
	assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
	assert_int_equal(ibv_dealloc_td(td), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
	assert_int_equal(ibv_destroy_cq((struct ibv_cq *)(void *)cq), 0);
	assert_int_equal(ibv_dealloc_pd(parent), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
}

static void parent_domains_are_checked(void **state)
{
	struct ibv_parent_domain_init_attr pa = {.pd = rig.pd, .comp_mask = 1 << 8};
	struct ibv_td_init_attr ta = {.comp_mask = 1};
	struct ibv_pd *parent;

	(void)state;
	assert_null(ibv_alloc_td(rig.ctx, &ta));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_alloc_parent_domain(rig.ctx, &pa));
	assert_int_equal(errno, EINVAL);
	pa.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	assert_null(ibv_alloc_parent_domain(rig.ctx, &pa));
	pa.comp_mask = 0;
	pa.pd = NULL;
	assert_null(ibv_alloc_parent_domain(rig.ctx, &pa));
	pa.pd = rig.pd;
	parent = ibv_alloc_parent_domain(rig.ctx, &pa);
	pa.pd = parent;
	assert_null(ibv_alloc_parent_domain(rig.ctx, &pa));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_dealloc_pd(parent), 0);
}

/* ---- queues ---- */

static void completion_queues_are_checked(void **state)
{
	struct ibv_cq_init_attr_ex ca = {.cqe = 4, .comp_mask = 1 << 5};

	(void)state;
	assert_null(ibv_create_cq(rig.ctx, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(rig.ctx, -5, NULL, NULL, 0));
	assert_string_equal(reason(), "ibv_create_cq: cqe -5, the least is 1");
	assert_null(ibv_create_cq(rig.ctx, 1, NULL, NULL, 1));
	assert_null(ibv_create_cq(rig.ctx, 1, NULL, NULL, -1));
	assert_null(ibv_create_cq_ex(rig.ctx, &ca));
	assert_int_equal(errno, EINVAL);
	ca.comp_mask = 0;
	ca.wc_flags = 1 << 20;
	assert_null(ibv_create_cq_ex(rig.ctx, &ca));
	assert_int_equal(errno, EOPNOTSUPP);
	ca.wc_flags = 0;
	ca.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	ca.flags = 1 << 4;
	assert_null(ibv_create_cq_ex(rig.ctx, &ca));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_resize_cq(rig.cq, 0), EINVAL);
	assert_int_equal(ibv_resize_cq(rig.cq, 99), 0);
	assert_int_equal(rig.cq->cqe, 99);
}

static void shared_receive_queues_tell_what_was_granted(void **state)
{
	struct ibv_srq_init_attr sa = {.srq_context = &rig, .attr.max_wr = 3};
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &sa);
	struct ibv_srq_attr a;
	uint32_t n;

	(void)state;
	assert_int_equal(sa.attr.max_wr, 4);
	assert_ptr_equal(srq->srq_context, &rig);
	assert_int_equal(ibv_query_srq(srq, &a), 0);
	assert_int_equal(a.max_wr, 77);
	assert_int_equal(ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_modify_srq(srq, &a, 8), EINVAL);
	assert_int_equal(ibv_get_srq_num(srq, &n), EOPNOTSUPP);
	ibv_destroy_srq(srq);
}

static void extended_shared_receive_queues_are_basic_ones(void **state)
{
	struct ibv_srq_init_attr_ex sx = {.attr.max_wr = 3,
					  .comp_mask =
						  IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
					  .srq_type = IBV_SRQT_XRC,
					  .pd = rig.pd};
	struct ibv_srq *(*create)(struct ibv_context *, struct ibv_srq_init_attr_ex *) =
		verbs_get_ctx(rig.ctx)->create_srq_ex;
	struct ibv_srq *srq;

	(void)state;
	assert_null(create(rig.ctx, &sx));
	assert_int_equal(errno, EOPNOTSUPP);
	sx.srq_type = IBV_SRQT_BASIC;
	sx.comp_mask |= 1 << 7;
	assert_null(create(rig.ctx, &sx));
	assert_int_equal(errno, EINVAL);
	sx.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	assert_null(create(rig.ctx, &sx));
	sx.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	srq = create(rig.ctx, &sx);
	assert_non_null(srq);
	assert_int_equal(sx.attr.max_wr, 4);
	ibv_destroy_srq(srq);
}

static void what_no_device_has_is_not_supported(void **state)
{
	struct ibv_xrcd_init_attr xa = {.comp_mask = 0};
	struct ibv_sge sge = {.length = 1};
	struct ibv_alloc_dm_attr da = {.length = 1};
	struct ibv_modify_cq_attr ma = {.attr_mask = IBV_CQ_ATTR_MODERATE};
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	struct ibv_ece ece = {.vendor_id = 1};
	struct ibv_qp *qp = fake_qp(&rig, IBV_QPT_RC);

	(void)state;
	errno = 0;
	assert_null(ibv_open_xrcd(rig.ctx, &xa));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_alloc_dm(rig.ctx, &da));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_alloc_null_mr(rig.pd));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_advise_mr(rig.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1),
			 EOPNOTSUPP);
	assert_int_equal(ibv_advise_mr(rig.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 2, &sge, 1), EINVAL);
	assert_int_equal(ibv_modify_cq(rig.cq, &ma), EOPNOTSUPP);
	assert_int_equal(ibv_query_rt_values_ex(rig.ctx, &values), EOPNOTSUPP);
	assert_int_equal(ibv_set_ece(qp, &ece), EOPNOTSUPP);
	errno = 0;
	assert_int_equal(ibv_query_ece(qp, &ece), EOPNOTSUPP);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_query_qp_data_in_order(qp, IBV_WR_SEND, 0), 0);
	ibv_destroy_qp(qp);
}

/* ---- imports ---- */

static void a_device_is_imported_by_a_copy_of_its_descriptor(void **state)
{
	int fd = dup(rig.ctx->cmd_fd);
	struct ibv_context *ctx = ibv_import_device(fd);
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, 100, 0), *mr2, *own;
	struct ibv_pd *pd;

	(void)state;
	assert_non_null(ctx);
	assert_ptr_equal(ctx->device, rig.ctx->device);
	assert_ptr_not_equal(ctx, rig.ctx);
	assert_int_not_equal(ctx->async_fd, rig.ctx->async_fd);
	assert_null(ibv_import_pd(ctx, mr->handle));
	assert_int_equal(errno, ENOENT);
	pd = ibv_import_pd(ctx, rig.pd->handle);
	assert_int_equal(pd->handle, rig.pd->handle);
	mr2 = ibv_import_mr(pd, mr->handle);
	assert_int_equal(mr2->rkey, mr->rkey);
	assert_null(mr2->addr);
	assert_null(ibv_import_mr(pd, pd->handle));
	own = ibv_reg_mr(pd, memory, 10, 0);
	assert_ptr_equal(fake.last_pd, rig.pd);
	assert_ptr_equal(own->context, ctx);
	assert_int_equal(ibv_dereg_mr(mr2), EINVAL);
	assert_int_equal(ibv_dealloc_pd(pd), EINVAL);
	assert_int_equal(ibv_dealloc_pd(rig.pd), EBUSY);
	ibv_unimport_mr(mr2);
	ibv_unimport_pd(pd); /* own still uses it */
	assert_int_equal(ibv_dereg_mr(own), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void only_descriptors_of_open_devices_are_imported(void **state)
{
	struct ibv_context *other = fake_open_nth(1), *same = fake_open();
	int fd = dup(other->cmd_fd), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_null(ibv_import_device(-1));
	assert_int_equal(errno, EBADF);
	assert_null(ibv_import_device(null));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_import_pd(other, rig.pd->handle));
	assert_null(ibv_import_pd(same, rig.pd->handle));
	assert_int_equal(errno, ENOENT);
	ibv_close_device(other);
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, ENODEV);
	assert_int_equal(fcntl(fd, F_GETFD), 0); /* still open, still the caller's */
	ibv_close_device(same);
	close(fd);
	close(null);
}

static void fork_needs_no_preparation(void **state)
{
	(void)state;
	assert_int_equal(ibv_fork_init(), 0);
	assert_int_equal(ibv_fork_init(), 0);
	assert_int_equal(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_domain_with_objects_is_busy),
		TEST(a_completion_queue_with_queue_pairs_is_busy),
		TEST(a_shared_receive_queue_with_queue_pairs_is_busy),
		TEST(a_channel_with_completion_queues_is_busy),
		TEST(a_region_with_bound_windows_is_busy),
		TEST(what_the_provider_cannot_end_lives_on),
		TEST(objects_of_another_context_are_refused),
		TEST(handles_of_objects_that_live_differ),
		TEST(registrations_are_checked_before_the_provider_sees_them),
		TEST(a_region_tells_what_was_registered),
		TEST(registration_by_attributes_takes_address_or_descriptor),
		TEST(a_dma_buf_request_is_checked),
		TEST(reregistration_answers_with_its_own_codes),
		TEST(windows_are_bound_within_their_domain),
		TEST(a_parent_domain_stands_for_its_domain),
		TEST(parent_domains_are_checked),
		TEST(completion_queues_are_checked),
		TEST(shared_receive_queues_tell_what_was_granted),
		TEST(extended_shared_receive_queues_are_basic_ones),
		TEST(what_no_device_has_is_not_supported),
		TEST(a_device_is_imported_by_a_copy_of_its_descriptor),
		TEST(only_descriptors_of_open_devices_are_imported),
		TEST(fork_needs_no_preparation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("object", tests, NULL, NULL);
}

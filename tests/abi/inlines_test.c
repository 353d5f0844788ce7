/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the inline functions of <infiniband/verbs.h> send a program's calls: which exported
 * function or operation is reached, and what is answered when the library lacks the operation. The
 * exported functions are defined here and note that they were called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <infiniband/verbs.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static const char *reached;
static uint64_t argument;
static size_t size;
static struct verbs_context vctx;
static struct ibv_pd pd;
static struct ibv_mr mr;
static struct ibv_qp qp;
static struct ibv_srq srq;

struct ibv_mr *ibv_reg_mr(struct ibv_pd *p, void *addr, size_t length, int access)
{
	(void)p;
	(void)addr;
	(void)length;
	argument = (uint64_t)access;
	reached = "ibv_reg_mr";
	return &mr;
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *p, void *addr, size_t length, uint64_t iova,
			       int access)
{
	(void)p;
	(void)addr;
	(void)length;
	(void)access;
	argument = iova;
	reached = "ibv_reg_mr_iova";
	return &mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *p, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)p;
	(void)addr;
	(void)length;
	(void)access;
	argument = iova;
	reached = "ibv_reg_mr_iova2";
	return &mr;
}

int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *port_attr)
{
	(void)context;
	(void)port_attr;
	argument = port_num;
	reached = "ibv_query_port";
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	(void)context;
	device_attr->max_qp = 7;
	reached = "ibv_query_device";
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *p, struct ibv_qp_init_attr *qp_init_attr)
{
	(void)p;
	(void)qp_init_attr;
	reached = "ibv_create_qp";
	return &qp;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *p, struct ibv_srq_init_attr *srq_init_attr)
{
	(void)p;
	(void)srq_init_attr;
	reached = "ibv_create_srq";
	return &srq;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	(void)context;
	(void)port_num;
	(void)gid_index;
	(void)entry;
	(void)flags;
	size = entry_size;
	reached = "_ibv_query_gid_ex";
	return 0;
}

static int query_port_op(struct ibv_context *context, uint8_t port_num,
			 struct ibv_port_attr *port_attr, size_t port_attr_len)
{
	(void)context;
	(void)port_num;
	(void)port_attr;
	size = port_attr_len;
	reached = "query_port";
	return 0;
}

static int query_device_op(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	(void)input;
	(void)attr;
	size = attr_size;
	reached = "query_device_ex";
	return (int)argument;
}

static struct ibv_qp *create_qp_op(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	(void)context;
	(void)attr;
	reached = "create_qp_ex";
	return &qp;
}

static struct ibv_srq *create_srq_op(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	(void)attr;
	reached = "create_srq_ex";
	return &srq;
}

static int bind_op(struct ibv_qp *q, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	(void)q;
	(void)mw;
	(void)mw_bind;
	reached = "bind_mw";
	return 0;
}

static int fresh(void **state)
{
	(void)state;
	reached = "nothing";
	argument = 0;
	size = 0;
	memset(&vctx, 0, sizeof(vctx));
	vctx.sz = sizeof(vctx);
	vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	pd.context = &vctx.context;
	return 0;
}

static void an_operation_is_found_only_where_the_library_has_it(void **state)
{
	(void)state;
	assert_ptr_equal(verbs_get_ctx(&vctx.context), &vctx);
	assert_null(verbs_get_ctx_op(&vctx.context, query_port));
	vctx.query_port = query_port_op;
	assert_ptr_equal(verbs_get_ctx_op(&vctx.context, query_port), &vctx);
	/* a library whose verbs_context ends just before, and just behind, the operation */
	vctx.sz = sizeof(vctx) - offsetof(struct verbs_context, query_port) - sizeof(void *);
	assert_null(verbs_get_ctx_op(&vctx.context, query_port));
	vctx.sz = sizeof(vctx) - offsetof(struct verbs_context, query_port);
	assert_ptr_equal(verbs_get_ctx_op(&vctx.context, query_port), &vctx);
	vctx.context.abi_compat = NULL;
	assert_null(verbs_get_ctx(&vctx.context));
	assert_null(verbs_get_ctx_op(&vctx.context, query_port));
}

static void a_missing_operation_is_not_supported(void **state)
{
	struct ibv_alloc_dm_attr dm = {8, 0, 0};
	struct ibv_ops_wr op, *bad = NULL;

	(void)state;
	errno = 0;
	assert_null(ibv_alloc_dm(&vctx.context, &dm));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_alloc_mw(&pd, IBV_MW_TYPE_1));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0), EOPNOTSUPP);
	srq.context = &vctx.context;
	assert_int_equal(ibv_post_srq_ops(&srq, &op, &bad), EOPNOTSUPP);
	assert_ptr_equal(bad, &op);
}

static void access_known_to_be_plain_goes_to_the_plain_registration(void **state)
{
	char buf[8];
	volatile int unknown = IBV_ACCESS_LOCAL_WRITE;

	(void)state;
	/* as the header's macro would be used in a program */
#define reg_mr(p, a, l, access)                                                                    \
	__ibv_reg_mr(p, a, l, (unsigned int)(access), _verbs_has_optional_access(access))
#define reg_mr_iova(p, a, l, v, access)                                                            \
	__ibv_reg_mr_iova(p, a, l, v, (unsigned int)(access), _verbs_has_optional_access(access))
	assert_ptr_equal(reg_mr(&pd, buf, 8, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ), &mr);
	assert_string_equal(reached, "ibv_reg_mr");
	assert_int_equal(argument, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	reg_mr(&pd, buf, 8, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	assert_string_equal(reached, "ibv_reg_mr_iova2");
	assert_int_equal(argument, (uintptr_t)buf);
	reg_mr(&pd, buf, 8, unknown);
	assert_string_equal(reached, "ibv_reg_mr_iova2");
	reg_mr_iova(&pd, buf, 8, 4096, IBV_ACCESS_LOCAL_WRITE);
	assert_string_equal(reached, "ibv_reg_mr_iova");
	reg_mr_iova(&pd, buf, 8, 4096, unknown);
	assert_string_equal(reached, "ibv_reg_mr_iova2");
	assert_int_equal(argument, 4096);
}

static void ports_are_asked_with_the_size_of_the_struct(void **state)
{
	struct ibv_port_attr attr;

	(void)state;
	memset(&attr, 0xff, sizeof(attr));
	assert_int_equal(___ibv_query_port(&vctx.context, 3, &attr), 0);
	assert_string_equal(reached, "ibv_query_port");
	assert_int_equal(argument, 3);
	assert_int_equal(attr.active_speed_ex, 0);
	vctx.query_port = query_port_op;
	assert_int_equal(___ibv_query_port(&vctx.context, 3, &attr), 0);
	assert_string_equal(reached, "query_port");
	assert_int_equal(size, sizeof(attr));
}

static void gids_are_asked_with_the_size_of_the_struct(void **state)
{
	struct ibv_gid_entry entry;

	(void)state;
	assert_int_equal(ibv_query_gid_ex(&vctx.context, 1, 0, &entry, 0), 0);
	assert_string_equal(reached, "_ibv_query_gid_ex");
	assert_int_equal(size, 32);
}

static void device_queries_fall_back_to_the_plain_one(void **state)
{
	struct ibv_query_device_ex_input input = {1};
	struct ibv_device_attr_ex attr;

	(void)state;
	memset(&attr, 0xff, sizeof(attr));
	assert_int_equal(ibv_query_device_ex(&vctx.context, &input, &attr), EINVAL);
	assert_int_equal(ibv_query_device_ex(&vctx.context, NULL, &attr), 0);
	assert_string_equal(reached, "ibv_query_device");
	assert_int_equal(attr.orig_attr.max_qp, 7);
	assert_int_equal(attr.phys_port_cnt_ex, 0);
	vctx.query_device_ex = query_device_op;
	assert_int_equal(ibv_query_device_ex(&vctx.context, NULL, &attr), 0);
	assert_string_equal(reached, "query_device_ex");
	assert_int_equal(size, sizeof(attr));
	argument = ENOSYS;
	assert_int_equal(ibv_query_device_ex(&vctx.context, NULL, &attr), 0);
	assert_string_equal(reached, "ibv_query_device");
	argument = EIO;
	assert_int_equal(ibv_query_device_ex(&vctx.context, NULL, &attr), EIO);
	assert_string_equal(reached, "query_device_ex");
}

static void queues_without_extensions_are_made_by_the_plain_call(void **state)
{
	struct ibv_qp_init_attr_ex attr;
	struct ibv_srq_init_attr_ex srq_attr;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	memset(&srq_attr, 0, sizeof(srq_attr));
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	assert_ptr_equal(ibv_create_qp_ex(&vctx.context, &attr), &qp);
	assert_string_equal(reached, "ibv_create_qp");
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	assert_null(ibv_create_qp_ex(&vctx.context, &attr));
	vctx.create_qp_ex = create_qp_op;
	assert_ptr_equal(ibv_create_qp_ex(&vctx.context, &attr), &qp);
	assert_string_equal(reached, "create_qp_ex");

	srq_attr.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	srq_attr.srq_type = IBV_SRQT_XRC; /* does not count without its bit */
	assert_ptr_equal(ibv_create_srq_ex(&vctx.context, &srq_attr), &srq);
	assert_string_equal(reached, "ibv_create_srq");
	srq_attr.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
	assert_null(ibv_create_srq_ex(&vctx.context, &srq_attr));
	vctx.create_srq_ex = create_srq_op;
	assert_ptr_equal(ibv_create_srq_ex(&vctx.context, &srq_attr), &srq);
	assert_string_equal(reached, "create_srq_ex");
	srq_attr.srq_type = IBV_SRQT_BASIC;
	ibv_create_srq_ex(&vctx.context, &srq_attr);
	assert_string_equal(reached, "ibv_create_srq");
}

static void windows_are_checked_before_they_are_bound(void **state)
{
	struct ibv_pd other = {&vctx.context, 0};
	struct ibv_mw mw = {&vctx.context, &pd, 0x100, 0, IBV_MW_TYPE_2};
	struct ibv_mw_bind bind;

	(void)state;
	memset(&bind, 0, sizeof(bind));
	vctx.context.ops.bind_mw = bind_op;
	assert_int_equal(ibv_bind_mw(&qp, &mw, &bind), EINVAL);
	mw.type = IBV_MW_TYPE_1;
	assert_int_equal(ibv_bind_mw(&qp, &mw, &bind), 0);
	assert_string_equal(reached, "bind_mw");
	bind.bind_info.length = 1;
	assert_int_equal(ibv_bind_mw(&qp, &mw, &bind), EINVAL);
	mr.pd = &other;
	bind.bind_info.mr = &mr;
	assert_int_equal(ibv_bind_mw(&qp, &mw, &bind), EPERM);
	mr.pd = &pd;
	assert_int_equal(ibv_bind_mw(&qp, &mw, &bind), 0);
}

static void small_calculations_are_right(void **state)
{
	(void)state;
	assert_int_equal(ibv_inc_rkey(0x12345600), 0x12345601);
	assert_int_equal(ibv_inc_rkey(0x123456ff), 0x12345600);
	assert_int_equal(ibv_inc_rkey(0xffffffff), 0xffffff00);
	assert_int_equal(ibv_flow_label_to_udp_sport(0), 0xc000);
	assert_int_equal(ibv_flow_label_to_udp_sport(0x03fff), 0xffff);
	assert_int_equal(ibv_flow_label_to_udp_sport(0xfffff), 0xffff ^ 0x3f);
	assert_int_equal(ibv_flow_label_to_udp_sport(0x04000), 0xc001);
	assert_true(ibv_is_qpt_supported(1u << IBV_QPT_UD, IBV_QPT_UD));
	assert_false(ibv_is_qpt_supported(1u << IBV_QPT_UD, IBV_QPT_RC));
	assert_true((int)IBV_ACCESS_OPTIONAL_RANGE & (int)IBV_ACCESS_RELAXED_ORDERING);
	assert_false(IBV_ACCESS_OPTIONAL_RANGE & (IBV_ACCESS_OPTIONAL_FIRST - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_operation_is_found_only_where_the_library_has_it, fresh),
		cmocka_unit_test_setup(a_missing_operation_is_not_supported, fresh),
		cmocka_unit_test_setup(access_known_to_be_plain_goes_to_the_plain_registration,
				       fresh),
		cmocka_unit_test_setup(ports_are_asked_with_the_size_of_the_struct, fresh),
		cmocka_unit_test_setup(gids_are_asked_with_the_size_of_the_struct, fresh),
		cmocka_unit_test_setup(device_queries_fall_back_to_the_plain_one, fresh),
		cmocka_unit_test_setup(queues_without_extensions_are_made_by_the_plain_call, fresh),
		cmocka_unit_test_setup(windows_are_checked_before_they_are_bound, fresh),
		cmocka_unit_test_setup(small_calculations_are_right, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

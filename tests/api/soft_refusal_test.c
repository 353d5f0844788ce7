/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Refusals of the soft device as a program sees them: the value and errno of the verb's convention,
 * and exactly one line that names what was wrong, with value and range.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft_pair.h"

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_device_attr caps;
static char memory[8192];

static int open_device(void **state)
{
	(void)state;
	ctx = pair_open_device(PAIR_DEVICE);
	if (!ctx)
		return -1;
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	return !pd || !cq || ibv_query_device(ctx, &caps);
}

static int close_device(void **state)
{
	(void)state;
	return ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(ctx);
}

/* ---- the calls; each answers with its errno value, 0 when it was not refused ---- */

static int err_of_pointer(const void *p) { return p ? 0 : errno; }

static int cq_too_large(void)
{
	return err_of_pointer(ibv_create_cq(ctx, caps.max_cqe + 1, NULL, NULL, 0));
}

static int cq_resized_too_large(void) { return ibv_resize_cq(cq, caps.max_cqe + 1); }

static int qp_with(struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr a = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = cap};

	return err_of_pointer(ibv_create_qp(pd, &a));
}

static int qp_inline(void) { return qp_with((struct ibv_qp_cap){.max_inline_data = 1u << 20}); }

static int qp_send_wr(void)
{
	return qp_with((struct ibv_qp_cap){.max_send_wr = (uint32_t)caps.max_qp_wr + 1});
}

static int qp_recv_wr(void)
{
	return qp_with((struct ibv_qp_cap){.max_recv_wr = (uint32_t)caps.max_qp_wr + 1});
}

static int qp_send_sge(void)
{
	return qp_with((struct ibv_qp_cap){.max_send_sge = (uint32_t)caps.max_sge + 1});
}

static int qp_recv_sge(void)
{
	return qp_with((struct ibv_qp_cap){.max_recv_sge = (uint32_t)caps.max_sge + 1});
}

static int srq_with(uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = wr, .max_sge = sge}};

	return err_of_pointer(ibv_create_srq(pd, &a));
}

static int srq_wr(void) { return srq_with((uint32_t)caps.max_srq_wr + 1, 1); }
static int srq_sge(void) { return srq_with(1, (uint32_t)caps.max_srq_sge + 1); }

static int mr_on_demand(void)
{
	return err_of_pointer(
		ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
}

static int mr_not_mapped(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p, page);
	return err_of_pointer(ibv_reg_mr(pd, p, page, IBV_ACCESS_LOCAL_WRITE));
}

static int dmabuf_of_a_file(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int err = err_of_pointer(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, fd, IBV_ACCESS_LOCAL_WRITE));

	close(fd);
	return err;
}

static int ah_to(const char *gid_bytes, uint8_t sgid_index)
{
	struct ibv_ah_attr av = {.is_global = 1, .port_num = 1, .grh.sgid_index = sgid_index};

	memcpy(av.grh.dgid.raw, gid_bytes, 16);
	return err_of_pointer(ibv_create_ah(pd, &av));
}

static int ah_of_no_source(void) { return ah_to("\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 200); }

static int ah_of_two_families(void) { return ah_to("\x20\1\r\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 1); }

static int parent_of_nothing(void)
{
	struct ibv_parent_domain_init_attr a = {.pd = NULL};

	return err_of_pointer(ibv_alloc_parent_domain(ctx, &a));
}

static int port_2(void)
{
	struct ibv_port_attr a;

	return ibv_query_port(ctx, 2, &a);
}

static int gid_too_far(void)
{
	union ibv_gid gid;

	return ibv_query_gid(ctx, 1, 100000, &gid) ? errno : 0;
}

static int pkey_too_far(void)
{
	__be16 pkey;

	return ibv_query_pkey(ctx, 1, 5, &pkey) ? errno : 0;
}

static int advice_on_nothing(void)
{
	struct ibv_sge sge = {.addr = (uintptr_t)memory, .length = 4096, .lkey = 1};

	return ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1);
}

static int busy_cq(void)
{
	struct ibv_qp_init_attr a = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(pd, &a);
	int err = ibv_destroy_cq(cq);

	return ibv_destroy_qp(qp) ? 0 : err;
}

static const struct row {
	const char *name;
	int (*call)(void);
	int err;
	const char *says; /* part of the line */
} rows[] = {
	{"cq too large", cq_too_large, EINVAL, "cqe"},
	{"cq resized too large", cq_resized_too_large, EINVAL, "cqe"},
	{"inline", qp_inline, EINVAL, "max_inline_data 1048576 > "},
	{"send wr", qp_send_wr, EINVAL, "max_send_wr"},
	{"recv wr", qp_recv_wr, EINVAL, "max_recv_wr"},
	{"send sge", qp_send_sge, EINVAL, "max_send_sge"},
	{"recv sge", qp_recv_sge, EINVAL, "max_recv_sge"},
	{"srq wr", srq_wr, EINVAL, "max_wr"},
	{"srq sge", srq_sge, EINVAL, "max_sge"},
	{"on demand", mr_on_demand, EOPNOTSUPP, "ON_DEMAND"},
	{"not mapped", mr_not_mapped, EFAULT, ""},
	{"dma-buf of a file", dmabuf_of_a_file, EINVAL, ""},
	{"no source", ah_of_no_source, EINVAL, "sgid_index 200"},
	{"two families", ah_of_two_families, EINVAL, "IPv4"},
	{"parent", parent_of_nothing, EINVAL, "attr->pd"},
	{"port", port_2, EINVAL, "port 2"},
	{"gid", gid_too_far, EINVAL, "index 100000"},
	{"pkey", pkey_too_far, EINVAL, "index 5"},
	{"advice", advice_on_nothing, EOPNOTSUPP, "advise_mr"},
	{"busy cq", busy_cq, EBUSY, "ibv_destroy_cq"},
};

static char line_said[512];

static void keep_line(int level, const char *line, void *arg)
{
	(void)level;
	++*(int *)arg;
	snprintf(line_said, sizeof(line_said), "%s", line);
}

static void every_refusal_is_one_line_that_says_what_was_wrong(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int lines = 0, err;

		line_said[0] = 0;
		verbifrost_set_log(keep_line, &lines);
		verbifrost_set_log_level(2);
		err = rows[i].call();
		verbifrost_set_log_level(0);
		verbifrost_set_log(NULL, NULL);
		if (err == rows[i].err && lines == 1 && strstr(line_said, rows[i].says))
			continue;
		print_error("%s: errno value %d, %d lines: %s\n", rows[i].name, err, lines,
			    line_said);
		failed++;
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_refusal_is_one_line_that_says_what_was_wrong),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("soft refusal", tests, open_device, close_device);
}

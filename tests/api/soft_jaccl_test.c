/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way MLX's JACCL uses verbs: sixteen symbols from librdma.dylib by name, UC queue pairs with source index 1, everything of the data path
 * through the context's function pointers, messages up to 512 KiB with nothing to repair a loss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#include <infiniband/verbs.h>

/* The macros would call the functions of the library that this program is not linked to. */
#undef ibv_query_port
#undef ibv_reg_mr

#define CALLS(X)                                                                                \
	X(ibv_get_device_list)                                                                  \
	X(ibv_get_device_name)                                                                  \
	X(ibv_open_device)                                                                      \
	X(ibv_free_device_list)                                                                 \
	X(ibv_close_device)                                                                     \
	X(ibv_alloc_pd)                                                                         \
	X(ibv_create_qp)                                                                        \
	X(ibv_create_cq)                                                                        \
	X(ibv_destroy_cq)                                                                       \
	X(ibv_destroy_qp)                                                                       \
	X(ibv_dealloc_pd)                                                                       \
	X(ibv_query_port)                                                                       \
	X(ibv_query_gid)                                                                        \
	X(ibv_modify_qp)                                                                        \
	X(ibv_reg_mr)                                                                           \
	X(ibv_dereg_mr)

static struct {
#define POINTER(name) __typeof__(&name) name;
	CALLS(POINTER)
} v;

enum { DEPTH = 32, BUFFERS = 8, PSN = 7 };
#define MESSAGE_MAX (512u << 10)

struct node {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	union ibv_gid gid;
};

static int load(void **state)
{
	void *lib = dlopen("librdma.dylib", RTLD_NOW | RTLD_LOCAL);

	(void)state;
	if (!lib) {
		print_message("%s\n", dlerror());
		return -1;
	}
#define FIND(name)                                                                              \
	*(void **)(void *)&v.name = dlsym(lib, #name);                                          \
	if (!v.name)                                                                            \
		return -1;
	CALLS(FIND)
	return 0;
}

static void find_gid(struct node *n)
{
	/* 48 bytes are all that the exported function may write */
	struct {
		struct ibv_port_attr attr;
		uint8_t behind[16];
	} port;

	memset(&port, 0xee, sizeof(port));
	assert_int_equal(v.ibv_query_port(n->ctx, 1, (struct _compat_ibv_port_attr *)(void *)&port),
			 0);
	assert_int_equal(port.attr.lid, 0);
	assert_int_equal(((uint8_t *)&port)[48], 0xee);
	for (int i = 0; i < port.attr.gid_tbl_len; i++) {
		union ibv_gid g;

		if (v.ibv_query_gid(n->ctx, 1, i,
				    &g) == 0 && g.raw[10] == 0xff && g.raw[11] == 0xff &&
		    g.global.subnet_prefix == 0) {
			assert_int_equal(i, 1); /* the index that the address vector hard-codes */
			n->gid = g;
			return;
		}
	}
	fail_msg("no IPv4-mapped GID");
}

static void open_node(struct node *n, const char *name)
{
	struct ibv_qp_init_attr a = {.cap = {DEPTH, DEPTH, 1, 1, 0}, .qp_type = IBV_QPT_UC};
	struct ibv_device **list;
	int count;

	list = v.ibv_get_device_list(&count);
	assert_non_null(list);
	for (int i = 0; i < count; i++)
		if (strcmp(v.ibv_get_device_name(list[i]), name) == 0)
			n->ctx = v.ibv_open_device(list[i]);
	v.ibv_free_device_list(list);
	assert_non_null(n->ctx);
	n->pd = v.ibv_alloc_pd(n->ctx);
	n->cq = v.ibv_create_cq(n->ctx, 2 * DEPTH, NULL, NULL, 0);
	assert_non_null(n->cq);
	a.send_cq = a.recv_cq = n->cq;
	n->qp = v.ibv_create_qp(n->pd, &a);
	assert_non_null(n->qp);
	n->buf = aligned_alloc(16384, (size_t)BUFFERS * MESSAGE_MAX);
	assert_non_null(n->buf);
	n->mr = v.ibv_reg_mr(n->pd, n->buf, (size_t)BUFFERS * MESSAGE_MAX,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				     IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(n->mr);
	find_gid(n);
}

/* The masks are those that JACCL passes. */
static void connect_node(struct node *n, const struct node *peer)
{
	struct ibv_qp_attr a;

	memset(&a, 0, sizeof(a));
	a.qp_state = IBV_QPS_INIT;
	a.port_num = 1;
	a.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			    IBV_ACCESS_REMOTE_WRITE;
	assert_int_equal(v.ibv_modify_qp(n->qp, &a, 0x39), 0);
	memset(&a, 0, sizeof(a));
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.rq_psn = PSN;
	a.dest_qp_num = peer->qp->qp_num;
	a.ah_attr.port_num = 1;
	a.ah_attr.is_global = 1;
	a.ah_attr.grh.hop_limit = 1;
	a.ah_attr.grh.sgid_index = 1;
	a.ah_attr.grh.dgid = peer->gid;
	assert_int_equal(v.ibv_modify_qp(n->qp, &a, 0x101181), 0);
	memset(&a, 0, sizeof(a));
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = PSN;
	assert_int_equal(v.ibv_modify_qp(n->qp, &a, 0x10001), 0);
}

static void close_node(struct node *n)
{
	v.ibv_destroy_qp(n->qp);
	v.ibv_destroy_cq(n->cq);
	v.ibv_dereg_mr(n->mr);
	v.ibv_dealloc_pd(n->pd);
	assert_int_equal(v.ibv_close_device(n->ctx), 0);
	free(n->buf);
}

static void post_recv(struct node *n, unsigned i)
{
	struct ibv_sge sge = {.addr = (uintptr_t)n->buf + (size_t)i * MESSAGE_MAX,
			      .length = MESSAGE_MAX,
			      .lkey = n->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(n->ctx->ops.post_recv(n->qp, &wr, &bad), 0);
}

static void post_send(struct node *n, unsigned i, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)n->buf + (size_t)i * MESSAGE_MAX,
			      .length = len,
			      .lkey = n->mr->lkey};
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0xa5, sizeof(wr)); /* what the program leaves unset is not looked at */
	wr.wr_id = 100 + i;
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(n->ctx->ops.post_send(n->qp, &wr, &bad), 0);
}

static uint32_t length_of(unsigned message) { return 4096 + message * 7919 % (MESSAGE_MAX - 4095); }

/* Messages go one way, a window of them at a time, each checked in full. */
static void stream(struct node *from, struct node *to, unsigned messages)
{
	unsigned sent = 0, got = 0, in_flight = 0;
	time_t until = time(NULL) + 40;
	struct ibv_wc wc[8];

	for (unsigned i = 0; i < BUFFERS; i++)
		post_recv(to, i);
	while (got < messages) {
		int n;

		while (sent < messages && in_flight < BUFFERS && sent < got + BUFFERS) {
			uint8_t *p = from->buf + (size_t)(sent % BUFFERS) * MESSAGE_MAX;

			memset(p, (int)(sent * 13 + 1), length_of(sent));
			memcpy(p, &sent, sizeof(sent));
			post_send(from, sent % BUFFERS, length_of(sent));
			sent++;
			in_flight++;
		}
		n = from->ctx->ops.poll_cq(from->cq, 8, wc);
		for (int i = 0; i < n; i++) {
			assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
			in_flight--;
		}
		n = to->ctx->ops.poll_cq(to->cq, 8, wc);
		for (int i = 0; i < n; i++) {
			uint8_t *p = to->buf + (size_t)wc[i].wr_id * MESSAGE_MAX;

			assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
			assert_int_equal(wc[i].byte_len, length_of(got));
			assert_memory_equal(p, &got, sizeof(got));
			for (uint32_t k = 4; k < wc[i].byte_len; k++)
				if (p[k] != (uint8_t)(got * 13 + 1))
					fail_msg("message %u, byte %u", got, k);
			got++;
			post_recv(to, (unsigned)wc[i].wr_id);
		}
		if (time(NULL) > until)
			fail_msg("%u of %u messages arrived", got, messages);
	}
}

static void its_sequence_reaches_rts_and_no_message_is_lost(void **state)
{
	struct node a = {0}, b = {0};

	(void)state;
	open_node(&a, "vf_lo");
	open_node(&b, "vf_lo");
	connect_node(&a, &b);
	connect_node(&b, &a);
	stream(&a, &b, 400);
	close_node(&a);
	close_node(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_sequence_reaches_rts_and_no_message_is_lost),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}

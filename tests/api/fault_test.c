/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The API layer when memory or descriptors run out: every allocation and every descriptor fails
 * once, in turn. Each time the call that needed it says so, nothing leaks and nothing crashes. The
 * sources are compiled once more with the names below in the place of the system's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake.h"

static int fail_at; /* counts down; 0: the next one fails; below: none does */
static bool is_failed;
static int outstanding;

static bool fails(int err)
{
	if (fail_at-- != 0)
		return false;
	is_failed = true;
	errno = err;
	return true;
}

void *fault_calloc(size_t n, size_t size);
void *fault_realloc(void *p, size_t size);
char *fault_strdup(const char *s);
void fault_free(void *p);
int fault_socketpair(int domain, int type, int protocol, int fd[2]);

void *fault_calloc(size_t n, size_t size)
{
	if (fails(ENOMEM))
		return NULL;
	outstanding++;
	return calloc(n, size);
}

void *fault_realloc(void *p, size_t size)
{
	if (fails(ENOMEM))
		return NULL;
	outstanding += p == NULL;
	return realloc(p, size);
}

char *fault_strdup(const char *s)
{
	if (fails(ENOMEM))
		return NULL;
	outstanding++;
	return strdup(s);
}

void fault_free(void *p)
{
	outstanding -= p != NULL;
	free(p);
}

int fault_socketpair(int domain, int type, int protocol, int fd[2])
{
	return fails(EMFILE) ? -1 : socketpair(domain, type, protocol, fd);
}

/* ---- one life of a program, as far as it gets ---- */

struct life {
	struct ibv_device **list;
	struct ibv_context *ctx, *imported;
	struct ibv_pd *pd, *parent, *pd2;
	struct ibv_td *td;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr, *mr2;
	struct ibv_qp *qp;
	int fd;
};

static char memory[64];

static void live_open(struct life *l)
{
	struct ibv_td_init_attr ta = {.comp_mask = 0};
	struct ibv_parent_domain_init_attr pa = {.comp_mask = 0};

	l->list = ibv_get_device_list(NULL);
	l->ctx = l->list && l->list[0] ? ibv_open_device(l->list[0]) : NULL;
	l->pd = l->ctx ? ibv_alloc_pd(l->ctx) : NULL;
	l->td = l->pd ? ibv_alloc_td(l->ctx, &ta) : NULL;
	pa.pd = l->pd;
	pa.td = l->td;
	l->parent = l->td ? ibv_alloc_parent_domain(l->ctx, &pa) : NULL;
	l->channel = l->parent ? ibv_create_comp_channel(l->ctx) : NULL;
	l->cq = l->channel ? ibv_create_cq(l->ctx, 4, NULL, l->channel, 0) : NULL;
}

static void live_import(struct life *l)
{
	struct ibv_qp_init_attr qa = {.send_cq = l->cq, .recv_cq = l->cq, .qp_type = IBV_QPT_RC};

	l->fd = -1;
	if (!l->cq)
		return;
	l->mr = (ibv_reg_mr)(l->parent, memory, sizeof(memory), 0);
	l->qp = l->mr ? ibv_create_qp(l->parent, &qa) : NULL;
	l->fd = l->qp ? dup(l->ctx->cmd_fd) : -1;
	l->imported = l->fd >= 0 ? ibv_import_device(l->fd) : NULL;
	if (l->imported)
		l->fd = -1; /* the context's now */
	l->pd2 = l->imported ? ibv_import_pd(l->imported, l->pd->handle) : NULL;
	l->mr2 = l->pd2 ? ibv_import_mr(l->pd2, l->mr->handle) : NULL;
}

static void end_life(struct life *l)
{
	assert_true(!l->mr2 || (ibv_unimport_mr(l->mr2), true));
	assert_true(!l->pd2 || (ibv_unimport_pd(l->pd2), true));
	assert_true(!l->imported || !ibv_close_device(l->imported));
	assert_true(l->fd < 0 || !close(l->fd));
	assert_true(!l->qp || !ibv_destroy_qp(l->qp));
	assert_true(!l->mr || !ibv_dereg_mr(l->mr));
	assert_true(!l->cq || !ibv_destroy_cq(l->cq));
	assert_true(!l->channel || !ibv_destroy_comp_channel(l->channel));
	assert_true(!l->parent || !ibv_dealloc_pd(l->parent));
	assert_true(!l->td || !ibv_dealloc_td(l->td));
	assert_true(!l->pd || !ibv_dealloc_pd(l->pd));
	assert_true(!l->ctx || !ibv_close_device(l->ctx));
	ibv_free_device_list(l->list);
	assert_int_equal(fake_live(), 0);
}

/* True when the last call of it succeeded. */
static bool live(int failing)
{
	struct life l = {.list = NULL};
	bool is_whole;

	fail_at = failing;
	is_failed = false;
	errno = 0;
	live_open(&l);
	live_import(&l);
	is_whole = l.mr2 != NULL;
	if (!is_whole)
		assert_true(errno == ENOMEM || errno == EMFILE);
	if (!is_whole)
		assert_true(*vf_reason_last());
	fail_at = -1;
	end_life(&l);
	return is_whole;
}

static void every_want_of_memory_is_said_and_leaves_nothing(void **state)
{
	int baseline, n = 0;

	(void)state;
	fake_reset();
	assert_true(live(-1));
	baseline = outstanding;
	do {
		vf_reason_clear();
		live(n++);
		fake_reset();
	} while (is_failed && n < 500);
	assert_true(n > 15 && n < 500);
	assert_true(live(-1));
	assert_int_equal(outstanding, baseline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_want_of_memory_is_said_and_leaves_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}

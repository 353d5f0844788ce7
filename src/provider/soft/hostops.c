/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the engine asks of its host: which memory a key, an address and a length mean, and access to it that survives its end. Keys and
 * addresses come from the network: every input has an answer (IBTA 9.4.1.1, 10.6.3, 10.6.7).
 */
#include <errno.h>
#include <string.h>

#include "memory/guard.h"
#include "provider/soft/soft.h"

#define GUARD_EVERY 4096 /* maps between two looks whether the fault handler is still ours */

/* What a null region reads as and takes: one packet's worth. */
static const uint8_t null_source[VF_ROCE_MTU_MAX];
static uint8_t null_sink[VF_ROCE_MTU_MAX];

static int in_range(uint64_t first, uint64_t length, const struct vf_roce_mem *m)
{
	if (m->addr < first || m->addr - first > length || m->len > length - (m->addr - first))
		return -ERANGE;
	return 0;
}

/* The receives of a shared queue are of its protection domain. */
static bool is_of_domain(const struct soft_qp *qp, const struct soft_mr *mr,
			 const struct vf_roce_mem *m)
{
	if (mr->pd == qp->pd)
		return true;
	return !m->is_remote && qp->srq && mr->pd == qp->srq->pd;
}

static int find_in_region(struct soft_mr *mr, const struct vf_roce_mem *m, uint8_t **out)
{
	int err;

	if (!is_of_domain(m->qp_host, mr, m) || (mr->access & m->access) != m->access)
		return -EACCES;
	*out = NULL;
	if (mr->is_null)
		return 0;
	err = in_range(mr->iova, mr->length, m);
	if (!err)
		*out = mr->addr + (m->addr - mr->iova);
	return err;
}

static int find_in_window(const struct soft_mw *mw, const struct vf_roce_mem *m, uint8_t **out)
{
	const struct soft_qp *qp = m->qp_host;
	uint64_t first = mw->access & IBV_ACCESS_ZERO_BASED ? 0 : mw->addr;
	int err;

	if (!m->is_remote || !mw->is_bound)
		return -EINVAL;
	if (mw->pd != qp->pd || (mw->type == IBV_MW_TYPE_2 && mw->qp != qp) ||
	    (mw->access & m->access) != m->access)
		return -EACCES;
	err = in_range(first, mw->length, m);
	if (!err)
		*out = mw->mr->addr + (mw->addr - mw->mr->iova) + (m->addr - first);
	return err;
}

/* *out is NULL for a null region. */
static int find(const struct vf_roce_mem *m, uint8_t **out)
{
	struct soft_key *k = soft_key_at(m->key);

	if (!k || k->value != m->key)
		return -EINVAL;
	if (k->kind == SOFT_KEY_MR)
		return find_in_region(VF_CONTAINER_OF(k, struct soft_mr, key), m, out);
	return find_in_window(VF_CONTAINER_OF(k, struct soft_mw, key), m, out);
}

static int mem_check(void *host, const struct vf_roce_mem *m)
{
	uint8_t *at;

	(void)host;
	return m->len ? find(m, &at) : 0;
}

static int mem_map(void *host, const struct vf_roce_mem *m, struct iovec *iov, int max)
{
	static unsigned maps;
	uint8_t *at = NULL;
	int err;

	(void)host;
	if (max < 1)
		return -EINVAL;
	if (++maps % GUARD_EVERY == 0)
		vf_guard_install();
	err = m->len ? find(m, &at) : 0;
	if (err)
		return err;
	if (!at && m->len > VF_ROCE_MTU_MAX)
		return -ERANGE;
	iov->iov_len = m->len;
	if (at)
		iov->iov_base = at;
	else
		iov->iov_base = m->access ? null_sink : (void *)(uintptr_t)null_source;
	return 1;
}

static int mem_write(void *host, const struct iovec *iov, int count, const void *from, size_t len)
{
	const uint8_t *p = from;

	(void)host;
	for (int i = 0; i < count && len; i++) {
		size_t n = iov[i].iov_len < len ? iov[i].iov_len : len;
		int err = vf_guard_copy(iov[i].iov_base, p, n);

		if (err)
			return err;
		p += n;
		len -= n;
	}
	return 0;
}

static int mem_read(void *host, const struct iovec *iov, int count, void *to, size_t len)
{
	uint8_t *p = to;

	(void)host;
	for (int i = 0; i < count && len; i++) {
		size_t n = iov[i].iov_len < len ? iov[i].iov_len : len;
		int err = vf_guard_copy(p, iov[i].iov_base, n);

		if (err)
			return err;
		p += n;
		len -= n;
	}
	return 0;
}

static int mem_atomic(void *host, const struct iovec *iov, bool is_swap, uint64_t compare_add,
		      uint64_t swap, uint64_t *original)
{
	(void)host;
	if (iov->iov_len < sizeof(uint64_t))
		return -ERANGE;
	return vf_guard_atomic64(iov->iov_base, is_swap, compare_add, swap, original);
}

const struct vf_roce_host_ops vf_soft_host_ops = {
	.mem_check = mem_check,
	.mem_map = mem_map,
	.mem_write = mem_write,
	.mem_read = mem_read,
	.mem_atomic = mem_atomic,
	.mem_bind = soft_mw_bind,
	.mem_invalidate = soft_mw_invalidate,
	.complete = soft_complete,
	.qp_event = soft_qp_event,
	.srq_event = soft_srq_event,
};

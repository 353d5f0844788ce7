/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows (IBTA 10.6.7): rkeys that open a part of a region, bound and taken back in the order of the send queue.
 *
 *   type 1:  unbound ── bind ──> bound to a PD ── bind anew, zero length ──> bound elsewhere, unbound
 *   type 2:  unbound ── bind ──> bound to a QP ── local or remote invalidate ──> unbound
 *   prohibited: binding a bound type 2 window; invalidating a type 1 window or one of another QP
 *
 * Type 2 is of kind 2B: both QP and PD must match.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/soft/soft.h"

/* LOCAL_WRITE gives a window nothing, but programs pass it along. */
#define WINDOW_ACCESS                                                                           \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |            \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

int soft_alloc_mw(struct vf_pd *pd, enum ibv_mw_type type, struct vf_mw **out)
{
	struct soft_pd *spd = (struct soft_pd *)pd;
	struct soft_mw *mw;
	int err;

	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return vf_refuse(EINVAL, "memory window type %d: 1 or 2", (int)type);
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return vf_refuse(ENOMEM, "no memory for a memory window");
	mw->key.kind = SOFT_KEY_MW;
	mw->pd = spd;
	mw->type = type;
	vf_list_init(&mw->qp_link);
	vf_soft_net_lock(spd->ctx->net);
	err = soft_key_add(spd->ctx->keys, &mw->key);
	vf_soft_net_unlock(spd->ctx->net);
	if (err) {
		free(mw);
		return vf_refuse(ENOMEM, "memory window: no key is free (max_mw is %d)",
				 SOFT_MAX_MW);
	}
	mw->vf.ibv.rkey = mw->key.value;
	*out = &mw->vf;
	return 0;
}

/* Locked. */
static void unbind(struct soft_mw *mw)
{
	if (mw->mr)
		atomic_fetch_sub(&mw->mr->vf.users, 1);
	vf_list_del(&mw->qp_link);
	mw->mr = NULL;
	mw->qp = NULL;
	mw->is_bound = false;
}

int soft_dealloc_mw(struct vf_mw *vmw)
{
	struct soft_mw *mw = (struct soft_mw *)vmw;
	struct soft_context *sc = mw->pd->ctx;

	vf_soft_net_lock(sc->net);
	unbind(mw);
	soft_key_remove(sc->keys, &mw->key);
	vf_soft_net_unlock(sc->net);
	free(mw);
	return 0;
}

void soft_mw_qp_gone(struct soft_qp *qp)
{
	VF_LIST_FOR_EACH_SAFE(it, &qp->windows)
	unbind(VF_LIST_ENTRY(it, struct soft_mw, qp_link));
}

/* ---- binding: what is known when the request is posted ---- */

int soft_bind_fill(struct soft_qp *qp, struct ibv_mw *ibv, uint32_t rkey,
		   const struct ibv_mw_bind_info *info, struct soft_bind *out)
{
	struct soft_mw *mw = (struct soft_mw *)(void *)ibv;
	const struct soft_mr *mr = (const struct soft_mr *)(const void *)info->mr;

	if (!mw)
		return vf_refuse(EINVAL, "bind of a memory window: mw is NULL");
	if (qp->type == IBV_QPT_UD)
		return vf_refuse(EOPNOTSUPP, "memory windows are bound on RC and UC queue pairs");
	if (mw->pd != qp->pd || (mr && mr->pd != qp->pd))
		return vf_refuse(EPERM, "bind of a memory window: window, region and queue pair "
					"are not of one protection domain");
	if (info->mw_access_flags & ~(unsigned)WINDOW_ACCESS)
		return vf_refuse(EINVAL, "mw_access_flags 0x%x: remote rights and ZERO_BASED only",
				 info->mw_access_flags);
	if (!mr && info->length)
		return vf_refuse(EINVAL, "bind of a memory window: length %llu without a region",
				 (unsigned long long)info->length);
	memset(out, 0, sizeof(*out));
	out->mw_key = mw->key.value;
	out->new_key = (mw->key.value & 0xffffff00u) | (rkey & 0xffu);
	out->mr_key = mr && info->length ? mr->key.value : 0;
	out->access = info->mw_access_flags;
	out->addr = info->addr;
	out->length = info->length;
	return 0;
}

int soft_bind_mw(struct vf_qp *vqp, struct vf_mw *vmw, struct ibv_mw_bind *bind)
{
	struct soft_qp *qp = (struct soft_qp *)vqp;
	uint32_t rkey = ibv_inc_rkey(vmw->ibv.rkey);
	struct soft_bind b;
	struct vf_roce_send_wr wr = {.wr_id = bind->wr_id,
				     .opcode = VF_ROCE_WR_BIND_MW,
				     .flags = bind->send_flags & 0xf,
				     .bind = &b,
				     .bind_len = sizeof(b)};
	int err = soft_bind_fill(qp, &vmw->ibv, rkey, &bind->bind_info, &b);

	if (err)
		return err;
	vf_soft_net_lock(qp->ctx->net);
	err = vf_roce_post_send(qp->roce, &wr);
	if (!err)
		vf_soft_net_flush(qp->ctx->net);
	vf_soft_net_unlock(qp->ctx->net);
	if (!err)
		vmw->ibv.rkey = rkey;
	return err;
}

/* ---- the host's side, called by the engine with the lock held ---- */

static struct soft_mw *window_at(uint32_t key)
{
	struct soft_key *k = soft_key_at(key);

	return k && k->kind == SOFT_KEY_MW ? VF_CONTAINER_OF(k, struct soft_mw, key) : NULL;
}

static struct soft_mr *region_of(const struct soft_bind *b, const struct soft_qp *qp)
{
	struct soft_key *k = soft_key_at(b->mr_key);
	struct soft_mr *mr;

	if (!k || k->kind != SOFT_KEY_MR || k->value != b->mr_key)
		return NULL;
	mr = VF_CONTAINER_OF(k, struct soft_mr, key);
	if (mr->pd != qp->pd || mr->is_null || !(mr->access & IBV_ACCESS_MW_BIND))
		return NULL;
	if ((b->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(mr->access & IBV_ACCESS_LOCAL_WRITE))
		return NULL;
	if (b->addr < mr->iova || b->addr - mr->iova > mr->length ||
	    b->length > mr->length - (b->addr - mr->iova))
		return NULL;
	return mr;
}

int soft_mw_bind(void *host, void *qp_host, const void *bind, uint32_t len)
{
	struct soft_qp *qp = qp_host;
	struct soft_bind b;
	struct soft_mw *mw;
	struct soft_mr *mr = NULL;

	(void)host;
	if (len != sizeof(b))
		return -EINVAL;
	memcpy(&b, bind, sizeof(b));
	mw = window_at(b.mw_key);
	if (!mw || mw->pd != qp->pd)
		return -EINVAL;
	if (mw->type == IBV_MW_TYPE_2 && mw->is_bound)
		return -EACCES;
	if (b.mr_key) {
		mr = region_of(&b, qp);
		if (!mr)
			return -EACCES;
	}
	unbind(mw);
	soft_key_change(qp->ctx->keys, &mw->key, b.new_key);
	if (!mr)
		return 0;
	atomic_fetch_add(&mr->vf.users, 1);
	mw->mr = mr;
	mw->addr = b.addr;
	mw->length = b.length;
	mw->access = b.access;
	mw->is_bound = true;
	if (mw->type == IBV_MW_TYPE_2) {
		mw->qp = qp;
		vf_list_add_tail(&qp->windows, &mw->qp_link);
	}
	return 0;
}

int soft_mw_invalidate(void *host, void *qp_host, uint32_t rkey, bool is_remote)
{
	struct soft_mw *mw = window_at(rkey);

	(void)host;
	(void)is_remote;
	if (!mw || mw->key.value != rkey || !mw->is_bound)
		return -EINVAL;
	if (mw->type != IBV_MW_TYPE_2 || mw->qp != qp_host)
		return -EACCES;
	unbind(mw);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory regions (IBTA 10.6, 11.2.8). A registration is a check and an entry in the table of keys: nothing is pinned or touched,
 * so registering memory that was never used costs nothing, and memory may go away under it (src/memory/guard.h).
 *
 *   registered ── rereg (all or nothing) ──> registered; other memory comes with a new key
 *   registered ── dereg, no window bound ──> gone; its key is stale
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/guard.h"
#include "memory/mapped.h"
#include "provider/soft/soft.h"

#define ACCESS_KNOWN                                                                            \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |            \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |                \
	 IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)
#define ACCESS_WRITES                                                                           \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |          \
	 IBV_ACCESS_MW_BIND)

static int check_access(unsigned access)
{
	if (access & IBV_ACCESS_ON_DEMAND)
		return vf_refuse(EOPNOTSUPP,
				 "access flags 0x%x: ON_DEMAND is not supported, and not needed: "
				 "registrations pin nothing",
				 access);
	if (access & ~(unsigned)ACCESS_KNOWN)
		return vf_refuse(EINVAL, "access flags 0x%x: 0x%x is not known", access,
				 access & ~(unsigned)ACCESS_KNOWN);
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return vf_refuse(EINVAL,
				 "access flags 0x%x: REMOTE_WRITE and REMOTE_ATOMIC need "
				 "LOCAL_WRITE",
				 access);
	return 0;
}

static int check_range(const void *addr, size_t length, uint64_t iova)
{
	if (length == 0)
		return vf_refuse(EINVAL, "length 0 of a memory region: at least 1");
	if ((uintptr_t)addr + length - 1 < (uintptr_t)addr)
		return vf_refuse(EINVAL, "memory region %p + %zu wraps around", addr, length);
	if (iova + length - 1 < iova)
		return vf_refuse(EINVAL, "I/O address 0x%llx + %zu wraps around",
				 (unsigned long long)iova, length);
	return 0;
}

static int check_memory(const void *addr, size_t length, unsigned access)
{
	bool is_write = (access & ACCESS_WRITES) != 0;
	int err = vf_memory_check(addr, length, is_write);

	if (err)
		return vf_refuse(-err,
				 "memory region %p + %zu: not all of it is memory that this process "
				 "may %s (GPU memory: ibv_reg_dmabuf_mr)",
				 addr, length, is_write ? "read and write" : "read");
	return 0;
}

static int insert(struct soft_context *sc, struct soft_mr *mr)
{
	int err;

	vf_soft_net_lock(sc->net);
	err = soft_key_add(sc->keys, &mr->key);
	vf_soft_net_unlock(sc->net);
	if (err)
		return vf_refuse(ENOMEM, "memory region: no key is free (max_mr is %d)",
				 SOFT_MAX_MR);
	mr->vf.ibv.lkey = mr->vf.ibv.rkey = mr->key.value;
	return 0;
}

static struct soft_mr *make(struct soft_pd *pd, void *addr, size_t length, uint64_t iova,
			    unsigned access)
{
	struct soft_mr *mr = calloc(1, sizeof(*mr));

	if (!mr) {
		vf_refuse(ENOMEM, "no memory for a memory region");
		return NULL;
	}
	mr->key.kind = SOFT_KEY_MR;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->iova = access & IBV_ACCESS_ZERO_BASED ? 0 : iova;
	mr->access = access;
	return mr;
}

static int add(struct soft_mr *mr, struct vf_mr **out)
{
	int err = insert(mr->pd->ctx, mr);

	if (err)
		free(mr);
	else
		*out = &mr->vf;
	return err;
}

int soft_reg_mr(struct vf_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access,
		struct vf_mr **out)
{
	struct soft_pd *spd = (struct soft_pd *)pd;
	struct soft_mr *mr;
	int err = check_access(access);

	if (!err)
		err = check_range(addr, length, iova);
	if (!err)
		err = check_memory(addr, length, access);
	if (err)
		return err;
	vf_guard_install(); /* the program may have put a handler in front of ours since */
	mr = make(spd, addr, length, iova, access);
	return mr ? add(mr, out) : -ENOMEM;
}

int soft_alloc_null_mr(struct vf_pd *pd, struct vf_mr **out)
{
	struct soft_mr *mr = make((struct soft_pd *)pd, NULL, 0, 0, IBV_ACCESS_LOCAL_WRITE);

	if (!mr)
		return -ENOMEM;
	mr->is_null = true;
	return add(mr, out);
}

int soft_reg_dmabuf_mr(struct vf_pd *pd, const struct vf_dmabuf *buf, unsigned access,
		       struct vf_mr **out)
{
	struct vf_memory_map map = {.fd = buf->fd, .offset = buf->offset, .length = buf->length};
	struct soft_mr *mr;
	int err = check_access(access);

	if (!err)
		err = check_range(NULL, buf->length, buf->iova);
	if (!err)
		err = vf_memory_map_dmabuf(&map, (access & ACCESS_WRITES) != 0);
	if (err)
		return err;
	mr = make((struct soft_pd *)pd, map.addr, buf->length, buf->iova, access);
	if (!mr) {
		vf_memory_unmap(&map);
		return -ENOMEM;
	}
	mr->map = map.base;
	mr->map_len = map.base_len;
	err = add(mr, out);
	if (err)
		vf_memory_unmap(&map);
	return err;
}

int soft_rereg_mr(struct vf_mr *vmr, int flags, struct vf_pd *pd, void *addr, size_t length,
		  int access)
{
	struct soft_mr *mr = (struct soft_mr *)vmr;
	struct soft_context *sc = mr->pd->ctx;
	unsigned rights = flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned)access : mr->access;
	bool is_moved = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	void *start = is_moved ? addr : mr->addr;
	size_t len = is_moved ? length : mr->length;
	int err = check_access(rights);

	if (mr->is_null || mr->map)
		return vf_refuse(EOPNOTSUPP, "only regions of ordinary memory are registered anew");
	if (!err)
		err = check_range(start, len, is_moved ? (uintptr_t)start : mr->iova);
	if (!err && (is_moved || (rights & ~mr->access & ACCESS_WRITES)))
		err = check_memory(start, len, rights);
	if (err)
		return err;
	if (atomic_load(&mr->vf.users))
		return vf_refuse(EBUSY, "memory region 0x%x has %d memory windows bound to it",
				 mr->key.value, atomic_load(&mr->vf.users));
	vf_soft_net_lock(sc->net);
	if (is_moved) {
		/* what the key meant is gone; rights and domain may change under the same key */
		soft_key_change(sc->keys, &mr->key, mr->key.value + 1);
		mr->addr = addr;
		mr->length = length;
		mr->iova = rights & IBV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)addr;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = (struct soft_pd *)pd;
	mr->access = rights;
	vf_soft_net_unlock(sc->net);
	mr->vf.ibv.lkey = mr->vf.ibv.rkey = mr->key.value;
	return 0;
}

int soft_dereg_mr(struct vf_mr *vmr)
{
	struct soft_mr *mr = (struct soft_mr *)vmr;
	struct soft_context *sc = mr->pd->ctx;
	int bound;

	vf_soft_net_lock(sc->net);
	bound = atomic_load(&mr->vf.users);
	if (!bound)
		soft_key_remove(sc->keys, &mr->key);
	vf_soft_net_unlock(sc->net);
	if (bound)
		return vf_refuse(EBUSY, "memory region 0x%x has %d memory windows bound to it",
				 mr->key.value, bound);
	if (mr->map) {
		struct vf_memory_map map = {.base = mr->map, .base_len = mr->map_len};

		vf_memory_unmap(&map);
	}
	free(mr);
	return 0;
}

/* Advice is about paging on demand, of which there is none. */
int soft_advise_mr(struct vf_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		   struct ibv_sge *sg, uint32_t count)
{
	(void)pd;
	(void)advice;
	(void)flags;
	(void)sg;
	(void)count;
	return vf_refuse(EOPNOTSUPP, "advise_mr is about ON_DEMAND regions, which there are none of");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory regions: of program memory, of dma-bufs, the null region, imports; advice.
 * IBTA 10.6, 11.2.8.
 */
#include "verbs/api.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define ACCESS_KNOWN                                                                               \
	((unsigned)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |    \
		    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |        \
		    IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_FLUSH_GLOBAL |          \
		    IBV_ACCESS_FLUSH_PERSISTENT))

int vf_check_access(const char *verb, unsigned access)
{
	const unsigned remote_write = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	const unsigned known = ACCESS_KNOWN | (unsigned)IBV_ACCESS_OPTIONAL_RANGE;

	if (access & ~known)
		return vf_refuse(EINVAL, "%s: access 0x%x, allowed is 0x%x", verb, access, known);
	if (access & remote_write && !(access & IBV_ACCESS_LOCAL_WRITE))
		return vf_refuse(EINVAL,
				 "%s: access 0x%x: remote write and remote atomic need local write",
				 verb, access);
	return 0;
}

/* What was made is the program's from here on. */
static struct vf_mr *finish(struct vf_mr *mr, struct ibv_pd *pd, enum vf_mr_kind kind)
{
	mr->kind = kind;
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.handle = vf_handle_new(VF_KIND_MR, mr);
	vf_pd_use(vf_pd(pd));
	return mr;
}

/* ---- registration ---- */

/* What all forms of registration of program memory come down to. */
struct request {
	const char *verb;
	struct ibv_pd *pd;
	void *addr;
	size_t length;
	uint64_t iova;
	unsigned access;
};

static int check_request(const struct request *r)
{
	/* All of memory: a registration without an address (implicit on-demand paging). */
	bool is_implicit = !r->addr && r->length == SIZE_MAX && r->access & IBV_ACCESS_ON_DEMAND;

	if (!r->pd)
		return vf_is_null(r->verb, "pd");
	if (is_implicit)
		return vf_refuse(EOPNOTSUPP, "%s: a region of all memory is not supported",
				 r->verb);
	if (!r->addr)
		return vf_is_null(r->verb, "addr");
	if (r->length == 0)
		return vf_refuse(EINVAL, "%s: length 0, the least is 1", r->verb);
	if ((uintptr_t)r->addr + r->length < (uintptr_t)r->addr)
		return vf_refuse(EINVAL, "%s: addr %p + length %zu is beyond the end of memory",
				 r->verb, r->addr, r->length);
	if (r->iova + r->length < r->iova && r->iova + r->length != 0)
		return vf_refuse(EINVAL, "%s: iova 0x%llx + length %zu is beyond 64 bits", r->verb,
				 (unsigned long long)r->iova, r->length);
	return vf_check_access(r->verb, r->access);
}

static struct ibv_mr *register_memory(const struct request *r)
{
	struct vf_pd *real;
	struct vf_mr *mr = NULL;
	int err = check_request(r);

	if (err)
		return vf_api_null(err);
	real = vf_pd_real(vf_pd(r->pd));
	err = vf_ops(real->ibv.context)->reg_mr(real, r->addr, r->length, r->iova, r->access, &mr);
	if (err)
		return vf_api_null(err);
	mr->ibv.addr = r->addr;
	mr->ibv.length = r->length;
	return &finish(mr, r->pd, VF_MR_PLAIN)->ibv;
}

/* A zero-based region begins at 0, unless the program names another beginning. */
static uint64_t iova_of(const void *addr, unsigned access)
{
	return access & IBV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)addr;
}

VF_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct request r = {.verb = __func__,
			    .pd = pd,
			    .addr = addr,
			    .length = length,
			    .iova = iova_of(addr, (unsigned)access),
			    .access = (unsigned)access};

	return register_memory(&r);
}

VF_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
					 uint64_t iova, int access)
{
	struct request r = {.verb = __func__,
			    .pd = pd,
			    .addr = addr,
			    .length = length,
			    .iova = iova,
			    .access = (unsigned)access};

	return register_memory(&r);
}

/* Where the ibv_reg_mr of the header lands too, with the address as the iova. */
VF_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					  uint64_t iova, unsigned int access)
{
	struct request r = {.verb = "ibv_reg_mr",
			    .pd = pd,
			    .addr = addr,
			    .length = length,
			    .iova = iova == (uintptr_t)addr ? iova_of(addr, access) : iova,
			    .access = access};

	return register_memory(&r);
}

/* ---- dma-bufs ---- */

static int check_dmabuf(const char *verb, const struct ibv_pd *pd, const struct vf_dmabuf *b,
			unsigned access)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!pd)
		return vf_is_null(verb, "pd");
	if (fcntl(b->fd, F_GETFD) < 0)
		return vf_refuse(EBADF, "%s: fd %d is not open", verb, b->fd);
	if (b->length == 0)
		return vf_refuse(EINVAL, "%s: length 0, the least is 1", verb);
	if (b->offset % page != b->iova % page)
		return vf_refuse(EINVAL,
				 "%s: offset 0x%llx and iova 0x%llx must be the same within a page "
				 "of %llu bytes",
				 verb, (unsigned long long)b->offset, (unsigned long long)b->iova,
				 (unsigned long long)page);
	if (access & (IBV_ACCESS_ON_DEMAND | IBV_ACCESS_ZERO_BASED))
		return vf_refuse(EINVAL,
				 "%s: access 0x%x: on-demand and zero-based are for program "
				 "memory",
				 verb, access);
	return vf_check_access(verb, access);
}

static struct ibv_mr *register_dmabuf(const char *verb, struct ibv_pd *pd,
				      const struct vf_dmabuf *b, unsigned access)
{
	struct vf_pd *real;
	struct vf_mr *mr = NULL;
	int err = check_dmabuf(verb, pd, b, access);

	if (err)
		return vf_api_null(err);
	real = vf_pd_real(vf_pd(pd));
	err = vf_ops(real->ibv.context)->reg_dmabuf_mr(real, b, access, &mr);
	if (err)
		return vf_api_null(err);
	mr->ibv.addr = (void *)(uintptr_t)b->offset;
	mr->ibv.length = b->length;
	return &finish(mr, pd, VF_MR_DMABUF)->ibv;
}

VF_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					   uint64_t iova, int fd, int access)
{
	const struct vf_dmabuf b = {fd, offset, length, iova};

	return register_dmabuf(__func__, pd, &b, (unsigned)access);
}

/* ---- by attributes ---- */

/* Memory is named by exactly one of address and descriptor; buffers and DMA handles that could be
 * named do not exist here. */
static int check_init_attr(const char *verb, const struct ibv_mr_init_attr *a)
{
	const uint64_t mask = a->comp_mask & ~(uint64_t)IBV_REG_MR_MASK_IOVA;

	if (a->comp_mask & (IBV_REG_MR_MASK_DMAH | IBV_REG_MR_MASK_BUF))
		return vf_refuse(EOPNOTSUPP, "%s: comp_mask 0x%llx: dmah and buf are not supported",
				 verb, (unsigned long long)a->comp_mask);
	if (mask == IBV_REG_MR_MASK_ADDR ||
	    mask == (IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET))
		return 0;
	return vf_refuse(EINVAL,
			 "%s: comp_mask 0x%llx, allowed are addr, or fd with fd_offset, each "
			 "with iova or without",
			 verb, (unsigned long long)a->comp_mask);
}

VF_EXPORT struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *a)
{
	struct request r = {.verb = __func__, .pd = pd};
	struct vf_dmabuf b;
	int err;

	if (!pd || !a)
		return vf_api_null(vf_is_null(__func__, pd ? "mr_init_attr" : "pd"));
	err = check_init_attr(__func__, a);
	if (err)
		return vf_api_null(err);
	if (a->comp_mask & IBV_REG_MR_MASK_FD) {
		b = (struct vf_dmabuf){a->fd, a->fd_offset, a->length,
				       a->comp_mask & IBV_REG_MR_MASK_IOVA ? a->iova
									   : a->fd_offset};
		return register_dmabuf(__func__, pd, &b, (unsigned)a->access);
	}
	r.addr = a->addr;
	r.length = a->length;
	r.access = (unsigned)a->access;
	r.iova = a->comp_mask & IBV_REG_MR_MASK_IOVA ? a->iova : iova_of(a->addr, r.access);
	return register_memory(&r);
}

struct ibv_mr *vf_verb_alloc_null_mr(struct ibv_pd *pd)
{
	struct vf_pd *real;
	struct vf_mr *mr = NULL;
	int err;

	if (!pd)
		return vf_api_null(vf_is_null("ibv_alloc_null_mr", "pd"));
	real = vf_pd_real(vf_pd(pd));
	err = vf_ops(real->ibv.context)->alloc_null_mr(real, &mr);
	if (err)
		return vf_api_null(err);
	mr->ibv.addr = NULL;
	mr->ibv.length = SIZE_MAX;
	return &finish(mr, pd, VF_MR_NULL)->ibv;
}

/* ---- changing and ending ---- */

static int check_rereg(const struct vf_mr *mr, int flags, const struct ibv_pd *pd, const void *addr,
		       size_t length)
{
	static const char verb[] = "ibv_rereg_mr";

	if (!mr)
		return vf_is_null(verb, "mr");
	if (!flags || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED)
		return vf_refuse(EINVAL, "%s: flags 0x%x, allowed are 1 to 0x%x", verb,
				 (unsigned)flags, (unsigned)IBV_REREG_MR_FLAGS_SUPPORTED);
	if (mr->kind != VF_MR_PLAIN)
		return vf_refuse(EINVAL, "%s: only regions of program memory can be changed", verb);
	if (flags & IBV_REREG_MR_CHANGE_PD && !pd)
		return vf_is_null(verb, "pd");
	if (flags & IBV_REREG_MR_CHANGE_PD && pd->context != mr->ibv.context)
		return vf_pd_check(verb, pd, mr->ibv.context);
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && !addr)
		return vf_is_null(verb, "addr");
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && !length)
		return vf_refuse(EINVAL, "%s: length 0, the least is 1", verb);
	if (atomic_load(&mr->users))
		return vf_refuse(EBUSY, "%s: %d memory windows are bound to the region", verb,
				 atomic_load(&mr->users));
	return 0;
}

/* Answers with the codes of enum ibv_rereg_mr_err_code; errno has the cause. */
VF_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			   size_t length, int access)
{
	struct vf_pd *real = NULL;
	int err = check_rereg(mr ? vf_mr(mr) : NULL, flags, pd, addr, length);

	if (!err && flags & IBV_REREG_MR_CHANGE_ACCESS)
		err = vf_check_access(__func__, (unsigned)access);
	if (err) {
		errno = -err;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		real = vf_pd_real(vf_pd(pd));
	err = vf_ops(mr->context)->rereg_mr(vf_mr(mr), flags, real, addr, length, access);
	if (err) {
		errno = -err;
		return IBV_REREG_MR_ERR_CMD;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		vf_pd_use(vf_pd(pd));
		vf_pd_unuse(vf_pd(mr->pd));
		mr->pd = pd;
	}
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	return 0;
}

static int dereg_mr(struct ibv_mr *mr)
{
	int users = atomic_load(&vf_mr(mr)->users), err;
	struct vf_pd *pd = vf_pd(mr->pd);

	if (vf_mr(mr)->kind == VF_MR_IMPORT)
		return vf_refuse(EINVAL,
				 "ibv_dereg_mr: an imported region goes with ibv_unimport_mr");
	if (users)
		return vf_refuse(EBUSY, "ibv_dereg_mr: %d memory windows are bound to the region",
				 users);
	/* First: nobody may import what is going. */
	vf_handle_drop(mr->handle);
	err = vf_ops(vf_pd_real(pd)->ibv.context)->dereg_mr(vf_mr(mr));
	if (err) {
		mr->handle = vf_handle_new(VF_KIND_MR, mr);
		return err;
	}
	vf_pd_unuse(pd);
	return 0;
}

VF_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	if (!mr)
		return vf_api_code(vf_is_null(__func__, "mr"));
	return vf_api_code(dereg_mr(mr));
}

/* ---- imports ---- */

struct import {
	struct vf_pd *real;
	struct vf_mr *mr; /* being made */
};

static int import_copy(void *object, void *arg)
{
	const struct import *i = arg;
	const struct vf_mr *mr = object;

	if (vf_pd_real(vf_pd(mr->ibv.pd)) != i->real)
		return -ENOENT;
	i->mr->ibv.length = mr->ibv.length;
	i->mr->ibv.lkey = mr->ibv.lkey;
	i->mr->ibv.rkey = mr->ibv.rkey;
	return 0;
}

/* Keys and length of a region of the domain; the address is not handed on, as the importer may be
 * another program. */
VF_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	struct import i;
	int err;

	if (!pd)
		return vf_api_null(vf_is_null(__func__, "pd"));
	i.real = vf_pd_real(vf_pd(pd));
	i.mr = calloc(1, sizeof(*i.mr));
	if (!i.mr)
		return vf_api_null(vf_refuse(ENOMEM, "%s: no memory", __func__));
	err = vf_handle_use(mr_handle, VF_KIND_MR, import_copy, &i);
	if (err) {
		free(i.mr);
		return vf_api_null(vf_refuse(ENOENT, "%s: no region of this domain has handle %u",
					     __func__, mr_handle));
	}
	i.mr->kind = VF_MR_IMPORT;
	i.mr->ibv.context = pd->context;
	i.mr->ibv.pd = pd;
	i.mr->ibv.handle = mr_handle;
	vf_pd_use(vf_pd(pd));
	return &i.mr->ibv;
}

VF_EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
	if (!mr || vf_mr(mr)->kind != VF_MR_IMPORT) {
		vf_api_code(
			vf_refuse(EINVAL, "%s: mr is %s", __func__, mr ? "not imported" : "NULL"));
		return;
	}
	vf_pd_unuse(vf_pd(mr->pd));
	free(mr);
}

/* ---- advice ---- */

int vf_verb_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		      struct ibv_sge *sg_list, uint32_t num_sge)
{
	static const char verb[] = "ibv_advise_mr";
	struct vf_pd *real;

	if (!pd || !sg_list)
		return vf_api_code(vf_is_null(verb, pd ? "sg_list" : "pd"));
	if ((unsigned)advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return vf_api_code(vf_refuse(EOPNOTSUPP, "%s: advice %u, known are 0 to %u", verb,
					     (unsigned)advice,
					     (unsigned)IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT));
	if (flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH)
		return vf_api_code(vf_refuse(EINVAL, "%s: flags 0x%x, allowed is 0x%x", verb, flags,
					     (unsigned)IBV_ADVISE_MR_FLAG_FLUSH));
	if (num_sge == 0)
		return vf_api_code(vf_refuse(EINVAL, "%s: num_sge 0, the least is 1", verb));
	real = vf_pd_real(vf_pd(pd));
	return vf_api_code(
		vf_ops(real->ibv.context)->advise_mr(real, advice, flags, sg_list, num_sge));
}

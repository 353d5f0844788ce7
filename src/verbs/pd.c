/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protection domains, thread domains, parent domains, imported protection domains.
 *
 * Only a real PD is the provider's. A parent domain and an import are stand-ins made here: objects
 * are created with the real one and counted on the stand-in, the stand-in counts as one user of the
 * real one. IBTA 10.2.3.
 */
#include "verbs/api.h"

#include <stdlib.h>

int vf_pd_check(const char *verb, const struct ibv_pd *pd, const struct ibv_context *context)
{
	if (pd->context == context)
		return 0;
	return vf_refuse(EINVAL,
			 "%s: the protection domain (handle %u) was made in another context", verb,
			 pd->handle);
}

void vf_pd_use(struct vf_pd *pd) { atomic_fetch_add(&pd->users, 1); }

/* Decides who frees an import that was given back while objects used it: the last of them. */
static pthread_mutex_t import_lock = PTHREAD_MUTEX_INITIALIZER;

static void import_free(struct vf_pd *pd)
{
	struct ibv_context *context = pd->ibv.context;

	atomic_fetch_sub(&pd->parent_of->users, 1);
	free(pd);
	vf_context_unuse(context);
}

void vf_pd_unuse(struct vf_pd *pd)
{
	bool is_last;

	if (!pd->is_import) {
		atomic_fetch_sub(&pd->users, 1);
		return;
	}
	pthread_mutex_lock(&import_lock);
	is_last = atomic_fetch_sub(&pd->users, 1) == 1 && pd->is_closing;
	pthread_mutex_unlock(&import_lock);
	if (is_last)
		import_free(pd);
}

/* ---- real ones ---- */

static int alloc_pd(struct ibv_context *context, struct vf_pd **out)
{
	struct vf_pd *pd = NULL;
	int err;

	if (!context)
		return vf_is_null("ibv_alloc_pd", "context");
	err = vf_ops(context)->alloc_pd(vf_ctx(context), &pd);
	if (err)
		return err;
	pd->ibv.context = context;
	pd->ibv.handle = vf_handle_new(VF_KIND_PD, pd);
	vf_context_use(context);
	*out = pd;
	return 0;
}

VF_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct vf_pd *pd = NULL;
	int err = alloc_pd(context, &pd);

	return err ? vf_api_null(err) : &pd->ibv;
}

/* Under the handle table's lock, as the import is: from here on nobody imports it. */
static int retire(void *object, void *arg)
{
	struct vf_pd *pd = object;
	int users = atomic_load(&pd->users);

	(void)arg;
	if (users)
		return vf_refuse(EBUSY, "ibv_dealloc_pd: %d objects use the domain (handle %u)",
				 users, pd->ibv.handle);
	pd->is_closing = true;
	return 0;
}

static int dealloc_real(struct vf_pd *pd)
{
	struct ibv_context *context = pd->ibv.context;
	uint32_t handle = pd->ibv.handle;
	int err = handle ? vf_handle_use(handle, VF_KIND_PD, retire, NULL) : retire(pd, NULL);

	if (err == -ENOENT)
		return vf_refuse(EINVAL, "ibv_dealloc_pd: no domain has handle %u", handle);
	if (err)
		return err;
	err = vf_ops(context)->dealloc_pd(pd);
	if (err) {
		pd->is_closing = false;
		return err;
	}
	vf_handle_drop(handle);
	vf_context_unuse(context);
	return 0;
}

static int dealloc_parent(struct vf_pd *pd)
{
	struct ibv_context *context = pd->ibv.context;
	int users = atomic_load(&pd->users);

	if (users)
		return vf_refuse(EBUSY, "ibv_dealloc_pd: %d objects use the parent domain", users);
	if (pd->td)
		atomic_fetch_sub(&vf_td(pd->td)->users, 1);
	vf_pd_unuse(pd->parent_of);
	vf_handle_drop(pd->ibv.handle);
	free(pd);
	vf_context_unuse(context);
	return 0;
}

VF_EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (!pd)
		return vf_api_code(vf_is_null(__func__, "pd"));
	if (vf_pd(pd)->is_import)
		return vf_api_code(vf_refuse(
			EINVAL, "%s: an imported domain goes with ibv_unimport_pd", __func__));
	if (vf_pd(pd)->parent_of)
		return vf_api_code(dealloc_parent(vf_pd(pd)));
	return vf_api_code(dealloc_real(vf_pd(pd)));
}

/* ---- thread domains ---- */

struct ibv_td *vf_verb_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct vf_td *td;

	if (!context || !attr)
		return vf_api_null(vf_is_null("ibv_alloc_td", context ? "init_attr" : "context"));
	if (attr->comp_mask)
		return vf_api_null(vf_refuse(EINVAL, "ibv_alloc_td: comp_mask 0x%x, allowed is 0",
					     attr->comp_mask));
	td = calloc(1, sizeof(*td));
	if (!td)
		return vf_api_null(vf_refuse(ENOMEM, "ibv_alloc_td: no memory"));
	td->ibv.context = context;
	vf_context_use(context);
	return &td->ibv;
}

int vf_verb_dealloc_td(struct ibv_td *td)
{
	struct ibv_context *context;
	int users;

	if (!td)
		return vf_api_code(vf_is_null("ibv_dealloc_td", "td"));
	users = atomic_load(&vf_td(td)->users);
	if (users)
		return vf_api_code(
			vf_refuse(EBUSY, "ibv_dealloc_td: %d parent domains use it", users));
	context = td->context;
	free(td);
	vf_context_unuse(context);
	return 0;
}

/* ---- parent domains ---- */

static int check_parent(struct ibv_context *context, const struct ibv_parent_domain_init_attr *attr)
{
	static const char verb[] = "ibv_alloc_parent_domain";
	const uint32_t allowed = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT |
				 IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
	int err;

	if (!context || !attr || !attr->pd)
		return vf_is_null(verb, !context ? "context" : !attr ? "attr" : "attr->pd");
	if (attr->comp_mask & ~allowed)
		return vf_refuse(EINVAL, "%s: comp_mask 0x%x, allowed is 0x%x", verb,
				 attr->comp_mask, allowed);
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS &&
	    (!attr->alloc || !attr->free))
		return vf_is_null(verb, attr->alloc ? "attr->free" : "attr->alloc");
	err = vf_pd_check(verb, attr->pd, context);
	if (!err && vf_pd(attr->pd)->parent_of)
		err = vf_refuse(EINVAL, "%s: attr->pd is itself a parent or imported domain", verb);
	if (!err && attr->td && attr->td->context != context)
		err = vf_refuse(EINVAL, "%s: attr->td was made in another context", verb);
	return err;
}

/* The allocators are for memory that a device reads; ours is never asked for by a device, so they
 * are not called. */
struct ibv_pd *vf_verb_alloc_parent_domain(struct ibv_context *context,
					   struct ibv_parent_domain_init_attr *attr)
{
	int err = check_parent(context, attr);
	struct vf_pd *pd = err ? NULL : calloc(1, sizeof(*pd));

	if (err)
		return vf_api_null(err);
	if (!pd)
		return vf_api_null(vf_refuse(ENOMEM, "ibv_alloc_parent_domain: no memory"));
	pd->ibv.context = context;
	pd->parent_of = vf_pd(attr->pd);
	pd->td = attr->td;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
	pd->ibv.handle = vf_handle_new(VF_KIND_OTHER, pd);
	if (pd->td)
		atomic_fetch_add(&vf_td(pd->td)->users, 1);
	vf_pd_use(pd->parent_of);
	vf_context_use(context);
	return &pd->ibv;
}

/* ---- imports ---- */

struct import {
	struct ibv_context *context;
	struct vf_pd *pd; /* being made */
};

static int import_use(void *object, void *arg)
{
	const struct import *i = arg;
	struct vf_pd *real = object;

	if (real->is_closing ||
	    vf_api_ctx(real->ibv.context)->family != vf_api_ctx(i->context)->family)
		return -ENOENT;
	i->pd->parent_of = real;
	i->pd->ibv.handle = real->ibv.handle;
	vf_pd_use(real);
	return 0;
}

VF_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
	struct import i = {.context = context};
	int err;

	if (!context)
		return vf_api_null(vf_is_null(__func__, "context"));
	i.pd = calloc(1, sizeof(*i.pd));
	if (!i.pd)
		return vf_api_null(vf_refuse(ENOMEM, "%s: no memory", __func__));
	err = vf_handle_use(pd_handle, VF_KIND_PD, import_use, &i);
	if (err) {
		free(i.pd);
		return vf_api_null(vf_refuse(ENOENT,
					     "%s: no protection domain of this device has "
					     "handle %u",
					     __func__, pd_handle));
	}
	i.pd->ibv.context = context;
	i.pd->is_import = true;
	vf_context_use(context);
	return &i.pd->ibv;
}

/* Objects that were made with it keep it; it goes with the last of them. */
VF_EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	bool is_last;

	if (!pd || !vf_pd(pd)->is_import) {
		vf_api_code(
			vf_refuse(EINVAL, "%s: pd is %s", __func__, pd ? "not imported" : "NULL"));
		return;
	}
	pthread_mutex_lock(&import_lock);
	vf_pd(pd)->is_closing = true;
	is_last = atomic_load(&vf_pd(pd)->users) == 0;
	pthread_mutex_unlock(&import_lock);
	if (is_last)
		import_free(vf_pd(pd));
}

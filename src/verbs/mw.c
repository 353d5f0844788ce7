/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows. What is bound where is known to the provider, which binds on the data path too.
 * IBTA 10.6.7. */
#include "verbs/api.h"

struct ibv_mw *vf_verb_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	static const char verb[] = "ibv_alloc_mw";
	struct vf_pd *real;
	struct vf_mw *mw = NULL;
	int err;

	if (!pd)
		return vf_api_null(vf_is_null(verb, "pd"));
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return vf_api_null(
			vf_refuse(EINVAL, "%s: type %d, allowed are 1 and 2", verb, (int)type));
	real = vf_pd_real(vf_pd(pd));
	err = vf_ops(real->ibv.context)->alloc_mw(real, type, &mw);
	if (err)
		return vf_api_null(err);
	mw->ibv.context = pd->context;
	mw->ibv.pd = pd;
	mw->ibv.type = type;
	mw->ibv.handle = vf_handle_new(VF_KIND_OTHER, mw);
	vf_pd_use(vf_pd(pd));
	return &mw->ibv;
}

int vf_verb_dealloc_mw(struct ibv_mw *mw)
{
	struct vf_pd *pd = NULL;
	uint32_t handle;
	int err;

	if (!mw)
		return vf_api_code(vf_is_null("ibv_dealloc_mw", "mw"));
	pd = vf_pd(mw->pd);
	handle = mw->handle;
	err = vf_ops(vf_pd_real(pd)->ibv.context)->dealloc_mw(vf_mw(mw));
	if (err)
		return vf_api_code(err);
	vf_handle_drop(handle);
	vf_pd_unuse(pd);
	return 0;
}

/* Type 1 only: windows of type 2 are bound by work requests. */
static int check_bind(const struct ibv_qp *qp, const struct ibv_mw *mw,
		      const struct ibv_mw_bind *bind)
{
	static const char verb[] = "ibv_bind_mw";
	const unsigned allowed = IBV_ACCESS_LOCAL_WRITE | /* means nothing, but is passed along */
				 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED;
	const struct ibv_mw_bind_info *info = &bind->bind_info;

	if (mw->type != IBV_MW_TYPE_1)
		return vf_refuse(EINVAL, "%s: a window of type %d is bound by a work request", verb,
				 (int)mw->type);
	if (vf_pd_real(vf_pd(mw->pd)) != vf_pd_real(vf_pd(qp->pd)))
		return vf_refuse(EPERM, "%s: window and queue pair are of different domains", verb);
	if (!info->mr)
		return info->length ? vf_is_null(verb, "bind_info.mr") : 0;
	if (vf_pd_real(vf_pd(info->mr->pd)) != vf_pd_real(vf_pd(mw->pd)))
		return vf_refuse(EPERM, "%s: window and region are of different domains", verb);
	if (info->mw_access_flags & ~allowed)
		return vf_refuse(EINVAL, "%s: mw_access_flags 0x%x, allowed is 0x%x", verb,
				 info->mw_access_flags, allowed);
	return 0;
}

int vf_verb_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	int err;

	if (!qp || !mw || !bind)
		return vf_api_code(vf_is_null("ibv_bind_mw", !qp ? "qp" : !mw ? "mw" : "mw_bind"));
	err = check_bind(qp, mw, bind);
	if (!err)
		err = vf_ops(qp->context)->bind_mw(vf_qp(qp), vf_mw(mw), bind);
	return vf_api_code(err);
}

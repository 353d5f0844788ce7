/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_VERBS_API_H
#define VF_VERBS_API_H
/*
 * Inside the API layer: what its files share. Inner functions return 0 or -errno after vf_refuse
 * has said why; the exported ones turn that into the convention of their verb with the four
 * functions below, and only they set errno.
 */
#include <errno.h>

#include "base/export.h"
#include "provider.h"

/* ---- an open device ---- */

/* Around every vf_context. */
struct vf_api_context {
	struct vf_list link; /* in the list of open contexts */
	uint64_t family;     /* contexts that came from one another by ibv_import_device */
	struct ibv_device_attr_ex attr; /* as the provider said when it was opened */
	bool is_closed;			/* by the program, while objects live in it */
	struct vf_context ctx;		/* last */
};

static inline struct vf_context *vf_ctx(struct ibv_context *context)
{
	return VF_CONTAINER_OF(context, struct vf_context, verbs.context);
}

static inline struct vf_api_context *vf_api_ctx(struct ibv_context *context)
{
	return VF_CONTAINER_OF(vf_ctx(context), struct vf_api_context, ctx);
}

static inline const struct vf_provider_ops *vf_ops(struct ibv_context *context)
{
	return vf_ctx(context)->device->ops;
}

/** One object more, or fewer, lives in @context; the last one of a closed context takes it away. */
void vf_context_use(struct ibv_context *context);
void vf_context_unuse(struct ibv_context *context);
/** Fills the slots of vctx and ops that are the API layer's. */
void vf_slots_fill(struct verbs_context *vctx);
/** Is @context open? Looks at addresses only, so any pointer may be asked about. */
bool vf_context_is_open(const struct ibv_context *context);
/** Is @dev in a list that was not freed, or open? Looks at addresses only. */
bool vf_device_is_known(const struct ibv_device *dev);
/** The same for open contexts alone. */
bool vf_device_is_open(const struct ibv_device *dev);

/* ---- conventions of the verbs ---- */

/** int verbs: 0 or the errno value, which is set too. */
static inline int vf_api_code(int err)
{
	if (err < 0)
		errno = -err;
	return err < 0 ? -err : 0;
}

/** int verbs of the older kind: 0 or -1 with errno. */
static inline int vf_api_minus_one(int err)
{
	if (err < 0)
		errno = -err;
	return err < 0 ? -1 : 0;
}

/** pointer verbs: NULL with errno. */
static inline void *vf_api_null(int err)
{
	errno = -err;
	return NULL;
}

/** A pointer that must not be NULL is: -EINVAL with its name. */
static inline int vf_is_null(const char *verb, const char *argument)
{
	return vf_refuse(EINVAL, "%s: %s is NULL", verb, argument);
}

static inline int vf_no_support(const char *verb)
{
	return vf_refuse(EOPNOTSUPP, "%s is not supported by this kind of device", verb);
}

/* ---- objects ---- */

struct vf_td {
	struct ibv_td ibv;
	atomic_int users; /* parent domains */
};

enum vf_kind { VF_KIND_OTHER, VF_KIND_PD, VF_KIND_MR };

/** A number for ibv_x.handle, never that of another object that lives; 0 when there is no memory
 * for it. */
uint32_t vf_handle_new(enum vf_kind kind, void *object);
void vf_handle_drop(uint32_t handle);
/** Calls @use with the object of that number under the table's lock, so that it lives as long;
 * -ENOENT when there is none. */
int vf_handle_use(uint32_t handle, enum vf_kind kind, int (*use)(void *object, void *arg),
		  void *arg);

/** The real PD that @pd is or stands for. */
static inline struct vf_pd *vf_pd_real(struct vf_pd *pd)
{
	return pd->parent_of ? pd->parent_of : pd;
}
/** One object more, or fewer, was made with @pd. */
void vf_pd_use(struct vf_pd *pd);
void vf_pd_unuse(struct vf_pd *pd);
/** -EINVAL when @pd was made in another context than @context. */
int vf_pd_check(const char *verb, const struct ibv_pd *pd, const struct ibv_context *context);

static inline struct vf_pd *vf_pd(struct ibv_pd *pd) { return (struct vf_pd *)(void *)pd; }
static inline struct vf_mr *vf_mr(struct ibv_mr *mr) { return (struct vf_mr *)(void *)mr; }
static inline struct vf_mw *vf_mw(struct ibv_mw *mw) { return (struct vf_mw *)(void *)mw; }
static inline struct vf_td *vf_td(struct ibv_td *td) { return (struct vf_td *)(void *)td; }
static inline struct vf_cq *vf_cq(struct ibv_cq *cq) { return (struct vf_cq *)(void *)cq; }
static inline struct vf_srq *vf_srq(struct ibv_srq *srq) { return (struct vf_srq *)(void *)srq; }
static inline struct vf_qp *vf_qp(struct ibv_qp *qp) { return (struct vf_qp *)(void *)qp; }
static inline struct vf_ah *vf_ah(struct ibv_ah *ah) { return (struct vf_ah *)(void *)ah; }
static inline struct vf_comp_channel *vf_channel(struct ibv_comp_channel *channel)
{
	return (struct vf_comp_channel *)(void *)channel;
}

/* What a destroyer waits for: that as many events are acknowledged as were delivered. */
struct vf_ack_wait {
	const char *what; /* "completion queue" */
	uint32_t number;
	pthread_mutex_t *mutex;
	pthread_cond_t *cond;
	atomic_uint *delivered;
	const uint32_t *completed; /* under the mutex */
};

/** After how long a wait is spoken of, in milliseconds: five seconds, less in tests. */
extern unsigned vf_ack_patience_ms;
/** Waits without end, and says so once. */
void vf_ack_wait(const struct vf_ack_wait *w);
/** Counts @n acknowledgements and wakes who waits for them. */
void vf_ack(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed, uint32_t n);

/* ---- checks ---- */

/** Port numbers are 1 to the device's count. */
int vf_check_port(const char *verb, struct ibv_context *context, uint32_t port);
/** Access flags of a registration: known ones, and local write where remote write needs it. */
int vf_check_access(const char *verb, unsigned access);

/* What an address vector is for: connected queue pairs cannot have a group as their peer. */
enum vf_av_use { VF_AV_DATAGRAM, VF_AV_CONNECTED };
/** Address vector of an address handle or of a queue pair; @name is its attribute's ("ah_attr"). */
int vf_check_av(struct ibv_context *context, const struct ibv_ah_attr *av, const char *name,
		enum vf_av_use use);
/** The port's LID when the user asked for LIDs (VERBIFROST_LID), else 0. */
uint16_t vf_lid_of_port(struct ibv_context *context, uint8_t port);
/** An address vector that has a LID and no GID gets the GID that the LID stands for, when the user asked for LIDs. Did it? */
bool vf_lid_resolve(struct ibv_context *context, struct ibv_ah_attr *av);
/** The same for ibv_modify_qp, with the path MTU lowered to the port's. */
void vf_lid_resolve_qp(struct ibv_context *context, struct ibv_qp_attr *attr, int mask);
/** "fe80::1 (index 0), ::ffff:10.0.0.1 (index 1)": the port's GIDs, for messages. */
void vf_gid_list(struct ibv_context *context, uint8_t port, char *out, size_t len);
/** Is it a group's (IPv6 ff00::/8, or IPv4 224.0.0.0/4)? */
bool vf_gid_is_group(const union ibv_gid *gid);
/** A GID as text; @out holds 46 bytes. */
void vf_gid_text(const union ibv_gid *gid, char out[46]);

/* ---- moves of a queue pair ---- */

/** May a queue pair of this type go from @from to @to with the attributes of @mask? -EINVAL, naming
 * the attributes. */
int vf_qp_move_check(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask);
/** "RTR"; "state 9" cannot be: out of range is "?". */
const char *vf_qp_state_name(enum ibv_qp_state state);
const char *vf_qp_type_name(enum ibv_qp_type type);

/* ---- verbs that are only reached through the context ---- */

int vf_verb_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		       size_t len);
int vf_verb_query_device_ex(struct ibv_context *context,
			    const struct ibv_query_device_ex_input *input,
			    struct ibv_device_attr_ex *attr, size_t size);
int vf_verb_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
struct ibv_td *vf_verb_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int vf_verb_dealloc_td(struct ibv_td *td);
struct ibv_pd *vf_verb_alloc_parent_domain(struct ibv_context *context,
					   struct ibv_parent_domain_init_attr *attr);
struct ibv_mr *vf_verb_alloc_null_mr(struct ibv_pd *pd);
int vf_verb_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		      struct ibv_sge *sg_list, uint32_t num_sge);
struct ibv_mw *vf_verb_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int vf_verb_dealloc_mw(struct ibv_mw *mw);
int vf_verb_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
struct ibv_cq_ex *vf_verb_create_cq_ex(struct ibv_context *context,
				       struct ibv_cq_init_attr_ex *attr);
int vf_verb_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
struct ibv_srq *vf_verb_create_srq_ex(struct ibv_context *context,
				      struct ibv_srq_init_attr_ex *attr);
struct ibv_qp *vf_verb_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/** The slots of verbs that no device has. */
void vf_slots_fill_unsupported(struct verbs_context *vctx);

#endif

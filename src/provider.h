/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_H
#define VF_PROVIDER_H
/*
 * The seam between the exported API (src/verbs) and the kinds of device (src/provider/...).
 *
 * The API layer: checks pointers and ranges that are the same for every device, keeps reference counts (EBUSY), converts
 * 0/-errno into each verb's own convention, makes contexts, events, completion channels, protection, thread and parent domains.
 * The provider: everything that is the device's. Each object of the provider embeds one of the structs below as its first member and is
 * made of zeroed memory. In the ibv_ part the provider sets lkey and rkey, qp_num, and the granted cqe; the API layer sets everything
 * else (context, pd, cq, srq, channel, handle, mutex, type, state) after the provider has made the object.
 * Data-path calls do not pass the API layer: the provider sets the function pointers in ibv_context.ops, ibv_cq_ex and ibv_qp_ex itself.
 *
 * Every slot of vf_provider_ops is pre-filled with a function that answers -EOPNOTSUPP (vf_provider_ops_fill), so nobody tests for NULL.
 * All functions return 0 or -errno and set outputs only on success.
 */
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"
#include "base/reason.h"

struct vf_context;
struct vf_provider_ops;
struct vf_event_queue;
struct vf_device_list;

/* One entry of the device list. Programs see &ibv. Lives as long as a list or a context refers to it. */
struct vf_device {
	struct ibv_device ibv;	/* first; 664 bytes */
	void *no_private_ops;	/* NULL: real provider libraries look for their own operations here (facts: dropin) */
	const struct vf_provider_ops *ops;
	atomic_int refs;	/* lists and contexts */
	uint64_t guid;		/* host order; never 0 */
	int index;		/* stable while the process runs; never reused; ibv_get_device_index */
};

/* An open device. verbs_context must be the last member (it grows downwards and is found from ibv_context). */
struct vf_context {
	struct vf_device *device;
	struct vf_event_queue *async; /* behind ibv_context.async_fd */
	atomic_int users;	      /* objects that live in it */
	void *provider;		      /* the provider's own */
	struct verbs_context verbs;
};

/*
 * Parent domains and imported PDs are the API layer's alone: the provider is always given the real PD that they stand for.
 */
struct vf_pd {
	struct ibv_pd ibv;
	atomic_int users;
	struct vf_pd *parent_of; /* NULL: a real PD; else the real PD that this one stands for */
	void *pd_context;	 /* parent domains */
	struct ibv_td *td;
	bool is_import;	 /* by ibv_import_pd */
	bool is_closing; /* an import given back while in use: freed with its last user */
};

struct vf_mr {
	struct ibv_mr ibv;
	atomic_int users; /* bound memory windows; the provider counts them */
	enum vf_mr_kind { VF_MR_PLAIN, VF_MR_NULL, VF_MR_DMABUF, VF_MR_IMPORT } kind; /* the API layer's */
};

struct vf_mw {
	struct ibv_mw ibv;
};

struct vf_comp_channel {
	struct ibv_comp_channel ibv;
	struct vf_event_queue *queue; /* behind ibv.fd */
	atomic_int users;	      /* completion queues */
};

struct vf_cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex; /* same first members */
	};
	atomic_int users; /* queue pairs */
	atomic_uint events_delivered; /* by ibv_get_cq_event; destroy waits for as many acknowledgements */
	atomic_uint async_delivered;
	struct vf_pd *domain; /* the parent domain it was made with, or NULL; the API layer's */
};

struct vf_srq {
	struct ibv_srq ibv;
	atomic_int users;
	atomic_uint async_delivered;
};

struct vf_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex; /* qp_base first */
	};
	atomic_uint async_delivered;
	bool is_ex; /* made with send_ops_flags: ibv_qp_to_qp_ex answers */
};

struct vf_ah {
	struct ibv_ah ibv;
};

/* What is to be registered of a dma-buf. */
struct vf_dmabuf {
	int fd;
	uint64_t offset;
	size_t length;
	uint64_t iova;
};

struct vf_counter {
	const char *name;
	uint64_t value;
};

struct vf_provider_ops {
	const char *name; /* "soft", "mlx5", "apple" */

	/*
	 * Devices that are there now, appended to @list by vf_device_list_add; and what was looked at and left out, with
	 * vf_device_list_skip. Never an error because there are none.
	 */
	int (*list_devices)(struct vf_device_list *list);
	void (*free_device)(struct vf_device *dev);

	/* The API layer has made @ctx (device, async set); the provider fills ctx->provider and ctx->verbs.context.ops data-path slots. */
	int (*open)(struct vf_context *ctx);
	void (*close)(struct vf_context *ctx);

	int (*query_device)(struct vf_context *ctx, struct ibv_device_attr_ex *attr);
	int (*query_port)(struct vf_context *ctx, uint8_t port, struct ibv_port_attr *attr);
	/* -ENODATA: the slot is empty. -EINVAL: out of range. -ENODEV, silently: the interface is gone. */
	int (*query_gid)(struct vf_context *ctx, uint8_t port, int index,
			 struct ibv_gid_entry *entry);
	int (*query_pkey)(struct vf_context *ctx, uint8_t port, int index, uint16_t *pkey_be);
	int (*query_rt_values)(struct vf_context *ctx, struct ibv_values_ex *values);
	/* Fills up to @max, returns in *count how many there are. */
	int (*query_counters)(struct vf_context *ctx, struct vf_counter *out, unsigned max,
			      unsigned *count);

	int (*alloc_pd)(struct vf_context *ctx, struct vf_pd **out);
	int (*dealloc_pd)(struct vf_pd *pd);

	int (*reg_mr)(struct vf_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access,
		      struct vf_mr **out);
	int (*reg_dmabuf_mr)(struct vf_pd *pd, const struct vf_dmabuf *buf, unsigned access,
			     struct vf_mr **out);
	int (*alloc_null_mr)(struct vf_pd *pd, struct vf_mr **out);
	/* flags: enum ibv_rereg_mr_flags; on failure the old registration stays (the API layer maps that to its codes). */
	int (*rereg_mr)(struct vf_mr *mr, int flags, struct vf_pd *pd, void *addr, size_t length,
			int access);
	int (*dereg_mr)(struct vf_mr *mr);
	int (*advise_mr)(struct vf_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
			 struct ibv_sge *sg, uint32_t count);

	int (*alloc_mw)(struct vf_pd *pd, enum ibv_mw_type type, struct vf_mw **out);
	int (*dealloc_mw)(struct vf_mw *mw);
	int (*bind_mw)(struct vf_qp *qp, struct vf_mw *mw, struct ibv_mw_bind *bind);

	int (*create_cq)(struct vf_context *ctx, struct ibv_cq_init_attr_ex *attr,
			 struct vf_cq **out);
	int (*resize_cq)(struct vf_cq *cq, int cqe);
	int (*modify_cq)(struct vf_cq *cq, struct ibv_modify_cq_attr *attr);
	int (*destroy_cq)(struct vf_cq *cq);

	int (*create_srq)(struct vf_pd *pd, struct ibv_srq_init_attr_ex *attr, struct vf_srq **out);
	int (*modify_srq)(struct vf_srq *srq, struct ibv_srq_attr *attr, int mask);
	int (*query_srq)(struct vf_srq *srq, struct ibv_srq_attr *attr);
	int (*destroy_srq)(struct vf_srq *srq);

	/* attr->cap is updated to what was granted. comp_mask and send_ops_flags are the provider's to refuse. */
	int (*create_qp)(struct vf_context *ctx, struct ibv_qp_init_attr_ex *attr,
			 struct vf_qp **out);
	int (*modify_qp)(struct vf_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct vf_qp *qp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init);
	int (*destroy_qp)(struct vf_qp *qp);

	int (*create_ah)(struct vf_pd *pd, struct ibv_ah_attr *attr, struct vf_ah **out);
	int (*destroy_ah)(struct vf_ah *ah);

	int (*attach_mcast)(struct vf_qp *qp, const union ibv_gid *gid);
	int (*detach_mcast)(struct vf_qp *qp, const union ibv_gid *gid);
};

/** Fills every NULL slot of a copy of @partial with its "not supported" answer. */
void vf_provider_ops_fill(struct vf_provider_ops *out, const struct vf_provider_ops *partial);

/* ---- the device list being made ---- */

struct vf_device_list;
/** Takes over one reference of @dev. -ENOMEM. */
int vf_device_list_add(struct vf_device_list *list, struct vf_device *dev);
/** "eth0: down" and the like, for doctor and `devices`. */
void vf_device_list_skip(struct vf_device_list *list, const char *what, const char *why);

/* Below: for the API layer. */

struct vf_device_list *vf_device_list_create(void);
/** Asks every provider of vf_providers. -ENOMEM. */
int vf_device_list_collect(struct vf_device_list *list);
unsigned vf_device_list_count(const struct vf_device_list *list);
/** The @i-th device; the reference stays the list's. */
struct vf_device *vf_device_list_at(const struct vf_device_list *list, unsigned i);
/** What was left out: false when there is no @i-th. Valid while the list is. */
bool vf_device_list_skipped(const struct vf_device_list *list, unsigned i, const char **what,
			    const char **why);
/** Puts its references. */
void vf_device_list_destroy(struct vf_device_list *list);

void vf_device_get(struct vf_device *dev);
/** The last one gives the device back to its provider. */
void vf_device_put(struct vf_device *dev);

/* ---- events: implemented in src/provider/events.c, used by providers and the API layer ---- */

/*
 * A queue of small records behind a pollable descriptor: readable exactly while the queue is not empty.
 * Never loses an event for want of memory: records are embedded in the objects they tell of where they may repeat.
 */
struct vf_event {
	struct vf_list link;
	struct ibv_async_event async; /* async queues */
	struct vf_cq *cq;	      /* completion channels */
	bool is_owned;		      /* freed by the queue when taken */
};

int vf_event_queue_create(struct vf_event_queue **out);
void vf_event_queue_destroy(struct vf_event_queue *q);
int vf_event_queue_fd(const struct vf_event_queue *q);
/** Appends; an event that is queued already stays where it is. Never blocks. */
void vf_event_queue_put(struct vf_event_queue *q, struct vf_event *e);
/** Allocates and appends; when there is no memory the event is logged and lost. */
void vf_event_queue_put_async(struct vf_event_queue *q, const struct ibv_async_event *async);
/**
 * Takes the oldest into *out and counts it as delivered on the object that it speaks of (events_delivered, async_delivered). When
 * empty: -EAGAIN if the descriptor was made non-blocking by the program (fcntl), else waits. -EINTR as read(2) has it.
 */
int vf_event_queue_get(struct vf_event_queue *q, struct vf_event *out);
/** Removes events that speak of an object that is being destroyed; returns how many. */
unsigned vf_event_queue_forget(struct vf_event_queue *q, const void *object);

/* An object whose events are dropped from now on, because it is being destroyed. */
struct vf_event_block {
	struct vf_list link;
	const void *object;
};

/** Forgets, and drops what is put later, until vf_event_queue_unblock. @block stays the caller's. */
void vf_event_queue_block(struct vf_event_queue *q, struct vf_event_block *block,
			  const void *object);
void vf_event_queue_unblock(struct vf_event_queue *q, struct vf_event_block *block);

/* ---- the providers there are ---- */

/** In the order in which their devices are listed; ends with NULL. */
extern const struct vf_provider_ops *const vf_providers[];

extern const struct vf_provider_ops vf_soft_ops;

#endif

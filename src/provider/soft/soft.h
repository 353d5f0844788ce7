/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_SOFT_H
#define VF_PROVIDER_SOFT_SOFT_H
/*
 * The soft device's objects: what its files share.
 *
 * Locks, from the outside in:
 *   a CQ's poll lock (held by whoever takes completions), a QP's builder lock (from wr_start to wr_complete)
 *   the network side's lock (the engine, keys, everything its callbacks touch)
 *   the registry's lock (devices, GID tables, lists of contexts)
 * Prohibited: taking a poll lock inside the network side's lock; calling the network side with the registry's lock held.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/reason.h"
#include "provider.h"
#include "provider/soft/gid_table.h"
#include "provider/soft/net.h"

/* Limits: what query_device says and what is granted. */
#define SOFT_MAX_QP (65536 - 16)
#define SOFT_MAX_QP_WR 32768
#define SOFT_MAX_SRQ 65536
#define SOFT_MAX_SRQ_WR 1048576
#define SOFT_MAX_CQ 1048576
#define SOFT_MAX_CQE 4194304
#define SOFT_MAX_MR 1048576
#define SOFT_MAX_MW 1048576
#define SOFT_MAX_PD 1048576
#define SOFT_MAX_AH 1048576
#define SOFT_MAX_MCAST_GRP 8192
#define SOFT_MAX_MCAST_QP 256
#define SOFT_MAX_RD_ATOMIC 128
#define SOFT_PORT 1

/* ---- devices ---- */

struct soft_device {
	struct vf_device vf;
	struct vf_list link;	 /* registry */
	struct vf_list contexts; /* struct soft_context; registry's lock */
	char if_name[VF_OS_IF_NAME_MAX];
	unsigned if_index; /* of today: an interface that comes back has a new one */
	uint32_t mtu;
	uint64_t link_bits_per_s;
	bool is_loopback, is_there, is_active;
	struct gid_table gids;
	struct vf_roce_counters counters;
};

int soft_device_list(struct vf_device_list *list);
void soft_device_free(struct vf_device *dev);
void soft_registry_lock(void);
void soft_registry_unlock(void);
/** In the child of a fork: nobody holds the registry's lock; the parent's contexts are cut off. */
void soft_registry_forked(void);
/** Locks by itself: what stands at @index now. -ENODATA, -ENODEV (the interface is gone), silently. */
int soft_device_gid(struct soft_device *dev, int index, uint8_t gid[16]);
/** Looks at the system's interfaces again; raises events. */
void soft_devices_refresh(void);
enum ibv_mtu soft_port_mtu(uint32_t if_mtu);

/* ---- contexts ---- */

struct soft_keys;

struct soft_context {
	struct vf_list link;
	struct vf_context *vf;
	struct soft_device *dev;
	struct vf_soft_net *net;
	struct soft_keys *keys;
	bool is_orphan; /* of the parent, in a forked child: its descriptors are the parent's too */
};

static inline struct soft_context *soft_ctx(const struct vf_context *ctx) { return ctx->provider; }
/** From an ibv_context, in data-path calls. */
struct soft_context *soft_ctx_of(struct ibv_context *context);
int soft_open(struct vf_context *ctx);
void soft_close(struct vf_context *ctx);
void soft_context_event(struct soft_context *sc, enum ibv_event_type type);
void soft_context_put_event(struct soft_context *sc, const struct ibv_async_event *e);

struct soft_pd {
	struct vf_pd vf;
	struct soft_context *ctx;
};

int soft_alloc_pd(struct vf_context *ctx, struct vf_pd **out);
int soft_dealloc_pd(struct vf_pd *pd);

/* ---- memory ---- */

struct soft_key {
	enum soft_key_kind { SOFT_KEY_MR, SOFT_KEY_MW } kind;
	uint32_t value; /* index << 8 | tag */
};

struct soft_mr {
	struct vf_mr vf;
	struct soft_key key;
	struct soft_pd *pd;
	uint8_t *addr;
	uint64_t iova, length;
	unsigned access; /* enum ibv_access_flags */
	bool is_null;
	void *map; /* dma-buf: what was mapped for it */
	size_t map_len;
};

struct soft_qp;

struct soft_mw {
	struct vf_mw vf;
	struct soft_key key; /* value: as bound last */
	struct soft_pd *pd;
	enum ibv_mw_type type;
	bool is_bound;
	struct soft_mr *mr;
	struct soft_qp *qp; /* type 2: whose it is */
	struct vf_list qp_link;
	uint64_t addr, length;
	unsigned access;
};

/* What a bind work request carries through the send queue. */
struct soft_bind {
	uint32_t mw_key, new_key; /* same index */
	uint32_t mr_key;	  /* 0: unbind */
	unsigned access;
	uint64_t addr, length;
};

/** The keys of this process (of its network side), counted by contexts. */
struct soft_keys *soft_keys_get(void);
void soft_keys_put(struct soft_keys *k);
void soft_keys_forked(void);
/** Those below: network side's lock held. -ENOMEM. Fills key->value. */
int soft_key_add(struct soft_keys *k, struct soft_key *key);
void soft_key_remove(struct soft_keys *k, struct soft_key *key);
/** A new tag for the same index. */
void soft_key_change(struct soft_keys *k, struct soft_key *key, uint32_t value);
/** Who stands at the index of @value, whatever its tag; NULL: nobody. */
struct soft_key *soft_key_at(uint32_t value);

int soft_reg_mr(struct vf_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access,
		struct vf_mr **out);
int soft_reg_dmabuf_mr(struct vf_pd *pd, const struct vf_dmabuf *buf, unsigned access,
		       struct vf_mr **out);
int soft_alloc_null_mr(struct vf_pd *pd, struct vf_mr **out);
int soft_rereg_mr(struct vf_mr *mr, int flags, struct vf_pd *pd, void *addr, size_t length,
		  int access);
int soft_dereg_mr(struct vf_mr *mr);
int soft_advise_mr(struct vf_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		   struct ibv_sge *sg, uint32_t count);
int soft_alloc_mw(struct vf_pd *pd, enum ibv_mw_type type, struct vf_mw **out);
int soft_dealloc_mw(struct vf_mw *mw);
int soft_bind_mw(struct vf_qp *qp, struct vf_mw *mw, struct ibv_mw_bind *bind);
/** Checks a bind of the program against what must hold already when it is posted; fills @out. */
int soft_bind_fill(struct soft_qp *qp, struct ibv_mw *mw, uint32_t rkey,
		   const struct ibv_mw_bind_info *info, struct soft_bind *out);
/** Network side's lock held: the windows of @qp (type 2) are nobody's any more. */
void soft_mw_qp_gone(struct soft_qp *qp);
/** Host operations, called by the engine. */
int soft_mw_bind(void *host, void *qp_host, const void *bind, uint32_t len);
int soft_mw_invalidate(void *host, void *qp_host, uint32_t rkey, bool is_remote);

/* ---- completion queues ---- */

struct soft_cqe {
	uint64_t wr_id, timestamp;
	uint32_t vendor_err, byte_len, imm_or_rkey, qpn, src_qp;
	uint32_t wc_flags;
	uint16_t opcode;
	uint8_t status, sl;
};

struct cq_chunk {
	struct cq_chunk *next; /* written by the producer before what it announces */
	uint32_t size;
	struct soft_cqe e[];
};

enum soft_cq_armed { CQ_IDLE, CQ_ARMED_SOLICITED, CQ_ARMED_ANY };

struct soft_cq {
	struct vf_cq vf;
	struct soft_context *ctx;
	pthread_mutex_t poll_lock;
	bool is_single_threaded, is_overrun_ignored, is_ex;
	enum { CQ_TIME_NONE, CQ_TIME_RAW, CQ_TIME_WALL } time;

	/* the consumer's: under poll_lock */
	struct cq_chunk *head;
	uint32_t head_at;
	struct soft_cqe now; /* what start_poll and next_poll found */
	bool is_polling;

	/* the producer's: under the network side's lock */
	struct cq_chunk *tail;
	uint32_t tail_at;
	bool is_overrun;	     /* it happened; said once */
	bool is_failed;		     /* and its queue pairs were ended */
	struct vf_list overrun_link; /* among those whose queue pairs must be ended */
	struct vf_event event;	     /* on the channel */

	_Atomic uint64_t produced, consumed;
	_Atomic uint32_t limit;
	_Atomic(struct cq_chunk *) spare;
	atomic_int armed; /* enum soft_cq_armed */
};

int soft_create_cq(struct vf_context *ctx, struct ibv_cq_init_attr_ex *attr, struct vf_cq **out);
int soft_resize_cq(struct vf_cq *cq, int cqe);
int soft_destroy_cq(struct vf_cq *cq);
int soft_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int soft_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/** Network side's lock held: one completion in. */
void soft_cq_push(struct soft_cq *cq, const struct vf_roce_cqe *cqe);
/** Poll lock held, when the queue has one: the oldest completion out. */
bool soft_cq_take(struct soft_cq *cq, struct soft_cqe *out);
void soft_cq_poll_lock(struct soft_cq *cq);
void soft_cq_poll_unlock(struct soft_cq *cq);
/** Poll lock and network side's lock held: completions of @qpn vanish. */
void soft_cq_purge(struct soft_cq *cq, uint32_t qpn);
/** Sets the functions of the extended interface. */
void soft_cq_ex_init(struct soft_cq *cq, uint64_t wc_flags);

/* ---- queues ---- */

struct soft_srq {
	struct vf_srq vf;
	struct soft_context *ctx;
	struct soft_pd *pd;
	struct vf_roce_srq *roce;
	uint32_t max_sge;
};

int soft_create_srq(struct vf_pd *pd, struct ibv_srq_init_attr_ex *attr, struct vf_srq **out);
int soft_modify_srq(struct vf_srq *srq, struct ibv_srq_attr *attr, int mask);
int soft_query_srq(struct vf_srq *srq, struct ibv_srq_attr *attr);
int soft_destroy_srq(struct vf_srq *srq);

struct soft_builder; /* qp_wr.c */

struct soft_mcast {
	struct vf_list link;
	uint8_t mgid[16];
	unsigned if_index;
};

struct soft_qp {
	struct vf_qp vf;
	struct soft_context *ctx;
	struct soft_pd *pd;
	struct vf_roce_qp *roce;
	struct soft_cq *send_cq, *recv_cq;
	struct soft_srq *srq;
	struct vf_list link; /* all of this process; network side's lock */
	struct vf_list groups;	/* struct soft_mcast */
	struct vf_list windows; /* struct soft_mw of type 2 that are bound to it */
	enum ibv_qp_type type;
	uint32_t qpn;
	struct ibv_qp_cap cap; /* as granted */
	bool is_sig_all;
	bool is_error_told;
	struct ibv_qp_attr attr; /* as the program set it */
	vf_nsec connected;

	/* who may die */
	uint32_t peers[VF_OS_SLOTS / 32]; /* slots of this host that are watched for it */
	unsigned peer_count;

	struct soft_builder *builder;
};

int soft_create_qp(struct vf_context *ctx, struct ibv_qp_init_attr_ex *attr, struct vf_qp **out);
int soft_modify_qp(struct vf_qp *qp, struct ibv_qp_attr *attr, int mask);
int soft_query_qp(struct vf_qp *qp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init);
int soft_destroy_qp(struct vf_qp *qp);
/** After a move to RESET: what the queue pair had is gone. */
void soft_qp_reset_done(struct soft_qp *qp);
/** All QPs of the process; network side's lock held. */
extern struct vf_list soft_qps;

int soft_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int soft_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int soft_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/** Builder functions for @ops (enum ibv_qp_create_send_ops_flags) into vf.ex; -ENOMEM. */
int soft_wr_init(struct soft_qp *qp, uint64_t ops);
/** Harmless when there is none. */
void soft_wr_free(struct soft_qp *qp);

/* ---- addresses ---- */

struct soft_ah {
	struct vf_ah vf;
	struct soft_context *ctx;
	struct soft_pd *pd;
	struct vf_roce_path path;
	bool is_local; /* dgid is an address of this host */
};

/** An address vector of the program, checked and made the engine's. @what names it in refusals ("ah_attr"). */
int soft_path_fill(struct soft_context *sc, const struct ibv_ah_attr *a, const char *what,
		   struct vf_roce_path *out);
int soft_create_ah(struct vf_pd *pd, struct ibv_ah_attr *attr, struct vf_ah **out);
int soft_destroy_ah(struct vf_ah *ah);
int soft_attach_mcast(struct vf_qp *qp, const union ibv_gid *gid);
int soft_detach_mcast(struct vf_qp *qp, const union ibv_gid *gid);
/** Network side's lock held. */
void soft_mcast_forget(struct soft_qp *qp);

/* ---- peers, events ---- */

/** Network side's lock held: @qp talks to the process in @slot of this host. */
void soft_peer_watch(struct soft_qp *qp, unsigned slot);
void soft_peer_forget(struct soft_qp *qp);
/** Network side's lock held: @qp sends a datagram to @remote_qpn. */
void soft_peer_datagram(struct soft_qp *qp, const struct soft_ah *ah, uint32_t remote_qpn);
/** Network side's lock held, inside the engine: vf_soft_settle will end the users of @cq. */
void soft_cq_overran(struct soft_cq *cq);
void soft_overruns_forked(void);
void soft_qp_event(void *host, void *qp_host, enum vf_roce_event event);
void soft_srq_event(void *host, void *srq_host, enum vf_roce_event event);
void soft_complete(void *host, const struct vf_roce_cqe *cqe);

/* ---- queries ---- */

int soft_query_device(struct vf_context *ctx, struct ibv_device_attr_ex *attr);
int soft_query_port(struct vf_context *ctx, uint8_t port, struct ibv_port_attr *attr);
int soft_query_gid(struct vf_context *ctx, uint8_t port, int index, struct ibv_gid_entry *entry);
int soft_query_pkey(struct vf_context *ctx, uint8_t port, int index, uint16_t *pkey_be);
int soft_query_rt_values(struct vf_context *ctx, struct ibv_values_ex *values);
int soft_query_counters(struct vf_context *ctx, struct vf_counter *out, unsigned max,
			unsigned *count);
/** -EINVAL unless it is the device's one port. */
int soft_check_port(const struct soft_context *sc, unsigned port);

#endif

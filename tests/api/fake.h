/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_API_FAKE_H
#define TESTS_API_FAKE_H
/*
 * A kind of device without a data path, for tests of the API layer: two devices whose answers a
 * test chooses, and a count of everything that lives.
 */
#include "provider.h"

struct fake {
	int device_count; /* 0 to 2 */
	atomic_int error; /* what the next operation that makes or changes something fails with,
			     once */
	atomic_int live;  /* objects made and not ended, contexts and devices included */
	enum ibv_mtu active_mtu;
	uint8_t link_layer;
	uint16_t active_width, active_speed;
	union ibv_gid gid[4];  /* zero: empty slot */
	int last_mask;	       /* of modify_qp */
	struct vf_pd *last_pd; /* that the provider was given */
	struct ibv_ah_attr last_av; /* of create_ah, and of modify_qp */
	enum ibv_mtu last_mtu;
	uint64_t last_iova;
	enum ibv_qp_state state; /* that query_qp tells, when not that which was set */
	bool has_own_state;
	unsigned cap_flags;
};

extern struct fake fake;

/** Back to the beginning: two devices, no errors. */
void fake_reset(void);
/** How many objects live, the devices of the last list aside, which the library remembers. */
int fake_live(void);
/** A completion event on the channel of @cq. */
void fake_complete(struct ibv_cq *cq);
/** An asynchronous event about @object (or NULL) in @context. */
void fake_async(struct ibv_context *context, enum ibv_event_type type, void *object);
/** The first device, opened. */
struct ibv_context *fake_open(void);
/** Its list is freed as well. */
struct ibv_context *fake_open_nth(int n);

/* Everything that a queue pair needs. */
struct fake_rig {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

void fake_rig_make(struct fake_rig *r);
void fake_rig_end(struct fake_rig *r);
struct ibv_qp *fake_qp(const struct fake_rig *r, enum ibv_qp_type type);
/** An address vector that is right for the fake device: index 1 to 10.0.0.2. */
struct ibv_ah_attr fake_av(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_ENGINE_WORLD_H
#define VF_ROCE_ENGINE_WORLD_H
/*
 * A small world for the engine's own tests: two engines, a wire between them that loses what a mask
 * says, memory, completions and events that are written down. One virtual clock.
 */
#include "roce/roce.h"

#define WORLD_MEM  65536u
#define WORLD_LOG  4096u
#define WORLD_KEYS 8u
#define WORLD_KEY  0x1000u /* key of the whole memory, all rights */
#define WORLD_SLOT 3u

struct world_key {
	uint64_t offset, len;
	unsigned access;
	bool is_valid;
};

struct world_node {
	struct world *w;
	int index;
	struct vf_roce *engine;
	struct vf_roce_counters counters;
	uint8_t gid[16];
	uint8_t mem[WORLD_MEM];
	struct world_key keys[WORLD_KEYS]; /* key WORLD_KEY + i */
	uint64_t gone_at, gone_len;	   /* offsets whose memory faults */
	struct vf_roce_cqe cqe[WORLD_LOG];
	unsigned cqe_count;
	struct {
		void *who;
		enum vf_roce_event event;
	} event[64];
	unsigned event_count;
	unsigned binds, invalidated;
	uint32_t last_invalidated;
	/* packets that this node sent */
	unsigned sent;
	uint64_t lose; /* bit n: the nth packet from now is lost */
	uint8_t sent_opcode[WORLD_LOG];
	uint32_t sent_psn[WORLD_LOG];
	uint8_t sent_syndrome[WORLD_LOG];
	bool sent_ack_req[WORLD_LOG];
	vf_nsec sent_at[WORLD_LOG];
	uint8_t mark_ce; /* traffic class that arrives at the peer */
};

struct world {
	struct world_node node[2];
	vf_nsec now;
	vf_nsec delay;
	bool is_cut;   /* nothing arrives */
	bool is_twice; /* every packet arrives twice */
};

/* One connected pair of QPs, with what may differ. */
struct world_pair {
	enum vf_roce_type type;
	uint32_t mtu_bytes, psn[2]; /* first PSN each sends with */
	uint8_t rnr_retry, retry_cnt, timeout, min_rnr_timer, rd_atomic, dest_rd_atomic;
	struct vf_roce_srq *srq[2];
	bool is_sig_all;
	struct vf_roce_qp *qp[2];
};

void world_open(struct world *w);
/** With flow control, between receivers of so much. */
void world_open_flow(struct world *w, uint32_t rx_budget_bytes);
/** Everything idle and nothing in flight; destroys the engines. */
void world_close(struct world *w);
/** Defaults, PSNs just below the wrap. */
struct world_pair world_pair_of(enum vf_roce_type type);
void world_connect(struct world *w, struct world_pair *p);
void world_to_init(struct world *w, struct world_pair *p, int node);
void world_to_rtr(struct world *w, struct world_pair *p, int node);
void world_to_rts(struct world *w, struct world_pair *p, int node);
void world_disconnect(struct world_pair *p);
/** Exchanges packets and lets time go on until nothing waits, or until @until. */
void world_run(struct world *w, vf_nsec until);
/** As world_run, for ever; fails the test when it never becomes quiet. */
void world_settle(struct world *w);

uint64_t world_addr(const struct world_node *n, uint32_t offset);
void world_fill(struct world_node *n, uint32_t offset, uint32_t len, unsigned seed);
bool world_is_filled(const struct world_node *n, uint32_t offset, uint32_t len, unsigned seed);
void world_post_recv(struct world_node *n, struct vf_roce_qp *qp, uint64_t id, uint32_t offset,
		     uint32_t len);
int world_post(struct world_node *n, struct vf_roce_qp *qp, struct vf_roce_send_wr *wr,
	       uint32_t offset, uint32_t len);
uint64_t world_count(const struct world_node *n, int counter);
uint64_t world_dropped(const struct world_node *n, enum vf_roce_drop why);
unsigned world_events(const struct world_node *n, enum vf_roce_event event);

#endif

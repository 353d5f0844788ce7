/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_FLOW_STATE_H
#define VF_ROCE_FLOW_STATE_H
/*
 * What flow.c (table, timers), flow_send.c (the sender's half), flow_grant.c (the receiver's half)
 * and flow_wire.c (packets) share. Nobody else includes this, except their tests.
 */
#include "base/rand.h"
#include "roce/flow.h"

/* The largest packet there is: never granted less than this, or a sender with a remainder would
 * wait for ever. */
#define FLOW_ONE_PACKET (2 * (VF_ROCE_MTU_MAX + VF_ROCE_HEADERS_MAX + 4) + 1024)

/* A sender that sent nothing for this long gives its credit back, and has a first window again. */
#define FLOW_IDLE_NS (10 * VF_MSEC)
/* When credit is called back, a sender that sent nothing for this long gives all of it, others what
 * exceeds their share. */
#define FLOW_RECALL_IDLE_NS (200 * VF_USEC)
/* Credit whose receiver does not answer any more is void for the sender after this. */
#define FLOW_STALE_NS (20 * VF_MSEC)
/* A receiver that heard nothing for this long takes the credit back. Longer than both times after
 * which the sender itself no longer uses it, so that a sender that was only stopped does no harm.
 */
#define FLOW_RECLAIM_NS (30 * VF_MSEC)
/* A receiver that was not run for this long knows less than lies in its buffer: it takes nothing
 * back. */
#define FLOW_LATE_NS (15 * VF_MSEC)
/* How long a waiting sender expects the grant that should be on its way before it asks: doubles up
 * to the second. */
#define FLOW_PROBE_NS	 (1 * VF_MSEC)
#define FLOW_PROBE_STEPS 4
/* A HELLO goes with this much sent, so that what was lost is accounted for before it makes the
 * sender wait. */
#define FLOW_HELLO_EACH (UINT32_C(1) << 20)
/* How long a silent peer holds back a sender; then RC goes on, UC and UD are paced. */
#define FLOW_PATIENCE_RC_NS (24 * VF_MSEC)
#define FLOW_PATIENCE_NS    (120 * VF_MSEC)
#define FLOW_PATIENCE_UC_NS (5 * VF_SEC) /* of a peer that once answered */
/* The pace: 4 ns a cost unit is about 110 MB/s in packets of 4 KiB, with bursts of 64 KiB. */
#define FLOW_PACE_NS  4
#define FLOW_BURST_NS ((vf_nsec)65536 * FLOW_PACE_NS)

struct flow_hello {
	uint64_t epoch, sent;
	uint64_t kept; /* is_release: the limit that the sender still goes by */
	uint32_t seq;
	bool is_asking, is_release;
};

struct flow_grant {
	uint64_t epoch;	     /* of the receiver */
	uint64_t peer_epoch; /* of the sender, given back */
	uint64_t limit;
	uint32_t seq;	/* of the last HELLO that the receiver took into account */
	bool is_recall; /* others wait: give back what exceeds limit */
};

/* The half that sends. Amounts are totals since the flow began, in cost units. */
struct flow_sender {
	uint64_t epoch, receiver_epoch;
	uint64_t sent, limit, sent_at_hello;
	uint32_t seq, release_seq; /* HELLOs: last sent, last one that gave credit back */
	vf_nsec last_sent;
	vf_nsec silent_since; /* is_asking: when the first HELLO went that was not answered */
	vf_nsec hello_at;     /* is_asking: when the next one goes */
	vf_nsec probe_at;     /* is_waiting, is_open: when to ask */
	vf_nsec wake_at;      /* is_waiting: when the pace allows more */
	vf_nsec pace_at;      /* when all that was sent at the pace is through */
	vf_nsec patience_ns;  /* of the least patient who waits */
	uint32_t wanted;      /* cost of the smallest packet that waits */
	unsigned hello_tries, probe_step;
	bool is_open;	/* the peer granted what limit says, rather than a first window */
	bool is_asking; /* a HELLO is not answered yet */
	bool is_waiting;
	bool has_peer; /* it has answered once: it speaks this protocol */
	bool is_hello_due, is_release_due;
	bool does_pay; /* the packet allowed last goes at the pace */
};

/* The half that receives and grants. */
struct flow_receiver {
	uint64_t epoch, sender_epoch;
	uint64_t received,
		limit; /* limit >= received; the difference counts in the table's outstanding */
	uint32_t seq;
	vf_nsec last_heard;
	bool is_known;	/* a HELLO came: received means something */
	bool is_active; /* has a share of the budget */
	bool is_grant_due, is_recall_due;
};

struct vf_flow {
	struct vf_flow_table *table;
	struct vf_list by_hash, by_age, busy, control, wanting, released;
	struct vf_list waiters;
	struct vf_roce_path path;
	unsigned slot, refs;
	bool is_mute; /* multicast, QPN 1 */
	struct flow_sender tx;
	struct flow_receiver rx;
};

#define FLOW_BUCKETS 1024

struct vf_flow_table {
	struct vf_flow_config cfg;
	struct vf_rand rand;
	struct vf_flow **flows; /* all there are, to free them */
	unsigned flow_count, flow_max;
	struct vf_list free, idle; /* idle: hashed but not referenced, oldest first */
	struct vf_list busy;	   /* flows with a deadline */
	struct vf_list control;	   /* flows with a HELLO or GRANT to send */
	struct vf_list wanting;	   /* flows that wait for budget, in turn */
	struct vf_list released;   /* flows with waiters that may send again */
	vf_nsec deadline;
	uint64_t outstanding; /* sum of limit - received over all flows */
	unsigned active;
	bool has_recalled; /* since somebody last asked */
	struct vf_list buckets[FLOW_BUCKETS];
};

/* flow.c */
void flow_speak(struct vf_flow *f); /* it has a control packet to send */
void flow_wake_by(struct vf_flow *f, vf_nsec when);

/* flow_send.c */
void flow_sender_reset(struct vf_flow *f);
void flow_sender_granted(struct vf_flow *f, vf_nsec now, const struct flow_grant *g);
void flow_sender_heard(struct vf_flow *f, vf_nsec now);
void flow_sender_run(struct vf_flow *f, vf_nsec now);
vf_nsec flow_sender_deadline(const struct vf_flow *f);
void flow_sender_make_hello(struct vf_flow *f, vf_nsec now, struct flow_hello *out);

/* flow_grant.c */
void flow_receiver_reset(struct vf_flow *f);
void flow_receiver_greeted(struct vf_flow *f, vf_nsec now, const struct flow_hello *h);
void flow_receiver_run(struct vf_flow *f, vf_nsec now, bool is_late);
vf_nsec flow_receiver_deadline(const struct vf_flow *f);
void flow_receiver_make_grant(struct vf_flow *f, struct flow_grant *out);
bool flow_budget_can_serve(const struct vf_flow_table *t);
void flow_budget_serve(struct vf_flow_table *t);

/* flow_wire.c */
#define FLOW_OPCODE_HELLO 0xc1
#define FLOW_OPCODE_GRANT 0xc2
void flow_put_hello(const struct vf_flow *f, const struct flow_hello *h, struct vf_roce_tx *out);
void flow_put_grant(const struct vf_flow *f, const struct flow_grant *g, struct vf_roce_tx *out);
/* Slot of the process that sent it, or -EINVAL. */
int flow_get_slot(const struct vf_roce_rx *rx, unsigned own_slot);
void flow_get_hello(const struct vf_roce_rx *rx, struct flow_hello *out);
void flow_get_grant(const struct vf_roce_rx *rx, struct flow_grant *out);

#endif

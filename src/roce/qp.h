/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_QP_H
#define VF_ROCE_QP_H
/* What a queue pair consists of, and how its parts call each other. Only files of the engine
 * include this. */
#include "roce/engine.h"
#include "roce/opcode.h"
#include "roce/packet.h"
#include "roce/psn.h"
#include "roce/rq.h"
#include "roce/sq.h"

#define VF_RD_ATOMIC_MAX 128u
/** Packets of a QP that may be unanswered, read responses counted; half of it is asked to be
 * acknowledged. */
#define VF_WINDOW_MAX 128u
#define VF_WINDOW_MIN 4u
/** Halved by congestion and time-outs, the window grows by a packet for so many that are answered.
 */
#define VF_WINDOW_GROWS_EACH 8u
/** Packets that one QP may send before the next has its turn. */
#define VF_QUANTUM 32u
/** A receiver of marked packets asks for less at most this often, and a sender obeys at most this
 * often (IBTA A17.9). */
#define VF_CNP_GAP_NS (50 * VF_USEC)

/* Sending half of RC, and the sequence numbers of UC and UD. */
struct vf_requester {
	uint32_t psn_next;  /* next PSN that was never sent */
	uint32_t una;	    /* oldest PSN not answered */
	uint32_t at_pkt;    /* packet within the WQE at vf_sq.at that goes next */
	uint32_t since_ack; /* packets sent since one asked for an ACK */
	uint32_t window;    /* packets */
	uint32_t grown;	    /* packets acknowledged since the window grew */
	uint32_t rnr_psn, reread_psn;
	uint32_t rd_end[VF_RD_ATOMIC_MAX]; /* last PSN of each read request or atomic in flight, a
					      ring */
	uint32_t rd_head, rd_count;
	uint8_t retry_left, rnr_left;
	bool is_rnr_wait;  /* until the timer says */
	bool is_rereading; /* lost responses were asked for again, from reread_psn on */
	bool is_drained;   /* said so to the host since SQD was entered */
	vf_nsec cnp_until; /* a CNP before this time is about what was already obeyed */
};

/* vf_roce_tx.fault_token: QPN in the upper 24 bits, whose packet, then a request number or a PSN.
 */
#define VF_FAULT_RESPONSE (UINT64_C(1) << 39)
#define VF_FAULT_REQUEST  (UINT64_C(1) << 38)

enum vf_msg { VF_MSG_NONE, VF_MSG_SEND, VF_MSG_WRITE };

/* What is kept of a read or atomic in order to answer it, again if need be (IBTA 9.7.5.1.3). */
struct vf_rd_resource {
	uint64_t va, original;
	uint32_t rkey, len;
	uint32_t psn, count; /* of its responses */
	uint32_t next;	     /* response to send next */
	uint32_t msn;
	uint32_t from; /* first response of the present run: it has the opcode that starts a message
			*/
	bool is_atomic, is_pending, is_replay;
};

/* An ACK or NAK that waits to be sent. */
struct vf_answer {
	bool is_pending;
	uint8_t syndrome;
	uint32_t psn;
};

/* Receiving half. */
struct vf_responder {
	uint32_t psn;	   /* expected */
	uint32_t msn;	   /* messages done */
	uint32_t psn_seen; /* furthest PSN that was dropped for a gap */
	bool is_gap;	   /* a NAK for the expected PSN was given; silence until it comes */
	bool has_established;
	bool wants_cnp;
	vf_nsec cnp_next;
	struct vf_answer answer;
	/* the message that is coming in */
	enum vf_msg msg;
	uint32_t offset; /* bytes of it that came */
	uint32_t total;	 /* write: bytes it shall have */
	uint64_t va;
	uint32_t rkey;
	/* reads and atomics, a ring in the order of their PSNs; the last rd_max are kept */
	struct vf_rd_resource *rd;  /* VF_RD_ATOMIC_MAX of them; NULL unless RC */
	uint32_t rd_head, rd_count; /* oldest, number kept */
	uint32_t rd_at;		    /* first that may be pending, counted from the oldest */
	uint32_t rd_pending;
};

enum vf_place { VF_PLACE_NONE, VF_PLACE_READY, VF_PLACE_FLOW };

struct vf_roce_qp {
	struct vf_roce *r;
	struct vf_roce_qp_config cfg;
	struct vf_roce_qp_attr attr; /* as set; attr.state is the state */
	uint32_t qpn;
	uint16_t udp_sport;
	bool requests_first; /* in its next turn, before responses */
	enum vf_place place;
	struct vf_flow *flow; /* RC and UC, from RTR on */
	struct vf_list tx_link, answer_link, sent_link, mcast_links;
	struct vf_timer timer; /* local ACK time-out or RNR wait */
	struct vf_sq sq;
	struct vf_requester req;
	struct vf_rq rq;
	struct vf_responder resp;
};

/* How a step of a machine ended. */
enum vf_step {
	VF_STEP_NEXT,  /* go on with the next step */
	VF_STEP_AGAIN, /* from the first step: something else is to be looked at now */
	VF_STEP_SENT,  /* a packet was made */
	VF_STEP_IDLE,  /* nothing to send until something happens */
	VF_STEP_FLOW,  /* waits for its flow (@flow) */
	VF_STEP_END,   /* the packet is done with */
};

static inline enum vf_roce_type vf_qp_type(const struct vf_roce_qp *qp) { return qp->cfg.type; }

/* qp.c, qp_state.c */
/** Puts the QP into the round of those that send, unless it is there or waits for its flow. */
void vf_qp_ready(struct vf_roce_qp *qp);
void vf_qp_unready(struct vf_roce_qp *qp);
void vf_qp_wait_for(struct vf_roce_qp *qp, struct vf_flow *flow);
void vf_qp_event(struct vf_roce_qp *qp, enum vf_roce_event event);
/** To ERR: everything is flushed. With @keeps_answers responses and NAK that wait still go out. */
void vf_qp_error(struct vf_roce_qp *qp, bool keeps_answers);
/** An invariant of ours does not hold: this QP ends with QP_FATAL, the program lives on. */
void vf_qp_broken(struct vf_roce_qp *qp);
/** May @access by @m->key have it? As mem_check; fills qp_host. */
int vf_qp_mem_check(struct vf_roce_qp *qp, struct vf_roce_mem *m);
int vf_qp_mem_map(struct vf_roce_qp *qp, struct vf_roce_mem *m, struct iovec *iov, int max);
/** Starts a packet of this QP: path, counters, source port. */
void vf_qp_tx_start(struct vf_roce_qp *qp, struct vf_roce_tx *tx, const struct vf_packet_start *s);

/** Name of a completion status, for the log. */
const char *vf_wc_status_name(enum vf_roce_wc_status status);

/* requester.c, requester_build.c */
/** Makes the next request packet. @flow: which to wait for when the verdict is VF_STEP_FLOW. */
enum vf_step vf_requester_next(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx,
			       struct vf_flow **flow);
/** Responses that one read request asks for at most. */
uint32_t vf_requester_read_part(const struct vf_roce_qp *qp);
void vf_requester_reset(struct vf_roce_qp *qp);
/** Starts over from @psn: what was sent from there on is sent again. */
void vf_requester_go_back(struct vf_roce_qp *qp, vf_nsec now, uint32_t psn);
/** Moves the place to send from past what was answered meanwhile. */
void vf_requester_catch_up(struct vf_roce_qp *qp);
/** (Re)starts or stops the local ACK timer, by whether anything is in flight. */
void vf_requester_time(struct vf_roce_qp *qp, vf_nsec now);
void vf_requester_timer(struct vf_roce_qp *qp, vf_nsec now);
void vf_requester_cnp(struct vf_roce_qp *qp, vf_nsec now);
void vf_requester_tx_fault(struct vf_roce_qp *qp, const struct vf_roce_tx *tx);

/* completer.c */
void vf_completer_receive(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt);
/** One retry is used up by the loss of the packet at una: goes back, or ends the QP. */
void vf_completer_retry(struct vf_roce_qp *qp, vf_nsec now, uint32_t psn);

/* responder.c, responder_answer.c */
void vf_responder_receive(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt);
void vf_responder_reset(struct vf_roce_qp *qp);
/** Forgets answers that wait to be sent. */
void vf_responder_quiet(struct vf_roce_qp *qp);
/** Makes the next response, ACK or NAK, in the order of their PSNs. */
enum vf_step vf_responder_next(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx);
/** Makes the ACK, NAK or CNP of a QP that is in vf_roce.answers. */
bool vf_responder_answer(struct vf_roce_qp *qp, vf_nsec now, struct vf_roce_tx *tx);
static inline bool vf_responder_has_answers(const struct vf_roce_qp *qp)
{
	return qp->resp.answer.is_pending || qp->resp.rd_pending;
}
/** A positive ACK of everything so far is due; never replaces a NAK that waits. */
void vf_responder_ack(struct vf_roce_qp *qp);
void vf_responder_nak(struct vf_roce_qp *qp, uint8_t syndrome, uint32_t psn);
/** The memory of the read response @psn cannot be had: NAK, and the QP ends. */
void vf_responder_read_failed(struct vf_roce_qp *qp, uint32_t psn, int err);
void vf_responder_tx_fault(struct vf_roce_qp *qp, const struct vf_roce_tx *tx);
void vf_responder_saw_mark(struct vf_roce_qp *qp, vf_nsec now);
/** Ends the QP for what a request did: NAK @syndrome for @psn, @status for the receive that it used
 * (if any), event. */
struct vf_resp_failure {
	uint8_t syndrome;
	uint32_t psn;
	enum vf_roce_wc_status status;
	int event; /* enum vf_roce_event, -1: none */
};
void vf_responder_fail(struct vf_roce_qp *qp, const struct vf_resp_failure *f);
/** Keeps a read or atomic for its answer; false: more than agreed. */
bool vf_responder_keep(struct vf_roce_qp *qp, const struct vf_rd_resource *res);
bool vf_responder_can_keep(const struct vf_roce_qp *qp);
/** The read or atomic whose answer @psn belongs to; NULL when it is no longer kept. */
struct vf_rd_resource *vf_responder_kept(struct vf_roce_qp *qp, uint32_t psn);
/** Answers a kept one again, from @psn on. */
void vf_responder_replay(struct vf_roce_qp *qp, struct vf_rd_resource *res, uint32_t psn);

/* ud.c, mcast.c */
void vf_ud_receive(struct vf_roce_qp *qp, vf_nsec now, const struct vf_packet *pkt);
void vf_mcast_receive(struct vf_roce *r, vf_nsec now, const struct vf_packet *pkt);
void vf_mcast_detach_all(struct vf_roce_qp *qp);

static inline void vf_qp_drop(struct vf_roce_qp *qp, enum vf_roce_drop why)
{
	vf_count_drop(qp->cfg.counters, why);
}

#endif

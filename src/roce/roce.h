/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_ROCE_H
#define VF_ROCE_ROCE_H
/*
 * The RoCEv2 engine: an InfiniBand transport (RC, UC, UD) that is only protocol. No sockets, clock, threads or
 * stdio; memory is taken when objects are created and never after. Packets, posted work and the time go in; packets,
 * completions and one deadline come out. Two hosts: the soft device and the ConnectX model.
 *
 * Threads: none. The host calls one engine from one thread at a time (it holds a lock). The engine calls the host
 * (struct vf_roce_host_ops) only from inside calls made by the host; the host must not call the engine from there.
 *
 * Errors: 0 or -errno.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/bytes.h"

struct vf_roce;	    /* one engine: QP number space, flows, timers */
struct vf_roce_qp;  /* one queue pair */
struct vf_roce_srq; /* one shared receive queue */

#define VF_ROCE_QPN_MASK 0xffffffu
#define VF_ROCE_QPN_MULTICAST 0xffffffu
#define VF_ROCE_QPN_GSI 1u
#define VF_ROCE_SLOT_SHIFT 16 /* QPN = process slot (8 bits) | index (16 bits) */
#define VF_ROCE_MTU_MAX 4096u
#define VF_ROCE_HEADERS_MAX 64u /* BTH and every extension header that can follow it */
#define VF_ROCE_SGE_MAX 32u
#define VF_ROCE_INLINE_MAX 1024u
#define VF_ROCE_MSG_MAX (UINT32_C(1) << 31)

enum vf_roce_type { VF_ROCE_RC, VF_ROCE_UC, VF_ROCE_UD };

/* Same order and numbers as enum ibv_qp_state. */
enum vf_roce_state {
	VF_ROCE_RESET,
	VF_ROCE_INIT,
	VF_ROCE_RTR,
	VF_ROCE_RTS,
	VF_ROCE_SQD,
	VF_ROCE_SQE,
	VF_ROCE_ERR
};

/* Same bits as enum ibv_access_flags. */
enum vf_roce_access {
	VF_ROCE_LOCAL_WRITE = 1 << 0,
	VF_ROCE_REMOTE_WRITE = 1 << 1,
	VF_ROCE_REMOTE_READ = 1 << 2,
	VF_ROCE_REMOTE_ATOMIC = 1 << 3,
};

/* Same numbers as enum ibv_wr_opcode. */
enum vf_roce_wr_opcode {
	VF_ROCE_WR_RDMA_WRITE,
	VF_ROCE_WR_RDMA_WRITE_WITH_IMM,
	VF_ROCE_WR_SEND,
	VF_ROCE_WR_SEND_WITH_IMM,
	VF_ROCE_WR_RDMA_READ,
	VF_ROCE_WR_ATOMIC_CMP_AND_SWP,
	VF_ROCE_WR_ATOMIC_FETCH_AND_ADD,
	VF_ROCE_WR_LOCAL_INV,
	VF_ROCE_WR_BIND_MW,
	VF_ROCE_WR_SEND_WITH_INV,
};

/* Same bits as enum ibv_send_flags. */
enum vf_roce_send_flags {
	VF_ROCE_SEND_FENCE = 1 << 0,
	VF_ROCE_SEND_SIGNALED = 1 << 1,
	VF_ROCE_SEND_SOLICITED = 1 << 2,
	VF_ROCE_SEND_INLINE = 1 << 3,
};

/* Same numbers as enum ibv_wc_status. */
enum vf_roce_wc_status {
	VF_ROCE_WC_SUCCESS,
	VF_ROCE_WC_LOC_LEN_ERR,
	VF_ROCE_WC_LOC_QP_OP_ERR,
	VF_ROCE_WC_LOC_EEC_OP_ERR,
	VF_ROCE_WC_LOC_PROT_ERR,
	VF_ROCE_WC_WR_FLUSH_ERR,
	VF_ROCE_WC_MW_BIND_ERR,
	VF_ROCE_WC_BAD_RESP_ERR,
	VF_ROCE_WC_LOC_ACCESS_ERR,
	VF_ROCE_WC_REM_INV_REQ_ERR,
	VF_ROCE_WC_REM_ACCESS_ERR,
	VF_ROCE_WC_REM_OP_ERR,
	VF_ROCE_WC_RETRY_EXC_ERR,
	VF_ROCE_WC_RNR_RETRY_EXC_ERR,
};

/* Same numbers as enum ibv_wc_opcode. */
enum vf_roce_wc_opcode {
	VF_ROCE_WC_SEND,
	VF_ROCE_WC_RDMA_WRITE,
	VF_ROCE_WC_RDMA_READ,
	VF_ROCE_WC_COMP_SWAP,
	VF_ROCE_WC_FETCH_ADD,
	VF_ROCE_WC_BIND_MW,
	VF_ROCE_WC_LOCAL_INV,
	VF_ROCE_WC_RECV = 1 << 7,
	VF_ROCE_WC_RECV_RDMA_WITH_IMM,
};

/* Same bits as enum ibv_wc_flags. */
enum vf_roce_wc_flags {
	VF_ROCE_WC_GRH = 1 << 0,
	VF_ROCE_WC_WITH_IMM = 1 << 1,
	VF_ROCE_WC_WITH_INV = 1 << 3,
};

/* What can happen to a QP or SRQ besides completions. */
enum vf_roce_event {
	VF_ROCE_EVENT_COMM_EST,		/* a packet came while in RTR */
	VF_ROCE_EVENT_SQ_DRAINED,	/* SQD reached with nothing in flight */
	VF_ROCE_EVENT_QP_FATAL,		/* broken invariant, or the host asked for it */
	VF_ROCE_EVENT_QP_REQ_ERR,	/* responder saw an invalid request */
	VF_ROCE_EVENT_QP_ACCESS_ERR,	/* responder saw an access violation */
	VF_ROCE_EVENT_LAST_WQE_REACHED, /* QP in error took its last WQE from an SRQ */
	VF_ROCE_EVENT_SRQ_LIMIT,
};

/* Where packets go. Addresses are GIDs in wire order; IPv4 is ::ffff:a.b.c.d, and both are of one family. */
struct vf_roce_path {
	uint8_t sgid[16];
	uint8_t dgid[16];
	uint32_t flow_label;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t sl;
	uint8_t sgid_index;
	uint32_t host_tag; /* the host's own (interface index, say); the engine only carries it */
};

struct vf_roce_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/* A send work request. Which fields count depends on the opcode. Copied by vf_roce_post_send. */
struct vf_roce_send_wr {
	uint64_t wr_id;
	enum vf_roce_wr_opcode opcode;
	unsigned flags; /* enum vf_roce_send_flags */
	uint32_t imm_or_rkey; /* immediate as the four bytes lie in memory, or the rkey to invalidate (host order) */
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;
	const struct vf_roce_path *path; /* UD only */
	uint32_t remote_qpn, remote_qkey; /* UD only */
	const void *bind; /* BIND_MW: handed to mem_bind as it is; at most 64 bytes, copied */
	uint32_t bind_len;
	unsigned sge_count;
	const struct vf_roce_sge *sge; /* with SEND_INLINE: addr is a pointer in the caller's memory, lkey unused */
};

struct vf_roce_recv_wr {
	uint64_t wr_id;
	unsigned sge_count;
	const struct vf_roce_sge *sge;
};

/* One completion, on its way to the host's completion queue. */
struct vf_roce_cqe {
	void *cq;	  /* the host's, from vf_roce_qp_config */
	void *qp_host;	  /* the host's */
	uint64_t wr_id;
	enum vf_roce_wc_status status;
	enum vf_roce_wc_opcode opcode;
	uint32_t vendor_err; /* 0, or enum vf_roce_drop / own code that says more about the status */
	uint32_t byte_len;
	uint32_t imm_or_rkey; /* as in the send work request */
	uint32_t qpn, src_qp;
	unsigned wc_flags;
	uint8_t sl;
	bool solicited; /* counts for a solicited-only request for notification (errors do too) */
};

/* What a message's memory is wanted for. */
struct vf_roce_mem {
	void *qp_host; /* whose access: the host knows its PD */
	uint32_t key;
	uint64_t addr;
	uint64_t len;
	unsigned access;	/* enum vf_roce_access; 0 is local read */
	bool is_remote;		/* rkey of a packet, rather than lkey of a work request */
};

/*
 * The host. mem_* may be asked about keys and addresses that came from the network: answer every input.
 * "iov" results need to stay valid only until the engine's next call of the host or its return, except those handed on in
 * struct vf_roce_tx, which stay valid until the host that asked for packets has sent them.
 */
struct vf_roce_host_ops {
	/* Is the whole access allowed? 0, or -EINVAL (no such key), -EACCES (rights, PD, QP), -ERANGE (bounds). */
	int (*mem_check)(void *host, const struct vf_roce_mem *m);
	/* Memory of one packet's worth (m->len <= 4096): fills iov, returns how many (1..max), or as mem_check. */
	int (*mem_map)(void *host, const struct vf_roce_mem *m, struct iovec *iov, int max);
	/* Copies, surviving memory that is gone: 0 or -EFAULT. */
	int (*mem_write)(void *host, const struct iovec *iov, int count, const void *from,
			 size_t len);
	int (*mem_read)(void *host, const struct iovec *iov, int count, void *to, size_t len);
	/* One atomic on 8 aligned bytes, atomic towards this host's CPUs too. is_swap: compare with compare_add, store swap. */
	int (*mem_atomic)(void *host, const struct iovec *iov, bool is_swap, uint64_t compare_add,
			  uint64_t swap,
			  uint64_t *original);
	/* Work requests that change keys: 0 or -errno (then MW_BIND_ERR / LOC_PROT_ERR / remote access error). */
	int (*mem_bind)(void *host, void *qp_host, const void *bind, uint32_t len);
	int (*mem_invalidate)(void *host, void *qp_host, uint32_t rkey, bool is_remote);

	void (*complete)(void *host, const struct vf_roce_cqe *cqe);
	void (*qp_event)(void *host, void *qp_host, enum vf_roce_event event);
	void (*srq_event)(void *host, void *srq_host, enum vf_roce_event event);
};

/* Counters, one set for each port; names as the Linux kernel has them where it has them (see vf_roce_counter_name). */
enum vf_roce_counter {
	VF_CNT_RCVD_PKTS,
	VF_CNT_SENT_PKTS,
	VF_CNT_RCVD_BYTES,
	VF_CNT_SENT_BYTES,
	VF_CNT_DUPLICATE_REQUEST,
	VF_CNT_OUT_OF_SEQUENCE,	    /* responder: PSN gaps seen */
	VF_CNT_PACKET_SEQ_ERR,	    /* requester: NAK sequence error received */
	VF_CNT_IMPLIED_NAK_SEQ_ERR, /* requester: response PSN beyond the expected */
	VF_CNT_RNR_NAK_SENT,
	VF_CNT_RNR_NAK_RCVD,
	VF_CNT_RNR_NAK_RETRY_ERR,   /* RNR retries used up */
	VF_CNT_LOCAL_ACK_TIMEOUT_ERR,
	VF_CNT_RETRY_EXCEEDED_ERR,
	VF_CNT_RETRANSMITTED_PKTS,
	VF_CNT_ACKS_SENT,
	VF_CNT_ACKS_RCVD,
	VF_CNT_RESP_LOCAL_LENGTH_ERROR,
	VF_CNT_RESP_CQE_ERROR,
	VF_CNT_REQ_CQE_ERROR,
	VF_CNT_RESP_REMOTE_ACCESS_ERRORS,
	VF_CNT_REQ_REMOTE_ACCESS_ERRORS,
	VF_CNT_REQ_REMOTE_INVALID_REQUEST,
	VF_CNT_RX_WRITE_REQUESTS,
	VF_CNT_RX_READ_REQUESTS,
	VF_CNT_RX_ATOMIC_REQUESTS,
	VF_CNT_RX_ICRC_ENCAPSULATED, /* packets whose ICRC was wrong: counted by the host of the sockets */
	VF_CNT_NP_CNP_SENT,
	VF_CNT_RP_CNP_HANDLED,
	VF_CNT_FLOW_STALLS,	    /* times that a flow waited for its peer's credit */
	VF_CNT_FLOW_UPDATES_SENT,
	VF_CNT_FLOW_UPDATES_RCVD,
	VF_CNT_FORWARDED_PKTS,	    /* counted by the host of the sockets, as are those below: handed to the slot's process */
	VF_CNT_SOCKET_OVERFLOWS,    /* datagrams that the system dropped for want of receive buffer */
	VF_CNT_IMPAIR_DUPLICATED,   /* on purpose, as the next three (what was lost: VF_DROP_IMPAIR) */
	VF_CNT_IMPAIR_REORDERED,
	VF_CNT_IMPAIR_DELAYED,
	VF_CNT_IMPAIR_CORRUPTED,
	VF_CNT_DROP_FIRST,	    /* then one for each enum vf_roce_drop */
};

/* Why a packet was dropped: each has a counter and a name. Append only. */
enum vf_roce_drop {
	VF_DROP_TOO_SHORT,
	VF_DROP_BAD_VERSION,
	VF_DROP_BAD_OPCODE,	/* reserved, or not of this QP's type */
	VF_DROP_BAD_LENGTH,	/* payload does not fit opcode, pad or path MTU */
	VF_DROP_BAD_PKEY,
	VF_DROP_NO_QP,
	VF_DROP_QP_STATE,
	VF_DROP_WRONG_ADDRESS,	/* not from the QP's peer, or not to its own address */
	VF_DROP_BAD_QKEY,
	VF_DROP_NO_RECEIVE,	/* UC/UD: nothing posted */
	VF_DROP_RECEIVE_TOO_SMALL, /* UC/UD */
	VF_DROP_SEQUENCE,	/* UC: message broken by a gap; RC: opcode sequence after NAK */
	VF_DROP_DUPLICATE,	/* RC: served again or ignored */
	VF_DROP_AFTER_NAK,	/* RC: waiting for the PSN that the NAK named */
	VF_DROP_STALE_RESPONSE,
	VF_DROP_GHOST_ACK,	/* acknowledges what was never sent */
	VF_DROP_ACCESS,		/* UC: write refused */
	VF_DROP_NO_MULTICAST,	/* nobody attached */
	VF_DROP_FLOW,		/* malformed flow-control packet */
	VF_DROP_READ_LIMIT,	/* more reads/atomics in flight than agreed */
	VF_DROP_ICRC,		/* counted by the host of the sockets */
	VF_DROP_SOCKET,		/* could not be sent: the host of the sockets */
	VF_DROP_IMPAIR,		/* lost on purpose */
	VF_DROP_COUNT
};

#define VF_CNT_COUNT ((int)VF_CNT_DROP_FIRST + (int)VF_DROP_COUNT)

struct vf_roce_counters {
	uint64_t value[VF_CNT_COUNT];
};

/** Name as `verbifrost info --counters` prints it ("out_of_sequence", "drop_bad_qkey"); NULL out of range. */
const char *vf_roce_counter_name(int counter);
const char *vf_roce_drop_name(enum vf_roce_drop drop);

/* ---- the engine ---- */

struct vf_roce_config {
	const struct vf_roce_host_ops *ops;
	void *host;
	uint64_t seed;		 /* of everything random inside (first epoch, jitter) */
	struct vf_roce_counters *counters; /* where packets that belong to no QP are counted */
	unsigned slot;		 /* 0..255: high bits of every QPN handed out */
	uint32_t rx_budget_bytes; /* what the host's receive buffer bears, in the flow's cost units (flow.h) */
	uint32_t max_qps;	 /* up to 65536 - 16 */
	bool is_flow_off;	 /* never speak flow control (tests, the ConnectX model) */
};

/** -ENOMEM, -EINVAL. */
int vf_roce_create(const struct vf_roce_config *cfg, struct vf_roce **out);
/** All QPs and SRQs must have been destroyed. */
void vf_roce_destroy(struct vf_roce *r);

/* A packet that came in. The host has checked the ICRC and the slot. */
struct vf_roce_rx {
	const uint8_t *data; /* from the BTH on */
	uint32_t len;	     /* without ICRC */
	uint8_t sgid[16], dgid[16]; /* from the IP header; multicast dgid as it was sent to */
	uint8_t traffic_class, hop_limit;
	uint32_t host_tag; /* for the path of an answer to a sender that no QP knows (flow control) */
};

/** Takes packets in the order in which they came. Completions and events are delivered before it returns. */
void vf_roce_receive(struct vf_roce *r, vf_nsec now, const struct vf_roce_rx *rx, unsigned count);

/** Runs what is due. */
void vf_roce_tick(struct vf_roce *r, vf_nsec now);

/** When vf_roce_tick is due next; VF_NSEC_NEVER when nothing waits. 0 means that transmit has work now. */
vf_nsec vf_roce_deadline(const struct vf_roce *r);

#define VF_ROCE_TX_IOV (VF_ROCE_SGE_MAX + 1)

/* A packet to send: headers, then payload by reference, then pad zeros, then the ICRC, which the host adds. */
struct vf_roce_tx {
	const struct vf_roce_path *path;
	struct vf_roce_counters *counters; /* of the port that sends it */
	void *qp_host;			   /* NULL for packets of no QP */
	uint8_t headers[VF_ROCE_HEADERS_MAX];
	uint8_t header_len;
	uint8_t pad_len;
	uint8_t iov_count;
	bool is_volatile; /* payload may change while it is being sent (read responses): copy once, then CRC the copy */
	uint32_t payload_len;
	uint32_t udp_sport; /* suggested: rxe's rule, see facts; a host with one socket ignores it */
	struct iovec iov[VF_ROCE_TX_IOV];
	uint64_t fault_token; /* for vf_roce_tx_fault */
};

/**
 * Fills up to @max packets, in sending order, runs of equal-sized packets of one QP together. Returns how many; fewer than @max
 * means that there is no more to send now. The host sends them before it calls the engine again.
 */
unsigned vf_roce_transmit(struct vf_roce *r, vf_nsec now, struct vf_roce_tx *tx, unsigned max);

/** The host met -EFAULT reading this packet's payload: the operation ends (LOC_PROT_ERR, or NAK to the reader). */
void vf_roce_tx_fault(struct vf_roce *r, vf_nsec now, const struct vf_roce_tx *tx);

/* ---- queue pairs ---- */

struct vf_roce_qp_config {
	enum vf_roce_type type;
	void *qp_host, *send_cq, *recv_cq;
	struct vf_roce_counters *counters; /* of its port */
	struct vf_roce_srq *srq;	   /* NULL: own receive queue */
	uint32_t send_max, recv_max;	   /* queue depths, as granted */
	uint32_t send_sge_max, recv_sge_max, inline_max;
	bool is_sig_all;
	bool is_gsi; /* QPN 1: the host routes to it */
};

/** -ENOMEM, -EINVAL, -ENOSPC (no QP number free). The QPN is new: not one of the last freed. */
int vf_roce_qp_create(struct vf_roce *r, const struct vf_roce_qp_config *cfg,
		      struct vf_roce_qp **out);
/** Any state. Nothing is completed; the host removes its own completions. */
void vf_roce_qp_destroy(struct vf_roce_qp *qp);
uint32_t vf_roce_qp_qpn(const struct vf_roce_qp *qp);
enum vf_roce_state vf_roce_qp_state(const struct vf_roce_qp *qp);
void *vf_roce_qp_host(const struct vf_roce_qp *qp);
/** NULL when there is none. */
struct vf_roce_qp *vf_roce_qp_find(struct vf_roce *r, uint32_t qpn);

/* Which fields of vf_roce_qp_attr count. */
enum vf_roce_attr_mask {
	VF_ROCE_ATTR_STATE = 1 << 0,
	VF_ROCE_ATTR_PATH = 1 << 1,
	VF_ROCE_ATTR_MTU = 1 << 2,
	VF_ROCE_ATTR_DEST_QPN = 1 << 3,
	VF_ROCE_ATTR_RQ_PSN = 1 << 4,
	VF_ROCE_ATTR_SQ_PSN = 1 << 5,
	VF_ROCE_ATTR_MAX_RD_ATOMIC = 1 << 6,
	VF_ROCE_ATTR_MAX_DEST_RD_ATOMIC = 1 << 7,
	VF_ROCE_ATTR_MIN_RNR_TIMER = 1 << 8,
	VF_ROCE_ATTR_TIMEOUT = 1 << 9,
	VF_ROCE_ATTR_RETRY_CNT = 1 << 10,
	VF_ROCE_ATTR_RNR_RETRY = 1 << 11,
	VF_ROCE_ATTR_QKEY = 1 << 12,
	VF_ROCE_ATTR_ACCESS = 1 << 13,
};

struct vf_roce_qp_attr {
	enum vf_roce_state state;
	struct vf_roce_path path;
	uint32_t mtu_bytes; /* 256..4096 */
	uint32_t dest_qpn, rq_psn, sq_psn, qkey;
	uint8_t max_rd_atomic, max_dest_rd_atomic; /* 0..128 */
	uint8_t min_rnr_timer; /* code 0..31 */
	uint8_t timeout;       /* code 0..31; 0 is for ever */
	uint8_t retry_cnt, rnr_retry; /* 0..7; 7 is for ever for rnr_retry; retry_cnt 7 is seven */
	unsigned access; /* remote rights of the QP, enum vf_roce_access */
};

/**
 * Sets fields and makes the state move. The host has checked that the move is legal for the type and that
 * the mask is what the specification asks (IBTA 11.2.5.2); the engine refuses only what would break it (-EINVAL).
 * Moving to ERR flushes; to RESET forgets everything, quietly; to SQD stops sending, SQ_DRAINED follows.
 */
int vf_roce_qp_modify(struct vf_roce_qp *qp, vf_nsec now, const struct vf_roce_qp_attr *attr,
		      unsigned mask);
/** Everything as set, PSNs as they stand (sq_psn: next to send, rq_psn: next expected). is_draining: in SQD with work in flight. */
void vf_roce_qp_query(const struct vf_roce_qp *qp, struct vf_roce_qp_attr *out, bool *is_draining);

/** -ENOMEM (queue full), -EINVAL (state, opcode of the type, sge count, lengths, inline too long). */
int vf_roce_post_send(struct vf_roce_qp *qp, const struct vf_roce_send_wr *wr);
/** Would @wr be taken by vf_roce_post_send if @ahead others were posted before it? The same errors; nothing changes. */
int vf_roce_post_check(const struct vf_roce_qp *qp, const struct vf_roce_send_wr *wr,
		       uint32_t ahead);
/** As vf_roce_post_send; -EINVAL on a QP with an SRQ. Allowed in INIT. In ERR the request is flushed at once. */
int vf_roce_post_recv(struct vf_roce_qp *qp, const struct vf_roce_recv_wr *wr);
/** Ends the QP on the host's behalf: ERR, flush, and @event when it is not negative. */
void vf_roce_qp_fail(struct vf_roce_qp *qp, vf_nsec now, int event);

/* ---- shared receive queues ---- */

struct vf_roce_srq_config {
	void *srq_host;
	uint32_t max, sge_max;
	uint32_t limit; /* 0: none */
};

int vf_roce_srq_create(struct vf_roce *r, const struct vf_roce_srq_config *cfg,
		       struct vf_roce_srq **out);
/** No QP may use it any more. */
void vf_roce_srq_destroy(struct vf_roce_srq *srq);
int vf_roce_srq_post(struct vf_roce_srq *srq, const struct vf_roce_recv_wr *wr);
/** Arms the limit event (fires once, when fewer than @limit remain); 0 disarms. -EINVAL above the size. */
int vf_roce_srq_set_limit(struct vf_roce_srq *srq, uint32_t limit);
/** -EINVAL when fewer than what is posted now; -ENOMEM. */
int vf_roce_srq_resize(struct vf_roce_srq *srq, uint32_t max);
void vf_roce_srq_query(const struct vf_roce_srq *srq, uint32_t *max, uint32_t *limit);

/* ---- UD multicast ---- */

/** UD only: -EINVAL; twice is fine; -ENOMEM. Who is attached gets its own copy of each packet to @mgid. */
int vf_roce_mcast_attach(struct vf_roce_qp *qp, const uint8_t mgid[16]);
/** -ENOENT when it was not attached. Destroying the QP detaches. */
int vf_roce_mcast_detach(struct vf_roce_qp *qp, const uint8_t mgid[16]);

/* ---- small facts that hosts need too ---- */

/** RNR timer code 0..31 in nanoseconds (IBTA 9.7.5.2.8, table 46: 0 is 655.36 ms, 1 is 0.01 ms, 31 is 491.52 ms). */
vf_nsec vf_roce_rnr_ns(unsigned code);
/** Local ACK time-out code 0..31: 4.096 us * 2^code; VF_NSEC_NEVER for 0 (IBTA 9.7.6.1.3). */
vf_nsec vf_roce_timeout_ns(unsigned code);
bool vf_roce_gid_is_ipv4(const uint8_t gid[16]);

/** For tests and the end of a process: true when every pool is full again and every list is empty. */
bool vf_roce_is_idle(const struct vf_roce *r);

#endif

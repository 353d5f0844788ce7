/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_NET_STATE_H
#define VF_PROVIDER_SOFT_NET_STATE_H
/*
 * What the files of the network side share. Nobody else includes this.
 *
 * Locks, in the order in which they are taken:
 *   the process's   (net.c)  which net there is, and how many use it
 *   rx_lock         the receive buffers, forwarding, steering
 *   lock            the engine, sending, everything that the objects' callbacks touch
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "provider/soft/impair.h"
#include "provider/soft/ip_id.h"
#include "provider/soft/net.h"
#include "provider/soft/order.h"
#include "provider/soft/pcap.h"
#include "roce/icrc.h"

#define NET_ICRC_LEN	4u
#define NET_BTH_LEN	12u
#define NET_PACKET_MAX	(VF_ROCE_HEADERS_MAX + VF_ROCE_MTU_MAX + 8u)
#define NET_RX_BUFFERS	8u
#define NET_RX_BYTES	65536u
#define NET_RX_PACKETS	512u
#define NET_TX_BATCH	64u
#define NET_TX_IOV	1024u
#define NET_TRAILER_MAX 8u
#define NET_WRAPPER_LEN 56u /* what packets between processes of this host have in front */
/* BTH opcode of the manufacturer range: asks who sits at a position of the shared port. */
#define NET_PROBE_OPCODE 0xdfu

enum net_socket_id { NET_V4, NET_V6, NET_PRIVATE, NET_SOCKETS };
enum net_icrc_mode { NET_ICRC_CHECK, NET_ICRC_NOCHECK, NET_ICRC_OFF };

/*
 * Who calls for a round. A caller that polls all the time will be back in a moment: what its round
 * gives to send may wait for the next one, or go out together with what the caller posts until
 * then.
 */
enum net_caller { NET_CALLER_THREAD, NET_CALLER_POLL, NET_CALLER_SPIN };

struct net_socket {
	struct vf_os_udp *udp; /* NULL: this host has none of the kind */
	vf_nsec active;	       /* something came in last */
	unsigned ask_for;      /* buffers at the next receive: few while little comes */
	uint64_t overflows;    /* counted so far */
	unsigned segments;     /* limits of one send */
	uint32_t segment_bytes;
};

struct net_rx {
	uint8_t *memory;
	struct vf_os_udp_recv msg[NET_RX_BUFFERS];
	struct vf_roce_rx packet[NET_RX_PACKETS];
	unsigned count;
	struct vf_icrc_hint hint;
	struct vf_ip_ids ids;
	/* counted while only rx_lock is held */
	uint32_t dropped[VF_DROP_COUNT], forwarded;
	unsigned rounds, idle; /* idle: in a row, nothing came to a caller */
	struct vf_order straight, uc;
	bool is_straight;	/* what is being taken is in order already */
	vf_nsec now;		/* of this round */
	enum net_caller caller; /* of this round */
};

struct net_tx {
	struct vf_roce_tx packet[NET_TX_BATCH];
	struct iovec iov[NET_TX_IOV];
	uint8_t trailer[NET_TX_BATCH][NET_TRAILER_MAX];
	uint8_t (*stage)[VF_ROCE_MTU_MAX]; /* NET_TX_BATCH payloads that were copied */
	bool is_faulty[NET_TX_BATCH];
	uint8_t wrapper[NET_WRAPPER_LEN];    /* of the send under way */
	uint32_t epoch, number[VF_OS_SLOTS]; /* order.h: of the next send straight to a slot */
	uint8_t order[NET_TX_BATCH];	     /* in which the packets leave */
	vf_nsec complained;
	struct net_unsegmented {
		uint8_t gid[16];
		vf_nsec until;
	} unsegmented[16]; /* destinations where segmented sends fail */
};

/* One family's group of sockets on the shared port. */
struct net_steer {
	int slot_of[VF_OS_SLOTS];
	unsigned asked, answered; /* probes */
	uint64_t nonce;
	vf_nsec deadline; /* of the question that is out; VF_NSEC_NEVER: none is */
	vf_nsec again;	  /* not before */
	vf_nsec backoff;
	vf_nsec give_up; /* waiting for a complete table */
	bool is_waiting;
	bool is_wanted, is_second;
	bool was_asked; /* by another process, while asking */
};

struct net_watch {
	int fd; /* -1: nobody holds the slot, or it is not watched */
	unsigned users;
};

struct net_group { /* multicast membership, counted */
	struct vf_list link;
	uint8_t mgid[16];
	unsigned if_index, users;
};

struct vf_soft_net {
	pthread_mutex_t lock, rx_lock;
	struct vf_roce *engine;
	struct vf_os_slot *slot;
	unsigned slot_number;
	uint16_t port;
	struct net_socket socket[NET_SOCKETS];
	uint8_t private_gid[16];
	uint16_t private_port;
	enum net_icrc_mode icrc;
	struct vf_pcap *pcap;
	bool is_impaired;
	struct vf_impair impair;
	struct net_rx rx;
	struct net_tx tx;
	struct net_steer steer[2];
	struct net_watch watch[VF_OS_SLOTS];
	struct vf_list groups;

	/* the progress thread */
	pthread_t thread;
	bool has_thread, is_orphan; /* orphan: a forked child's view of its parent's */
	atomic_bool is_stopping, is_leaning;
	struct vf_os_wake wake;
	int if_watch;
	atomic_uint polls;	   /* calls of vf_soft_net_progress */
	_Atomic vf_nsec last_poll; /* when the last round of one began */
	atomic_int armed;
	_Atomic vf_nsec sleeps_until; /* 0: it is awake, or leaves the work to pollers */
	_Atomic vf_nsec deadline;     /* the engine's and the held packets', as of the last flush */
	_Atomic vf_nsec steer_deadline;
	_Atomic vf_nsec order_deadline;
};

/* net_sockets.c */
int net_sockets_open(struct vf_soft_net *net);
void net_sockets_close(struct vf_soft_net *net);
/** Tries again for the private socket (the loopback interface may have come up). */
void net_private_open(struct vf_soft_net *net);
uint32_t net_rx_budget(const struct vf_soft_net *net);

/* net_rx.c; rx_lock held */
int net_rx_open(struct vf_soft_net *net);
void net_rx_close(struct vf_soft_net *net);
/** One round: what is due, then everything that is in the sockets. True: packets came. */
bool net_rx_round(struct vf_soft_net *net, enum net_caller caller);
/** Lines a packet up for the engine. */
void net_rx_queue(struct vf_soft_net *net, const struct vf_roce_rx *p);
/** Gives the engine what was taken so far: the bytes may go afterwards. */
void net_rx_deliver(struct vf_soft_net *net);
/** What is due alone. */
void net_rx_due(struct vf_soft_net *net);
/** Takes @len bytes that came from the wire to this process; @segment_len each but the last. */
void net_rx_take(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		 uint32_t len, uint32_t segment_len);

/* net_tx.c; lock held */
int net_tx_open(struct vf_soft_net *net);
void net_tx_close(struct vf_soft_net *net);
/** Everything due and everything to send; leaves the next deadline in net->deadline. */
void net_tx_run(struct vf_soft_net *net, vf_nsec now);
/** One send with a short bounded wait for room. 0 or -errno. */
int net_tx_send(struct vf_soft_net *net, struct net_socket *s, const struct vf_os_udp_send *m);
struct net_socket *net_tx_socket(struct vf_soft_net *net, const uint8_t dgid[16]);
void net_tx_drop(struct vf_roce_counters *c, enum vf_roce_drop why);

/* net_impaired.c; lock held */
/** @slot: straight to this one; -1: by the shared port. */
void net_impaired_send(struct vf_soft_net *net, vf_nsec now, const struct vf_os_udp_send *m,
		       int slot, struct vf_roce_counters *c);
void net_impaired_release(struct vf_soft_net *net, vf_nsec now);

/* net_forward.c; rx_lock held */
void net_forward(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		 uint32_t len, uint32_t segment_len);
void net_forward_received(struct vf_soft_net *net, const struct vf_os_udp_recv *m);
void net_forward_answer(struct vf_soft_net *net, unsigned to_slot, const uint8_t answer[16]);
/** Can packets go straight to the private sockets of other processes? */
bool net_has_direct(const struct vf_soft_net *net);
/** What goes in front of each packet of @a's that is sent straight to the process of its slot. */
void net_wrap(const struct vf_os_udp_addr *a, uint32_t segment_len, uint8_t out[NET_WRAPPER_LEN]);
/** Turns @a into the private address of @slot; -ENOENT when it has none. */
int net_direct_address(const struct vf_soft_net *net, unsigned slot, struct vf_os_udp_addr *a);
/** The number of the next send straight to @slot into its wrapper; and, once it is sent, on to the
 * next. */
void net_number(struct vf_soft_net *net, unsigned slot, uint8_t wrapper[NET_WRAPPER_LEN]);
void net_numbered(struct vf_soft_net *net, unsigned slot);
/** The bytes of one straight send, in turn. */
void net_forward_take_send(struct vf_soft_net *net, const uint8_t *data, uint32_t len);
void net_forward_init(struct vf_soft_net *net);
/** Is it the private address of some slot? */
bool net_is_private(const struct vf_soft_net *net, const uint8_t gid[16], uint16_t port);

/* net_order.c; rx_lock held */
void net_order_init(struct vf_soft_net *net);
void net_order_close(struct vf_soft_net *net);
/** One straight send: to net_forward_take_send in its turn. */
void net_order_straight(struct vf_soft_net *net, const struct vf_order_tag *tag,
			const uint8_t *data, uint32_t len);
/** Is it one that must be put in order? Then to net_order_uc, and from there to net_rx_queue in its
 * turn. */
bool net_order_wants(const struct vf_soft_net *net, const struct vf_roce_rx *p);
void net_order_uc(struct vf_soft_net *net, const struct vf_roce_rx *p);
/** Stops waiting for what did not come. */
void net_order_expire(struct vf_soft_net *net, vf_nsec now);

/* net_steer.c; rx_lock held */
void net_steer_start(struct vf_soft_net *net);
/** The private socket is there at last. */
void net_steer_again(struct vf_soft_net *net);
void net_steer_missed(struct vf_soft_net *net, const struct vf_os_udp_addr *a);
void net_steer_probed(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		      uint32_t len);
void net_steer_answered(struct vf_soft_net *net, const uint8_t answer[16]);
void net_steer_run(struct vf_soft_net *net, vf_nsec now);

/* net_watch.c */
void net_watch_init(struct vf_soft_net *net);
void net_watch_close(struct vf_soft_net *net);
/** Lock held: the process that held @slot hung up. */
void net_watch_hung_up(struct vf_soft_net *net, unsigned slot);

/* net_thread.c */
int net_thread_start(struct vf_soft_net *net);
void net_thread_stop(struct vf_soft_net *net);
void net_thread_wake(struct vf_soft_net *net);
/** Wakes the thread when it would sleep beyond @deadline. */
void net_thread_hurry(struct vf_soft_net *net, vf_nsec deadline);
/** Without a thread, and now and then: interfaces, slots, watches. */
void net_thread_housekeeping(struct vf_soft_net *net);

static inline bool net_is_ipv4(const uint8_t gid[16]) { return vf_roce_gid_is_ipv4(gid); }

static inline bool net_is_multicast(const uint8_t gid[16])
{
	return net_is_ipv4(gid) ? (gid[12] & 0xf0) == 0xe0 : gid[0] == 0xff;
}

#endif

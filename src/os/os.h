/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_OS_H
#define VF_OS_OS_H
/*
 * What the library needs from the system, and nothing else. linux/ and darwin/ implement it, one file for each facility. All
 * functions return 0 or -errno unless said otherwise; all descriptors are close-on-exec and non-blocking.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/bytes.h"

/* ---- clock ---- */

/** Monotonic. Never goes back. */
vf_nsec vf_os_now(void);
/** Since 1970. */
vf_nsec vf_os_wall_clock(void);
/** Unpredictable bytes (seeds, epochs). */
void vf_os_random(void *out, size_t len);

/* ---- network interfaces ---- */

#define VF_OS_IF_NAME_MAX 32
#define VF_OS_IF_ADDR_MAX 64

struct vf_os_if_addr {
	uint8_t gid[16]; /* IPv4 as ::ffff:a.b.c.d */
	bool is_link_local;
	bool is_tentative; /* not usable yet (duplicate address detection) */
};

struct vf_os_if {
	char name[VF_OS_IF_NAME_MAX];
	unsigned index;
	uint32_t mtu;
	uint8_t mac[6];
	bool has_mac, is_up, is_running, is_loopback, is_bridge_member, is_point_to_point;
	uint64_t link_bits_per_s; /* 0: unknown */
	unsigned addr_count;
	struct vf_os_if_addr addr[VF_OS_IF_ADDR_MAX]; /* system's order */
};

/** All interfaces, allocated; the caller frees *out with free(). */
int vf_os_if_list(struct vf_os_if **out, unsigned *count);
/** A descriptor that becomes readable when an interface or address changes (netlink, PF_ROUTE). */
int vf_os_if_watch_open(int *out);
/** Empties it; returns true when something that matters changed. */
bool vf_os_if_watch_drain(int fd);

/**
 * Is there a way from @sgid on interface @if_index to @dgid? *out_if is the interface to pin packets to (0: the system chooses, as for
 * addresses of this host). -ENETUNREACH, -EHOSTUNREACH, -EADDRNOTAVAIL (sgid is gone).
 */
int vf_os_route_check(const uint8_t sgid[16], const uint8_t dgid[16], unsigned if_index,
		      unsigned *out_if);
/** Is @gid an address of this host (any interface)? */
bool vf_os_is_local(const uint8_t gid[16]);

/* ---- UDP ---- */

struct vf_os_udp; /* one socket, IPv4 or IPv6 */

struct vf_os_udp_options {
	bool is_ipv6;
	bool is_shared;	    /* SO_REUSEPORT: several processes of one user */
	uint8_t bind_addr[16]; /* GID form; zero: any */
	uint16_t port;	    /* 0: any */
	uint32_t rcvbuf_bytes, sndbuf_bytes; /* asked for; what was granted: vf_os_udp_rcvbuf */
};

/** Unconnected, DF set on everything (IPv4 ID 0), UDP checksum 0 accepted over IPv6, destination address, TTL and TOS reported. */
int vf_os_udp_open(const struct vf_os_udp_options *o, struct vf_os_udp **out);
void vf_os_udp_close(struct vf_os_udp *s);
int vf_os_udp_fd(const struct vf_os_udp *s);
/** Bytes that really fit, as the system counts them (overhead included). */
uint32_t vf_os_udp_rcvbuf(const struct vf_os_udp *s);
uint16_t vf_os_udp_port(const struct vf_os_udp *s);

struct vf_os_udp_addr {
	uint8_t src[16], dst[16]; /* GID form */
	uint16_t src_port, dst_port;
	unsigned if_index; /* send: 0 lets the system choose; receive: where it came in */
	uint8_t tos, ttl;
};

/* Datagrams of one flow and one size (the last may be shorter): they go out as one segmented send where the system can. */
struct vf_os_udp_send {
	struct vf_os_udp_addr addr;
	const struct iovec *iov;
	unsigned iov_count;
	uint32_t segment_len; /* length of each datagram but the last */
	uint32_t total_len;
};

/** Can this socket send segmented, and how many segments and bytes at most? Otherwise *segments is 1. */
void vf_os_udp_segment_limits(const struct vf_os_udp *s, unsigned *segments, uint32_t *bytes);
/** How much the IPv4 ID grows from segment to segment of one send: 1 (Linux), or 0 (macOS: every datagram has ID 0). */
unsigned vf_os_udp_id_step(const struct vf_os_udp *s);

/**
 * One send. -EAGAIN: the socket is full (nothing was sent); -EMSGSIZE, -ENETUNREACH, -EHOSTUNREACH, -EADDRNOTAVAIL, -EFAULT
 * (payload memory is gone; nothing was sent), -ECONNREFUSED is never returned (pending errors are swallowed and retried).
 * With segments the IPv4 IDs on the wire are first_id + 0, 1, 2... times vf_os_udp_id_step; *first_id is 0 on the systems we know.
 */
int vf_os_udp_send(struct vf_os_udp *s, const struct vf_os_udp_send *m, uint16_t *first_id);

/* One received buffer: a datagram, or several of equal size that the system merged (the last may be shorter). */
struct vf_os_udp_recv {
	struct vf_os_udp_addr addr;
	uint8_t *buf;	 /* the caller's */
	uint32_t buf_len; /* 65536 */
	uint32_t len;	 /* in all */
	uint32_t segment_len; /* == len when not merged */
};

/** Up to @count buffers; returns how many (0: nothing there), or -errno. Never blocks. */
int vf_os_udp_recv(struct vf_os_udp *s, struct vf_os_udp_recv *m, unsigned count);
/** Datagrams that the system dropped for want of buffer, since open; UINT64_MAX when it does not say. */
uint64_t vf_os_udp_overflows(const struct vf_os_udp *s);

int vf_os_udp_mcast_join(struct vf_os_udp *s, const uint8_t mgid[16], unsigned if_index);
int vf_os_udp_mcast_leave(struct vf_os_udp *s, const uint8_t mgid[16], unsigned if_index);

/**
 * Steers the shared port: byte 5 of the payload (slot) -> position in the group of sockets; slot_of[position], @count positions.
 * Packets whose byte 0 is @probe_opcode go to the position in their byte 12. -EOPNOTSUPP where the system cannot.
 */
int vf_os_udp_steer(struct vf_os_udp *s, const int *slot_of, unsigned count, uint8_t probe_opcode);

/* ---- process slots of one host (one network namespace) ---- */

struct vf_os_slot; /* held by this process; vanishes with it, however it ends */

#define VF_OS_SLOTS 256

/** Takes a free slot, starting the search at @hint. -ENOSPC when all are taken, with a reason. */
int vf_os_slot_claim(unsigned hint, struct vf_os_slot **out);
void vf_os_slot_release(struct vf_os_slot *s);
/** After fork, in the child: closes the child's copies, leaves the parent's slot alone. */
void vf_os_slot_disown(struct vf_os_slot *s);
unsigned vf_os_slot_number(const struct vf_os_slot *s);
/** Datagrams for the owner of @slot (forwarded packets) are sent to this address; also where the owner binds. */
int vf_os_slot_address(unsigned slot, uint8_t gid[16], uint16_t *port);
/** Lets others find this process's private address, where it cannot be computed from the slot. */
int vf_os_slot_publish(struct vf_os_slot *s, const uint8_t gid[16], uint16_t port);
/**
 * A descriptor that the holder polls along with its others (-1: none); vf_os_slot_serve when it is readable. A holder that does not
 * (stopped, busy) harms nobody.
 */
int vf_os_slot_fd(const struct vf_os_slot *s);
void vf_os_slot_serve(struct vf_os_slot *s);
/** Does a live process hold @slot? */
bool vf_os_slot_is_held(unsigned slot);
/** A descriptor that becomes readable or hung up when the process that holds @slot now ends or releases it. -ENOENT: nobody holds it. */
int vf_os_slot_watch(unsigned slot, int *out);
/** Did the holder release its slot (true), or end with it (false)? Asked of a descriptor that became readable or hung up. */
bool vf_os_slot_is_left(int watch_fd);

/* ---- waiting ---- */

struct vf_os_wake {
	int read_fd, write_fd; /* may be the same */
};

int vf_os_wake_open(struct vf_os_wake *w);
void vf_os_wake_close(struct vf_os_wake *w);
/** Makes read_fd readable; never blocks; async-signal-safe. */
void vf_os_wake_set(const struct vf_os_wake *w);
/** Makes it unreadable. */
void vf_os_wake_clear(const struct vf_os_wake *w);

struct pollfd;
/** poll(2) with a time-out in nanoseconds, as finely as the system can; VF_NSEC_NEVER waits for ever. Returns what poll(2) does, or -errno. */
int vf_os_poll(struct pollfd *fds, unsigned count, vf_nsec timeout_ns);

/** Name and scheduling class for the progress thread; best effort. */
void vf_os_thread_prepare(const char *name);
/** Text like "Linux 6.1.0" for doctor; and the limits it reports. */
void vf_os_describe(char *out, size_t len);
/** Largest receive buffer that an unprivileged setsockopt is granted; 0: unknown. */
uint32_t vf_os_rcvbuf_max(void);

#endif

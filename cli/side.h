/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_SIDE_H
#define VF_CLI_SIDE_H
/*
 * The side channel of ping and bench: a TCP connection (or a socket pair) over which the two ends
 * agree what to measure and exchange queue-pair numbers, keys and results. What comes in is not
 * trusted: each frame has a magic number, the protocol version, a type that must be the one awaited
 * and a length that must be that type's. Both ends send a heartbeat each second; who hears nothing
 * for four seconds reports the other dead.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VF_SIDE_VERSION	 1
#define VF_SIDE_BODY_MAX 512
#define VF_SIDE_HEADER	 12
#define VF_SIDE_PORT	 "4791"

enum vf_side_type {
	VF_SIDE_HELLO = 1,
	VF_SIDE_CASE,	  /* what to measure, and the asker's endpoint */
	VF_SIDE_ENDPOINT, /* the other's */
	VF_SIDE_READY,
	VF_SIDE_DONE,	/* how many messages were sent */
	VF_SIDE_RESULT, /* what arrived */
	VF_SIDE_ERROR,	/* text; the connection ends */
	VF_SIDE_BEAT,
	VF_SIDE_BYE
};

struct vf_side {
	int fd;
	uint8_t in[VF_SIDE_HEADER + VF_SIDE_BODY_MAX];
	size_t have;
	uint64_t heard_ns, beat_ns;
	char error[256]; /* why the last call failed, for people */
};

void vf_side_begin(struct vf_side *s, int fd);
void vf_side_end(struct vf_side *s);

/** All return 0, or -errno with s->error set. */
int vf_side_send(struct vf_side *s, enum vf_side_type type, const void *body, size_t len);
/** Waits at most @timeout_ms for a frame of that type with a body of that length. Heartbeats go out
 * meanwhile. */
int vf_side_receive(struct vf_side *s, enum vf_side_type type, void *body, size_t len,
		    unsigned timeout_ms);
/** Waits for any frame: its type is the result, *len its length; -errno on failure. -ETIMEDOUT only
 * after @timeout_ms, 0 for ever. */
int vf_side_receive_any(struct vf_side *s, void *body, size_t *len, unsigned timeout_ms);
/** To be called often while measuring: sends and takes heartbeats, never waits. Fails when the peer
 * reported an error, closed, or is silent. */
int vf_side_beat(struct vf_side *s);
/** Whether the next frame is complete and of that type; only looks at what vf_side_beat has read.
 */
bool vf_side_has(const struct vf_side *s, enum vf_side_type type);
/** Tells the peer why this end gives up. */
void vf_side_send_error(struct vf_side *s, const char *text);

/** Sockets: listening on all addresses, and connected. The descriptor, or -1 with a complaint
 * printed. */
int vf_side_listen(const char *port);
int vf_side_connect(const char *host, const char *port, unsigned timeout_ms);

uint64_t vf_side_now(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The side channel's frames: magic (4 bytes), version (2), type (2), length of the body (4), body;
 * all big-endian.
 *
 *   asker                         answerer
 *   HELLO  ----------------------> checks the version
 *          <---------------------- HELLO
 *   CASE   ----------------------> makes its queue pair      } for each case
 *          <---------------------- ENDPOINT                  }
 *   READY  <---------------------> READY                     }
 *   DONE   ----------------------> counts what arrived       }
 *          <---------------------- RESULT                    }
 *   BYE    ---------------------->
 *
 * BEAT may come at any time and is skipped; ERROR may come instead of anything and ends it.
 */
#include "side.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"

#define MAGIC	   0x56465343u /* VFSC */
#define BEAT_NS	   (1 * VF_SEC)
#define SILENCE_NS (4 * VF_SEC)
#define SEND_MS	   4000

#ifdef MSG_NOSIGNAL
#define SEND_FLAGS MSG_NOSIGNAL
#else
#define SEND_FLAGS 0
#endif

uint64_t vf_side_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * VF_SEC + (uint64_t)ts.tv_nsec;
}

void vf_side_begin(struct vf_side *s, int fd)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->heard_ns = s->beat_ns = vf_side_now();
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void vf_side_end(struct vf_side *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int fail(struct vf_side *s, int err, const char *text)
{
	snprintf(s->error, sizeof(s->error), "%s", text);
	return -err;
}

static int wait_for(struct vf_side *s, short events, int timeout_ms)
{
	struct pollfd p = {.fd = s->fd, .events = events};

	return poll(&p, 1, timeout_ms);
}

int vf_side_send(struct vf_side *s, enum vf_side_type type, const void *body, size_t len)
{
	uint8_t frame[VF_SIDE_HEADER + VF_SIDE_BODY_MAX];
	size_t sent = 0, size = VF_SIDE_HEADER + len;

	if (len > VF_SIDE_BODY_MAX)
		return fail(s, EMSGSIZE, "a frame of the side channel is too long");
	vf_store_be32(frame, MAGIC);
	vf_store_be16(frame + 4, VF_SIDE_VERSION);
	vf_store_be16(frame + 6, (uint16_t)type);
	vf_store_be32(frame + 8, (uint32_t)len);
	if (len)
		memcpy(frame + VF_SIDE_HEADER, body, len);
	while (sent < size) {
		ssize_t n = send(s->fd, frame + sent, size - sent, SEND_FLAGS);

		if (n > 0)
			sent += (size_t)n;
		else if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return fail(s, ECONNRESET, "the peer closed the connection");
		else if (wait_for(s, POLLOUT, SEND_MS) == 0)
			return fail(s, ETIMEDOUT,
				    "the peer takes nothing from its side channel any more");
	}
	return 0;
}

void vf_side_send_error(struct vf_side *s, const char *text)
{
	size_t len = strlen(text);
	char why[sizeof(s->error)];

	memcpy(why, s->error, sizeof(why));
	vf_side_send(s, VF_SIDE_ERROR, text, len < VF_SIDE_BODY_MAX ? len : VF_SIDE_BODY_MAX);
	memcpy(s->error, why, sizeof(why));
}

static uint16_t frame_type(const struct vf_side *s) { return vf_load_be16(s->in + 6); }
static uint32_t frame_length(const struct vf_side *s) { return vf_load_be32(s->in + 8); }

/* 1: a whole frame is there, 0: not yet, -errno: what is there is no frame. */
static int look(struct vf_side *s)
{
	char text[160];

	if (s->have < VF_SIDE_HEADER)
		return 0;
	if (vf_load_be32(s->in) != MAGIC)
		return fail(s, EPROTO, "the peer does not speak the protocol of verbifrost bench");
	if (vf_load_be16(s->in + 4) != VF_SIDE_VERSION) {
		snprintf(text, sizeof(text),
			 "the peer speaks version %u of the protocol, this end version %u: use the "
			 "same release on both",
			 vf_load_be16(s->in + 4), VF_SIDE_VERSION);
		return fail(s, EPROTO, text);
	}
	if (frame_length(s) > VF_SIDE_BODY_MAX)
		return fail(s, EPROTO, "the peer announced a frame that is too long");
	return s->have >= VF_SIDE_HEADER + frame_length(s);
}

static void drop_frame(struct vf_side *s)
{
	size_t size = VF_SIDE_HEADER + frame_length(s);

	memmove(s->in, s->in + size, s->have - size);
	s->have -= size;
}

/* Heartbeats are taken out; an error frame fails with its text, made printable. */
static int digest(struct vf_side *s)
{
	int rc;

	while ((rc = look(s)) == 1 && frame_type(s) == VF_SIDE_BEAT)
		drop_frame(s);
	if (rc == 1 && frame_type(s) == VF_SIDE_ERROR) {
		char text[200];
		size_t n = frame_length(s) < sizeof(text) ? frame_length(s) : sizeof(text) - 1;

		for (size_t i = 0; i < n; i++) {
			uint8_t c = s->in[VF_SIDE_HEADER + i];

			text[i] = c >= 0x20 && c < 0x7f ? (char)c : '?';
		}
		text[n] = '\0';
		snprintf(s->error, sizeof(s->error), "the peer says: %s", text);
		return -ECONNABORTED;
	}
	return rc;
}

/* Takes what has arrived, without waiting. */
static int take(struct vf_side *s)
{
	int rc;

	while (s->have < sizeof(s->in)) {
		ssize_t n = recv(s->fd, s->in + s->have, sizeof(s->in) - s->have, 0);

		if (n > 0) {
			s->have += (size_t)n;
			s->heard_ns = vf_side_now();
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			return 0;
		rc = digest(s); /* what it said before it closed comes first */
		if (rc != 0)
			return rc < 0 ? rc : 0;
		return fail(s, ECONNRESET, "the peer is gone: its side channel was closed");
	}
	return 0;
}

int vf_side_beat(struct vf_side *s)
{
	uint64_t now;
	int rc = take(s);

	if (rc == 0)
		rc = digest(s);
	if (rc < 0)
		return rc;
	now = vf_side_now();
	if (now - s->beat_ns >= BEAT_NS) {
		s->beat_ns = now;
		rc = vf_side_send(s, VF_SIDE_BEAT, NULL, 0);
		if (rc < 0)
			return rc;
	}
	if (now - s->heard_ns > SILENCE_NS)
		return fail(s, ETIMEDOUT,
			    "the peer has been silent for 4 s: it is stopped or cut off");
	return 0;
}

bool vf_side_has(const struct vf_side *s, enum vf_side_type type)
{
	return s->have >= VF_SIDE_HEADER && frame_type(s) == type &&
	       s->have >= VF_SIDE_HEADER + frame_length(s);
}

int vf_side_receive_any(struct vf_side *s, void *body, size_t *len, unsigned timeout_ms)
{
	uint64_t end = vf_side_now() + timeout_ms * VF_MSEC;
	uint16_t type;
	int rc;

	while ((rc = vf_side_beat(s)) == 0 && (rc = digest(s)) == 0) {
		if (timeout_ms && vf_side_now() > end)
			return fail(s, ETIMEDOUT, "the peer did not answer in time");
		wait_for(s, POLLIN, 100);
	}
	if (rc < 0)
		return rc;
	type = frame_type(s);
	*len = frame_length(s);
	memcpy(body, s->in + VF_SIDE_HEADER, *len);
	drop_frame(s);
	return type;
}

int vf_side_receive(struct vf_side *s, enum vf_side_type type, void *body, size_t len,
		    unsigned timeout_ms)
{
	uint8_t any[VF_SIDE_BODY_MAX];
	size_t got = 0;
	int rc = vf_side_receive_any(s, any, &got, timeout_ms);
	char text[120];

	if (rc < 0)
		return rc;
	if (rc != (int)type || got != len) {
		snprintf(text, sizeof(text),
			 "the peer sent frame %d of %zu bytes where frame %d of %zu bytes belongs",
			 rc, got, (int)type, len);
		return fail(s, EPROTO, text);
	}
	if (len)
		memcpy(body, any, len);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzzer: what a peer of ping and bench may say on the side channel. An input is frames: how its
 * header is made, type, length, body; or bytes as they are. Nothing that comes in is believed
 * beyond its limits, no wait is without an end, and what is said about it can be printed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../cli/bench.h"
#include "../../cli/side.h"
#include "base/bytes.h"
#include "fuzz.h"

#define MAGIC	 0x56465343u
#define SENT_MAX 8192

struct input {
	const uint8_t *at;
	size_t left;
};

static uint8_t next(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

/* One frame, most often with a header that is right. */
static size_t frame(struct input *in, uint8_t *out, size_t room)
{
	uint8_t how = next(in), type = next(in);
	size_t len = next(in) * 2u, n;

	if (room < VF_SIDE_HEADER + len)
		return 0;
	vf_store_be32(out, how == 1 ? 0 : MAGIC);
	vf_store_be16(out + 4, how == 2 ? 9 : VF_SIDE_VERSION);
	vf_store_be16(out + 6, type);
	vf_store_be32(out + 8, how == 3 ? UINT32_MAX - type : (uint32_t)len);
	n = len < in->left ? len : in->left;
	memset(out + VF_SIDE_HEADER, 0, len);
	memcpy(out + VF_SIDE_HEADER, in->at, n);
	in->at += n;
	in->left -= n;
	return VF_SIDE_HEADER + len;
}

static void check_case(const uint8_t *body)
{
	struct vf_bench_case c;
	struct vf_bench_endpoint e;
	const char *why;

	if (vf_bench_get_case(body, &c, &why)) {
		if (c.size == 0 || c.size > VF_BENCH_SIZE_MAX || c.slots < 2 ||
		    c.slots > VF_BENCH_SLOTS_MAX ||
		    (uint64_t)c.size * c.slots > 2ull * VF_BENCH_SIZE_MAX ||
		    !vf_bench_is_possible(c.transport, c.op))
			abort();
		if (!vf_bench_op_name(c.op) || !vf_bench_transport_name(c.transport))
			abort();
	} else if (!why) {
		abort();
	}
	if (vf_bench_get_endpoint(body + 64, &e) &&
	    (e.qpn >> 24 || e.psn >> 24 || e.mtu < 256 || e.mtu > 4096))
		abort();
}

static void check_text(const struct vf_side *s)
{
	if (!memchr(s->error, 0, sizeof(s->error)) || !s->error[0])
		abort();
	for (const char *p = s->error; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			abort();
}

static void listen_to(struct vf_side *s)
{
	uint8_t body[VF_SIDE_BODY_MAX];
	size_t len;
	int type;

	while ((type = vf_side_receive_any(s, body, &len, 1000)) >= 0) {
		if (len > sizeof(body) || type == VF_SIDE_BEAT || type == VF_SIDE_ERROR)
			abort();
		if (len == 128)
			check_case(body);
		if (vf_side_has(s, VF_SIDE_DONE) &&
		    vf_side_receive(s, VF_SIDE_DONE, body, 64, 1000) < 0)
			check_text(s);
	}
	check_text(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t sent[SENT_MAX];
	struct input in = {data, size};
	struct vf_side s;
	size_t len = 0, n;
	int pair[2];

	if (size == 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 0;
	if (next(&in) == 0) {
		len = in.left < sizeof(sent) ? in.left : sizeof(sent);
		memcpy(sent, in.at, len);
	} else {
		while (in.left && (n = frame(&in, sent + len, sizeof(sent) - len)) > 0)
			len += n;
	}
	vf_side_begin(&s, pair[0]);
	if (send(pair[1], sent, len, 0) == (ssize_t)len) {
		shutdown(pair[1], SHUT_WR);
		listen_to(&s);
	}
	close(pair[1]);
	vf_side_end(&s);
	return 0;
}

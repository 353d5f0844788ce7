/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of ping and bench: how the two ends find each other, agree on a device, and go through
 * the cases one after the other. With --self the answerer is a child of this process, made before
 * any device is opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "bench.h"
#include "cli.h"
#include "device.h"

#define ANSWER_MS  4800u
#define CONNECT_MS 4000u

/* The address that this end of the side channel has; NULL for a socket pair. */
static const struct sockaddr *own_address(int fd, struct sockaddr_storage *room)
{
	socklen_t len = sizeof(*room);
	struct sockaddr_in6 in6;

	if (getsockname(fd, (struct sockaddr *)room, &len) != 0 ||
	    (room->ss_family != AF_INET && room->ss_family != AF_INET6))
		return NULL;
	memcpy(&in6, room, sizeof(in6));
	if (room->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
		struct sockaddr_in in4 = {.sin_family = AF_INET};

		memcpy(&in4.sin_addr, in6.sin6_addr.s6_addr + 12, 4);
		memcpy(room, &in4, sizeof(in4));
	}
	return (const struct sockaddr *)room;
}

/* The device and GID to use: those asked for, else those whose address the side channel has. NULL:
 * said. */
static struct ibv_context *open_device(const struct vf_bench_options *o, int fd, uint8_t *port,
				       int *gid)
{
	struct sockaddr_storage room;
	const struct sockaddr *addr = own_address(fd, &room);
	struct ibv_context *ctx;

	*port = 1;
	if (o->device) {
		ctx = vf_device_open(o->device);
		*gid = ctx ? vf_gid_choose(ctx, *port, addr) : -1;
	} else {
		ctx = vf_device_choose(addr, port, gid);
	}
	if (ctx && o->gid_index >= 0)
		*gid = o->gid_index;
	if (ctx && *gid < 0) {
		vf_cli_complain("%s has no GID; see: verbifrost doctor",
				ibv_get_device_name(ctx->device));
		ibv_close_device(ctx);
		return NULL;
	}
	return ctx;
}

/* One case from the answerer's side, its request already here. */
static int answer_case(struct vf_side *side, struct vf_bench_link *l, const uint8_t body[128])
{
	uint8_t out[64];
	struct vf_bench_tally tally;
	const char *why;
	int rc;

	if (!vf_bench_get_case(body, &l->what, &why) ||
	    !vf_bench_get_endpoint(body + 64, &l->remote))
		return vf_bench_fail(l, EPROTO, "the peer asks for what cannot be measured");
	rc = vf_bench_link_create(l);
	if (rc == 0)
		rc = vf_bench_link_connect(l);
	if (rc)
		return rc;
	vf_bench_put_endpoint(out, &l->local);
	if (vf_side_send(side, VF_SIDE_ENDPOINT, out, sizeof(out)) < 0 ||
	    vf_side_receive(side, VF_SIDE_READY, NULL, 0, ANSWER_MS) < 0 ||
	    vf_side_send(side, VF_SIDE_READY, NULL, 0) < 0)
		return vf_bench_fail(l, ECONNABORTED, "%s", side->error);
	rc = vf_bench_answer(l, &tally);
	if (rc)
		return rc;
	vf_bench_put_tally(out, &tally);
	if (vf_side_send(side, VF_SIDE_RESULT, out, sizeof(out)) < 0)
		return vf_bench_fail(l, ECONNABORTED, "%s", side->error);
	return 0;
}

/* Everything that one asker wants. 0 when it said good-bye. */
static int answer_all(struct vf_side *side, struct ibv_context *ctx, uint8_t port, int gid)
{
	uint8_t body[VF_SIDE_BODY_MAX];
	size_t len;
	int type, rc;

	if (vf_side_receive(side, VF_SIDE_HELLO, NULL, 0, ANSWER_MS) < 0) {
		vf_side_send_error(side, side->error);
		return -EPROTO;
	}
	if (vf_side_send(side, VF_SIDE_HELLO, NULL, 0) < 0)
		return -ECONNRESET;
	while ((type = vf_side_receive_any(side, body, &len, 0)) == VF_SIDE_CASE && len == 128) {
		struct vf_bench_link l = {.ctx = ctx, .port = port, .gid_index = gid, .side = side};

		rc = answer_case(side, &l, body);
		if (rc) {
			snprintf(side->error, sizeof(side->error), "%.250s", l.error);
			vf_side_send_error(side, l.error);
		}
		vf_bench_link_destroy(&l);
		if (rc)
			return rc;
	}
	if (type == VF_SIDE_BYE)
		return 0;
	if (type >= 0)
		snprintf(side->error, sizeof(side->error),
			 "the peer sent frame %d where a case belongs", type);
	return type < 0 ? type : -EPROTO;
}

/* Serves what is at the other end of @fd. */
static int answer_socket(const struct vf_bench_options *o, int fd, char *error, size_t room)
{
	struct vf_side side;
	struct ibv_context *ctx;
	uint8_t port;
	int gid, rc;

	vf_side_begin(&side, fd);
	ctx = open_device(o, fd, &port, &gid);
	if (!ctx) {
		snprintf(error, room, "no usable device");
		vf_side_send_error(&side, "the answering end has no usable device");
		vf_side_end(&side);
		return -ENODEV;
	}
	rc = answer_all(&side, ctx, port, gid);
	snprintf(error, room, "%s", side.error);
	ibv_close_device(ctx);
	vf_side_end(&side);
	return rc;
}

int vf_bench_serve(const struct vf_bench_options *o)
{
	int listener = vf_side_listen(o->port), rc = 0;
	char error[256];

	if (listener < 0)
		return VF_EXIT_FAILED;
	if (!o->is_quiet)
		printf("Waiting on TCP port %s; measure with: verbifrost bench HOST\n", o->port);
	fflush(stdout);
	do {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0) {
			vf_cli_complain("accept: %s", strerror(errno));
			close(listener);
			return VF_EXIT_FAILED;
		}
		rc = answer_socket(o, fd, error, sizeof(error));
		if (rc)
			vf_cli_complain("%s", error);
		else if (!o->is_quiet)
			printf("A peer was served.\n");
		fflush(stdout);
	} while (!o->is_once);
	close(listener);
	return rc ? VF_EXIT_FAILED : VF_EXIT_OK;
}

/* What hinders the child hinders its parent too, which says it: once is enough. */
static void silence(void)
{
	int null = open("/dev/null", O_WRONLY);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

/* The answerer of --self: a child. Its descriptor, or -1. */
static int fork_answerer(struct vf_bench_session *s, const struct vf_bench_options *o)
{
	int pair[2];
	char error[256];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
		vf_cli_complain("socketpair: %s", strerror(errno));
		return -1;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		silence();
		_exit(answer_socket(o, pair[1], error, sizeof(error)) ? VF_EXIT_FAILED
								      : VF_EXIT_OK);
	}
	close(pair[1]);
	if (pid < 0) {
		vf_cli_complain("fork: %s", strerror(errno));
		close(pair[0]);
		return -1;
	}
	s->child = pid;
	return pair[0];
}

static int describe(struct vf_bench_session *s, const struct vf_bench_options *o)
{
	struct ibv_port_attr attr;
	struct vf_gid gid;

	if (ibv_query_port(s->ctx, s->port, &attr) != 0 ||
	    !vf_gid_read(s->ctx, s->port, (unsigned)s->gid_index, &gid)) {
		vf_cli_complain("%s has no GID at index %d", ibv_get_device_name(s->ctx->device),
				s->gid_index);
		return VF_EXIT_FAILED;
	}
	snprintf(s->device, sizeof(s->device), "%s", ibv_get_device_name(s->ctx->device));
	snprintf(s->gid, sizeof(s->gid), "%s", gid.text);
	s->mtu = vf_mtu_bytes(attr.active_mtu);
	s->link_rate = o->link_rate > 0 ? o->link_rate : vf_port_rate(&attr);
	s->is_soft = strncmp(s->device, "vf_", 3) == 0;
	s->is_same_host = o->is_self;
	return VF_EXIT_OK;
}

int vf_bench_session_begin(struct vf_bench_session *s, const struct vf_bench_options *o)
{
	int fd, status;

	memset(s, 0, sizeof(*s));
	fd = o->is_self ? fork_answerer(s, o) : vf_side_connect(o->host, o->port, CONNECT_MS);
	if (fd < 0)
		return VF_EXIT_FAILED;
	vf_side_begin(&s->side, fd);
	s->ctx = open_device(o, fd, &s->port, &s->gid_index);
	status = s->ctx ? describe(s, o) : VF_EXIT_FAILED;
	if (status == VF_EXIT_OK &&
	    (vf_side_send(&s->side, VF_SIDE_HELLO, NULL, 0) < 0 ||
	     vf_side_receive(&s->side, VF_SIDE_HELLO, NULL, 0, ANSWER_MS) < 0)) {
		vf_cli_complain("%s", s->side.error);
		status = VF_EXIT_FAILED;
	}
	if (status != VF_EXIT_OK)
		vf_bench_session_end(s);
	return status;
}

/* What the answerer counted, made into the result. */
static void merge(struct vf_bench_result *r, const struct vf_bench_tally *t)
{
	bool is_passive = r->what.op == VF_BENCH_READ || r->what.op == VF_BENCH_ATOMIC;

	if (r->what.op == VF_BENCH_ATOMIC && t->counter != r->sent)
		r->corrupt++;
	if (is_passive) {
		r->lost = r->sent - r->arrived;
		return;
	}
	r->corrupt += t->corrupt;
	r->duplicates = t->duplicates;
	if (r->what.measure == VF_BENCH_LATENCY) {
		r->lost = r->sent - r->arrived;
		return;
	}
	r->arrived = t->messages;
	r->lost = t->lost;
	if (t->span_ns > 0) {
		r->receiver_rate = (double)t->bytes * 1e9 / (double)t->span_ns;
		r->messages_per_s = r->receiver_rate / r->what.size;
	}
}

static int run_case(struct vf_bench_session *s, struct vf_bench_link *l, struct vf_bench_result *r,
		    void (*each)(uint64_t message, uint64_t ns))
{
	uint8_t body[128];
	struct vf_bench_tally tally = {0};
	int rc = vf_bench_link_create(l);

	if (rc)
		return rc;
	vf_bench_put_case(body, &l->what);
	vf_bench_put_endpoint(body + 64, &l->local);
	if (vf_side_send(&s->side, VF_SIDE_CASE, body, 128) < 0 ||
	    vf_side_receive(&s->side, VF_SIDE_ENDPOINT, body, 64, ANSWER_MS) < 0)
		return vf_bench_fail(l, ECONNABORTED, "%s", s->side.error);
	if (!vf_bench_get_endpoint(body, &l->remote))
		return vf_bench_fail(l, EPROTO, "the peer's endpoint cannot be");
	if (memcmp(l->remote.gid.raw, l->local.gid.raw, 16) == 0)
		s->is_same_host = true;
	rc = vf_bench_link_connect(l);
	if (rc)
		return rc;
	if (vf_side_send(&s->side, VF_SIDE_READY, NULL, 0) < 0 ||
	    vf_side_receive(&s->side, VF_SIDE_READY, NULL, 0, ANSWER_MS) < 0)
		return vf_bench_fail(l, ECONNABORTED, "%s", s->side.error);
	rc = vf_bench_ask(l, r, each);
	if (rc)
		return rc;
	tally.messages = r->sent;
	vf_bench_put_tally(body, &tally);
	if (vf_side_send(&s->side, VF_SIDE_DONE, body, 64) < 0 ||
	    vf_side_receive(&s->side, VF_SIDE_RESULT, body, 64, ANSWER_MS) < 0)
		return vf_bench_fail(l, ECONNABORTED, "%s", s->side.error);
	vf_bench_get_tally(body, &tally);
	merge(r, &tally);
	return 0;
}

int vf_bench_session_run(struct vf_bench_session *s, const struct vf_bench_case *c,
			 struct vf_bench_result *r, void (*each)(uint64_t message, uint64_t ns))
{
	struct vf_bench_link l = {.ctx = s->ctx,
				  .port = s->port,
				  .gid_index = s->gid_index,
				  .side = &s->side,
				  .what = *c,
				  .is_asker = true};
	int rc;

	memset(r, 0, sizeof(*r));
	r->what = *c;
	vf_hist_reset(&r->latency);
	rc = run_case(s, &l, r, each);
	r->what.mtu = l.what.mtu;
	r->is_above_link = s->link_rate > 0 && r->receiver_rate * 8 > s->link_rate * 1.02;
	if (rc) {
		snprintf(s->error, sizeof(s->error), "%s", l.error);
		vf_side_send_error(&s->side, "the asking end gave up");
	}
	vf_bench_link_destroy(&l);
	return rc;
}

void vf_bench_session_end(struct vf_bench_session *s)
{
	struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};

	if (s->side.fd >= 0)
		vf_side_send(&s->side, VF_SIDE_BYE, NULL, 0);
	vf_side_end(&s->side);
	if (s->ctx)
		ibv_close_device(s->ctx);
	s->ctx = NULL;
	/* The child ends by itself when its side channel is closed; one that does not is ended. */
	for (int i = 0; s->child > 0 && i < 200; i++) {
		if (waitpid(s->child, NULL, WNOHANG) != 0)
			s->child = 0;
		else
			nanosleep(&moment, NULL);
	}
	if (s->child > 0) {
		kill(s->child, SIGKILL);
		waitpid(s->child, NULL, 0);
		s->child = 0;
	}
}

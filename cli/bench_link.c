/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of a measurement: protection domain, memory, completion queue and queue pair, taken
 * through INIT, RTR and RTS. The memory is an outgoing area and an incoming area of as many slots
 * as messages may be in flight; the incoming one is what the peer may write, read and add to.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <verbifrost/verbifrost.h>

#include "base/bytes.h"
#include "bench.h"
#include "device.h"
#include "pattern.h"

#define QKEY	      0x11111111u
#define NOTES	      64u /* receives for messages without data that an asker keeps posted */
#define PATIENCE_NS   (4500 * VF_MSEC)
#define BEAT_EVERY_NS (2 * VF_MSEC)
#define INLINE_WANTED 220u

int vf_bench_fail(struct vf_bench_link *l, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->error, sizeof(l->error), fmt, ap);
	va_end(ap);
	return err ? -err : -EIO;
}

/* A verb was refused: errno, and the library's reason. */
static int refused(struct vf_bench_link *l, const char *verb, int err)
{
	const char *reason = verbifrost_last_error();

	return vf_bench_fail(l, err, "%s: %s%s%s", verb, strerror(err), *reason ? ": " : "",
			     reason);
}

static int make_memory(struct vf_bench_link *l)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), area;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC;
	void *memory;

	l->head = l->what.transport == VF_BENCH_UD ? VF_BENCH_GRH : 0;
	l->stride = (l->what.size + l->head + 63) / 64 * 64;
	area = (l->stride * l->what.slots + page - 1) / page * page;
	l->memory_size = 2 * area + page;
	if (posix_memalign(&memory, page, l->memory_size) != 0)
		return vf_bench_fail(l, ENOMEM, "no memory for %zu bytes of buffers",
				     l->memory_size);
	memset(memory, 0, l->memory_size);
	l->memory = memory;
	l->out = l->memory;
	l->in = l->memory + area;
	if (l->what.transport != VF_BENCH_RC)
		access &= ~IBV_ACCESS_REMOTE_READ & ~IBV_ACCESS_REMOTE_ATOMIC;
	l->mr = ibv_reg_mr(l->pd, l->memory, l->memory_size, access);
	if (!l->mr)
		return refused(l, "ibv_reg_mr", errno);
	if (l->what.op == VF_BENCH_READ && !l->is_asker)
		for (uint32_t i = 0; i < l->what.slots; i++)
			vf_pattern_fill(l->in + i * l->stride, l->what.size, i);
	return 0;
}

static int make_queue_pair(struct vf_bench_link *l)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
	struct ibv_qp_init_attr attr = {
		.qp_type = types[l->what.transport],
		.cap = {.max_send_wr = l->what.slots + NOTES,
			.max_recv_wr = l->what.slots + NOTES,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_WANTED},
	};

	if (l->what.events) {
		l->channel = ibv_create_comp_channel(l->ctx);
		if (!l->channel)
			return refused(l, "ibv_create_comp_channel", errno);
	}
	l->cq = ibv_create_cq(l->ctx, (int)(2 * (l->what.slots + NOTES)), NULL, l->channel, 0);
	if (!l->cq)
		return refused(l, "ibv_create_cq", errno);
	if (l->channel && ibv_req_notify_cq(l->cq, 0) != 0)
		return refused(l, "ibv_req_notify_cq", errno);
	attr.send_cq = attr.recv_cq = l->cq;
	l->qp = ibv_create_qp(l->pd, &attr);
	if (!l->qp) { /* devices without inline data refuse the wish */
		attr.cap.max_inline_data = 0;
		l->qp = ibv_create_qp(l->pd, &attr);
	}
	if (!l->qp)
		return refused(l, "ibv_create_qp", errno);
	l->inline_max = attr.cap.max_inline_data;
	return 0;
}

static int to_init(struct vf_bench_link *l)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = l->port, .qkey = QKEY};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, rc;

	attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	if (l->what.transport == VF_BENCH_RC)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	mask |= l->what.transport == VF_BENCH_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	rc = ibv_modify_qp(l->qp, &attr, mask);
	return rc ? refused(l, "ibv_modify_qp to INIT", rc) : 0;
}

int vf_bench_link_create(struct vf_bench_link *l)
{
	struct ibv_port_attr port;
	struct ibv_device_attr dev;
	struct vf_gid gid;
	int rc;

	if (ibv_query_port(l->ctx, l->port, &port) != 0 || ibv_query_device(l->ctx, &dev) != 0)
		return refused(l, "ibv_query_port", errno);
	if (!vf_gid_read(l->ctx, l->port, (unsigned)l->gid_index, &gid))
		return vf_bench_fail(l, ENODATA, "port %u has no GID at index %d", l->port,
				     l->gid_index);
	l->pd = ibv_alloc_pd(l->ctx);
	if (!l->pd)
		return refused(l, "ibv_alloc_pd", errno);
	rc = make_memory(l);
	if (rc == 0)
		rc = make_queue_pair(l);
	if (rc == 0)
		rc = to_init(l);
	if (rc)
		return rc;
	l->local.qpn = l->qp->qp_num;
	l->local.psn = (uint32_t)(vf_side_now() * 2654435761u >> 8) & 0xffffff;
	l->local.rkey = l->mr->rkey;
	l->local.addr = (uintptr_t)l->in;
	l->local.mtu = vf_mtu_bytes(port.active_mtu);
	l->local.rd_atomic = (uint32_t)(dev.max_qp_rd_atom < 16 ? dev.max_qp_rd_atom : 16);
	l->local.lid = port.lid;
	l->local.gid = gid.raw;
	return 0;
}

static void address(const struct vf_bench_link *l, struct ibv_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	ah->is_global = 1;
	ah->port_num = l->port;
	ah->dlid = (uint16_t)l->remote.lid;
	ah->grh.dgid = l->remote.gid;
	ah->grh.sgid_index = (uint8_t)l->gid_index;
	ah->grh.hop_limit = 64;
}

static enum ibv_mtu mtu_code(uint32_t bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && vf_mtu_bytes(mtu + 1) <= bytes)
		mtu++;
	return mtu;
}

static int to_rtr(struct vf_bench_link *l)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .dest_qp_num = l->remote.qpn,
				   .rq_psn = l->remote.psn,
				   .max_dest_rd_atomic = (uint8_t)l->local.rd_atomic,
				   .min_rnr_timer = 12};
	uint32_t mtu = l->local.mtu < l->remote.mtu ? l->local.mtu : l->remote.mtu;
	int mask = IBV_QP_STATE, rc;

	if (l->what.mtu && l->what.mtu < mtu)
		mtu = l->what.mtu;
	l->what.mtu = mtu;
	attr.path_mtu = mtu_code(mtu);
	address(l, &attr.ah_attr);
	if (l->what.transport != VF_BENCH_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (l->what.transport == VF_BENCH_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	rc = ibv_modify_qp(l->qp, &attr, mask);
	return rc ? refused(l, "ibv_modify_qp to RTR", rc) : 0;
}

static int to_rts(struct vf_bench_link *l)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = l->local.psn,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = (uint8_t)(l->remote.rd_atomic ? l->remote.rd_atomic : 1)};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN, rc;

	if (l->what.transport == VF_BENCH_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	rc = ibv_modify_qp(l->qp, &attr, mask);
	return rc ? refused(l, "ibv_modify_qp to RTS", rc) : 0;
}

int vf_bench_link_connect(struct vf_bench_link *l)
{
	bool has_data = l->what.op == VF_BENCH_SEND &&
			(!l->is_asker || l->what.measure == VF_BENCH_LATENCY);
	uint32_t receives = has_data		    ? l->what.slots
			    : NOTES < l->what.slots ? l->what.slots
						    : NOTES;
	struct ibv_ah_attr ah;
	int rc = to_rtr(l);

	if (rc == 0)
		rc = to_rts(l);
	for (uint32_t i = 0; i < receives && rc == 0; i++)
		rc = vf_bench_post_receive(l, i, has_data);
	if (rc || l->what.transport != VF_BENCH_UD)
		return rc;
	address(l, &ah);
	l->ah = ibv_create_ah(l->pd, &ah);
	return l->ah ? 0 : refused(l, "ibv_create_ah", errno);
}

void vf_bench_link_destroy(struct vf_bench_link *l)
{
	if (l->qp)
		ibv_destroy_qp(l->qp);
	if (l->ah)
		ibv_destroy_ah(l->ah);
	if (l->cq)
		ibv_destroy_cq(l->cq);
	if (l->channel)
		ibv_destroy_comp_channel(l->channel);
	if (l->mr)
		ibv_dereg_mr(l->mr);
	if (l->pd)
		ibv_dealloc_pd(l->pd);
	free(l->memory);
	l->qp = NULL;
	l->ah = NULL;
	l->cq = NULL;
	l->channel = NULL;
	l->mr = NULL;
	l->pd = NULL;
	l->memory = NULL;
}

int vf_bench_post_receive(struct vf_bench_link *l, uint64_t slot, bool has_data)
{
	unsigned char *at =
		has_data ? l->in + slot * l->stride : l->memory + l->memory_size - VF_BENCH_GRH;
	struct ibv_sge sge = {.addr = (uintptr_t)at,
			      .length = (uint32_t)(l->head + (has_data ? l->what.size : 0)),
			      .lkey = l->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = VF_BENCH_WR_RECEIVE | slot,
				 .sg_list = &sge,
				 .num_sge = sge.length > 0},
			   *bad;
	int rc = ibv_post_recv(l->qp, &wr, &bad);

	return rc ? refused(l, "ibv_post_recv", rc) : 0;
}

static void aim(const struct vf_bench_link *l, struct ibv_send_wr *wr)
{
	if (l->what.transport != VF_BENCH_UD)
		return;
	wr->wr.ud.ah = l->ah;
	wr->wr.ud.remote_qpn = l->remote.qpn;
	wr->wr.ud.remote_qkey = QKEY;
}

int vf_bench_post_note(struct vf_bench_link *l, uint32_t number)
{
	struct ibv_send_wr wr = {.wr_id = VF_BENCH_WR_NOTE,
				 .opcode = IBV_WR_SEND_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	int rc;

	wr.imm_data = htonl(number);
	aim(l, &wr);
	rc = ibv_post_send(l->qp, &wr, &bad);
	return rc ? refused(l, "ibv_post_send", rc) : 0;
}

static void describe_atomic(const struct vf_bench_link *l, uint64_t message, struct ibv_send_wr *wr)
{
	wr->wr.atomic.remote_addr = l->remote.addr;
	wr->wr.atomic.rkey = l->remote.rkey;
	wr->opcode = message % 2 ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr->wr.atomic.compare_add = message % 2 ? message : 1;
	wr->wr.atomic.swap = message + 1;
}

int vf_bench_post(struct vf_bench_link *l, uint64_t message, bool mark)
{
	uint64_t slot = message % l->what.slots;
	bool is_out = l->what.op == VF_BENCH_SEND || l->what.op == VF_BENCH_WRITE;
	struct ibv_sge sge = {.addr = (uintptr_t)((is_out ? l->out : l->in) + slot * l->stride),
			      .length = l->what.size,
			      .lkey = l->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = message, .sg_list = &sge, .num_sge = 1}, *bad;
	int rc;

	wr.send_flags = mark ? IBV_SEND_SIGNALED : 0;
	if (is_out && l->what.size <= l->inline_max)
		wr.send_flags |= IBV_SEND_INLINE;
	if (is_out && (l->what.verify || message < l->what.slots))
		vf_pattern_fill(l->out + slot * l->stride, l->what.size, message);
	wr.imm_data = htonl((uint32_t)message);
	wr.wr.rdma.remote_addr = l->remote.addr + slot * l->stride;
	wr.wr.rdma.rkey = l->remote.rkey;
	switch (l->what.op) {
	case VF_BENCH_WRITE:
		wr.opcode = mark ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
		break;
	case VF_BENCH_READ:
		wr.opcode = IBV_WR_RDMA_READ;
		/* another slot in each round: what an earlier round left cannot pass for what this
		 * one brings */
		wr.wr.rdma.remote_addr = l->remote.addr + (message + message / l->what.slots) %
								  l->what.slots * l->stride;
		break;
	case VF_BENCH_ATOMIC:
		describe_atomic(l, message, &wr);
		break;
	default:
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		aim(l, &wr);
		break;
	}
	rc = ibv_post_send(l->qp, &wr, &bad);
	return rc ? refused(l, "ibv_post_send", rc) : 0;
}

/*
 * The cause that the side channel knows is better than "retries exceeded": waits until the peer was
 * heard once more, which it is each second while it lives, or until the side channel says that it
 * is gone or silent.
 */
static int completion_error(struct vf_bench_link *l, const struct ibv_wc *wc)
{
	struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
	uint64_t start = vf_side_now();

	while (l->side->heard_ns <= start) {
		if (vf_side_beat(l->side) < 0)
			return vf_bench_fail(l, ECONNABORTED, "%s (%s: %s)", l->side->error,
					     wc->wr_id & VF_BENCH_WR_RECEIVE ? "receive" : "send",
					     ibv_wc_status_str(wc->status));
		nanosleep(&moment, NULL);
	}
	return vf_bench_fail(l, EIO, "a %s ended with \"%s\" (status %d, vendor error 0x%x)%s",
			     wc->wr_id & VF_BENCH_WR_RECEIVE ? "receive" : "send",
			     ibv_wc_status_str(wc->status), wc->status, wc->vendor_err,
			     wc->status == IBV_WC_RETRY_EXC_ERR
				     ? ": nothing came back; is UDP port 4791 open both ways?"
				     : "");
}

/* Sleeps until the completion channel or the side channel has something, at most 100 ms. */
static int sleep_for_event(struct vf_bench_link *l)
{
	struct pollfd fds[2] = {{.fd = l->channel->fd, .events = POLLIN},
				{.fd = l->side->fd, .events = POLLIN}};
	struct ibv_cq *cq;
	void *arg;
	int rc;

	if (poll(fds, 2, 100) > 0 && fds[0].revents) {
		if (ibv_get_cq_event(l->channel, &cq, &arg) != 0)
			return refused(l, "ibv_get_cq_event", errno);
		ibv_ack_cq_events(cq, 1);
	}
	rc = ibv_req_notify_cq(l->cq, 0);
	return rc ? refused(l, "ibv_req_notify_cq", rc) : 0;
}

/* Nothing was there: look after the peer now and then, and do not wait for ever. */
static int idle(struct vf_bench_link *l)
{
	uint64_t now;

	if (!l->channel && ++l->idle % 32)
		return 0;
	if (!l->channel && l->idle % 32 == 0)
		sched_yield();
	now = vf_side_now();
	if (now - l->beat_ns >= BEAT_EVERY_NS) {
		l->beat_ns = now;
		if (vf_side_beat(l->side) < 0)
			return vf_bench_fail(l, ECONNABORTED, "%s", l->side->error);
	}
	if (l->is_asker && now - l->progress_ns > PATIENCE_NS)
		return vf_bench_fail(l, ETIMEDOUT,
				     "nothing was completed for 4.5 s, though the peer's process "
				     "lives: are packets lost on the way "
				     "(firewall, UDP port 4791)?");
	return 0;
}

int vf_bench_poll(struct vf_bench_link *l, struct ibv_wc *wc, int max)
{
	int n = ibv_poll_cq(l->cq, max, wc), rc = 0;

	if (n == 0 && l->channel) {
		rc = sleep_for_event(l);
		n = ibv_poll_cq(l->cq, max, wc);
	}
	if (n < 0 || rc < 0)
		return rc < 0 ? rc
			      : vf_bench_fail(
					l, EIO,
					"ibv_poll_cq failed: the completion queue was overrun");
	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			return completion_error(l, &wc[i]);
	if (n == 0)
		return idle(l);
	l->idle = 0;
	l->progress_ns = vf_side_now();
	return n;
}

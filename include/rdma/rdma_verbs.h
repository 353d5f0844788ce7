/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RDMA_VERBS_H
#define RDMA_VERBS_H
/*
 * Verbs through a connection identifier: one line to register, post or wait. Calls return 0 (or a
 * count of completions), or -1 and set errno.
 */
#include <assert.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An errno value, as verbs return it, becomes -1 and errno. */
static inline int rdma_seterrno(int ret)
{
	if (ret == 0)
		return 0;
	errno = ret;
	return -1;
}

/* ---- shared receive queues ---- */

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);
void rdma_destroy_srq(struct rdma_cm_id *id);

/* ---- memory ---- */

static inline struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE);
}

static inline struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

static inline struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static inline int rdma_dereg_mr(struct ibv_mr *mr) { return rdma_seterrno(ibv_dereg_mr(mr)); }

/* ---- posting lists of buffers ---- */

static inline struct ibv_send_wr _rdma_send_wr(void *context, enum ibv_wr_opcode opcode,
					       struct ibv_sge *sgl, int nsge, int flags)
{
	struct ibv_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = (uintptr_t)context;
	wr.opcode = opcode;
	wr.sg_list = sgl;
	wr.num_sge = nsge;
	wr.send_flags = (unsigned int)flags;
	return wr;
}

static inline int _rdma_post_rdma(struct rdma_cm_id *id, struct ibv_send_wr *wr,
				  uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr *bad;

	wr->wr.rdma.remote_addr = remote_addr;
	wr->wr.rdma.rkey = rkey;
	return rdma_seterrno(ibv_post_send(id->qp, wr, &bad));
}

static inline int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge)
{
	struct ibv_recv_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = (uintptr_t)context;
	wr.sg_list = sgl;
	wr.num_sge = nsge;
	return rdma_seterrno(id->srq ? ibv_post_srq_recv(id->srq, &wr, &bad)
				     : ibv_post_recv(id->qp, &wr, &bad));
}

static inline int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge, int flags)
{
	struct ibv_send_wr wr = _rdma_send_wr(context, IBV_WR_SEND, sgl, nsge, flags), *bad;

	return rdma_seterrno(ibv_post_send(id->qp, &wr, &bad));
}

static inline int rdma_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr wr = _rdma_send_wr(context, IBV_WR_RDMA_READ, sgl, nsge, flags);

	return _rdma_post_rdma(id, &wr, remote_addr, rkey);
}

static inline int rdma_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				   int nsge, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr wr = _rdma_send_wr(context, IBV_WR_RDMA_WRITE, sgl, nsge, flags);

	return _rdma_post_rdma(id, &wr, remote_addr, rkey);
}

/* ---- posting one buffer; @mr may be NULL where data is sent inline ---- */

static inline struct ibv_sge _rdma_sge(void *addr, size_t length, struct ibv_mr *mr)
{
	struct ibv_sge sge;

	sge.addr = (uintptr_t)addr;
	sge.length = (uint32_t)length;
	sge.lkey = mr ? mr->lkey : 0;
	return sge;
}

/* @mr covers the buffer. */
static inline int rdma_post_recv(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr)
{
	struct ibv_sge sge = _rdma_sge(addr, length, mr);

	assert(sge.addr >= (uintptr_t)mr->addr &&
	       sge.addr + length <= (uintptr_t)mr->addr + mr->length);
	return rdma_post_recvv(id, context, &sge, 1);
}

static inline int rdma_post_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags)
{
	struct ibv_sge sge = _rdma_sge(addr, length, mr);

	return rdma_post_sendv(id, context, &sge, 1, flags);
}

static inline int rdma_post_read(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge = _rdma_sge(addr, length, mr);

	return rdma_post_readv(id, context, &sge, 1, flags, remote_addr, rkey);
}

static inline int rdma_post_write(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				  struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge = _rdma_sge(addr, length, mr);

	return rdma_post_writev(id, context, &sge, 1, flags, remote_addr, rkey);
}

static inline int rdma_post_ud_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				    struct ibv_mr *mr, int flags, struct ibv_ah *ah,
				    uint32_t remote_qpn)
{
	struct ibv_sge sge = _rdma_sge(addr, length, mr);
	struct ibv_send_wr wr = _rdma_send_wr(context, IBV_WR_SEND, &sge, 1, flags), *bad;

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = remote_qpn;
	wr.wr.ud.remote_qkey = RDMA_UDP_QKEY;
	return rdma_seterrno(ibv_post_send(id->qp, &wr, &bad));
}

/* ---- waiting for one completion ---- */

static inline int _rdma_wait_cq_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;
	int ret = ibv_get_cq_event(channel, &cq, &context);

	if (ret == 0)
		ibv_ack_cq_events(cq, 1);
	return ret;
}

/* Polls once more after arming, so that no completion is slept over. */
static inline int _rdma_get_comp(struct ibv_comp_channel *channel, struct ibv_cq *cq,
				 struct ibv_wc *wc)
{
	int ret = ibv_poll_cq(cq, 1, wc);

	while (ret == 0) {
		ret = ibv_req_notify_cq(cq, 0);
		if (ret != 0)
			return rdma_seterrno(ret);
		ret = ibv_poll_cq(cq, 1, wc);
		if (ret != 0)
			break;
		if (_rdma_wait_cq_event(channel) != 0)
			return -1;
		ret = ibv_poll_cq(cq, 1, wc);
	}
	return ret < 0 ? rdma_seterrno(-ret) : ret;
}

static inline int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return _rdma_get_comp(id->send_cq_channel, id->send_cq, wc);
}

static inline int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return _rdma_get_comp(id->recv_cq_channel, id->recv_cq, wc);
}

#ifdef __cplusplus
}
#endif

#endif

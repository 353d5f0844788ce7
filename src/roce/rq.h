/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_RQ_H
#define VF_ROCE_RQ_H
/* Receive queues: a QP's own, and those that QPs share. Both are the same ring. */
#include "roce/packet.h"
#include "roce/roce.h"

struct vf_recv_wqe {
	uint64_t wr_id;
	uint64_t total; /* bytes of all entries */
	uint32_t sge_count;
	struct vf_roce_sge sge[];
};

struct vf_ring {
	uint8_t *slots;
	size_t stride;
	uint32_t max, sge_max, head, count;
};

/* A QP's receiving side: its own ring (unused with an SRQ) and the request that is being filled. */
struct vf_rq {
	struct vf_ring ring;
	struct vf_recv_wqe *taken; /* NULL: none */
	struct vf_recv_wqe *copy;  /* with an SRQ: where a taken request is kept */
};

struct vf_roce_srq {
	struct vf_roce *r;
	void *srq_host;
	struct vf_ring ring;
	uint32_t limit;
};

int vf_rq_init(struct vf_rq *rq, const struct vf_roce_qp_config *cfg);
void vf_rq_free(struct vf_rq *rq);
/** Puts a request at the tail. -ENOMEM, -EINVAL. */
int vf_ring_put(struct vf_ring *ring, const struct vf_roce_recv_wr *wr);
int vf_ring_init(struct vf_ring *ring, uint32_t max, uint32_t sge_max);
static inline struct vf_recv_wqe *vf_ring_at(const struct vf_ring *ring, uint32_t i)
{
	uint32_t slot = ring->head + i;

	if (slot >= ring->max)
		slot -= ring->max;
	return (struct vf_recv_wqe *)(void *)(ring->slots + (size_t)slot * ring->stride);
}
void vf_ring_drop_head(struct vf_ring *ring);

/** The request that the coming message uses: the one already taken, else the next. NULL: nothing is
 * posted. */
struct vf_recv_wqe *vf_rq_take(struct vf_roce_qp *qp);
/** Bytes the next message would have room for, without taking anything; false: nothing is posted.
 */
bool vf_rq_peek(struct vf_roce_qp *qp, uint64_t *room);
/** The next request's number of bytes @from the SRQ's ring: copies and takes it, fires the limit
 * event. */
struct vf_recv_wqe *vf_srq_take(struct vf_roce_srq *srq, struct vf_recv_wqe *copy);
/** Scatters into the taken request at @offset. 0, or -errno of the memory. */
int vf_rq_scatter(struct vf_roce_qp *qp, uint32_t offset, const void *from, uint32_t len);
/** Completes the taken request; @pkt tells what came (NULL with an error status). */
void vf_rq_complete(struct vf_roce_qp *qp, enum vf_roce_wc_status status,
		    const struct vf_packet *pkt, uint32_t byte_len);
void vf_rq_flush(struct vf_roce_qp *qp);
void vf_rq_clear(struct vf_roce_qp *qp);

/** Walks a scatter/gather list: memory of @len bytes at @offset, as iovecs. How many, or -errno. */
struct vf_sge_walk {
	const struct vf_roce_sge *sge;
	uint32_t count;
	unsigned access;
};
int vf_sge_map(struct vf_roce_qp *qp, const struct vf_sge_walk *walk, uint32_t offset, uint32_t len,
	       struct iovec *iov);

#endif

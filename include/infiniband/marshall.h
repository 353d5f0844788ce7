/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef INFINIBAND_MARSHALL_H
#define INFINIBAND_MARSHALL_H
/*
 * Between the verbs' structs and those of Linux's kernel interface (<rdma/ib_user_verbs.h>,
 * <rdma/ib_user_sa.h>).
 */
#include <infiniband/sa.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_uverbs_ah_attr;
struct ib_uverbs_qp_attr;
struct ib_user_path_rec;

void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);

#ifdef __cplusplus
}
#endif

#endif

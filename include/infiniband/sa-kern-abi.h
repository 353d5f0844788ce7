/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef INFINIBAND_SA_KERN_ABI_H
#define INFINIBAND_SA_KERN_ABI_H
/*
 * Older names of the kernel's path record, which Linux has in <rdma/ib_user_sa.h>.
 */
struct ib_user_path_rec;

#define ib_kern_path_rec  ib_user_path_rec
#define ibv_kern_path_rec ib_user_path_rec

#endif

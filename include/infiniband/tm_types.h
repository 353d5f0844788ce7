/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef _TM_TYPES_H
#define _TM_TYPES_H
/*
 * Headers that tag matching puts in front of messages.
 */
#include <infiniband/verbs_platform.h>

enum ibv_tmh_op { IBV_TMH_NO_TAG = 0, IBV_TMH_RNDV = 1, IBV_TMH_FIN = 2, IBV_TMH_EAGER = 3 };

struct ibv_tmh {
	uint8_t opcode; /* enum ibv_tmh_op */
	uint8_t reserved[3];
	__be32 app_ctx;
	__be64 tag;
};

/* Follows the above in a rendezvous: where the data is. */
struct ibv_rvh {
	__be64 va;
	__be32 rkey;
	__be32 len;
};

#endif

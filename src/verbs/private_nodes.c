/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that programs import by a private version node. Each exists once, under the node of
 * the newest release known; here are their second names under the older one. Only for systems with
 * version nodes.
 */
#include <infiniband/verbs.h>

#include "base/export.h"

/* of no public header; @type points to an int whose numbering is not that of enum ibv_gid_type */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       void *type);

VF_EXPORT int vf_query_gid_type_34(struct ibv_context *context, uint8_t port_num,
				   unsigned int index, void *type);
VF_EXPORT const char *vf_wr_opcode_str_34(enum ibv_wr_opcode opcode);

__asm__(".symver vf_query_gid_type_34, ibv_query_gid_type@IBVERBS_PRIVATE_34");
__asm__(".symver vf_wr_opcode_str_34, ibv_wr_opcode_str@IBVERBS_PRIVATE_34");

int vf_query_gid_type_34(struct ibv_context *context, uint8_t port_num, unsigned int index,
			 void *type)
{
	return ibv_query_gid_type(context, port_num, index, type);
}

const char *vf_wr_opcode_str_34(enum ibv_wr_opcode opcode) { return ibv_wr_opcode_str(opcode); }

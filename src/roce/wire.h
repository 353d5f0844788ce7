/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_WIRE_H
#define VF_ROCE_WIRE_H
/*
 * Where each field of the transport headers lies (IBTA 9.2, 9.3), as offsets from the start of its
 * header, and one getter or setter for those that are not whole bytes.
 */
#include <stdbool.h>

#include "base/bytes.h"

/* Base transport header: opcode, flags, P_Key, (congestion bits) destination QP, (AckReq) PSN. */
enum {
	VF_BTH_LEN = 12,
	VF_BTH_OPCODE = 0,
	VF_BTH_FLAGS = 1,
	VF_BTH_PKEY = 2,
	VF_BTH_CONGESTION = 4,
	VF_BTH_DEST_QPN = 5,
	VF_BTH_ACK_REQ = 8,
	VF_BTH_PSN = 9,
};

#define VF_BTH_SOLICITED    0x80u
#define VF_BTH_PAD_SHIFT    4
#define VF_BTH_PAD_MASK	    0x3u
#define VF_BTH_VERSION_MASK 0xfu
#define VF_BTH_BECN	    0x40u
#define VF_BTH_ACK_REQ_BIT  0x80u
#define VF_PKEY_DEFAULT	    0xffffu
#define VF_PKEY_BASE_MASK   0x7fffu

/* Datagram extension header: Q_Key, source QP. */
enum { VF_DETH_LEN = 8, VF_DETH_QKEY = 0, VF_DETH_SRC_QPN = 5 };
/* RDMA extension header: virtual address, R_Key, length. */
enum { VF_RETH_LEN = 16, VF_RETH_VA = 0, VF_RETH_RKEY = 8, VF_RETH_DMA_LEN = 12 };
/* Atomic extension header: virtual address, R_Key, swap or add data, compare data. */
enum {
	VF_ATOMIC_LEN = 28,
	VF_ATOMIC_VA = 0,
	VF_ATOMIC_RKEY = 8,
	VF_ATOMIC_SWAP_ADD = 12,
	VF_ATOMIC_COMPARE = 20
};
/* ACK extension header: syndrome, message sequence number. */
enum { VF_AETH_LEN = 4, VF_AETH_SYNDROME = 0, VF_AETH_MSN = 1 };
enum { VF_ATOMIC_ACK_LEN = 8 };
enum { VF_IMM_LEN = 4 };
enum { VF_IETH_LEN = 4 };
enum { VF_GRH_LEN = 40 };
/* A congestion notification packet is a BTH and sixteen reserved bytes (IBTA A17.9.3). */
enum { VF_CNP_LEN = VF_BTH_LEN + 16 };

/* AETH syndrome (IBTA 9.7.5.2, table 44): the upper three bits say what it is, the lower five a
 * credit, timer or code. */
#define VF_AETH_KIND_MASK  0xe0u
#define VF_AETH_VALUE_MASK 0x1fu
#define VF_AETH_ACK	   0x00u
#define VF_AETH_RNR	   0x20u
#define VF_AETH_NAK	   0x60u
#define VF_AETH_NO_CREDITS 0x1fu
#define VF_AETH_ACK_PLAIN  (VF_AETH_ACK | VF_AETH_NO_CREDITS)
enum vf_nak {
	VF_NAK_SEQUENCE = 0x60,
	VF_NAK_INVALID_REQUEST = 0x61,
	VF_NAK_REMOTE_ACCESS = 0x62,
	VF_NAK_REMOTE_OPERATION = 0x63,
	VF_NAK_INVALID_RD_REQUEST = 0x64,
};

static inline unsigned vf_bth_pad(const uint8_t *bth)
{
	return ((unsigned)bth[VF_BTH_FLAGS] >> VF_BTH_PAD_SHIFT) & VF_BTH_PAD_MASK;
}

static inline unsigned vf_bth_version(const uint8_t *bth)
{
	return bth[VF_BTH_FLAGS] & VF_BTH_VERSION_MASK;
}

static inline bool vf_bth_is_solicited(const uint8_t *bth)
{
	return (bth[VF_BTH_FLAGS] & VF_BTH_SOLICITED) != 0;
}

static inline bool vf_bth_is_ack_req(const uint8_t *bth)
{
	return (bth[VF_BTH_ACK_REQ] & VF_BTH_ACK_REQ_BIT) != 0;
}

static inline uint32_t vf_bth_dest_qpn(const uint8_t *bth)
{
	return vf_load_be24(bth + VF_BTH_DEST_QPN);
}
static inline uint32_t vf_bth_psn(const uint8_t *bth) { return vf_load_be24(bth + VF_BTH_PSN); }

#endif

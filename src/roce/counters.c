/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of completion statuses; of the counters, as Linux's drivers have them under hw_counters
 * where they have them, and of the reasons for drops.
 */
#include "roce/qp.h"

static const char *const counter_names[VF_CNT_DROP_FIRST] = {
	[VF_CNT_RCVD_PKTS] = "rcvd_pkts",
	[VF_CNT_SENT_PKTS] = "sent_pkts",
	[VF_CNT_RCVD_BYTES] = "rcvd_bytes",
	[VF_CNT_SENT_BYTES] = "sent_bytes",
	[VF_CNT_DUPLICATE_REQUEST] = "duplicate_request",
	[VF_CNT_OUT_OF_SEQUENCE] = "out_of_sequence",
	[VF_CNT_PACKET_SEQ_ERR] = "packet_seq_err",
	[VF_CNT_IMPLIED_NAK_SEQ_ERR] = "implied_nak_seq_err",
	[VF_CNT_RNR_NAK_SENT] = "rnr_nak_sent",
	[VF_CNT_RNR_NAK_RCVD] = "rnr_nak_rcvd",
	[VF_CNT_RNR_NAK_RETRY_ERR] = "rnr_nak_retry_err",
	[VF_CNT_LOCAL_ACK_TIMEOUT_ERR] = "local_ack_timeout_err",
	[VF_CNT_RETRY_EXCEEDED_ERR] = "retry_exceeded_err",
	[VF_CNT_RETRANSMITTED_PKTS] = "retransmitted_pkts",
	[VF_CNT_ACKS_SENT] = "acks_sent",
	[VF_CNT_ACKS_RCVD] = "acks_rcvd",
	[VF_CNT_RESP_LOCAL_LENGTH_ERROR] = "resp_local_length_error",
	[VF_CNT_RESP_CQE_ERROR] = "resp_cqe_error",
	[VF_CNT_REQ_CQE_ERROR] = "req_cqe_error",
	[VF_CNT_RESP_REMOTE_ACCESS_ERRORS] = "resp_remote_access_errors",
	[VF_CNT_REQ_REMOTE_ACCESS_ERRORS] = "req_remote_access_errors",
	[VF_CNT_REQ_REMOTE_INVALID_REQUEST] = "req_remote_invalid_request",
	[VF_CNT_RX_WRITE_REQUESTS] = "rx_write_requests",
	[VF_CNT_RX_READ_REQUESTS] = "rx_read_requests",
	[VF_CNT_RX_ATOMIC_REQUESTS] = "rx_atomic_requests",
	[VF_CNT_RX_ICRC_ENCAPSULATED] = "rx_icrc_encapsulated",
	[VF_CNT_NP_CNP_SENT] = "np_cnp_sent",
	[VF_CNT_RP_CNP_HANDLED] = "rp_cnp_handled",
	[VF_CNT_FLOW_STALLS] = "flow_stalls",
	[VF_CNT_FLOW_UPDATES_SENT] = "flow_updates_sent",
	[VF_CNT_FLOW_UPDATES_RCVD] = "flow_updates_rcvd",
	[VF_CNT_FORWARDED_PKTS] = "forwarded_pkts",
	[VF_CNT_SOCKET_OVERFLOWS] = "socket_overflows",
	[VF_CNT_IMPAIR_DUPLICATED] = "impair_duplicated",
	[VF_CNT_IMPAIR_REORDERED] = "impair_reordered",
	[VF_CNT_IMPAIR_DELAYED] = "impair_delayed",
	[VF_CNT_IMPAIR_CORRUPTED] = "impair_corrupted",
};

/* With the prefix under which they are counted. */
static const char *const drop_names[VF_DROP_COUNT] = {
	[VF_DROP_TOO_SHORT] = "drop_too_short",
	[VF_DROP_BAD_VERSION] = "drop_bad_version",
	[VF_DROP_BAD_OPCODE] = "drop_bad_opcode",
	[VF_DROP_BAD_LENGTH] = "drop_bad_length",
	[VF_DROP_BAD_PKEY] = "drop_bad_pkey",
	[VF_DROP_NO_QP] = "drop_no_qp",
	[VF_DROP_QP_STATE] = "drop_qp_state",
	[VF_DROP_WRONG_ADDRESS] = "drop_wrong_address",
	[VF_DROP_BAD_QKEY] = "drop_bad_qkey",
	[VF_DROP_NO_RECEIVE] = "drop_no_receive",
	[VF_DROP_RECEIVE_TOO_SMALL] = "drop_receive_too_small",
	[VF_DROP_SEQUENCE] = "drop_sequence",
	[VF_DROP_DUPLICATE] = "drop_duplicate",
	[VF_DROP_AFTER_NAK] = "drop_after_nak",
	[VF_DROP_STALE_RESPONSE] = "drop_stale_response",
	[VF_DROP_GHOST_ACK] = "drop_ghost_ack",
	[VF_DROP_ACCESS] = "drop_access",
	[VF_DROP_NO_MULTICAST] = "drop_no_multicast",
	[VF_DROP_FLOW] = "drop_flow",
	[VF_DROP_READ_LIMIT] = "drop_read_limit",
	[VF_DROP_ICRC] = "drop_icrc",
	[VF_DROP_SOCKET] = "drop_socket",
	[VF_DROP_IMPAIR] = "drop_impair",
};

const char *vf_roce_counter_name(int counter)
{
	if (counter < 0 || counter >= VF_CNT_COUNT)
		return NULL;
	if (counter < (int)VF_CNT_DROP_FIRST)
		return counter_names[counter];
	return drop_names[counter - (int)VF_CNT_DROP_FIRST];
}

const char *vf_roce_drop_name(enum vf_roce_drop drop)
{
	return (unsigned)drop < VF_DROP_COUNT ? drop_names[drop] + sizeof("drop_") - 1 : NULL;
}

const char *vf_wc_status_name(enum vf_roce_wc_status status)
{
	static const char *const names[] = {
		[VF_ROCE_WC_SUCCESS] = "success",
		[VF_ROCE_WC_LOC_LEN_ERR] = "local length error",
		[VF_ROCE_WC_LOC_QP_OP_ERR] = "local QP operation error",
		[VF_ROCE_WC_LOC_PROT_ERR] = "local protection error",
		[VF_ROCE_WC_WR_FLUSH_ERR] = "flushed",
		[VF_ROCE_WC_MW_BIND_ERR] = "memory window bind error",
		[VF_ROCE_WC_BAD_RESP_ERR] = "bad response",
		[VF_ROCE_WC_LOC_ACCESS_ERR] = "local access error",
		[VF_ROCE_WC_REM_INV_REQ_ERR] = "remote invalid request",
		[VF_ROCE_WC_REM_ACCESS_ERR] = "remote access error",
		[VF_ROCE_WC_REM_OP_ERR] = "remote operation error",
		[VF_ROCE_WC_RETRY_EXC_ERR] = "retries exceeded: the peer does not answer",
		[VF_ROCE_WC_RNR_RETRY_EXC_ERR] =
			"RNR retries exceeded: the peer has no receive posted",
	};

	return (size_t)status < VF_ARRAY_SIZE(names) && names[status] ? names[status] : "unknown";
}

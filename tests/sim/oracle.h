/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_SIM_ORACLE_H
#define VF_TESTS_SIM_ORACLE_H
/*
 * Watches the packets of RC connections and fails the run when
 *   - a header field does not fit, or a length is not what its opcode and the path MTU make it;
 *   - a request is sent whose acknowledgement had arrived (acknowledged moves back);
 *   - a request is sent further ahead of the acknowledged than the window;
 *   - a NAK for a gap is not followed by the packet that it asks for;
 *   - an ACK acknowledges what never arrived.
 * It decodes the packets itself and knows nothing of the engine's state.
 */
#include "sim.h"

#define ORACLE_LANES_MAX 64
#define ORACLE_READS_MAX 256

struct oracle_read {
	uint64_t first, end, next; /* next response wanted */
};

/* Requests of one side of a connection and the answers to them. Positions count from the first PSN,
 * without wrapping. */
struct oracle_lane {
	unsigned from, to; /* nodes */
	uint32_t requester_qpn, responder_qpn;
	uint32_t psn; /* of position 0 */
	uint32_t mtu;
	uint64_t sent_end;  /* after the last request sent */
	uint64_t acked_end; /* everything before is acknowledged */
	uint64_t wanted;    /* has_nak: what a NAK asked for */
	bool has_nak;
	uint64_t got_end; /* everything before has arrived at the responder */
	struct oracle_read reads[ORACLE_READS_MAX];
	unsigned read_head, read_count;
	uint64_t last_read_end;
};

struct oracle {
	struct oracle_lane lanes[ORACLE_LANES_MAX];
	unsigned count;
	uint32_t window; /* packets; 0: not checked */
	uint64_t packets;
};

/** Both directions of an RC connection; call twice, once for each. */
void oracle_add(struct oracle *o, const struct oracle_lane *lane);
/** A sim_watch_fn; arg is the struct oracle. */
void oracle_watch(void *arg, struct sim *s, const struct sim_packet *p, bool is_arrival);

#endif

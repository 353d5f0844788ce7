/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_GOLDEN_REPLAY_H
#define VF_TESTS_GOLDEN_REPLAY_H
/*
 * Conversations with Linux's rxe, replayed: the requests that one side of a captured RC connection
 * sent go into an engine whose queue pair, keys and memory are made to be those of the other side.
 * What the engine answers is compared with what rxe answered.
 */
#include "pcap.h"

#define REPLAY_ANSWERS_MAX 256

struct replay_answer {
	uint8_t opcode, syndrome; /* syndrome: 0xff when there is none */
	uint32_t psn, msn, dest_qpn, payload_len;
	uint64_t original; /* atomics */
	uint32_t payload_crc;
};

/* What must be known beside the packets. */
struct replay_hints {
	uint32_t bad_key; /* is_key_bad: this key is of nobody */
	bool is_key_bad;
	bool is_memory_changing; /* the program wrote what is read next */
	bool is_short_region;	 /* the region ends before the access does */
	uint32_t receive_len;	 /* 0: as long as need be */
	unsigned drop_every,
		drop_at; /* of the packets that the asking side sent, these did not arrive */
};

/* One direction of one connection in a file. */
struct replay_side {
	uint8_t requester[16], responder[16];
	uint16_t sport;
	uint32_t requester_qpn, responder_qpn;
};

struct replay_result {
	struct replay_answer rxe[REPLAY_ANSWERS_MAX], ours[REPLAY_ANSWERS_MAX];
	unsigned rxe_count, our_count, requests;
};

/** Finds the sides of a file whose requests were answered, at most @max. */
unsigned replay_find(const struct golden_file *f, struct replay_side *out, unsigned max);
/** 0, or -1 when the engine refused to be set up. */
int replay_run(const struct golden_file *f, const struct replay_side *side,
	       const struct replay_hints *hints, struct replay_result *out);

#endif

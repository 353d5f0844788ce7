/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_BENCH_H
#define VF_CLI_BENCH_H
/*
 * Parts of ping and bench. Two ends: the asker sends (or reads) and prints, the answerer receives
 * and counts. They meet on a side channel (side.h).
 *
 *   bench.c         command line, the sweep, the answerer's loop
 *   bench_link.c    one end's queue pair with its memory: made, connected, destroyed
 *   bench_asker.c   the asker's part of one case     bench_answerer.c   the answerer's
 *   bench_wire.c    what the two tell each other     bench_report.c     tables, JSON, verdicts
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "side.h"

enum vf_bench_op { VF_BENCH_SEND, VF_BENCH_WRITE, VF_BENCH_READ, VF_BENCH_ATOMIC, VF_BENCH_OPS };
enum vf_bench_transport { VF_BENCH_RC, VF_BENCH_UC, VF_BENCH_UD, VF_BENCH_TRANSPORTS };
enum vf_bench_measure { VF_BENCH_BANDWIDTH, VF_BENCH_LATENCY, VF_BENCH_MEASURES };

#define VF_BENCH_SIZE_MAX  (1u << 30)
#define VF_BENCH_SLOTS_MAX 1024u
#define VF_BENCH_GRH	   40u

const char *vf_bench_op_name(enum vf_bench_op op);
const char *vf_bench_transport_name(enum vf_bench_transport t);
const char *vf_bench_measure_name(enum vf_bench_measure m);
/** Whether the transport has the operation. */
bool vf_bench_is_possible(enum vf_bench_transport t, enum vf_bench_op op);

/* What is measured; both ends know it. */
struct vf_bench_case {
	enum vf_bench_transport transport;
	enum vf_bench_op op;
	enum vf_bench_measure measure;
	bool verify, events;
	uint32_t size, slots, mtu; /* mtu: bytes, 0 for the most that both have */
	uint64_t count;		   /* messages; 0: by time */
	uint64_t duration_ns;
	uint64_t interval_ns; /* latency: between two messages (ping) */
};

/* How one end is reached. */
struct vf_bench_endpoint {
	uint32_t qpn, psn, rkey, mtu, rd_atomic, lid;
	uint64_t addr;
	union ibv_gid gid;
};

/* What one end counted. */
struct vf_bench_tally {
	uint64_t messages; /* asker: posted; answerer: arrived whole */
	uint64_t bytes,
		span_ns; /* between the first and the last arrival, without the first's bytes */
	uint64_t corrupt, lost, duplicates, stalls;
	uint64_t counter; /* atomic: what the memory holds at the end */
};

/* One end of a case. */
struct vf_bench_link {
	struct ibv_context *ctx;
	uint8_t port;
	int gid_index;
	struct vf_side *side;
	struct vf_bench_case what;
	struct vf_bench_endpoint local, remote;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	unsigned char *memory, *out, *in; /* out and in: slots x stride each */
	size_t memory_size, stride,
		head; /* head: bytes before the payload of a receive (GRH of UD) */
	uint32_t inline_max;
	unsigned idle;
	uint64_t progress_ns, beat_ns;
	bool is_asker;
	char error[320]; /* why it failed */
};

/* Result of a case, as it is printed. */
struct vf_bench_result {
	struct vf_bench_case what;
	uint64_t sent, arrived, lost, corrupt, duplicates;
	double sender_rate, receiver_rate; /* bytes per second; 0: not measured */
	double messages_per_s;
	bool is_above_link;
	struct vf_hist latency; /* ns */
};

/* bench_link.c: all return 0 or -errno with l->error set. */
int vf_bench_link_create(struct vf_bench_link *l);
int vf_bench_link_connect(struct vf_bench_link *l);
void vf_bench_link_destroy(struct vf_bench_link *l);
/** Completions, at most @max; 0 when there are none (after a look at the side channel); -errno: the
 * queue pair failed, or the peer is gone. */
int vf_bench_poll(struct vf_bench_link *l, struct ibv_wc *wc, int max);
/** A receive into slot @slot of the incoming area, or one that takes no data. */
int vf_bench_post_receive(struct vf_bench_link *l, uint64_t slot, bool has_data);
/** Sends without data: the number is the immediate value. */
int vf_bench_post_note(struct vf_bench_link *l, uint32_t number);
int vf_bench_fail(struct vf_bench_link *l, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define VF_BENCH_WR_RECEIVE (1ull << 63)
#define VF_BENCH_WR_NOTE    (1ull << 62)

/* A message of the case with number @message; @mark: it has a completion, and a write tells the
 * other end. */
int vf_bench_post(struct vf_bench_link *l, uint64_t message, bool mark);

/* The two ends of a case after the link is connected. */
int vf_bench_ask(struct vf_bench_link *l, struct vf_bench_result *r,
		 void (*each)(uint64_t message, uint64_t ns));
int vf_bench_answer(struct vf_bench_link *l, struct vf_bench_tally *t);

/* bench_wire.c */
void vf_bench_put_case(uint8_t body[64], const struct vf_bench_case *c);
/** False: a value that cannot be; *why says which. */
bool vf_bench_get_case(const uint8_t body[64], struct vf_bench_case *c, const char **why);
void vf_bench_put_endpoint(uint8_t body[64], const struct vf_bench_endpoint *e);
bool vf_bench_get_endpoint(const uint8_t body[64], struct vf_bench_endpoint *e);
void vf_bench_put_tally(uint8_t body[64], const struct vf_bench_tally *t);
void vf_bench_get_tally(const uint8_t body[64], struct vf_bench_tally *t);

/* How a run was asked for. */
struct vf_bench_options {
	const char *host, *port, *device;
	int gid_index; /* -1: chosen */
	bool is_server, is_self, is_once, json, verify, events, no_preflight, is_quiet;
	bool transports[VF_BENCH_TRANSPORTS], ops[VF_BENCH_OPS], measures[VF_BENCH_MEASURES];
	uint32_t sizes[64];
	unsigned n_sizes;
	uint32_t depth, mtu;
	uint64_t count, duration_ns, interval_ns;
	double link_rate; /* bits per second; 0: what the port says */
};

/* An asker's session: device opened, peer greeted. */
struct vf_bench_session {
	struct vf_side side;
	struct ibv_context *ctx;
	uint8_t port;
	int gid_index;
	char device[64], gid[48], error[320];
	double link_rate; /* bits per second, 0: unknown */
	uint32_t mtu;	  /* bytes, of this end */
	bool is_same_host, is_soft;
	int child; /* process id of the answerer when it is our own, else 0 */
};

/** Connects or forks, opens the device. VF_EXIT_OK, or a status with the reason printed. */
int vf_bench_session_begin(struct vf_bench_session *s, const struct vf_bench_options *o);
/** Measures one case. 0, or -errno with s->error set. */
int vf_bench_session_run(struct vf_bench_session *s, const struct vf_bench_case *c,
			 struct vf_bench_result *r, void (*each)(uint64_t message, uint64_t ns));
void vf_bench_session_end(struct vf_bench_session *s);
/** Serves askers until killed, or one with is_once. A status. */
int vf_bench_serve(const struct vf_bench_options *o);

/* bench_report.c */
struct vf_json;
void vf_bench_print_head(const struct vf_bench_session *s, const struct vf_bench_options *o);
void vf_bench_print_row(const struct vf_bench_result *r, bool is_first);
void vf_bench_json_row(struct vf_json *j, const struct vf_bench_result *r);
/** This process's counters that are not zero: all of them, or (text) only those that tell of
 * trouble. */
void vf_bench_json_counters(struct vf_json *j, struct ibv_context *ctx);
void vf_bench_print_trouble(struct ibv_context *ctx);
/** Link against what was measured: OK or DOUBTFUL, said in @text. */
int vf_bench_verdict(const struct vf_bench_session *s, const struct vf_bench_result *r, unsigned n,
		     char *text, size_t room);

#endif

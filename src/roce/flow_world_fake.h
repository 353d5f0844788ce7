/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_ROCE_FLOW_WORLD_FAKE_H
#define VF_ROCE_FLOW_WORLD_FAKE_H
/*
 * A small world for tests of flow control: nodes that want to send so many packets to each other,
 * links that keep the order, receive buffers of a fixed size as a socket has them, and a virtual
 * clock.
 */
#include "roce/flow_state.h"

#define NODES_MAX    65
#define BUDGET	     400000u
#define BUFFER_SPARE 65536u /* for control packets, which no credit covers */

struct packet {
	vf_nsec at;
	uint64_t order;
	uint8_t from, to;
	bool is_control;
	uint32_t cost, len;
	uint8_t data[VF_ROCE_HEADERS_MAX];
};

struct link {
	struct vf_list waiter;
	struct vf_flow *flow;
	vf_nsec last_arrival;
	uint64_t backlog, sent, delivered;
	enum vf_roce_type type;
};

struct node {
	struct vf_flow_table *table;
	struct vf_roce_counters counters;
	struct vf_roce_path own; /* sgid is this node's address */
	struct link to[NODES_MAX];
	struct packet *buffer;
	unsigned buffered;
	uint32_t used, size; /* of the buffer, in cost units */
	vf_nsec run_at, stopped_until;
	unsigned rounds; /* runs at the same time */
	bool is_foreign;
};

struct world {
	struct node nodes[NODES_MAX];
	unsigned count;
	struct packet *heap;
	unsigned heaped;
	uint64_t order, overflows, controls;
	vf_nsec now;
	struct vf_rand rand;
	unsigned loss_percent;
	uint32_t wire_min, wire_max;
};

void node_start(struct world *w, unsigned i);
void link_open(struct world *w, unsigned from, unsigned to);
struct world *world_make(unsigned count, uint64_t seed);
void world_end(struct world *w);
void check_table(const struct vf_flow_table *t, unsigned loss_percent);
void start_all(struct world *w);
bool world_run(struct world *w, vf_nsec until, bool is_to_the_end);
void talk(struct world *w, unsigned from, unsigned to, uint64_t packets, enum vf_roce_type type);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_NET_FAKE_H
#define VF_PROVIDER_SOFT_NET_FAKE_H
/*
 * For tests of the network side alone: an engine that sends what it is told and checks what comes
 * in, objects that do nothing, and nodes: processes of their own that run the network side and obey
 * commands.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "provider/soft/net.h"

/* What a node has seen so far. */
struct fake_report {
	unsigned slot;
	uint64_t received, bytes, disorder, damaged, faults;
	uint64_t from[VF_OS_SLOTS]; /* packets by the sender's slot */
	bool died[VF_OS_SLOTS];	    /* whose end was told */
	struct vf_roce_counters counters;
	int error; /* of the last command, or of opening */
};

/* FAKE_MISHEAR: a hang-up is taken for the slot's, which was another's with the same descriptor */
enum fake_op { FAKE_REPORT, FAKE_SEND, FAKE_WATCH, FAKE_MISHEAR, FAKE_FORK, FAKE_QUIT };

struct fake_command {
	enum fake_op op;
	unsigned slot, count,
		len; /* len: of the payload; the last packet of a batch is 3 shorter */
	bool is_ipv6, is_volatile, is_straight; /* straight: not by the shared port */
	int gone; /* index of the packet whose payload cannot be read; -1: none */
};

struct fake_node {
	pid_t pid;
	int fd;
	unsigned slot;
};

/** A process with the network side running. */
void fake_node_start(struct fake_node *n);
/** As above, but returns -errno when the network side could not be opened. */
int fake_node_try(struct fake_node *n);
int fake_node_command(struct fake_node *n, const struct fake_command *c, struct fake_report *out);
/** Reports until @packets have come in from @slot, or five seconds are over. */
void fake_node_expect(struct fake_node *n, unsigned slot, uint64_t packets,
		      struct fake_report *out);
void fake_node_stop(struct fake_node *n);
/** kill -9. */
void fake_node_kill(struct fake_node *n);
/** Whatever a failed test left running. */
void fake_nodes_end(void);

#endif

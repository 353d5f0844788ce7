/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_SETTINGS_H
#define VF_BASE_SETTINGS_H
/*
 * Every environment variable of ours, in one table: name, default, meaning. `verbifrost env` and the manual page are made
 * from it. A variable that is not in this table does not exist.
 */
#include <stdint.h>

enum vf_setting_id {
	VF_SET_LOG,	      /* level of the log */
	VF_SET_PCAP,	      /* file that gets what goes over the wire */
	VF_SET_IMPAIR,	      /* loss, duplication, reordering, delay, corruption on purpose */
	VF_SET_INTERFACES,    /* which interfaces become devices */
	VF_SET_UDP_PORT,      /* 4791 unless for tests */
	VF_SET_RCVBUF_BYTES,  /* receive buffer asked of the system */
	VF_SET_SLOT_DIR,      /* where slots are kept on systems without abstract sockets */
	VF_SET_ICRC,	      /* check, nocheck, off */
	VF_SET_PEER_DEATH,    /* what happens to UD queue pairs when a peer on this host dies */
	VF_SET_LID,	      /* off, on: programs that know only LIDs */
	VF_SET_PROGRESS,      /* thread that serves the device while the program computes */
	VF_SET_COUNT
};

struct vf_setting {
	const char *name;
	const char *fallback; /* default, as one would write it in the environment */
	const char *help;     /* one sentence */
};

/** The table's row, NULL when @id is out of range. */
const struct vf_setting *vf_setting_row(int id);
/** The value in force: the environment's when set and not empty, else the default. Never NULL. */
const char *vf_setting_string(enum vf_setting_id id);
/** The same as a number; text that is no number in [min, max] counts as the default (and is logged once). */
uint64_t vf_setting_number(enum vf_setting_id id, uint64_t min, uint64_t max);

#endif

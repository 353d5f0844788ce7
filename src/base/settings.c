/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of environment variables and how their values are read. */
#include "base/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"

static const struct vf_setting table[VF_SET_COUNT] = {
	[VF_SET_LOG] = {"VERBIFROST_LOG", "none",
			"Log to standard error: none, error, warn (every refusal with its reason), info or debug."},
	[VF_SET_PCAP] = {"VERBIFROST_PCAP", "",
			 "Write every packet sent and received to this file, as Wireshark reads it; %p becomes the process id."},
	[VF_SET_IMPAIR] = {"VERBIFROST_IMPAIR", "",
			   "Impair what is sent: loss=1%,dup=1%,reorder=1%,delay=5ms,corrupt=1%,seed=7 (any subset)."},
	[VF_SET_INTERFACES] = {"VERBIFROST_INTERFACES", "",
			       "Comma-separated interface names that become devices; empty means every usable one."},
	[VF_SET_UDP_PORT] = {"VERBIFROST_UDP_PORT", "4791",
			     "UDP port of RoCEv2; both ends must agree, and other RoCE devices know only 4791."},
	[VF_SET_RCVBUF_BYTES] = {"VERBIFROST_RCVBUF_BYTES", "4194304",
				 "Receive buffer asked of the system; less is granted where net.core.rmem_max is smaller."},
	[VF_SET_SLOT_DIR] = {"VERBIFROST_SLOT_DIR", "",
			     "Folder of the process slots on systems without abstract sockets; empty means one in the user's temporary folder."},
	[VF_SET_ICRC] = {"VERBIFROST_ICRC", "check",
			 "Invariant CRC: check (send and verify), nocheck (send, accept any), off (send zero, accept any)."},
	[VF_SET_PEER_DEATH] = {"VERBIFROST_PEER_DEATH", "flush",
			       "When a peer process on this host dies, UC queue pairs: flush (event and error state), event, or ignore; "
			       "flush-ud: UD ones too, with their last peer."},
	[VF_SET_LID] = {"VERBIFROST_LID", "off",
			"on: a port has a LID, the last two bytes of its IPv4 address, and programs that know only LIDs (qperf) "
			"reach ports whose first two bytes are the same."},
	[VF_SET_PROGRESS] = {"VERBIFROST_PROGRESS", "thread",
			     "thread: serve the network while the program computes; none: only inside verbs calls."},
};

const struct vf_setting *vf_setting_row(int id)
{
	return id >= 0 && id < VF_SET_COUNT ? &table[id] : NULL;
}

const char *vf_setting_string(enum vf_setting_id id)
{
	const char *v = getenv(table[id].name);

	return v && *v ? v : table[id].fallback;
}

uint64_t vf_setting_number(enum vf_setting_id id, uint64_t min, uint64_t max)
{
	const char *v = vf_setting_string(id);
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(v, &end, 0);
	if (errno || *end || end == v || n < min || n > max)
		n = strtoull(table[id].fallback, NULL, 0);
	return n;
}

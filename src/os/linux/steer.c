/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering of the shared port: a classic BPF program on the group of SO_REUSEPORT sockets
 * (socket(7), SO_ATTACH_REUSEPORT_CBPF). It sees the UDP payload and returns the position of a
 * socket in the group; a position that does not exist makes the kernel choose by hash. One program
 * serves the whole group: whoever attaches last decides for all.
 *
 *   if payload[0] == probe: return payload[12]
 *   for each known position: if payload[5] == its slot: return position
 *   return none
 */
#include "os/linux/udp.h"

#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>

#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF 51
#endif

enum { PROBE_AT = 0, POSITION_AT = 12, SLOT_AT = 5, PROGRAM_MAX = 6 + 2 * VF_OS_SLOTS };

static struct sock_filter op(uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	return (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = k};
}

int vf_os_udp_steer(struct vf_os_udp *s, const int *slot_of, unsigned count, uint8_t probe_opcode)
{
	struct sock_filter code[PROGRAM_MAX];
	struct sock_fprog prog = {.filter = code};
	unsigned short n = 0;

	if (count > VF_OS_SLOTS)
		return -EINVAL;
	code[n++] = op(BPF_LD | BPF_B | BPF_ABS, PROBE_AT, 0, 0);
	code[n++] = op(BPF_JMP | BPF_JEQ | BPF_K, probe_opcode, 0, 2);
	code[n++] = op(BPF_LD | BPF_B | BPF_ABS, POSITION_AT, 0, 0);
	code[n++] = op(BPF_RET | BPF_A, 0, 0, 0);
	code[n++] = op(BPF_LD | BPF_B | BPF_ABS, SLOT_AT, 0, 0);
	for (unsigned i = 0; i < count; i++) {
		if (slot_of[i] < 0 || slot_of[i] >= VF_OS_SLOTS)
			continue;
		code[n++] = op(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)slot_of[i], 0, 1);
		code[n++] = op(BPF_RET | BPF_K, i, 0, 0);
	}
	code[n++] = op(BPF_RET | BPF_K, UINT32_MAX, 0, 0);
	prog.len = n;
	if (setsockopt(s->fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog)) < 0)
		return errno == ENOPROTOOPT ? -EOPNOTSUPP : -errno;
	return 0;
}

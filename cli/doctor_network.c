/* SPDX-License-Identifier: BSD-2-Clause */
/* Doctor: whether the UDP port can be had, and how large a receive buffer the system grants,
 * measured by asking for it. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <verbifrost/verbifrost.h>

#include "doctor.h"

/* The value in force of one of our variables, as a number. */
static unsigned long long setting(const char *name, unsigned long long fallback)
{
	struct verbifrost_setting s;

	for (unsigned i = 0; verbifrost_query_setting(i, &s) == 0; i++)
		if (strcmp(s.name, name) == 0) {
			char *end;
			unsigned long long v = strtoull(s.value, &end, 0);

			return end != s.value && !*end ? v : fallback;
		}
	return fallback;
}

static void check_port(struct vf_report *r, unsigned port)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1, err = 0;
	char who[160], fix[160];

	if (fd < 0) {
		vf_report_add(r, VF_CHECK_FAIL, "udp-port", "no UDP socket: %s", strerror(errno));
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&in4, sizeof(in4)) != 0)
		err = errno;
	close(fd);
	if (err == 0) {
		vf_report_add(r, VF_CHECK_OK, "udp-port", "UDP port %u can be used", port);
		return;
	}
	vf_system_fix_udp_port(port, fix, sizeof(fix));
	if (vf_system_udp_holder(port, who, sizeof(who)))
		vf_report_add(r, VF_CHECK_FAIL, "udp-port", "UDP port %u: %s; it is held by %s",
			      port, strerror(err), who);
	else
		vf_report_add(r, VF_CHECK_FAIL, "udp-port", "UDP port %u: %s", port, strerror(err));
	vf_report_fix(r, "%s", fix);
}

/* Linux answers with twice what it granted and takes bookkeeping from that; the doubling is undone
 * here by comparing with a small wish. */
static unsigned long long granted(int fd, unsigned long long wish)
{
	int small = 32768, want = wish > 1u << 30 ? 1 << 30 : (int)wish, got = 0, factor = 1;
	socklen_t len = sizeof(got);

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &len) == 0 && got == 2 * small)
		factor = 2;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &want, sizeof(want));
	len = sizeof(got);
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &len) != 0)
		return 0;
	return (unsigned long long)got / (unsigned)factor;
}

static void check_buffer(struct vf_report *r, unsigned long long wish)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	unsigned long long got;
	char fix[160];

	if (fd < 0)
		return;
	got = granted(fd, wish);
	close(fd);
	if (got >= wish) {
		vf_report_add(r, VF_CHECK_OK, "rcvbuf", "a receive buffer of %llu bytes is granted",
			      got);
		return;
	}
	vf_system_fix_receive_buffer(wish, fix, sizeof(fix));
	vf_report_add(
		r, VF_CHECK_WARN, "rcvbuf",
		"asked for a receive buffer of %llu bytes, granted %llu: flow control keeps "
		"messages from being lost between Verbifrost devices, but "
		"with other RoCE devices overflow costs retransmissions (RC) and messages (UC, UD)",
		wish, got);
	vf_report_fix(r, "%s", fix);
}

void vf_doctor_network(struct vf_report *r)
{
	check_port(r, (unsigned)setting("VERBIFROST_UDP_PORT", 4791) & 0xffff);
	check_buffer(r, setting("VERBIFROST_RCVBUF_BYTES", 4194304));
}

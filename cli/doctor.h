/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_DOCTOR_H
#define VF_CLI_DOCTOR_H
/* The doctor's report: rows that say what was looked at, what was found, and the command that would
 * change it. */
#include <stdbool.h>
#include <stddef.h>

enum vf_check_state {
	VF_CHECK_OK,
	VF_CHECK_NOTE, /* worth knowing, nothing wrong */
	VF_CHECK_WARN, /* works, could be better */
	VF_CHECK_FAIL, /* does not work */
	VF_CHECK_STATES
};

struct vf_check {
	enum vf_check_state state;
	const char *id; /* stable, for programs */
	char text[320];
	char fix[240]; /* "" when there is nothing to do */
};

#define VF_CHECKS_MAX 128u

struct vf_report {
	struct vf_check checks[VF_CHECKS_MAX];
	unsigned n;
};

const char *vf_check_state_name(enum vf_check_state state);
/** Adds a row; the text as printf has it. */
void vf_report_add(struct vf_report *r, enum vf_check_state state, const char *id, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5)));
/** Sets the command that would fix what the last row says. */
void vf_report_fix(struct vf_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The sections, in the order of the report. */
void vf_doctor_library(struct vf_report *r);
void vf_doctor_dropin(struct vf_report *r);
void vf_doctor_devices(struct vf_report *r);
void vf_doctor_network(struct vf_report *r);
void vf_doctor_self_test(struct vf_report *r);
void vf_doctor_peer(struct vf_report *r, const char *host, const char *port);
/** What only this operating system has: doctor_linux.c, doctor_darwin.c. */
void vf_doctor_system(struct vf_report *r);

/** Who holds a UDP port, in words; false: not found out. */
bool vf_system_udp_holder(unsigned port, char *out, size_t room);
/** The command that lists who holds it, that gives an interface an IPv4 address, that switches it
 * on, and that raises the limit of receive buffers. */
void vf_system_fix_udp_port(unsigned port, char *out, size_t room);
void vf_system_fix_ipv4(const char *interface, char *out, size_t room);
void vf_system_fix_down(const char *interface, char *out, size_t room);
void vf_system_fix_receive_buffer(unsigned long long bytes, char *out, size_t room);

#endif

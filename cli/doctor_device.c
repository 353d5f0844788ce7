/* SPDX-License-Identifier: BSD-2-Clause */
/* Doctor: devices, ports and their addresses, MTU, and whether memory of each kind can be
 * registered. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <verbifrost/verbifrost.h>

#include "device.h"
#include "doctor.h"

#define GIDS_MAX 64

static void list_gids(const struct vf_gid *gids, unsigned n, char *out, size_t room)
{
	size_t at = 0;

	snprintf(out, room, "none");
	for (unsigned i = 0; i < n && at + VF_GID_TEXT + 8 < room; i++)
		at += (size_t)snprintf(out + at, room - at, "%s%u=%s", i ? ", " : "", gids[i].index,
				       gids[i].text);
}

/* One line for a port: interface, state, GIDs; and what to do when a program would find no address
 * to use. */
static void check_port(struct vf_report *r, const char *name, struct ibv_context *ctx, uint8_t port)
{
	struct ibv_port_attr attr;
	struct vf_gid gids[GIDS_MAX];
	char list[200], interface[IF_NAMESIZE], fix[200];
	bool has_ipv4 = false;
	unsigned n;

	if (ibv_query_port(ctx, port, &attr) != 0) {
		vf_report_add(r, VF_CHECK_FAIL, "port", "%s port %u cannot be read: %s", name, port,
			      verbifrost_last_error());
		return;
	}
	n = vf_gid_list(ctx, port, gids, GIDS_MAX);
	for (unsigned i = 0; i < n; i++)
		has_ipv4 |= gids[i].is_ipv4;
	list_gids(gids, n, list, sizeof(list));
	vf_device_interface(ctx, name, interface);
	if (attr.state != IBV_PORT_ACTIVE) {
		vf_system_fix_down(interface, fix, sizeof(fix));
		vf_report_add(
			r, VF_CHECK_NOTE, "port",
			"%s port %u: interface %s, %s, GIDs %s: nothing can be sent until it is up",
			name, port, interface[0] ? interface : "unknown",
			vf_port_state_name(attr.state), list);
		vf_report_fix(r, "%s", fix);
	} else if (!has_ipv4) {
		vf_system_fix_ipv4(interface[0] ? interface : "INTERFACE", fix, sizeof(fix));
		vf_report_add(r, VF_CHECK_FAIL, "port",
			      "%s port %u: interface %s, %s, GIDs %s: no IPv4 address, so index 1, "
			      "which most programs use, is empty",
			      name, port, interface[0] ? interface : "unknown",
			      vf_port_state_name(attr.state), list);
		vf_report_fix(r, "%s", fix);
	} else {
		vf_report_add(r, VF_CHECK_OK, "port", "%s port %u: interface %s, %s, GIDs %s", name,
			      port, interface[0] ? interface : "unknown",
			      vf_port_state_name(attr.state), list);
	}
	if (attr.state == IBV_PORT_ACTIVE && vf_mtu_bytes(attr.active_mtu) < 1024)
		vf_report_add(r, VF_CHECK_WARN, "mtu",
			      "%s port %u: path MTU %u: small packets cost speed; an interface MTU "
			      "of 1500 gives 1024, one of 4200 or more gives 4096",
			      name, port, vf_mtu_bytes(attr.active_mtu));
	else if (attr.state == IBV_PORT_ACTIVE)
		vf_report_add(r, VF_CHECK_OK, "mtu", "%s port %u: path MTU %u", name, port,
			      vf_mtu_bytes(attr.active_mtu));
}

enum memory_kind {
	MEMORY_HEAP,
	MEMORY_PAGES,
	MEMORY_PRIVATE,
	MEMORY_SHARED,
	MEMORY_READ_ONLY,
	MEMORY_KINDS
};

struct memory {
	void *base, *at; /* what to give back, what to register */
	size_t size, length;
	int access;
	const char *name;
};

static bool take_memory(enum memory_kind kind, struct memory *m)
{
	static const char *const names[MEMORY_KINDS] = {
		"heap memory at an odd address", "page-aligned heap memory", "a private mapping",
		"a shared mapping", "a read-only mapping (for sending)"};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int share = kind == MEMORY_SHARED ? MAP_SHARED : MAP_PRIVATE;

	*m = (struct memory){.size = 4 * page,
			     .length = 4 * page,
			     .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
			     .name = names[kind]};
	if (kind == MEMORY_HEAP) {
		m->base = malloc(m->size);
		m->at = m->base ? (char *)m->base + 3 : NULL;
		m->length = 1001;
		return m->base;
	}
	if (kind == MEMORY_PAGES) {
		if (posix_memalign(&m->base, page, m->size) != 0)
			return false;
		m->at = m->base;
		return true;
	}
	m->base = mmap(NULL, m->size, kind == MEMORY_READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE,
		       share | MAP_ANON, -1, 0);
	m->at = m->base;
	if (kind == MEMORY_READ_ONLY)
		m->access = 0;
	return m->base != MAP_FAILED;
}

static void check_memory(struct vf_report *r, const char *name, struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	unsigned good = 0;

	if (!pd) {
		vf_report_add(r, VF_CHECK_FAIL, "memory", "%s: no protection domain: %s", name,
			      verbifrost_last_error());
		return;
	}
	for (enum memory_kind kind = MEMORY_HEAP; kind < MEMORY_KINDS; kind++) {
		struct memory m;
		struct ibv_mr *mr;

		if (!take_memory(kind, &m))
			continue;
		mr = ibv_reg_mr(pd, m.at, m.length, m.access);
		if (mr)
			good++;
		else
			vf_report_add(r, VF_CHECK_FAIL, "memory",
				      "%s: %s cannot be registered: %s %s", name, m.name,
				      strerror(errno), verbifrost_last_error());
		if (mr)
			ibv_dereg_mr(mr);
		if (kind <= MEMORY_PAGES)
			free(m.base);
		else
			munmap(m.base, m.size);
	}
	if (good == MEMORY_KINDS)
		vf_report_add(r, VF_CHECK_OK, "memory",
			      "%s: heap, page-aligned, private, shared and read-only memory can be "
			      "registered",
			      name);
	ibv_dealloc_pd(pd);
}

static void check_device(struct vf_report *r, struct ibv_device *dev, bool with_memory)
{
	const char *name = ibv_get_device_name(dev);
	struct ibv_context *ctx = ibv_open_device(dev);
	struct ibv_device_attr attr;

	if (!ctx) {
		vf_report_add(r, VF_CHECK_FAIL, "device", "%s cannot be opened: %s; %s", name,
			      strerror(errno), verbifrost_last_error());
		return;
	}
	if (ibv_query_device(ctx, &attr) == 0)
		for (unsigned p = 1; p <= attr.phys_port_cnt; p++)
			check_port(r, name, ctx, (uint8_t)p);
	if (with_memory)
		check_memory(r, name, ctx);
	ibv_close_device(ctx);
}

void vf_doctor_devices(struct vf_report *r)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	const char *what, *why;
	char fix[200];

	if (!list) {
		vf_report_add(r, VF_CHECK_FAIL, "devices",
			      "the list of devices cannot be read: %s %s", strerror(errno),
			      verbifrost_last_error());
		return;
	}
	if (n == 0) {
		vf_report_add(r, VF_CHECK_FAIL, "devices",
			      "there is no device: no network interface of this machine is usable");
		if (getenv("VERBIFROST_INTERFACES"))
			vf_report_fix(r, "unset VERBIFROST_INTERFACES");
	} else {
		vf_report_add(r, VF_CHECK_OK, "devices", "%d found", n);
	}
	for (unsigned i = 0; verbifrost_query_skipped(i, &what, &why) == 0; i++) {
		vf_report_add(r, VF_CHECK_NOTE, "devices", "left out %s: %s", what, why);
		fix[0] = '\0';
		if (strstr(why, "no IP address"))
			vf_system_fix_ipv4(what, fix, sizeof(fix));
		else if (strcmp(why, "down") == 0)
			vf_system_fix_down(what, fix, sizeof(fix));
		vf_report_fix(r, "%s", fix);
	}
	for (int i = 0; i < n; i++)
		check_device(r, list[i], i == 0);
	ibv_free_device_list(list);
}

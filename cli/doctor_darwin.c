/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doctor on macOS: what Verbifrost takes for granted about the system, each measured, and the state
 * of Apple's own Thunderbolt RDMA. This file was written from published sources and has never run
 * on a Mac: its report, pasted into an issue, is what will tell.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <mach/mach.h>
#include <mach/vm_region.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "apple_state.h"
#include "doctor.h"

#ifndef IP_DONTFRAG
#define IP_DONTFRAG 28
#endif

static bool read_sysctl(const char *name, int *out)
{
	size_t len = sizeof(*out);

	return sysctlbyname(name, out, &len, NULL, 0) == 0;
}

/* The invariant CRC covers the IPv4 identification: it must be 0 for packets that may not be
 * fragmented. */
static void check_identification(struct vf_report *r)
{
	int value = 0, on = 1, fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (!read_sysctl("net.inet.ip.rfc6864", &value))
		vf_report_add(r, VF_CHECK_NOTE, "rfc6864", "net.inet.ip.rfc6864 cannot be read: %s",
			      strerror(errno));
	else if (value != 0)
		vf_report_add(
			r, VF_CHECK_OK, "rfc6864",
			"net.inet.ip.rfc6864 is %d: unfragmentable packets have identification 0",
			value);
	else {
		vf_report_add(r, VF_CHECK_FAIL, "rfc6864",
			      "net.inet.ip.rfc6864 is 0: other RoCE devices will refuse our "
			      "packets over IPv4");
		vf_report_fix(r, "sudo sysctl -w net.inet.ip.rfc6864=1");
	}
	if (fd >= 0 && setsockopt(fd, IPPROTO_IP, IP_DONTFRAG, &on, sizeof(on)) == 0)
		vf_report_add(r, VF_CHECK_OK, "dontfrag", "IP_DONTFRAG can be set on a UDP socket");
	else
		vf_report_add(r, VF_CHECK_FAIL, "dontfrag",
			      "IP_DONTFRAG cannot be set: %s; macOS 11 or later has it",
			      strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* struct msghdr_x of XNU's bsd/sys/socket_private.h, by its documented members. */
struct message_x {
	void *msg_name;
	socklen_t msg_namelen;
	struct iovec *msg_iov;
	int msg_iovlen;
	void *msg_control;
	socklen_t msg_controllen;
	int msg_flags;
	size_t msg_datalen;
};

typedef ssize_t (*sendmsg_x_fn)(int, const struct message_x *, unsigned, int);

/* Two datagrams in one call over a connected pair of sockets, and both must arrive. */
static void check_sendmsg_x(struct vf_report *r)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	struct iovec iov[2] = {{(char[]){"a"}, 1}, {(char[]){"b"}, 1}};
	struct message_x messages[2] = {{.msg_iov = &iov[0], .msg_iovlen = 1},
					{.msg_iov = &iov[1], .msg_iovlen = 1}};
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	void *symbol = dlsym(RTLD_DEFAULT, "sendmsg_x");
	sendmsg_x_fn send_both;
	ssize_t sent = -1;
	char byte;

	if (!symbol) {
		vf_report_add(r, VF_CHECK_WARN, "sendmsg_x",
			      "the system has no sendmsg_x: packets go out one at a time, which is "
			      "slower");
	} else if (in >= 0 && out >= 0 && bind(in, (struct sockaddr *)&at, sizeof(at)) == 0 &&
		   getsockname(in, (struct sockaddr *)&at, &len) == 0 &&
		   connect(out, (struct sockaddr *)&at, len) == 0) {
		memcpy(&send_both, &symbol, sizeof(send_both));
		sent = send_both(out, messages, 2, 0);
		if (sent == 2 && recv(in, &byte, 1, 0) == 1 && recv(in, &byte, 1, 0) == 1)
			vf_report_add(r, VF_CHECK_OK, "sendmsg_x",
				      "sendmsg_x sends two datagrams in a call");
		else
			vf_report_add(r, VF_CHECK_WARN, "sendmsg_x",
				      "sendmsg_x sent %zd of 2 datagrams: %s", sent,
				      strerror(errno));
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
}

static bool tag_of(const void *p, unsigned *tag, unsigned *protection)
{
	vm_address_t at = (vm_address_t)p;
	vm_size_t size = 0;
	natural_t depth = 16;
	struct vm_region_submap_info_64 info;
	mach_msg_type_number_t n = VM_REGION_SUBMAP_INFO_COUNT_64;

	if (vm_region_recurse_64(mach_task_self(), &at, &size, &depth,
				 (vm_region_recurse_info_t)&info, &n) != KERN_SUCCESS)
		return false;
	*tag = info.user_tag;
	*protection = (unsigned)info.protection;
	return true;
}

/* Which kind of memory an address is: registration explains itself by the tag of the region. */
static void check_regions(struct vf_report *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *heap = malloc(100),
	     *pages = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0);
	unsigned heap_tag = 0, pages_tag = 0, protection = 0;

	if (heap && pages != MAP_FAILED && tag_of(heap, &heap_tag, &protection) &&
	    tag_of(pages, &pages_tag, &protection))
		vf_report_add(r, protection == VM_PROT_READ ? VF_CHECK_OK : VF_CHECK_WARN,
			      "vm-region",
			      "pages of %zu bytes; heap has tag %u, an anonymous mapping tag %u, a "
			      "read-only one protection %u",
			      page, heap_tag, pages_tag, protection);
	else
		vf_report_add(r, VF_CHECK_WARN, "vm-region",
			      "vm_region_recurse_64 does not say what memory is");
	free(heap);
	if (pages != MAP_FAILED)
		munmap(pages, page);
}

/* What a command prints, cut to the room there is. */
static void output_of(const char *command, char *out, size_t room)
{
	FILE *f = popen(command, "r");
	size_t n = f ? fread(out, 1, room - 1, f) : 0;

	out[n] = '\0';
	if (f)
		pclose(f);
}

static bool has_ipv4(const char *interface)
{
	struct ifaddrs *list = NULL;
	bool has = false;

	if (getifaddrs(&list) != 0)
		return false;
	for (struct ifaddrs *a = list; a; a = a->ifa_next)
		has |= a->ifa_addr && a->ifa_addr->sa_family == AF_INET &&
		       strcmp(a->ifa_name, interface) == 0;
	freeifaddrs(list);
	return has;
}

/* Apple's library, by the names it exports; its structures are touched only where they begin. */
struct apple {
	void **(*get_device_list)(int *);
	void (*free_device_list)(void **);
	const char *(*get_device_name)(void *);
	void *(*open_device)(void *);
	int (*close_device)(void *);
	int (*query_port)(void *, uint8_t, void *);
	void *(*alloc_pd)(void *);
	int (*dealloc_pd)(void *);
	void *(*reg_mr)(void *, void *, size_t, int);
	int (*dereg_mr)(void *);
};

static bool find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool load(struct apple *a)
{
	void *library = dlopen("/usr/lib/librdma.dylib", RTLD_NOW | RTLD_LOCAL);

	return library && find(library, "ibv_get_device_list", &a->get_device_list) &&
	       find(library, "ibv_free_device_list", &a->free_device_list) &&
	       find(library, "ibv_get_device_name", &a->get_device_name) &&
	       find(library, "ibv_open_device", &a->open_device) &&
	       find(library, "ibv_close_device", &a->close_device) &&
	       find(library, "ibv_query_port", &a->query_port) &&
	       find(library, "ibv_alloc_pd", &a->alloc_pd) &&
	       find(library, "ibv_dealloc_pd", &a->dealloc_pd) &&
	       find(library, "ibv_reg_mr", &a->reg_mr) &&
	       find(library, "ibv_dereg_mr", &a->dereg_mr);
}

static void report_state(struct vf_report *r, const char *name, const struct vf_apple_facts *f)
{
	enum vf_apple_state state = vf_apple_state_of(f);
	const char *interface = strchr(name, '_') ? strchr(name, '_') + 1 : name;
	char fix[160];

	vf_apple_state_fix(state, interface, fix, sizeof(fix));
	vf_report_add(r, state == VF_APPLE_READY ? VF_CHECK_OK : VF_CHECK_NOTE, "thunderbolt",
		      "%s: %s", name, vf_apple_state_text(state));
	vf_report_fix(r, "%s", fix);
}

/* Registers @len bytes at @p and takes them back: 0, or the errno of the refusal. */
static int try_memory(const struct apple *a, void *pd, void *p, size_t len)
{
	static const int local_and_remote =
		1 | 2 | 4; /* IBV_ACCESS_LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ */
	void *mr;

	errno = 0;
	mr = p ? a->reg_mr(pd, p, len, local_and_remote) : NULL;
	if (!mr)
		return errno ? errno : EIO;
	a->dereg_mr(mr);
	return 0;
}

/* Which memory Apple's device takes: reports differ, and alignment to pages would explain them all.
 */
static void check_apple_memory(struct vf_report *r, const struct apple *a, const char *name,
			       void *context)
{
	static const size_t alignments[] = {64, 4096, 16384};
	static const size_t len = 65536;
	void *pd = a->alloc_pd(context), *p;
	int result[5] = {0};

	if (!pd)
		return;
	p = malloc(len);
	result[0] = try_memory(a, pd, p ? (char *)p + 16 : NULL, 1000);
	free(p);
	for (int i = 0; i < 3; i++) {
		if (posix_memalign(&p, alignments[i], len + 64) != 0)
			continue;
		/* no better aligned than asked for */
		result[1 + i] = try_memory(a, pd, i == 0 ? (char *)p + 64 : p, len);
		free(p);
	}
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	result[4] = try_memory(a, pd, p == MAP_FAILED ? NULL : p, len);
	if (p != MAP_FAILED)
		munmap(p, len);
	a->dealloc_pd(pd);
	vf_report_add(r, VF_CHECK_NOTE, "librdma",
		      "%s registers memory (0: yes, else errno): heap at 16 %d, aligned to 64 %d, "
		      "to 4096 %d, to 16384 %d, a mapping %d",
		      name, result[0], result[1], result[2], result[3], result[4]);
}

/* One device of Apple's: the layout check is that the context begins with the device it was opened
 * from. */
static void check_apple_device(struct vf_report *r, const struct apple *a, void *device,
			       struct vf_apple_facts f, const char *bridge)
{
	const char *name = a->get_device_name(device),
		   *interface = strchr(name, '_') ? strchr(name, '_') + 1 : name;
	void *context = a->open_device(device), *first;
	struct {
		int state;
		unsigned char rest[508];
	} port;

	f.is_bridge_member = vf_apple_is_member(bridge, interface);
	f.has_ipv4 = has_ipv4(interface);
	if (context) {
		memcpy(&first, context, sizeof(first));
		vf_report_add(r, first == device ? VF_CHECK_OK : VF_CHECK_WARN, "librdma",
			      "%s: the context %s with its device", name,
			      first == device ? "begins" : "does not begin");
		memset(&port, 0, sizeof(port));
		f.is_active = a->query_port(context, 1, &port) == 0 && port.state == 4;
		check_apple_memory(r, a, name, context);
		a->close_device(context);
	}
	report_state(r, name, &f);
}

static void check_thunderbolt(struct vf_report *r)
{
	static char profiler[65536], status[512], bridge[8192];
	struct vf_apple_facts f = {false, false, false, false, false};
	struct apple a;
	void **list;
	int n = 0;

	if (!load(&a)) {
		vf_report_add(r, VF_CHECK_NOTE, "librdma",
			      "Apple's librdma is not there (macOS 26.2 and later have it); the "
			      "soft device does not need it");
		return;
	}
	output_of("/usr/sbin/system_profiler SPThunderboltDataType 2>/dev/null", profiler,
		  sizeof(profiler));
	output_of("rdma_ctl status 2>&1", status, sizeof(status));
	output_of("/sbin/ifconfig bridge0 2>/dev/null", bridge, sizeof(bridge));
	f.has_thunderbolt5 = vf_apple_has_thunderbolt5(profiler);
	f.is_enabled = vf_apple_is_enabled(status);
	list = a.get_device_list(&n);
	vf_report_add(r, VF_CHECK_OK, "librdma", "Apple's librdma is there and lists %d devices",
		      n);
	if (n == 0)
		report_state(r, "RDMA over Thunderbolt", &f);
	for (int i = 0; list && i < n; i++)
		check_apple_device(r, &a, list[i], f, bridge);
	if (list)
		a.free_device_list(list);
}

void vf_doctor_system(struct vf_report *r)
{
	check_identification(r);
	check_sendmsg_x(r);
	check_regions(r);
	check_thunderbolt(r);
}

bool vf_system_udp_holder(unsigned port, char *out, size_t room)
{
	(void)port;
	(void)out;
	(void)room;
	return false; /* lsof in the fix says it */
}

void vf_system_fix_udp_port(unsigned port, char *out, size_t room)
{
	snprintf(out, room, "end the process that \"sudo lsof -nP -iUDP:%u\" names", port);
}

void vf_system_fix_ipv4(const char *interface, char *out, size_t room)
{
	snprintf(out, room,
		 "sudo ifconfig %s inet 192.168.77.1/24 up   (another last number on the other "
		 "host)",
		 interface);
}

void vf_system_fix_down(const char *interface, char *out, size_t room)
{
	snprintf(out, room, "sudo ifconfig %s up   (and look at the cable)",
		 interface[0] ? interface : "INTERFACE");
}

void vf_system_fix_receive_buffer(unsigned long long bytes, char *out, size_t room)
{
	snprintf(out, room, "sudo sysctl -w kern.ipc.maxsockbuf=%llu", bytes * 2);
}

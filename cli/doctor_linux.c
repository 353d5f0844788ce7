/* SPDX-License-Identifier: BSD-2-Clause */
/* Doctor on Linux: who holds a UDP port (by /proc), RDMA devices of the kernel, and the commands
 * that change things. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "system.h"

/* The inode of a socket that is bound to @port in a table of /proc/net; 0: bound, but by the kernel
 * itself. False: none is. */
static bool find_inode(const char *table, unsigned port, unsigned long *inode)
{
	FILE *f = fopen(table, "r");
	char line[512];
	bool is_found = false;

	while (f && !is_found && fgets(line, sizeof(line), f)) {
		unsigned at;

		if (sscanf(line,
			   " %*d: %*[0-9A-Fa-f]:%x %*x:%*x %*x %*x:%*x %*x:%*x %*x %*u %*u %lu",
			   &at, inode) == 2)
			is_found = at == port;
	}
	if (f)
		fclose(f);
	return is_found;
}

/* Whether one of the process's descriptors is that socket. */
static bool holds(const char *pid, unsigned long inode)
{
	char path[PATH_MAX], link[64], wanted[64];
	DIR *dir;
	struct dirent *e;
	bool is = false;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	dir = opendir(path);
	while (dir && !is && (e = readdir(dir)) != NULL) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%s/fd/%.32s", pid, e->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		is = strcmp(link, wanted) == 0;
	}
	if (dir)
		closedir(dir);
	return is;
}

static void name_of(const char *pid, char *out, size_t room)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	f = fopen(path, "r");
	if (!f || !fgets(out, (int)room, f))
		snprintf(out, room, "?");
	out[strcspn(out, "\n")] = '\0';
	if (f)
		fclose(f);
}

bool vf_system_udp_holder(unsigned port, char *out, size_t room)
{
	unsigned long inode;
	DIR *dir;
	struct dirent *e;
	char name[32];
	bool is_found = false;

	if (!find_inode("/proc/net/udp", port, &inode) &&
	    !find_inode("/proc/net/udp6", port, &inode))
		return false;
	if (inode == 0) {
		snprintf(out, room, "the kernel itself: the module rdma_rxe has a device");
		return true;
	}
	dir = opendir("/proc");
	while (dir && !is_found && (e = readdir(dir)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]) || !holds(e->d_name, inode))
			continue;
		name_of(e->d_name, name, sizeof(name));
		snprintf(out, room, "process %s (%s)", e->d_name, name);
		is_found = true;
	}
	if (dir)
		closedir(dir);
	if (!is_found)
		snprintf(out, room, "a process of another user");
	return true;
}

void vf_system_fix_udp_port(unsigned port, char *out, size_t room)
{
	unsigned long inode;

	if ((find_inode("/proc/net/udp", port, &inode) ||
	     find_inode("/proc/net/udp6", port, &inode)) &&
	    inode == 0)
		snprintf(out, room, "sudo modprobe -r rdma_rxe");
	else
		snprintf(out, room, "end the process that \"sudo ss -ulpn sport = :%u\" names",
			 port);
}

void vf_system_fix_ipv4(const char *interface, char *out, size_t room)
{
	snprintf(out, room,
		 "sudo ip address add 192.168.77.1/24 dev %s   (another last number on the other "
		 "host)",
		 interface);
}

void vf_system_fix_down(const char *interface, char *out, size_t room)
{
	snprintf(out, room, "sudo ip link set dev %s up   (and look at the cable)",
		 interface[0] ? interface : "INTERFACE");
}

void vf_system_fix_receive_buffer(unsigned long long bytes, char *out, size_t room)
{
	snprintf(out, room, "sudo sysctl -w net.core.rmem_max=%llu", bytes);
}

void vf_doctor_system(struct vf_report *r)
{
	DIR *dir = opendir("/sys/class/infiniband");
	struct dirent *e;
	char names[160] = "";
	size_t at = 0;

	while (dir && (e = readdir(dir)) != NULL && at + 32 < sizeof(names))
		if (e->d_name[0] != '.')
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%.24s",
					       at ? ", " : "", e->d_name);
	if (dir)
		closedir(dir);
	if (at)
		vf_report_add(r, VF_CHECK_NOTE, "kernel",
			      "the kernel has RDMA devices of its own (%s); Verbifrost does not "
			      "show them, rdma-core does",
			      names);
}

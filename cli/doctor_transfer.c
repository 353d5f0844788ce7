/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doctor: data really moved. This command starts itself as "bench --self" for each active device,
 * and as "ping HOST" for a peer, and believes only their exit status; what they said on standard
 * error is the reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "device.h"
#include "doctor.h"
#include "side.h"
#include "system.h"

#define TRANSFER_MS 20000u
#define DEVICES_MAX 32

/* Runs this program with @argv, its standard error into @said; the exit status, or -1 when it had
 * to be ended or did not start. */
static int run_self(char *const argv[], char *said, size_t room)
{
	char self[PATH_MAX];
	int fds[2], status = -1, null = open("/dev/null", O_WRONLY);
	size_t have = 0;
	uint64_t end = vf_side_now() + TRANSFER_MS * VF_MSEC;
	pid_t pid;

	said[0] = '\0';
	if (null < 0 || !vf_system_self(self, sizeof(self)) || pipe(fds) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(null, STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		execv(self, argv);
		_exit(127);
	}
	close(fds[1]);
	close(null);
	while (pid > 0 && have + 1 < room && vf_side_now() < end) {
		struct pollfd p = {.fd = fds[0], .events = POLLIN};
		ssize_t n = poll(&p, 1, 100) > 0 ? read(fds[0], said + have, room - have - 1) : -1;

		if (n == 0)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	said[have] = '\0';
	said[strcspn(said, "\n")] = '\0';
	close(fds[0]);
	if (pid > 0 && vf_side_now() >= end)
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The reason without the "verbifrost: " before it. */
static const char *reason(const char *said)
{
	const char *prefix = "verbifrost: ";

	return strncmp(said, prefix, strlen(prefix)) == 0 ? said + strlen(prefix)
	       : *said					  ? said
							  : "it did not end in time";
}

static void transfer(struct vf_report *r, const char *device)
{
	static const struct {
		const char *transport, *ops;
	} rows[] = {{"rc", "all"}, {"uc", "send,write"}, {"ud", "send"}};
	char name[IBV_SYSFS_NAME_MAX + 1], transport[8], ops[16], said[300];
	unsigned good = 0;

	snprintf(name, sizeof(name), "%.*s", IBV_SYSFS_NAME_MAX, device);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char words[10][24] = {"verbifrost", "bench", "--self", "--no-preflight", "-n", "64",
				      "-s",	    "1000",  "-m",     "bandwidth"};
		char *argv[] = {words[0],
				words[1],
				words[2],
				words[3],
				words[4],
				words[5],
				words[6],
				words[7],
				words[8],
				words[9],
				(char[]){"-d"},
				name,
				(char[]){"-t"},
				transport,
				(char[]){"-o"},
				ops,
				NULL};

		snprintf(transport, sizeof(transport), "%s", rows[i].transport);
		snprintf(ops, sizeof(ops), "%s", rows[i].ops);
		if (run_self(argv, said, sizeof(said)) == 0)
			good++;
		else
			vf_report_add(r, VF_CHECK_FAIL, "transfer",
				      "%s, %s between two processes: %s", device, transport,
				      reason(said));
	}
	if (good == sizeof(rows) / sizeof(rows[0]))
		vf_report_add(r, VF_CHECK_OK, "transfer",
			      "%s: RC, UC and UD moved data between two processes, by every "
			      "operation each has, contents right",
			      device);
}

static bool is_usable(struct ibv_device *dev)
{
	struct ibv_context *ctx = ibv_open_device(dev);
	struct ibv_port_attr attr;
	bool is = ctx && ibv_query_port(ctx, 1, &attr) == 0 && attr.state == IBV_PORT_ACTIVE &&
		  vf_gid_choose(ctx, 1, NULL) >= 0;

	if (ctx)
		ibv_close_device(ctx);
	return is;
}

void vf_doctor_self_test(struct vf_report *r)
{
	char names[DEVICES_MAX][IBV_SYSFS_NAME_MAX + 1];
	int n = 0;
	unsigned usable = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; list && i < n && usable < DEVICES_MAX; i++)
		if (is_usable(list[i]))
			snprintf(names[usable++], sizeof(names[0]), "%s",
				 ibv_get_device_name(list[i]));
	if (list)
		ibv_free_device_list(list);
	for (unsigned i = 0; i < usable; i++)
		transfer(r, names[i]);
}

void vf_doctor_peer(struct vf_report *r, const char *host, const char *port)
{
	char words[7][24] = {"verbifrost", "ping", "-n", "5", "-i", "0.05", "-p"}, name[256],
	     number[32], said[300];
	char *argv[] = {words[0], words[1], words[2], words[3], words[4],
			words[5], words[6], number,   name,	NULL};

	snprintf(name, sizeof(name), "%s", host);
	snprintf(number, sizeof(number), "%s", port);
	if (run_self(argv, said, sizeof(said)) == 0) {
		vf_report_add(r, VF_CHECK_OK, "peer",
			      "%s: messages go there and back, contents right", host);
		return;
	}
	vf_report_add(r, VF_CHECK_FAIL, "peer", "%s: %s", host, reason(said));
	if (strstr(said, "UDP port"))
		vf_report_fix(r, "on both hosts, let UDP port 4791 in (for example: sudo ufw allow "
				 "4791/udp); the TCP connection to it works");
	else if (strstr(said, "refused"))
		vf_report_fix(r, "on %s: verbifrost bench --server", host);
}

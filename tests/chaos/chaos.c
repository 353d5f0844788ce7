/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chaos: N processes on one host, QPs from each to each, and a coordinator that kills one with
 * SIGKILL now and then and starts it again. A run passes when no queue pair saw an error except
 * those whose peer had died, every message that arrived was the one that was due, every survivor
 * ended by itself with as many descriptors as it began with, and nothing is left behind.
 *
 *   chaos [-p processes] [-q qps_to_each_peer] [-t seconds] [-k kill_every_ms] [-s seed] [-d
 * device]
 */
#include "shared.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rand.h"

struct options {
	int procs, qps, seconds, kill_ms;
	uint64_t seed;
	const char *device;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_ms(int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

static pid_t start(struct chaos_shared *sh, int i, const char *device)
{
	struct chaos_proc *p = &sh->proc[i];
	pid_t pid;

	atomic_store(&p->is_up, 0);
	atomic_store(&p->is_done, 0);
	atomic_store(&p->dying, 0);
	atomic_fetch_add(&p->gen, 1);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(chaos_worker(sh, i, device));
	if (pid < 0)
		perror("fork");
	return pid;
}

static void kill_and_restart(struct chaos_shared *sh, pid_t *pids, int i, const char *device)
{
	atomic_store(&sh->proc[i].dying, 1);
	kill(pids[i], SIGKILL);
	waitpid(pids[i], NULL, 0);
	pids[i] = start(sh, i, device);
}

/* A process that ends before it was told to has failed. */
static int count_early_exits(struct chaos_shared *sh, pid_t *pids)
{
	int bad = 0, status;

	for (int i = 0; i < sh->procs; i++) {
		if (pids[i] <= 0 || waitpid(pids[i], &status, WNOHANG) != pids[i])
			continue;
		printf("process %d ended early, wait status 0x%x: %s\n", i, (unsigned)status,
		       sh->proc[i].text);
		pids[i] = 0;
		bad++;
	}
	return bad;
}

/* Everybody closes down; who does not within the time is counted and ended. */
static int collect(struct chaos_shared *sh, pid_t *pids)
{
	double until = now_s() + 30;
	int bad = 0, left = 1;

	atomic_store(&sh->stop, 1);
	while (left && now_s() < until) {
		left = 0;
		for (int i = 0; i < sh->procs; i++) {
			int status;

			if (pids[i] <= 0)
				continue;
			if (waitpid(pids[i], &status, WNOHANG) != pids[i]) {
				left++;
				continue;
			}
			pids[i] = 0;
			if (status != 0) {
				printf("process %d ended with wait status 0x%x: %s\n", i,
				       (unsigned)status, sh->proc[i].text);
				bad++;
			}
		}
		sleep_ms(20);
	}
	for (int i = 0; i < sh->procs; i++) {
		if (pids[i] <= 0)
			continue;
		printf("process %d does not end\n", i);
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		bad++;
	}
	return bad;
}

/* Slots are abstract sockets on Linux: all must be gone with their holders. */
static int count_leftovers(void)
{
	FILE *f = fopen("/proc/net/unix", "r");
	char line[512];
	int n = 0;

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "@verbifrost"))
			n++;
	fclose(f);
	return n;
}

static int report(const struct chaos_shared *sh, int kills, int bad, int leftovers)
{
	uint64_t messages = 0, bytes = 0, forwarded = 0, overflows = 0, again = 0;
	int errors = 0, silent = 0;

	for (int i = 0; i < sh->procs; i++) {
		const struct chaos_proc *p = &sh->proc[i];

		messages += atomic_load(&p->messages);
		bytes += atomic_load(&p->bytes);
		forwarded += atomic_load(&p->forwarded);
		overflows += atomic_load(&p->overflows);
		again += atomic_load(&p->retransmitted);
		errors += atomic_load(&p->errors);
		silent += atomic_load(&p->messages) == 0;
		if (atomic_load(&p->errors))
			printf("process %d: %d errors, the first: %s\n", i, atomic_load(&p->errors),
			       p->text);
	}
	printf("%d processes, %d QPs to each peer, %d kills: %llu messages, %llu MB verified, %d "
	       "errors, "
	       "%d bad exits, %d processes without a message, %d left behind\n",
	       sh->procs, sh->qps, kills, (unsigned long long)messages,
	       (unsigned long long)(bytes >> 20), errors, bad, silent, leftovers);
	printf("%llu packets sent again, %llu forwarded, %llu lost in socket buffers\n",
	       (unsigned long long)again, (unsigned long long)forwarded,
	       (unsigned long long)overflows);
	return errors || bad || silent || leftovers > 0;
}

static int run(struct chaos_shared *sh, const struct options *o)
{
	pid_t pids[CHAOS_PROCS_MAX] = {0};
	int bad = 0, kills = 0, before = count_leftovers();
	struct vf_rand rnd;
	double end, next_kill;

	vf_rand_seed(&rnd, o->seed);
	for (int i = 0; i < o->procs; i++)
		pids[i] = start(sh, i, o->device);
	end = now_s() + o->seconds;
	next_kill = now_s() + 2;
	while (now_s() < end && !bad) {
		sleep_ms(20);
		bad += count_early_exits(sh, pids);
		if (!o->kill_ms || now_s() < next_kill || now_s() > end - 3)
			continue;
		kill_and_restart(sh, pids, (int)vf_rand_below(&rnd, (uint64_t)o->procs), o->device);
		kills++;
		next_kill =
			now_s() + 1e-3 * (double)(o->kill_ms / 2 +
						  (int)vf_rand_below(&rnd, (uint64_t)o->kill_ms));
	}
	bad += collect(sh, pids);
	return report(sh, kills, bad, count_leftovers() - before);
}

static int parse(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt(argc, argv, "p:q:t:k:s:d:")) != -1) {
		switch (c) {
		case 'p':
			o->procs = atoi(optarg);
			break;
		case 'q':
			o->qps = atoi(optarg);
			break;
		case 't':
			o->seconds = atoi(optarg);
			break;
		case 'k':
			o->kill_ms = atoi(optarg);
			break;
		case 's':
			o->seed = strtoull(optarg, NULL, 0);
			break;
		case 'd':
			o->device = optarg;
			break;
		default:
			return -EINVAL;
		}
	}
	if (o->procs < 2 || o->procs > CHAOS_PROCS_MAX || o->qps < 1 || o->qps > CHAOS_QPS_MAX ||
	    o->seconds < 5)
		return -EINVAL;
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.procs = 16,
			    .qps = 8,
			    .seconds = 60,
			    .kill_ms = 1500,
			    .seed = 1,
			    .device = "vf_lo"};
	struct chaos_shared *sh;
	int failed;

	if (parse(argc, argv, &o)) {
		fprintf(stderr,
			"usage: chaos [-p 2..%d] [-q 1..%d] [-t seconds (5 or more)] [-k "
			"kill_every_ms] [-s seed] "
			"[-d device]\n",
			CHAOS_PROCS_MAX, CHAOS_QPS_MAX);
		return 2;
	}
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	sh->procs = o.procs;
	sh->qps = o.qps;
	sh->seconds = o.seconds;
	failed = run(sh, &o);
	printf("%d passed, %d failed\n", !failed, failed);
	return failed;
}

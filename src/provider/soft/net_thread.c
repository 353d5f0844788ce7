/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The progress thread: sleeps in poll(2) and serves the network while the program computes.
 *
 *   serving: sleeps on sockets, wake-up, interfaces, slots, until the next deadline
 *   leaning: callers poll all the time and do the work; the thread sleeps, and looks whether they
 * still do
 *
 *   serving --callers poll often, and no queue is armed--> leaning
 *   leaning --they do not any more, or a queue was armed--> serving
 *
 * It leans for 30 us at first, and for up to half a millisecond while that goes well. A program
 * that polls in bursts and then waits for its memory to change (ib_write_lat) stands still whenever
 * the thread leans at the wrong moment: each such time it is trusted later.
 */
#include "provider/soft/net_state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/reason.h"
#include "base/settings.h"

enum { BUSY_POLLS = 32, POLL_EVERY_NS = 20000, FDS_MAX = NET_SOCKETS + 3 + VF_OS_SLOTS };
#define WINDOW	     (500 * VF_USEC)
#define LEAN_MIN     (30 * VF_USEC)
#define LEAN_MAX     (500 * VF_USEC)
#define DISTRUST_MIN VF_MSEC
#define DISTRUST_MAX (64 * VF_MSEC)

/* Whether callers do the work. */
struct trust {
	unsigned seen; /* polls, at the beginning of the window */
	vf_nsec since; /* when that was */
	vf_nsec span;  /* to lean for */
	vf_nsec distrust, not_before;
};

/* What one sleep waits for. */
struct sleep {
	struct pollfd fd[FDS_MAX];
	int slot[FDS_MAX]; /* whose watch it is; -1: none */
	nfds_t count, other;
};

static void add_fd(struct sleep *s, int fd, int slot)
{
	if (fd < 0)
		return;
	s->fd[s->count] = (struct pollfd){.fd = fd, .events = POLLIN};
	s->slot[s->count++] = slot;
}

/* Wake-up, interfaces, own slot first, then watches, then the sockets. Lock held. */
static void collect(struct vf_soft_net *net, struct sleep *s, bool with_sockets)
{
	s->count = 0;
	add_fd(s, net->wake.read_fd, -1);
	add_fd(s, net->if_watch, -1);
	add_fd(s, vf_os_slot_fd(net->slot), -1);
	for (unsigned i = 0; i < VF_OS_SLOTS; i++)
		add_fd(s, net->watch[i].fd, (int)i);
	s->other = s->count;
	for (int i = 0; with_sockets && i < NET_SOCKETS; i++)
		if (net->socket[i].udp)
			add_fd(s, vf_os_udp_fd(net->socket[i].udp), -1);
}

static bool is_ready(const struct sleep *s, int fd)
{
	for (nfds_t i = 0; i < s->other; i++)
		if (s->fd[i].fd == fd && s->slot[i] < 0)
			return s->fd[i].revents != 0;
	return false;
}

static void look_at_interfaces(struct vf_soft_net *net)
{
	bool was_private;

	if (!vf_os_if_watch_drain(net->if_watch))
		return;
	pthread_mutex_lock(&net->rx_lock);
	pthread_mutex_lock(&net->lock);
	was_private = net->socket[NET_PRIVATE].udp != NULL;
	net_private_open(net);
	if (!was_private && net->socket[NET_PRIVATE].udp)
		net_steer_again(net);
	vf_soft_interfaces_changed();
	net_tx_run(net, vf_os_now());
	pthread_mutex_unlock(&net->lock);
	pthread_mutex_unlock(&net->rx_lock);
}

/* Everything but the sockets. */
static void look_around(struct vf_soft_net *net, const struct sleep *s)
{
	vf_os_wake_clear(&net->wake);
	if (net->if_watch >= 0 && is_ready(s, net->if_watch))
		look_at_interfaces(net);
	pthread_mutex_lock(&net->lock);
	if (is_ready(s, vf_os_slot_fd(net->slot)))
		vf_os_slot_serve(net->slot);
	for (nfds_t i = 0; i < s->other; i++)
		if (s->slot[i] >= 0 && s->fd[i].revents && net->watch[s->slot[i]].fd == s->fd[i].fd)
			net_watch_hung_up(net, (unsigned)s->slot[i]);
	pthread_mutex_unlock(&net->lock);
}

static bool any_ready(const struct sleep *s, nfds_t from, nfds_t to)
{
	for (nfds_t i = from; i < to; i++)
		if (s->fd[i].revents)
			return true;
	return false;
}

static void sleep_until(struct sleep *s, vf_nsec until)
{
	vf_nsec now = vf_os_now();
	vf_nsec span = until == VF_NSEC_NEVER ? VF_NSEC_NEVER : until > now ? until - now : 0;

	if (vf_os_poll(s->fd, (unsigned)s->count, span) <= 0)
		for (nfds_t i = 0; i < s->count; i++)
			s->fd[i].revents = 0;
}

static vf_nsec next_deadline(const struct vf_soft_net *net)
{
	vf_nsec a = atomic_load_explicit(&net->deadline, memory_order_relaxed);
	vf_nsec b = atomic_load_explicit(&net->steer_deadline, memory_order_relaxed);

	if (b < a)
		a = b;
	b = atomic_load_explicit(&net->order_deadline, memory_order_relaxed);
	return a < b ? a : b;
}

static void serve(struct vf_soft_net *net, struct sleep *s)
{
	vf_nsec until;

	pthread_mutex_lock(&net->lock);
	collect(net, s, true);
	until = next_deadline(net);
	atomic_store(&net->sleeps_until, until);
	pthread_mutex_unlock(&net->lock);
	sleep_until(s, until);
	atomic_store(&net->sleeps_until, 0);
	if (any_ready(s, 0, s->other))
		look_around(net, s);
	pthread_mutex_lock(&net->rx_lock);
	net_rx_round(net, NET_CALLER_THREAD);
	pthread_mutex_unlock(&net->rx_lock);
}

static void lean(struct vf_soft_net *net, struct sleep *s, vf_nsec span)
{
	atomic_store(&net->is_leaning, true);
	pthread_mutex_lock(&net->lock);
	collect(net, s, false);
	pthread_mutex_unlock(&net->lock);
	if (atomic_load(&net->armed) <= 0)
		sleep_until(s, vf_os_now() + span);
	atomic_store(&net->is_leaning, false);
	pthread_mutex_lock(&net->rx_lock);
	net_rx_due(net);
	pthread_mutex_unlock(&net->rx_lock);
	if (any_ready(s, 0, s->other))
		look_around(net, s);
}

static bool is_trusted(struct vf_soft_net *net, struct trust *t)
{
	unsigned polls = atomic_load_explicit(&net->polls, memory_order_relaxed);
	vf_nsec now = vf_os_now();
	bool is_busy = polls - t->seen >= BUSY_POLLS && now - t->since < 4 * WINDOW;

	if (is_busy || now - t->since >= WINDOW) {
		t->seen = polls;
		t->since = now;
	}
	return is_busy && now >= t->not_before && atomic_load(&net->armed) <= 0;
}

/* Leans once. True: callers were at it the whole time. */
static bool lean_well(struct vf_soft_net *net, struct sleep *s, vf_nsec span)
{
	unsigned before = atomic_load_explicit(&net->polls, memory_order_relaxed), polls;
	vf_nsec start = vf_os_now(), end, last;

	lean(net, s, span);
	end = vf_os_now();
	last = atomic_load_explicit(&net->last_poll, memory_order_relaxed);
	polls = atomic_load_explicit(&net->polls, memory_order_relaxed) - before;
	return polls > (end - start) / POLL_EVERY_NS && (last >= end || end - last < span / 2);
}

/* Leans as long as that goes well, and learns from it when it does not. */
static void lean_on_callers(struct vf_soft_net *net, struct sleep *s, struct trust *t)
{
	while (!atomic_load(&net->is_stopping) && atomic_load(&net->armed) <= 0) {
		if (!lean_well(net, s, t->span)) {
			t->not_before = vf_os_now() + t->distrust;
			t->distrust =
				2 * t->distrust < DISTRUST_MAX ? 2 * t->distrust : DISTRUST_MAX;
			break;
		}
		if (t->span == LEAN_MAX)
			t->distrust = DISTRUST_MIN;
		t->span = 2 * t->span < LEAN_MAX ? 2 * t->span : LEAN_MAX;
	}
	t->span = LEAN_MIN;
}

static void *run(void *arg)
{
	struct vf_soft_net *net = arg;
	struct trust t = {.seen = atomic_load(&net->polls),
			  .since = vf_os_now(),
			  .span = LEAN_MIN,
			  .distrust = DISTRUST_MIN};
	struct sleep s;

	memset(&s, 0, sizeof(s));
	vf_os_thread_prepare("verbifrost");
	while (!atomic_load(&net->is_stopping)) {
		if (is_trusted(net, &t))
			lean_on_callers(net, &s, &t);
		else
			serve(net, &s);
	}
	return NULL;
}

int net_thread_start(struct vf_soft_net *net)
{
	/* ...but these tell of what this thread does: of memory that is gone, above all. */
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t all, before;
	int err;

	if (strcmp(vf_setting_string(VF_SET_PROGRESS), "none") == 0)
		return 0;
	if (strcmp(vf_setting_string(VF_SET_PROGRESS), "thread") != 0)
		return vf_refuse(EINVAL, "VERBIFROST_PROGRESS: \"%s\" is not one of thread, none",
				 vf_setting_string(VF_SET_PROGRESS));
	sigfillset(&all); /* the program's signals are for its own threads... */
	for (size_t i = 0; i < VF_ARRAY_SIZE(own); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&net->thread, NULL, run, net);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return vf_refuse(err,
				 "no progress thread: %s (VERBIFROST_PROGRESS=none does without)",
				 strerror(err));
	net->has_thread = true;
	return 0;
}

void net_thread_stop(struct vf_soft_net *net)
{
	if (!net->has_thread)
		return;
	atomic_store(&net->is_stopping, true);
	vf_os_wake_set(&net->wake);
	pthread_join(net->thread, NULL);
	net->has_thread = false;
}

void net_thread_wake(struct vf_soft_net *net)
{
	if (net->has_thread)
		vf_os_wake_set(&net->wake);
}

void net_thread_hurry(struct vf_soft_net *net, vf_nsec deadline)
{
	if (deadline < atomic_load(&net->sleeps_until))
		net_thread_wake(net);
}

void net_thread_housekeeping(struct vf_soft_net *net)
{
	struct sleep s;

	memset(&s, 0, sizeof(s));
	pthread_mutex_lock(&net->lock);
	collect(net, &s, false);
	pthread_mutex_unlock(&net->lock);
	if (poll(s.fd, s.count, 0) > 0)
		look_around(net, &s);
}

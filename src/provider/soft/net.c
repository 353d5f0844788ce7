/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network side's life: made at the first get, gone at the last put, orphaned in a forked child.
 *
 *   none --get--> running --last put--> none
 *                 running --fork, in the child--> orphan (deaf and mute for what still refers to
 * it) and none for new gets
 */
#include "provider/soft/net_state.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/settings.h"

enum { QPS_MAX = 65536 - 16, IDLE_ROUNDS = 16 };

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static struct vf_soft_net *the_net; /* under process_lock, as is: */
static unsigned users;

/* ---- fork ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&process_lock);
	if (!the_net)
		return;
	pthread_mutex_lock(&the_net->rx_lock);
	pthread_mutex_lock(&the_net->lock);
}

static void unlock_after_fork(void)
{
	if (the_net) {
		pthread_mutex_unlock(&the_net->lock);
		pthread_mutex_unlock(&the_net->rx_lock);
	}
	pthread_mutex_unlock(&process_lock);
}

/* A child's descriptors are copies: closing them takes nothing from the parent. */
static void close_descriptors(struct vf_soft_net *net)
{
	net_watch_close(net);
	net_sockets_close(net);
	if (net->slot)
		vf_os_slot_disown(net->slot);
	vf_os_wake_close(&net->wake);
	if (net->if_watch >= 0)
		close(net->if_watch);
	vf_pcap_close(net->pcap);
	net->slot = NULL;
	net->pcap = NULL;
	net->if_watch = -1;
}

/* Memory is left to the child's copy of objects that still point to it; they find nobody at the
 * other end. */
static void in_child(void)
{
	struct vf_soft_net *net = the_net;

	if (net) {
		net->is_orphan = true;
		net->has_thread = false;
		vf_soft_forked();
		close_descriptors(net);
	}
	unlock_after_fork();
	pthread_mutex_lock(&process_lock);
	the_net = NULL;
	users = 0;
	pthread_mutex_unlock(&process_lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, unlock_after_fork, in_child); }

/* ---- life ---- */

static int read_settings(struct vf_soft_net *net)
{
	const char *icrc = vf_setting_string(VF_SET_ICRC);
	const char *impair = vf_setting_string(VF_SET_IMPAIR);
	const char *pcap = vf_setting_string(VF_SET_PCAP);
	struct vf_impair_config cfg;
	int err;

	net->port = (uint16_t)vf_setting_number(VF_SET_UDP_PORT, 1, 65535);
	if (strcmp(icrc, "check") == 0)
		net->icrc = NET_ICRC_CHECK;
	else if (strcmp(icrc, "nocheck") == 0)
		net->icrc = NET_ICRC_NOCHECK;
	else if (strcmp(icrc, "off") == 0)
		net->icrc = NET_ICRC_OFF;
	else
		return vf_refuse(EINVAL,
				 "VERBIFROST_ICRC: \"%s\" is not one of check, nocheck, off", icrc);
	err = vf_impair_parse(impair, &cfg);
	if (err)
		return err;
	vf_impair_init(&net->impair, &cfg);
	net->is_impaired = cfg.loss || cfg.duplicate || cfg.reorder || cfg.corrupt || cfg.delay_ns;
	return *pcap ? vf_pcap_open(pcap, &net->pcap) : 0;
}

static int create_engine(struct vf_soft_net *net)
{
	struct vf_roce_config cfg = {
		.ops = &vf_soft_host_ops,
		.host = net,
		.counters = vf_soft_stray_counters(),
		.slot = net->slot_number,
		.rx_budget_bytes = net_rx_budget(net),
		.max_qps = QPS_MAX,
	};
	int err;

	vf_os_random(&cfg.seed, sizeof(cfg.seed));
	err = vf_roce_create(&cfg, &net->engine);
	return err ? vf_refuse(-err, "no memory for the transport engine") : 0;
}

static int claim_slot(struct vf_soft_net *net)
{
	unsigned hint;
	int err;

	vf_os_random(&hint, sizeof(hint));
	err = vf_os_slot_claim(hint % VF_OS_SLOTS, &net->slot);
	if (err == 0)
		net->slot_number = vf_os_slot_number(net->slot);
	return err;
}

static void init(struct vf_soft_net *net)
{
	pthread_mutex_init(&net->lock, NULL);
	pthread_mutex_init(&net->rx_lock, NULL);
	vf_list_init(&net->groups);
	vf_impair_init(&net->impair, &(struct vf_impair_config){0});
	net->if_watch = -1;
	net->wake.read_fd = net->wake.write_fd = -1;
	net->deadline = net->steer_deadline = VF_NSEC_NEVER;
	net_order_init(net);
	net_forward_init(net);
	net_watch_init(net);
}

/* Everything that was opened, whatever was. */
static void destroy(struct vf_soft_net *net)
{
	if (net->engine)
		vf_roce_destroy(net->engine);
	vf_impair_clear(&net->impair);
	while (!vf_list_is_empty(&net->groups)) {
		struct net_group *g = VF_LIST_ENTRY(net->groups.next, struct net_group, link);

		vf_list_del(&g->link);
		free(g);
	}
	net_tx_close(net);
	net_rx_close(net);
	vf_os_slot_release(net->slot);
	net->slot = NULL;
	close_descriptors(net);
	pthread_mutex_destroy(&net->lock);
	pthread_mutex_destroy(&net->rx_lock);
	free(net);
}

static int start(struct vf_soft_net *net)
{
	int err = read_settings(net);

	if (err == 0)
		err = claim_slot(net);
	if (err == 0)
		err = net_sockets_open(net);
	if (err == 0)
		err = net_rx_open(net);
	if (err == 0)
		err = net_tx_open(net);
	if (err == 0)
		err = create_engine(net);
	if (err)
		return err;
	err = vf_os_wake_open(&net->wake);
	if (err)
		return vf_refuse(-err, "no descriptor to wake the progress thread by: %s",
				 strerror(-err));
	if (vf_os_if_watch_open(&net->if_watch))
		net->if_watch =
			-1; /* changes of interfaces will go unnoticed; everything else works */
	net_steer_start(net);
	return net_thread_start(net);
}

int vf_soft_net_get(struct vf_soft_net **out)
{
	struct vf_soft_net *net;
	int err = 0;

	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&process_lock);
	if (!the_net) {
		net = calloc(1, sizeof(*net));
		if (!net) {
			pthread_mutex_unlock(&process_lock);
			return vf_refuse(ENOMEM, "no memory for the network side");
		}
		init(net);
		err = start(net);
		if (err)
			destroy(net);
		else
			the_net = net;
	}
	if (err == 0) {
		users++;
		*out = the_net;
	}
	pthread_mutex_unlock(&process_lock);
	return err;
}

void vf_soft_net_put(struct vf_soft_net *net)
{
	pthread_mutex_lock(&process_lock);
	if (net == the_net && !net->is_orphan && --users == 0) {
		net_thread_stop(net);
		the_net = NULL;
		destroy(net);
	}
	pthread_mutex_unlock(&process_lock);
}

void vf_soft_net_lock(struct vf_soft_net *net) { pthread_mutex_lock(&net->lock); }
bool vf_soft_net_trylock(struct vf_soft_net *net)
{
	return pthread_mutex_trylock(&net->lock) == 0;
}

void vf_soft_net_unlock(struct vf_soft_net *net) { pthread_mutex_unlock(&net->lock); }
struct vf_roce *vf_soft_net_engine(struct vf_soft_net *net) { return net->engine; }

/* ---- work ---- */

void vf_soft_net_flush(struct vf_soft_net *net)
{
	if (net->is_orphan)
		return;
	net_tx_run(net, vf_os_now());
	net_thread_hurry(net, net->deadline);
}

/*
 * A caller that polls in vain gives its processor to whoever else wants it: on a busy host that is
 * the very peer that it waits for, which otherwise gets a turn only when the caller's time is up, a
 * millisecond later. Where nobody wants it the call costs next to nothing.
 */
bool vf_soft_net_progress(struct vf_soft_net *net)
{
	static const unsigned housekeeping_every = 4096;
	bool let_others;
	unsigned n = atomic_fetch_add_explicit(&net->polls, 1, memory_order_relaxed);
	bool came;

	if (net->is_orphan || pthread_mutex_trylock(&net->rx_lock) != 0)
		return false;
	came = net_rx_round(net, atomic_load_explicit(&net->is_leaning, memory_order_relaxed)
					 ? NET_CALLER_SPIN
					 : NET_CALLER_POLL);
	net->rx.idle = came ? 0 : net->rx.idle + 1;
	let_others = net->rx.idle >= IDLE_ROUNDS;
	if (let_others)
		net->rx.idle = 0;
	pthread_mutex_unlock(&net->rx_lock);
	if (let_others)
		sched_yield();
	if (!net->has_thread && n % housekeeping_every == 0)
		net_thread_housekeeping(net);
	return came;
}

void vf_soft_net_arm(struct vf_soft_net *net, int delta)
{
	atomic_fetch_add(&net->armed, delta);
	if (delta > 0 && atomic_load(&net->is_leaning) && !net->is_orphan)
		net_thread_wake(net);
}

/* ---- multicast ---- */

static struct net_group *find_group(struct vf_soft_net *net, const uint8_t mgid[16],
				    unsigned if_index)
{
	VF_LIST_FOR_EACH (l, &net->groups) {
		struct net_group *g = VF_LIST_ENTRY(l, struct net_group, link);

		if (g->if_index == if_index && memcmp(g->mgid, mgid, 16) == 0)
			return g;
	}
	return NULL;
}

int vf_soft_net_mcast_join(struct vf_soft_net *net, const uint8_t mgid[16], unsigned if_index)
{
	struct net_socket *s = net_tx_socket(net, mgid);
	struct net_group *g = find_group(net, mgid, if_index);
	int err;

	if (net->is_orphan)
		return -ENODEV;
	if (g) {
		g->users++;
		return 0;
	}
	if (!s->udp)
		return vf_refuse(EAFNOSUPPORT,
				 "this host has no socket of the multicast group's address family");
	g = calloc(1, sizeof(*g));
	if (!g)
		return vf_refuse(ENOMEM, "no memory for a multicast group");
	err = vf_os_udp_mcast_join(s->udp, mgid, if_index);
	if (err) {
		free(g);
		return vf_refuse(-err, "the system refuses to join the multicast group: %s",
				 strerror(-err));
	}
	memcpy(g->mgid, mgid, 16);
	g->if_index = if_index;
	g->users = 1;
	vf_list_add_tail(&net->groups, &g->link);
	return 0;
}

void vf_soft_net_mcast_leave(struct vf_soft_net *net, const uint8_t mgid[16], unsigned if_index)
{
	struct net_socket *s = net_tx_socket(net, mgid);
	struct net_group *g = find_group(net, mgid, if_index);

	if (!g || --g->users)
		return;
	if (s->udp)
		vf_os_udp_mcast_leave(s->udp, mgid, if_index);
	vf_list_del(&g->link);
	free(g);
}

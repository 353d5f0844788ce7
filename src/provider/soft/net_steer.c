/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who sits where on the shared port? Sockets stand in the system's group in an order that nobody
 * tells. A process finds out by probes: packets to the own host that the steering program hands to
 * a given position; who gets one answers with its slot. From the answers the table is made and
 * attached for the whole group.
 *
 *   settled --started, or a packet came to the wrong process--> asking
 *   asking --all answered or time is up--> program attached; asking once more when there was no
 * program before --> settled
 *
 * The first round is waited for when the network side is opened: before that, packets for this
 * process could land in the socket of one that is stopped, and wait there. Who is asked while
 * asking asks again: the other one has come meanwhile. A table is complete when as many slots are
 * in it as are held; who does not answer (stopped) is waited for a quarter of a second.
 *
 * A position that does not exist makes the system choose by hash: the same process for all of them,
 * and that process answers for its own position too; so the lowest position that a slot answers
 * from is the true one. Wrong or missing entries cost a hop (net_forward.c), never a packet.
 */
#include "provider/soft/net_state.h"

#include <poll.h>
#include <string.h>

enum {
	PROBE_LEN = 24,
	MAGIC_AT = 8,
	POSITION_AT = 12,
	ASKER_AT = 13,
	FAMILY_AT = 14,
	NONCE_AT = 16,
	SLOT_AT = 5,
	ASK_FIRST = 16,
};
#define MAGIC	      0x56465350u
#define ANSWER_WAIT   (20 * VF_MSEC)
#define SETTLE_MAX    (60 * VF_MSEC)
#define GIVE_UP_AFTER (250 * VF_MSEC)
#define BACKOFF_MIN   (50 * VF_MSEC)
#define BACKOFF_MAX   (5 * VF_SEC)

static const uint8_t loopback[2][16] = {{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1},
					{[15] = 1}};

static void publish_deadline(struct vf_soft_net *net)
{
	vf_nsec first = VF_NSEC_NEVER;

	for (int f = 0; f < 2; f++) {
		const struct net_steer *s = &net->steer[f];
		vf_nsec d = s->deadline != VF_NSEC_NEVER ? s->deadline
			    : s->is_wanted		 ? s->again
							 : VF_NSEC_NEVER;

		if (d < first)
			first = d;
	}
	atomic_store_explicit(&net->steer_deadline, first, memory_order_relaxed);
}

static void probe(struct vf_soft_net *net, int family, unsigned position)
{
	uint8_t p[PROBE_LEN] = {0};
	struct iovec iov = {.iov_base = p, .iov_len = sizeof(p)};
	struct vf_os_udp_send m = {
		.iov = &iov, .iov_count = 1, .segment_len = PROBE_LEN, .total_len = PROBE_LEN};

	p[0] = NET_PROBE_OPCODE;
	p[SLOT_AT] = (uint8_t)net->slot_number;
	vf_store_be32(p + MAGIC_AT, MAGIC);
	p[POSITION_AT] = (uint8_t)position;
	p[ASKER_AT] = (uint8_t)net->slot_number;
	p[FAMILY_AT] = (uint8_t)family;
	vf_store_be64(p + NONCE_AT, net->steer[family].nonce);
	memcpy(m.addr.src, loopback[family], 16);
	memcpy(m.addr.dst, loopback[family], 16);
	m.addr.dst_port = net->port;
	vf_os_udp_send(net->socket[family].udp, &m, NULL);
}

static void ask(struct vf_soft_net *net, int family, unsigned count)
{
	struct net_steer *s = &net->steer[family];

	for (unsigned i = s->asked; i < count; i++)
		probe(net, family, i);
	s->asked = count;
	s->deadline = vf_os_now() + ANSWER_WAIT;
}

static void begin(struct vf_soft_net *net, int family)
{
	struct net_steer *s = &net->steer[family];

	for (unsigned i = 0; i < VF_OS_SLOTS; i++)
		s->slot_of[i] = -1;
	s->answered = 0;
	s->is_waiting = false;
	vf_os_random(&s->nonce, sizeof(s->nonce));
	s->is_wanted = false;
	s->asked = 0;
	ask(net, family, ASK_FIRST);
}

void net_steer_missed(struct vf_soft_net *net, const struct vf_os_udp_addr *a)
{
	net->steer[net_is_ipv4(a->dst) ? 0 : 1].is_wanted = true;
	publish_deadline(net);
}

void net_steer_again(struct vf_soft_net *net)
{
	net->steer[0].is_wanted = net->steer[1].is_wanted = true;
	publish_deadline(net);
}

void net_steer_probed(struct vf_soft_net *net, const struct vf_os_udp_addr *a, const uint8_t *data,
		      uint32_t len)
{
	uint8_t answer[16] = {0};
	int family = net_is_ipv4(a->dst) ? 0 : 1;

	/* Several probes of one asker may have been merged; all that differs is the position. */
	for (; len >= PROBE_LEN; data += PROBE_LEN, len -= PROBE_LEN) {
		if (memcmp(a->src, loopback[family], 16) != 0 || data[FAMILY_AT] != family ||
		    vf_load_be32(data + MAGIC_AT) != MAGIC) {
			net->rx.dropped[VF_DROP_BAD_OPCODE]++; /* from another host, or no probe at
								  all */
			return;
		}
		answer[0] = data[POSITION_AT];
		answer[1] = (uint8_t)net->slot_number;
		answer[2] = (uint8_t)family;
		memcpy(answer + 8, data + NONCE_AT, 8);
		if (data[ASKER_AT] == net->slot_number) {
			net_steer_answered(net, answer);
			continue;
		}
		net->steer[family].was_asked |= net->steer[family].deadline != VF_NSEC_NEVER;
		net_forward_answer(net, data[ASKER_AT], answer);
	}
}

static unsigned count_known(const struct net_steer *s, unsigned *beyond)
{
	unsigned n = 0;

	*beyond = 0;
	for (unsigned i = 0; i < VF_OS_SLOTS; i++)
		if (s->slot_of[i] >= 0) {
			n++;
			*beyond = i + 1;
		}
	return n;
}

void net_steer_answered(struct vf_soft_net *net, const uint8_t answer[16])
{
	unsigned position = answer[0];
	struct net_steer *s;

	if (answer[2] > 1)
		return;
	s = &net->steer[answer[2]];
	if (s->deadline == VF_NSEC_NEVER || vf_load_be64(answer + 8) != s->nonce)
		return;
	s->answered++;
	for (unsigned i = 0; i < VF_OS_SLOTS; i++) {
		if (s->slot_of[i] != answer[1])
			continue;
		if (i <= position)
			return; /* answered from a lower position: this one does not exist */
		s->slot_of[i] = -1;
	}
	s->slot_of[position] = answer[1];
}

static unsigned count_held(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < VF_OS_SLOTS; i++)
		n += vf_os_slot_is_held(i);
	return n;
}

/* Attaches what is known. False: the system cannot steer. */
static bool attach(struct vf_soft_net *net, int family)
{
	struct net_steer *s = &net->steer[family];
	unsigned beyond;

	count_known(s, &beyond);
	return vf_os_udp_steer(net->socket[family].udp, s->slot_of, beyond, NET_PROBE_OPCODE) == 0;
}

/* The answers do not speak of all who are there: is there reason to ask or to wait once more? */
static bool is_unfinished(struct vf_soft_net *net, int family, vf_nsec now)
{
	struct net_steer *s = &net->steer[family];
	unsigned beyond, known = count_known(s, &beyond);

	/* Processes up to the edge of what was asked: there may be more behind it. */
	if (beyond > s->asked / 2 && s->asked < VF_OS_SLOTS) {
		ask(net, family, 2 * s->asked);
		return true;
	}
	if (now >= s->give_up || (known < 2 && !s->is_second))
		return false;
	if (!s->was_asked && known >= count_held())
		return false;
	if (s->was_asked || s->answered >= s->asked)
		begin(net, family); /* somebody has come, or is just coming */
	s->was_asked = false;
	s->is_waiting = true; /* others are slow to answer */
	s->deadline = now + ANSWER_WAIT;
	return true;
}

static void conclude(struct vf_soft_net *net, int family, vf_nsec now)
{
	struct net_steer *s = &net->steer[family];
	unsigned beyond;

	if (is_unfinished(net, family, now))
		return;
	s->deadline = VF_NSEC_NEVER;
	if (!attach(net, family)) {
		s->is_wanted = false;
		s->again = VF_NSEC_NEVER; /* forwarding does it all */
		return;
	}
	if (!s->is_second && count_known(s, &beyond) < 2) {
		/* Alone, or nobody had attached a program yet: ask again, now that there is one. */
		s->is_second = true;
		begin(net, family);
		return;
	}
	s->is_second = false;
	s->again = now + s->backoff;
	s->is_wanted |= s->was_asked;
	s->was_asked = false;
	s->backoff = s->backoff < BACKOFF_MAX ? 2 * s->backoff : BACKOFF_MAX;
}

void net_steer_run(struct vf_soft_net *net, vf_nsec now)
{
	for (int f = 0; f < 2; f++) {
		struct net_steer *s = &net->steer[f];

		if (!net->socket[f].udp || !net->socket[NET_PRIVATE].udp) {
			s->is_wanted = false;
		} else if (s->deadline != VF_NSEC_NEVER) {
			if (now >= s->deadline || (!s->is_waiting && s->answered >= s->asked))
				conclude(net, f, now);
		} else if (s->is_wanted && s->again == VF_NSEC_NEVER) {
			s->is_wanted = false;
		} else if (s->is_wanted && now >= s->again) {
			if (now - s->again > 2 * BACKOFF_MAX)
				s->backoff = BACKOFF_MIN; /* it was right for long */
			s->give_up = now + GIVE_UP_AFTER;
			begin(net, f);
		}
	}
	publish_deadline(net);
}

static bool is_asking(const struct vf_soft_net *net)
{
	return net->steer[0].deadline != VF_NSEC_NEVER || net->steer[1].deadline != VF_NSEC_NEVER;
}

/* There is no thread yet: the answers, and others' questions, are taken here. */
static void wait_for_answers(struct vf_soft_net *net)
{
	vf_nsec end = vf_os_now() + SETTLE_MAX;

	while (is_asking(net) && vf_os_now() < end) {
		struct pollfd p[NET_SOCKETS];
		unsigned n = 0;

		for (int i = 0; i < NET_SOCKETS; i++)
			if (net->socket[i].udp)
				p[n++] = (struct pollfd){.fd = vf_os_udp_fd(net->socket[i].udp),
							 .events = POLLIN};
		vf_os_poll(p, n, VF_MSEC);
		net_rx_round(net, NET_CALLER_THREAD);
		net_steer_run(net, vf_os_now());
	}
}

void net_steer_start(struct vf_soft_net *net)
{
	pthread_mutex_lock(&net->rx_lock);
	for (int f = 0; f < 2; f++) {
		struct net_steer *s = &net->steer[f];

		s->deadline = VF_NSEC_NEVER;
		s->backoff = BACKOFF_MIN;
		s->give_up = vf_os_now() + GIVE_UP_AFTER;
		if (net->socket[f].udp && net->socket[NET_PRIVATE].udp)
			begin(net, f);
	}
	wait_for_answers(net);
	/* Who has not answered by now does so later; the others know of us from here on. */
	for (int f = 0; f < 2; f++)
		if (net->steer[f].deadline != VF_NSEC_NEVER)
			attach(net, f);
	publish_deadline(net);
	pthread_mutex_unlock(&net->rx_lock);
}

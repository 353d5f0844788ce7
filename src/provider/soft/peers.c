/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of this host that queue pairs talk to, and what happens when one ends. RC finds out by its retries. UC and UD would wait
 * for ever, so the slot of a peer on this host is watched: see docs/decisions/0013-death-of-a-peer.md.
 *
 *   unknown ── UC: RTR; UD: first datagram ──> watched ── process ends ──> told, as VERBIFROST_PEER_DEATH says
 *
 * Also what a forked child does with all of this: forget it.
 */
#include <string.h>

#include "base/settings.h"
#include "provider/soft/soft.h"

enum policy { PEER_IGNORE, PEER_EVENT, PEER_FLUSH, PEER_FLUSH_UD };

static enum policy policy(void)
{
	static const char *const names[] = {"ignore", "event", "flush", "flush-ud"};
	const char *v = vf_setting_string(VF_SET_PEER_DEATH);

	for (unsigned i = 0; i < VF_ARRAY_SIZE(names); i++)
		if (strcmp(v, names[i]) == 0)
			return (enum policy)i;
	return PEER_FLUSH;
}

static bool is_watched(const struct soft_qp *qp, unsigned slot)
{
	return qp->peers[slot / 32] >> (slot % 32) & 1;
}

void soft_peer_watch(struct soft_qp *qp, unsigned slot)
{
	if (slot >= VF_OS_SLOTS || is_watched(qp, slot) ||
	    slot == qp->qpn >> VF_ROCE_SLOT_SHIFT ||
	    vf_soft_net_watch_slot(qp->ctx->net, slot))
		return;
	qp->peers[slot / 32] |= 1u << (slot % 32);
	qp->peer_count++;
}

static void unwatch(struct soft_qp *qp, unsigned slot)
{
	vf_soft_net_unwatch_slot(qp->ctx->net, slot);
	qp->peers[slot / 32] &= ~(1u << (slot % 32));
	qp->peer_count--;
}

void soft_peer_forget(struct soft_qp *qp)
{
	for (unsigned slot = 0; slot < VF_OS_SLOTS && qp->peer_count; slot++)
		if (is_watched(qp, slot))
			unwatch(qp, slot);
}

void soft_peer_datagram(struct soft_qp *qp, const struct soft_ah *ah, uint32_t remote_qpn)
{
	unsigned slot = remote_qpn >> VF_ROCE_SLOT_SHIFT;

	if (ah->is_local && slot < VF_OS_SLOTS && !is_watched(qp, slot) &&
	    remote_qpn != VF_ROCE_QPN_MULTICAST && policy() == PEER_FLUSH_UD)
		soft_peer_watch(qp, slot);
}

static void told(struct soft_qp *qp)
{
	enum policy p = policy();

	if (qp->type == IBV_QPT_UD && (p != PEER_FLUSH_UD || qp->peer_count))
		return;
	if (p == PEER_EVENT)
		soft_qp_event(NULL, qp, VF_ROCE_EVENT_QP_FATAL);
	else if (p != PEER_IGNORE)
		vf_roce_qp_fail(qp->roce, vf_os_now(), VF_ROCE_EVENT_QP_FATAL);
}

void vf_soft_peer_died(unsigned slot)
{
	VF_LIST_FOR_EACH(it, &soft_qps)
	{
		struct soft_qp *qp = VF_LIST_ENTRY(it, struct soft_qp, link);

		if (slot >= VF_OS_SLOTS || !is_watched(qp, slot))
			continue;
		unwatch(qp, slot);
		vf_log(VF_LOG_WARN, "QP 0x%06x: the process of its peer has ended", qp->qpn);
		told(qp);
	}
	vf_soft_settle();
}

/* The child's copies of the parent's objects stay where they are, cut off: nobody may come upon them by a list or a key. */
void vf_soft_forked(void)
{
	VF_LIST_FOR_EACH_SAFE(it, &soft_qps)
	vf_list_del(it);
	soft_overruns_forked();
	soft_registry_forked();
	soft_keys_forked();
}

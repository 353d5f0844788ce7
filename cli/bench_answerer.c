/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answerer's part of a case: checks what arrives, gives receives back, says how far it has
 * come, and in latency cases answers each message with one like it. It ends when the asker says on
 * the side channel how many messages there were; UC and UD get a moment for the last of them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bench.h"
#include "pattern.h"

#define QUIET_NS (300 * VF_MSEC)
#define WCS	 32

struct answer {
	struct vf_bench_link *l;
	struct vf_bench_tally *t;
	uint64_t *seen; /* per slot: number + 1 of the last message that used it */
	uint64_t far;	/* messages up to here are dealt with */
	uint64_t noted, first_ns, last_ns, first_bytes;
	uint32_t batch;
};

static void count_bytes(struct answer *a, uint64_t messages)
{
	a->last_ns = vf_side_now();
	a->t->bytes += messages * a->l->what.size;
	if (a->first_ns == 0) {
		a->first_ns = a->last_ns;
		a->first_bytes = a->t->bytes;
	}
	a->t->span_ns = a->last_ns - a->first_ns;
}

/* The 64-bit number whose lower half is @low and that is nearest to @near. */
static uint64_t widen(uint64_t near, uint32_t low)
{
	return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}

static int take_send(struct answer *a, const struct ibv_wc *wc)
{
	struct vf_bench_link *l = a->l;
	uint64_t slot = wc->wr_id & ~VF_BENCH_WR_RECEIVE, m = widen(a->far, ntohl(wc->imm_data));
	uint64_t *seen = &a->seen[m % l->what.slots];

	if (*seen == m + 1) {
		a->t->duplicates++;
	} else {
		*seen = m + 1;
		a->t->messages++;
		if (wc->byte_len != l->what.size + l->head ||
		    (l->what.verify &&
		     !vf_pattern_matches(l->in + slot * l->stride + l->head, l->what.size, m)))
			a->t->corrupt++;
		count_bytes(a, 1);
	}
	if (m + 1 > a->far)
		a->far = m + 1;
	return vf_bench_post_receive(l, slot, true);
}

/* Writes up to and with message @last are said to be there: looks at each slot. */
static int take_writes(struct answer *a, const struct ibv_wc *wc)
{
	struct vf_bench_link *l = a->l;
	uint64_t end = widen(a->far, ntohl(wc->imm_data)) + 1, arrived = 0, corrupt = 0;

	for (uint64_t m = a->far; m < end; m++) {
		const unsigned char *at = l->in + m % l->what.slots * l->stride;

		if (end - m > l->what.slots)
			continue; /* overwritten since; the note that should have said so was lost
				   */
		if (!l->what.verify || vf_pattern_matches(at, l->what.size, m))
			arrived++;
		else if (l->what.transport == VF_BENCH_RC ||
			 !vf_pattern_is_incomplete(at, l->what.size, m, l->what.slots))
			corrupt++;
	}
	a->t->messages += arrived + corrupt;
	a->t->corrupt += corrupt;
	count_bytes(a, arrived + corrupt);
	if (end > a->far)
		a->far = end;
	return vf_bench_post_receive(l, 0, false);
}

static int take(struct answer *a, const struct ibv_wc *wc)
{
	struct vf_bench_link *l = a->l;
	uint64_t before = a->far;
	int rc;

	if (!(wc->wr_id & VF_BENCH_WR_RECEIVE))
		return 0;
	rc = l->what.op == VF_BENCH_WRITE ? take_writes(a, wc) : take_send(a, wc);
	if (rc < 0)
		return rc;
	if (l->what.measure == VF_BENCH_LATENCY)
		return a->far > before ? vf_bench_post(l, a->far - 1, true) : 0;
	if (a->far - a->noted >= a->batch) {
		a->noted = a->far / a->batch * a->batch;
		return vf_bench_post_note(l, (uint32_t)a->far);
	}
	return 0;
}

/* How many messages there were, once the asker has said so. */
static int read_end(struct answer *a, bool *is_known, uint64_t *total)
{
	uint8_t body[64];
	struct vf_bench_tally sent;

	if (*is_known || !vf_side_has(a->l->side, VF_SIDE_DONE))
		return 0;
	if (vf_side_receive(a->l->side, VF_SIDE_DONE, body, sizeof(body), 1000) < 0)
		return vf_bench_fail(a->l, EPROTO, "%s", a->l->side->error);
	vf_bench_get_tally(body, &sent);
	*total = sent.messages;
	*is_known = true;
	return 0;
}

static int loop(struct answer *a)
{
	struct vf_bench_link *l = a->l;
	bool is_passive = l->what.op == VF_BENCH_READ || l->what.op == VF_BENCH_ATOMIC,
	     is_known = false;
	uint64_t total = 0, quiet_since = vf_side_now();
	struct ibv_wc wc[WCS];

	for (;;) {
		int n = vf_bench_poll(l, wc, WCS), rc = n < 0 ? n : 0;

		for (int i = 0; i < n && rc == 0; i++)
			rc = take(a, &wc[i]);
		if (rc == 0 && n == 0)
			rc = read_end(a, &is_known, &total);
		if (rc < 0)
			return rc;
		if (n > 0 || !is_known)
			quiet_since = vf_side_now();
		if (is_known && (is_passive || a->t->messages >= total))
			break;
		if (is_known && vf_side_now() - quiet_since > QUIET_NS)
			break;
	}
	if (l->what.op == VF_BENCH_ATOMIC)
		memcpy(&a->t->counter, l->in, sizeof(a->t->counter));
	a->t->bytes -= a->first_bytes;
	a->t->lost = !is_passive && total > a->t->messages ? total - a->t->messages : 0;
	return 0;
}

int vf_bench_answer(struct vf_bench_link *l, struct vf_bench_tally *t)
{
	struct answer a = {.l = l, .t = t};
	int rc;

	memset(t, 0, sizeof(*t));
	l->progress_ns = vf_side_now();
	a.batch = l->what.slots / 4 ? l->what.slots / 4 : 1;
	a.seen = calloc(l->what.slots, sizeof(*a.seen));
	if (!a.seen)
		return vf_bench_fail(l, ENOMEM, "no memory");
	rc = loop(&a);
	free(a.seen);
	return rc;
}

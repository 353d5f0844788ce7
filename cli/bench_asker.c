/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The asker's part of a case. Bandwidth: up to "slots" messages are in flight; the answerer says
 * how far it has come after each quarter of them (a note), so that no transport is ever sent more
 * than the other end has receives for. Latency: one message at a time.
 *
 * UC and UD lose messages, and with them notes: when nothing moves for a while the asker takes the
 * messages in flight as dealt with and goes on. That is a stall; it is counted, and what was lost
 * shows in what the answerer counted.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "bench.h"
#include "pattern.h"

#define STALL_NS      VF_SEC /* longer than a busy machine keeps a process waiting */
#define LOST_IN_A_ROW 5u
#define WCS	      32

struct ask {
	struct vf_bench_link *l;
	struct vf_bench_result *r;
	uint64_t posted, completed, credited, counted;
	uint64_t start_ns, first_ns, last_ns, first_bytes, bytes;
	uint32_t batch;
	unsigned stalls; /* in a row */
	bool is_ended, has_credit;
};

static bool is_unreliable(const struct vf_bench_link *l)
{
	return l->what.transport != VF_BENCH_RC;
}

static bool is_over(const struct ask *a)
{
	const struct vf_bench_case *c = &a->l->what;

	return c->count ? a->posted >= c->count : vf_side_now() - a->start_ns >= c->duration_ns;
}

static int push(struct ask *a)
{
	const struct vf_bench_case *c = &a->l->what;
	uint64_t done = a->has_credit && a->credited < a->completed ? a->credited : a->completed;

	while (!a->is_ended && a->posted - done < c->slots && a->posted - a->completed < c->slots) {
		bool mark = (a->posted + 1) % a->batch == 0 || a->posted + 1 == c->count;
		int rc = vf_bench_post(a->l, a->posted, mark);

		if (rc < 0)
			return rc;
		a->posted++;
		if (mark)
			a->is_ended = is_over(a);
	}
	return 0;
}

/* Where the asker is the one that data arrives at: checks and counts messages [completed, end). */
static void take_data(struct ask *a, uint64_t end)
{
	struct vf_bench_link *l = a->l;

	for (uint64_t m = a->completed; m < end; m++) {
		uint64_t slot = m % l->what.slots, value;
		const unsigned char *at = l->in + slot * l->stride;

		a->bytes += l->what.size;
		a->r->arrived++;
		if (!l->what.verify)
			continue;
		memcpy(&value, at, sizeof(value));
		if (l->what.op == VF_BENCH_ATOMIC
			    ? value != m
			    : !vf_pattern_matches(at, l->what.size,
						  (m + m / l->what.slots) % l->what.slots))
			a->r->corrupt++;
	}
	a->last_ns = vf_side_now();
	if (a->first_ns == 0) {
		a->first_ns = a->last_ns;
		a->first_bytes = a->bytes;
	}
}

static int digest(struct ask *a, const struct ibv_wc *wc)
{
	if (wc->wr_id & VF_BENCH_WR_RECEIVE) {
		uint64_t far = (a->credited & ~(uint64_t)UINT32_MAX) | ntohl(wc->imm_data);

		if (far + UINT32_MAX / 2 < a->credited)
			far += (uint64_t)UINT32_MAX + 1;
		if (far > a->credited && far <= a->posted)
			a->credited = far;
		a->stalls = 0;
		return vf_bench_post_receive(a->l, 0, false);
	}
	if (!a->has_credit)
		take_data(a, wc->wr_id + 1);
	a->completed = wc->wr_id + 1;
	return 0;
}

/* Nothing moved for a while: what is in flight counts as dealt with, unless that happens again and
 * again. */
static int stall(struct ask *a)
{
	a->stalls++;
	a->credited = a->posted;
	if (a->stalls == LOST_IN_A_ROW)
		return vf_bench_fail(
			a->l, ETIMEDOUT,
			"nothing gets through: %u times in a row all messages in flight were lost",
			LOST_IN_A_ROW);
	return 0;
}

static int bandwidth(struct ask *a)
{
	struct vf_bench_link *l = a->l;
	uint64_t moved_ns = vf_side_now(), end_ns;
	struct ibv_wc wc[WCS];
	int rc = 0;

	a->has_credit = l->what.op == VF_BENCH_SEND || l->what.op == VF_BENCH_WRITE;
	a->batch = l->what.slots / 4 ? l->what.slots / 4 : 1;
	a->start_ns = moved_ns;
	while (!a->is_ended || a->completed < a->posted) {
		int n;

		if ((rc = push(a)) < 0 || (n = vf_bench_poll(l, wc, WCS)) < 0)
			return rc < 0 ? rc : n;
		for (int i = 0; i < n && rc == 0; i++)
			rc = digest(a, &wc[i]);
		if (rc < 0)
			return rc;
		if (n > 0) {
			moved_ns = vf_side_now();
		} else if (is_unreliable(l) && vf_side_now() - moved_ns > STALL_NS &&
			   a->completed == a->posted) {
			rc = stall(a);
			if (rc < 0)
				return rc;
			moved_ns = vf_side_now();
		}
	}
	end_ns = vf_side_now();
	if (a->has_credit && end_ns > a->start_ns)
		a->r->sender_rate =
			(double)a->posted * l->what.size * 1e9 / (double)(end_ns - a->start_ns);
	if (!a->has_credit && a->last_ns > a->first_ns) {
		a->r->receiver_rate = (double)(a->bytes - a->first_bytes) * 1e9 /
				      (double)(a->last_ns - a->first_ns);
		a->r->messages_per_s = a->r->receiver_rate / l->what.size;
	}
	return 0;
}

/* The answer to message @m: checks contents. */
static int take_answer(struct ask *a, uint64_t m, const struct ibv_wc *wc, bool *is_there)
{
	struct vf_bench_link *l = a->l;
	bool is_send = l->what.op == VF_BENCH_SEND;
	uint64_t slot = is_send ? wc->wr_id & ~VF_BENCH_WR_RECEIVE : m % l->what.slots;

	if (ntohl(wc->imm_data) == (uint32_t)m) {
		*is_there = true;
		a->r->arrived++;
		if (l->what.verify &&
		    !vf_pattern_matches(l->in + slot * l->stride + (is_send ? l->head : 0),
					l->what.size, m))
			a->r->corrupt++;
	}
	return vf_bench_post_receive(l, is_send ? slot : 0, is_send);
}

/* Waits for message @m to be answered or completed. *is_there false: it was lost. */
static int await(struct ask *a, uint64_t m, uint64_t sent_ns, bool *is_there)
{
	struct vf_bench_link *l = a->l;
	struct ibv_wc wc[WCS];

	*is_there = false;
	while (!*is_there || a->completed < a->posted) {
		int n = vf_bench_poll(l, wc, WCS);

		if (n < 0)
			return n;
		for (int i = 0; i < n; i++) {
			int rc = 0;

			if (wc[i].wr_id & VF_BENCH_WR_RECEIVE) {
				rc = take_answer(a, m, &wc[i], is_there);
			} else {
				if (!a->has_credit) {
					take_data(a, wc[i].wr_id + 1);
					*is_there = true;
				}
				a->completed = wc[i].wr_id + 1;
			}
			if (rc < 0)
				return rc;
		}
		if (*is_there && a->has_credit)
			return 0;
		if (n == 0 && is_unreliable(l) && vf_side_now() - sent_ns > STALL_NS &&
		    a->completed == a->posted)
			return 0;
	}
	return 0;
}

static int rest(struct vf_bench_link *l, uint64_t until_ns)
{
	struct timespec step = {.tv_nsec = 20 * 1000 * 1000};

	while (vf_side_now() + 20 * VF_MSEC < until_ns) {
		if (vf_side_beat(l->side) < 0)
			return vf_bench_fail(l, ECONNABORTED, "%s", l->side->error);
		nanosleep(&step, NULL);
	}
	while (vf_side_now() < until_ns)
		;
	l->progress_ns = vf_side_now();
	return 0;
}

static int latency(struct ask *a, void (*each)(uint64_t message, uint64_t ns))
{
	struct vf_bench_link *l = a->l;
	unsigned lost_in_a_row = 0;
	int rc;

	a->has_credit = l->what.op == VF_BENCH_SEND || l->what.op == VF_BENCH_WRITE;
	a->start_ns = vf_side_now();
	while (!is_over(a)) {
		uint64_t m = a->posted, sent_ns = vf_side_now(), ns;
		bool is_there;

		rc = vf_bench_post(l, m, true);
		a->posted++;
		if (rc < 0 || (rc = await(a, m, sent_ns, &is_there)) < 0)
			return rc;
		ns = vf_side_now() - sent_ns;
		lost_in_a_row = is_there ? 0 : lost_in_a_row + 1;
		if (is_there)
			vf_hist_record(&a->r->latency, a->has_credit ? ns / 2 : ns);
		if (each)
			each(m, is_there ? ns : 0);
		if (lost_in_a_row == LOST_IN_A_ROW)
			return vf_bench_fail(l, ETIMEDOUT, "%u messages in a row had no answer",
					     LOST_IN_A_ROW);
		if (l->what.interval_ns && !is_over(a) &&
		    (rc = rest(l, sent_ns + l->what.interval_ns)) < 0)
			return rc;
	}
	return 0;
}

int vf_bench_ask(struct vf_bench_link *l, struct vf_bench_result *r,
		 void (*each)(uint64_t message, uint64_t ns))
{
	struct ask a = {.l = l, .r = r, .batch = 1};
	int rc;

	l->progress_ns = vf_side_now();
	rc = l->what.measure == VF_BENCH_LATENCY ? latency(&a, each) : bandwidth(&a);
	r->sent = a.posted;
	return rc;
}

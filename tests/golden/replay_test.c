/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every captured RC conversation, with our engine in the place of the side that answered: its
 * answers equal rxe's field by field (opcode, PSN, syndrome, MSN, destination, payload, atomic's
 * original). Where we mean to differ, the table below says how often and why; a difference that is
 * not in it fails, and so does a row that no longer happens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "replay.h"

#define SIDES_MAX     8
#define CONVERSATIONS 53 /* sides of connections with answers, in all files */

static const char *folder;

struct hint_row {
	const char *file; /* what its name begins with */
	struct replay_hints hints;
};

static const struct hint_row hint_rows[] = {
	{"cm-rping", {.is_memory_changing = true}},
	{"nak-write-out-of-mr", {.is_short_region = true}},
	{"nak-write-bad-rkey", {.is_key_bad = true}},
	{"nak-read-bad-rkey", {.is_key_bad = true}},
	{"nak-send-too-long", {.receive_len = 16}},
	/* The captures were taken before the loss: these packets did not arrive at rxe either. */
	{"loss-send-requests", {.drop_every = 11, .drop_at = 3}},
	{"loss-read-requests", {.drop_every = 7, .drop_at = 3}},
};

enum difference {
	RESTARTS_MESSAGE, /* a read asked for again from the middle */
	INVALID_REQUEST,  /* a message longer than its receive */
	SILENT_AFTER_RNR, /* packets that follow an RNR NAK */
	CAPTURE_ENDS,
	NOT_INTENDED
};

static const struct difference_row {
	const char *file;
	enum difference what;
	unsigned count;
	const char *why;
} difference_rows[] = {
	{"loss-read-responses", RESTARTS_MESSAGE, 3,
	 "IBTA 9.7.5.1.3: the answer to a read request is a message of its own, so it starts with "
	 "FIRST or "
	 "ONLY even when it begins at the middle of an earlier read; rxe goes on with MIDDLE or "
	 "LAST"},
	{"nak-send-too-long", INVALID_REQUEST, 1,
	 "IBTA 9.7.4.1.3, table 57: a message longer than the receive is an invalid request "
	 "(0x61), as "
	 "hardware answers; rxe says remote operational error (0x63)"},
	{"rc-send-rnr", SILENT_AFTER_RNR, 14,
	 "IBTA 9.7.5.2.8: after an RNR NAK the responder waits for that PSN; rxe adds a sequence "
	 "NAK for "
	 "the packets that were under way, which the requester must ignore anyway"},
	{"rnr-send-late-receive", SILENT_AFTER_RNR, 3, "as above"},
	{"rc-write-imm-riostream", CAPTURE_ENDS, 1, "the capture ended before rxe's last ACK"},
};

/* The file lacks packets that were on the wire: a replay would meet a gap that rxe did not. */
static const char *const incomplete[] = {"rc-write-long"};

struct tally {
	unsigned sides, answers, files;
	unsigned found[VF_ARRAY_SIZE(difference_rows)];
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static struct replay_hints hints_of(const struct golden_file *f)
{
	struct replay_hints h = {0};

	for (unsigned i = 0; i < VF_ARRAY_SIZE(hint_rows); i++)
		if (begins(f->name, hint_rows[i].file))
			h = hint_rows[i].hints;
	for (unsigned i = 0; h.is_key_bad && i < f->count; i++)
		if (f->packets[i].data[0] == 10 || f->packets[i].data[0] == 12)
			h.bad_key = vf_load_be32(f->packets[i].data + 20);
	return h;
}

static bool is_same(const struct replay_answer *a, const struct replay_answer *b)
{
	return a->opcode == b->opcode && a->syndrome == b->syndrome && a->psn == b->psn &&
	       a->msn == b->msn && a->dest_qpn == b->dest_qpn && a->payload_len == b->payload_len &&
	       a->payload_crc == b->payload_crc && a->original == b->original;
}

static enum difference kind_of(const struct replay_answer *rxe, const struct replay_answer *ours)
{
	if (!ours || !rxe)
		return rxe ? NOT_INTENDED : CAPTURE_ENDS;
	if (rxe->psn != ours->psn || rxe->dest_qpn != ours->dest_qpn ||
	    rxe->payload_len != ours->payload_len || rxe->payload_crc != ours->payload_crc)
		return NOT_INTENDED;
	if ((rxe->opcode == 14 && ours->opcode == 13) || (rxe->opcode == 15 && ours->opcode == 16))
		return RESTARTS_MESSAGE;
	if (rxe->opcode == 17 && ours->opcode == 17 && rxe->syndrome == 0x63 &&
	    ours->syndrome == 0x61 && rxe->msn == ours->msn)
		return INVALID_REQUEST;
	return NOT_INTENDED;
}

static void print_answer(const char *who, const struct replay_answer *a)
{
	if (a)
		print_message(
			"   %s op %02x psn %06x syndrome %02x msn %u length %u payload %08x\n", who,
			a->opcode, a->psn, a->syndrome, a->msn, a->payload_len, a->payload_crc);
	else
		printf("#   %s nothing\n", who);
}

static void count_difference(struct tally *t, const char *file, enum difference what)
{
	for (unsigned i = 0; i < VF_ARRAY_SIZE(difference_rows); i++) {
		if (difference_rows[i].what == what && begins(file, difference_rows[i].file)) {
			t->found[i]++;
			return;
		}
	}
	fail_msg("%s: an answer differs, and no row says why", file);
}

static bool is_nak_after_rnr(const struct replay_result *r, unsigned at)
{
	const struct replay_answer *a = &r->rxe[at];

	return at > 0 && a->opcode == 17 && a->syndrome == 0x60 && a[-1].opcode == 17 &&
	       (a[-1].syndrome & 0xe0) == 0x20 && a[-1].psn == a->psn;
}

static void compare(struct tally *t, const char *file, const struct replay_result *r)
{
	unsigned at = 0, our_at = 0;

	while (at < r->rxe_count || our_at < r->our_count) {
		const struct replay_answer *rxe = at < r->rxe_count ? &r->rxe[at] : NULL;
		const struct replay_answer *ours = our_at < r->our_count ? &r->ours[our_at] : NULL;

		t->answers++;
		if (rxe && is_nak_after_rnr(r, at) && (!ours || !is_same(rxe, ours))) {
			count_difference(t, file, SILENT_AFTER_RNR);
			at++;
			continue;
		}
		if (!rxe || !ours || !is_same(rxe, ours)) {
			if (kind_of(rxe, ours) == NOT_INTENDED) {
				printf("# %s, answer %u:\n", file, at);
				print_answer("rxe ", rxe);
				print_answer("ours", ours);
			}
			count_difference(t, file, kind_of(rxe, ours));
		}
		at++;
		our_at++;
	}
}

static void replay_file(void *arg, struct golden_file *f)
{
	struct replay_hints hints = hints_of(f);
	struct replay_side sides[SIDES_MAX];
	static struct replay_result result;
	struct tally *t = arg;
	unsigned count;

	for (unsigned i = 0; i < VF_ARRAY_SIZE(incomplete); i++)
		if (begins(f->name, incomplete[i]))
			return;
	count = replay_find(f, sides, SIDES_MAX);
	t->files += count > 0;
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(replay_run(f, &sides[i], &hints, &result), 0);
		compare(t, f->name, &result);
		t->sides++;
	}
}

static void every_answer_equals_that_of_rxe_but_for_the_differences_we_mean(void **state)
{
	struct tally t = {0};

	(void)state;
	assert_true(golden_for_each(folder, replay_file, &t) > 0);
	for (unsigned i = 0; i < VF_ARRAY_SIZE(difference_rows); i++) {
		if (t.found[i] != difference_rows[i].count)
			printf("# %s: %u differences, the table says %u: %s\n",
			       difference_rows[i].file, t.found[i], difference_rows[i].count,
			       difference_rows[i].why);
		assert_int_equal(t.found[i], difference_rows[i].count);
	}
	printf("# %u conversations in %u files, %u answers\n", t.sides, t.files, t.answers);
	assert_int_equal(t.sides, CONVERSATIONS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_answer_equals_that_of_rxe_but_for_the_differences_we_mean),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: replay_test FOLDER\n");
		return 2;
	}
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

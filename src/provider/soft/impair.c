/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Impairment: reading the setting, deciding from the seed, holding back.
 *
 * Five numbers are drawn for each packet whatever is asked for, so that switching one fault on does
 * not move the others.
 */
#include "provider/soft/impair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"

enum { HELD_MAX = 16384, OVERTAKEN_MAX = 4 };
#define DELAY_MAX (10 * VF_SEC)
#define PART_MAX  64u

/* Decimal with up to @decimals places into units of 10^-decimals; *end is what follows. */
static bool read_decimal(const char *s, unsigned decimals, uint64_t *out, const char **end)
{
	uint64_t n = 0;
	unsigned places = 0, digits = 0;
	bool is_after_point = false;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !is_after_point); s++) {
		if (*s == '.') {
			is_after_point = true;
			continue;
		}
		if (++digits > 15 || (is_after_point && ++places > decimals))
			return false;
		n = n * 10 + (uint64_t)(*s - '0');
	}
	for (; places < decimals; places++)
		n *= 10;
	*out = n;
	*end = s;
	return digits > 0;
}

static bool read_share(const char *s, uint32_t *out)
{
	uint64_t n;
	const char *end;

	if (!read_decimal(s, 4, &n, &end) || strcmp(end, "%") != 0 || n > VF_IMPAIR_ONE)
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool read_delay(const char *s, vf_nsec *out)
{
	static const struct {
		const char *unit;
		vf_nsec ns;
	} units[] = {{"ns", 1}, {"us", VF_USEC}, {"ms", VF_MSEC}, {"s", VF_SEC}};
	uint64_t thousandths;
	const char *end;

	if (!read_decimal(s, 3, &thousandths, &end) || thousandths > DELAY_MAX)
		return false;
	for (size_t i = 0; i < VF_ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit) != 0 || thousandths > DELAY_MAX / units[i].ns * 1000)
			continue;
		*out = thousandths * units[i].ns / 1000;
		return true;
	}
	return false;
}

static bool read_seed(const char *s, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(s, &end, 0);
	return *s >= '0' && *s <= '9' && !*end && !errno;
}

/* One part, "name=value", cut at the '='. */
static int read_part(const char *name, const char *value, struct vf_impair_config *c)
{
	uint32_t *share = strcmp(name, "loss") == 0	 ? &c->loss
			  : strcmp(name, "dup") == 0	 ? &c->duplicate
			  : strcmp(name, "reorder") == 0 ? &c->reorder
			  : strcmp(name, "corrupt") == 0 ? &c->corrupt
							 : NULL;

	if (share && !read_share(value, share))
		return vf_refuse(EINVAL,
				 "VERBIFROST_IMPAIR: %s=%s is not a percentage from 0%% to 100%%",
				 name, value);
	if (strcmp(name, "delay") == 0) {
		if (!read_delay(value, &c->delay_ns))
			return vf_refuse(EINVAL,
					 "VERBIFROST_IMPAIR: delay=%s is not a time from 0 to 10s "
					 "(ns, us, ms, s)",
					 value);
	} else if (strcmp(name, "seed") == 0) {
		if (!read_seed(value, &c->seed))
			return vf_refuse(
				EINVAL,
				"VERBIFROST_IMPAIR: seed=%s is not a number from 0 to 2^64-1",
				value);
	} else if (!share) {
		return vf_refuse(EINVAL,
				 "VERBIFROST_IMPAIR: \"%s\" is not one of loss, dup, reorder, "
				 "delay, corrupt, seed",
				 name);
	}
	return 0;
}

int vf_impair_parse(const char *text, struct vf_impair_config *out)
{
	struct vf_impair_config c = {.seed = 1};
	char part[PART_MAX], *value;

	while (*text) {
		size_t n = strcspn(text, ",");
		int err;

		if (n >= sizeof(part))
			return vf_refuse(EINVAL,
					 "VERBIFROST_IMPAIR: \"%.*s...\" is too long for a part",
					 20, text);
		memcpy(part, text, n);
		part[n] = 0;
		text += n + (text[n] == ',');
		value = strchr(part, '=');
		if (!value)
			return vf_refuse(
				EINVAL,
				"VERBIFROST_IMPAIR: \"%s\" has no value (loss=1%%, delay=5ms)",
				part);
		*value++ = 0;
		err = read_part(part, value, &c);
		if (err)
			return err;
	}
	*out = c;
	return 0;
}

void vf_impair_init(struct vf_impair *im, const struct vf_impair_config *cfg)
{
	memset(im, 0, sizeof(*im));
	im->cfg = *cfg;
	vf_rand_seed(&im->rand, cfg->seed);
	vf_list_init(&im->late);
	vf_list_init(&im->overtaken);
}

static void unlink_held(struct vf_impair *im, struct vf_impair_held *h)
{
	vf_list_del(&h->link);
	im->held_count--;
}

static void clear(struct vf_impair *im, struct vf_list *list)
{
	while (!vf_list_is_empty(list)) {
		struct vf_impair_held *h = VF_LIST_ENTRY(list->next, struct vf_impair_held, link);

		unlink_held(im, h);
		free(h);
	}
}

void vf_impair_clear(struct vf_impair *im)
{
	clear(im, &im->late);
	clear(im, &im->overtaken);
}

void vf_impair_next(struct vf_impair *im, uint32_t bits, struct vf_impair_verdict *out)
{
	uint64_t where;

	im->sent++;
	out->is_lost = vf_rand_below(&im->rand, VF_IMPAIR_ONE) < im->cfg.loss;
	out->is_duplicated = vf_rand_below(&im->rand, VF_IMPAIR_ONE) < im->cfg.duplicate;
	out->is_reordered = vf_rand_below(&im->rand, VF_IMPAIR_ONE) < im->cfg.reorder;
	out->is_corrupt = vf_rand_below(&im->rand, VF_IMPAIR_ONE) < im->cfg.corrupt;
	where = vf_rand_next(&im->rand) >> 8;
	out->overtaken_by = 1 + (unsigned)(where % OVERTAKEN_MAX);
	out->corrupt_bit = bits ? (uint32_t)(where / OVERTAKEN_MAX % bits) : 0;
	/* One fate each, so that the counts add up. */
	if (out->is_lost)
		out->is_duplicated = out->is_reordered = out->is_corrupt = false;
}

int vf_impair_hold(struct vf_impair *im, vf_nsec due, uint64_t after, const void *data, size_t len)
{
	struct vf_impair_held *h;

	if (im->held_count >= HELD_MAX)
		return -ENOMEM;
	h = malloc(sizeof(*h) + len);
	if (!h)
		return -ENOMEM;
	h->due = due;
	h->after = after;
	h->len = len;
	memcpy(h->data, data, len);
	vf_list_add_tail(after == UINT64_MAX ? &im->late : &im->overtaken, &h->link);
	im->held_count++;
	return 0;
}

static bool is_due(const struct vf_impair *im, const struct vf_impair_held *h, vf_nsec now)
{
	return h->due <= now || h->after <= im->sent;
}

struct vf_impair_held *vf_impair_release(struct vf_impair *im, vf_nsec now)
{
	if (!vf_list_is_empty(&im->late)) {
		struct vf_impair_held *h =
			VF_LIST_ENTRY(im->late.next, struct vf_impair_held, link);

		if (is_due(im, h, now)) {
			unlink_held(im, h);
			return h;
		}
	}
	VF_LIST_FOR_EACH(l, &im->overtaken)
	{
		struct vf_impair_held *h = VF_LIST_ENTRY(l, struct vf_impair_held, link);

		if (is_due(im, h, now)) {
			unlink_held(im, h);
			return h;
		}
	}
	return NULL;
}

vf_nsec vf_impair_deadline(const struct vf_impair *im)
{
	vf_nsec first = VF_NSEC_NEVER;

	if (!vf_list_is_empty(&im->late))
		first = VF_LIST_ENTRY(im->late.next, struct vf_impair_held, link)->due;
	VF_LIST_FOR_EACH(l, &im->overtaken)
	{
		const struct vf_impair_held *h = VF_LIST_ENTRY(l, struct vf_impair_held, link);

		if (h->due < first)
			first = h->due;
	}
	return first;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_SIM_CHOICES_H
#define VF_TESTS_SIM_CHOICES_H
/*
 * Walks every sequence of choices, like an odometer: run the test, let it ask choices_pick wherever
 * something may go either way, call choices_next, and run it again until that says false. No
 * randomness, nothing left out.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CHOICES_MAX 32

struct choices {
	uint8_t digit[CHOICES_MAX], base[CHOICES_MAX];
	unsigned count, at;
};

/** One of 0 to @n - 1; the first run gets 0 everywhere. */
static inline unsigned choices_pick(struct choices *c, unsigned n)
{
	if (c->at == c->count) {
		c->digit[c->count] = 0;
		c->base[c->count++] = (uint8_t)n;
	}
	return c->digit[c->at++];
}

/** Sets out for the next run; false when all have been. */
static inline bool choices_next(struct choices *c)
{
	c->at = 0;
	while (c->count > 0) {
		if (++c->digit[c->count - 1] < c->base[c->count - 1])
			return true;
		c->count--;
	}
	return false;
}

/** The digits as text, to replay. */
static inline void choices_text(const struct choices *c, char *out, size_t size)
{
	unsigned n = 0;

	for (; n < c->count && n + 1 < size; n++)
		out[n] = (char)('0' + c->digit[n]);
	out[n] = 0;
}

/** The other way round: only this sequence. */
static inline void choices_from_text(struct choices *c, const char *text)
{
	c->count = c->at = 0;
	for (; *text && c->count < CHOICES_MAX; text++) {
		c->digit[c->count] = (uint8_t)(*text - '0');
		c->base[c->count++] = 255;
	}
}

#endif

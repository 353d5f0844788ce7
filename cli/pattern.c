/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Word k of message n is ((n + 1) * A) xor (k * B), A and B odd: two multiplications, which
 * compilers make into vector code, and both can be undone.
 */
#include "pattern.h"

#include <string.h>

#define A     0x9e3779b97f4a7c15u
#define B     0xd1342543de82ef95u
#define CHUNK 4096u

void vf_pattern_fill(void *to, size_t len, uint64_t message)
{
	unsigned char *p = to;
	uint64_t base = (message + 1) * A, place = 0, word;
	size_t at;

	for (at = 0; at + 8 <= len; at += 8, place += B) {
		word = base ^ place;
		memcpy(p + at, &word, 8);
	}
	word = base ^ place;
	memcpy(p + at, &word, len - at);
}

bool vf_pattern_matches(const void *from, size_t len, uint64_t message)
{
	const unsigned char *p = from;
	uint64_t base = (message + 1) * A, place = 0, word;
	size_t at = 0;

	while (at + 8 <= len) {
		size_t end = len - at > CHUNK ? at + CHUNK : at + (len - at) / 8 * 8;
		uint64_t wrong = 0;

		for (; at < end; at += 8, place += B) {
			memcpy(&word, p + at, 8);
			wrong |= word ^ base ^ place;
		}
		if (wrong)
			return false;
	}
	word = base ^ place;
	return memcmp(p + at, &word, len - at) == 0;
}

/* The number that times A is 1, by Newton's iteration: each step doubles the right bits. */
static uint64_t inverse_of_a(void)
{
	uint64_t x = A;

	for (int i = 0; i < 6; i++)
		x *= 2 - A * x;
	return x;
}

bool vf_pattern_is_incomplete(const void *from, size_t len, uint64_t message, uint64_t every)
{
	const unsigned char *p = from;
	uint64_t inverse = inverse_of_a(), place = 0, word, writer;

	for (size_t at = 0; at + 8 <= len; at += 8, place += B) {
		memcpy(&word, p + at, 8);
		writer = (word ^ place) * inverse - 1;
		if (word != 0 && (writer > message || (message - writer) % every != 0))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target without libFuzzer:
 *
 *   TARGET FILE...            replays these inputs
 *   TARGET --random N [SEED]  N inputs of random bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "fuzz.h"

#define INPUT_MAX 65536

static int replay(const char *path)
{
	static uint8_t data[INPUT_MAX];
	FILE *in = fopen(path, "rb");
	size_t len;

	if (!in) {
		perror(path);
		return 1;
	}
	len = fread(data, 1, sizeof(data), in);
	fclose(in);
	LLVMFuzzerTestOneInput(data, len);
	return 0;
}

/* Bytes that are small more often than not, so that they are kinds, flags and lengths that mean
 * something. */
static void random_inputs(unsigned long count, unsigned long seed)
{
	uint8_t data[512];
	struct vf_rand r;

	vf_rand_seed(&r, seed);
	for (unsigned long i = 0; i < count; i++) {
		size_t len = (size_t)vf_rand_below(&r, sizeof(data));

		for (size_t k = 0; k < len; k++)
			data[k] = (uint8_t)(vf_rand_below(&r, 3) ? vf_rand_below(&r, 32)
								 : vf_rand_next(&r) >> 40);
		LLVMFuzzerTestOneInput(data, len);
	}
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE... | --random N [SEED]\n", argv[0]);
		return 2;
	}
	if (strcmp(argv[1], "--random") == 0) {
		random_inputs(argc > 2 ? strtoul(argv[2], NULL, 10) : 1000,
			      argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
		return 0;
	}
	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	return failed;
}

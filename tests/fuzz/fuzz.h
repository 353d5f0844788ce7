/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_FUZZ_FUZZ_H
#define VF_TESTS_FUZZ_FUZZ_H
/* What each fuzz target is; libFuzzer calls it, or fuzz_main.c where there is no libFuzzer. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_PATTERN_H
#define VF_CLI_PATTERN_H
/*
 * Contents by which a message is recognised: every 8-byte word depends on the message's number and
 * on its place, so that a byte that is wrong, old or in the wrong place is seen. No word of a
 * pattern is zero by itself, so memory that nothing was written to is seen too.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void vf_pattern_fill(void *to, size_t len, uint64_t message);
bool vf_pattern_matches(const void *p, size_t len, uint64_t message);
/**
 * Whether each whole word is that of @message or of a message that used the same place before
 * (@message minus a multiple of @every), or was never written: then a write is missing or
 * incomplete, but nothing wrong was written.
 */
bool vf_pattern_is_incomplete(const void *p, size_t len, uint64_t message, uint64_t every);

#endif

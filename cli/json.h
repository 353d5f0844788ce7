/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_JSON_WRITER_H
#define VF_CLI_JSON_WRITER_H
/*
 * A writer of JSON (RFC 8259): objects and arrays opened and closed in order, two blanks a level.
 * It never reads JSON.
 * @key is NULL inside arrays and for the outermost value. Text that is no UTF-8 comes out with
 * U+FFFD for each wrong byte.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define VF_JSON_DEPTH 16

struct vf_json {
	FILE *to;
	unsigned depth;
	bool is_begun[VF_JSON_DEPTH + 1]; /* the level has a value already */
	char closer[VF_JSON_DEPTH + 1];
};

void vf_json_begin(struct vf_json *j, FILE *to);
/** @kind '{' or '['. At most VF_JSON_DEPTH levels; what is deeper is a mistake of the caller and
 * comes out flat. */
void vf_json_open(struct vf_json *j, const char *key, char kind);
void vf_json_close(struct vf_json *j);
/** NULL text is null. */
void vf_json_text(struct vf_json *j, const char *key, const char *value);
void vf_json_u64(struct vf_json *j, const char *key, uint64_t value);
/** What is no finite number is null. */
void vf_json_real(struct vf_json *j, const char *key, double value, int decimals);
void vf_json_bool(struct vf_json *j, const char *key, bool value);

#endif

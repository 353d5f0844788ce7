/* SPDX-License-Identifier: BSD-2-Clause */
/* Writer of JSON, RFC 8259. A value is: comma if needed, line break, indentation, key if any, the
 * value itself. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void vf_json_begin(struct vf_json *j, FILE *to)
{
	memset(j, 0, sizeof(*j));
	j->to = to;
}

/* Bytes of the well-formed UTF-8 sequence at @s, 0 when it is none (RFC 3629: no overlong forms, no
 * surrogates). */
static int utf8_length(const unsigned char *s)
{
	int n = s[0] < 0x80		      ? 1
		: s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		: s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		: s[0] >= 0xf0 && s[0] < 0xf5 ? 4
					      : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void put_text(FILE *to, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	fputc('"', to);
	while (*s) {
		int n = utf8_length(s);

		if (n == 0)
			fputs("\\ufffd", to);
		else if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else if (*s < 0x20)
			fprintf(to, "\\u%04x", *s);
		else
			fwrite(s, 1, (size_t)n, to);
		s += n ? n : 1;
	}
	fputc('"', to);
}

static void put_key(struct vf_json *j, const char *key)
{
	if (j->is_begun[j->depth])
		fputc(',', j->to);
	j->is_begun[j->depth] = true;
	if (j->depth)
		fprintf(j->to, "\n%*s", (int)j->depth * 2, "");
	if (key) {
		put_text(j->to, key);
		fputs(": ", j->to);
	}
}

void vf_json_open(struct vf_json *j, const char *key, char kind)
{
	put_key(j, key);
	fputc(kind, j->to);
	if (j->depth < VF_JSON_DEPTH)
		j->depth++;
	j->is_begun[j->depth] = false;
	j->closer[j->depth] = kind == '{' ? '}' : ']';
}

void vf_json_close(struct vf_json *j)
{
	bool had_values = j->is_begun[j->depth];
	char closer = j->closer[j->depth];

	j->depth--;
	if (had_values)
		fprintf(j->to, "\n%*s", (int)j->depth * 2, "");
	fputc(closer, j->to);
	if (j->depth == 0)
		fputc('\n', j->to);
}

void vf_json_text(struct vf_json *j, const char *key, const char *value)
{
	put_key(j, key);
	if (value)
		put_text(j->to, value);
	else
		fputs("null", j->to);
}

void vf_json_u64(struct vf_json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	fprintf(j->to, "%" PRIu64, value);
}

void vf_json_real(struct vf_json *j, const char *key, double value, int decimals)
{
	put_key(j, key);
	if (isfinite(value))
		fprintf(j->to, "%.*f", decimals, value);
	else
		fputs("null", j->to);
}

void vf_json_bool(struct vf_json *j, const char *key, bool value)
{
	put_key(j, key);
	fputs(value ? "true" : "false", j->to);
}

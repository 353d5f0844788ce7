/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VERBIFROST_VERBIFROST_H
#define VERBIFROST_VERBIFROST_H
/*
 * What Verbifrost has beyond the standard verbs. Everything else is in <infiniband/verbs.h>.
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_context;

#define VERBIFROST_VERSION "0.1.0"

/** The version of the library that is loaded. */
const char *verbifrost_version(void);

/**
 * Why the calling thread's last refused call was refused: one line that names attribute, value and allowed range. "" when nothing
 * was refused yet. Valid until the thread's next refusal. Never NULL.
 */
const char *verbifrost_last_error(void);

/**
 * Where log lines go instead of standard error; @fn NULL restores that. Level: 1 error to 4 debug. Called by one thread at a time, with
 * locks of the library held: it must not call verbs.
 */
void verbifrost_set_log(void (*fn)(int level, const char *line, void *arg), void *arg);
/** 0 is silence (the default), 1 errors, 2 refusals and warnings, 3 information, 4 everything. */
void verbifrost_set_log_level(int level);

struct verbifrost_counter {
	const char *name; /* "out_of_sequence" ...; static */
	uint64_t value;
};

/**
 * Counters of an open device since the process opened it first. Fills up to @max entries; returns how many there are, or -1 with errno
 * (EINVAL for NULL, EOPNOTSUPP for devices that have none).
 */
int verbifrost_query_counters(struct ibv_context *context, struct verbifrost_counter *out,
			      unsigned max);

struct verbifrost_setting {
	const char *name, *fallback, *value, *help;
};

/** The @i-th environment variable of ours: 0 and filled, or -1 when there is none of that number. */
int verbifrost_query_setting(unsigned i, struct verbifrost_setting *out);

/**
 * What the last ibv_get_device_list of this process looked at and left out: 0 and the @i-th, or -1. Static until the next call of it.
 */
int verbifrost_query_skipped(unsigned i, const char **what, const char **why);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* <verbifrost/verbifrost.h>: version, reasons, log, counters, settings. verbifrost_query_skipped is
 * in device.c. */
#include "verbifrost/verbifrost.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/settings.h"
#include "verbs/api.h"

VF_EXPORT const char *verbifrost_version(void) { return VERBIFROST_VERSION; }

VF_EXPORT const char *verbifrost_last_error(void) { return vf_reason_last(); }

/* ---- log ---- */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*log_fn)(int level, const char *line, void *arg);

/* The program's function takes the level as a number. The log calls this one thread at a time. */
static void hand_on(enum vf_log_level level, const char *line, void *arg)
{
	void (*fn)(int, const char *, void *);

	pthread_mutex_lock(&log_lock);
	fn = log_fn;
	pthread_mutex_unlock(&log_lock);
	if (fn)
		fn((int)level, line, arg);
}

VF_EXPORT void verbifrost_set_log(void (*fn)(int level, const char *line, void *arg), void *arg)
{
	/* Off first: the new argument never meets the old function. */
	vf_log_set(NULL, NULL);
	pthread_mutex_lock(&log_lock);
	log_fn = fn;
	pthread_mutex_unlock(&log_lock);
	if (fn)
		vf_log_set(hand_on, arg);
}

VF_EXPORT void verbifrost_set_log_level(int level)
{
	vf_log_set_level(level < 0 ? 0 : level > VF_LOG_DEBUG ? VF_LOG_DEBUG : level);
}

/* ---- counters ---- */

VF_EXPORT int verbifrost_query_counters(struct ibv_context *context, struct verbifrost_counter *out,
					unsigned max)
{
	struct vf_counter *c;
	unsigned count = 0;
	int err;

	if (!context || (!out && max))
		return vf_api_minus_one(vf_is_null(__func__, context ? "out" : "context"));
	c = calloc(max ? max : 1, sizeof(*c));
	if (!c)
		return vf_api_minus_one(
			vf_refuse(ENOMEM, "%s: no memory for %u counters", __func__, max));
	err = vf_ops(context)->query_counters(vf_ctx(context), c, max, &count);
	for (unsigned i = 0; !err && i < max && i < count; i++) {
		out[i].name = c[i].name;
		out[i].value = c[i].value;
	}
	free(c);
	return err ? vf_api_minus_one(err) : (int)count;
}

/* ---- settings ---- */

VF_EXPORT int verbifrost_query_setting(unsigned i, struct verbifrost_setting *out)
{
	const struct vf_setting *row = i < VF_SET_COUNT ? vf_setting_row((int)i) : NULL;

	if (!out)
		return vf_api_minus_one(vf_is_null(__func__, "out"));
	if (!row)
		return -1;
	out->name = row->name;
	out->fallback = row->fallback;
	out->value = vf_setting_string((enum vf_setting_id)i);
	out->help = row->help;
	return 0;
}

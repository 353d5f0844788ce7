/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Refusals and the log. The log is silent unless VERBIFROST_LOG names a level (error, warn, info, debug, or 1 to 4) or
 * the program set one. Lines go to stderr, or to the program's own function.
 */
#include "base/reason.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"

static _Thread_local char last[512];
static atomic_int level_now = -1;
static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static vf_log_fn sink;
static void *sink_arg;

static int level_from_setting(void)
{
	static const char *const names[] = {"none", "error", "warn", "info", "debug"};
	const char *v = vf_setting_string(VF_SET_LOG);

	for (int i = 0; i < 5; i++)
		if (strcmp(v, names[i]) == 0 || (v[0] == '0' + i && v[1] == 0))
			return i;
	return VF_LOG_WARN;
}

static int level(void)
{
	int l = atomic_load_explicit(&level_now, memory_order_relaxed);

	if (l >= 0)
		return l;
	l = level_from_setting();
	atomic_store_explicit(&level_now, l, memory_order_relaxed);
	return l;
}

/* Set while the program's own function has a line of this thread's: what is refused or logged inside it is not logged. */
static _Thread_local bool is_inside;

/* A thread of ours may be logging when the program forks; the child has no such thread, and must find the lock free. */
static void before_fork(void)
{
	if (!is_inside)
		pthread_mutex_lock(&sink_lock);
}

static void after_fork(void)
{
	if (!is_inside)
		pthread_mutex_unlock(&sink_lock);
}

/* At load, before all other parts: locks are taken in the reverse order of this, and others log with theirs held. */
__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

static void emit(enum vf_log_level l, const char *line)
{
	static const char *const tags[] = {"", "error", "warning", "info", "debug"};

	if (is_inside)
		return;
	is_inside = true;
	pthread_mutex_lock(&sink_lock);
	if (sink)
		sink(l, line, sink_arg);
	else
		fprintf(stderr, "verbifrost: %s: %s\n", tags[l], line);
	pthread_mutex_unlock(&sink_lock);
	is_inside = false;
}

int vf_refuse(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(last, sizeof(last), fmt, ap);
	va_end(ap);
	if (level() >= VF_LOG_WARN)
		emit(VF_LOG_WARN, last);
	return -err;
}

void vf_log(enum vf_log_level l, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (level() < (int)l)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	emit(l, line);
}

const char *vf_reason_last(void) { return last; }
void vf_reason_clear(void) { last[0] = 0; }

void vf_log_set(vf_log_fn fn, void *arg)
{
	if (!is_inside)
		pthread_mutex_lock(&sink_lock);
	sink = fn;
	sink_arg = arg;
	if (!is_inside)
		pthread_mutex_unlock(&sink_lock);
}

void vf_log_set_level(int l) { atomic_store_explicit(&level_now, l, memory_order_relaxed); }

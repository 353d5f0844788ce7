/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_REASON_H
#define VF_BASE_REASON_H
/*
 * Why something was refused. The function that first knows the cause says it once, here; everybody above only hands
 * the error number on. The text is kept for the calling thread (verbifrost_last_error) and goes to the log when the
 * user asked for one (VERBIFROST_LOG, or a function set by the program).
 */

enum vf_log_level { VF_LOG_ERROR = 1, VF_LOG_WARN = 2, VF_LOG_INFO = 3, VF_LOG_DEBUG = 4 };

typedef void (*vf_log_fn)(enum vf_log_level level, const char *line, void *arg);

/**
 * Records one line (attribute, value, allowed range) for a call that is being refused with errno value @err (> 0), logs it
 * at level WARN, and returns -@err. Lines over 511 bytes are cut.
 */
int vf_refuse(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Logs one line; does not touch the last error. Costs one load and a branch when the level is off. */
void vf_log(enum vf_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** The calling thread's last refusal, "" when there was none. Valid until the thread's next refusal. */
const char *vf_reason_last(void);
void vf_reason_clear(void);

/** Where lines go: @fn NULL means stderr. Level 0 is silence. VERBIFROST_LOG sets the level at first use. */
void vf_log_set(vf_log_fn fn, void *arg);
void vf_log_set_level(int level);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CM_ABSENT_H
#define VF_CM_ABSENT_H
/*
 * The answer of every call that needs the connection manager, for as long as there is none.
 */

/** Says that @call needs the connection manager, sets errno to EOPNOTSUPP. Always -1, so that
 * callers can return it. */
int vf_cm_absent(const char *call);

/** The same for socket calls: no descriptor can be an rsocket, so errno is EBADF. */
int vf_cm_no_rsocket(const char *call, int fd);

#endif

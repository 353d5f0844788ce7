/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One refusal for the whole interface of the connection manager. Programs open an event channel or
 * look an address up before anything else, so they meet it at once and can say so; nothing here
 * ever claims a success.
 */
#include "cm/absent.h"

#include <errno.h>

#include "base/reason.h"

int vf_cm_absent(const char *call)
{
	vf_refuse(EOPNOTSUPP, "%s: the connection manager is not there yet", call);
	errno = EOPNOTSUPP;
	return -1;
}

int vf_cm_no_rsocket(const char *call, int fd)
{
	vf_refuse(EBADF, "%s: %d is not an rsocket: the connection manager is not there yet", call,
		  fd);
	errno = EBADF;
	return -1;
}

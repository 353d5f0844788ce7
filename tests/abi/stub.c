/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands for Debian's libibverbs and librdmacm when one_instance_test is linked, so that the test
 * asks for libibverbs.so.1 and librdmacm.so.1 by name and node as programs do. Never loaded.
 */
#include "base/export.h"

VF_EXPORT const char *rdma_event_str(int event);
VF_EXPORT const char *ibv_wc_status_str(int status);

const char *rdma_event_str(int event)
{
	(void)event;
	return "stub";
}

const char *ibv_wc_status_str(int status)
{
	(void)status;
	return "stub";
}

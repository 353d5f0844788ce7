/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_DROPIN_H
#define VF_CLI_DROPIN_H
/* The directory that holds the libraries under their standard names. */
#include <stdbool.h>
#include <stddef.h>

/** Finds it beside this program, in a build tree or installed, or at the place it was configured
 * for. False: @out says where was looked. */
bool vf_dropin_find(char *out, size_t room);

#endif

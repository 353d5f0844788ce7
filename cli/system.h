/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_SYSTEM_H
#define VF_CLI_SYSTEM_H
/*
 * What the commands must know of the operating system. One file implements it for each:
 * system_linux.c, system_darwin.c.
 */
#include <stdbool.h>
#include <stddef.h>

/** The file that this program was started from; false when the system does not say. */
bool vf_system_self(char *out, size_t room);

/** Names of the environment variables that put a directory before the loader's own, NULL at the
 * end. */
extern const char *const vf_system_loader_paths[];
/** File name of the drop-in library by which its directory is recognised. */
extern const char *const vf_system_dropin_library;
/** All file names that belong into the drop-in directory, NULL at the end. */
extern const char *const vf_system_dropin_files[];
/** Why the loader would ignore the variables for this program; NULL when it does not. */
const char *vf_system_loader_ignores(const char *program);

#endif

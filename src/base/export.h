/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_EXPORT_H
#define VF_BASE_EXPORT_H
/*
 * Everything is compiled hidden; a function that programs may call carries this mark. On systems with version maps the map has the
 * last word (src/verbs/verbifrost.map).
 */
#define VF_EXPORT __attribute__((visibility("default")))

#endif

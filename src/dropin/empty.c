/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The body of a library that only passes on what another one exports.
 */
extern const int verbifrost_nothing;

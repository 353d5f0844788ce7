/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_INFO_FIELDS_H
#define VF_CLI_INFO_FIELDS_H
/* The attributes of devices and ports as data: name, place, and the names of bits and values. */
#include <stddef.h>
#include <stdint.h>

struct vf_info_name {
	uint64_t value;
	const char *name; /* NULL ends a list */
};

enum vf_info_kind {
	VF_INFO_NUMBER,
	VF_INFO_HEX,
	VF_INFO_GUID,
	VF_INFO_TEXT,
	VF_INFO_FLAGS,
	VF_INFO_CHOICE,
	VF_INFO_TYPES
};

struct vf_info_field {
	const char *name; /* as the structure member is called; NULL ends a table */
	size_t at, size;
	enum vf_info_kind kind;
	const struct vf_info_name *names; /* flags and choices */
};

extern const struct vf_info_field vf_info_device[]; /* of struct ibv_device_attr_ex */
extern const struct vf_info_field vf_info_port[];   /* of struct ibv_port_attr */

#endif

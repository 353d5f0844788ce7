/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of devices and ports, P_Keys, the device's clock.
 *
 * Callers were compiled with headers of different releases: whatever has grown comes with the size
 * that the caller knows, and not a byte is written beyond it. IBTA 11.2.1.
 */
#include "verbs/api.h"

#undef ibv_query_port

/* The caller's @size bytes: what we know of it, and zeros where the caller knows more. */
static void copy_sized(void *to, size_t size, const void *from, size_t known)
{
	memset(to, 0, size);
	memcpy(to, from, size < known ? size : known);
}

int vf_check_port(const char *verb, struct ibv_context *context, uint32_t port)
{
	uint32_t count = vf_api_ctx(context)->attr.orig_attr.phys_port_cnt;

	if (port >= 1 && port <= count)
		return 0;
	return vf_refuse(EINVAL, "%s: port %u, but %s has ports 1 to %u", verb, port,
			 context->device->name, count);
}

/* ---- device ---- */

static int query_device(const char *verb, struct ibv_context *context,
			struct ibv_device_attr_ex *out)
{
	memset(out, 0, sizeof(*out));
	if (!context)
		return vf_is_null(verb, "context");
	return vf_ops(context)->query_device(vf_ctx(context), out);
}

VF_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	struct ibv_device_attr_ex attr;
	int err;

	if (!device_attr)
		return vf_api_code(vf_is_null(__func__, "device_attr"));
	err = query_device(__func__, context, &attr);
	if (!err)
		*device_attr = attr.orig_attr;
	return vf_api_code(err);
}

int vf_verb_query_device_ex(struct ibv_context *context,
			    const struct ibv_query_device_ex_input *input,
			    struct ibv_device_attr_ex *attr, size_t size)
{
	static const char verb[] = "ibv_query_device_ex";
	struct ibv_device_attr_ex all;
	int err;

	if (!attr)
		return vf_api_code(vf_is_null(verb, "attr"));
	if (input && input->comp_mask)
		return vf_api_code(vf_refuse(EINVAL, "%s: input->comp_mask 0x%x, allowed is 0",
					     verb, input->comp_mask));
	if (size < offsetof(struct ibv_device_attr_ex, comp_mask) + sizeof(attr->comp_mask))
		return vf_api_code(vf_refuse(EINVAL, "%s: room for %zu bytes, the least is %zu",
					     verb, size,
					     offsetof(struct ibv_device_attr_ex, odp_caps)));
	err = query_device(verb, context, &all);
	if (err)
		return vf_api_code(err);
	all.comp_mask = 0;
	copy_sized(attr, size, &all, sizeof(all));
	return 0;
}

int vf_verb_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	static const char verb[] = "ibv_query_rt_values_ex";

	if (!context || !values)
		return vf_api_code(vf_is_null(verb, context ? "values" : "context"));
	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return vf_api_code(vf_refuse(EINVAL, "%s: comp_mask 0x%x, allowed is 0x%x", verb,
					     values->comp_mask,
					     (unsigned)IBV_VALUES_MASK_RAW_CLOCK));
	return vf_api_code(vf_ops(context)->query_rt_values(vf_ctx(context), values));
}

/* ---- port ---- */

static int query_port(const char *verb, struct ibv_context *context, uint32_t port,
		      struct ibv_port_attr *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (!context)
		return vf_is_null(verb, "context");
	err = vf_check_port(verb, context, port);
	return err ? err : vf_ops(context)->query_port(vf_ctx(context), (uint8_t)port, out);
}

int vf_verb_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		       size_t len)
{
	struct ibv_port_attr all;
	int err;

	if (!attr)
		return vf_api_code(vf_is_null("ibv_query_port", "port_attr"));
	err = query_port("ibv_query_port", context, port, &all);
	if (err)
		return vf_api_code(err);
	if (all.lid == 0)
		all.lid = vf_lid_of_port(context, port);
	copy_sized(attr, len, &all, sizeof(all));
	return 0;
}

/* For programs older than the length argument: their struct ends before link_layer's successor
 * flags. */
enum { PORT_ATTR_COMPAT_BYTES = 48 };
VF_CHECK_AT(struct ibv_port_attr, link_layer, 46);

VF_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port_num,
			     struct _compat_ibv_port_attr *port_attr)
{
	return vf_verb_query_port(context, port_num, (struct ibv_port_attr *)(void *)port_attr,
				  PORT_ATTR_COMPAT_BYTES);
}

/* Lanes and the speed of one lane (in 100 Mbit/s) by their numbers in port attributes. */
static unsigned lanes(uint8_t width)
{
	switch (width) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

static unsigned lane_speed(uint32_t speed)
{
	switch (speed) {
	case 1:
		return 25;
	case 2:
		return 50;
	case 4:
	case 8:
		return 100;
	case 16:
		return 140;
	case 32:
		return 250;
	case 64:
		return 500;
	case 128:
		return 1000;
	case 256:
		return 2000;
	default:
		return 0;
	}
}

VF_EXPORT int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num,
				   uint64_t *port_speed)
{
	struct ibv_port_attr attr;
	int err;

	if (!port_speed)
		return vf_api_code(vf_is_null(__func__, "port_speed"));
	err = query_port(__func__, context, port_num, &attr);
	if (err)
		return vf_api_code(err);
	*port_speed = (uint64_t)lanes(attr.active_width) *
		      lane_speed(attr.active_speed_ex ? attr.active_speed_ex : attr.active_speed);
	return 0;
}

/* ---- P_Keys ---- */

static int query_pkey(const char *verb, struct ibv_context *context, uint8_t port, int index,
		      __be16 *pkey)
{
	uint16_t found;
	int err;

	if (!context)
		return vf_is_null(verb, "context");
	err = vf_check_port(verb, context, port);
	if (err)
		return err;
	if (index < 0 || index >= vf_api_ctx(context)->attr.orig_attr.max_pkeys)
		return vf_refuse(EINVAL, "%s: index %d, allowed are 0 to %d", verb, index,
				 vf_api_ctx(context)->attr.orig_attr.max_pkeys - 1);
	err = vf_ops(context)->query_pkey(vf_ctx(context), port, index, &found);
	if (!err)
		*pkey = found;
	return err;
}

VF_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	if (!pkey)
		return vf_api_minus_one(vf_is_null(__func__, "pkey"));
	return vf_api_minus_one(query_pkey(__func__, context, port_num, index, pkey));
}

VF_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	int count, err;

	if (!context)
		return vf_api_minus_one(vf_is_null(__func__, "context"));
	err = vf_check_port(__func__, context, port_num);
	count = vf_api_ctx(context)->attr.orig_attr.max_pkeys;
	for (int i = 0; !err && i < count; i++) {
		__be16 at = 0;

		err = query_pkey(__func__, context, port_num, i, &at);
		if (!err && at == pkey)
			return i;
	}
	if (!err)
		err = vf_refuse(ENOENT, "%s: P_Key 0x%04x is not in the table of port %u", __func__,
				vf_load_be16(&pkey), port_num);
	return vf_api_minus_one(err);
}

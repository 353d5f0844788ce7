/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GIDs: the port's table in its several forms, GIDs as text, and Ethernet addresses that a GID
 * alone determines.
 */
#include "verbs/api.h"

#include <arpa/inet.h>
#include <stdio.h>

/* Of no public header; the names are those that programs print. */
enum gid_type_sysfs { GID_TYPE_SYSFS_IB_ROCE_V1, GID_TYPE_SYSFS_ROCE_V2 };
VF_EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
				 enum gid_type_sysfs *type);

void vf_gid_text(const union ibv_gid *gid, char out[46])
{
	if (!inet_ntop(AF_INET6, gid->raw, out, 46))
		snprintf(out, 46, "?");
}

static int gid_table_len(struct ibv_context *context, uint8_t port)
{
	struct ibv_port_attr attr = {.gid_tbl_len = 0};
	int err = vf_ops(context)->query_port(vf_ctx(context), port, &attr);

	return err ? err : attr.gid_tbl_len;
}

void vf_gid_list(struct ibv_context *context, uint8_t port, char *out, size_t len)
{
	int count = gid_table_len(context, port);
	struct ibv_gid_entry e;
	char text[46];
	size_t used = 0;

	snprintf(out, len, "none");
	for (int i = 0; i < count && used + 70 < len; i++) {
		if (vf_ops(context)->query_gid(vf_ctx(context), port, i, &e))
			continue;
		vf_gid_text(&e.gid, text);
		used += (size_t)snprintf(out + used, len - used, "%s%d: %s", used ? ", " : "", i,
					 text);
	}
}

/* Complete, whatever the provider fills; quiet about empty slots, which programs meet by the dozen.
 */
static int query_entry(const char *verb, struct ibv_context *context, uint32_t port, uint32_t index,
		       struct ibv_gid_entry *out)
{
	int len, err;

	memset(out, 0, sizeof(*out));
	if (!context)
		return vf_is_null(verb, "context");
	err = vf_check_port(verb, context, port);
	if (err)
		return err;
	len = gid_table_len(context, (uint8_t)port);
	if (len < 0)
		return len;
	if (index >= (uint32_t)len)
		return vf_refuse(EINVAL, "%s: index %u, but port %u of %s has %d entries", verb,
				 index, port, context->device->name, len);
	err = vf_ops(context)->query_gid(vf_ctx(context), (uint8_t)port, (int)index, out);
	if (err == -ENODEV)
		err = -ENODATA; /* the interface is gone, and with it what stood here */
	if (err)
		memset(out, 0, sizeof(*out));
	out->gid_index = index;
	out->port_num = port;
	return err;
}

/* An empty slot is no error here: the GID is zero. */
VF_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			    union ibv_gid *gid)
{
	struct ibv_gid_entry e;
	int err;

	if (!gid)
		return vf_api_minus_one(vf_is_null(__func__, "gid"));
	if (index < 0)
		return vf_api_minus_one(
			vf_refuse(EINVAL, "%s: index %d is negative", __func__, index));
	err = query_entry(__func__, context, port_num, (uint32_t)index, &e);
	if (!err || err == -ENODATA)
		*gid = e.gid;
	return vf_api_minus_one(err == -ENODATA ? 0 : err);
}

VF_EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
				 enum gid_type_sysfs *type)
{
	struct ibv_gid_entry e;
	int err;

	if (!type)
		return vf_api_minus_one(vf_is_null(__func__, "type"));
	err = query_entry(__func__, context, port_num, index, &e);
	if (!err || err == -ENODATA)
		*type = !err && e.gid_type == IBV_GID_TYPE_ROCE_V2 ? GID_TYPE_SYSFS_ROCE_V2
								   : GID_TYPE_SYSFS_IB_ROCE_V1;
	return vf_api_minus_one(err == -ENODATA ? 0 : err);
}

/* @size is what the caller's entry has; ours may be longer or shorter. */
static void copy_entry(void *to, size_t size, const struct ibv_gid_entry *e)
{
	memset(to, 0, size);
	memcpy(to, e, size < sizeof(*e) ? size : sizeof(*e));
}

static int check_gid_request(const char *verb, uint32_t flags, size_t entry_size)
{
	if (flags)
		return vf_refuse(EINVAL, "%s: flags 0x%x, allowed is 0", verb, flags);
	if (entry_size < sizeof(union ibv_gid))
		return vf_refuse(EINVAL, "%s: entries of %zu bytes, the least is %zu", verb,
				 entry_size, sizeof(union ibv_gid));
	return 0;
}

VF_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
				struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry e;
	int err;

	if (!entry)
		return vf_api_code(vf_is_null("ibv_query_gid_ex", "entry"));
	err = check_gid_request("ibv_query_gid_ex", flags, entry_size);
	if (!err)
		err = query_entry("ibv_query_gid_ex", context, port_num, gid_index, &e);
	if (!err)
		copy_entry(entry, entry_size, &e);
	return vf_api_code(err);
}

/* Where the entries of all ports go, one behind the other. */
struct table_out {
	char *entries;
	size_t max, used, entry_size;
};

static int add_port(struct ibv_context *context, uint8_t port, struct table_out *out)
{
	int len = gid_table_len(context, port), err;
	struct ibv_gid_entry e;

	for (int i = 0; i < len; i++) {
		err = query_entry("ibv_query_gid_table", context, port, (uint32_t)i, &e);
		if (err == -ENODATA)
			continue;
		if (err)
			return err;
		if (out->used == out->max)
			return vf_refuse(EINVAL,
					 "ibv_query_gid_table: max_entries %zu, there are more",
					 out->max);
		copy_entry(out->entries + out->used++ * out->entry_size, out->entry_size, &e);
	}
	return len < 0 ? len : 0;
}

VF_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
				       size_t max_entries, uint32_t flags, size_t entry_size)
{
	struct table_out out = {(char *)entries, max_entries, 0, entry_size};
	int err;

	if (!context || (!entries && max_entries))
		err = vf_is_null("ibv_query_gid_table", context ? "entries" : "context");
	else
		err = check_gid_request("ibv_query_gid_table", flags, entry_size);
	for (unsigned p = 1; !err && p <= vf_api_ctx(context)->attr.orig_attr.phys_port_cnt; p++)
		err = add_port(context, (uint8_t)p, &out);
	if (err)
		return -(ssize_t)vf_api_code(err);
	return (ssize_t)out.used;
}

/* ---- Ethernet addresses ---- */

static bool is_mapped_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid->raw, prefix, sizeof(prefix)) == 0;
}

/* Groups map to Ethernet addresses by rule (RFC 1112, RFC 2464); interface identifiers made from
 * one contain it (RFC 4291). */
static bool mac_of_gid(const union ibv_gid *gid, uint8_t mac[ETHERNET_LL_SIZE])
{
	const uint8_t *g = gid->raw;

	if (is_mapped_ipv4(gid) && g[12] >> 4 == 0xe) {
		const uint8_t m[] = {0x01, 0x00, 0x5e, g[13] & 0x7f, g[14], g[15]};

		memcpy(mac, m, sizeof(m));
		return true;
	}
	if (g[0] == 0xff) {
		const uint8_t m[] = {0x33, 0x33, g[12], g[13], g[14], g[15]};

		memcpy(mac, m, sizeof(m));
		return true;
	}
	if (g[0] == 0xfe && (g[1] & 0xc0) == 0x80 && g[11] == 0xff && g[12] == 0xfe) {
		const uint8_t m[] = {g[8] ^ 2, g[9], g[10], g[13], g[14], g[15]};

		memcpy(mac, m, sizeof(m));
		return true;
	}
	return false;
}

VF_EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
					  uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	char text[46];
	int err;

	if (!context || !attr || !eth_mac)
		return vf_api_code(vf_is_null(__func__, !context ? "context"
							: !attr	 ? "attr"
								 : "eth_mac"));
	err = vf_check_port(__func__, context, attr->port_num);
	if (err)
		return vf_api_code(err);
	if (!mac_of_gid(&attr->grh.dgid, eth_mac)) {
		vf_gid_text(&attr->grh.dgid, text);
		return vf_api_code(
			vf_refuse(EOPNOTSUPP,
				  "%s: the system finds the Ethernet address of %s when a "
				  "packet goes there; only those of groups and of "
				  "link-local addresses made from one are known before",
				  __func__, text));
	}
	if (vid)
		*vid = 0xffff; /* no VLAN tag of ours: the interface has one or not */
	return 0;
}

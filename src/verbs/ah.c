/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address handles, and the way back to the sender of a datagram. IBTA 11.2.2, 11.2.2.3 (answers),
 * annex A17 (RoCEv2).
 */
#include "verbs/api.h"

#include <stdio.h>

bool vf_gid_is_group(const union ibv_gid *gid)
{
	static const uint8_t ipv4_prefix[12] = {[10] = 0xff, [11] = 0xff};

	if (gid->raw[0] == 0xff)
		return true;
	return memcmp(gid->raw, ipv4_prefix, sizeof(ipv4_prefix)) == 0 && gid->raw[12] >> 4 == 0xe;
}

static bool is_zero(const union ibv_gid *gid)
{
	static const union ibv_gid zero;

	return memcmp(gid, &zero, sizeof(zero)) == 0;
}

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid->raw, prefix, sizeof(prefix)) == 0;
}

/* ---- checks ---- */

/* The table's end is looked up first, so that the provider has nothing to refuse: one refusal, one
 * line. */
static int check_source(struct ibv_context *context, const struct ibv_ah_attr *av, const char *name,
			struct ibv_gid_entry *out)
{
	struct ibv_port_attr attr = {.gid_tbl_len = 0};
	char list[320];
	int err = vf_ops(context)->query_port(vf_ctx(context), av->port_num, &attr);
	bool is_inside = av->grh.sgid_index < attr.gid_tbl_len;

	if (!err && is_inside)
		err = vf_ops(context)->query_gid(vf_ctx(context), av->port_num, av->grh.sgid_index,
						 out);
	if (err == -ENODEV)
		return vf_refuse(ENODEV, "%s: its network interface is gone", context->device->name);
	if (err && err != -ENODATA)
		return err;
	if (!err && is_inside)
		return 0;
	vf_gid_list(context, av->port_num, list, sizeof(list));
	return vf_refuse(is_inside ? ENODATA : EINVAL, "%s.grh.sgid_index %u %s; %s has %s", name,
			 av->grh.sgid_index,
			 is_inside ? "is an empty entry" : "is outside the table",
			 context->device->name, list);
}

static int check_destination(struct ibv_context *context, const struct ibv_ah_attr *av,
			     const char *name, enum vf_av_use use)
{
	const union ibv_gid *dgid = &av->grh.dgid;
	bool is_group = use == VF_AV_CONNECTED && vf_gid_is_group(dgid);
	char list[256], text[46];

	if (!is_zero(dgid) && !is_group)
		return 0;
	vf_gid_text(dgid, text);
	vf_gid_list(context, av->port_num, list, sizeof(list));
	return vf_refuse(EINVAL, "%s.grh.dgid %s is %s; the GIDs here are %s", name, text,
			 is_group ? "that of a group" : "zero", list);
}

static bool is_ethernet(struct ibv_context *context, uint8_t port)
{
	struct ibv_port_attr attr = {.link_layer = IBV_LINK_LAYER_ETHERNET};

	vf_ops(context)->query_port(vf_ctx(context), port, &attr);
	return attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

int vf_check_av(struct ibv_context *context, const struct ibv_ah_attr *av, const char *name,
		enum vf_av_use use)
{
	struct ibv_gid_entry source;
	char from[46], to[46], port[64];
	int err;

	snprintf(port, sizeof(port), "%s.port_num", name);
	err = vf_check_port(port, context, av->port_num);
	if (err || !is_ethernet(context, av->port_num))
		return err;
	if (!av->is_global)
		return vf_refuse(EINVAL, "%s.is_global 0: RoCE needs is_global=1 and a dgid", name);
	err = check_destination(context, av, name, use);
	if (!err)
		err = check_source(context, av, name, &source);
	if (err || is_ipv4(&source.gid) == is_ipv4(&av->grh.dgid))
		return err;
	vf_gid_text(&source.gid, from);
	vf_gid_text(&av->grh.dgid, to);
	return vf_refuse(EINVAL,
			 "%s.grh: sgid_index %u is %s and dgid is %s: one is IPv4 and one is IPv6",
			 name, av->grh.sgid_index, from, to);
}

/* ---- handles ---- */

static int create_ah(const char *verb, struct ibv_pd *pd, struct ibv_ah_attr *attr,
		     struct vf_ah **out)
{
	struct ibv_ah_attr av;
	struct vf_pd *real;
	int err;

	if (!pd || !attr)
		return vf_is_null(verb, pd ? "attr" : "pd");
	real = vf_pd_real(vf_pd(pd));
	av = *attr;
	vf_lid_resolve(pd->context, &av);
	err = vf_check_av(pd->context, &av, "ah_attr", VF_AV_DATAGRAM);
	if (!err)
		err = vf_ops(pd->context)->create_ah(real, &av, out);
	if (err)
		return err;
	(*out)->ibv.context = pd->context;
	(*out)->ibv.pd = pd;
	(*out)->ibv.handle = vf_handle_new(VF_KIND_OTHER, *out);
	vf_pd_use(vf_pd(pd));
	return 0;
}

VF_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct vf_ah *ah = NULL;
	int err = create_ah(__func__, pd, attr, &ah);

	return err ? vf_api_null(err) : &ah->ibv;
}

VF_EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
	struct vf_pd *pd = NULL;
	uint32_t handle;
	int err;

	if (!ah)
		return vf_api_code(vf_is_null(__func__, "ah"));
	pd = vf_pd(ah->pd);
	handle = ah->handle;
	err = vf_ops(ah->context)->destroy_ah(vf_ah(ah));
	if (err)
		return vf_api_code(err);
	vf_handle_drop(handle);
	vf_pd_unuse(pd);
	return 0;
}

/* ---- the way back ---- */

/* Where a datagram came from and went to, as its 40 bytes say. */
struct route {
	union ibv_gid from, to;
	uint32_t flow_label;
	uint8_t traffic_class;
};

enum { IPV4_AT = 20, IPV4_LEN = 20 }; /* the IPv4 header lies in the second half of the 40 bytes */

static uint16_t ipv4_sum(const uint8_t *h)
{
	uint32_t sum = 0;

	for (int i = 0; i < IPV4_LEN; i += 2)
		sum += vf_load_be16(h + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* A checksum of zero is taken too: what stands in for a header need not have one. */
static bool is_ipv4_header(const uint8_t *h)
{
	return h[0] == 0x45 && (ipv4_sum(h) == 0xffff || vf_load_be16(h + 10) == 0);
}

static void mapped(const uint8_t addr[4], union ibv_gid *out)
{
	memset(out, 0, sizeof(*out));
	out->raw[10] = out->raw[11] = 0xff;
	memcpy(out->raw + 12, addr, 4);
}

static int read_route(const struct ibv_grh *grh, struct route *out)
{
	const uint8_t *b = (const uint8_t *)grh, *v4 = b + IPV4_AT;
	uint32_t word = vf_load_be32(b);

	if (word >> 28 == 6) {
		out->from = grh->sgid;
		out->to = grh->dgid;
		out->flow_label = word & 0xfffff;
		out->traffic_class = (uint8_t)(word >> 20);
		return 0;
	}
	if (!is_ipv4_header(v4))
		return vf_refuse(EINVAL,
				 "ibv_init_ah_from_wc: the 40 bytes hold no IPv6 (version %u) and "
				 "no IPv4 header",
				 word >> 28);
	mapped(v4 + 12, &out->from);
	mapped(v4 + 16, &out->to);
	out->flow_label = 0;
	out->traffic_class = v4[1];
	return 0;
}

/* The entry that a datagram to @gid was for; a datagram to a group is answered from the first
 * address of the sender's family. */
static int source_for(struct ibv_context *context, uint8_t port, const struct route *r)
{
	struct ibv_port_attr attr = {.gid_tbl_len = 0};
	bool is_group = vf_gid_is_group(&r->to);
	struct ibv_gid_entry e;
	char text[46];
	int err = vf_ops(context)->query_port(vf_ctx(context), port, &attr);

	for (int i = 0; !err && i < attr.gid_tbl_len; i++) {
		if (vf_ops(context)->query_gid(vf_ctx(context), port, i, &e))
			continue;
		if (is_group ? is_ipv4(&e.gid) == is_ipv4(&r->from)
			     : memcmp(&e.gid, &r->to, sizeof(e.gid)) == 0)
			return i;
	}
	vf_gid_text(&r->to, text);
	return err ? err
		   : vf_refuse(EINVAL, "ibv_init_ah_from_wc: %s is no GID of port %u of %s", text,
			       port, context->device->name);
}

static int init_from_wc(struct ibv_context *context, uint8_t port, const struct ibv_wc *wc,
			const struct ibv_grh *grh, struct ibv_ah_attr *out)
{
	enum { HOP_LIMIT = 255 };
	struct ibv_ah_attr av = {.dlid = wc->slid,
				 .sl = wc->sl,
				 .src_path_bits = wc->dlid_path_bits,
				 .port_num = port};
	struct route r;
	int err = vf_check_port("ibv_init_ah_from_wc", context, port), index;

	if (!err && wc->wc_flags & IBV_WC_GRH) {
		err = grh ? read_route(grh, &r) : vf_is_null("ibv_init_ah_from_wc", "grh");
		index = err ? err : source_for(context, port, &r);
		if (index < 0)
			return index;
		av.is_global = 1;
		av.grh.dgid = r.from;
		av.grh.sgid_index = (uint8_t)index;
		av.grh.flow_label = r.flow_label;
		av.grh.traffic_class = r.traffic_class;
		av.grh.hop_limit = HOP_LIMIT;
	}
	if (!err)
		*out = av;
	return err;
}

VF_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
				  struct ibv_grh *grh, struct ibv_ah_attr *ah_attr)
{
	if (!context || !wc || !ah_attr)
		return vf_api_code(vf_is_null(__func__, !context ? "context"
							: !wc	 ? "wc"
								 : "ah_attr"));
	return vf_api_code(init_from_wc(context, port_num, wc, grh, ah_attr));
}

VF_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
					       struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;
	struct vf_ah *ah = NULL;
	int err;

	if (!pd || !wc)
		return vf_api_null(vf_is_null(__func__, pd ? "wc" : "pd"));
	err = init_from_wc(pd->context, port_num, wc, grh, &attr);
	if (!err)
		err = create_ah(__func__, pd, &attr, &ah);
	return err ? vf_api_null(err) : &ah->ibv;
}

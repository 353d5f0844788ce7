/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address vectors made into paths: which of our addresses, to whom, over which interface. Everything that can be known to be
 * wrong is refused here, when the program still knows what it asked for, rather than found out by a time-out (IBTA A17.4).
 *
 * A made link-local GID (of an interface that has no IPv6 address) exists in the table alone. Sent to and from it is what is on the same
 * interface, over a real address of it that stands for it; both ends work that out alike.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "provider/soft/soft.h"

#define HOP_LIMIT_DEFAULT 64

/* What of the device a path is made with, taken at once. */
struct view {
	uint8_t sgid[16];	   /* as the table has it */
	uint8_t real_sgid[16], real_dgid[16];
	bool has_sgid, has_real;
	bool is_made;		   /* sgid stands for another */
	bool is_there;
	unsigned if_index;
	char indexes[200];
};

static void look(struct soft_device *d, const struct ibv_ah_attr *a, struct view *v)
{
	int index = a->grh.sgid_index;
	const uint8_t *real_s, *real_d;

	memset(v, 0, sizeof(*v));
	soft_registry_lock();
	v->is_there = d->is_there;
	v->if_index = d->if_index;
	gid_table_indexes(&d->gids, v->indexes, sizeof(v->indexes));
	v->has_sgid = gid_table_has(&d->gids, index);
	if (v->has_sgid) {
		memcpy(v->sgid, d->gids.slot[index].gid, 16);
		v->is_made = d->gids.slot[index].state == GID_MADE;
		real_s = gid_table_real(&d->gids, v->sgid);
		real_d = gid_table_real(&d->gids, a->grh.dgid.raw);
		v->has_real = real_s && real_d;
		if (v->has_real) {
			memcpy(v->real_sgid, real_s, 16);
			memcpy(v->real_dgid, real_d, 16);
		}
	}
	soft_registry_unlock();
}

static int check_attr(const struct soft_context *sc, const struct ibv_ah_attr *a, const char *what)
{
	int err;

	if (!a->is_global)
		return vf_refuse(EINVAL,
				 "%s.is_global 0: RoCE needs is_global=1 and a dgid (%s.grh.dgid)",
				 what, what);
	err = soft_check_port(sc, a->port_num);
	if (err)
		return err;
	if (gid_is_zero(a->grh.dgid.raw))
		return vf_refuse(EINVAL, "%s.grh.dgid is zero: the peer's GID is needed", what);
	if (a->grh.flow_label > 0xfffff)
		return vf_refuse(EINVAL, "%s.grh.flow_label 0x%x: 0..0xfffff", what,
				 a->grh.flow_label);
	if (a->sl > 15)
		return vf_refuse(EINVAL, "%s.sl %u: 0..15", what, a->sl);
	return 0;
}

static int check_source(const struct soft_device *d, const struct view *v,
			const struct ibv_ah_attr *a, const char *what)
{
	if (!v->is_there)
		return vf_refuse(ENODEV, "%s: interface %s is gone", d->vf.ibv.name, d->if_name);
	if (a->grh.sgid_index >= GID_TABLE_LEN)
		return vf_refuse(EINVAL, "%s.grh.sgid_index %u: 0..%d", what, a->grh.sgid_index,
				 GID_TABLE_LEN - 1);
	if (!v->has_sgid)
		return vf_refuse(ENODATA,
				 "%s.grh.sgid_index %u of %s holds no address; indexes that do: %s",
				 what, a->grh.sgid_index, d->vf.ibv.name, v->indexes);
	return 0;
}

static int check_families(const struct view *v, const uint8_t dgid[16], const char *what)
{
	char s[48], d[48];

	if (vf_roce_gid_is_ipv4(v->sgid) == vf_roce_gid_is_ipv4(dgid))
		return 0;
	gid_format(v->sgid, s);
	gid_format(dgid, d);
	return vf_refuse(EINVAL,
			 "%s: source GID %s and destination GID %s are not of one address family",
			 what, s, d);
}

static int refuse_route(const struct soft_device *dev, const struct view *v,
			const uint8_t dgid[16], int err)
{
	char s[48], d[48];
	const char *why = "no route";

	gid_format(v->sgid, s);
	gid_format(dgid, d);
	if (gid_is_link_local(dgid))
		why = v->is_made ? "the interface has no IPv6 address; use the GID of an IPv4 one"
				 : "link-local GID, peer not on this link";
	else if (err == -EADDRNOTAVAIL)
		why = "the source address is not this host's any more";
	else if (err == -EHOSTUNREACH)
		why = "host unreachable";
	return vf_refuse(-err, "no way from %s (%s) to %s: %s", s, dev->vf.ibv.name, d, why);
}

static int check_route(const struct soft_device *dev, const struct view *v,
		       const uint8_t dgid[16], unsigned *if_index)
{
	int err;

	*if_index = v->if_index;
	/* Others than this host do not know what a made GID stands for. */
	if (!v->has_real ||
	    vf_roce_gid_is_ipv4(v->real_sgid) != vf_roce_gid_is_ipv4(v->real_dgid) ||
	    (v->is_made && !gid_is_multicast(dgid) && !vf_os_is_local(v->real_dgid)))
		return refuse_route(dev, v, dgid, -EHOSTUNREACH);
	err = vf_os_route_check(v->real_sgid, v->real_dgid, v->if_index, if_index);
	return err ? refuse_route(dev, v, dgid, err) : 0;
}

int soft_path_fill(struct soft_context *sc, const struct ibv_ah_attr *a, const char *what,
		   struct vf_roce_path *out)
{
	const uint8_t *dgid = a->grh.dgid.raw;
	unsigned if_index = 0;
	struct view v;
	int err = check_attr(sc, a, what);

	if (err)
		return err;
	look(sc->dev, a, &v);
	err = check_source(sc->dev, &v, a, what);
	if (!err)
		err = check_families(&v, dgid, what);
	if (!err)
		err = check_route(sc->dev, &v, dgid, &if_index);
	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	memcpy(out->sgid, v.real_sgid, 16);
	memcpy(out->dgid, v.real_dgid, 16);
	out->flow_label = a->grh.flow_label;
	out->traffic_class = a->grh.traffic_class;
	out->hop_limit = a->grh.hop_limit ? a->grh.hop_limit : HOP_LIMIT_DEFAULT;
	out->sl = a->sl;
	out->sgid_index = a->grh.sgid_index;
	out->host_tag = if_index;
	if (!gid_is_multicast(v.real_dgid) && vf_os_is_local(v.real_dgid))
		out->host_tag |= VF_SOFT_TAG_LOCAL;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices, ports and GIDs read through the public verbs, and how they are chosen when the user does
 * not say. */
#include "device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <verbifrost/verbifrost.h>

#include "cli.h"

bool vf_gid_read(struct ibv_context *ctx, uint8_t port, unsigned index, struct vf_gid *out)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_gid_entry entry;

	memset(out, 0, sizeof(*out));
	if (ibv_query_gid_ex(ctx, port, index, &entry, 0) == 0) {
		out->raw = entry.gid;
		out->type = entry.gid_type;
		if (entry.ndev_ifindex && !if_indextoname(entry.ndev_ifindex, out->interface))
			out->interface[0] = '\0';
	} else if (errno == ENODATA || ibv_query_gid(ctx, port, (int)index, &out->raw) != 0) {
		return false;
	}
	if (out->raw.global.subnet_prefix == 0 && out->raw.global.interface_id == 0)
		return false;
	out->index = index;
	out->is_ipv4 = memcmp(out->raw.raw, mapped, sizeof(mapped)) == 0;
	out->is_link_local = out->raw.raw[0] == 0xfe && (out->raw.raw[1] & 0xc0) == 0x80;
	if (!inet_ntop(AF_INET6, out->raw.raw, out->text, sizeof(out->text)))
		out->text[0] = '\0';
	return true;
}

unsigned vf_gid_list(struct ibv_context *ctx, uint8_t port, struct vf_gid *out, unsigned max)
{
	struct ibv_port_attr attr;
	unsigned n = 0;

	if (ibv_query_port(ctx, port, &attr) != 0)
		return 0;
	for (unsigned i = 0; i < (unsigned)attr.gid_tbl_len && n < max; i++)
		n += vf_gid_read(ctx, port, i, &out[n]);
	return n;
}

bool vf_gid_is_address(const struct vf_gid *gid, const struct sockaddr *addr)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (addr->sa_family == AF_INET) {
		memcpy(&in4, addr, sizeof(in4));
		return gid->is_ipv4 && memcmp(gid->raw.raw + 12, &in4.sin_addr, 4) == 0;
	}
	if (addr->sa_family != AF_INET6)
		return false;
	memcpy(&in6, addr, sizeof(in6));
	return memcmp(gid->raw.raw, &in6.sin6_addr, 16) == 0;
}

/* How willingly a GID is taken: 0 not at all. */
static unsigned preference(const struct vf_gid *gid, const struct sockaddr *addr)
{
	if (addr && vf_gid_is_address(gid, addr))
		return 4;
	if (gid->type == IBV_GID_TYPE_ROCE_V1)
		return 0;
	if (gid->is_ipv4)
		return addr && addr->sa_family == AF_INET6 ? 1 : 3;
	return gid->is_link_local ? 1 : 2;
}

/* *score is the preference of what comes back, 0 with -1. */
static int choose_gid(struct ibv_context *ctx, uint8_t port, const struct sockaddr *addr,
		      unsigned *score)
{
	struct vf_gid gids[64];
	unsigned n = vf_gid_list(ctx, port, gids, 64);
	int best = -1;

	*score = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned p = preference(&gids[i], addr);

		if (p > *score) {
			*score = p;
			best = (int)gids[i].index;
		}
	}
	return best;
}

int vf_gid_choose(struct ibv_context *ctx, uint8_t port, const struct sockaddr *addr)
{
	unsigned score;

	return choose_gid(ctx, port, addr, &score);
}

const char *vf_port_state_name(enum ibv_port_state state)
{
	static const char *const names[] = {"NOP",   "DOWN",   "INIT",
					    "ARMED", "ACTIVE", "ACTIVE_DEFER"};

	return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "UNKNOWN";
}

const char *vf_port_link_name(uint8_t link_layer)
{
	switch (link_layer) {
	case IBV_LINK_LAYER_UNSPECIFIED:
	case IBV_LINK_LAYER_INFINIBAND:
		return "InfiniBand";
	case IBV_LINK_LAYER_ETHERNET:
		return "Ethernet";
	case 100:
		return "Thunderbolt";
	default:
		return "unknown";
	}
}

const char *vf_gid_type_name(unsigned type)
{
	switch (type) {
	case IBV_GID_TYPE_IB:
		return "IB";
	case IBV_GID_TYPE_ROCE_V1:
		return "RoCE v1";
	case IBV_GID_TYPE_ROCE_V2:
		return "RoCE v2";
	default:
		return "unknown";
	}
}

unsigned vf_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

double vf_port_rate(const struct ibv_port_attr *attr)
{
	static const struct {
		unsigned code;
		double lane;
	} speeds[] = {{1, 2.5e9},      {2, 5e9},   {4, 10e9},  {8, 10e9},
		      {16, 14.0625e9}, {32, 25e9}, {64, 50e9}, {128, 100e9}};
	static const struct {
		unsigned code, lanes;
	} widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
	unsigned lanes = 0;
	double lane = 0;

	for (unsigned i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (widths[i].code == attr->active_width)
			lanes = widths[i].lanes;
	for (unsigned i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		if (speeds[i].code == attr->active_speed)
			lane = speeds[i].lane;
	return lane * lanes;
}

void vf_device_interface(struct ibv_context *ctx, const char *device, char out[IF_NAMESIZE])
{
	struct vf_gid gids[16];
	unsigned n = vf_gid_list(ctx, 1, gids, 16);
	const char *tail = strchr(device, '_');

	out[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		if (gids[i].interface[0]) {
			memcpy(out, gids[i].interface, IF_NAMESIZE);
			return;
		}
	if (tail && if_nametoindex(tail + 1))
		snprintf(out, IF_NAMESIZE, "%s", tail + 1);
}

void vf_device_print_skipped(FILE *to)
{
	const char *what, *why;

	for (unsigned i = 0; verbifrost_query_skipped(i, &what, &why) == 0; i++)
		fprintf(to, "  left out %s: %s\n", what, why);
}

struct ibv_context *vf_device_open(const char *name)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *ctx = NULL;
	bool is_there = false;

	for (int i = 0; list && i < n && !is_there; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name) != 0)
			continue;
		is_there = true;
		ctx = ibv_open_device(list[i]);
		if (!ctx)
			vf_cli_complain_verb(name);
	}
	if (!is_there) {
		vf_cli_complain("there is no device \"%s\"; the devices:%s", name,
				n ? "" : " none");
		for (int i = 0; list && i < n; i++)
			fprintf(stderr, "  %s\n", ibv_get_device_name(list[i]));
		vf_device_print_skipped(stderr);
	}
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

/* The best GID of all active ports of a device: its score, with port and index. */
static unsigned best_port(struct ibv_context *ctx, const struct sockaddr *addr, uint8_t *port,
			  int *gid)
{
	struct ibv_device_attr dev;
	unsigned best = 0;

	if (ibv_query_device(ctx, &dev) != 0)
		return 0;
	for (uint8_t p = 1; p <= dev.phys_port_cnt && p != 0; p++) {
		struct ibv_port_attr attr;
		unsigned score;
		int index;

		if (ibv_query_port(ctx, p, &attr) != 0 || attr.state != IBV_PORT_ACTIVE)
			continue;
		index = choose_gid(ctx, p, addr, &score);
		if (score > best) {
			best = score;
			*port = p;
			*gid = index;
		}
	}
	return best;
}

struct ibv_context *vf_device_choose(const struct sockaddr *addr, uint8_t *port, int *gid)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *best = NULL;
	unsigned most = 0;

	for (int i = 0; list && i < n; i++) {
		struct ibv_context *ctx = ibv_open_device(list[i]);
		uint8_t p = 1;
		int g = -1;
		unsigned score = ctx ? best_port(ctx, addr, &p, &g) : 0;

		if (score > most) {
			if (best)
				ibv_close_device(best);
			best = ctx;
			most = score;
			*port = p;
			*gid = g;
		} else if (ctx) {
			ibv_close_device(ctx);
		}
	}
	if (!best) {
		vf_cli_complain("no device has an active port with a GID (%d device%s looked at); "
				"see: verbifrost doctor",
				n, n == 1 ? "" : "s");
		vf_device_print_skipped(stderr);
	}
	if (list)
		ibv_free_device_list(list);
	return best;
}

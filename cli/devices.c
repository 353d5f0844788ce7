/* SPDX-License-Identifier: BSD-2-Clause */
/* verbifrost devices: every device, port and GID on one screen; where was looked when there is
 * nothing. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include <verbifrost/verbifrost.h>

#include "base/bytes.h"
#include "json.h"
#include "cli.h"
#include "device.h"
#include "term.h"

#define GIDS_MAX 64

static enum vf_colour state_colour(enum ibv_port_state state)
{
	return state == IBV_PORT_ACTIVE ? VF_GREEN : state == IBV_PORT_DOWN ? VF_RED : VF_YELLOW;
}

static void port_rows(struct vf_table *t, const char *name, struct ibv_context *ctx, uint8_t port)
{
	struct ibv_port_attr attr;
	struct vf_gid gids[GIDS_MAX];
	char rate[32], interface[IF_NAMESIZE];
	unsigned n;

	if (!vf_table_row(t))
		return;
	vf_table_set(t, 0, VF_PLAIN, "%s", name);
	vf_table_set(t, 1, VF_PLAIN, "%u", port);
	if (ibv_query_port(ctx, port, &attr) != 0) {
		vf_table_set(t, 2, VF_RED, "%s", strerror(errno));
		return;
	}
	vf_rate_text(vf_port_rate(&attr), rate, sizeof(rate));
	vf_device_interface(ctx, name, interface);
	vf_table_set(t, 2, state_colour(attr.state), "%s", vf_port_state_name(attr.state));
	vf_table_set(t, 3, VF_PLAIN, "%s", vf_port_link_name(attr.link_layer));
	vf_table_set(t, 4, VF_PLAIN, "%s", rate);
	vf_table_set(t, 5, VF_PLAIN, "%u", vf_mtu_bytes(attr.active_mtu));
	vf_table_set(t, 6, VF_PLAIN, "%s", interface);
	n = vf_gid_list(ctx, port, gids, GIDS_MAX);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0 && !vf_table_row(t))
			return;
		vf_table_set(t, 7, VF_PLAIN, "%3u  %s%s%s", gids[i].index, gids[i].text,
			     gids[i].type == IBV_GID_TYPE_ROCE_V2 ? "" : "  ",
			     gids[i].type == IBV_GID_TYPE_ROCE_V2 ? ""
								  : vf_gid_type_name(gids[i].type));
	}
	if (n == 0)
		vf_table_set(t, 7, VF_YELLOW, "none");
}

static void device_rows(struct vf_table *t, struct ibv_device *dev)
{
	const char *name = ibv_get_device_name(dev);
	struct ibv_context *ctx = ibv_open_device(dev);
	struct ibv_device_attr attr;

	if (!ctx || ibv_query_device(ctx, &attr) != 0) {
		if (vf_table_row(t)) {
			vf_table_set(t, 0, VF_PLAIN, "%s", name);
			vf_table_set(t, 2, VF_RED, "ERROR");
			vf_table_set(t, 7, VF_PLAIN, "cannot be opened: %s; see: verbifrost doctor",
				     strerror(errno));
		}
		if (!ctx)
			return;
		attr.phys_port_cnt = 0;
	}
	for (unsigned p = 1; p <= attr.phys_port_cnt; p++)
		port_rows(t, name, ctx, (uint8_t)p);
	ibv_close_device(ctx);
}

static void json_port(struct vf_json *j, struct ibv_context *ctx, uint8_t port)
{
	struct ibv_port_attr attr;
	struct vf_gid gids[GIDS_MAX];
	unsigned n;

	if (ibv_query_port(ctx, port, &attr) != 0)
		return;
	vf_json_open(j, NULL, '{');
	vf_json_u64(j, "port", port);
	vf_json_text(j, "state", vf_port_state_name(attr.state));
	vf_json_text(j, "link_layer", vf_port_link_name(attr.link_layer));
	vf_json_real(j, "rate_bits_per_s", vf_port_rate(&attr), 0);
	vf_json_u64(j, "active_mtu", vf_mtu_bytes(attr.active_mtu));
	vf_json_u64(j, "max_mtu", vf_mtu_bytes(attr.max_mtu));
	vf_json_open(j, "gids", '[');
	n = vf_gid_list(ctx, port, gids, GIDS_MAX);
	for (unsigned i = 0; i < n; i++) {
		vf_json_open(j, NULL, '{');
		vf_json_u64(j, "index", gids[i].index);
		vf_json_text(j, "gid", gids[i].text);
		vf_json_text(j, "type", vf_gid_type_name(gids[i].type));
		vf_json_close(j);
	}
	vf_json_close(j);
	vf_json_close(j);
}

static void json_device(struct vf_json *j, struct ibv_device *dev)
{
	struct ibv_context *ctx = ibv_open_device(dev);
	struct ibv_device_attr attr;
	char guid[24], interface[IF_NAMESIZE];
	__be64 raw = ibv_get_device_guid(dev);

	snprintf(guid, sizeof(guid), "%016" PRIx64, vf_load_be64(&raw));
	vf_json_open(j, NULL, '{');
	vf_json_text(j, "device", ibv_get_device_name(dev));
	vf_json_text(j, "node_guid", guid);
	vf_json_text(j, "error", ctx ? NULL : strerror(errno));
	if (ctx)
		vf_device_interface(ctx, ibv_get_device_name(dev), interface);
	vf_json_text(j, "interface", ctx && interface[0] ? interface : NULL);
	vf_json_open(j, "ports", '[');
	if (ctx && ibv_query_device(ctx, &attr) == 0)
		for (unsigned p = 1; p <= attr.phys_port_cnt; p++)
			json_port(j, ctx, (uint8_t)p);
	vf_json_close(j);
	vf_json_close(j);
	if (ctx)
		ibv_close_device(ctx);
}

static void print_json(struct ibv_device **list, int n)
{
	struct vf_json j;
	const char *what, *why;

	vf_json_begin(&j, stdout);
	vf_json_open(&j, NULL, '{');
	vf_json_open(&j, "devices", '[');
	for (int i = 0; i < n; i++)
		json_device(&j, list[i]);
	vf_json_close(&j);
	vf_json_open(&j, "skipped", '[');
	for (unsigned i = 0; verbifrost_query_skipped(i, &what, &why) == 0; i++) {
		vf_json_open(&j, NULL, '{');
		vf_json_text(&j, "what", what);
		vf_json_text(&j, "why", why);
		vf_json_close(&j);
	}
	vf_json_close(&j);
	vf_json_close(&j);
}

static void print_text(struct ibv_device **list, int n, bool with_skipped)
{
	struct vf_table t;

	if (n == 0) {
		printf("No device. Every usable network interface becomes one; looked at the "
		       "interfaces of this machine:\n");
		vf_device_print_skipped(stdout);
		printf("More: verbifrost doctor\n");
		return;
	}
	vf_table_begin(&t, "DEVICE|PORT|STATE|LINK|RATE|MTU|INTERFACE|GID");
	for (int i = 0; i < n; i++)
		device_rows(&t, list[i]);
	vf_table_print(&t, stdout);
	if (with_skipped)
		vf_device_print_skipped(stdout);
}

static int run(const struct vf_cli_command *self, int argc, char **argv)
{
	struct ibv_device **list;
	const char *value;
	bool json = false, with_skipped = false;
	int got, n = 0;

	while ((got = vf_cli_next(self, argc, argv, &value)) != -1) {
		if (got == 'h')
			return VF_EXIT_OK;
		if (got != 'j' && got != 'a')
			return VF_EXIT_USAGE;
		json |= got == 'j';
		with_skipped |= got == 'a';
	}
	if (optind < argc)
		return vf_cli_usage(self, "unexpected argument \"%s\"", argv[optind]);
	list = ibv_get_device_list(&n);
	if (!list) {
		vf_cli_complain_verb("the list of devices");
		return VF_EXIT_FAILED;
	}
	if (json)
		print_json(list, n);
	else
		print_text(list, n, with_skipped);
	ibv_free_device_list(list);
	return n > 0 ? VF_EXIT_OK : VF_EXIT_FAILED;
}

static const struct vf_cli_option options[] = {
	{'a', "all", NULL, "Also show what was looked at and left out, and why."},
	VF_CLI_JSON,
	VF_CLI_HELP};
static const struct vf_cli_exit exits[] = {
	{VF_EXIT_OK, "There is at least one device."},
	{VF_EXIT_FAILED, "There is none, or the list cannot be read."},
	{VF_EXIT_USAGE, "The command line is wrong."},
	{0, NULL}};
const struct vf_cli_command vf_cmd_devices = {
	.name = "devices",
	.summary = "show every device, port state, link, MTU and GIDs on one screen",
	.synopsis = "",
	.about = "Shows each device with the state of its ports, the kind and rate of the link, "
		 "the path MTU in bytes, the network interface "
		 "behind it, and its GIDs with their index; GIDs that are not RoCE v2 say what "
		 "they are. When there is no device it says which "
		 "interfaces were looked at and why each was left out.",
	.options = options,
	.exits = exits,
	.run = run,
};

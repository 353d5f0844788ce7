/* SPDX-License-Identifier: BSD-2-Clause */
/* verbifrost info: every attribute of a device and its ports, and the counters of the calling
 * process. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <verbifrost/verbifrost.h>

#include "base/bytes.h"
#include "json.h"
#include "cli.h"
#include "device.h"
#include "info_fields.h"
#include "term.h"

#define GIDS_MAX     256
#define COUNTERS_MAX 256

/* Where attributes go: text with @indent, or JSON. */
struct sink {
	struct vf_json *json; /* NULL: text */
	unsigned indent;
};

static void put_text(const struct sink *to, const char *name, const char *text)
{
	if (to->json)
		vf_json_text(to->json, name, text);
	else
		printf("%*s%-40s%s\n", (int)to->indent, "", name, text);
}

static void put_number(const struct sink *to, const char *name, uint64_t value)
{
	if (to->json)
		vf_json_u64(to->json, name, value);
	else
		printf("%*s%-40s%" PRIu64 "\n", (int)to->indent, "", name, value);
}

static void put_hex(const struct sink *to, const char *name, uint64_t value)
{
	if (to->json)
		vf_json_u64(to->json, name, value);
	else
		printf("%*s%-40s0x%" PRIx64 "\n", (int)to->indent, "", name, value);
}

/* Flags: the number, then a line for each bit that is set. */
static void put_flags(const struct sink *to, const char *name, uint64_t value,
		      const struct vf_info_name *names)
{
	uint64_t rest = value;

	if (to->json)
		vf_json_open(to->json, name, '[');
	else
		printf("%*s%-40s0x%" PRIx64 "\n", (int)to->indent, "", name, value);
	for (; names->name; names++) {
		if (!(value & names->value))
			continue;
		rest &= ~names->value;
		if (to->json)
			vf_json_text(to->json, NULL, names->name);
		else
			printf("%*s%-40s%s\n", (int)to->indent, "", "", names->name);
	}
	if (rest && to->json) {
		char text[24];

		snprintf(text, sizeof(text), "0x%" PRIx64, rest);
		vf_json_text(to->json, NULL, text);
	} else if (rest) {
		printf("%*s%-40sunknown bits 0x%" PRIx64 "\n", (int)to->indent, "", "", rest);
	}
	if (to->json)
		vf_json_close(to->json);
}

static void put_choice(const struct sink *to, const char *name, uint64_t value,
		       const struct vf_info_name *names)
{
	char text[48];

	for (; names->name; names++)
		if (names->value == value)
			break;
	if (names->name)
		snprintf(text, sizeof(text), "%s (%" PRIu64 ")", names->name, value);
	else
		snprintf(text, sizeof(text), "unknown (%" PRIu64 ")", value);
	put_text(to, name, to->json && names->name ? names->name : text);
}

/* Queue-pair types: a mask by enum ibv_qp_type. */
static void put_types(const struct sink *to, const char *name, uint64_t mask)
{
	static const struct vf_info_name types[] = {{1u << IBV_QPT_RC, "RC"},
						    {1u << IBV_QPT_UC, "UC"},
						    {1u << IBV_QPT_UD, "UD"},
						    {1u << IBV_QPT_RAW_PACKET, "RAW_PACKET"},
						    {0, NULL}};

	put_flags(to, name, mask, types);
}

static uint64_t load(const unsigned char *p, size_t size)
{
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (size) {
	case 1:
		memcpy(&v8, p, size);
		return v8;
	case 2:
		memcpy(&v16, p, size);
		return v16;
	case 4:
		memcpy(&v32, p, size);
		return v32;
	default:
		memcpy(&v64, p, sizeof(v64));
		return v64;
	}
}

static void put_fields(const struct sink *to, const struct vf_info_field *f, const void *from)
{
	char guid[24];

	for (; f->name; f++) {
		const unsigned char *p = (const unsigned char *)from + f->at;

		switch (f->kind) {
		case VF_INFO_TEXT:
			put_text(to, f->name, (const char *)p);
			break;
		case VF_INFO_GUID:
			snprintf(guid, sizeof(guid), "%04x:%04x:%04x:%04x", vf_load_be16(p),
				 vf_load_be16(p + 2), vf_load_be16(p + 4), vf_load_be16(p + 6));
			put_text(to, f->name, guid);
			break;
		case VF_INFO_NUMBER:
			put_number(to, f->name, load(p, f->size));
			break;
		case VF_INFO_HEX:
			put_hex(to, f->name, load(p, f->size));
			break;
		case VF_INFO_FLAGS:
			put_flags(to, f->name, load(p, f->size), f->names);
			break;
		case VF_INFO_CHOICE:
			put_choice(to, f->name, load(p, f->size), f->names);
			break;
		case VF_INFO_TYPES:
			put_types(to, f->name, load(p, f->size));
			break;
		}
	}
}

static void put_gids(const struct sink *to, struct ibv_context *ctx, uint8_t port)
{
	struct vf_gid *gids = calloc(GIDS_MAX, sizeof(*gids));
	unsigned n = gids ? vf_gid_list(ctx, port, gids, GIDS_MAX) : 0;

	if (to->json)
		vf_json_open(to->json, "gids", '[');
	for (unsigned i = 0; i < n; i++) {
		char name[24];

		snprintf(name, sizeof(name), "GID[%3u]", gids[i].index);
		if (!to->json) {
			printf("%*s%-40s%s, %s%s%s\n", (int)to->indent, "", name, gids[i].text,
			       vf_gid_type_name(gids[i].type), gids[i].interface[0] ? ", " : "",
			       gids[i].interface);
			continue;
		}
		vf_json_open(to->json, NULL, '{');
		vf_json_u64(to->json, "index", gids[i].index);
		vf_json_text(to->json, "gid", gids[i].text);
		vf_json_text(to->json, "type", vf_gid_type_name(gids[i].type));
		vf_json_text(to->json, "interface",
			     gids[i].interface[0] ? gids[i].interface : NULL);
		vf_json_close(to->json);
	}
	if (to->json)
		vf_json_close(to->json);
	free(gids);
}

static void put_pkeys(const struct sink *to, struct ibv_context *ctx, uint8_t port, unsigned count)
{
	if (to->json)
		vf_json_open(to->json, "pkeys", '[');
	for (unsigned i = 0; i < count; i++) {
		__be16 pkey;
		char name[24];

		if (ibv_query_pkey(ctx, port, (int)i, &pkey) != 0 || pkey == 0)
			continue;
		snprintf(name, sizeof(name), "PKEY[%3u]", i);
		put_hex(to, to->json ? NULL : name, vf_load_be16(&pkey));
	}
	if (to->json)
		vf_json_close(to->json);
}

static void put_port(const struct sink *to, struct ibv_context *ctx, uint8_t port)
{
	struct ibv_port_attr attr;
	struct sink in = {to->json, to->indent + 4};
	char rate[32];

	if (ibv_query_port(ctx, port, &attr) != 0) {
		vf_cli_complain_verb("ibv_query_port");
		return;
	}
	if (to->json)
		vf_json_open(to->json, NULL, '{');
	else
		printf("%*sport %u\n", (int)to->indent, "", port);
	if (to->json)
		vf_json_u64(to->json, "port", port);
	put_fields(&in, vf_info_port, &attr);
	vf_rate_text(vf_port_rate(&attr), rate, sizeof(rate));
	put_text(&in, "rate", rate);
	put_gids(&in, ctx, port);
	put_pkeys(&in, ctx, port, attr.pkey_tbl_len);
	if (to->json)
		vf_json_close(to->json);
}

static void put_counters(const struct sink *to, struct ibv_context *ctx)
{
	struct verbifrost_counter *c = calloc(COUNTERS_MAX, sizeof(*c));
	struct sink in = {to->json, to->indent + 4};
	int n = c ? verbifrost_query_counters(ctx, c, COUNTERS_MAX) : 0;

	if (to->json)
		vf_json_open(to->json, "counters", '{');
	else
		printf("%*scounters of this process (each process has its own; the program that is "
		       "measured prints its own)\n",
		       (int)to->indent, "");
	if (n < 0 && !to->json)
		printf("%*snone: %s\n", (int)in.indent, "", strerror(errno));
	for (int i = 0; i < n && i < COUNTERS_MAX; i++)
		put_number(&in, c[i].name, c[i].value);
	if (to->json)
		vf_json_close(to->json);
	free(c);
}

static int put_device(const struct sink *to, struct ibv_device *dev, bool with_counters)
{
	struct ibv_device_attr_ex attr;
	struct ibv_context *ctx = ibv_open_device(dev);
	struct sink in = {to->json, to->indent + 4};
	char interface[IF_NAMESIZE];

	memset(&attr, 0, sizeof(attr));
	if (!ctx || ibv_query_device_ex(ctx, NULL, &attr) != 0) {
		vf_cli_complain_verb(ibv_get_device_name(dev));
		if (ctx)
			ibv_close_device(ctx);
		return VF_EXIT_FAILED;
	}
	if (to->json)
		vf_json_open(to->json, NULL, '{');
	else
		vf_term_paint(stdout, VF_BOLD, ibv_get_device_name(dev)), fputc('\n', stdout);
	vf_device_interface(ctx, ibv_get_device_name(dev), interface);
	put_text(&in, to->json ? "device" : "interface",
		 to->json ? ibv_get_device_name(dev) : interface);
	if (to->json)
		vf_json_text(to->json, "interface", interface[0] ? interface : NULL);
	put_text(&in, "node_type", ibv_node_type_str(dev->node_type));
	put_text(&in, "transport",
		 dev->transport_type == IBV_TRANSPORT_IB ? "InfiniBand" : "other");
	put_fields(&in, vf_info_device, &attr);
	put_number(&in, "num_comp_vectors", (uint64_t)ctx->num_comp_vectors);
	if (to->json)
		vf_json_open(to->json, "ports", '[');
	for (unsigned p = 1; p <= attr.orig_attr.phys_port_cnt; p++)
		put_port(&in, ctx, (uint8_t)p);
	if (to->json)
		vf_json_close(to->json);
	if (with_counters)
		put_counters(&in, ctx);
	if (to->json)
		vf_json_close(to->json);
	ibv_close_device(ctx);
	return VF_EXIT_OK;
}

static int print(bool json, const char *only, bool with_counters)
{
	struct vf_json writer;
	struct sink to = {json ? &writer : NULL, 0};
	int n = 0, shown = 0, status = VF_EXIT_OK;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (!list) {
		vf_cli_complain_verb("the list of devices");
		return VF_EXIT_FAILED;
	}
	if (json) {
		vf_json_begin(&writer, stdout);
		vf_json_open(&writer, NULL, '{');
		vf_json_open(&writer, "devices", '[');
	}
	for (int i = 0; i < n; i++) {
		if (only && strcmp(only, ibv_get_device_name(list[i])) != 0)
			continue;
		shown++;
		if (put_device(&to, list[i], with_counters) != VF_EXIT_OK)
			status = VF_EXIT_FAILED;
	}
	if (json) {
		vf_json_close(&writer);
		vf_json_close(&writer);
	}
	ibv_free_device_list(list);
	if (shown == 0) {
		vf_cli_complain(only ? "there is no device \"%s\"" : "there is no device%s",
				only ? only : "");
		vf_device_print_skipped(stderr);
		status = VF_EXIT_FAILED;
	}
	return status;
}

static int run(const struct vf_cli_command *self, int argc, char **argv)
{
	const char *value;
	bool json = false, with_counters = false;
	int got;

	while ((got = vf_cli_next(self, argc, argv, &value)) != -1) {
		if (got == 'h')
			return VF_EXIT_OK;
		if (got != 'j' && got != 'c')
			return VF_EXIT_USAGE;
		json |= got == 'j';
		with_counters |= got == 'c';
	}
	if (optind + 1 < argc)
		return vf_cli_usage(self, "one device at most, and \"%s\" is the second",
				    argv[optind + 1]);
	return print(json, argv[optind], with_counters);
}

static const struct vf_cli_option options[] = {
	{'c', "counters", NULL,
	 "Also show the counters; they belong to a process, so here they are those of this "
	 "command, from its opening of the device on."},
	VF_CLI_JSON,
	VF_CLI_HELP};
static const struct vf_cli_exit exits[] = {
	{VF_EXIT_OK, "The attributes were printed."},
	{VF_EXIT_FAILED, "There is no such device, or it cannot be read."},
	{VF_EXIT_USAGE, "The command line is wrong."},
	{0, NULL}};
const struct vf_cli_command vf_cmd_info = {
	.name = "info",
	.summary = "show every attribute of a device and its ports",
	.synopsis = "[DEVICE]",
	.about = "Shows all attributes of one device, or of every device: those of "
		 "ibv_query_device_ex and ibv_query_port under the names of "
		 "the structure members, the GID table and the partition keys.",
	.options = options,
	.exits = exits,
	.run = run,
};

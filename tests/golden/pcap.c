/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads captures: the classic pcap format, little-endian, microseconds. */
#include "pcap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define FILES_MAX 256

/* One Ethernet frame; false when it is no RoCEv2. */
static bool decode(const uint8_t *f, uint32_t len, struct golden_packet *p)
{
	const uint8_t *ip = f + 14, *udp;
	uint16_t kind;

	if (len < 14 + 20 + 8)
		return false;
	kind = vf_load_be16(f + 12);
	p->is_ipv4 = kind == 0x0800;
	if (p->is_ipv4) {
		p->sgid[10] = p->sgid[11] = p->dgid[10] = p->dgid[11] = 0xff;
		memcpy(p->sgid + 12, ip + 12, 4);
		memcpy(p->dgid + 12, ip + 16, 4);
		p->traffic_class = ip[1];
		p->hop_limit = ip[8];
		p->ip_id = vf_load_be16(ip + 4);
		udp = ip + 20;
		if (ip[0] != 0x45 || ip[9] != 17 || vf_load_be16(ip + 6) != 0x4000)
			return false;
	} else {
		if (kind != 0x86dd || len < 14 + 40 + 8 || ip[6] != 17)
			return false;
		memcpy(p->sgid, ip + 8, 16);
		memcpy(p->dgid, ip + 24, 16);
		p->traffic_class = (uint8_t)(ip[0] << 4 | ip[1] >> 4);
		p->hop_limit = ip[7];
		udp = ip + 40;
	}
	p->sport = vf_load_be16(udp);
	p->dport = vf_load_be16(udp + 2);
	p->udp_len = vf_load_be16(udp + 4);
	if (p->dport != 4791 || p->udp_len < 8 || udp + p->udp_len > f + len)
		return false;
	p->len = p->udp_len - 8u;
	if (p->len > GOLDEN_DATA_MAX)
		return false;
	memcpy(p->data, udp + 8, p->len);
	return true;
}

static int read_all(FILE *in, struct golden_file *out)
{
	static uint8_t frame[65536];
	uint8_t head[24];

	if (fread(head, 1, 24, in) != 24 || vf_load_le32(head) != 0xa1b2c3d4 ||
	    vf_load_le32(head + 20) != 1)
		return -1;
	while (fread(head, 1, 16, in) == 16) {
		uint32_t len = vf_load_le32(head + 8);
		struct golden_packet *p = &out->packets[out->count];

		if (len > sizeof(frame) || fread(frame, 1, len, in) != len ||
		    out->count == GOLDEN_PACKETS_MAX)
			return -1;
		memset(p, 0, sizeof(*p));
		p->time_us = (uint64_t)vf_load_le32(head) * 1000000 + vf_load_le32(head + 4);
		out->count += decode(frame, len, p);
	}
	return 0;
}

int golden_read(const char *folder, const char *name, struct golden_file *out)
{
	char path[1024];
	FILE *in;
	int err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->count = 0;
	out->packets = malloc(GOLDEN_PACKETS_MAX * sizeof(*out->packets));
	in = fopen(path, "rb");
	err = in && out->packets ? read_all(in, out) : -1;
	if (in)
		fclose(in);
	if (err) {
		fprintf(stderr, "%s: no capture that can be read\n", path);
		golden_free(out);
	}
	return err;
}

void golden_free(struct golden_file *f)
{
	free(f->packets);
	f->packets = NULL;
	f->count = 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int golden_for_each(const char *folder, void (*each)(void *arg, struct golden_file *f), void *arg)
{
	char *names[FILES_MAX];
	struct golden_file file;
	struct dirent *e;
	int count = 0, done = 0;
	DIR *d = opendir(folder);

	if (!d)
		return -1;
	while ((e = readdir(d)) && count < FILES_MAX) {
		size_t n = strlen(e->d_name);

		if (n > 5 && strcmp(e->d_name + n - 5, ".pcap") == 0)
			names[count++] = strdup(e->d_name);
	}
	closedir(d);
	qsort(names, (size_t)count, sizeof(names[0]), by_name);
	for (int i = 0; i < count; i++) {
		if (golden_read(folder, names[i], &file) == 0) {
			each(arg, &file);
			golden_free(&file);
			done++;
		}
		free(names[i]);
	}
	return done;
}

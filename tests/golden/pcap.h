/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_TESTS_GOLDEN_PCAP_H
#define VF_TESTS_GOLDEN_PCAP_H
/* Captures of RoCEv2 packets: classic pcap files of Ethernet frames, IPv4 or IPv6, UDP to port
 * 4791. */
#include <stdbool.h>
#include <stdint.h>

#define GOLDEN_PACKETS_MAX 512
#define GOLDEN_DATA_MAX	   4400

struct golden_packet {
	uint64_t time_us;
	bool is_ipv4;
	uint8_t sgid[16], dgid[16];
	uint16_t sport, dport, ip_id, udp_len;
	uint8_t traffic_class, hop_limit;
	uint32_t len; /* BTH to ICRC */
	uint8_t data[GOLDEN_DATA_MAX];
};

struct golden_file {
	char name[128];
	unsigned count;
	struct golden_packet *packets;
};

/** Reads @folder/@name; 0, or -1 when it is no such file (said on stderr). */
int golden_read(const char *folder, const char *name, struct golden_file *out);
void golden_free(struct golden_file *f);
/** Calls @each for every .pcap in @folder in the order of names; returns how many there were, -1
 * when the folder is missing. */
int golden_for_each(const char *folder, void (*each)(void *arg, struct golden_file *f), void *arg);

#endif

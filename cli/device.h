/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_DEVICE_H
#define VF_CLI_DEVICE_H
/*
 * Devices, ports and GIDs as the commands want them: read once through the public verbs, with the
 * words people use for them.
 */
#include <infiniband/verbs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#define VF_GID_TEXT 48

struct vf_gid {
	unsigned index;
	union ibv_gid raw;
	unsigned type; /* enum ibv_gid_type */
	char text[VF_GID_TEXT];
	bool is_ipv4, is_link_local;
	char interface[IF_NAMESIZE]; /* "" when the device does not say */
};

/** The table of one port; slots that are empty are left out. Fills up to @max, returns how many; 0
 * also when it cannot be read. */
unsigned vf_gid_list(struct ibv_context *ctx, uint8_t port, struct vf_gid *out, unsigned max);
/** The GID at @index; false when that slot is empty. */
bool vf_gid_read(struct ibv_context *ctx, uint8_t port, unsigned index, struct vf_gid *out);
/** Whether the GID is that socket address (IPv4 addresses are mapped). */
bool vf_gid_is_address(const struct vf_gid *gid, const struct sockaddr *addr);
/** GID index to use: the one that is @addr when not NULL, else the first IPv4, else the first that
 * is not link-local, else the first. -1: none. */
int vf_gid_choose(struct ibv_context *ctx, uint8_t port, const struct sockaddr *addr);

const char *vf_port_state_name(enum ibv_port_state state);
const char *vf_port_link_name(uint8_t link_layer);
const char *vf_gid_type_name(unsigned type);
/** Bytes of a path MTU; 0 when it is no such value. */
unsigned vf_mtu_bytes(enum ibv_mtu mtu);
/** Bits per second of the link, from width and speed; 0 when unknown. */
double vf_port_rate(const struct ibv_port_attr *attr);
/** "10 Gbit/s" or "unknown". */
void vf_rate_text(double bits_per_s, char *out, size_t room);
/** Name of the network interface that the device stands for, from its GIDs or else its name; ""
 * when neither says. */
void vf_device_interface(struct ibv_context *ctx, const char *device, char out[IF_NAMESIZE]);

/** Opens the device of that name. NULL: said on standard error. */
struct ibv_context *vf_device_open(const char *name);
/**
 * Opens the device that has @addr (may be NULL) among its GIDs, else the first that has an active
 * port with a GID. *port and *gid are set. NULL: said on standard error, with what was looked at.
 */
struct ibv_context *vf_device_choose(const struct sockaddr *addr, uint8_t *port, int *gid);
/** Where was looked and what was left out, for when there is nothing. */
void vf_device_print_skipped(FILE *to);

#endif

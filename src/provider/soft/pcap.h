/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_PROVIDER_SOFT_PCAP_H
#define VF_PROVIDER_SOFT_PCAP_H
/*
 * The capture (VERBIFROST_PCAP): every packet sent and received, with the IP and UDP headers that
 * it has on the wire, as Wireshark reads it (pcap, nanoseconds, raw IP). Each packet is one
 * write(2) to a file opened for appending: a killed process leaves a readable file, and processes
 * that name the same file at the same time share it.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "os/os.h"

struct vf_pcap;

/** @path as the user wrote it: %p becomes the process id, %% a percent sign. -errno with a reason.
 */
int vf_pcap_open(const char *path, struct vf_pcap **out);
void vf_pcap_close(struct vf_pcap *p);

/** One packet: @iov is the UDP payload, @ip_id the IPv4 identification. Errors (disk full) are
 * logged once and the packet is left out. */
void vf_pcap_write(struct vf_pcap *p, const struct vf_os_udp_addr *a, uint16_t ip_id,
		   const struct iovec *iov, unsigned count);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The capture file. Headers that the system makes or strips (IP, UDP) are built anew, checksums
 * included. */
#include "provider/soft/pcap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/reason.h"

enum {
	RECORD_LEN = 16,
	IPV4_LEN = 20,
	IPV6_LEN = 40,
	UDP_LEN = 8,
	IOV_MAX_HERE = 64,
	PROTOCOL_UDP = 17
};

struct vf_pcap {
	int fd;
	bool has_failed;
};

struct pcap_file_header {
	uint32_t magic; /* in this machine's byte order, as the rest: readers look */
	uint16_t major, minor;
	uint32_t zone, accuracy, snap_len, link_type;
};

static const struct pcap_file_header file_header = {
	.magic = 0xa1b23c4d, .major = 2, .minor = 4, .snap_len = 65535, .link_type = 101};

static int expand(const char *path, char *out, size_t room)
{
	size_t n = 0;

	for (; *path; path++) {
		int k;

		if (path[0] == '%' && path[1] == 'p')
			k = snprintf(out + n, room - n, "%ld", (long)getpid());
		else
			k = snprintf(out + n, room - n, "%c", *path);
		if (k < 0 || (size_t)k >= room - n)
			return -ENAMETOOLONG;
		n += (size_t)k;
		if (path[0] == '%' && (path[1] == 'p' || path[1] == '%'))
			path++;
	}
	return 0;
}

/* The only user starts the file anew; one who comes while others write goes on at its end. */
static int begin(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (ftruncate(fd, 0) < 0 && errno != EINVAL) /* a pipe has no length */
			return -errno;
		if (write(fd, &file_header, sizeof(file_header)) != sizeof(file_header))
			return errno ? -errno : -EIO;
	}
	flock(fd, LOCK_SH | LOCK_NB);
	return 0;
}

int vf_pcap_open(const char *path, struct vf_pcap **out)
{
	char name[PATH_MAX];
	struct vf_pcap *p;
	int err = expand(path, name, sizeof(name));

	if (err)
		return vf_refuse(-err, "VERBIFROST_PCAP: the name is longer than %d bytes",
				 PATH_MAX - 1);
	p = calloc(1, sizeof(*p));
	if (!p)
		return vf_refuse(ENOMEM, "no memory for the capture");
	p->fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	err = p->fd < 0 ? -errno : begin(p->fd);
	if (err) {
		if (p->fd >= 0)
			close(p->fd);
		free(p);
		return vf_refuse(-err, "VERBIFROST_PCAP: cannot write %s: %s", name,
				 strerror(-err));
	}
	*out = p;
	return 0;
}

void vf_pcap_close(struct vf_pcap *p)
{
	if (!p)
		return;
	close(p->fd);
	free(p);
}

/* Sum of 16-bit words (RFC 1071); *is_odd carries over between pieces. */
static uint32_t add_words(uint32_t sum, const uint8_t *p, size_t len, bool *is_odd)
{
	for (size_t i = 0; i < len; i++) {
		sum += *is_odd ? p[i] : (uint32_t)p[i] << 8;
		*is_odd = !*is_odd;
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static bool is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

static size_t put_ip(uint8_t *h, const struct vf_os_udp_addr *a, uint16_t ip_id, uint16_t udp_len)
{
	bool is_odd = false;

	if (!is_ipv4(a->dst)) {
		h[0] = (uint8_t)(0x60 | a->tos >> 4);
		h[1] = (uint8_t)(a->tos << 4);
		vf_store_be16(h + 4, udp_len);
		h[6] = PROTOCOL_UDP;
		h[7] = a->ttl;
		memcpy(h + 8, a->src, 16);
		memcpy(h + 24, a->dst, 16);
		return IPV6_LEN;
	}
	h[0] = 0x45;
	h[1] = a->tos;
	vf_store_be16(h + 2, (uint16_t)(IPV4_LEN + udp_len));
	vf_store_be16(h + 4, ip_id);
	vf_store_be16(h + 6, 0x4000);
	h[8] = a->ttl;
	h[9] = PROTOCOL_UDP;
	memcpy(h + 12, a->src + 12, 4);
	memcpy(h + 16, a->dst + 12, 4);
	vf_store_be16(h + 10, fold(add_words(0, h, IPV4_LEN, &is_odd)));
	return IPV4_LEN;
}

static uint16_t udp_checksum(const struct vf_os_udp_addr *a, const uint8_t *udp,
			     const struct iovec *iov, unsigned count)
{
	size_t skip = is_ipv4(a->dst) ? 12 : 0;
	bool is_odd = false;
	uint32_t sum = PROTOCOL_UDP + (uint32_t)vf_load_be16(udp + 4);
	uint16_t out;

	sum = add_words(sum, a->src + skip, 16 - skip, &is_odd);
	sum = add_words(sum, a->dst + skip, 16 - skip, &is_odd);
	sum = add_words(sum, udp, UDP_LEN, &is_odd);
	for (unsigned i = 0; i < count; i++)
		sum = add_words(sum, iov[i].iov_base, iov[i].iov_len, &is_odd);
	out = fold(sum);
	return out ? out : 0xffff;
}

static void complain(struct vf_pcap *p, int err)
{
	if (!p->has_failed)
		vf_log(VF_LOG_ERROR, "VERBIFROST_PCAP: packets are missing from the capture: %s",
		       strerror(err));
	p->has_failed = true;
}

void vf_pcap_write(struct vf_pcap *p, const struct vf_os_udp_addr *a, uint16_t ip_id,
		   const struct iovec *iov, unsigned count)
{
	uint8_t head[RECORD_LEN + IPV6_LEN + UDP_LEN] = {0};
	struct iovec all[IOV_MAX_HERE];
	vf_nsec t = vf_os_wall_clock();
	uint32_t record[4] = {(uint32_t)(t / VF_SEC), (uint32_t)(t % VF_SEC)};
	size_t len = 0, ip_len;
	uint8_t *udp;

	if (count >= IOV_MAX_HERE)
		return;
	for (unsigned i = 0; i < count; i++)
		len += iov[i].iov_len;
	ip_len = put_ip(head + RECORD_LEN, a, ip_id, (uint16_t)(UDP_LEN + len));
	udp = head + RECORD_LEN + ip_len;
	vf_store_be16(udp, a->src_port);
	vf_store_be16(udp + 2, a->dst_port);
	vf_store_be16(udp + 4, (uint16_t)(UDP_LEN + len));
	vf_store_be16(udp + 6, udp_checksum(a, udp, iov, count));
	record[2] = record[3] = (uint32_t)(ip_len + UDP_LEN + len);
	memcpy(head, record, sizeof(record));
	all[0] = (struct iovec){.iov_base = head, .iov_len = RECORD_LEN + ip_len + UDP_LEN};
	memcpy(all + 1, iov, count * sizeof(*iov));
	if (writev(p->fd, all, (int)count + 1) < 0)
		complain(p, errno);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks and randomness of Linux. */
#include "os/os.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static vf_nsec read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (vf_nsec)ts.tv_sec * VF_SEC + (vf_nsec)ts.tv_nsec;
}

vf_nsec vf_os_now(void) { return read_clock(CLOCK_MONOTONIC); }
vf_nsec vf_os_wall_clock(void) { return read_clock(CLOCK_REALTIME); }

/* A system so old or so locked up that it has no getrandom(2) still gets numbers that differ from
 * run to run. */
static void fill_from_clock(uint8_t *out, size_t len)
{
	uint64_t x = vf_os_now() ^ vf_os_wall_clock() ^ (uint64_t)getpid() << 32;

	for (size_t i = 0; i < len; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		out[i] = (uint8_t)(x >> 56);
	}
}

void vf_os_random(void *out, size_t len)
{
	uint8_t *p = out;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fill_from_clock(p, len);
			return;
		}
		p += n;
		len -= (size_t)n;
	}
}

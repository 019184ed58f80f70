// SPDX-License-Identifier: GPL-2.0
/* fairlane check: what hosts need for long paths, between datacenters: buffers for the
 * bandwidth-delay product, timeouts in proportion. Documentation/design/mlcc.rst explains it.
 */
#include "tool.h"

#include <linux/fairlane.h>
#include <stdlib.h>
#include <string.h>

/* A path is long from this RTT on, us: within a datacenter there is none. */
#define LONG_RTT_US	1000
/* A window of two bandwidth-delay products (mlcc); a buffer holds one and the packets' heads. */
#define BUFFER_BDPS	2

/* The flow that needs most, bytes that its path holds; 0: no path is long. */
static uint64_t longest(const struct flows *now, const struct fairlane_flow **most)
{
	uint64_t bdp_bytes = 0;
	size_t i;

	for (i = 0; i < now->n; i++) {
		const struct fairlane_flow *f = &now->f[i];
		uint64_t bytes = (uint64_t)f->info.line_rate_mbps * f->min_rtt_us / 8;

		if (!f->has_info || !f->has_tcp || f->min_rtt_us < LONG_RTT_US ||
		    bytes <= bdp_bytes)
			continue;
		bdp_bytes = bytes;
		*most = f;
	}
	return bdp_bytes;
}

/* The three numbers of tcp_rmem or tcp_wmem; false: they cannot be read. */
static bool read_sizes(const char *name, unsigned long sizes[3])
{
	char *path = xprintf("/proc/sys/net/ipv4/%s", name);
	char *text = sysctl_text(path);
	bool ok = text && sscanf(text, "%lu %lu %lu", &sizes[0], &sizes[1], &sizes[2]) == 3;

	free(text);
	free(path);
	return ok;
}

/* Is the largest buffer large enough? @dst: the peer, for the message */
static void check_largest(const char *name, uint64_t bdp_bytes, const char *dst)
{
	unsigned long sizes[3];
	char *cure;

	if (!read_sizes(name, sizes) || sizes[2] >= BUFFER_BDPS * bdp_bytes)
		return;
	cure = xprintf("sysctl net.ipv4.%s='%lu %lu %llu'", name, sizes[0], sizes[1],
		       (unsigned long long)(BUFFER_BDPS * bdp_bytes));
	check_add(VERDICT_PROBLEM, name, cure,
		  "buffers hold %lu bytes at most, the path to %s holds %llu: a flow cannot have its line",
		  sizes[2], dst, (unsigned long long)bdp_bytes);
	free(cure);
}

/* Does a receiver's window begin large? What comes with a flow's first ACK is the middle one. */
static void check_first(uint64_t bdp_bytes, const char *dst)
{
	unsigned long sizes[3];
	char *cure;

	if (!read_sizes("tcp_rmem", sizes) || sizes[1] >= BUFFER_BDPS * bdp_bytes)
		return;
	cure = xprintf("sysctl net.ipv4.tcp_rmem='%lu %llu %llu'", sizes[0],
		       (unsigned long long)(BUFFER_BDPS * bdp_bytes),
		       (unsigned long long)(sizes[2] > BUFFER_BDPS * bdp_bytes ? sizes[2] :
					    BUFFER_BDPS * bdp_bytes));
	check_add(VERDICT_NOTE, "tcp_rmem", cure,
		  "a new connection's window begins with %lu bytes and grows for many round trips, the path to %s holds %llu",
		  sizes[1] / 2, dst, (unsigned long long)bdp_bytes);
	free(cure);
}

/* A loss that only a timeout finds costs 200 ms where the route says nothing. */
static void check_timeout(const struct fairlane_flow *f, const char *dst)
{
	const char *const argv[] = { "ip", "route", "get", dst, NULL };
	char said[1024], *cure;

	if (tool_run(said, sizeof(said), argv) || strstr(said, "rto_min"))
		return;
	cure = xprintf("ip route change PREFIX ... rto_min %ums", 10 + f->min_rtt_us / 1000);
	check_add(VERDICT_NOTE, "rto_min", cure,
		  "a loss that only a timeout finds costs 200 ms on the way to %s, whose RTT is %s",
		  dst, show_time(f->min_rtt_us * 1000ULL));
	free(cure);
}

/**
 * check_long() - what long paths need
 * @now: the flows
 */
void check_long(const struct flows *now)
{
	const struct fairlane_flow *f = NULL;
	uint64_t bdp_bytes = longest(now, &f);
	char dst[48];

	if (!bdp_bytes)
		return;
	show_address(dst, sizeof(dst), f->id.family, f->id.dst);
	check_largest("tcp_wmem", bdp_bytes, dst);
	check_largest("tcp_rmem", bdp_bytes, dst);
	check_first(bdp_bytes, dst);
	check_timeout(f, dst);
}

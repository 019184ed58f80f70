// SPDX-License-Identifier: GPL-2.0
/* fairlane check: what hosts need for long paths, between datacenters: buffers for the
 * bandwidth-delay product, timeouts in proportion, a queue that leaves pacing alone, and first
 * windows of flows that stay within the datacenter. Documentation/design/mlcc.rst explains it.
 */
#include "tool.h"

#include <linux/fairlane.h>
#include <stdlib.h>
#include <string.h>

/* A path is long from this RTT on, us: within a datacenter there is none. */
#define LONG_RTT_US	1000
/* A window of two bandwidth-delay products (mlcc); a buffer holds one and the packets' heads. */
#define BUFFER_BDPS	2
/* The kernel's first window, packets, where the route says nothing. */
#define FIRST_PKTS	10
/* The window of a receiver that has not sent data yet, bytes: more is not sent at first. */
#define FIRST_WINDOW	65535

/* The flow of those with a long path, or of the others, that needs most, bytes that its path
 * holds; 0: there is none.
 */
static uint64_t longest(const struct flows *now, bool is_long, const struct fairlane_flow **most)
{
	uint64_t bdp_bytes = 0;
	size_t i;

	for (i = 0; i < now->n; i++) {
		const struct fairlane_flow *f = &now->f[i];
		uint64_t bytes = (uint64_t)f->info.line_rate_mbps * f->min_rtt_us / 8;
		bool far = f->min_rtt_us >= LONG_RTT_US;

		if (!f->has_info || !f->has_tcp || far != is_long || bytes <= bdp_bytes)
			continue;
		bdp_bytes = bytes;
		*most = f;
	}
	return bdp_bytes;
}

/**
 * struct route - the way to a peer
 * @dst: its address
 * @said: what "ip route get" says
 */
struct route {
	char dst[48];
	char said[1024];
};

/* Return: false: there is none, or it does not leave this host. */
static bool route_to(struct route *r, const struct fairlane_flow *f)
{
	const char *const argv[] = { "ip", "route", "get", r->dst, NULL };

	show_address(r->dst, sizeof(r->dst), f->id.family, f->id.dst);
	return !tool_run(r->said, sizeof(r->said), argv) && strncmp(r->said, "local ", 6);
}

/* What follows @word there, as the first of @value's characters; false: it is not there. */
static bool route_word(const struct route *r, const char *word, char *value, size_t size)
{
	const char *at = strstr(r->said, word);

	if (!at)
		return false;
	at += strlen(word);
	at += strncmp(at, "lock ", 5) ? 0 : 5;
	snprintf(value, size, "%.*s", (int)strcspn(at, "\n "), at);
	return true;
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
static void check_timeout(const struct fairlane_flow *f, const struct route *r)
{
	char *cure;

	if (strstr(r->said, "rto_min"))
		return;
	cure = xprintf("ip route change PREFIX ... rto_min %ums", 10 + f->min_rtt_us / 1000);
	check_add(VERDICT_NOTE, "rto_min", cure,
		  "a loss that only a timeout finds costs 200 ms on the way to %s, whose RTT is %s",
		  r->dst, show_time(f->min_rtt_us * 1000ULL));
	free(cure);
}

/* Is the first window of flows within the datacenter what their path holds? Those to another one
 * are told at once how to go on.
 */
static void check_first_window(const struct flows *now)
{
	const struct fairlane_flow *f = NULL;
	uint64_t bytes = longest(now, false, &f);
	unsigned int pkts, first = FIRST_PKTS;
	struct route r;
	char value[16];
	char *cure;

	if (!bytes || !f->mss_bytes || !route_to(&r, f))
		return;
	if (bytes > FIRST_WINDOW)
		bytes = FIRST_WINDOW;
	pkts = bytes / f->mss_bytes;
	if (route_word(&r, " initcwnd ", value, sizeof(value)))
		first = strtoul(value, NULL, 10);
	if (pkts <= first)
		return;
	cure = xprintf("ip route change PREFIX ... initcwnd %u", pkts);
	check_add(VERDICT_NOTE, "initcwnd", cure,
		  "a new connection to %s begins with %u packets, its RTT of %s has room for %u",
		  r.dst, first, show_time(f->min_rtt_us * 1000ULL), pkts);
	free(cure);
}

/* A queue of the device by which a long path leaves. Return: true: something was found. */
static bool check_queue(const cJSON *q, const struct fairlane_flow *f, const char *dst)
{
	const char *kind = json_text_of(q, "kind"), *dev = json_text_of(q, "dev");
	double most_bps = 8 * json_number_of(cJSON_GetObjectItem(q, "options"), "maxrate");
	double line_bps = f->info.line_rate_mbps * 1e6;
	bool slow = !strcmp(kind, "fq") && most_bps && most_bps < line_bps;
	bool fifo = strstr(kind, "fifo");
	char *where, *cure;

	if (!fifo && !slow)
		return false;
	where = cJSON_GetObjectItem(q, "root") ? xprintf("root") :
		xprintf("parent %s", json_text_of(q, "parent"));
	cure = xprintf("tc qdisc %s dev %s %s fq%s%s", slow ? "change" : "replace", dev, where,
		       slow ? " maxrate " : "", slow ? show_rate(line_bps) : "");
	if (slow)
		check_add(VERDICT_PROBLEM, "pacing", cure,
			  "fq at %s lets a flow have %s at most: one to %s cannot have its line",
			  dev, show_rate(most_bps), dst);
	else
		check_add(VERDICT_NOTE, "pacing", cure,
			  "flows to %s wait for all others of this host at %s (%s); fq serves them in turns",
			  dst, dev, kind);
	free(where);
	free(cure);
	return true;
}

/* Flows are paced by the stack, or by fq if the device has it. */
static void check_pacing(const struct fairlane_flow *f, const struct route *r)
{
	cJSON *doc = fabric_ports_read();
	const cJSON *q;
	char dev[32];

	if (!route_word(r, " dev ", dev, sizeof(dev)))
		dev[0] = 0;
	cJSON_ArrayForEach(q, doc) {
		if (!strcmp(json_text_of(q, "dev"), dev) && check_queue(q, f, r->dst))
			break;
	}
	cJSON_Delete(doc);
}

/**
 * check_long() - what long paths need
 * @now: the flows
 */
void check_long(const struct flows *now)
{
	const struct fairlane_flow *f = NULL;
	uint64_t bdp_bytes = longest(now, true, &f);
	struct route r;
	bool leaves;

	if (!bdp_bytes)
		return;
	leaves = route_to(&r, f);
	check_largest("tcp_wmem", bdp_bytes, r.dst);
	check_largest("tcp_rmem", bdp_bytes, r.dst);
	check_first(bdp_bytes, r.dst);
	check_first_window(now);
	if (!leaves)
		return;
	check_timeout(f, &r);
	check_pacing(f, &r);
}

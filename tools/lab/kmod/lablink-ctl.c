// SPDX-License-Identifier: GPL-2.0
/*
 * lablink-ctl: make, change and show lablink devices from the command line.
 *
 * Stock ip(8) makes and removes lablink devices, but cannot say rate or delay.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "lablink.h"

/* One end as the command line gives it; NULL, 0: not said. */
struct end {
	const char *name;
	const char *netns;
	const char *address;
	uint32_t mtu;
};

/* Settings as the command line gives them. */
struct settings {
	bool have[LABLINK_A_MAX + 1];
	uint64_t rate_bps;
	uint64_t delay_ns;
	uint32_t overhead_bytes;
	uint32_t ring_pkts;
	uint32_t noise_seed;
	uint8_t offload;
	uint32_t noise_n;
	uint32_t noise_ns[LABLINK_NOISE_QUANTILES_MAX];
};

struct unit {
	const char *name;
	double factor;
};

static const struct unit rate_units[] = {
	{ "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 },
	{ "tbit", 1e12 }, { NULL, 0 },
};

static const struct unit time_units[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
};

static const char usage_text[] =
"usage: lablink-ctl add NAME [END] peer NAME [END] [SETTING...]\n"
"       lablink-ctl set NAME [netns NS] SETTING...\n"
"       lablink-ctl show NAME [netns NS]\n"
"END is any of: netns NS, address MAC, mtu BYTES\n"
"SETTING is any of:\n"
"  rate RATE          bit/s, or with unit kbit mbit gbit tbit; 0: infinite\n"
"  delay TIME         ns, or with unit us ms s\n"
"  overhead BYTES     bytes on the line besides the frame (24)\n"
"  ring PACKETS       packets that the device holds (1)\n"
"  noise TIME,...     equidistant quantiles of an extra delay; off: none\n"
"  seed N             seed of the noise\n"
"  offload on|off     allow large packets (off)\n"
"A setting of `add` holds for both ends, that of `set` for what NAME sends.\n";

/* Print a sentence and leave. */
static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
	va_list args;

	fputs("lablink-ctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* A number with an optional unit. */
static uint64_t parse_unit(const char *key, const char *text,
			   const struct unit *unit)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || errno || !(value >= 0))
		fail("%s: '%s' is not a number", key, text);
	if (!*end)
		return (uint64_t)(value + 0.5);
	for (; unit->name; unit++)
		if (!strcasecmp(end, unit->name))
			return (uint64_t)(value * unit->factor + 0.5);
	fail("%s: unknown unit '%s'", key, end);
}

/* A whole number that fits 32 bits. */
static uint32_t parse_u32(const char *key, const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno ||
	    value > UINT32_MAX)
		fail("%s: '%s' is not a number from 0 to 4294967295", key,
		     text);
	return (uint32_t)value;
}

/* Comma-separated times. */
static void parse_noise(struct settings *want, char *text)
{
	char *word, *save = NULL;
	uint64_t ns;

	want->noise_n = 0;
	if (!strcmp(text, "off"))
		return;
	for (word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		if (want->noise_n == LABLINK_NOISE_QUANTILES_MAX)
			fail("noise: more than %d quantiles",
			     LABLINK_NOISE_QUANTILES_MAX);
		ns = parse_unit("noise", word, time_units);
		if (ns > UINT32_MAX)
			fail("noise: %s is too long", word);
		want->noise_ns[want->noise_n++] = (uint32_t)ns;
	}
}

/* One setting; false if @key is none. */
static bool parse_setting(struct settings *want, const char *key, char *value)
{
	if (!strcmp(key, "rate")) {
		want->rate_bps = parse_unit(key, value, rate_units);
		want->have[LABLINK_A_RATE_BPS] = true;
	} else if (!strcmp(key, "delay")) {
		want->delay_ns = parse_unit(key, value, time_units);
		want->have[LABLINK_A_DELAY_NS] = true;
	} else if (!strcmp(key, "overhead")) {
		want->overhead_bytes = parse_u32(key, value);
		want->have[LABLINK_A_OVERHEAD_BYTES] = true;
	} else if (!strcmp(key, "ring")) {
		want->ring_pkts = parse_u32(key, value);
		want->have[LABLINK_A_RING_PKTS] = true;
	} else if (!strcmp(key, "noise")) {
		parse_noise(want, value);
		want->have[LABLINK_A_NOISE_NS] = true;
	} else if (!strcmp(key, "seed")) {
		want->noise_seed = parse_u32(key, value);
		want->have[LABLINK_A_NOISE_SEED] = true;
	} else if (!strcmp(key, "offload")) {
		if (strcmp(value, "on") && strcmp(value, "off"))
			fail("offload: '%s' is neither on nor off", value);
		want->offload = !strcmp(value, "on");
		want->have[LABLINK_A_OFFLOAD] = true;
	} else {
		return false;
	}
	return true;
}

/* One attribute of an end; false if @key is none. */
static bool parse_end(struct end *end, const char *key, const char *value)
{
	if (!strcmp(key, "netns"))
		end->netns = value;
	else if (!strcmp(key, "address"))
		end->address = value;
	else if (!strcmp(key, "mtu"))
		end->mtu = parse_u32(key, value);
	else
		return false;
	return true;
}

/* Everything after the first name. */
static void parse_args(char **arg, struct end *end, struct end *peer,
		       struct settings *want)
{
	struct end *current = end;

	for (; *arg; arg += 2) {
		if (!arg[1])
			fail("%s: value missing", *arg);
		if (peer && !strcmp(*arg, "peer")) {
			peer->name = arg[1];
			current = peer;
		} else if (!parse_end(current, *arg, arg[1]) &&
			   !parse_setting(want, *arg, arg[1])) {
			fail("unknown word '%s'", *arg);
		}
	}
}

/* Open a namespace as ip-netns(8) names it. */
static int open_netns(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("namespace %s: %s", name, strerror(errno));
	return fd;
}

/* Continue in a namespace. */
static void enter_netns(const char *name)
{
	int fd;

	if (!name)
		return;
	fd = open_netns(name);
	if (setns(fd, CLONE_NEWNET))
		fail("namespace %s: %s", name, strerror(errno));
	close(fd);
}

/* Attributes of one end. */
static void put_end(struct nl_msg *msg, const struct end *end)
{
	unsigned char mac[6];
	int n = 0;

	nla_put_string(msg, IFLA_IFNAME, end->name);
	if (end->address) {
		if (sscanf(end->address, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx%n",
			   mac, mac + 1, mac + 2, mac + 3, mac + 4, mac + 5,
			   &n) != 6 || end->address[n])
			fail("address: '%s' is not a MAC address",
			     end->address);
		nla_put(msg, IFLA_ADDRESS, sizeof(mac), mac);
	}
	if (end->mtu)
		nla_put_u32(msg, IFLA_MTU, end->mtu);
	if (end->netns)
		nla_put_u32(msg, IFLA_NET_NS_FD,
			    (uint32_t)open_netns(end->netns));
}

/* Attributes of the settings that were said. */
static void put_settings(struct nl_msg *msg, const struct settings *want)
{
	if (want->have[LABLINK_A_RATE_BPS])
		nla_put_u64(msg, LABLINK_A_RATE_BPS, want->rate_bps);
	if (want->have[LABLINK_A_DELAY_NS])
		nla_put_u64(msg, LABLINK_A_DELAY_NS, want->delay_ns);
	if (want->have[LABLINK_A_OVERHEAD_BYTES])
		nla_put_u32(msg, LABLINK_A_OVERHEAD_BYTES,
			    want->overhead_bytes);
	if (want->have[LABLINK_A_RING_PKTS])
		nla_put_u32(msg, LABLINK_A_RING_PKTS, want->ring_pkts);
	if (want->have[LABLINK_A_NOISE_NS])
		nla_put(msg, LABLINK_A_NOISE_NS,
			(int)(want->noise_n * sizeof(uint32_t)), want->noise_ns);
	if (want->have[LABLINK_A_NOISE_SEED])
		nla_put_u32(msg, LABLINK_A_NOISE_SEED, want->noise_seed);
	if (want->have[LABLINK_A_OFFLOAD])
		nla_put_u8(msg, LABLINK_A_OFFLOAD, want->offload);
}

/* Connect to the kernel, in the current namespace. */
static struct nl_sock *connect_kernel(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int one = 1, err;

	if (!sock)
		fail("no memory");
	err = nl_connect(sock, NETLINK_ROUTE);
	if (err)
		fail("netlink: %s", nl_geterror(err));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &one,
		   sizeof(one));
	return sock;
}

/* Print the sentence that the kernel sent along with an error. */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error,
		    void *unused)
{
	char *start = (char *)error - NLMSG_HDRLEN;
	struct nlmsghdr *hdr = (struct nlmsghdr *)start;
	size_t skip = sizeof(*error);
	struct nlattr *text;

	(void)from;
	(void)unused;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - sizeof(error->msg);
	text = nlmsg_find_attr(hdr, (int)skip, NLMSGERR_ATTR_MSG);
	fail("%s%s%s", strerror(-error->error), text ? ": " : "",
	     text ? nla_get_string(text) : "");
}

/* Send a request and wait for the kernel's answer. */
static void talk(struct nl_sock *sock, struct nl_msg *msg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err;

	if (!cb)
		fail("no memory");
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, NULL);
	err = nl_send_auto(sock, msg);
	if (err < 0)
		fail("netlink: %s", nl_geterror(err));
	nlmsg_free(msg);
	nl_socket_set_cb(sock, cb);
	err = nl_wait_for_ack(sock);
	if (err < 0)
		fail("%s", nl_geterror(err));
	nl_cb_put(cb);
}

/* A request about a link. */
static struct nl_msg *new_request(int type, int flags, const char *name)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = nlmsg_alloc_size(65536);

	if (!msg || !nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type,
			       sizeof(ifi), flags))
		fail("no memory");
	if (name) {
		ifi.ifi_index = (int)if_nametoindex(name);
		if (!ifi.ifi_index)
			fail("no device %s", name);
	}
	memcpy(nlmsg_data(nlmsg_hdr(msg)), &ifi, sizeof(ifi));
	return msg;
}

/* lablink-ctl add */
static void do_add(char **arg)
{
	struct end end = { .name = *arg }, peer = { 0 };
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct nlattr *info, *data, *other;
	static struct settings want;
	struct nl_msg *msg;

	parse_args(arg + 1, &end, &peer, &want);
	msg = new_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, NULL);
	put_end(msg, &end);
	info = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, LABLINK_KIND);
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	put_settings(msg, &want);
	if (peer.name) {
		other = nla_nest_start(msg, LABLINK_A_PEER);
		nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
		put_end(msg, &peer);
		nla_nest_end(msg, other);
	}
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	talk(connect_kernel(), msg);
}

/* lablink-ctl set */
static void do_set(char **arg)
{
	struct end end = { .name = *arg };
	struct nlattr *info, *data;
	static struct settings want;
	struct nl_msg *msg;

	parse_args(arg + 1, &end, NULL, &want);
	enter_netns(end.netns);
	msg = new_request(RTM_NEWLINK, 0, end.name);
	info = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, LABLINK_KIND);
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	put_settings(msg, &want);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	talk(connect_kernel(), msg);
}

/* Print the counters of one direction. */
static void show_counters(struct nlattr *nest)
{
	static const char * const name[] = {
		[LABLINK_C_LINE_PKTS] = "line_packets",
		[LABLINK_C_LINE_BYTES] = "line_bytes",
		[LABLINK_C_QUEUE_STOPS] = "queue_stops",
		[LABLINK_C_LOST_IN_FLIGHT] = "lost_in_flight",
		[LABLINK_C_LATE_EVENTS] = "late_events",
		[LABLINK_C_LATE_MAX_NS] = "late_max_ns",
	};
	struct nlattr *tb[LABLINK_C_MAX + 1];
	int i;

	if (nla_parse_nested(tb, LABLINK_C_MAX, nest, NULL))
		fail("the kernel's answer has no counters");
	for (i = 1; i < LABLINK_C_PAD; i++)
		if (tb[i])
			printf("%s %" PRIu64 "\n", name[i],
			       nla_get_u64(tb[i]));
}

/* Print the settings of one end, one a line. */
static int on_link(struct nl_msg *msg, void *unused)
{
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct nlattr *data[LABLINK_A_MAX + 1];
	uint32_t i, n, quantile;

	(void)unused;
	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(struct ifinfomsg), tb, IFLA_MAX,
			NULL) || !tb[IFLA_LINKINFO] ||
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) ||
	    !info[IFLA_INFO_KIND] ||
	    strcmp(nla_get_string(info[IFLA_INFO_KIND]), LABLINK_KIND) ||
	    nla_parse_nested(data, LABLINK_A_MAX, info[IFLA_INFO_DATA], NULL))
		fail("not a lablink device");
	printf("rate_bps %" PRIu64 "\n"
	       "delay_ns %" PRIu64 "\n"
	       "overhead_bytes %" PRIu32 "\nring_pkts %" PRIu32 "\n"
	       "noise_seed %" PRIu32 "\noffload %u\nnoise_ns",
	       nla_get_u64(data[LABLINK_A_RATE_BPS]),
	       nla_get_u64(data[LABLINK_A_DELAY_NS]),
	       nla_get_u32(data[LABLINK_A_OVERHEAD_BYTES]),
	       nla_get_u32(data[LABLINK_A_RING_PKTS]),
	       nla_get_u32(data[LABLINK_A_NOISE_SEED]),
	       nla_get_u8(data[LABLINK_A_OFFLOAD]));
	n = (uint32_t)nla_len(data[LABLINK_A_NOISE_NS]) / sizeof(quantile);
	for (i = 0; i < n; i++) {
		memcpy(&quantile, (char *)nla_data(data[LABLINK_A_NOISE_NS]) +
		       i * sizeof(quantile), sizeof(quantile));
		printf("%c%" PRIu32, i ? ',' : ' ', quantile);
	}
	puts(n ? "" : " off");
	show_counters(data[LABLINK_A_COUNTERS]);
	return NL_OK;
}

/* lablink-ctl show */
static void do_show(char **arg)
{
	struct end end = { .name = *arg };
	static struct settings none;
	struct nl_sock *sock;
	int err;

	parse_args(arg + 1, &end, NULL, &none);
	enter_netns(end.netns);
	sock = connect_kernel();
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_link, NULL);
	err = nl_send_auto(sock, new_request(RTM_GETLINK, 0, end.name));
	if (err >= 0)
		err = nl_recvmsgs_default(sock);
	if (err < 0)
		fail("netlink: %s", nl_geterror(err));
}

int main(int argc, char **argv)
{
	if (argc == 2 && (!strcmp(argv[1], "-h") ||
			  !strcmp(argv[1], "--help"))) {
		fputs(usage_text, stdout);
		return 0;
	}
	if (argc >= 3 && !strcmp(argv[1], "add")) {
		do_add(argv + 2);
	} else if (argc >= 3 && !strcmp(argv[1], "set")) {
		do_set(argv + 2);
	} else if (argc >= 3 && !strcmp(argv[1], "show")) {
		do_show(argv + 2);
	} else {
		fputs(usage_text, stderr);
		return 1;
	}
	return 0;
}

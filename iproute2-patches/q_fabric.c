// SPDX-License-Identifier: GPL-2.0
/*
 * tc's side of the fabric qdisc: one source for the plugin q_fabric.so
 * (FABRIC_PLUGIN, against tc_abi.h) and for a patched iproute2.
 *
 * Whatever is printed can be typed back: sizes, rates and times are printed in
 * the largest unit that holds them exactly.
 */
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "q_fabric.h"

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... fabric [ preset flexpass|flexpass-paper|expresspass|dctcp|soze|prio8\n"
		"                    [ speed RATE ] [ mtu BYTES ] [ segs N ] ]\n"
		"                  [ limit SIZE ] [ ecn SIZE|off [ enqueue|dequeue ] ]\n"
		"                  [ split-gso | no-split-gso ]\n"
		"                  [ rate RATE|none [ delay TIME ] ]\n"
		"                  [ overhead BYTES ] [ mpu BYTES ]\n"
		"                  [ bands N ] [ default BAND|last ] [ priomap BAND... | off ]\n"
		"                  [ dscp DSCP[-DSCP][,...]:BAND[:green|yellow|red]... | off ]\n"
		"                  [ buffer NAME [ SIZE ] | off ]\n"
		"                  [ stamp none|soze|tcp-int|load|power ]\n"
		"                  [ stamp-tau TIME ] [ stamp-round NS ] [ stamp-hold TIME ]\n"
		"                  [ switch N switch-port N [ speed RATE ] [ hop-rtt TIME ]\n"
		"                    [ frames both|tell|hear|none ] ]\n"
		"                  [ role none|wan|lan [ host-rate RATE ] [ flow-delay TIME ]\n"
		"                    [ flow-theta TIME ] [ flow-form filter|damped|printed ]\n"
		"                    [ flow-weight W ] ]\n"
		"                  [ band BAND OPTIONS-OF-CLASS... ]...\n"
		"\n"
		"  limit      bytes that may wait (default 1mb)\n"
		"  ecn        mark when more bytes than this are ahead of an arriving packet\n"
		"             (enqueue, the default) or left behind by a departing one (dequeue)\n"
		"  split-gso  segment GSO packets on arrival (default)\n"
		"  rate       be the line too; without it the device's own speed counts\n"
		"  delay      propagation delay of that line (default 0)\n"
		"  overhead   bytes that each packet takes on the wire beyond its own length\n"
		"             (default 24: preamble, checksum and gap of Ethernet); mpu: the\n"
		"             least that it takes (default 84); for rate, and rates of bands\n"
		"  bands      bands (classes) 1 to N; BAND is a number from 1, 0 the default one\n"
		"  buffer     share SIZE bytes with all ports of this namespace that say NAME\n"
		"  stamp      telemetry in TCP options; smoothed over stamp-tau, held for\n"
		"             stamp-hold, told as the middle of a step of stamp-round\n"
		"  role       of a border router: to the long line (wan), to the datacenter (lan)\n"
		"A TIME without a unit is in nanoseconds.\n"
		"Everything else: man tc-fabric; ... class ... fabric help\n");
}

static void explain_class(void)
{
	fprintf(stderr,
		"Usage: ... fabric [ strict | weight N | quantum SIZE ]\n"
		"                  [ queue fifo|isolate|pfc|hash [ N ] ]\n"
		"                  [ limit SIZE ]\n"
		"                  [ packets N ] [ rate RATE|none [ burst SIZE ] [ each SIZE ] ]\n"
		"                  [ ecn off | ecn SIZE [ SIZE [ prob P ] ] [ enqueue|dequeue ]\n"
		"                    | ecn-delay TIME [ TIME [ prob P ] ] [ drop|pass ] ]\n"
		"                  [ green SIZE ] [ yellow SIZE ] [ red SIZE ]\n"
		"                  [ reserved SIZE ] [ alpha X ]\n"
		"\n"
		"  strict     served before all round-robin bands, lowest number first (default)\n"
		"  weight     round robin, N times 1514 bytes a turn; quantum: that many bytes\n"
		"  limit      bytes that may wait in this band (0: only the port's limit)\n"
		"  packets    packets that may wait in this band (0: no limit)\n"
		"  rate       of this band, burst beyond it; each packet counts as each bytes\n"
		"  ecn        mark above SIZE waiting; with two, from never at the first to\n"
		"             probability P (default 1) at the second, always above\n"
		"  ecn-delay  the same by queueing delay; drop or pass what cannot be marked\n"
		"  green ...  bytes that may wait of packets of this colour (0: no limit)\n"
		"  reserved   bytes of the shared buffer for this band alone\n"
		"  alpha      band's limit in the shared buffer: X times what is free\n");
}

/* Parses one option. Returns the words it took, 0 if it is not in the table, or
 * -1 after a complaint.
 */
static int parse_option(const struct fabric_option *option, int argc, char **argv,
			struct nlmsghdr *n)
{
	int used;

	for (; option->name; option++) {
		if (strcmp(*argv, option->name))
			continue;
		if (!option->parse) {
			if (option->flag == FABRIC_FLAG_PRESENT)
				fabric_put(n, option->type, NULL, 0);
			else
				fabric_put_u8(n, option->type, option->flag);
			return 1;
		}
		if (argc < 2)
			return fabric_bad(option->name, NULL);
		used = option->parse(argc, argv, n, option->type);
		if (used < 0)
			return fabric_bad(option->name, argv[-used]);
		return 1 + used;
	}
	return 0;
}

/* Parses options of a band until a word is not one. Returns the words taken,
 * -1 after a complaint.
 */
static int parse_band_options(int argc, char **argv, struct nlmsghdr *n)
{
	int used, all = 0;

	while (argc > 0) {
		used = parse_option(fabric_band_options, argc, argv, n);
		if (used <= 0)
			return used ? used : all;
		argc -= used;
		argv += used;
		all += used;
	}
	return all;
}

/* Parses "band N OPTIONS" into the open list of bands. Returns words taken. */
static int parse_band(int argc, char **argv, struct nlmsghdr *n)
{
	struct rtattr *nest;
	uint8_t band;
	int used;

	if (argc < 2)
		return fabric_bad("band", NULL);
	if (fabric_get_band(&band, argv[1]) || band == FABRIC_MAP_DEFAULT)
		return fabric_bad("band", argv[1]);
	nest = fabric_nest(n, 1 + band);
	used = parse_band_options(argc - 2, argv + 2, n);
	if (used < 0)
		return used;
	addattr_nest_end(n, nest);
	return 2 + used;
}

/* Parses "band N ..." to the end of the line. Returns 0, -1 after a complaint. */
static int parse_bands(int argc, char **argv, struct nlmsghdr *n)
{
	struct rtattr *nest;
	int used;

	nest = fabric_nest(n, TCA_FABRIC_BAND_OPTIONS);
	while (argc > 0) {
		if (strcmp(*argv, "band")) {
			fprintf(stderr,
				"fabric: unknown option of a band \"%s\" (the port's options go before the bands')\n",
				*argv);
			return -1;
		}
		used = parse_band(argc, argv, n);
		if (used < 0)
			return -1;
		argc -= used;
		argv += used;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* ---- presets -------------------------------------------------------------- */

#define PRESET_WORDS_MAX 64
/* On the line: a credit (IPv4), and what a packet's Ethernet frame adds to the MTU. */
#define PRESET_CREDIT_WIRE 86
#define PRESET_FRAME_WIRE 38
/* Faster than this a credit pays for so many segments, else for one. */
#define PRESET_FAST_BPS 10000000000ULL
#define PRESET_FAST_SEGS 8
/* The kernel's limit for rates, which these numbers keep to. */
#define PRESET_SPEED_MAX_BPS 10000000000000ULL
#define PRESET_MTU 1500
/* A mark needs queues of some packets: 8 frames for each 10 us. */
#define PRESET_ECN_NS 10000
#define PRESET_ECN_FRAMES 8

/**
 * struct preset - options under a name
 * @name: the name
 * @port: options of the port
 * @bands: options of the bands. "@" becomes the rate of credits, "@TIME" (ns) the
 *	bytes that the line carries in that time, at least PRESET_ECN_FRAMES frames for each
 *	PRESET_ECN_NS; "~TIME" the time of these bytes
 * @credit_permille: part of the line that credits ask for; 0: there are none
 */
struct preset {
	const char *name;
	const char *port;
	const char *bands;
	unsigned int credit_permille;
};

static const struct preset presets[] = {
	/*
	 * Thresholds that keep green data's queue short beside DCTCP. Marks go by time: a band
	 * that has half of the line would else keep its queue for twice as long.
	 */
	{ "flexpass",
	  "limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red",
	  "band 1 strict packets 10 rate @ burst 172 each 86 band 2 weight 1 ecn-delay ~10000 red @40000 band 3 weight 1 ecn-delay ~78000",
	  480,
	},
	/* FlexPass sec. 6: 40 Gbit/s, credits for half of the line */
	{ "flexpass-paper",
	  "limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red",
	  "band 1 strict packets 10 rate @ burst 172 each 86 band 2 weight 1 ecn 65000 enqueue red 150000 band 3 weight 1 ecn 100000 enqueue",
	  500,
	},
	{ "expresspass",
	  "limit 4mb bands 2 dscp 40:1",
	  "band 1 strict packets 10 rate @ burst 172 each 86 band 2 weight 1",
	  1000,
	},
	{ "dctcp", "limit 4mb ecn 97500 enqueue", "", 0 },
	{ "soze", "limit 4mb stamp soze", "", 0 },
	{ "prio8",
	  "limit 4mb bands 8 dscp 56-63:1 48-55:2 40-47:3 32-39:4 24-31:5 16-23:6 8-15:7 0-7:8",
	  "", 0 },
	{ NULL, NULL, NULL, 0 }
};

/**
 * struct preset_line - what the presets' numbers depend on
 * @rate_bps: of the line, or 0
 * @mtu: of the device, bytes
 * @segs: that a credit pays for
 * @permille: of struct preset
 * @text: of the values
 * @used: of @text
 */
struct preset_line {
	uint64_t rate_bps;
	uint32_t mtu;
	uint32_t segs;
	unsigned int permille;
	char text[256];
	size_t used;
};

static int parse_port(int argc, char **argv, struct nlmsghdr *n);

/* The value that a word with "@" or "~" stands for. */
static char *preset_value(struct preset_line *line, const char *word)
{
	uint64_t wire = line->mtu + PRESET_FRAME_WIRE, bytes, least;
	uint64_t ns = strtoull(word + 1, NULL, 10);
	char *at = line->text + line->used;
	size_t room = sizeof(line->text) - line->used;

	if (!ns) {
		/* / 1000 first: no product exceeds 64 bits up to 10 Tbit/s */
		snprintf(at, room, "%" PRIu64 "bit",
			 line->rate_bps / 1000 * line->permille * PRESET_CREDIT_WIRE /
			 (PRESET_CREDIT_WIRE + wire * line->segs));
	} else {
		bytes = line->rate_bps / 1000 * ns / 8000000;
		least = (wire - 24) * PRESET_ECN_FRAMES * ns / PRESET_ECN_NS;
		if (*word == '@')
			snprintf(at, room, "%" PRIu64, bytes > least ? bytes : least);
		else if (bytes >= least)
			snprintf(at, room, "%" PRIu64 "ns", ns);
		else
			snprintf(at, room, "%" PRIu64 "ns",
				 least * 8000000000 / line->rate_bps);
	}
	line->used += strlen(at) + 1;
	return at;
}

/* Cuts a text into words, those with "@" become values. */
static int preset_words(char *text, char **words, struct preset_line *line)
{
	char *word;
	int count = 0;

	for (word = strtok(text, " "); word && count < PRESET_WORDS_MAX;
	     word = strtok(NULL, " "))
		words[count++] = *word == '@' || *word == '~' ?
				 preset_value(line, word) : word;
	return count;
}

/* Finds the value of "rate" among the options that follow a preset. */
static uint64_t find_rate(int argc, char **argv)
{
	uint64_t rate_bps = 0;

	for (; argc > 1 && strcmp(*argv, "band"); argc--, argv++) {
		if (!strcmp(*argv, "rate") && fabric_parse_rate(&rate_bps, argv[1]))
			rate_bps = 0;
	}
	return rate_bps;
}

/* The MTU of a device, or the usual one. */
static uint32_t preset_mtu(const char *dev)
{
	struct ifreq ifr = { 0 };
	int fd = dev ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	uint32_t mtu = PRESET_MTU;

	if (fd < 0)
		return mtu;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (!ioctl(fd, SIOCGIFMTU, &ifr) && ifr.ifr_mtu > 0)
		mtu = ifr.ifr_mtu;
	close(fd);
	return mtu;
}

/* Reads "speed RATE", "mtu BYTES" and "segs N". Returns the words taken, -1 after a
 * complaint.
 */
static int preset_line_words(int argc, char **argv, struct preset_line *line)
{
	int used = 0;

	for (; argc > used; used += 2) {
		const char *name = argv[used];
		const char *value = argc > used + 1 ? argv[used + 1] : NULL;
		char *end = NULL;
		unsigned long n = 0;

		if (!strcmp(name, "speed")) {
			if (!value || fabric_parse_rate(&line->rate_bps, value) ||
			    !line->rate_bps || line->rate_bps > PRESET_SPEED_MAX_BPS)
				return fabric_bad(name, value);
			continue;
		}
		if (strcmp(name, "mtu") && strcmp(name, "segs"))
			break;
		if (!line->permille) {
			fprintf(stderr, "fabric: %s is for presets that give credit\n", name);
			return -1;
		}
		if (value)
			n = strtoul(value, &end, 10);
		if (!value || *end || *value == '-' || !n ||
		    n > (*name == 'm' ? 65535UL : 64UL))
			return fabric_bad(name, value);
		if (*name == 'm')
			line->mtu = n;
		else
			line->segs = n;
	}
	return used;
}

/* "preset NAME [speed RATE] [mtu BYTES] [segs N] [port's options] [bands' options]": the
 * preset's options, then those given, which win. What neither names gets its default, whatever
 * the port had.
 */
static int parse_preset(int argc, char **argv, struct nlmsghdr *n, const char *dev)
{
	char text[512], *words[PRESET_WORDS_MAX], *all[2 * PRESET_WORDS_MAX];
	struct preset_line line = {
		.rate_bps = find_rate(argc, argv),
		.mtu = preset_mtu(dev),
	};
	const struct preset *preset = presets;
	int count, i;

	if (argc < 2)
		return fabric_bad("preset", NULL);
	while (preset->name && strcmp(preset->name, argv[1]))
		preset++;
	if (!preset->name)
		return fabric_bad("preset", argv[1]);
	line.permille = preset->credit_permille;
	i = preset_line_words(argc - 2, argv + 2, &line);
	if (i < 0)
		return -1;
	argc -= 2 + i;
	argv += 2 + i;
	if (line.permille && !line.rate_bps) {
		fprintf(stderr, "fabric: preset %s needs the device's speed, or a rate\n",
			preset->name);
		return -1;
	}
	if (!line.segs)
		line.segs = line.rate_bps > PRESET_FAST_BPS ? PRESET_FAST_SEGS : 1;

	fabric_put(n, TCA_FABRIC_ANEW, NULL, 0);
	snprintf(text, sizeof(text), "%s", preset->port);
	count = preset_words(text, words, &line);
	i = parse_port(count, words, n);
	if (i < 0)
		return -1;
	i = parse_port(argc, argv, n);
	if (i < 0)
		return -1;
	argc -= i;
	argv += i;

	snprintf(text, sizeof(text), "%s", preset->bands);
	count = preset_words(text, all, &line);
	if (argc > PRESET_WORDS_MAX) {
		fprintf(stderr, "fabric: too many options after a preset\n");
		return -1;
	}
	for (i = 0; i < argc; i++)
		all[count++] = argv[i];
	return count ? parse_bands(count, all, n) : 0;
}

/* ---- the command line ------------------------------------------------------ */

/* Parses options of the port until "band" or the end. Returns the words taken,
 * -1 after a complaint.
 */
static int parse_port(int argc, char **argv, struct nlmsghdr *n)
{
	int used, all = 0, dscp = 0, priomap = 0;

	while (argc > 0 && strcmp(*argv, "band")) {
		dscp += !strcmp(*argv, "dscp");
		priomap += !strcmp(*argv, "priomap");
		/* the first table would be lost without a word */
		if (dscp > 1 || priomap > 1) {
			fprintf(stderr, "fabric: \"%s\" stands twice\n", *argv);
			return -1;
		}
		used = parse_option(fabric_port_options, argc, argv, n);
		if (!used) {
			if (strcmp(*argv, "help"))
				fprintf(stderr,
					"fabric: unknown option \"%s\"\n",
					*argv);
			explain();
		}
		if (used <= 0)
			return -1;
		argc -= used;
		argv += used;
		all += used;
	}
	return all;
}

static int fabric_parse_opt(struct qdisc_util *qu, int argc, char **argv,
			    struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest;
	int used;

	(void)qu;
	nest = fabric_begin(n);
	if (argc > 0 && !strcmp(*argv, "preset")) {
		if (parse_preset(argc, argv, n, dev))
			return -1;
	} else {
		used = parse_port(argc, argv, n);
		if (used < 0)
			return -1;
		if (used < argc && parse_bands(argc - used, argv + used, n))
			return -1;
	}
	return fabric_end(n, nest);
}

static int fabric_parse_copt(struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest;
	int used;

	(void)qu;
	(void)dev;
	nest = fabric_begin(n);
	used = parse_band_options(argc, argv, n);
	if (used < 0)
		return -1;
	if (used < argc) {
		if (strcmp(argv[used], "help"))
			fprintf(stderr, "fabric: unknown option \"%s\"\n",
				argv[used]);
		explain_class();
		return -1;
	}
	return fabric_end(n, nest);
}

struct qdisc_util fabric_qdisc_util = {
	.id		= "fabric",
	.parse_qopt	= fabric_parse_opt,
	.print_qopt	= fabric_print_opt,
	.print_xstats	= fabric_print_xstats,
	.parse_copt	= fabric_parse_copt,
	.print_copt	= fabric_print_copt,
};

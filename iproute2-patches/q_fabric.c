// SPDX-License-Identifier: GPL-2.0
/*
 * tc's side of the fabric qdisc: one source for the plugin q_fabric.so
 * (FABRIC_PLUGIN, against tc_abi.h) and for a patched iproute2.
 *
 * Whatever is printed can be typed back: sizes, rates and times are printed in
 * the largest unit that holds them exactly.
 */
#include "q_fabric.h"

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... fabric [ preset flexpass|dctcp|soze|prio8 [ speed RATE ] ]\n"
		"                  [ limit SIZE ] [ ecn SIZE|off [ enqueue|dequeue ] ]\n"
		"                  [ split-gso | no-split-gso ]\n"
		"                  [ rate RATE|none [ delay TIME ] ]\n"
		"                  [ overhead BYTES ] [ mpu BYTES ]\n"
		"                  [ bands N ] [ default BAND|last ] [ priomap BAND... | off ]\n"
		"                  [ dscp DSCP[-DSCP][,...]:BAND[:green|yellow|red]... | off ]\n"
		"                  [ buffer NAME [ SIZE ] | off ]\n"
		"                  [ stamp none|soze|tcp-int ] [ stamp-tau TIME ] [ stamp-round NS ]\n"
		"                  [ stamp-hold TIME ]\n"
		"                  [ switch N switch-port N [ speed RATE ] [ hop-rtt TIME ]\n"
		"                    [ frames both|tell|hear|none ] ]\n"
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
		"             stamp-hold, rounded down to stamp-round\n"
		"Everything else: man tc-fabric; ... class ... fabric help\n");
}

static void explain_class(void)
{
	fprintf(stderr,
		"Usage: ... fabric [ strict | weight N | quantum SIZE ] [ queue fifo|isolate|pfc ]\n"
		"                  [ limit SIZE ]\n"
		"                  [ packets N ] [ rate RATE|none [ burst SIZE ] ]\n"
		"                  [ ecn off | ecn SIZE [ SIZE [ prob P ] ] [ enqueue|dequeue ]\n"
		"                    | ecn-delay TIME [ TIME [ prob P ] ] [ drop|pass ] ]\n"
		"                  [ green SIZE ] [ yellow SIZE ] [ red SIZE ]\n"
		"                  [ reserved SIZE ] [ alpha X ]\n"
		"\n"
		"  strict     served before all round-robin bands, lowest number first (default)\n"
		"  weight     round robin, N times 1514 bytes a turn; quantum: that many bytes\n"
		"  limit      bytes that may wait in this band (0: only the port's limit)\n"
		"  packets    packets that may wait in this band (0: no limit)\n"
		"  rate       of this band, burst beyond it\n"
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
				addattr_l(n, FABRIC_OPTIONS_MAX_BYTES, option->type,
					  NULL, 0);
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
	nest = addattr_nest(n, FABRIC_OPTIONS_MAX_BYTES, (1 + band) | NLA_F_NESTED);
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

	nest = addattr_nest(n, FABRIC_OPTIONS_MAX_BYTES,
			    TCA_FABRIC_BAND_OPTIONS | NLA_F_NESTED);
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
#define PRESET_CREDIT_WIRE 84	/* a credit, and a full frame: FlexPass sec. 4 */
#define PRESET_DATA_WIRE 1538

static const struct preset {
	const char *name;
	const char *port;
	const char *bands;
} presets[] = {
	{ "flexpass",
	  "limit 4mb bands 3 dscp 40:1 41,43:2 42:2:red",
	  "band 1 strict packets 10 rate @ burst 168 band 2 weight 1 ecn 65000 enqueue red 150000 band 3 weight 1 ecn 100000 enqueue",
	},
	{ "dctcp", "limit 4mb ecn 97500 enqueue", "" },
	{ "soze", "limit 4mb stamp soze", "" },
	{ "prio8",
	  "limit 4mb bands 8 dscp 56-63:1 48-55:2 40-47:3 32-39:4 24-31:5 16-23:6 8-15:7 0-7:8",
	  "" },
	{ NULL, NULL, NULL }
};

static int parse_port(int argc, char **argv, struct nlmsghdr *n);

/* Cuts a text into words; "@" becomes the rate of FlexPass's credits. */
static int preset_words(char *text, char **words, char *credit_rate)
{
	char *word;
	int count = 0;

	for (word = strtok(text, " "); word && count < PRESET_WORDS_MAX;
	     word = strtok(NULL, " "))
		words[count++] = strcmp(word, "@") ? word : credit_rate;
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

/* "preset NAME [speed RATE] [port's options] [bands' options]": the preset's options, then
 * those given, which win. The credits of FlexPass get their part of half the
 * device's speed, or of half the line.
 */
static int parse_preset(int argc, char **argv, struct nlmsghdr *n)
{
	char text[512], *words[PRESET_WORDS_MAX], credit_rate[32] = "";
	const struct preset *preset = presets;
	uint64_t rate_bps = find_rate(argc, argv);
	bool speed = argc > 2 && !strcmp(argv[2], "speed");
	char *all[2 * PRESET_WORDS_MAX];
	int count, i;

	if (argc < 2)
		return fabric_bad("preset", NULL);
	while (preset->name && strcmp(preset->name, argv[1]))
		preset++;
	if (!preset->name)
		return fabric_bad("preset", argv[1]);
	if (speed && (argc < 4 || fabric_parse_rate(&rate_bps, argv[3])))
		return fabric_bad("speed", argc < 4 ? NULL : argv[3]);
	if (strchr(preset->bands, '@')) {
		if (!rate_bps) {
			fprintf(stderr,
				"fabric: preset %s needs the device's speed, or a rate\n",
				preset->name);
			return -1;
		}
		snprintf(credit_rate, sizeof(credit_rate), "%" PRIu64 "bit",
			 rate_bps / 2 * PRESET_CREDIT_WIRE /
			 (PRESET_CREDIT_WIRE + PRESET_DATA_WIRE));
	}

	snprintf(text, sizeof(text), "%s", preset->port);
	count = preset_words(text, words, credit_rate);
	i = parse_port(count, words, n);
	if (i < 0)
		return -1;
	argc -= speed ? 4 : 2;
	argv += speed ? 4 : 2;
	i = parse_port(argc, argv, n);
	if (i < 0)
		return -1;
	argc -= i;
	argv += i;

	snprintf(text, sizeof(text), "%s", preset->bands);
	count = preset_words(text, all, credit_rate);
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
	int used, all = 0;

	while (argc > 0 && strcmp(*argv, "band")) {
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
	(void)dev;
	nest = addattr_nest(n, FABRIC_OPTIONS_MAX_BYTES, TCA_OPTIONS | NLA_F_NESTED);
	if (argc > 0 && !strcmp(*argv, "preset")) {
		if (parse_preset(argc, argv, n))
			return -1;
	} else {
		used = parse_port(argc, argv, n);
		if (used < 0)
			return -1;
		if (used < argc && parse_bands(argc - used, argv + used, n))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

static int fabric_parse_copt(struct qdisc_util *qu, int argc, char **argv,
			     struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest;
	int used;

	(void)qu;
	(void)dev;
	nest = addattr_nest(n, FABRIC_OPTIONS_MAX_BYTES, TCA_OPTIONS | NLA_F_NESTED);
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
	addattr_nest_end(n, nest);
	return 0;
}

struct qdisc_util fabric_qdisc_util = {
	.id		= "fabric",
	.parse_qopt	= fabric_parse_opt,
	.print_qopt	= fabric_print_opt,
	.print_xstats	= fabric_print_xstats,
	.parse_copt	= fabric_parse_copt,
	.print_copt	= fabric_print_copt,
};

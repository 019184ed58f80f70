// SPDX-License-Identifier: GPL-2.0
/*
 * tc's side of the fabric qdisc: printing settings and counters.
 *
 * Whatever is printed of the settings can be typed back: sizes, rates and times
 * are printed in the largest unit that holds them exactly.
 */
#include <arpa/inet.h>
#include <stddef.h>

#include "q_fabric.h"

static const struct fabric_unit size_units[] = {
	{ "Mb", 1 << 20 }, { "Kb", 1 << 10 }, { "b", 1 }, { NULL, 0 }
};

static const struct fabric_unit no_units[] = { { "", 1 }, { NULL, 0 } };

static const struct fabric_unit time_units[] = {
	{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	{ NULL, 0 }
};

/* Writes a number in the largest unit that divides it. */
static const char *format_unit(uint64_t value, const struct fabric_unit *units,
			       char *buffer, size_t size)
{
	while (units[1].name && (!value || value % units->factor))
		units++;
	snprintf(buffer, size, "%" PRIu64 "%s", value / units->factor,
		 units->name);
	return buffer;
}

/* Prints a setting: a number in JSON, keyword (if any) and unit in text. */
static void print_setting(const char *key, const char *word, uint64_t value,
			  const struct fabric_unit *units)
{
	char buffer[32];

	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, value);
	if (word)
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", word);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ",
			   format_unit(value, units, buffer, sizeof(buffer)));
}

/* Prints a word that says it all. */
static void print_word(const char *word)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", word);
}

/* Prints one of a few names. */
static void print_name(const char *key, const char *word, const char *name)
{
	print_color_string(PRINT_JSON, COLOR_NONE, key, NULL, name);
	print_word(word);
	print_word(name);
}

/* The number in an attribute, 0 if it is not there. */
static uint64_t number(const struct rtattr *attr)
{
	uint64_t value = 0;
	uint32_t half;

	if (!attr)
		return 0;
	if (RTA_PAYLOAD(attr) >= sizeof(value)) {
		memcpy(&value, RTA_DATA(attr), sizeof(value));
		return value;
	}
	if (RTA_PAYLOAD(attr) < sizeof(half))
		return RTA_PAYLOAD(attr) ? *(uint8_t *)RTA_DATA(attr) : 0;
	memcpy(&half, RTA_DATA(attr), sizeof(half));
	return half;
}

/* Prints a setting if it is there. */
static void print_given(const struct rtattr *attr, const char *key, const char *word,
			const struct fabric_unit *units)
{
	if (attr)
		print_setting(key, word, number(attr), units);
}

/* Prints a setting if it is not 0. */
static void print_unless_0(const struct rtattr *attr, const char *key, const char *word,
			   const struct fabric_unit *units)
{
	if (number(attr))
		print_given(attr, key, word, units);
}

/* Splits a nest into its attributes. */
static void parse_nest(struct rtattr **tb, int max, struct rtattr *nest)
{
	parse_rtattr_flags(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest),
			   NLA_F_NESTED);
}

/* A band number as people count. */
static unsigned int band_number(uint8_t band)
{
	return band == FABRIC_MAP_DEFAULT ? 0 : band + 1U;
}

static void print_priomap(const struct rtattr *attr)
{
	const uint8_t *map;
	size_t i, count;

	if (!attr)
		return;
	map = RTA_DATA(attr);
	count = RTA_PAYLOAD(attr);
	print_word("priomap");
	open_json_array(PRINT_JSON, "priomap");
	for (i = 0; i < count; i++)
		print_color_uint(PRINT_ANY, COLOR_NONE, NULL, "%u ",
				 band_number(map[i]));
	close_json_array(PRINT_JSON, NULL);
}

/* Prints the DSCPs that lead to where @first does: "8,10-12:2:red". */
static void print_dscp_group(const uint8_t *map, size_t count, size_t first)
{
	const char *comma = "";
	char buffer[32];
	size_t i, last;

	for (i = first; i < count; i++) {
		if (map[i] != map[first])
			continue;
		for (last = i; last + 1 < count && map[last + 1] == map[first];)
			last++;
		snprintf(buffer, sizeof(buffer), last > i ? "%s%zu-%zu" :
			 "%s%zu", comma, i, last);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", buffer);
		comma = ",";
		i = last;
	}
	snprintf(buffer, sizeof(buffer), ":%u", (map[first] & 0xf) + 1);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", buffer);
	if (map[first] >> 4 && map[first] >> 4 < FABRIC_COLOURS)
		print_color_string(PRINT_FP, COLOR_NONE, NULL, ":%s",
				   fabric_colour_names[map[first] >> 4]);
	print_word("");
}

static void print_dscp(const struct rtattr *attr)
{
	const uint8_t *map;
	size_t i, count;

	if (!attr)
		return;
	map = RTA_DATA(attr);
	count = RTA_PAYLOAD(attr);
	/* a table that names nothing is none: dscp 10:0 */
	for (i = 0; i < count && map[i] == FABRIC_MAP_DEFAULT; i++)
		;
	if (i == count)
		return;
	print_word("dscp");
	open_json_array(PRINT_JSON, "dscp");
	for (i = 0; i < count; i++) {
		unsigned int colour = map[i] >> 4;

		if (map[i] == FABRIC_MAP_DEFAULT || colour >= FABRIC_COLOURS)
			continue;
		open_json_object(NULL);
		print_color_uint(PRINT_JSON, COLOR_NONE, "dscp", NULL, i);
		print_color_uint(PRINT_JSON, COLOR_NONE, "band", NULL,
				 (map[i] & 0xf) + 1);
		print_color_string(PRINT_JSON, COLOR_NONE, "colour", NULL,
				   fabric_colour_names[colour]);
		close_json_object();
		if (!memchr(map, map[i], i))
			print_dscp_group(map, count, i);
	}
	close_json_array(PRINT_JSON, NULL);
}

static void print_stamp(struct rtattr **tb)
{
	uint8_t kind = number(tb[TCA_FABRIC_STAMP]);

	if (!kind || kind >= __FABRIC_STAMP_MAX)
		return;
	print_name("stamp", "stamp", fabric_stamp_names[kind]);
	print_unless_0(tb[TCA_FABRIC_STAMP_TAU_NS], "stamp_tau", "stamp-tau", time_units);
	print_unless_0(tb[TCA_FABRIC_STAMP_ROUND_NS], "stamp_round", "stamp-round", no_units);
	print_unless_0(tb[TCA_FABRIC_STAMP_HOLD_NS], "stamp_hold", "stamp-hold", time_units);
}

static void print_bands(struct rtattr **tb)
{
	uint8_t bands = number(tb[TCA_FABRIC_BANDS]);

	if (bands > 1)
		print_setting("bands", "bands", bands, no_units);
	if (tb[TCA_FABRIC_DEFAULT_BAND])
		print_setting("default", "default",
			      band_number(number(tb[TCA_FABRIC_DEFAULT_BAND])), no_units);
	print_priomap(tb[TCA_FABRIC_PRIOMAP]);
	print_dscp(tb[TCA_FABRIC_DSCPMAP]);
	if (tb[TCA_FABRIC_BUFFER_NAME]) {
		print_name("buffer", "buffer", RTA_DATA(tb[TCA_FABRIC_BUFFER_NAME]));
		print_setting("buffer_bytes", NULL,
			      number(tb[TCA_FABRIC_BUFFER_BYTES]),
			      size_units);
	}
}

static void print_ecn_at(uint8_t at)
{
	print_color_string(PRINT_ANY, COLOR_NONE, "ecn_at", "%s ",
			   at == FABRIC_ECN_AT_DEQUEUE ? "dequeue" : "enqueue");
}

/* Is nothing set for a band: is it strict, and that is all? */
static bool band_is_plain(const struct rtattr *band)
{
	const struct rtattr *first = RTA_DATA(band);

	return RTA_PAYLOAD(band) == RTA_LENGTH(0) &&
	       first->rta_type == TCA_FABRIC_CLASS_STRICT;
}

/* Prints the settings of the bands; in text only where something is set. */
static void print_band_options(struct rtattr *nest)
{
	struct rtattr *bands[FABRIC_BANDS_MAX + 1];
	char buffer[32];
	int i;

	if (!nest)
		return;
	parse_nest(bands, FABRIC_BANDS_MAX, nest);
	open_json_array(PRINT_JSON, "band_options");
	for (i = 1; i <= FABRIC_BANDS_MAX; i++) {
		if (!bands[i])
			continue;
		if (!is_json_context() && band_is_plain(bands[i]))
			continue;
		open_json_object(NULL);
		print_color_uint(PRINT_JSON, COLOR_NONE, "band", NULL, i);
		snprintf(buffer, sizeof(buffer), "band %d ", i);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", buffer);
		fabric_print_copt(NULL, NULL, bands[i]);
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
}

/* Prints what a packet takes on the wire, in text if it is not as always or if
 * @shown is there.
 */
static void print_wire(const struct rtattr *attr, const char *word,
		       uint32_t usual, const struct rtattr *shown)
{
	if (!attr)
		return;
	if (number(attr) == usual && !shown)
		print_color_uint(PRINT_JSON, COLOR_NONE, word, NULL, number(attr));
	else
		print_setting(word, word, number(attr), no_units);
}

/* Prints the port's switch. */
static void print_switch(struct rtattr **tb)
{
	uint8_t frames = number(tb[TCA_FABRIC_FRAMES]) & FABRIC_FRAMES_BOTH;

	if (!tb[TCA_FABRIC_SWITCH])
		return;
	print_setting("switch", "switch", number(tb[TCA_FABRIC_SWITCH]), no_units);
	print_setting("switch_port", "switch-port", number(tb[TCA_FABRIC_SWITCH_PORT]), no_units);
	print_setting("speed", "speed", number(tb[TCA_FABRIC_SPEED_BPS]), fabric_rate_units);
	print_setting("hop_rtt", "hop-rtt", number(tb[TCA_FABRIC_HOP_RTT_NS]), time_units);
	print_name("frames", "frames", fabric_frames_names[frames]);
}

/* Prints a number that is told as thousandths. */
static void print_milli(const struct rtattr *attr, const char *key, const char *word)
{
	char text[32];

	if (!attr)
		return;
	snprintf(text, sizeof(text), "%g", number(attr) / 1000.0);
	print_name(key, word, text);
}

/* Prints the port's role in a border router. */
static void print_role(struct rtattr **tb)
{
	uint8_t role = number(tb[TCA_FABRIC_ROLE]), form = number(tb[TCA_FABRIC_FLOW_FORM]);

	if (!role || role >= __FABRIC_ROLE_MAX || form >= __FABRIC_FLOW_MAX)
		return;
	print_name("role", "role", fabric_role_names[role]);
	if (role != FABRIC_ROLE_LAN)
		return;
	print_unless_0(tb[TCA_FABRIC_HOST_RATE_BPS], "host_rate", "host-rate", fabric_rate_units);
	print_setting("flow_delay", "flow-delay", number(tb[TCA_FABRIC_FLOW_WAIT_NS]), time_units);
	print_given(tb[TCA_FABRIC_FLOW_THETA_NS], "flow_theta", "flow-theta", time_units);
	print_name("flow_form", "flow-form", fabric_form_names[form]);
	if (number(tb[TCA_FABRIC_FLOW_WEIGHT_MILLI]) != 1000)
		print_milli(tb[TCA_FABRIC_FLOW_WEIGHT_MILLI], "flow_weight", "flow-weight");
}

int fabric_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_FABRIC_MAX + 1];
	bool split;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	parse_nest(tb, TCA_FABRIC_MAX, opt);

	print_setting("limit", "limit", number(tb[TCA_FABRIC_LIMIT_BYTES]), size_units);
	if (tb[TCA_FABRIC_RATE_BPS]) {
		print_setting("rate", "rate", number(tb[TCA_FABRIC_RATE_BPS]), fabric_rate_units);
		print_setting("delay", "delay", number(tb[TCA_FABRIC_DELAY_NS]), time_units);
	}
	print_wire(tb[TCA_FABRIC_OVERHEAD_BYTES], "overhead",
		   FABRIC_OVERHEAD_DEFAULT_BYTES, tb[TCA_FABRIC_RATE_BPS]);
	print_wire(tb[TCA_FABRIC_MPU_BYTES], "mpu", FABRIC_MPU_DEFAULT_BYTES, NULL);
	if (tb[TCA_FABRIC_ECN_BYTES]) {
		print_setting("ecn", "ecn", number(tb[TCA_FABRIC_ECN_BYTES]), size_units);
		print_ecn_at(number(tb[TCA_FABRIC_ECN_AT]));
	}
	split = number(tb[TCA_FABRIC_SPLIT_GSO]);
	print_color_bool(PRINT_JSON, COLOR_NONE, "split_gso", NULL, split);
	print_word(split ? "split-gso" : "no-split-gso");
	print_bands(tb);
	print_stamp(tb);
	print_switch(tb);
	print_role(tb);
	print_band_options(tb[TCA_FABRIC_BAND_OPTIONS]);
	return 0;
}

static void print_band_ecn(struct rtattr **tb)
{
	const struct fabric_unit *units = size_units;
	uint32_t min = number(tb[TCA_FABRIC_CLASS_ECN_MIN]);
	uint32_t max = number(tb[TCA_FABRIC_CLASS_ECN_MAX]);
	bool time, drop = number(tb[TCA_FABRIC_CLASS_ECN_DROP]);
	char prob[32];

	if (!tb[TCA_FABRIC_CLASS_ECN_MAX])
		return;
	time = number(tb[TCA_FABRIC_CLASS_ECN_UNIT]) == FABRIC_ECN_UNIT_NS;
	if (time)
		units = time_units;
	if (!max) {
		print_word("ecn off");
		print_color_uint(PRINT_JSON, COLOR_NONE, "ecn_max", NULL, 0);
		return;
	}
	print_color_string(PRINT_JSON, COLOR_NONE, "ecn_unit", NULL,
			   time ? "ns" : "bytes");
	print_setting("ecn_min", time ? "ecn-delay" : "ecn", min, units);
	if (min != max) {
		print_setting("ecn_max", NULL, max, units);
		snprintf(prob, sizeof(prob), "%g",
			 number(tb[TCA_FABRIC_CLASS_ECN_PROB]) /
			 (double)FABRIC_PROB_MAX);
		print_name("ecn_prob", "prob", prob);
	}
	print_ecn_at(number(tb[TCA_FABRIC_CLASS_ECN_AT]));
	print_color_bool(PRINT_JSON, COLOR_NONE, "ecn_drop", NULL, drop);
	print_word(drop ? "drop" : "pass");
}

static void print_band_limits(struct rtattr **tb)
{
	int i;

	for (i = 0; i < FABRIC_COLOURS; i++) {
		struct rtattr *attr = tb[TCA_FABRIC_CLASS_GREEN_BYTES + i];

		if (attr)
			print_setting(fabric_colour_names[i],
				      fabric_colour_names[i], number(attr),
				      size_units);
	}
	print_given(tb[TCA_FABRIC_CLASS_RESERVED_BYTES], "reserved", "reserved", size_units);
	print_milli(tb[TCA_FABRIC_CLASS_ALPHA_MILLI], "alpha", "alpha");
}

int fabric_print_copt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_FABRIC_CLASS_MAX + 1];
	uint8_t queue;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	parse_nest(tb, TCA_FABRIC_CLASS_MAX, opt);
	print_color_bool(PRINT_JSON, COLOR_NONE, "strict", NULL,
			 !!tb[TCA_FABRIC_CLASS_STRICT]);
	if (tb[TCA_FABRIC_CLASS_STRICT])
		print_word("strict");
	print_given(tb[TCA_FABRIC_CLASS_WEIGHT], "weight", "weight", no_units);
	print_given(tb[TCA_FABRIC_CLASS_QUANTUM_BYTES], "quantum", "quantum", size_units);
	queue = number(tb[TCA_FABRIC_CLASS_QUEUE]);
	if (queue && queue < __FABRIC_QUEUE_MAX)
		print_name("queue", "queue", fabric_queue_names[queue]);
	print_given(tb[TCA_FABRIC_CLASS_QUEUES], "queues", NULL, no_units);
	print_given(tb[TCA_FABRIC_CLASS_LIMIT_BYTES], "limit", "limit", size_units);
	print_given(tb[TCA_FABRIC_CLASS_LIMIT_PACKETS], "packets", "packets", no_units);
	if (tb[TCA_FABRIC_CLASS_RATE_BPS]) {
		print_setting("rate", "rate",
			      number(tb[TCA_FABRIC_CLASS_RATE_BPS]),
			      fabric_rate_units);
		print_setting("burst", "burst",
			      number(tb[TCA_FABRIC_CLASS_BURST_BYTES]),
			      size_units);
	}
	print_given(tb[TCA_FABRIC_CLASS_EACH_BYTES], "each", "each", size_units);
	print_band_ecn(tb);
	print_band_limits(tb);
	return 0;
}

/* Prints a counter: "word value" in text. */
static void print_count(const char *key, const char *word, uint64_t value)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s ", word);
	print_color_u64(PRINT_ANY, COLOR_NONE, key, "%" PRIu64, value);
}

static const char * const drop_names[FABRIC_DROP_MAX + 1] = {
	[FABRIC_DROP_LIMIT] = "limit",
	[FABRIC_DROP_SEGMENT] = "segment",
	[FABRIC_DROP_BAND] = "band",
	[FABRIC_DROP_COLOUR] = "colour",
	[FABRIC_DROP_BUFFER] = "buffer",
	[FABRIC_DROP_ECN] = "ecn",
	[FABRIC_DROP_FILTER] = "filter",
	[FABRIC_DROP_CHILD] = "child",
	[FABRIC_DROP_BAND_GONE] = "band-gone",
};

/* Prints the drops for one reason; in text only if there are any. */
static void print_drop(const char *why, uint64_t count)
{
	print_color_u64(PRINT_JSON, COLOR_NONE, why, NULL, count);
	if (!count)
		return;
	print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s ", why);
	print_color_u64(PRINT_FP, COLOR_NONE, NULL, "%" PRIu64, count);
}

static void print_drops(struct rtattr *nest)
{
	struct rtattr *tb[FABRIC_DROP_MAX + 1] = { NULL };
	int i;

	if (nest)
		parse_nest(tb, FABRIC_DROP_MAX, nest);
	open_json_object("dropped");
	print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s", "dropped:");
	for (i = 1; i <= FABRIC_DROP_MAX; i++)
		print_drop(drop_names[i], number(tb[i]));
	close_json_object();
}

/* Prints the bins that are not empty as "<upper bound:count". */
static void print_hist(struct rtattr *attr)
{
	uint64_t count[FABRIC_HIST_BINS];
	char buffer[32];
	int i;

	if (!attr || RTA_PAYLOAD(attr) < sizeof(count))
		return;
	memcpy(count, RTA_DATA(attr), sizeof(count));
	print_nl();
	print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s", " delay below");
	open_json_array(PRINT_JSON, "delay_hist");
	for (i = 0; i < FABRIC_HIST_BINS; i++) {
		print_color_u64(PRINT_JSON, COLOR_NONE, NULL, NULL, count[i]);
		if (!count[i])
			continue;
		if (i == FABRIC_HIST_BINS - 1)
			snprintf(buffer, sizeof(buffer), "more");
		else
			format_unit(1ULL << i, time_units, buffer,
				    sizeof(buffer));
		print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s:", buffer);
		print_color_u64(PRINT_FP, COLOR_NONE, NULL, "%" PRIu64,
				count[i]);
	}
	close_json_array(PRINT_JSON, NULL);
}

static void print_delay(struct rtattr **tb)
{
	if (!tb[TCA_FABRIC_STATS_DELAY_MAX_NS])
		return;
	print_nl();
	print_count("delay_min_ns", " delay ns min", number(tb[TCA_FABRIC_STATS_DELAY_MIN_NS]));
	print_count("delay_mean_ns", "mean", number(tb[TCA_FABRIC_STATS_DELAY_MEAN_NS]));
	print_count("delay_max_ns", "max", number(tb[TCA_FABRIC_STATS_DELAY_MAX_NS]));
	print_hist(tb[TCA_FABRIC_STATS_DELAY_HIST]);
}

/* Whether there is anything to tell of a colour. */
static bool colour_seen(struct rtattr **colour)
{
	struct rtattr *drops[FABRIC_DROP_MAX + 1];
	uint64_t count = number(colour[TCA_FABRIC_COLOUR_PACKETS]) +
			 number(colour[TCA_FABRIC_COLOUR_BACKLOG_BYTES]);
	int i;

	if (!colour[TCA_FABRIC_COLOUR_DROPS])
		return count;
	parse_nest(drops, FABRIC_DROP_MAX, colour[TCA_FABRIC_COLOUR_DROPS]);
	for (i = 1; i <= FABRIC_DROP_MAX; i++)
		count += number(drops[i]);
	return count;
}

/* Prints what was counted of each colour; in text only of yellow and red, and
 * only if there was any.
 */
static void print_colours(struct rtattr *nest)
{
	struct rtattr *tb[FABRIC_COLOURS + 1], *one[TCA_FABRIC_COLOUR_MAX + 1];
	int i;

	if (!nest)
		return;
	parse_nest(tb, FABRIC_COLOURS, nest);
	open_json_object("colours");
	for (i = 0; i < FABRIC_COLOURS; i++) {
		memset(one, 0, sizeof(one));
		if (tb[1 + i])
			parse_nest(one, TCA_FABRIC_COLOUR_MAX, tb[1 + i]);
		if (!is_json_context() && (!i || !colour_seen(one)))
			continue;
		open_json_object(fabric_colour_names[i]);
		print_nl();
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "  %s:",
				   fabric_colour_names[i]);
		print_count("bytes", "bytes", number(one[TCA_FABRIC_COLOUR_BYTES]));
		print_count("packets", "packets", number(one[TCA_FABRIC_COLOUR_PACKETS]));
		print_count("backlog_bytes", "waiting bytes",
			    number(one[TCA_FABRIC_COLOUR_BACKLOG_BYTES]));
		print_drops(one[TCA_FABRIC_COLOUR_DROPS]);
		close_json_object();
	}
	close_json_object();
}

/* Prints counters 1 to @max of a nest by their names, as the object @key. */
static void print_counts(struct rtattr *nest, const char *key, const char * const *names, int max)
{
	struct rtattr *tb[max + 1];
	int i;

	if (!nest)
		return;
	parse_nest(tb, max, nest);
	print_nl();
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "  %s", key);
	open_json_object(key);
	for (i = 1; i <= max; i++)
		print_count(names[i], names[i], number(tb[i]));
	close_json_object();
}

/* What became of packets to be stamped. */
static const char * const stamp_names[FABRIC_STAMPED_MAX + 1] = {
	[FABRIC_STAMPED_SEEN] = "stamped",
	[FABRIC_STAMPED_RAISED] = "raised",
	[FABRIC_STAMPED_NO_OPTION] = "no_option",
	[FABRIC_STAMPED_MALFORMED] = "malformed",
	[FABRIC_STAMPED_NOT_TCP] = "not_tcp",
};

/* Prints what a band and the port have in common. */
static void print_view(struct rtattr **tb)
{
	print_count("bytes", " served bytes", number(tb[TCA_FABRIC_STATS_BYTES]));
	print_count("packets", "packets", number(tb[TCA_FABRIC_STATS_PACKETS]));
	print_count("marks", "marks", number(tb[TCA_FABRIC_STATS_MARKS]));
	print_drops(tb[TCA_FABRIC_STATS_DROPS]);
	print_nl();
	print_count("backlog_bytes", " waiting bytes", number(tb[TCA_FABRIC_STATS_BACKLOG_BYTES]));
	print_count("backlog_packets", "packets", number(tb[TCA_FABRIC_STATS_BACKLOG_PACKETS]));
	print_count("backlog_max_bytes", "max bytes",
		    number(tb[TCA_FABRIC_STATS_BACKLOG_MAX_BYTES]));
	print_count("rate_bps", "rate bit/s", number(tb[TCA_FABRIC_STATS_RATE_BPS]));
}

/* Prints what only the port has. */
static void print_port(struct rtattr **tb)
{
	if (tb[TCA_FABRIC_STATS_BUSY_NS])
		print_count("busy_ns", "busy ns", number(tb[TCA_FABRIC_STATS_BUSY_NS]));
	if (tb[TCA_FABRIC_STATS_LINE_PACKETS])
		print_count("line_packets", "on line", number(tb[TCA_FABRIC_STATS_LINE_PACKETS]));
	if (tb[TCA_FABRIC_STATS_GSO_SPLIT])
		print_count("gso_split", "gso split", number(tb[TCA_FABRIC_STATS_GSO_SPLIT]));
	if (tb[TCA_FABRIC_STATS_BUFFER_POOL_BYTES]) {
		print_count("buffer_used_bytes", "buffer used",
			    number(tb[TCA_FABRIC_STATS_BUFFER_USED_BYTES]));
		print_count("buffer_pool_bytes", "of",
			    number(tb[TCA_FABRIC_STATS_BUFFER_POOL_BYTES]));
	}
}

/* Prints each band's counters, for JSON only: tc class show has them as text. */
static void print_band_stats(struct rtattr *nest)
{
	struct rtattr *bands[FABRIC_BANDS_MAX + 1];
	struct rtattr *tb[TCA_FABRIC_STATS_MAX + 1];
	int i;

	if (!nest || !is_json_context())
		return;
	parse_nest(bands, FABRIC_BANDS_MAX, nest);
	open_json_array(PRINT_JSON, "bands");
	for (i = 1; i <= FABRIC_BANDS_MAX; i++) {
		if (!bands[i])
			continue;
		parse_nest(tb, TCA_FABRIC_STATS_MAX, bands[i]);
		open_json_object(NULL);
		print_color_uint(PRINT_JSON, COLOR_NONE, "band", NULL, i);
		print_view(tb);
		print_delay(tb);
		print_colours(tb[TCA_FABRIC_STATS_COLOURS]);
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
}

/* The state of queues of flows. */
static const char * const hash_names[FABRIC_HASH_MAX + 1] = {
	[FABRIC_HASH_USED] = "used",
	[FABRIC_HASH_USED_MAX] = "used_max",
	[FABRIC_HASH_HELD] = "held",
	[FABRIC_HASH_HELD_BYTES] = "held_bytes",
	[FABRIC_HASH_HELD_NS] = "held_ns",
	[FABRIC_HASH_HOLDS] = "holds",
	[FABRIC_HASH_SHARED] = "shared",
	[FABRIC_HASH_EXPIRED] = "expired",
	[FABRIC_HASH_OVER] = "over",
};

/* What the border router has counted. */
static const char * const border_names[FABRIC_BORDER_MAX + 1] = {
	[FABRIC_BORDER_CONNS] = "connections",
	[FABRIC_BORDER_EVICTED] = "evicted",
	[FABRIC_BORDER_QUEUED] = "queued",
	[FABRIC_BORDER_SHARED] = "shared",
	[FABRIC_BORDER_UNQUEUED] = "unqueued",
	[FABRIC_BORDER_CREDITS] = "credits",
	[FABRIC_BORDER_REFUSED] = "refused",
	[FABRIC_BORDER_TOLD] = "told",
	[FABRIC_BORDER_NEAR_READ] = "near_read",
	[FABRIC_BORDER_NEAR_TOLD] = "near_told",
	[FABRIC_BORDER_MESSAGES] = "messages",
	[FABRIC_BORDER_UNSENT] = "unsent",
	[FABRIC_BORDER_HOST_FULL] = "host_full",
};

/* Prints one end of a connection. */
static void print_end(const char *key, const char *word, const char *port_key,
		      const __u8 *address, unsigned int port)
{
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool v4 = !memcmp(address, mapped, sizeof(mapped));
	char text[INET6_ADDRSTRLEN];

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, text, sizeof(text));
	print_color_string(PRINT_FP, COLOR_NONE, NULL, " %s ", word);
	print_color_string(PRINT_ANY, COLOR_NONE, key, "%s", text);
	print_color_uint(PRINT_ANY, COLOR_NONE, port_key, " %u", port);
}

/* Prints queues of connections. */
static void print_flows(const struct rtattr *attr)
{
	struct tc_fabric_flow flow;
	const char *at, *end;

	if (!attr)
		return;
	at = RTA_DATA(attr);
	end = at + RTA_PAYLOAD(attr);
	open_json_array(PRINT_JSON, "flows");
	for (; end - at >= (ptrdiff_t)sizeof(flow); at += sizeof(flow)) {
		memcpy(&flow, at, sizeof(flow));
		print_nl();
		open_json_object(NULL);
		print_end("to", " to", "to_port", flow.here, flow.here_port);
		print_end("from", "from", "from_port", flow.there, flow.there_port);
		print_count("backlog_bytes", "waiting bytes", flow.backlog_bytes);
		print_count("backlog_packets", "packets", flow.backlog_packets);
		print_count("backlog_max_bytes", "max bytes", flow.backlog_max_bytes);
		print_count("cross_ns", "cross ns", flow.cross_ns);
		print_count("near_ns", "near ns", flow.near_ns);
		print_count("host_flows_milli", "host's flows milli", flow.flows_milli);
		print_count("host_bps", "bit/s", flow.host_bps);
		print_count("credit_bps", "credit", flow.credit_bps);
		print_count("tell_bps", "told", flow.tell_bps);
		close_json_object();
	}
	close_json_array(PRINT_JSON, NULL);
}

int fabric_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct rtattr *tb[TCA_FABRIC_STATS_MAX + 1];

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	parse_nest(tb, TCA_FABRIC_STATS_MAX, xstats);
	open_json_object("fabric");
	print_view(tb);
	print_port(tb);
	print_delay(tb);
	print_counts(tb[TCA_FABRIC_STATS_STAMPS], "telemetry", stamp_names, FABRIC_STAMPED_MAX);
	print_counts(tb[TCA_FABRIC_STATS_HASH], "hash", hash_names, FABRIC_HASH_MAX);
	print_counts(tb[TCA_FABRIC_STATS_BORDER], "border", border_names, FABRIC_BORDER_MAX);
	print_flows(tb[TCA_FABRIC_STATS_FLOWS]);
	print_colours(tb[TCA_FABRIC_STATS_COLOURS]);
	if (tb[TCA_FABRIC_STATS_BANDS_OMITTED])
		print_color_bool(PRINT_JSON, COLOR_NONE, "bands_omitted", NULL,
				 true);
	print_band_stats(tb[TCA_FABRIC_STATS_BANDS]);
	close_json_object();
	return 0;
}

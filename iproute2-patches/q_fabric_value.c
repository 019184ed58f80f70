// SPDX-License-Identifier: GPL-2.0
/*
 * tc's side of the fabric qdisc: the options and their values.
 */
#include "q_fabric.h"

/* ---- numbers -------------------------------------------------------------- */

const struct fabric_unit fabric_rate_units[] = {
	{ "Tbit", 1000000000000ULL }, { "Gbit", 1000000000 },
	{ "Mbit", 1000000 }, { "Kbit", 1000 }, { "bit", 1 }, { NULL, 0 }
};

const char * const fabric_colour_names[FABRIC_COLOURS] = {
	"green", "yellow", "red"
};

const char * const fabric_stamp_names[__FABRIC_STAMP_MAX] = {
	"none", "soze", "tcp-int", "load", "power"
};

/* Reads a rate in bit/s; tc's own get_rate64() knows whole bytes only. */
int fabric_parse_rate(uint64_t *rate_bps, const char *text)
{
	const struct fabric_unit *unit;
	double number;
	char *end;

	if (!strcmp(text, "none")) {
		*rate_bps = 0;
		return 0;
	}
	number = strtod(text, &end);
	if (end == text || !(number >= 0))
		return -1;
	if (!*end)
		end = "bit";
	for (unit = fabric_rate_units; unit->name; unit++) {
		if (!strcasecmp(end, unit->name))
			break;
	}
	if (!unit->name || number * unit->factor > 1e18)
		return -1;
	*rate_bps = (uint64_t)(number * unit->factor + 0.5);
	return 0;
}

/* ---- options -------------------------------------------------------------- */

/* Complains about an option's value. */
int fabric_bad(const char *option, const char *value)
{
	if (value)
		fprintf(stderr, "fabric: bad value \"%s\" for \"%s\"\n", value,
			option);
	else
		fprintf(stderr, "fabric: \"%s\" needs a value\n", option);
	return -1;
}

/* How long a request may become. */
static int request_bytes(const struct nlmsghdr *n)
{
	return n->nlmsg_type == RTM_NEWTCLASS ? FABRIC_CLASS_OPTIONS_MAX_BYTES :
						FABRIC_OPTIONS_MAX_BYTES;
}

/* Something had no room in the request: it is not to be sent. */
static bool full;

/* Appends an attribute. */
void fabric_put(struct nlmsghdr *n, int type, const void *data, int bytes)
{
	full |= addattr_l(n, request_bytes(n), type, data, bytes) < 0;
}

/* Begins a list of attributes, which addattr_nest_end() ends. */
struct rtattr *fabric_nest(struct nlmsghdr *n, int type)
{
	uint32_t before = n->nlmsg_len;
	struct rtattr *nest = addattr_nest(n, request_bytes(n), type | NLA_F_NESTED);

	full |= n->nlmsg_len == before;
	return nest;
}

/* Begins the options of a request. */
struct rtattr *fabric_begin(struct nlmsghdr *n)
{
	full = false;
	return fabric_nest(n, TCA_OPTIONS);
}

/* Ends them. Returns 0, -1 after a complaint. */
int fabric_end(struct nlmsghdr *n, struct rtattr *nest)
{
	addattr_nest_end(n, nest);
	if (full)
		fprintf(stderr, "fabric: too many options\n");
	return full ? -1 : 0;
}

void fabric_put_u8(struct nlmsghdr *n, int type, uint8_t value)
{
	fabric_put(n, type, &value, sizeof(value));
}

static void put_u32(struct nlmsghdr *n, int type, uint32_t value)
{
	fabric_put(n, type, &value, sizeof(value));
}

static void put_u64(struct nlmsghdr *n, int type, uint64_t value)
{
	fabric_put(n, type, &value, sizeof(value));
}

static int get_bytes(unsigned int *bytes, const char *text)
{
	/* tc's get_size() lets a negative number wrap around. */
	return *text == '-' || get_size(bytes, text);
}

static int value_size(int argc, char **argv, struct nlmsghdr *n, int type)
{
	unsigned int bytes;

	(void)argc;
	if (get_bytes(&bytes, argv[1]))
		return -1;
	put_u32(n, type, bytes);
	return 1;
}

static int value_rate(int argc, char **argv, struct nlmsghdr *n, int type)
{
	uint64_t rate_bps;

	(void)argc;
	if (fabric_parse_rate(&rate_bps, argv[1]))
		return -1;
	put_u64(n, type, rate_bps);
	return 1;
}

static int value_time(int argc, char **argv, struct nlmsghdr *n, int type)
{
	__s64 ns;

	(void)argc;
	if (get_time64(&ns, argv[1]) || ns < 0)
		return -1;
	put_u64(n, type, ns);
	return 1;
}

static int value_time32(int argc, char **argv, struct nlmsghdr *n, int type)
{
	__s64 ns;

	(void)argc;
	if (get_time64(&ns, argv[1]) || ns < 0 || ns > UINT32_MAX)
		return -1;
	put_u32(n, type, ns);
	return 1;
}

/* A time of a second at most; what is more goes to the kernel as more, whose refusal has the
 * range.
 */
static int value_second(int argc, char **argv, struct nlmsghdr *n, int type)
{
	__s64 ns;

	(void)argc;
	if (get_time64(&ns, argv[1]) || ns < 0)
		return -1;
	put_u32(n, type, ns > UINT32_MAX ? UINT32_MAX : ns);
	return 1;
}

static int value_u32(int argc, char **argv, struct nlmsghdr *n, int type)
{
	__u32 number;

	(void)argc;
	if (*argv[1] == '-' || get_u32(&number, argv[1], 10))
		return -1;
	put_u32(n, type, number);
	return 1;
}

/* Reads "default"-style band numbers: from 1; 0 stands for the default band. */
int fabric_get_band(uint8_t *band, const char *text)
{
	__u32 number;

	if (*text == '-' || get_u32(&number, text, 10) ||
	    number > FABRIC_BANDS_MAX)
		return -1;
	*band = number ? number - 1 : FABRIC_MAP_DEFAULT;
	return 0;
}

static int value_bands(int argc, char **argv, struct nlmsghdr *n, int type)
{
	__u32 number;

	(void)argc;
	if (*argv[1] == '-' || get_u32(&number, argv[1], 10) || number > 255)
		return -1;
	fabric_put_u8(n, type, number);
	return 1;
}

static int value_default(int argc, char **argv, struct nlmsghdr *n, int type)
{
	uint8_t band = FABRIC_MAP_DEFAULT;

	(void)argc;
	if (strcmp(argv[1], "last") &&
	    (fabric_get_band(&band, argv[1]) || band == FABRIC_MAP_DEFAULT))
		return -1;
	fabric_put_u8(n, type, band);
	return 1;
}

static int value_priomap(int argc, char **argv, struct nlmsghdr *n, int type)
{
	uint8_t map[16];
	int i;

	if (!strcmp(argv[1], "off")) {
		fabric_put(n, type, NULL, 0);
		return 1;
	}
	memset(map, FABRIC_MAP_DEFAULT, sizeof(map));
	for (i = 0; i < 16 && i + 1 < argc; i++) {
		if (fabric_get_band(&map[i], argv[i + 1]))
			break;
	}
	if (!i)
		return -1;
	fabric_put(n, type, map, sizeof(map));
	return i;
}

/* Reads "46,10-12:2:red" into the table. */
static int parse_dscp(uint8_t *map, const char *text)
{
	unsigned long low, high;
	const char *colon = strchr(text, ':');
	char number[4], *end;
	uint8_t band, colour = 0;
	size_t length;

	if (!colon)
		return -1;
	length = strcspn(colon + 1, ":");
	if (!length || length >= sizeof(number))
		return -1;
	memcpy(number, colon + 1, length);
	number[length] = 0;
	if (fabric_get_band(&band, number))
		return -1;
	if (colon[1 + length] == ':') {
		while (colour < FABRIC_COLOURS &&
		       strcmp(colon + 2 + length, fabric_colour_names[colour]))
			colour++;
		if (colour == FABRIC_COLOURS || band == FABRIC_MAP_DEFAULT)
			return -1;
	}
	do {
		if (*text < '0' || *text > '9')
			return -1;
		low = strtoul(text, &end, 0);
		high = low;
		if (*end == '-')
			high = strtoul(end + 1, &end, 0);
		if ((*end != ',' && *end != ':') || low > high || high > 63)
			return -1;
		for (; low <= high; low++)
			map[low] = band == FABRIC_MAP_DEFAULT ?
				   band : (band | colour << 4);
		text = end + 1;
	} while (*end == ',');
	return 0;
}

static int value_dscp(int argc, char **argv, struct nlmsghdr *n, int type)
{
	uint8_t map[64];
	int i;

	if (!strcmp(argv[1], "off")) {
		fabric_put(n, type, NULL, 0);
		return 1;
	}
	memset(map, FABRIC_MAP_DEFAULT, sizeof(map));
	for (i = 1; i < argc && strchr(argv[i], ':'); i++) {
		if (parse_dscp(map, argv[i]))
			return -i;
	}
	if (i == 1)
		return -1;
	fabric_put(n, type, map, sizeof(map));
	return i - 1;
}

static int value_buffer(int argc, char **argv, struct nlmsghdr *n, int type)
{
	const char *name = strcmp(argv[1], "off") ? argv[1] : "";
	unsigned int bytes;

	if (strlen(name) >= FABRIC_BUFFER_NAME_LEN) {
		fprintf(stderr, "fabric: the name of a buffer has %d characters at most\n",
			FABRIC_BUFFER_NAME_LEN - 1);
		return -1;
	}
	fabric_put(n, type, name, strlen(name) + 1);
	if (!*name || argc < 3 || *argv[2] < '0' || *argv[2] > '9')
		return 1;
	if (get_size(&bytes, argv[2]))
		return -2;
	put_u32(n, TCA_FABRIC_BUFFER_BYTES, bytes);
	return 2;
}

/* Where ECN acts. Returns whether @word was that. */
static bool parse_ecn_at(const char *word, struct nlmsghdr *n, int type)
{
	if (!strcmp(word, "enqueue"))
		fabric_put_u8(n, type, FABRIC_ECN_AT_ENQUEUE);
	else if (!strcmp(word, "dequeue"))
		fabric_put_u8(n, type, FABRIC_ECN_AT_DEQUEUE);
	else
		return false;
	return true;
}

/* The port's: SIZE|off [enqueue|dequeue]. */
static int value_ecn(int argc, char **argv, struct nlmsghdr *n, int type)
{
	if (!strcmp(argv[1], "off")) {
		put_u32(n, type, 0);
		return 1;
	}
	if (value_size(argc, argv, n, type) < 0)
		return -1;
	return argc > 2 && parse_ecn_at(argv[2], n, TCA_FABRIC_ECN_AT) ? 2 : 1;
}

/* Reads a threshold in bytes or ns. */
static int get_threshold(__u32 *value, const char *text, bool time)
{
	unsigned int bytes;
	__s64 ns;

	if (*text < '0' || *text > '9')
		return -1;
	if (time) {
		if (get_time64(&ns, text) || ns > UINT32_MAX)
			return -1;
		*value = ns;
		return 0;
	}
	if (get_bytes(&bytes, text))
		return -1;
	*value = bytes;
	return 0;
}

/* A band's: off | MIN [MAX [prob P]] [enqueue|dequeue] [drop|pass]. */
static int band_ecn(int argc, char **argv, struct nlmsghdr *n, bool time)
{
	__u32 min, max;
	double prob;
	char *end;
	int i = 2;

	if (!strcmp(argv[1], "off")) {
		put_u32(n, TCA_FABRIC_CLASS_ECN_MAX, 0);
		return 1;
	}
	if (get_threshold(&min, argv[1], time))
		return -1;
	max = min;
	if (i < argc && !get_threshold(&max, argv[i], time))
		i++;
	put_u32(n, TCA_FABRIC_CLASS_ECN_MIN, min);
	put_u32(n, TCA_FABRIC_CLASS_ECN_MAX, max);
	if (time)
		fabric_put_u8(n, TCA_FABRIC_CLASS_ECN_UNIT, FABRIC_ECN_UNIT_NS);
	if (i + 1 < argc && !strcmp(argv[i], "prob")) {
		prob = strtod(argv[i + 1], &end);
		if (*end || !(prob >= 0) || prob > 1000)
			return -(i + 1);
		put_u32(n, TCA_FABRIC_CLASS_ECN_PROB,
			prob * FABRIC_PROB_MAX + 0.5);
		i += 2;
	}
	if (i < argc && parse_ecn_at(argv[i], n, TCA_FABRIC_CLASS_ECN_AT))
		i++;
	if (i < argc &&
	    (!strcmp(argv[i], "drop") || !strcmp(argv[i], "pass"))) {
		fabric_put_u8(n, TCA_FABRIC_CLASS_ECN_DROP, *argv[i] == 'd');
		i++;
	}
	return i - 1;
}

static int value_band_ecn(int argc, char **argv, struct nlmsghdr *n, int type)
{
	(void)type;
	return band_ecn(argc, argv, n, false);
}

static int value_band_ecn_delay(int argc, char **argv, struct nlmsghdr *n,
				int type)
{
	(void)type;
	return band_ecn(argc, argv, n, true);
}

/* A word of a list. Returns its number, -1: none. */
static int word_of(const char *text, const char * const *words, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!strcmp(text, words[i]))
			return i;
	}
	return -1;
}

const char * const fabric_frames_names[4] = { "none", "tell", "hear", "both" };
const char * const fabric_queue_names[__FABRIC_QUEUE_MAX] = {
	"fifo", "isolate", "pfc", "hash"
};

const char * const fabric_role_names[__FABRIC_ROLE_MAX] = { "none", "wan", "lan" };
const char * const fabric_form_names[__FABRIC_FLOW_MAX] = { "filter", "damped", "printed" };

/* One of @count words; what is sent is the word's number. */
static int value_word(char **argv, struct nlmsghdr *n, int type, const char * const *words,
		      int count)
{
	int i = word_of(argv[1], words, count);

	if (i >= 0)
		fabric_put_u8(n, type, i);
	return i >= 0 ? 1 : -1;
}

#define VALUE_WORD(name, words, count)						\
static int value_##name(int argc, char **argv, struct nlmsghdr *n, int type)	\
{										\
	(void)argc;								\
	return value_word(argv, n, type, words, count);				\
}

VALUE_WORD(stamp, fabric_stamp_names, __FABRIC_STAMP_MAX)
VALUE_WORD(role, fabric_role_names, __FABRIC_ROLE_MAX)
VALUE_WORD(form, fabric_form_names, __FABRIC_FLOW_MAX)
VALUE_WORD(frames, fabric_frames_names, 4)

/* A kind of queue; "hash" may be followed by how many. */
static int value_queue(int argc, char **argv, struct nlmsghdr *n, int type)
{
	unsigned long queues;
	char *end;

	if (value_word(argv, n, type, fabric_queue_names, __FABRIC_QUEUE_MAX) < 0)
		return -1;
	if (strcmp(argv[1], fabric_queue_names[FABRIC_QUEUE_HASH]) || argc < 3 ||
	    *argv[2] < '0' || *argv[2] > '9')
		return 1;
	queues = strtoul(argv[2], &end, 10);
	if (*end || queues > UINT8_MAX)
		return -2;
	fabric_put_u8(n, TCA_FABRIC_CLASS_QUEUES, queues);
	return 2;
}

/* A number with a fraction, told as thousandths. */
static int value_milli(int argc, char **argv, struct nlmsghdr *n, int type)
{
	double value;
	char *end;

	(void)argc;
	value = strtod(argv[1], &end);
	if (end == argv[1] || *end || !(value >= 0) || value > 1e6)
		return -1;
	put_u32(n, type, value * 1000 + 0.5);
	return 1;
}

const struct fabric_option fabric_port_options[] = {
	{ "limit", TCA_FABRIC_LIMIT_BYTES, value_size, 0 },
	{ "rate", TCA_FABRIC_RATE_BPS, value_rate, 0 },
	{ "delay", TCA_FABRIC_DELAY_NS, value_time, 0 },
	{ "overhead", TCA_FABRIC_OVERHEAD_BYTES, value_u32, 0 },
	{ "mpu", TCA_FABRIC_MPU_BYTES, value_u32, 0 },
	{ "ecn", TCA_FABRIC_ECN_BYTES, value_ecn, 0 },
	{ "split-gso", TCA_FABRIC_SPLIT_GSO, NULL, 1 },
	{ "no-split-gso", TCA_FABRIC_SPLIT_GSO, NULL, 0 },
	{ "bands", TCA_FABRIC_BANDS, value_bands, 0 },
	{ "default", TCA_FABRIC_DEFAULT_BAND, value_default, 0 },
	{ "priomap", TCA_FABRIC_PRIOMAP, value_priomap, 0 },
	{ "dscp", TCA_FABRIC_DSCPMAP, value_dscp, 0 },
	{ "buffer", TCA_FABRIC_BUFFER_NAME, value_buffer, 0 },
	{ "switch", TCA_FABRIC_SWITCH, value_u32, 0 },
	{ "switch-port", TCA_FABRIC_SWITCH_PORT, value_bands, 0 },
	{ "speed", TCA_FABRIC_SPEED_BPS, value_rate, 0 },
	{ "hop-rtt", TCA_FABRIC_HOP_RTT_NS, value_time32, 0 },
	{ "frames", TCA_FABRIC_FRAMES, value_frames, 0 },
	{ "stamp", TCA_FABRIC_STAMP, value_stamp, 0 },
	{ "stamp-tau", TCA_FABRIC_STAMP_TAU_NS, value_second, 0 },
	{ "stamp-round", TCA_FABRIC_STAMP_ROUND_NS, value_u32, 0 },
	{ "stamp-hold", TCA_FABRIC_STAMP_HOLD_NS, value_second, 0 },
	{ "role", TCA_FABRIC_ROLE, value_role, 0 },
	{ "host-rate", TCA_FABRIC_HOST_RATE_BPS, value_rate, 0 },
	{ "flow-delay", TCA_FABRIC_FLOW_WAIT_NS, value_second, 0 },
	{ "flow-theta", TCA_FABRIC_FLOW_THETA_NS, value_second, 0 },
	{ "flow-form", TCA_FABRIC_FLOW_FORM, value_form, 0 },
	{ "flow-weight", TCA_FABRIC_FLOW_WEIGHT_MILLI, value_milli, 0 },
	{ NULL, 0, NULL, 0 }
};

const struct fabric_option fabric_band_options[] = {
	{ "strict", TCA_FABRIC_CLASS_STRICT, NULL, FABRIC_FLAG_PRESENT },
	{ "weight", TCA_FABRIC_CLASS_WEIGHT, value_u32, 0 },
	{ "quantum", TCA_FABRIC_CLASS_QUANTUM_BYTES, value_size, 0 },
	{ "limit", TCA_FABRIC_CLASS_LIMIT_BYTES, value_size, 0 },
	{ "queue", TCA_FABRIC_CLASS_QUEUE, value_queue, 0 },
	{ "packets", TCA_FABRIC_CLASS_LIMIT_PACKETS, value_u32, 0 },
	{ "rate", TCA_FABRIC_CLASS_RATE_BPS, value_rate, 0 },
	{ "burst", TCA_FABRIC_CLASS_BURST_BYTES, value_size, 0 },
	{ "each", TCA_FABRIC_CLASS_EACH_BYTES, value_size, 0 },
	{ "ecn", TCA_FABRIC_CLASS_ECN_MAX, value_band_ecn, 0 },
	{ "ecn-delay", TCA_FABRIC_CLASS_ECN_MAX, value_band_ecn_delay, 0 },
	{ "green", TCA_FABRIC_CLASS_GREEN_BYTES, value_size, 0 },
	{ "yellow", TCA_FABRIC_CLASS_YELLOW_BYTES, value_size, 0 },
	{ "red", TCA_FABRIC_CLASS_RED_BYTES, value_size, 0 },
	{ "reserved", TCA_FABRIC_CLASS_RESERVED_BYTES, value_size, 0 },
	{ "alpha", TCA_FABRIC_CLASS_ALPHA_MILLI, value_milli, 0 },
	{ NULL, 0, NULL, 0 }
};

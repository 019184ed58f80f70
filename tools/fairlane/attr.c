// SPDX-License-Identifier: GPL-2.0
/* Attributes of a socket and the names of what the kernel tells by number. */
#include "tool.h"

#include <ctype.h>
#include <netinet/tcp.h>
#include <string.h>

const struct attr_def attrs[FAIRLANE_ATTRS] = {
	[FAIRLANE_PRIORITY] = { "prio", "prio", 0, FL_PRIORITY_MAX,
				"an integer from 0 (lowest) to 15" },
	[FAIRLANE_WEIGHT] = { "weight", "weight", FL_WEIGHT_MIN_MILLI,
			      FL_WEIGHT_MAX_MILLI,
			      "a number from 0.001 to 1000 with up to three decimals" },
	[FAIRLANE_BASE_RTT] = { "base-rtt", "base_rtt_ns", FL_BASE_RTT_MIN_NS,
				FL_BASE_RTT_MAX_NS,
				"a time with its unit from 100ns to 1s, such as 12us" },
	[FAIRLANE_LINE_RATE] = { "line-rate", "line_rate_mbps",
				 FL_LINE_RATE_MIN_MBPS, FL_LINE_RATE_MAX_MBPS,
				 "a rate with its unit from 1mbit to 1.6tbit, such as 25gbit" },
	[FAIRLANE_DEADLINE] = { "deadline", "deadline_us", FL_DEADLINE_MIN_US,
				FL_DEADLINE_MAX_US,
				"a time with its unit from 1us to 1000s, such as 5ms" },
};

/* The number that @s means for the attribute, not yet checked for its range. */
static bool attr_value(enum fairlane_attr attr, const char *s, uint64_t *v)
{
	switch (attr) {
	case FAIRLANE_WEIGHT:
		return parse_milli(s, v);
	case FAIRLANE_BASE_RTT:
		return parse_time_ns(s, v);
	case FAIRLANE_LINE_RATE:
		if (!parse_rate_bps(s, v) || *v % 1000000)
			return false;
		*v /= 1000000;
		return true;
	case FAIRLANE_DEADLINE:
		if (!parse_time_ns(s, v) || *v % 1000)
			return false;
		*v /= 1000;
		return true;
	default:
		return parse_u64(s, 10, UINT32_MAX, v);
	}
}

/**
 * attr_parse() - value of an attribute; a bad one ends the program
 * @attr: which
 * @s: the word
 * @unset_allowed: "default" takes a setting back
 *
 * Return: the value, or FAIRLANE_UNSET.
 */
uint32_t attr_parse(enum fairlane_attr attr, const char *s, bool unset_allowed)
{
	const struct attr_def *d = &attrs[attr];
	uint64_t v;

	if (!strcmp(s, "default")) {
		if (!unset_allowed)
			fail("%s default: leave it out instead", d->word);
		return FAIRLANE_UNSET;
	}
	if (!attr_value(attr, s, &v) || v < d->min || v > d->max)
		fail("%s %s: %s is wanted%s", d->word, s, d->what,
		     unset_allowed ? ", or default" : "");
	return v;
}

/* As attr_parse() reads it. */
const char *attr_show(enum fairlane_attr attr, uint32_t value)
{
	static char text[8][32];
	static unsigned int next;
	char *t = text[next++ % ARRAY_SIZE(text)];

	if (value == FAIRLANE_UNSET)
		return "default";
	switch (attr) {
	case FAIRLANE_WEIGHT:
		return show_milli(value);
	case FAIRLANE_BASE_RTT:
		return show_time(value);
	case FAIRLANE_LINE_RATE:
		return show_rate(value * 1e6);
	case FAIRLANE_DEADLINE:
		return show_time(value * 1000ULL);
	default:
		snprintf(t, sizeof(text[0]), "%u", value);
		return t;
	}
}

/* null: not set. A weight is a number with decimals, the rest are integers. */
void attr_json(cJSON *obj, enum fairlane_attr attr, uint32_t value)
{
	const char *key = attrs[attr].json;

	if (value == FAIRLANE_UNSET)
		cJSON_AddNullToObject(obj, key);
	else if (attr == FAIRLANE_WEIGHT)
		cJSON_AddItemToObject(obj, key,
				      cJSON_CreateRaw(show_milli(value)));
	else
		json_u64(obj, key, value);
}

/**
 * word_setting() - take "prio 5" and the like
 * @w: the command line
 * @list: room for FAIRLANE_ATTRS settings
 * @n: how many there are
 * @unset_allowed: "default" takes a setting back
 *
 * Return: whether the next words were a setting.
 */
bool word_setting(struct words *w, struct fairlane_setting *list, size_t *n, bool unset_allowed)
{
	enum fairlane_attr attr;
	size_t i;

	for (attr = 0; attr < FAIRLANE_ATTRS; attr++)
		if (word_is(w, attrs[attr].word))
			break;
	if (attr == FAIRLANE_ATTRS)
		return false;
	for (i = 0; i < *n; i++)
		if (list[i].attr == attr)
			fail("\"%s\" twice", attrs[attr].word);
	list[*n].attr = attr;
	list[*n].value = attr_parse(attr, word_value(w, attrs[attr].word),
				    unset_allowed);
	(*n)++;
	return true;
}

/* Where a number comes from: enum fl_from. */
const char *name_of_source(unsigned int source)
{
	static const char *const names[__FL_FROM_COUNT] = {
		[FL_FROM_DEFAULT] = "default",
		[FL_FROM_SO_PRIORITY] = "so_priority",
		[FL_FROM_SOCKOPT] = "setsockopt",
		[FL_FROM_NETLINK] = "netlink",
		[FL_FROM_LISTENER] = "listener",
		[FL_FROM_POLICY] = "policy",
		[FL_FROM_NETNS] = "set",
		[FL_FROM_PROFILE] = "profile",
		[FL_FROM_DEVICE] = "device",
		[FL_FROM_MEASURED] = "measured",
		[FL_FROM_DERIVED] = "derived",
		[FL_FROM_LIMIT] = "limit",
		[FL_FROM_ASSUMED] = "assumed",
	};

	return source < ARRAY_SIZE(names) ? names[source] : "unknown";
}

static const char *const tcp_names[] = {
	[TCP_ESTABLISHED] = "established", [TCP_SYN_SENT] = "syn-sent",
	[TCP_SYN_RECV] = "syn-recv", [TCP_FIN_WAIT1] = "fin-wait-1",
	[TCP_FIN_WAIT2] = "fin-wait-2", [TCP_TIME_WAIT] = "time-wait",
	[TCP_CLOSE] = "closed", [TCP_CLOSE_WAIT] = "close-wait",
	[TCP_LAST_ACK] = "last-ack", [TCP_LISTEN] = "listening",
	[TCP_CLOSING] = "closing", [12] = "syn-recv",
};

const char *name_of_tcp(unsigned int state)
{
	return state < ARRAY_SIZE(tcp_names) && tcp_names[state] ?
	       tcp_names[state] : "unknown";
}

/* A state's name, or connected (not listening, not closed), or all. */
bool parse_tcp_states(const char *s, uint32_t *mask)
{
	size_t i;

	if (!strcmp(s, "all")) {
		*mask = 0xffe & ~(1U << TCP_TIME_WAIT);
		return true;
	}
	if (!strcmp(s, "connected")) {
		*mask = 0xffe & ~(1U << TCP_TIME_WAIT | 1U << TCP_LISTEN |
				  1U << TCP_CLOSE);
		return true;
	}
	for (i = 1; i < 12; i++)
		if (!strcmp(s, tcp_names[i])) {
			*mask = 1U << i;
			return i != TCP_TIME_WAIT;
		}
	return false;
}

/* What a flow does: enum fl_state. */
const char *name_of_state(unsigned int state)
{
	static const char *const names[__FL_STATE_COUNT] = {
		[FL_STATE_NONE] = "none", [FL_STATE_START] = "start",
		[FL_STATE_SENDING] = "sending",
		[FL_STATE_STOPPED] = "stopped",
		[FL_STATE_FALLBACK] = "fallback",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

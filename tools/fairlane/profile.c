// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane profile: numbers of the congestion controls, for the namespace and by
 * destination. Names, ranges and defaults come from the kernel, so that this
 * file need not know them; units are the endings of the names.
 */
#include "ask.h"

#include <errno.h>
#include <netlink/genl/genl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char usage[] =
"usage: fairlane profile show [dst PREFIX]\n"
"       fairlane profile set [dst PREFIX] NAME VALUE [NAME VALUE ...]\n"
"       fairlane profile del dst PREFIX\n"
"NAME as profile show prints it, its ending is the unit: \"fluct_ns 4000\"; without\n"
"the ending the value has one: \"fluct 4us\". VALUE \"default\" takes it back.\n"
"Without dst: the namespace's, the same as sysctl net.fairlane. The longest prefix\n"
"that has the destination wins; what a profile does not set is the namespace's.\n";

/* What 0 means, where it means something else than zero. */
static const struct {
	const char *name;
	const char *from;
	const char *what;
} derived[] = {
	{ "line_rate_mbps", "device", "the device's, else 10gbit; see line_rate_measured" },
	{ "base_rtt_ns", "measured", "the smallest RTT that each flow has seen" },
	{ "swift_target_ns", "derived", "the channel of the socket's priority" },
	{ "ledbat_target_ns", "derived", "the channel of the socket's priority" },
	{ "soze_alpha_mbps", "derived", "the line rate" },
	{ "gso_segs", "derived", "half of the noise at the line rate; telemetry's: the RTT" },
};

/**
 * struct setting - one number
 * @name: as sysctl has it
 * @value: in the unit of its name
 * @from: enum fl_from
 * @has_range: the three below are known
 * @initial: default
 * @min: smallest
 * @max: largest
 * @research: for researchers
 */
struct setting {
	char name[32];
	uint32_t value;
	uint8_t from;
	bool has_range;
	uint32_t initial;
	uint32_t min;
	uint32_t max;
	bool research;
};

/**
 * struct profile - a set of numbers
 * @dst: for these destinations; family 0: the namespace's
 * @flows: that use it now
 * @list: the numbers
 * @n: how many
 */
struct profile {
	struct prefix dst;
	uint32_t flows;
	struct setting list[64];
	size_t n;
};

struct profiles {
	struct profile *p;
	size_t n;
};

static bool ends_with(const char *s, const char *end)
{
	size_t a = strlen(s), b = strlen(end);

	return a > b && !strcmp(s + a - b, end);
}

/* A number with the unit of its name. */
static const char *show_setting(const char *name, uint32_t value)
{
	static char text[4][24];
	static unsigned int next;
	char *t = text[next++ % ARRAY_SIZE(text)];

	if (ends_with(name, "_ns"))
		return show_time(value);
	if (ends_with(name, "_us"))
		return show_time(value * 1000ULL);
	if (ends_with(name, "_mbps"))
		return show_rate(value * 1e6);
	if (ends_with(name, "_bytes"))
		snprintf(t, sizeof(text[0]), "%uB", value);
	else
		snprintf(t, sizeof(text[0]), "%u", value);
	return t;
}

/* ---- reading -------------------------------------------------------------- */

static void add_setting(struct profile *p, struct nlattr *nest)
{
	struct nlattr *a[FL_A_SETTING_MAX + 1];
	struct setting *s = &p->list[p->n];

	if (p->n == ARRAY_SIZE(p->list) ||
	    nla_parse_nested(a, FL_A_SETTING_MAX, nest, NULL) ||
	    !a[FL_A_SETTING_NAME])
		return;
	memset(s, 0, sizeof(*s));
	fl_string(a, FL_A_SETTING_NAME, s->name, sizeof(s->name));
	s->value = fl_u32(a, FL_A_SETTING_VALUE);
	s->from = fl_u8(a, FL_A_SETTING_FROM);
	s->has_range = a[FL_A_SETTING_HIGHEST];
	s->initial = fl_u32(a, FL_A_SETTING_DEFAULT);
	s->min = fl_u32(a, FL_A_SETTING_LOWEST);
	s->max = fl_u32(a, FL_A_SETTING_HIGHEST);
	s->research = a[FL_A_SETTING_RESEARCH];
	p->n++;
}

/* A message has many settings, so it is walked: the table has one of each. */
static int on_profile(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct profiles *list = arg;
	struct profile *p;
	struct nlattr *nest;
	int rest;

	list->p = xgrow(list->p, list->n, sizeof(*list->p));
	p = &list->p[list->n++];
	memset(p, 0, sizeof(*p));
	if (a[FL_A_PROFILE_ADDR]) {
		p->dst.family = fl_u8(a, FL_A_PROFILE_FAMILY);
		p->dst.len = fl_u8(a, FL_A_PROFILE_BITS);
		fl_address(a, FL_A_PROFILE_ADDR, p->dst.addr);
	}
	p->flows = fl_u32(a, FL_A_PROFILE_FLOWS);
	nla_for_each_attr(nest, genlmsg_attrdata(nlmsg_data(h), 0),
			  genlmsg_attrlen(nlmsg_data(h), 0), rest)
		if (nla_type(nest) == FL_A_PROFILE_SETTING)
			add_setting(p, nest);
	return 0;
}

static void read_profiles(struct profiles *list)
{
	struct fairlane *f;

	memset(list, 0, sizeof(*list));
	if (fairlane_open(&f))
		fail_kernel("the kernel module fairlane is not loaded (modprobe fairlane)");
	ask_do(f, ask_message(f, FL_CMD_PROFILE_GET, NLM_F_DUMP), on_profile,
	       FL_A_PROFILE_MAX, list, "profile show");
	fairlane_close(f);
}

/* ---- showing ---------------------------------------------------------------- */

/* What the number comes from, and what 0 stands for. */
static const char *origin(const struct setting *s, const char **what)
{
	size_t i;

	*what = NULL;
	for (i = 0; i < ARRAY_SIZE(derived) && !s->value; i++)
		if (!strcmp(s->name, derived[i].name)) {
			*what = derived[i].what;
			return derived[i].from;
		}
	return name_of_source(s->from);
}

static void print_setting(const struct setting *s)
{
	const char *what, *from = origin(s, &what);

	printf("  %-21s %-10s %s", s->name, what ? "-" :
	       show_setting(s->name, s->value), from);
	if (what)
		printf(": %s", what);
	if (opt.details && s->has_range)
		printf(", default %u, range %u to %u", s->initial, s->min,
		       s->max);
	putchar('\n');
}

/* What operators set comes first; the rest is under a heading of its own. */
static void print_profile(const struct profile *p)
{
	bool headed = false;
	size_t i;

	if (p->dst.family)
		printf("dst %s (%u flows)\n", show_prefix(&p->dst), p->flows);
	else
		printf("namespace\n");
	for (i = 0; i < p->n; i++)
		if (!p->list[i].research)
			print_setting(&p->list[i]);
	for (i = 0; i < p->n; i++) {
		if (!p->list[i].research)
			continue;
		if (!headed)
			printf(" research\n");
		headed = true;
		print_setting(&p->list[i]);
	}
}

/* Add a profile to the array @doc. */
static void add_json(cJSON *doc, const struct profile *p)
{
	cJSON *obj = cJSON_CreateObject(), *list;
	const char *what, *from;
	size_t i;

	if (p->dst.family)
		cJSON_AddStringToObject(obj, "dst", show_prefix(&p->dst));
	else
		cJSON_AddNullToObject(obj, "dst");
	if (p->dst.family)
		json_u64(obj, "flows", p->flows);
	list = cJSON_AddObjectToObject(obj, "settings");
	for (i = 0; i < p->n; i++) {
		const struct setting *s = &p->list[i];
		cJSON *item = cJSON_AddObjectToObject(list, s->name);

		from = origin(s, &what);
		json_u64(item, "value", s->value);
		cJSON_AddStringToObject(item, "from", from);
		if (s->has_range) {
			json_u64(item, "default", s->initial);
			json_u64(item, "min", s->min);
			json_u64(item, "max", s->max);
		}
		cJSON_AddBoolToObject(item, "research", s->research);
	}
	cJSON_AddItemToArray(doc, obj);
}

/* dst PREFIX, perhaps; an address alone is a prefix of full length. */
static bool read_dst(struct words *w, struct prefix *dst)
{
	const char *s;

	memset(dst, 0, sizeof(*dst));
	if (!word_is(w, "dst"))
		return false;
	s = word_value(w, "dst");
	if (!parse_prefix(s, false, dst) || !dst->family)
		fail("dst %s: an address or a prefix is wanted, such as 10.0.0.0/8 or fd00::/16 (no address bits behind the prefix)",
		     s);
	return true;
}

static bool same_prefix(const struct prefix *a, const struct prefix *b)
{
	return a->family == b->family && a->len == b->len &&
	       !memcmp(a->addr, b->addr, 16);
}

static int profile_show(struct words *w)
{
	cJSON *doc = cJSON_CreateArray();
	struct profiles list;
	struct prefix dst;
	size_t i, shown = 0;
	bool one;

	one = read_dst(w, &dst);
	words_end(w);
	read_profiles(&list);
	for (i = 0; i < list.n; i++) {
		if (one && !same_prefix(&dst, &list.p[i].dst))
			continue;
		shown++;
		if (opt.json)
			add_json(doc, &list.p[i]);
		else
			print_profile(&list.p[i]);
	}
	free(list.p);
	if (one && !shown)
		fail_kernel("there is no profile for %s", show_prefix(&dst));
	if (opt.json)
		json_print(doc);
	else
		cJSON_Delete(doc);
	return EXIT_OK;
}

/* ---- changing ----------------------------------------------------------------- */

/**
 * struct wish - a setting as the user gave it
 * @name: full name
 * @reset: back to the default
 * @value: else this
 */
struct wish {
	char name[32];
	bool reset;
	uint32_t value;
};

/* A value that has its unit. Names without a unit take plain numbers only. */
static bool parse_in_unit(const char *name, const char *s, uint64_t *v)
{
	uint64_t grain = ends_with(name, "_ns") ? 1 :
			 ends_with(name, "_us") ? 1000 : 0;

	if (grain && !parse_time_ns(s, v))
		return false;
	if (!grain) {
		grain = 1000000;
		if (!ends_with(name, "_mbps") || !parse_rate_bps(s, v))
			return false;
	}
	if (*v % grain)
		return false;
	*v /= grain;
	return true;
}

/* Does the name end with a unit that values can be given in? */
static bool has_unit(const char *name)
{
	return ends_with(name, "_ns") || ends_with(name, "_us") ||
	       ends_with(name, "_mbps");
}

/* How many characters of a setting's name are not its unit. */
size_t setting_stem(const char *name)
{
	static const char *const units[] = { "_ns", "_us", "_mbps", "_bytes", "_permille" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (ends_with(name, units[i]))
			return strlen(name) - strlen(units[i]);
	return strlen(name);
}

/* Is @word the setting @name, perhaps without its unit? */
static bool names_setting(const char *word, const char *name)
{
	size_t len = strlen(word);

	return !strcmp(word, name) ||
	       (len == setting_stem(name) && !strncmp(word, name, len));
}

/* How somebody writes such a value. */
static const char *example_of(const char *name)
{
	return ends_with(name, "_mbps") ? "25gbit" : "12us";
}

static void read_wish(struct wish *wish, const struct profile *known,
		      const char *word, const char *s)
{
	const struct setting *found = NULL;
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < known->n && !found; i++)
		if (names_setting(word, known->list[i].name))
			found = &known->list[i];
	if (!found && (!strcmp(word, "off") || !strcmp(word, "share_permille")))
		fail("%s is no setting of a profile: fairlane off, fairlane on share P%% set it",
		     word);
	if (!found)
		fail("no loaded module has a setting \"%s\" (\"fairlane profile show\" lists all that are there; modprobe brings those of another module)%s",
		     word, opt.keys);
	memcpy(wish->name, found->name, sizeof(wish->name));
	wish->reset = !strcmp(s, "default");
	if (wish->reset)
		return;
	if (!has_unit(found->name)) {
		if (!parse_u64(s, 10, UINT64_MAX, &v))
			fail("%s %s: an integer is wanted", word, s);
	/* a bare number has the unit that the full name says */
	} else if (!parse_in_unit(found->name, s, &v) &&
		   (!parse_u64(s, 10, UINT64_MAX, &v) || strcmp(word, found->name))) {
		fail("%s %s: a value with its unit is wanted, such as %s, or the full name %s and an integer",
		     word, s, example_of(found->name), found->name);
	}
	if (found->has_range ? v < found->min || v > found->max : v > UINT32_MAX)
		fail("%s %s: the range is %s to %s", word, s,
		     show_setting(found->name, found->min),
		     show_setting(found->name, found->has_range ? found->max : UINT32_MAX));
	wish->value = v;
}

static void put_prefix(struct nl_msg *msg, const struct prefix *dst)
{
	if (!dst->family)
		return;
	ask_u8(msg, FL_A_PROFILE_FAMILY, dst->family);
	ask_bytes(msg, FL_A_PROFILE_ADDR, dst->addr,
		  dst->family == AF_INET ? 4 : 16);
	ask_u8(msg, FL_A_PROFILE_BITS, dst->len);
}

static void send_wishes(const struct prefix *dst, const struct wish *list,
			size_t n)
{
	struct fairlane *f = connect_module();
	struct nl_msg *msg = ask_message(f, FL_CMD_PROFILE_SET, 0);
	size_t i;

	put_prefix(msg, dst);
	for (i = 0; i < n; i++) {
		struct nlattr *nest = nla_nest_start(msg, FL_A_PROFILE_SETTING |
						     NLA_F_NESTED);

		ask_text(msg, FL_A_SETTING_NAME, list[i].name);
		if (!list[i].reset)
			ask_u32(msg, FL_A_SETTING_VALUE, list[i].value);
		nla_nest_end(msg, nest);
	}
	ask_do(f, msg, NULL, 0, NULL, "profile set");
	fairlane_close(f);
}

static int profile_set(struct words *w)
{
	struct profiles known;
	struct wish list[64];
	struct prefix dst;
	size_t n = 0, i;

	read_dst(w, &dst);
	if (!words_left(w))
		fail("profile set: NAME VALUE is wanted (profile show lists the names)");
	read_profiles(&known);
	while (words_left(w)) {
		const char *word = word_next(w);

		if (n == ARRAY_SIZE(list))
			fail("profile set: at most %zu at once",
			     ARRAY_SIZE(list));
		read_wish(&list[n], &known.p[0], word, word_value(w, word));
		for (i = 0; i < n; i++)
			if (!strcmp(list[i].name, list[n].name))
				fail("\"%s\" twice", list[n].name);
		n++;
	}
	if (!opt.check_only)
		send_wishes(&dst, list, n);
	free(known.p);
	json_done();
	return EXIT_OK;
}

static int profile_del(struct words *w)
{
	struct fairlane *f;
	struct nl_msg *msg;
	struct prefix dst;

	if (!read_dst(w, &dst))
		fail("profile del: which one? (dst PREFIX)");
	words_end(w);
	if (opt.check_only)
		return EXIT_OK;
	f = connect_module();
	msg = ask_message(f, FL_CMD_PROFILE_DEL, 0);
	put_prefix(msg, &dst);
	ask_do(f, msg, NULL, 0, NULL, "profile del");
	fairlane_close(f);
	json_done();
	return EXIT_OK;
}

/* What was set, as commands or into an array. */
void profile_save(FILE *out, cJSON *doc)
{
	struct profiles list;
	size_t i, j;

	read_profiles(&list);
	for (i = 0; i < list.n; i++) {
		const struct profile *p = &list.p[i];
		const uint8_t own = p->dst.family ? FL_FROM_PROFILE :
				    FL_FROM_NETNS;
		size_t n = 0;

		if (doc)
			add_json(doc, p);
		for (j = 0; j < p->n && out; j++) {
			if (p->list[j].from != own)
				continue;
			if (!n++)
				fprintf(out, "profile set%s%s",
					p->dst.family ? " dst " : "",
					p->dst.family ? show_prefix(&p->dst) :
					"");
			fprintf(out, " %s %u", p->list[j].name,
				p->list[j].value);
		}
		if (n)
			fputc('\n', out);
	}
	free(list.p);
}

/* Commands that take back what was set. */
void profile_reset(FILE *out)
{
	struct profiles list;
	size_t i, j;

	read_profiles(&list);
	for (i = 0; i < list.n; i++) {
		const struct profile *p = &list.p[i];
		size_t n = 0;

		if (p->dst.family) {
			fprintf(out, "profile del dst %s\n",
				show_prefix(&p->dst));
			continue;
		}
		for (j = 0; j < p->n; j++)
			if (p->list[j].from == FL_FROM_NETNS)
				fprintf(out, "%s %s default",
					n++ ? "" : "profile set",
					p->list[j].name);
		if (n)
			fputc('\n', out);
	}
	free(list.p);
}

int cmd_profile(struct words *w)
{
	static const struct command commands[] = {
		{ "show", profile_show }, { "list", profile_show },
		{ "set", profile_set }, { "del", profile_del },
		{ "delete", profile_del },
	};

	return command_run(commands, ARRAY_SIZE(commands), "command", "show",
			   usage, w);
}

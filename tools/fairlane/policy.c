// SPDX-License-Identifier: GPL-2.0
/* fairlane policy: rules that give sockets their settings at connect and accept.
 * Tried in their order, the first that fits decides.
 */
#include "ask.h"
#include "classes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char usage[] =
"usage: fairlane policy show [order N]\n"
"       fairlane policy add [order N] MATCH SETTINGS [comment TEXT] [apply]\n"
"       fairlane policy replace order N MATCH SETTINGS [comment TEXT] [apply]\n"
"       fairlane policy del order N\n"
"       fairlane policy flush\n"
"       fairlane policy apply\n"
"MATCH:    [when connect|accept] [family ipv4|ipv6] [src PREFIX] [dst PREFIX]\n"
"          [sport PORT[-PORT]] [dport PORT[-PORT]] [uid USER[-USER]]\n"
"          [cgroup PATH] [cc NAME] [dscp N]; src, sport and dscp are the socket's own\n"
"SETTINGS: [prio N] [weight W] [base-rtt TIME] [line-rate RATE] [deadline TIME]\n"
"The first that fits decides. They act on new connections; \"apply\" sends all live\n"
"sockets through them again.\n";

/* The settings' attributes, by enum fairlane_attr. */
static const int value_attr[FAIRLANE_ATTRS] = {
	[FAIRLANE_PRIORITY] = FL_A_POLICY_PRIORITY,
	[FAIRLANE_WEIGHT] = FL_A_POLICY_WEIGHT_MILLI,
	[FAIRLANE_BASE_RTT] = FL_A_POLICY_BASE_RTT_NS,
	[FAIRLANE_LINE_RATE] = FL_A_POLICY_LINE_RATE_MBPS,
	[FAIRLANE_DEADLINE] = FL_A_POLICY_DEADLINE_US,
};

/**
 * struct policy - one rule
 * @order: its place and name; 0: not given
 * @when: FL_WHEN_*, 0: both
 * @family: 0: any
 * @src: own address
 * @dst: peer's address
 * @sport: own ports; 0, 0: any
 * @dport: peer's ports
 * @uid_min: owner of the socket
 * @uid_max: UINT32_MAX: any
 * @cgroup: path, or ""
 * @cgroup_id: 0: any
 * @cc: congestion control, or ""
 * @has_dscp: @dscp holds
 * @dscp: of what the socket sends
 * @list: settings
 * @n: how many
 * @comment: for people
 * @hits: sockets that it decided for
 * @apply: send live sockets through the policies afterwards
 */
struct policy {
	uint32_t order;
	uint32_t when;
	uint8_t family;
	struct prefix src;
	struct prefix dst;
	uint16_t sport[2];
	uint16_t dport[2];
	uint32_t uid_min;
	uint32_t uid_max;
	char cgroup[4096];
	uint64_t cgroup_id;
	char cc[16];
	bool has_dscp;
	uint8_t dscp;
	struct fairlane_setting list[FAIRLANE_ATTRS];
	size_t n;
	char comment[FL_COMMENT_LEN];
	uint64_t hits;
	bool apply;
};

/* ---- from the command line ---------------------------------------------- */

static void take_word(char *to, size_t size, const char *key, const char *s)
{
	const char *p;

	if (snprintf(to, size, "%s", s) >= (int)size)
		fail("%s: at most %zu characters", key, size - 1);
	for (p = s; *p; p++)
		if (iscntrl((unsigned char)*p))
			fail("%s: control characters cannot be in it", key);
	if (!is_utf8(to))
		fail("%s: it is not UTF-8", key);
}

static void take_prefix(struct policy *p, const char *key, const char *s,
			struct prefix *prefix)
{
	if (!parse_prefix(s, false, prefix))
		fail("%s %s: an address or a prefix is wanted, such as 10.0.0.0/8 or fd00::/16 (no address bits behind the prefix; ports go to sport, dport)",
		     key, s);
	if (prefix->family && p->family && prefix->family != p->family)
		fail("%s %s: IPv4 and IPv6 in one policy", key, s);
	if (prefix->family)
		p->family = prefix->family;
}

static void take_when(struct policy *p, const char *s)
{
	if (!strcmp(s, "connect"))
		p->when |= FL_WHEN_CONNECT;
	else if (!strcmp(s, "accept"))
		p->when |= FL_WHEN_ACCEPT;
	else
		fail("when %s: connect or accept is wanted", s);
}

static void take_family(struct policy *p, const char *s)
{
	uint8_t family = !strcmp(s, "ipv4") || !strcmp(s, "inet") ? AF_INET :
			 !strcmp(s, "ipv6") || !strcmp(s, "inet6") ? AF_INET6 :
			 0;

	if (!family)
		fail("family %s: ipv4 or ipv6 is wanted", s);
	if (p->family && p->family != family)
		fail("family %s: the prefixes are of the other one", s);
	p->family = family;
}

/* A user, or a range of numbers. */
static void take_uids(struct policy *p, const char *s)
{
	const char *dash = strchr(s, '-');
	uint64_t a, b;

	if (dash) {
		char *first = xprintf("%.*s", (int)(dash - s), s);
		bool ok = parse_u64(first, 10, UINT32_MAX - 1, &a) &&
			  parse_u64(dash + 1, 10, UINT32_MAX - 1, &b);

		free(first);
		if (ok && a <= b) {
			p->uid_min = a;
			p->uid_max = b;
			return;
		}
	}
	p->uid_min = parse_uid(s);
	p->uid_max = p->uid_min;
}

static void take_cgroup(struct policy *p, const char *s)
{
	if (!cgroup_number(s, &p->cgroup_id))
		take_word(p->cgroup, sizeof(p->cgroup), "cgroup", cgroup_word(s));
}

/* One condition; false: the next word is none. */
static bool take_match(struct policy *p, struct words *w)
{
	if (word_is(w, "dscp")) {
		p->dscp = need_u32("dscp", word_value(w, "dscp"), 0, 63);
		p->has_dscp = true;
	} else if (word_is(w, "when")) {
		take_when(p, word_more(w, "when"));
	} else if (word_is(w, "family")) {
		take_family(p, word_value(w, "family"));
	} else if (word_is(w, "src")) {
		take_prefix(p, "src", word_value(w, "src"), &p->src);
	} else if (word_is(w, "dst")) {
		take_prefix(p, "dst", word_value(w, "dst"), &p->dst);
	} else if (word_is(w, "uid")) {
		take_uids(p, word_value(w, "uid"));
	} else if (word_is(w, "cgroup")) {
		take_cgroup(p, word_value(w, "cgroup"));
	} else if (word_is(w, "cc")) {
		take_word(p->cc, sizeof(p->cc), "cc", word_value(w, "cc"));
	} else {
		return false;
	}
	return true;
}

static bool take_ports(struct words *w, const char *key, uint16_t *ports)
{
	const char *s;

	if (!word_is(w, key))
		return false;
	s = word_value(w, key);
	if (!parse_ports(s, &ports[0], &ports[1]))
		fail("%s %s: a port or a range of ports from 1 to 65535 is wanted, such as 80 or 5000-5010",
		     key, s);
	return true;
}

static void read_policy(struct policy *p, struct words *w)
{
	memset(p, 0, sizeof(*p));
	p->uid_max = UINT32_MAX;
	while (words_left(w)) {
		if (word_is(w, "order"))
			p->order = need_u32("order", word_value(w, "order"), 1,
					    UINT32_MAX);
		else if (word_is(w, "comment"))
			take_word(p->comment, sizeof(p->comment), "comment",
				  word_text(w, "comment"));
		else if (word_is(w, "apply"))
			p->apply = true;
		else if (!take_ports(w, "sport", p->sport) &&
			 !take_ports(w, "dport", p->dport) &&
			 !take_match(p, w) &&
			 !word_setting(w, p->list, &p->n, false))
			words_end(w);
	}
	if (!p->n)
		fail("policy: nothing to set (prio, weight, base-rtt, line-rate, deadline)");
}

/* ---- to the kernel --------------------------------------------------------- */

static void put_prefix(struct nl_msg *msg, const struct prefix *p, int addr,
		       int bits)
{
	if (!p->family)
		return;
	ask_bytes(msg, addr, p->addr, p->family == AF_INET ? 4 : 16);
	ask_u8(msg, bits, p->len);
}

static void put_ports(struct nl_msg *msg, const uint16_t *ports, int min)
{
	if (!ports[1])
		return;
	ask_u16(msg, min, ports[0]);
	ask_u16(msg, min + 1, ports[1]);
}

static void put_policy(struct nl_msg *msg, const struct policy *p)
{
	size_t i;

	if (p->order)
		ask_u32(msg, FL_A_POLICY_ORDER, p->order);
	if (p->when)
		ask_u32(msg, FL_A_POLICY_WHEN, p->when);
	if (p->family)
		ask_u8(msg, FL_A_POLICY_FAMILY, p->family);
	put_prefix(msg, &p->src, FL_A_POLICY_LADDR, FL_A_POLICY_LADDR_BITS);
	put_prefix(msg, &p->dst, FL_A_POLICY_RADDR, FL_A_POLICY_RADDR_BITS);
	put_ports(msg, p->sport, FL_A_POLICY_LPORT_MIN);
	put_ports(msg, p->dport, FL_A_POLICY_RPORT_MIN);
	if (p->uid_max != UINT32_MAX) {
		ask_u32(msg, FL_A_POLICY_UID_MIN, p->uid_min);
		ask_u32(msg, FL_A_POLICY_UID_MAX, p->uid_max);
	}
	if (p->cgroup[0])
		ask_text(msg, FL_A_POLICY_CGROUP, p->cgroup);
	else if (p->cgroup_id)
		ask_u64(msg, FL_A_POLICY_CGROUP_ID, p->cgroup_id);
	if (p->cc[0])
		ask_text(msg, FL_A_POLICY_CC, p->cc);
	if (p->has_dscp)
		ask_u8(msg, FL_A_POLICY_DSCP, p->dscp);
	if (p->comment[0])
		ask_text(msg, FL_A_POLICY_COMMENT, p->comment);
	for (i = 0; i < p->n; i++)
		ask_u32(msg, value_attr[p->list[i].attr], p->list[i].value);
}

/* ---- from the kernel --------------------------------------------------------- */

static void get_prefix(struct nlattr **a, uint8_t family, int addr, int bits,
		       struct prefix *p)
{
	if (!a[addr])
		return;
	p->family = family ? family :
		    nla_len(a[addr]) == 4 ? AF_INET : AF_INET6;
	fl_address(a, addr, p->addr);
	p->len = a[bits] ? fl_u8(a, bits) : nla_len(a[addr]) * 8;
}

static uint16_t get_u16(struct nlattr **a, int nr)
{
	return a[nr] && nla_len(a[nr]) >= 2 ? nla_get_u16(a[nr]) : 0;
}

static void get_ports(struct nlattr **a, int min, uint16_t *ports)
{
	ports[0] = get_u16(a, min);
	ports[1] = a[min + 1] ? get_u16(a, min + 1) : ports[0];
}

static void get_policy(struct nlattr **a, struct policy *p)
{
	enum fairlane_attr attr;

	memset(p, 0, sizeof(*p));
	p->order = fl_u32(a, FL_A_POLICY_ORDER);
	p->when = fl_u32(a, FL_A_POLICY_WHEN);
	p->family = fl_u8(a, FL_A_POLICY_FAMILY);
	get_prefix(a, p->family, FL_A_POLICY_LADDR, FL_A_POLICY_LADDR_BITS,
		   &p->src);
	get_prefix(a, p->family, FL_A_POLICY_RADDR, FL_A_POLICY_RADDR_BITS,
		   &p->dst);
	get_ports(a, FL_A_POLICY_LPORT_MIN, p->sport);
	get_ports(a, FL_A_POLICY_RPORT_MIN, p->dport);
	p->uid_min = fl_u32(a, FL_A_POLICY_UID_MIN);
	p->uid_max = !a[FL_A_POLICY_UID_MIN] ? UINT32_MAX :
		     a[FL_A_POLICY_UID_MAX] ? fl_u32(a, FL_A_POLICY_UID_MAX) :
		     p->uid_min;
	/* the last number is nobody's, and here no condition */
	if (a[FL_A_POLICY_UID_MIN] && p->uid_max == UINT32_MAX)
		p->uid_max--;
	fl_string(a, FL_A_POLICY_CGROUP, p->cgroup, sizeof(p->cgroup));
	p->cgroup_id = fl_u64(a, FL_A_POLICY_CGROUP_ID);
	fl_string(a, FL_A_POLICY_CC, p->cc, sizeof(p->cc));
	p->has_dscp = a[FL_A_POLICY_DSCP];
	p->dscp = p->has_dscp ? fl_u8(a, FL_A_POLICY_DSCP) : 0;
	fl_string(a, FL_A_POLICY_COMMENT, p->comment, sizeof(p->comment));
	p->hits = fl_u64(a, FL_A_POLICY_HITS);
	for (attr = 0; attr < FAIRLANE_ATTRS; attr++)
		if (a[value_attr[attr]]) {
			p->list[p->n].attr = attr;
			p->list[p->n++].value = fl_u32(a, value_attr[attr]);
		}
}

/* ---- output -------------------------------------------------------------------- */

static void print_range(FILE *out, const char *key, uint32_t min, uint32_t max)
{
	if (!max && strcmp(key, "uid"))
		return;
	fprintf(out, " %s %u", key, min);
	if (max != min)
		fprintf(out, "-%u", max);
}

/* As policy add reads it. @exact: of what is there now, not of what its words said. */
static void print_policy(FILE *out, const struct policy *p, bool exact)
{
	size_t i;

	fprintf(out, "order %u", p->order);
	if (p->when == FL_WHEN_CONNECT || p->when == FL_WHEN_ACCEPT)
		fprintf(out, " when %s", p->when == FL_WHEN_CONNECT ?
			"connect" : "accept");
	if (p->family && !p->src.family && !p->dst.family)
		fprintf(out, " family %s", p->family == AF_INET6 ? "ipv6" :
			"ipv4");
	if (p->src.family)
		fprintf(out, " src %s", show_prefix(&p->src));
	if (p->dst.family)
		fprintf(out, " dst %s", show_prefix(&p->dst));
	print_range(out, "sport", p->sport[0], p->sport[1]);
	print_range(out, "dport", p->dport[0], p->dport[1]);
	if (p->uid_max != UINT32_MAX)
		print_range(out, "uid", p->uid_min, p->uid_max);
	if (p->cgroup[0] || p->cgroup_id)
		cgroup_save(out, p->cgroup, p->cgroup_id, exact);
	if (p->cc[0]) {
		fputs(" cc ", out);
		save_word(out, p->cc);
	}
	if (p->has_dscp)
		fprintf(out, " dscp %u", p->dscp);
	for (i = 0; i < p->n; i++)
		fprintf(out, " %s %s", attrs[p->list[i].attr].word,
			attr_show(p->list[i].attr, p->list[i].value));
}

static void range_json(cJSON *obj, const char *key, uint32_t min, uint32_t max)
{
	cJSON *list = cJSON_AddArrayToObject(obj, key);

	cJSON_AddItemToArray(list, cJSON_CreateNumber(min));
	cJSON_AddItemToArray(list, cJSON_CreateNumber(max));
}

static cJSON *policy_json(const struct policy *p)
{
	cJSON *obj = cJSON_CreateObject(), *list, *set;
	size_t i;

	json_u64(obj, "order", p->order);
	list = cJSON_AddArrayToObject(obj, "when");
	if (!p->when || p->when & FL_WHEN_CONNECT)
		cJSON_AddItemToArray(list, cJSON_CreateString("connect"));
	if (!p->when || p->when & FL_WHEN_ACCEPT)
		cJSON_AddItemToArray(list, cJSON_CreateString("accept"));
	if (p->family)
		cJSON_AddStringToObject(obj, "family", p->family == AF_INET6 ?
					"ipv6" : "ipv4");
	if (p->src.family)
		cJSON_AddStringToObject(obj, "src", show_prefix(&p->src));
	if (p->dst.family)
		cJSON_AddStringToObject(obj, "dst", show_prefix(&p->dst));
	if (p->sport[1])
		range_json(obj, "sport", p->sport[0], p->sport[1]);
	if (p->dport[1])
		range_json(obj, "dport", p->dport[0], p->dport[1]);
	if (p->uid_max != UINT32_MAX)
		range_json(obj, "uid", p->uid_min, p->uid_max);
	if (p->cgroup[0])
		cJSON_AddStringToObject(obj, "cgroup", p->cgroup);
	if (p->cgroup_id)
		json_u64(obj, "cgroup_id", p->cgroup_id);
	if (cgroup_gone(p->cgroup, p->cgroup_id))
		cJSON_AddTrueToObject(obj, "cgroup_gone");
	if (p->cc[0])
		cJSON_AddStringToObject(obj, "cc", p->cc);
	if (p->has_dscp)
		json_u64(obj, "dscp", p->dscp);
	set = cJSON_AddObjectToObject(obj, "set");
	for (i = 0; i < p->n; i++)
		attr_json(set, p->list[i].attr, p->list[i].value);
	if (p->comment[0])
		cJSON_AddStringToObject(obj, "comment", p->comment);
	json_u64(obj, "hits", p->hits);
	return obj;
}

/* ---- commands ------------------------------------------------------------------ */

/**
 * struct listing - what is done with each policy
 * @doc: added to this array; NULL: printed
 * @order: only this one; 0: all
 * @save: printed there as commands, if not NULL
 * @exact: these say what is there now
 * @n: how many there were
 */
struct listing {
	cJSON *doc;
	uint32_t order;
	FILE *save;
	bool exact;
	size_t n;
};

static int on_policy(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct listing *l = arg;
	struct policy p;

	(void)h;
	get_policy(a, &p);
	if (l->order && p.order != l->order)
		return 0;
	l->n++;
	if (l->doc)
		cJSON_AddItemToArray(l->doc, policy_json(&p));
	if (l->save) {
		fputs("policy add ", l->save);
		print_policy(l->save, &p, l->exact);
		if (p.comment[0]) {
			fputs(" comment ", l->save);
			save_word(l->save, p.comment);
		}
		fputc('\n', l->save);
	} else if (!l->doc) {
		print_policy(stdout, &p, false);
		printf(" hits %llu%s", (unsigned long long)p.hits,
		       cgroup_gone(p.cgroup, p.cgroup_id) ? " (its cgroup is gone)" : "");
		if (p.comment[0])
			printf(" # %s", p.comment);
		putchar('\n');
	}
	return 0;
}

/* The only argument: order N, or N. */
static uint32_t read_order(struct words *w)
{
	uint32_t order;

	word_is(w, "order");
	order = need_u32("order", word_value(w, "order"), 1, UINT32_MAX);
	words_end(w);
	return order;
}

static int policy_show(struct words *w)
{
	struct listing l = { 0 };

	if (words_left(w))
		l.order = read_order(w);
	l.doc = opt.json ? cJSON_CreateArray() : NULL;
	ask_dump(FL_CMD_POLICY_GET, on_policy, FL_A_POLICY_MAX, &l);
	if (l.order && !l.n)
		fail_kernel("there is no policy of order %u", l.order);
	if (l.doc)
		json_print(l.doc);
	return EXIT_OK;
}

/* What applying did; @arg: the document that gets it, NULL without -j. */
static int on_applied(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	cJSON *doc = arg;

	(void)h;
	if (doc) {
		json_u64(doc, "examined", fl_u32(a, FL_A_POLICY_EXAMINED));
		json_u64(doc, "changed", fl_u32(a, FL_A_POLICY_CHANGED));
	} else {
		printf("%u of %u sockets changed\n",
		       fl_u32(a, FL_A_POLICY_CHANGED),
		       fl_u32(a, FL_A_POLICY_EXAMINED));
	}
	return 0;
}

static void send_apply(struct fairlane *f, bool quiet, cJSON *doc)
{
	ask_do(f, ask_message(f, FL_CMD_POLICY_APPLY, 0),
	       quiet ? NULL : on_applied, FL_A_POLICY_MAX, doc,
	       "policy apply");
}

/* A policy that is being added. */
struct adding {
	const struct policy *asked;
	cJSON *doc;	/* with -j: what it became */
};

/* The kernel has chosen the order: tell it. */
static int on_added(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct adding *add = arg;
	struct policy p;

	(void)h;
	get_policy(a, &p);
	if (opt.json)
		add->doc = policy_json(&p);
	else if (!add->asked->order && !opt.where[0])
		printf("order %u\n", p.order);
	return 0;
}

static int change(struct words *w, bool replace)
{
	static struct policy p;	/* large */
	struct adding add = { .asked = &p };
	struct fairlane *f;
	struct nl_msg *msg;

	read_policy(&p, w);
	if (replace && !p.order)
		fail("policy replace: which one? (order N)");
	if (opt.check_only)
		return EXIT_OK;
	f = connect_module();
	msg = ask_message(f, FL_CMD_POLICY_ADD, 0);
	put_policy(msg, &p);
	if (replace)
		ask_bytes(msg, FL_A_POLICY_REPLACE, NULL, 0);
	ask_do(f, msg, on_added, FL_A_POLICY_MAX, &add,
	       replace ? "policy replace" : "policy add");
	if (p.apply)
		send_apply(f, false, add.doc ?
			   cJSON_AddObjectToObject(add.doc, "applied") : NULL);
	if (add.doc)
		json_print(add.doc);
	fairlane_close(f);
	return EXIT_OK;
}

static int policy_add(struct words *w)
{
	return change(w, false);
}

static int policy_replace(struct words *w)
{
	return change(w, true);
}

static int policy_del(struct words *w)
{
	struct fairlane *f;
	struct nl_msg *msg;
	uint32_t order;

	if (!words_left(w))
		fail("policy del: which one? (order N; \"policy flush\" removes all)");
	order = read_order(w);
	if (opt.check_only)
		return EXIT_OK;
	f = connect_module();
	msg = ask_message(f, FL_CMD_POLICY_DEL, 0);
	ask_u32(msg, FL_A_POLICY_ORDER, order);
	ask_do(f, msg, NULL, 0, NULL, "policy del");
	fairlane_close(f);
	json_done();
	return EXIT_OK;
}

static int policy_flush(struct words *w)
{
	struct fairlane *f;
	struct nl_msg *msg;

	words_end(w);
	if (opt.check_only)
		return EXIT_OK;
	f = connect_module();
	msg = ask_message(f, FL_CMD_POLICY_DEL, 0);
	ask_bytes(msg, FL_A_POLICY_ALL, NULL, 0);
	ask_do(f, msg, NULL, 0, NULL, "policy flush");
	fairlane_close(f);
	json_done();
	return EXIT_OK;
}

static int policy_apply(struct words *w)
{
	struct fairlane *f;
	cJSON *doc;

	words_end(w);
	if (opt.check_only)
		return EXIT_OK;
	f = connect_module();
	doc = opt.json ? cJSON_CreateObject() : NULL;
	send_apply(f, false, doc);
	if (doc)
		json_print(doc);
	fairlane_close(f);
	return EXIT_OK;
}

/* Sockets that are there go through the policies, without a word. */
void policy_reapply(void)
{
	struct fairlane *f = connect_module();

	send_apply(f, true, NULL);
	fairlane_close(f);
}

/* All of them as commands, or into an array. */
void policy_save(FILE *out, cJSON *doc, bool exact)
{
	struct listing l = { .doc = doc, .save = out, .exact = exact };

	ask_dump(FL_CMD_POLICY_GET, on_policy, FL_A_POLICY_MAX, &l);
}

/**
 * struct naming - which policy's comment is wanted
 * @order: the policy
 * @name: gets it
 * @size: of @name
 */
struct naming {
	uint32_t order;
	char *name;
	size_t size;
};

static int on_named(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct naming *n = arg;

	(void)h;
	if (fl_u32(a, FL_A_POLICY_ORDER) == n->order)
		fl_string(a, FL_A_POLICY_COMMENT, n->name, n->size);
	return 0;
}

/* The comment of a policy, "" if it has none or has gone. */
void policy_comment(uint32_t order, char *name, size_t size)
{
	struct naming n = { .order = order, .name = name, .size = size };

	name[0] = 0;
	ask_dump(FL_CMD_POLICY_GET, on_named, FL_A_POLICY_MAX, &n);
}

int cmd_policy(struct words *w)
{
	static const struct command commands[] = {
		{ "show", policy_show }, { "list", policy_show },
		{ "add", policy_add }, { "replace", policy_replace },
		{ "del", policy_del }, { "delete", policy_del },
		{ "flush", policy_flush }, { "apply", policy_apply },
	};

	return command_run(commands, ARRAY_SIZE(commands), "command", "show",
			   usage, w);
}

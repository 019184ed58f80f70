// SPDX-License-Identifier: GPL-2.0
/* fairlane fabric load: the routes of all switches of a network, from one file, to the switches
 * of this namespace. fairlane(8) has the format.
 */
#include "tool.h"
#include "fabric.h"
#include "fabricload.h"

#include <errno.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FIELDS_DEFAULT	0x07	/* the kernel's: addresses, protocol */
#define FIELDS_KNOWN	0x37
#define WEIGHT_MAX	256
#define FILE_PORTS_MAX	65535

/**
 * struct link_line - what is behind a port
 * @sw: the switch
 * @port: its port
 * @to: the switch behind it
 */
struct link_line {
	uint32_t sw;
	uint32_t port;
	uint32_t to;
};

/**
 * struct wish - a switch's route to one prefix
 * @sw: the switch
 * @to: the prefix
 * @group: the next hops
 * @line: of the file
 */
struct wish {
	uint32_t sw;
	struct fabric_table_prefix to;
	uint32_t group;
	unsigned int line;
};

/**
 * struct reading - a file that is being read
 * @f: what is made of it
 * @line: where that is
 * @link: lines with "port"
 * @links: how many
 * @wish: routes
 * @wishes: how many
 * @owner: by group: the switch
 */
struct reading {
	struct fabric_file f;
	unsigned int line;
	struct link_line *link;
	size_t links;
	struct wish *wish;
	size_t wishes;
	uint32_t *owner;
};

static void wrong(const struct reading *r, const char *what)
	__attribute__((noreturn));

static void wrong(const struct reading *r, const char *what)
{
	fail("load: %s:%u: %s", r->f.name, r->line, what);
}

/* A number of a line; @what is it? */
static uint32_t need_number(const struct reading *r, const char *what, const char *s,
			    uint64_t min, uint64_t max)
{
	uint64_t v;

	if (!s || !parse_u64(s, 0, max, &v) || v < min)
		fail("load: %s:%u: a number from %llu to %llu is wanted for \"%s\"%s%s%s",
		     r->f.name, r->line, (unsigned long long)min, (unsigned long long)max, what,
		     s ? ", not \"" : "", s ? s : "", s ? "\"" : "");
	return v;
}

static char *next_word(char **rest)
{
	return strtok_r(NULL, " \t\n", rest);
}

/* Does the line go on with that word? */
static void need_word(const struct reading *r, char **rest, const char *word)
{
	const char *s = next_word(rest);

	if (!s || strcmp(s, word))
		wrong(r, "switch N [policy P] [fields F] [seed S], port N:P to N, or route N port P[,P]... to PREFIX... is wanted");
}

static struct fabric_table_switch *add_switch(struct reading *r, uint32_t id)
{
	struct fabric_table_switch *sw;

	r->f.sw = xgrow(r->f.sw, r->f.switches, sizeof(*r->f.sw));
	sw = &r->f.sw[r->f.switches++];
	*sw = (struct fabric_table_switch){ .id = id, .fields = FIELDS_DEFAULT };
	return sw;
}

/* "N [policy P] [fields F] [seed S]" */
static void read_switch(struct reading *r, char **rest)
{
	static const char *const known[] = { "policy", "fields", "seed" };
	struct fabric_table_switch *sw;
	unsigned int said = 0, i;
	uint32_t value;
	char *word;

	sw = add_switch(r, need_number(r, "switch", next_word(rest), 1, UINT32_MAX));
	while ((word = next_word(rest))) {
		for (i = 0; i < ARRAY_SIZE(known) && strcmp(word, known[i]); i++)
			;
		if (i == ARRAY_SIZE(known))
			wrong(r, "policy, fields or seed is wanted");
		if (said & 1U << i)
			wrong(r, "policy, fields or seed stands twice");
		said |= 1U << i;
		value = need_number(r, word, next_word(rest), !!i,
				    !i ? 3 : i == 1 ? FIELDS_KNOWN : UINT32_MAX);
		if (!i)
			sw->policy = value;
		else if (i == 1)
			sw->fields = value;
		else
			sw->seed = value;
	}
	if (sw->policy == 2 || sw->fields & ~FIELDS_KNOWN)
		wrong(r, "policy 2, and fields beyond 0x37, cannot be computed");
}

/* "N:P to M" */
static void read_port(struct reading *r, char **rest)
{
	char *at = next_word(rest), *colon = at ? strchr(at, ':') : NULL;
	struct link_line *link;

	if (!colon)
		wrong(r, "port SWITCH:PORT to SWITCH is wanted");
	*colon = 0;
	r->link = xgrow(r->link, r->links, sizeof(*r->link));
	link = &r->link[r->links++];
	link->sw = need_number(r, "switch", at, 1, UINT32_MAX);
	link->port = need_number(r, "port", colon + 1, 0, FILE_PORTS_MAX);
	need_word(r, rest, "to");
	link->to = need_number(r, "to", next_word(rest), 1, UINT32_MAX);
}

/* "P[*W],..." Returns the group's number. */
static uint32_t read_group(struct reading *r, char *list, uint32_t sw)
{
	struct fabric_table_group *group;
	struct fabric_table_via *via;
	char *rest, *port, *weight;

	r->f.group = xgrow(r->f.group, r->f.groups, sizeof(*r->f.group));
	r->owner = xgrow(r->owner, r->f.groups, sizeof(*r->owner));
	r->owner[r->f.groups] = sw;
	group = &r->f.group[r->f.groups++];
	*group = (struct fabric_table_group){ .first = r->f.vias };
	for (port = list ? strtok_r(list, ",", &rest) : NULL; port;
	     port = strtok_r(NULL, ",", &rest)) {
		r->f.via = xgrow(r->f.via, r->f.vias, sizeof(*r->f.via));
		via = &r->f.via[r->f.vias++];
		weight = strchr(port, '*');
		if (weight)
			*weight++ = 0;
		*via = (struct fabric_table_via){
			.port = need_number(r, "port", port, 0, FILE_PORTS_MAX),
			.weight = weight ? need_number(r, "weight", weight, 1, WEIGHT_MAX) : 1,
		};
		group->count++;
	}
	if (!group->count)
		wrong(r, "a route needs a port");
	return r->f.groups - 1;
}

/* "N port P[,P]... to PREFIX..." */
static void read_route(struct reading *r, char **rest)
{
	uint32_t sw = need_number(r, "route", next_word(rest), 1, UINT32_MAX), group;
	struct wish *wish;
	struct prefix p;
	char *word;

	need_word(r, rest, "port");
	group = read_group(r, next_word(rest), sw);
	need_word(r, rest, "to");
	while ((word = next_word(rest))) {
		if (!parse_prefix(word, false, &p) || !p.family)
			wrong(r, "a prefix is wanted");
		r->wish = xgrow(r->wish, r->wishes, sizeof(*r->wish));
		wish = &r->wish[r->wishes++];
		*wish = (struct wish){
			.sw = sw, .group = group, .line = r->line,
			.to = { .bits = p.len, .v6 = p.family == AF_INET6 },
		};
		memcpy(wish->to.addr, p.addr, wish->to.v6 ? 16 : 4);
	}
}

static void read_file(struct reading *r)
{
	FILE *f = strcmp(r->f.name, "-") ? fopen(r->f.name, "r") : stdin;
	char *text = NULL, *rest, *word;
	size_t room = 0;
	ssize_t len;

	if (!f)
		fail("load: %s: %s", r->f.name, strerror(errno));
	while ((len = getline(&text, &room, f)) >= 0) {
		r->line++;
		if (strlen(text) != (size_t)len)
			wrong(r, "it has a NUL byte, this is no text");
		word = strtok_r(text, " \t\n", &rest);
		if (!word || word[0] == '#')
			continue;
		if (!strcmp(word, "switch"))
			read_switch(r, &rest);
		else if (!strcmp(word, "port"))
			read_port(r, &rest);
		else if (!strcmp(word, "route"))
			read_route(r, &rest);
		else
			wrong(r, "switch, port or route is wanted");
	}
	free(text);
	/* a folder can be opened */
	if (ferror(f))
		fail("load: %s: %s", r->f.name, strerror(errno));
	if (f != stdin)
		fclose(f);
	if (!r->wishes)
		fail("load: %s: no routes", r->f.name);
}

/* ---- from lines to tables ---------------------------------------------------- */

/* By number; of one switch, that first of which something was said. */
static int switch_order(const void *a, const void *b)
{
	const struct fabric_table_switch *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return !!y->seed - !!x->seed ? : y->policy - x->policy;
}

static int switch_key(const void *a, const void *b)
{
	const struct fabric_table_switch *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int link_order(const void *a, const void *b)
{
	const struct link_line *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* As the kernel wants them: struct path_table. */
static int prefix_order(const void *a, const void *b)
{
	const struct fabric_table_prefix *x = a, *y = b;
	int order;

	if (x->v6 != y->v6)
		return x->v6 - y->v6;
	order = memcmp(x->addr, y->addr, sizeof(x->addr));
	return order ? order : x->bits - y->bits;
}

/* Keeps the first of those that @order calls equal. Returns how many they are. */
static size_t unique(void *base, size_t n, size_t size, int (*order)(const void *, const void *))
{
	char *at = base;
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (kept && !order(at + (kept - 1) * size, at + i * size))
			continue;
		memmove(at + kept++ * size, at + i * size, size);
	}
	return kept;
}

static size_t switch_index(const struct fabric_file *f, uint32_t id)
{
	const struct fabric_table_switch key = { .id = id };

	return (struct fabric_table_switch *)bsearch(&key, f->sw, f->switches, sizeof(key),
						     switch_key) - f->sw;
}

/* All switches that are named anywhere. */
static void sort_switches(struct reading *r)
{
	size_t i;

	for (i = 0; i < r->links; i++) {
		add_switch(r, r->link[i].sw);
		add_switch(r, r->link[i].to);
	}
	for (i = 0; i < r->f.groups; i++)
		add_switch(r, r->owner[i]);
	qsort(r->f.sw, r->f.switches, sizeof(*r->f.sw), switch_order);
	r->f.switches = unique(r->f.sw, r->f.switches, sizeof(*r->f.sw), switch_key);
}

/* What is behind each next hop. */
static void find_neighbours(struct reading *r)
{
	const struct link_line *link;
	struct fabric_table_via *via;
	struct link_line key;
	size_t i;
	int k;

	if (r->links)
		qsort(r->link, r->links, sizeof(*r->link), link_order);
	for (i = 0; i + 1 < r->links; i++)
		if (!link_order(&r->link[i], &r->link[i + 1]) &&
		    r->link[i].to != r->link[i + 1].to)
			fail("load: %s: port %u:%u leads to two switches", r->f.name,
			     r->link[i].sw, r->link[i].port);
	for (i = 0; i < r->f.groups; i++) {
		for (k = 0; k < r->f.group[i].count; k++) {
			via = &r->f.via[r->f.group[i].first + k];
			key = (struct link_line){ .sw = r->owner[i], .port = via->port };
			link = r->links ? bsearch(&key, r->link, r->links, sizeof(key),
						  link_order) : NULL;
			via->to = link ? switch_index(&r->f, link->to) : FABRIC_TABLE_NONE;
		}
	}
}

static void fill_routes(struct reading *r)
{
	struct fabric_file *f = &r->f;
	struct fabric_table_prefix *to;
	uint16_t *route;
	size_t i;

	f->prefix = xalloc(r->wishes * sizeof(*f->prefix));
	for (i = 0; i < r->wishes; i++)
		f->prefix[i] = r->wish[i].to;
	qsort(f->prefix, r->wishes, sizeof(*f->prefix), prefix_order);
	f->prefixes = unique(f->prefix, r->wishes, sizeof(*f->prefix), prefix_order);
	if (f->switches > FABRIC_TABLE_MAX || f->prefixes > FABRIC_TABLE_MAX ||
	    f->groups > FABRIC_TABLE_MAX || f->vias > FABRIC_TABLE_VIAS_MAX ||
	    f->switches * f->prefixes > FABRIC_TABLE_ROUTES_MAX)
		fail("load: %s: more than %d switches, prefixes or lines, or more than %d routes",
		     f->name, FABRIC_TABLE_MAX, FABRIC_TABLE_ROUTES_MAX);
	f->route = xalloc(f->switches * f->prefixes * sizeof(*f->route));
	memset(f->route, 0xff, f->switches * f->prefixes * sizeof(*f->route));
	for (i = 0; i < r->wishes; i++) {
		to = bsearch(&r->wish[i].to, f->prefix, f->prefixes, sizeof(*to), prefix_order);
		route = &f->route[switch_index(f, r->wish[i].sw) * f->prefixes +
				  (to - f->prefix)];
		if (*route != FABRIC_TABLE_NONE)
			fail("load: %s:%u: switch %u has a second route to one prefix", f->name,
			     r->wish[i].line, r->wish[i].sw);
		*route = r->wish[i].group;
	}
}

/* ---- to the kernel ------------------------------------------------------------- */

/* Tells a part of the table of switch @id. */
static void tell(uint32_t id, uint8_t part, const void *entry, size_t bytes, size_t n)
{
	uint32_t at, count, most = FABRIC_DATA_BYTES / bytes;
	struct nl_msg *msg;

	for (at = 0; at < n; at += count) {
		count = n - at < most ? n - at : most;
		msg = fabric_message(FABRIC_CMD_TABLE_ADD);
		fabric_put(msg, FABRIC_A_SWITCH, &id, sizeof(id));
		fabric_put(msg, FABRIC_A_PART, &part, sizeof(part));
		fabric_put(msg, FABRIC_A_OFFSET, &at, sizeof(at));
		fabric_put(msg, FABRIC_A_ENTRIES, (const char *)entry + at * bytes, count * bytes);
		fabric_send(msg, "load");
	}
}

static void tell_all(const struct fabric_file *f, uint32_t id)
{
	const struct fabric_table_sizes sizes = {
		.switches = f->switches, .prefixes = f->prefixes,
		.groups = f->groups, .vias = f->vias,
	};
	struct nl_msg *msg = fabric_message(FABRIC_CMD_TABLE_NEW);

	fabric_put(msg, FABRIC_A_SWITCH, &id, sizeof(id));
	fabric_put(msg, FABRIC_A_SIZES, &sizes, sizeof(sizes));
	fabric_send(msg, "load");
	tell(id, FABRIC_PART_SWITCHES, f->sw, sizeof(*f->sw), f->switches);
	tell(id, FABRIC_PART_PREFIXES, f->prefix, sizeof(*f->prefix), f->prefixes);
	tell(id, FABRIC_PART_GROUPS, f->group, sizeof(*f->group), f->groups);
	tell(id, FABRIC_PART_VIAS, f->via, sizeof(*f->via), f->vias);
	tell(id, FABRIC_PART_ROUTES, f->route, sizeof(*f->route), f->switches * f->prefixes);
	msg = fabric_message(FABRIC_CMD_TABLE_USE);
	fabric_put(msg, FABRIC_A_SWITCH, &id, sizeof(id));
	fabric_send(msg, "load");
}

/* Tells the switches of this namespace that the file knows, after all have been compared.
 * Returns how many.
 */
static unsigned int tell_here(const struct fabric_file *f, const cJSON *here)
{
	int32_t device[FABRIC_PORTS_MAX];
	const cJSON *sw, *one;
	unsigned int told = 0;
	size_t i;
	int k;

	cJSON_ArrayForEach(sw, here) {
		for (i = 0; i < f->switches && f->sw[i].id != json_number_of(sw, "switch"); i++)
			;
		if (i == f->switches)
			continue;
		k = 0;
		memset(device, 0, sizeof(device));
		cJSON_ArrayForEach(one, cJSON_GetObjectItem(sw, "devices"))
			if (k < FABRIC_PORTS_MAX)
				device[k++] = one->valueint;
		fabric_ask(f, i, device);
		tell_all(f, f->sw[i].id);
		told++;
	}
	return told;
}

/* What was loaded. */
static void told_print(const struct fabric_file *f, unsigned int told)
{
	cJSON *doc;

	if (!opt.json) {
		printf("%zu switches, %zu prefixes, told to %u switch%s of this namespace\n",
		       f->switches, f->prefixes, told, told == 1 ? "" : "es");
		return;
	}
	doc = cJSON_CreateObject();
	json_u64(doc, "switches", f->switches);
	json_u64(doc, "prefixes", f->prefixes);
	json_u64(doc, "told", told);
	json_print(doc);
}

int cmd_fabric_load(struct words *w)
{
	struct reading r = { .f.name = words_left(w) ? word_file(w) : NULL };
	unsigned int told;
	cJSON *here;

	if (!r.f.name)
		fail("load: a file is wanted");
	words_end(w);
	read_file(&r);
	sort_switches(&r);
	find_neighbours(&r);
	fill_routes(&r);
	here = fabric_read();
	fabric_connect();
	told = tell_here(&r.f, here);
	fabric_disconnect();
	if (!told)
		fail_kernel("load: %s: none of its %zu switches is in this namespace (fabric show)",
			    r.f.name, r.f.switches);
	told_print(&r.f, told);
	cJSON_Delete(here);
	free(r.f.sw);
	free(r.f.prefix);
	free(r.f.group);
	free(r.f.via);
	free(r.f.route);
	free(r.link);
	free(r.wish);
	free(r.owner);
	return EXIT_OK;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Reads fabric.yaml. Each setting becomes a command line of this tool's own, which knows
 * values, units and ranges already; so the file has no words of its own but the few that
 * say what belongs together:
 *
 *	control: prioplus
 *	line_rate: 25gbit
 *	noise: 2us
 *	paths:
 *	  10.2.0.0/16: {base_rtt: 40us}
 *	limits: {prio: 6, uids: {www-data: 20}}
 *	classes:
 *	  backup: {prio: 1, match: [{dport: 873}, {dscp: 8}]}
 *	ports:
 *	  swp1: preset prio8 limit 2mb
 */
#include "fabricfile.h"
#include "ask.h"
#include "yamlfile.h"

#include <net/if.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Orders of policies: room between them for an operator's own. */
#define FABRIC_ORDER_STEP	10

/**
 * struct reading - what the functions for keys share
 * @f: what was read so far
 * @order: of the last policy
 * @name: of the class or the path that is being read
 * @settings: of the class: key and value in turn
 * @n: how many words these are
 * @match: conditions of the class; NULL: none
 * @step: the policy that is being made
 * @said: struct saying of all that may stand in the file once, a tree
 */
struct reading {
	struct fabric_file *f;
	uint32_t order;
	const char *name;
	char *settings[FABRIC_WORDS];
	int n;
	yaml_node_t *match;
	struct fabric_step *step;
	void *said;
};

/**
 * struct saying - something that may stand in the file once
 * @what: in one form, whatever words the file has for it
 * @where: file, line and key
 */
struct saying {
	char *what;
	char *where;
};

static struct fabric_step *step_new(struct fabric_file *f)
{
	struct fabric_step *s;

	f->step = xgrow(f->step, f->steps, sizeof(*s));
	s = &f->step[f->steps++];
	memset(s, 0, sizeof(*s));
	s->where = xprintf("%s", opt.where);
	return s;
}

/* Adds a word; the place that messages name is the last word's. */
static void step_word(struct fabric_step *s, const char *word)
{
	/* one stays free: "run" ends its command there */
	if (s->n == FABRIC_WORDS - 1)
		fail("too many conditions and settings");
	s->words[s->n++] = xprintf("%s", word);
}

static void step_words(struct fabric_step *s, const char *const *list)
{
	while (*list)
		step_word(s, *list++);
}

/* ---- what stands twice -------------------------------------------------------- */

static int by_what(const void *a, const void *b)
{
	return strcmp(((const struct saying *)a)->what, ((const struct saying *)b)->what);
}

static void saying_free(void *s)
{
	free(((struct saying *)s)->what);
	free(((struct saying *)s)->where);
	free(s);
}

/* The file says @what here, which is freed. A second time is a mistake, in other words too. */
static void say_once(struct reading *rd, char *what)
{
	struct saying *s = xalloc(sizeof(*s)), **found;
	size_t len = strlen(opt.where);

	s->what = what;
	s->where = xprintf("%.*s", len > 2 ? (int)len - 2 : 0, opt.where);
	found = tsearch(s, &rd->said, by_what);
	if (!found)
		fail_kernel("out of memory");
	if (*found != s)
		fail("it stands twice, the other one is %s", (*found)->where);
}

/* A prefix in one form; no prefix is told when the commands are tried. */
static const char *one_prefix(const char *s)
{
	struct prefix p;

	return parse_prefix(s, false, &p) ? show_prefix(&p) : s;
}

/* A user or a cgroup in one form. To be freed. */
static char *one_owner(const char *kind, const char *s)
{
	size_t len;

	if (!strcmp(kind, "uid"))
		return xprintf("uid %u", parse_uid(s));
	if (!s[0])
		return xprintf("cgroup");
	s = cgroup_word(s);
	len = strlen(s);
	while (len > 1 && s[len - 1] == '/')
		len--;
	return xprintf("cgroup %.*s", (int)len, s);
}

/* ---- settings and paths ---------------------------------------------------- */

static void read_setting(struct yaml_file *r, const char *key,
			 yaml_node_t *value, void *arg)
{
	struct reading *rd = arg;
	const char *text = yaml_text(r, value, key);
	struct fabric_step *s;

	/* with its unit or without, for researchers or not */
	say_once(rd, xprintf("setting %s %.*s", rd->name ? one_prefix(rd->name) : "-",
			     (int)setting_stem(key), key));
	s = step_new(rd->f);
	step_words(s, (const char *const []){ "profile", "set", NULL });
	if (rd->name)
		step_words(s, (const char *const []){ "dst", rd->name, NULL });
	step_words(s, (const char *const []){ key, text, NULL });
}

static void read_path(struct yaml_file *r, const char *key, yaml_node_t *value,
		      void *arg)
{
	struct reading *rd = arg;

	yaml_at(r, value);
	say_once(rd, xprintf("path %s", one_prefix(key)));
	rd->name = key;
	yaml_pairs(r, value, key, read_setting, rd);
	rd->name = NULL;
}

/* ---- limits ------------------------------------------------------------------ */

static void read_budget(struct yaml_file *r, const char *key,
			yaml_node_t *value, void *arg)
{
	struct reading *rd = arg;
	const char *text = yaml_text(r, value, key);

	if (!strcmp(text, "none"))
		fail("who has no budget of its own is left out");
	say_once(rd, one_owner(rd->name, key));
	step_words(step_new(rd->f), (const char *const []){
		"limits", "set", rd->name, key, "budget", text, NULL });
}

static void read_limit(struct yaml_file *r, const char *key,
		       yaml_node_t *value, void *arg)
{
	struct reading *rd = arg;
	const char *text;

	yaml_at(r, value);
	if (!strcmp(key, "uids") || !strcmp(key, "cgroups")) {
		rd->name = !strcmp(key, "uids") ? "uid" : "cgroup";
		yaml_pairs(r, value, key, read_budget, rd);
		rd->name = NULL;
		return;
	}
	if (strcmp(key, "prio") && strcmp(key, "weight") &&
	    strcmp(key, "budget"))
		fail("\"%s\" is not known here: prio, weight, budget, uids, cgroups",
		     key);
	text = yaml_text(r, value, key);
	step_words(step_new(rd->f), (const char *const []){
		"limits", "set", key, text, NULL });
}

/* ---- classes ------------------------------------------------------------------- */

static void read_condition(struct yaml_file *r, const char *key,
			   yaml_node_t *value, void *arg)
{
	static const char *const known[] = {
		"when", "family", "src", "dst", "sport", "dport", "uid",
		"cgroup", "cc", "dscp",
	};
	struct reading *rd = arg;
	const char *text = yaml_text(r, value, key);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(key, known[i]))
			break;
	if (i == ARRAY_SIZE(known))
		fail("\"%s\" is not known here: when, family, src, dst, sport, dport, uid, cgroup, cc, dscp",
		     key);
	free(rd->step->where);
	rd->step->where = xprintf("%s", opt.where);
	step_word(rd->step, key);
	step_word(rd->step, text);
}

/* One policy: the conditions of @map, if there are any, and the class's settings. */
static void read_match(struct yaml_file *r, struct reading *rd,
		       yaml_node_t *map)
{
	char order[16];
	int i;

	rd->step = step_new(rd->f);
	rd->order += FABRIC_ORDER_STEP;
	snprintf(order, sizeof(order), "%u", rd->order);
	step_words(rd->step, (const char *const []){
		"policy", "add", "order", order, NULL });
	if (map)
		yaml_pairs(r, map, "match", read_condition, rd);
	for (i = 0; i < rd->n; i++)
		step_word(rd->step, rd->settings[i]);
	step_words(rd->step, (const char *const []){ "comment", rd->name, NULL });
}

static void read_class_key(struct yaml_file *r, const char *key,
			   yaml_node_t *value, void *arg)
{
	struct reading *rd = arg;
	enum fairlane_attr attr;
	char *word, *p;

	if (!strcmp(key, "match")) {
		rd->match = value;
		return;
	}
	word = xprintf("%s", key);
	for (p = word; *p; p++)
		if (*p == '_')
			*p = '-';
	yaml_at(r, value);
	for (attr = 0; attr < FAIRLANE_ATTRS; attr++)
		if (!strcmp(word, attrs[attr].word))
			break;
	if (attr == FAIRLANE_ATTRS)
		fail("\"%s\" is not known here: match, prio, weight, base_rtt, line_rate, deadline",
		     key);
	rd->settings[rd->n++] = word;
	rd->settings[rd->n++] = xprintf("%s", yaml_text(r, value, key));
	attr_parse(attr, rd->settings[rd->n - 1], false);
}

static void read_class(struct yaml_file *r, const char *key,
		       yaml_node_t *value, void *arg)
{
	struct reading *rd = arg;
	yaml_node_item_t *item;
	size_t len = strlen(r->key);

	/* it is the comment of the class's policies: people find them by that */
	yaml_at(r, value);
	if (!key[strspn(key, " ")])
		fail("a class needs a name");
	rd->name = key;
	rd->n = 0;
	rd->match = NULL;
	yaml_pairs(r, value, key, read_class_key, rd);
	yaml_at(r, value);
	if (!rd->n)
		fail("class %s sets nothing: prio, weight, base_rtt, line_rate, deadline",
		     key);
	if (rd->match) {
		snprintf(r->key + len, sizeof(r->key) - len, ".match");
		yaml_at(r, rd->match);
	}
	if (!rd->match || rd->match->type == YAML_MAPPING_NODE) {
		read_match(r, rd, rd->match);
	} else if (rd->match->type != YAML_SEQUENCE_NODE) {
		fail("match: conditions are wanted, or a list of such");
	} else {
		/* no policy at all would come of it */
		if (rd->match->data.sequence.items.start ==
		    rd->match->data.sequence.items.top)
			fail("match: the list is empty; leave it out for all sockets");
		for (item = rd->match->data.sequence.items.start;
		     item < rd->match->data.sequence.items.top; item++) {
			yaml_at(r, yaml_node(r, *item));
			read_match(r, rd, yaml_node(r, *item));
		}
	}
	r->key[len] = 0;
	while (rd->n)
		free(rd->settings[--rd->n]);
	rd->name = NULL;
}

/* ---- ports --------------------------------------------------------------------- */

static void read_port_key(struct yaml_file *r, const char *key,
			  yaml_node_t *value, void *arg)
{
	struct fabric_port *p = arg;
	char *text = yaml_text(r, value, key);

	if (!strcmp(key, "netns")) {
		if (!text[0])
			fail("netns: a name is wanted");
		p->netns = xprintf("%s", text);
	} else if (!strcmp(key, "fabric")) {
		p->options = xprintf("%s", text);
	} else {
		fail("\"%s\" is not known here: fabric, netns", key);
	}
}

static void read_port(struct yaml_file *r, const char *key, yaml_node_t *value,
		      void *arg)
{
	struct reading *rd = arg;
	struct fabric_port *p;

	rd->f->port = xgrow(rd->f->port, rd->f->ports, sizeof(*p));
	p = &rd->f->port[rd->f->ports++];
	memset(p, 0, sizeof(*p));
	yaml_at(r, value);
	/* the kernel has none of such a name, so it would never come */
	if (!key[0] || strlen(key) >= IFNAMSIZ || strpbrk(key, "/: \t\n"))
		fail("\"%s\" is no name of a device: 1 to %d characters, no blank, colon or slash",
		     key, IFNAMSIZ - 1);
	p->dev = xprintf("%s", key);
	p->where = xprintf("%s", opt.where);
	if (value->type == YAML_SCALAR_NODE)
		p->options = xprintf("%s", yaml_text(r, value, key));
	else
		yaml_pairs(r, value, key, read_port_key, p);
	if (!p->options)
		fail("port %s: \"fabric\" is missing, the options of its queue as tc-fabric(8) has them",
		     key);
}

/* ---- the file -------------------------------------------------------------------- */

static void read_top(struct yaml_file *r, const char *key, yaml_node_t *value,
		     void *arg)
{
	struct reading *rd = arg;
	const char *text;

	yaml_at(r, value);
	if (!strcmp(key, "paths"))
		return yaml_pairs(r, value, key, read_path, rd);
	if (!strcmp(key, "limits"))
		return yaml_pairs(r, value, key, read_limit, rd);
	if (!strcmp(key, "classes"))
		return yaml_pairs(r, value, key, read_class, rd);
	if (!strcmp(key, "ports"))
		return yaml_pairs(r, value, key, read_port, rd);
	if (!strcmp(key, "research"))
		return yaml_pairs(r, value, key, read_setting, rd);
	if (value->type != YAML_SCALAR_NODE && strcmp(key, "control") && strcmp(key, "namespaces"))
		fail("\"%s\" is not paths, limits, classes, ports or research; all other keys have a single value",
		     key);
	text = yaml_text(r, value, key);
	if (!strcmp(key, "control")) {
		if (!text[0])
			fail("control: the name of a congestion control is wanted");
		rd->f->control = xprintf("%s", text);
		rd->f->control_where = xprintf("%s", opt.where);
	} else if (!strcmp(key, "namespaces")) {
		rd->f->all = !strcmp(text, "all");
		if (!rd->f->all && strcmp(text, "one"))
			fail("namespaces %s: all or one is wanted", text);
	} else {
		read_setting(r, key, value, rd);
		rd->f->step[rd->f->steps - 1].top = true;
	}
}

/**
 * fabric_file_read() - read a file
 * @f: is filled
 * @path: the file, "-": stdin
 *
 * Values are looked at when the commands are tried. A mistake ends the program, with file,
 * line and key.
 */
void fabric_file_read(struct fabric_file *f, const char *path)
{
	struct reading rd = { .f = f };
	struct yaml_file r;
	yaml_node_t *root = yaml_open(&r, path);

	memset(f, 0, sizeof(*f));
	f->all = true;
	yaml_pairs(&r, root, "the file", read_top, &rd);
	yaml_close(&r);
	tdestroy(rd.said, saying_free);
}

void fabric_file_free(struct fabric_file *f)
{
	size_t i;
	int j;

	for (i = 0; i < f->steps; i++) {
		free(f->step[i].where);
		for (j = 0; j < f->step[i].n; j++)
			free(f->step[i].words[j]);
	}
	for (i = 0; i < f->ports; i++) {
		free(f->port[i].where);
		free(f->port[i].dev);
		free(f->port[i].netns);
		free(f->port[i].options);
	}
	free(f->step);
	free(f->port);
	free(f->control);
	free(f->control_where);
	memset(f, 0, sizeof(*f));
}

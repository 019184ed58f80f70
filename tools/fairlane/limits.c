// SPDX-License-Identifier: GPL-2.0
/* fairlane limits: what users without CAP_NET_ADMIN may set, and how much weight
 * the sockets of a user or a cgroup may have together.
 */
#include "ask.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
"usage: fairlane limits show\n"
"       fairlane limits set [prio N] [weight W] [budget W|none]\n"
"       fairlane limits set uid USER budget W|none\n"
"       fairlane limits set cgroup PATH budget W|none\n"
"prio, weight: the most that a user without CAP_NET_ADMIN may set. budget: the sum of\n"
"weights of all sockets of a user (of each user, if none is named) or of a cgroup\n"
"and those below it. \"default\" takes prio and weight back.\n";

/**
 * struct limits - what is in force
 * @prio: largest priority
 * @weight: largest weight, thousandths
 * @budget: of each user without one of his own, thousandths, 0: none
 */
struct limits {
	uint32_t prio;
	uint32_t weight;
	uint32_t budget;
};

/**
 * struct budget - of a user or a cgroup
 * @uid: the user
 * @cgroup: path, or "": it is a user's
 * @cgroup_id: of the cgroup, 0: it is a user's
 * @milli: sum that is allowed, 0: none of its own
 * @used: sum in use
 * @flows: sockets that are counted
 */
struct budget {
	uint32_t uid;
	char cgroup[4096];
	uint64_t cgroup_id;
	uint32_t milli;
	uint64_t used;
	uint32_t flows;
};

struct budgets {
	struct budget *b;
	size_t n;
};

static int on_limits(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct limits *l = arg;

	(void)h;
	l->prio = fl_u32(a, FL_A_LIMIT_PRIORITY_MAX);
	l->weight = fl_u32(a, FL_A_LIMIT_WEIGHT_MAX_MILLI);
	l->budget = fl_u32(a, FL_A_LIMIT_BUDGET_UID_MILLI);
	return 0;
}

static int on_budget(struct nlattr **a, struct nlmsghdr *h, void *arg)
{
	struct budgets *list = arg;
	struct budget *b;

	(void)h;
	list->b = xgrow(list->b, list->n, sizeof(*list->b));
	b = &list->b[list->n++];
	memset(b, 0, sizeof(*b));
	b->uid = fl_u32(a, FL_A_BUDGET_UID);
	fl_string(a, FL_A_BUDGET_CGROUP, b->cgroup, sizeof(b->cgroup));
	b->cgroup_id = fl_u64(a, FL_A_BUDGET_CGROUP_ID);
	b->milli = fl_u32(a, FL_A_BUDGET_MILLI);
	b->used = fl_u64(a, FL_A_BUDGET_USED_MILLI);
	b->flows = fl_u32(a, FL_A_BUDGET_FLOWS);
	return 0;
}

static void read_limits(struct limits *l, struct budgets *list)
{
	struct fairlane *f = connect_module();

	memset(l, 0, sizeof(*l));
	memset(list, 0, sizeof(*list));
	ask_do(f, ask_message(f, FL_CMD_LIMIT_GET, 0), on_limits,
	       FL_A_LIMIT_MAX, l, "limits show");
	ask_do(f, ask_message(f, FL_CMD_BUDGET_GET, NLM_F_DUMP), on_budget,
	       FL_A_BUDGET_MAX, list, "limits show");
	fairlane_close(f);
}

/* Is it a cgroup's? */
static bool of_cgroup(const struct budget *b)
{
	return b->cgroup_id || b->cgroup[0];
}

/* A weight, or null for none. */
static void budget_json(cJSON *obj, uint32_t milli)
{
	if (milli)
		cJSON_AddItemToObject(obj, "budget",
				      cJSON_CreateRaw(show_milli(milli)));
	else
		cJSON_AddNullToObject(obj, "budget");
}

static cJSON *limits_json(const struct limits *l, const struct budgets *list)
{
	cJSON *doc = cJSON_CreateObject(), *uids, *cgroups;
	size_t i;

	json_u64(doc, "prio", l->prio);
	attr_json(doc, FAIRLANE_WEIGHT, l->weight);
	budget_json(doc, l->budget);
	uids = cJSON_AddArrayToObject(doc, "uids");
	cgroups = cJSON_AddArrayToObject(doc, "cgroups");
	for (i = 0; i < list->n; i++) {
		const struct budget *b = &list->b[i];
		cJSON *obj = cJSON_CreateObject();

		if (of_cgroup(b)) {
			cJSON_AddStringToObject(obj, "cgroup", b->cgroup);
			json_u64(obj, "cgroup_id", b->cgroup_id);
			if (cgroup_gone(b->cgroup, b->cgroup_id))
				cJSON_AddTrueToObject(obj, "cgroup_gone");
		} else {
			json_u64(obj, "uid", b->uid);
		}
		budget_json(obj, b->milli);
		cJSON_AddNumberToObject(obj, "used", b->used / 1000.0);
		json_u64(obj, "flows", b->flows);
		cJSON_AddItemToArray(of_cgroup(b) ? cgroups : uids, obj);
	}
	return doc;
}

static void print_limits(const struct limits *l, const struct budgets *list)
{
	size_t i;

	printf("prio %u weight %s budget %s\n", l->prio,
	       show_milli(l->weight),
	       l->budget ? show_milli(l->budget) : "none");
	for (i = 0; i < list->n; i++) {
		const struct budget *b = &list->b[i];

		if (b->cgroup[0])
			printf("cgroup %s", b->cgroup);
		else if (b->cgroup_id)
			printf("cgroup #%llu",
			       (unsigned long long)b->cgroup_id);
		else
			printf("uid %u", b->uid);
		printf(" budget %s used %llu.%03llu flows %u%s\n",
		       b->milli ? show_milli(b->milli) : "-",
		       (unsigned long long)(b->used / 1000),
		       (unsigned long long)(b->used % 1000), b->flows,
		       cgroup_gone(b->cgroup, b->cgroup_id) ? " (gone)" : "");
	}
}

static int limits_show(struct words *w)
{
	struct budgets list;
	struct limits l;

	words_end(w);
	read_limits(&l, &list);
	if (opt.json)
		json_print(limits_json(&l, &list));
	else
		print_limits(&l, &list);
	free(list.b);
	return EXIT_OK;
}

/* A sum of weights in thousandths; none: 0. */
static uint32_t read_budget(const char *s)
{
	uint64_t v;

	if (!strcmp(s, "none"))
		return 0;
	if (!parse_milli(s, &v) || !v || v > UINT32_MAX)
		fail("budget %s: a sum of weights above 0 with up to three decimals is wanted, or none",
		     s);
	return v;
}

/* Takes back the budgets that were made with a path: of cgroups that are gone, or of all. Return:
 * how many.
 */
static size_t drop_budgets(struct fairlane *f, const char *path, bool all)
{
	struct budgets list;
	struct nl_msg *msg;
	struct limits l;
	size_t i, n = 0;

	read_limits(&l, &list);
	for (i = 0; i < list.n; i++) {
		const struct budget *b = &list.b[i];

		if (!b->milli || strcmp(b->cgroup, path) ||
		    !(all || cgroup_gone(path, b->cgroup_id)))
			continue;
		msg = ask_message(f, FL_CMD_BUDGET_DEL, 0);
		ask_u64(msg, FL_A_BUDGET_CGROUP_ID, b->cgroup_id);
		ask_do(f, msg, NULL, 0, NULL, "limits set");
		n++;
	}
	free(list.b);
	return n;
}

/* Of a user or a cgroup; the rest of the line belongs to it. */
static int set_budget(struct words *w, bool cgroup)
{
	const char *key = cgroup ? "cgroup" : "uid", *who, *s;
	struct fairlane *f;
	struct nl_msg *msg;
	uint32_t uid = 0, milli;
	uint64_t id = 0;
	char *what;

	who = word_value(w, key);
	if (cgroup && !cgroup_number(who, &id))
		who = cgroup_word(who);
	else if (!cgroup)
		uid = parse_uid(who);
	if (cgroup && !is_utf8(who))
		fail("cgroup: it is not UTF-8");
	if (!word_is(w, "budget"))
		fail("limits set %s %s: \"budget W\" or \"budget none\" is wanted",
		     key, who);
	s = word_value(w, "budget");
	milli = read_budget(s);
	words_end(w);
	if (opt.check_only)
		return EXIT_OK;
	f = connect_module();
	if (cgroup && !id && drop_budgets(f, who, !milli) && !milli) {
		fairlane_close(f);
		json_done();
		return EXIT_OK;
	}
	msg = ask_message(f, milli ? FL_CMD_BUDGET_SET : FL_CMD_BUDGET_DEL, 0);
	if (id)
		ask_u64(msg, FL_A_BUDGET_CGROUP_ID, id);
	else if (cgroup)
		ask_text(msg, FL_A_BUDGET_CGROUP, who);
	else
		ask_u32(msg, FL_A_BUDGET_UID, uid);
	if (milli)
		ask_u32(msg, FL_A_BUDGET_MILLI, milli);
	what = xprintf("limits set %s %s", key, who);
	ask_do(f, msg, NULL, 0, NULL, what);
	free(what);
	fairlane_close(f);
	json_done();
	return EXIT_OK;
}

static int limits_set(struct words *w)
{
	bool has_prio = false, has_weight = false, has_budget = false;
	struct limits l = { 0 };
	struct fairlane *f;
	struct nl_msg *msg;

	if (word_is(w, "uid"))
		return set_budget(w, false);
	if (word_is(w, "cgroup"))
		return set_budget(w, true);
	if (!words_left(w))
		fail("limits set: nothing to set (prio, weight, budget)");
	while (words_left(w)) {
		if (word_is(w, "prio")) {
			l.prio = attr_parse(FAIRLANE_PRIORITY,
					    word_value(w, "prio"), true);
			if (l.prio == FAIRLANE_UNSET)
				l.prio = FL_LIMIT_PRIORITY;
			has_prio = true;
		} else if (word_is(w, "weight")) {
			l.weight = attr_parse(FAIRLANE_WEIGHT,
					      word_value(w, "weight"), true);
			if (l.weight == FAIRLANE_UNSET)
				l.weight = FL_LIMIT_WEIGHT_MILLI;
			has_weight = true;
		} else if (word_is(w, "budget")) {
			l.budget = read_budget(word_value(w, "budget"));
			has_budget = true;
		} else if (word_is(w, "uid") || word_is(w, "cgroup")) {
			fail("limits set: uid or cgroup comes first, with budget alone: limits set uid USER budget W");
		} else {
			words_end(w);
		}
	}
	if (opt.check_only)
		return EXIT_OK;
	f = connect_module();
	msg = ask_message(f, FL_CMD_LIMIT_SET, 0);
	if (has_prio)
		ask_u32(msg, FL_A_LIMIT_PRIORITY_MAX, l.prio);
	if (has_weight)
		ask_u32(msg, FL_A_LIMIT_WEIGHT_MAX_MILLI, l.weight);
	if (has_budget)
		ask_u32(msg, FL_A_LIMIT_BUDGET_UID_MILLI, l.budget);
	ask_do(f, msg, NULL, 0, NULL, "limits set");
	fairlane_close(f);
	json_done();
	return EXIT_OK;
}

/* What is in force, as commands or as a document. */
void limits_save(FILE *out, cJSON *doc, bool exact)
{
	struct budgets list;
	struct limits l;
	size_t i;

	read_limits(&l, &list);
	if (doc)
		cJSON_AddItemToObject(doc, "limits", limits_json(&l, &list));
	if (out)
		fprintf(out, "limits set prio %u weight %s budget %s\n",
			l.prio, show_milli(l.weight),
			l.budget ? show_milli(l.budget) : "none");
	for (i = 0; i < list.n && out; i++) {
		const struct budget *b = &list.b[i];

		if (!b->milli)
			continue;
		if (of_cgroup(b)) {
			fputs("limits set", out);
			cgroup_save(out, b->cgroup, b->cgroup_id, exact);
			fprintf(out, " budget %s\n", show_milli(b->milli));
		} else {
			fprintf(out, "limits set uid %u budget %s\n", b->uid,
				show_milli(b->milli));
		}
	}
	free(list.b);
}

/* Commands that take back what was set. */
void limits_reset(FILE *out)
{
	struct budgets list;
	struct limits l;
	size_t i;

	read_limits(&l, &list);
	fputs("limits set prio default weight default budget none\n", out);
	for (i = 0; i < list.n; i++) {
		const struct budget *b = &list.b[i];

		if (!b->milli)
			continue;
		if (of_cgroup(b)) {
			fputs("limits set", out);
			cgroup_save(out, "", b->cgroup_id, true);
			fputs(" budget none\n", out);
		} else {
			fprintf(out, "limits set uid %u budget none\n",
				b->uid);
		}
	}
	free(list.b);
}

int cmd_limits(struct words *w)
{
	static const struct command commands[] = {
		{ "show", limits_show }, { "list", limits_show },
		{ "set", limits_set },
	};

	return command_run(commands, ARRAY_SIZE(commands), "command", "show",
			   usage, w);
}

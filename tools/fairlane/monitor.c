// SPDX-License-Identifier: GPL-2.0
/* fairlane monitor: who changes what, as it happens: the audit trail. */
#include "tool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static const char usage[] =
"usage: fairlane monitor [flow] [refused] [policy] [profile] [limits]\n"
"                        [count N] [timeout TIME]\n"
"Prints events from now on, of all kinds if none is named; with -j one JSON object\n"
"a line. Ends after N events, or after TIME (exit code 0), or when interrupted.\n"
"Events that were lost are told: \"lost N\".\n";

static const char *const kinds[__FL_EVENT_COUNT] = {
	[FL_EVENT_ATTR] = "flow", [FL_EVENT_REFUSED] = "refused",
	[FL_EVENT_POLICY_ADD] = "policy_add",
	[FL_EVENT_POLICY_DEL] = "policy_del", [FL_EVENT_PROFILE] = "profile",
	[FL_EVENT_LIMIT] = "limits", [FL_EVENT_BUDGET] = "budget",
};

/**
 * struct watching - what is wanted and what came
 * @kinds: mask of enum fl_event_kind
 * @left: events to print; 0: no end
 * @seq: of the last event
 */
struct watching {
	uint32_t kinds;
	uint32_t left;
	uint64_t seq;
};

/* RFC 3339 with nanoseconds. */
static void show_moment(char *text, size_t size, uint64_t ns)
{
	time_t t = ns / NSEC_PER_SEC;
	struct tm tm;
	size_t len;

	gmtime_r(&t, &tm);
	len = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, size - len, ".%09lluZ",
		 (unsigned long long)(ns % NSEC_PER_SEC));
}

static const char *limit_word(uint32_t what)
{
	return what == FL_A_LIMIT_PRIORITY_MAX ? "prio" :
	       what == FL_A_LIMIT_WEIGHT_MAX_MILLI ? "weight" : "budget";
}

static const char *limit_value(uint32_t what, uint32_t v)
{
	static char text[4][16];
	static unsigned int next;
	char *t = text[next++ % 4];

	if (what != FL_A_LIMIT_PRIORITY_MAX)
		return v ? show_milli(v) : "none";
	snprintf(t, 16, "%u", v);
	return t;
}

/* What was changed, from what to what. */
static void print_change(const struct fairlane_event *e)
{
	struct prefix dst = { .family = e->id.family, .len = e->prefix_bits };

	switch (e->kind) {
	case FL_EVENT_ATTR:
	case FL_EVENT_REFUSED:
		printf(" %s", flow_tuple(&e->id));
		if (e->what >= FAIRLANE_ATTRS)
			break;
		printf(" %s %s (%s) -> %s (%s)", attrs[e->what].word,
		       attr_show(e->what, e->old_value),
		       name_of_source(e->old_from),
		       attr_show(e->what, e->new_value),
		       name_of_source(e->new_from));
		if (e->policy)
			printf(" policy %u", e->policy);
		if (e->error)
			printf(" refused: %s", strerror(e->error));
		break;
	case FL_EVENT_POLICY_ADD:
	case FL_EVENT_POLICY_DEL:
		printf(" order %u", e->what);
		break;
	case FL_EVENT_PROFILE:
		memcpy(dst.addr, e->id.dst, 16);
		if (dst.family)
			printf(" dst %s", show_prefix(&dst));
		printf(" %s %u -> %u", e->name, e->old_value, e->new_value);
		break;
	case FL_EVENT_LIMIT:
		printf(" %s %s -> %s", limit_word(e->what),
		       limit_value(e->what, e->old_value),
		       limit_value(e->what, e->new_value));
		break;
	case FL_EVENT_BUDGET:
		if (e->has_uid_of)
			printf(" uid %u", e->uid_of);
		else
			printf(" cgroup #%llu", (unsigned long long)e->cgroup);
		printf(" %s -> %s", limit_value(0, e->old_value),
		       limit_value(0, e->new_value));
		break;
	}
}

static void print_event(const struct fairlane_event *e, const char *kind)
{
	char moment[48];

	show_moment(moment, sizeof(moment), e->time_ns);
	printf("%s %s", moment, kind);
	print_change(e);
	if (e->has_who) {
		printf(" by uid %u pid %u ", e->uid, e->pid);
		put_name(e->comm);
	}
	putchar('\n');
	fflush(stdout);
}

/* Old and new value under the names that the attribute has elsewhere. */
static void change_json(cJSON *obj, const struct fairlane_event *e)
{
	bool attr = (e->kind == FL_EVENT_ATTR || e->kind == FL_EVENT_REFUSED) &&
		    e->what < FAIRLANE_ATTRS;
	cJSON *old = cJSON_CreateObject(), *new = cJSON_CreateObject();

	if (attr) {
		cJSON_AddStringToObject(obj, "what", attrs[e->what].json);
		attr_json(old, e->what, e->old_value);
		attr_json(new, e->what, e->new_value);
		cJSON_AddItemToObject(obj, "old",
				      cJSON_DetachItemFromArray(old, 0));
		cJSON_AddItemToObject(obj, "new",
				      cJSON_DetachItemFromArray(new, 0));
		cJSON_AddStringToObject(obj, "old_from",
					name_of_source(e->old_from));
		cJSON_AddStringToObject(obj, "new_from",
					name_of_source(e->new_from));
	} else if (e->kind == FL_EVENT_POLICY_ADD ||
		   e->kind == FL_EVENT_POLICY_DEL) {
		json_u64(obj, "order", e->what);
	} else {
		const char *what = e->kind == FL_EVENT_PROFILE ? e->name :
				   e->kind == FL_EVENT_LIMIT ?
				   limit_word(e->what) : "budget";

		cJSON_AddStringToObject(obj, "what", what);
		if (e->kind == FL_EVENT_PROFILE ||
		    (e->kind == FL_EVENT_LIMIT &&
		     e->what == FL_A_LIMIT_PRIORITY_MAX)) {
			json_u64(obj, "old", e->old_value);
			json_u64(obj, "new", e->new_value);
		} else {
			cJSON_AddNumberToObject(obj, "old",
						e->old_value / 1000.0);
			cJSON_AddNumberToObject(obj, "new",
						e->new_value / 1000.0);
		}
	}
	cJSON_Delete(old);
	cJSON_Delete(new);
}

static void print_json(const struct fairlane_event *e, const char *kind)
{
	struct prefix dst = { .family = e->id.family, .len = e->prefix_bits };
	cJSON *obj = cJSON_CreateObject();
	char moment[48];

	show_moment(moment, sizeof(moment), e->time_ns);
	cJSON_AddStringToObject(obj, "time", moment);
	json_u64(obj, "time_ns", e->time_ns);
	json_u64(obj, "seq", e->seq);
	cJSON_AddStringToObject(obj, "kind", kind);
	change_json(obj, e);
	if (e->has_flow) {
		cJSON *flow = cJSON_AddObjectToObject(obj, "flow");

		id_json(flow, &e->id);
		json_u64(flow, "uid", e->owner);
		cJSON_AddStringToObject(flow, "cc", e->cc);
	}
	if (e->policy)
		json_u64(obj, "policy", e->policy);
	if (e->error)
		json_text(obj, "error", "%s", strerror(e->error));
	if (e->kind == FL_EVENT_PROFILE && dst.family) {
		memcpy(dst.addr, e->id.dst, 16);
		cJSON_AddStringToObject(obj, "dst", show_prefix(&dst));
	}
	if (e->has_uid_of)
		json_u64(obj, "uid_of", e->uid_of);
	if (e->cgroup)
		json_u64(obj, "cgroup_id", e->cgroup);
	if (e->has_who) {
		cJSON *who = cJSON_AddObjectToObject(obj, "by");

		json_u64(who, "uid", e->uid);
		json_u64(who, "pid", e->pid);
		cJSON_AddStringToObject(who, "name", e->comm);
	}
	json_line(obj);
}

/* Events that this reader did not get. */
static void print_lost(uint64_t n)
{
	cJSON *obj;

	if (!opt.json) {
		printf("lost %llu\n", (unsigned long long)n);
		fflush(stdout);
		return;
	}
	obj = cJSON_CreateObject();
	cJSON_AddStringToObject(obj, "kind", "lost");
	json_u64(obj, "events", n);
	json_line(obj);
}

static int on_event(const struct fairlane_event *e, void *arg)
{
	struct watching *w = arg;
	const char *kind = e->kind < ARRAY_SIZE(kinds) ? kinds[e->kind] :
			   "unknown";

	if (w->seq && e->seq > w->seq + 1)
		print_lost(e->seq - w->seq - 1);
	if (e->seq)
		w->seq = e->seq;
	if (!(w->kinds & 1U << e->kind))
		return 0;
	if (opt.json)
		print_json(e, kind);
	else
		print_event(e, kind);
	return w->left && !--w->left;
}

static bool take_kind(struct watching *watch, struct words *w)
{
	static const struct {
		const char *word;
		uint32_t mask;
	} list[] = {
		{ "flow", 1U << FL_EVENT_ATTR },
		{ "refused", 1U << FL_EVENT_REFUSED },
		{ "policy", 1U << FL_EVENT_POLICY_ADD |
			    1U << FL_EVENT_POLICY_DEL },
		{ "profile", 1U << FL_EVENT_PROFILE },
		{ "limits", 1U << FL_EVENT_LIMIT | 1U << FL_EVENT_BUDGET },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (word_is(w, list[i].word)) {
			watch->kinds |= list[i].mask;
			return true;
		}
	return false;
}

static atomic_int ended;

static void on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/* Wait for events until there were enough, or the time is over. */
static int watch(struct fairlane *f, struct watching *w, int64_t timeout_ms)
{
	struct pollfd p = { .fd = fairlane_events(f), .events = POLLIN };
	struct timespec now, start;

	if (p.fd < 0)
		fail_kernel("monitor: %s%s", fairlane_error(f), p.fd == -EPERM ?
			    " (needs CAP_NET_ADMIN in this network namespace)" : "");
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!ended) {
		int64_t left = -1;
		int err;

		if (timeout_ms >= 0) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			left = timeout_ms - (now.tv_sec - start.tv_sec) * 1000 -
			       (now.tv_nsec - start.tv_nsec) / 1000000;
			if (left <= 0)
				break;
		}
		if (poll(&p, 1, left) <= 0)
			continue;
		err = fairlane_events_read(f, on_event, w);
		if (err == -ENOBUFS)
			continue;	/* the gap in the numbers tells */
		if (err < 0)
			fail_kernel("monitor: %s", fairlane_error(f));
		if (err)
			break;
	}
	return EXIT_OK;
}

int cmd_monitor(struct words *w)
{
	struct watching watching = { 0 };
	int64_t timeout_ms = -1;
	struct sigaction act = { .sa_handler = on_signal };
	struct fairlane *f;
	int code;

	if (words_help(w, usage))
		return EXIT_OK;
	while (words_left(w)) {
		if (word_is(w, "count"))
			watching.left = need_u32("count",
						 word_value(w, "count"), 1,
						 UINT32_MAX);
		else if (word_is(w, "timeout"))
			timeout_ms = (need_time_ns("timeout",
						   word_value(w, "timeout")) +
				      999999) / 1000000;
		else if (!take_kind(&watching, w))
			words_end(w);
	}
	if (!watching.kinds)
		watching.kinds = UINT32_MAX;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	f = connect_module();
	code = watch(f, &watching, timeout_ms);
	fairlane_close(f);
	return code;
}

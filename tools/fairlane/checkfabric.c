// SPDX-License-Identifier: GPL-2.0
/* fairlane check: is the system what fabric.yaml says, and what do the flows say of it? */
#include "apply.h"
#include "classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* More differences than that are not told one by one. */
#define TELL_MAX	8
/* A flow that crawls does so in most of so many looks, so far apart. */
#define CRAWL_LOOKS	5
#define CRAWL_MOST	3
#define CRAWL_LOOK_US	20000
/* Stops of a flow from the first to the last look: a higher priority stops it once. */
#define STOPS_MANY	8

/* ---- the file ---------------------------------------------------------------- */

/* The document of a dry run, made by a child: a mistake ends only that. @said: then its
 * message.
 */
static cJSON *compare(const char *path, char *said, size_t size)
{
	FILE *out = file_for_child(), *err = file_for_child();
	int status = 0;
	cJSON *doc = NULL;
	char *text;
	size_t len;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(fileno(err), STDERR_FILENO);
		text = cJSON_PrintUnformatted(apply_compare(path));
		fputs(text, out);
		fflush(out);
		_exit(EXIT_OK);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail_kernel("fork: %s", strerror(errno));
	rewind(err);
	len = fread(said, 1, size - 1, err);
	said[len] = 0;
	said[strcspn(said, "\n")] = 0;
	if (!status) {
		fseek(out, 0, SEEK_END);
		len = ftell(out);
		rewind(out);
		text = xalloc(len + 1);
		if (fread(text, 1, len, out) == len)
			doc = cJSON_Parse(text);
		free(text);
	}
	fclose(out);
	fclose(err);
	return doc;
}

static const char *first_of(const cJSON *obj, const char *key)
{
	const cJSON *list = cJSON_GetObjectItem(obj, key);
	const char *s = cJSON_GetStringValue(cJSON_GetArrayItem(list, 0));

	return s ? s : "";
}

/* What is not as the file says. */
static void tell_differences(const cJSON *doc, const char *path)
{
	const cJSON *list = cJSON_GetObjectItem(doc, "namespaces"), *item;
	char *cure = xprintf("fairlane apply %s (--dry-run shows all)", path);
	int told = 0;

	cJSON_ArrayForEach(item, list) {
		const char *come = first_of(item, "add");

		if (told++ == TELL_MAX)
			break;
		check_add(VERDICT_PROBLEM, "fabric-file", cure,
			  "network namespace %s is not as %s says, such as \"%s%s\"",
			  cJSON_GetStringValue(cJSON_GetObjectItem(item, "netns")),
			  path, come[0] ? "" : "not ",
			  come[0] ? come : first_of(item, "remove"));
	}
	if (cJSON_GetArraySize(list) > TELL_MAX)
		check_add(VERDICT_PROBLEM, "fabric-file", cure,
			  "%d more network namespaces inherit nothing of it",
			  cJSON_GetArraySize(list) - TELL_MAX);
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(doc, "ports"))
		check_add(VERDICT_PROBLEM, "fabric-port", cure, "port %s %s",
			  cJSON_GetStringValue(cJSON_GetObjectItem(item, "dev")),
			  cJSON_GetObjectItem(item, "missing") ?
			  "is in the file and not there" :
			  "has not the queue that the file says");
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(doc, "narrow"))
		check_add(VERDICT_PROBLEM, "fabric-room", json_text_of(item, "cure"), "%s",
			  json_text_of(item, "text"));
	if (!told && !cJSON_GetArraySize(cJSON_GetObjectItem(doc, "ports")))
		check_add(VERDICT_OK, "fabric-file", NULL,
			  "host, namespaces and ports are as %s says", path);
	free(cure);
}

/* @path: named by the user; NULL: the usual file, if it is there */
void check_fabric(const char *path)
{
	char said[512];
	cJSON *doc;

	if (!path && access(FABRIC_FILE, F_OK))
		return;
	if (geteuid()) {
		check_add(VERDICT_NOTE, "fabric-file", "run it as root",
			  "%s cannot be compared without root",
			  path ? path : FABRIC_FILE);
		return;
	}
	doc = compare(path ? path : FABRIC_FILE, said, sizeof(said));
	if (doc)
		tell_differences(doc, path ? path : FABRIC_FILE);
	else
		check_add(VERDICT_PROBLEM, "fabric-file", "correct the file",
			  "%s", said);
	cJSON_Delete(doc);
}

/* ---- flows --------------------------------------------------------------------- */

static void tell_starving(const struct class *c)
{
	const char *name = c->name[0] ? c->name : "no class";

	if (c->for_prio)
		check_add(VERDICT_NOTE, "starving",
			  "fairlane top; give it a higher prio, or the others a limit or a lower one",
			  "%u flows of prio %u (%s) have data and send nothing: %s send to the same hosts",
			  c->starving, c->prio, name, class_waits(c));
	else
		check_add(VERDICT_PROBLEM, "starving",
			  "fairlane noise measure HOST; then base_rtt, noise and line_rate in the file, or a higher prio",
			  "%u flows of prio %u (%s) have data and send nothing, and none from here is in their way: flows of other hosts are, or their channel is too narrow",
			  c->starving, c->prio, name);
}

/* Is all that a flow has ever seen above the delay where it must stop? Its base RTT is
 * too low, or the channel too narrow, and an operator has said so.
 */
static bool too_narrow(const struct fairlane_flow *f)
{
	const struct fl_info *i = &f->info;

	return f->has_info && f->has_tcp && i->limit_ns && i->base_rtt_ns &&
	       (i->base_rtt_from == FL_FROM_NETNS ||
		i->base_rtt_from == FL_FROM_PROFILE) &&
	       f->min_rtt_us && f->min_rtt_us * 1000ULL > i->limit_ns;
}

static void tell_narrow(const struct flows *now)
{
	const struct fairlane_flow *example = NULL;
	unsigned int n = 0;
	char dst[48], *cure;
	size_t i;

	for (i = 0; i < now->n; i++)
		if (too_narrow(&now->f[i])) {
			example = &now->f[i];
			n++;
		}
	if (!n)
		return;
	show_address(dst, sizeof(dst), example->id.family, example->id.dst);
	cure = xprintf("base_rtt of paths that hold %s; fairlane noise measure %s tells it",
		       dst, dst);
	check_add(VERDICT_PROBLEM, "narrow", cure,
		  "%u flows have never seen a delay that they may send at: to %s %s at least, and prio %u stops above %s (base RTT %s)",
		  n, dst, show_time(example->min_rtt_us * 1000ULL),
		  example->info.priority, show_time(example->info.limit_ns),
		  show_time(example->info.base_rtt_ns));
	free(cure);
}

/* Has the flow data, and less than a packet under way, though its path was once short enough?
 * @prio: the highest priority here that has data: those below it may wait for that one.
 */
static bool crawls(const struct fairlane_flow *f, unsigned int prio)
{
	const struct fl_info *i = &f->info;

	return f->has_info && f->has_tcp && i->target_ns && f->send_queue_bytes &&
	       i->window_milli < 1000 && f->rtt_us * 1000ULL > i->target_ns &&
	       (i->state == FL_STATE_SENDING ||
		(i->state == FL_STATE_STOPPED && i->priority >= prio)) &&
	       f->min_rtt_us && f->min_rtt_us * 1000ULL < i->target_ns;
}

/* The highest priority that has data. */
static unsigned int highest_prio(const struct flows *look)
{
	unsigned int prio = 0;
	size_t i;

	for (i = 0; i < look->n; i++)
		if (look->f[i].has_info && look->f[i].send_queue_bytes &&
		    look->f[i].info.priority > prio)
			prio = look->f[i].info.priority;
	return prio;
}

/**
 * struct watched - what a flow does in CRAWL_LOOKS looks
 * @crawls: in how many it crawls. One look proves nothing: a healthy flow has less than a packet
 *	now and then.
 * @stops: how often it has stopped since the first
 * @bps: what was acknowledged since the first, bit/s
 */
struct watched {
	unsigned int crawls;
	unsigned long long stops;
	double bps;
};

/* Returns an array as long as @now, which the caller frees. */
static struct watched *watch(const struct flows *now)
{
	const struct flows *look = now;
	const struct fairlane_flow *f;
	struct filter filter;
	struct flows again;
	struct watched *w = xalloc((now->n + 1) * sizeof(*w));
	unsigned int k, prio;
	size_t i;

	memset(w, 0, now->n * sizeof(*w));
	for (k = 0; k < CRAWL_LOOKS; k++) {
		if (k) {
			usleep(CRAWL_LOOK_US);
			filter_init(&filter);
			flows_read(&again, &filter);
			flows_by_cookie(&again);
			look = &again;
		}
		prio = highest_prio(look);
		for (i = 0; i < now->n; i++) {
			f = k ? flows_find(look, now->f[i].id.cookie) : &now->f[i];
			if (!f)
				continue;
			w[i].crawls += crawls(f, prio);
			if (f->has_info && now->f[i].has_info &&
			    f->info.stops > now->f[i].info.stops)
				w[i].stops = f->info.stops - now->f[i].info.stops;
			if (look->time_ns > now->time_ns && f->acked_bytes > now->f[i].acked_bytes)
				w[i].bps = 8e9 * (f->acked_bytes - now->f[i].acked_bytes) /
					   (look->time_ns - now->time_ns);
		}
		if (k) {
			flows_free(&again);
			filter_free(&filter);
		}
	}
	return w;
}

static void tell_jitter(const struct flows *now, const struct watched *w)
{
	const struct fairlane_flow *example = NULL;
	unsigned int n = 0;
	char dst[48], *cure, *noise;
	size_t i;

	for (i = 0; i < now->n; i++)
		if (w[i].crawls >= CRAWL_MOST) {
			example = &now->f[i];
			n++;
		}
	if (!n)
		return;
	show_address(dst, sizeof(dst), example->id.family, example->id.dst);
	noise = sysctl_text("/proc/sys/net/fairlane/noise_ns");
	cure = xprintf("fairlane noise measure %s tells the noise_ns of an idle path", dst);
	check_add(VERDICT_PROBLEM, "jitter", cure,
		  "%u flows have less than a packet under way: to %s the delay is above the target of prio %u (%s), although it was %s once. Flows of others fill the line, or delays jitter by more than noise_ns, %s, says",
		  n, dst, example->info.priority, show_time(example->info.target_ns),
		  show_time(example->min_rtt_us * 1000ULL), noise ? noise : "?");
	free(noise);
	free(cure);
}

/* Does flow @i stop again and again, by the rate of a device that nobody has said is the slowest,
 * while all flows to the same address leave half of that rate? Where they use it, they take turns.
 */
static bool stops_in_vain(const struct flows *now, const struct watched *w, size_t i)
{
	const struct fairlane_flow *f = &now->f[i];
	double free_bps = f->info.line_rate_mbps * 1e6 / 2;
	size_t k;

	if (w[i].stops < STOPS_MANY || (f->info.line_rate_from != FL_FROM_DEVICE &&
					f->info.line_rate_from != FL_FROM_ASSUMED))
		return false;
	for (k = 0; k < now->n && free_bps > 0; k++)
		if (now->f[k].id.family == f->id.family &&
		    !memcmp(now->f[k].id.dst, f->id.dst, sizeof(f->id.dst)))
			free_bps -= w[k].bps;
	return free_bps > 0;
}

/* Flows that stop for a queue that may be a packet on a slower line. */
static void tell_stops(const struct flows *now, const struct watched *w)
{
	const struct fairlane_flow *example = NULL;
	unsigned int n = 0;
	char dst[48];
	size_t i;

	for (i = 0; i < now->n; i++)
		if (stops_in_vain(now, w, i)) {
			example = &now->f[i];
			n++;
		}
	if (!n)
		return;
	show_address(dst, sizeof(dst), example->id.family, example->id.dst);
	check_add(VERDICT_NOTE, "slow-line",
		  "line_rate_mbps: what the slowest link has; net.fairlane.research.line_rate_measured=1 measures it",
		  "%u flows stop again and again: to %s prio %u takes the line for one of %u Mbit/s, and all flows to there get less than half of that. If it is slower, one packet may be a queue that stops the flow; or delays jitter, or flows of other hosts are in the way",
		  n, dst, example->info.priority, example->info.line_rate_mbps);
}

/* Paths that hold packets for longer than anybody has told. */
static void tell_held(const struct flows *now)
{
	const struct fairlane_flow *f = NULL;
	char dst[48], *cure, *noise;
	size_t i;

	for (i = 0; i < now->n; i++)
		if (now->f[i].has_info && now->f[i].info.held_ns > (f ? f->info.held_ns : 0))
			f = &now->f[i];
	if (!f)
		return;
	show_address(dst, sizeof(dst), f->id.family, f->id.dst);
	noise = sysctl_text("/proc/sys/net/fairlane/noise_ns");
	cure = xprintf("fairlane noise measure %s tells the noise_ns that hosts should have", dst);
	check_add(VERDICT_NOTE, "held", cure,
		  "to %s packets are held for up to %s without a queue, and noise_ns says %s: PrioPlus flows to there have wider channels than those of hosts that have not found out",
		  dst, show_time(f->info.held_ns), noise ? noise : "?");
	free(noise);
	free(cure);
}

/* Paths that are shorter than the namespace's settings say. */
static void tell_shorter(const struct flows *now)
{
	char *text = sysctl_text("/proc/sys/net/fairlane/base_rtt_ns"), dst[48];
	unsigned long long given_ns = text ? strtoull(text, NULL, 10) : 0;
	const struct fairlane_flow *f = NULL;
	size_t i;

	free(text);
	for (i = 0; i < now->n; i++)
		if (now->f[i].has_info && now->f[i].info.base_rtt_from == FL_FROM_MEASURED &&
		    now->f[i].info.base_rtt_ns && now->f[i].info.base_rtt_ns < given_ns)
			f = &now->f[i];
	if (!f)
		return;
	show_address(dst, sizeof(dst), f->id.family, f->id.dst);
	check_add(VERDICT_NOTE, "shorter",
		  "base_rtt by prefix in the file, or base_rtt_ns 0: it is measured",
		  "base_rtt_ns says %s, and packets to %s took %s: PrioPlus flows go by that",
		  show_time(given_ns), dst, show_time(f->info.base_rtt_ns));
}

/* Flows of our controls that no policy has given anything. */
static void tell_classless(const struct classes *list)
{
	unsigned int without = 0, with = 0;
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->c[i].policy)
			with += list->c[i].flows;
		else if (!list->c[i].prio)
			without += list->c[i].flows;
	if (with && without)
		check_add(VERDICT_NOTE, "classless",
			  "fairlane flow show prio 0; a last class without \"match\" takes what is left",
			  "%u flows fit no class, nobody has set them: they are prio 0",
			  without);
}

/* What policies are in vain, who starves, what is too narrow, who is in no class. */
void check_flows(void)
{
	struct watched *seen;
	struct classes list;
	struct filter filter;
	struct fairlane *f;
	struct flows now;
	size_t i;

	if (fairlane_open(&f))
		return;
	fairlane_close(f);
	check_policies();
	filter_init(&filter);
	flows_read(&now, &filter);
	classes_of(&list, &now, NULL);
	for (i = 0; i < list.n; i++)
		if (list.c[i].starving)
			tell_starving(&list.c[i]);
	tell_narrow(&now);
	if (now.n) {
		seen = watch(&now);
		tell_jitter(&now, seen);
		tell_stops(&now, seen);
		free(seen);
	}
	tell_held(&now);
	tell_shorter(&now);
	tell_classless(&list);
	check_long(&now);
	classes_free(&list);
	flows_free(&now);
	filter_free(&filter);
}

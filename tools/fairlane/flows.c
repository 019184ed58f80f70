// SPDX-License-Identifier: GPL-2.0
/*
 * A snapshot of flows: the kernel's sock_diag for all sockets, and what the module
 * knows of them if it is there. The socket cookie joins the two.
 */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* For those commands that can do nothing without it. */
struct fairlane *connect_module(void)
{
	struct fairlane *f;
	int err = fairlane_open(&f);

	if (err == -ENOENT)
		fail_kernel("the kernel module fairlane is not loaded (modprobe fairlane; \"fairlane check\" says what else is missing)");
	if (err)
		fail_kernel("netlink: %s", strerror(-err));
	return f;
}

struct reading {
	struct flows *list;
	const struct filter *filter;
};

static int keep_diag(const struct fairlane_flow *flow, void *arg)
{
	struct reading *r = arg;
	struct flows *l = r->list;

	l->f = xgrow(l->f, l->n, sizeof(*l->f));
	l->f[l->n++] = *flow;
	return 0;
}

static int by_cookie(const void *a, const void *b)
{
	const struct fairlane_flow *x = a, *y = b;

	return x->id.cookie < y->id.cookie ? -1 : x->id.cookie > y->id.cookie;
}

static int by_address(const void *a, const void *b)
{
	const struct fairlane_id *x = &((const struct fairlane_flow *)a)->id;
	const struct fairlane_id *y = &((const struct fairlane_flow *)b)->id;
	int d = x->family - y->family;

	d = d ? d : memcmp(x->src, y->src, 16);
	d = d ? d : x->sport - y->sport;
	d = d ? d : memcmp(x->dst, y->dst, 16);
	return d ? d : x->dport - y->dport;
}

/* For flows_find(). */
void flows_by_cookie(struct flows *list)
{
	if (list->n)
		qsort(list->f, list->n, sizeof(*list->f), by_cookie);
}

/* The flow with a cookie in a snapshot that flows_by_cookie() has sorted, or NULL. */
const struct fairlane_flow *flows_find(const struct flows *list,
				       uint64_t cookie)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (list->f[mid].id.cookie < cookie)
			low = mid + 1;
		else
			high = mid;
	}
	return low < list->n && list->f[low].id.cookie == cookie ?
	       &list->f[low] : NULL;
}

/* Add what the module knows to what sock_diag has told. */
static int keep_info(const struct fairlane_flow *flow, void *arg)
{
	struct reading *r = arg;
	struct fairlane_flow *f;

	f = (struct fairlane_flow *)flows_find(r->list, flow->id.cookie);
	if (f) {
		f->info = flow->info;
		memcpy(f->had_cc, flow->had_cc, sizeof(f->had_cc));
		f->has_info = true;
	}
	return 0;
}

/* One flow by its cookie is asked for alone, not by a dump of all. */
static int one_info(struct fairlane *f, struct reading *r)
{
	struct fairlane_id id = { .cookie = r->filter->cookie };
	struct fairlane_flow *flow;
	int err = fairlane_flow_find(f, &id, &flow);

	if (!err)
		keep_info(flow, r);
	free(flow);
	return err == -ENOENT ? 0 : err;
}

static void add_module_view(struct reading *r)
{
	struct fairlane *f;
	int err = fairlane_open(&f);

	if (err)
		return;
	r->list->from_module = true;
	err = r->filter->cookie ? one_info(f, r) :
	      fairlane_flow_dump(f, keep_info, r);
	if (err)
		note("the module's flows: %s", fairlane_error(f));
	fairlane_close(f);
}

/**
 * flows_read() - read the flows that a filter lets through
 * @list: gets them, sorted by address; release with flows_free()
 * @filter: the filter
 *
 * Needs no privilege. Without the module's netlink only sock_diag's view.
 */
void flows_read(struct flows *list, const struct filter *filter)
{
	struct reading r = { .list = list, .filter = filter };
	struct timespec now;
	size_t i, kept = 0;
	int err;

	memset(list, 0, sizeof(*list));
	err = fairlane_diag_dump(filter->states, keep_diag, &r);
	if (err)
		fail_kernel("sock_diag: %s%s", strerror(-err),
			    err == -ENOENT ? " (modprobe tcp_diag)" : "");
	clock_gettime(CLOCK_MONOTONIC, &now);
	list->time_ns = now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
	flows_by_cookie(list);
	add_module_view(&r);
	for (i = 0; i < list->n; i++)
		if (filter_has(filter, &list->f[i]))
			list->f[kept++] = list->f[i];
	list->n = kept;
	if (list->n)
		qsort(list->f, list->n, sizeof(*list->f), by_address);
}

void flows_free(struct flows *list)
{
	free(list->f);
	memset(list, 0, sizeof(*list));
}

bool flow_prio_known(const struct fairlane_flow *f)
{
	return f->has_info || f->has_diag;
}

uint32_t flow_prio(const struct fairlane_flow *f)
{
	return f->has_info ? f->info.priority : f->diag.priority;
}

/* What it does, or "" if its congestion control is not one of ours. */
const char *flow_state(const struct fairlane_flow *f)
{
	unsigned int state = f->has_info ? f->info.state :
			     f->has_diag ? f->diag.state : FL_STATE_NONE;

	return state == FL_STATE_NONE ? "" : name_of_state(state);
}

/* "10.0.0.1:5000 > 10.0.0.2:80"; several may be in use at once. */
const char *flow_tuple(const struct fairlane_id *id)
{
	static char texts[4][160];
	static unsigned int next;
	char *text = texts[next++ % ARRAY_SIZE(texts)], src[48], dst[48];
	bool six = id->family == AF_INET6;

	show_address(src, sizeof(src), id->family, id->src);
	show_address(dst, sizeof(dst), id->family, id->dst);
	if (!id->dport)
		snprintf(text, sizeof(texts[0]), "%s%s%s:%u > *", six ? "[" : "",
			 src, six ? "]" : "", id->sport);
	else
		snprintf(text, sizeof(texts[0]), "%s%s%s:%u > %s%s%s:%u",
			 six ? "[" : "", src, six ? "]" : "", id->sport,
			 six ? "[" : "", dst, six ? "]" : "", id->dport);
	return text;
}

void id_json(cJSON *obj, const struct fairlane_id *id)
{
	char text[48];

	cJSON_AddStringToObject(obj, "family",
				id->family == AF_INET6 ? "ipv6" : "ipv4");
	show_address(text, sizeof(text), id->family, id->src);
	cJSON_AddStringToObject(obj, "src", text);
	json_u64(obj, "sport", id->sport);
	show_address(text, sizeof(text), id->family, id->dst);
	cJSON_AddStringToObject(obj, "dst", text);
	json_u64(obj, "dport", id->dport);
	if (id->cookie)
		json_text(obj, "cookie", "%llx",
			  (unsigned long long)id->cookie);
}

static void info_flags_json(cJSON *obj, uint32_t flags)
{
	static const char *const names[] = {
		"probes", "telemetry", "telemetry_sent", "app_limited",
		"listener", "one_way", "open", "off",
	};
	cJSON *list = cJSON_AddArrayToObject(obj, "flags");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & 1U << i)
			cJSON_AddItemToArray(list,
					     cJSON_CreateString(names[i]));
}

/* A count of thousandths as a number. */
static void json_milli(cJSON *obj, const char *key, uint64_t milli)
{
	char text[40];

	snprintf(text, sizeof(text), "%llu.%03llu",
		 (unsigned long long)(milli / 1000),
		 (unsigned long long)(milli % 1000));
	cJSON_AddItemToObject(obj, key, cJSON_CreateRaw(text));
}

static void info_json(cJSON *obj, const struct fl_info *in)
{
	cJSON *from = cJSON_CreateObject();
	enum fairlane_attr attr;
	uint8_t source;

	for (attr = 0; attr < FAIRLANE_ATTRS; attr++) {
		attr_json(obj, attr, fairlane_info_value(in, attr, &source));
		cJSON_AddStringToObject(from, attrs[attr].json,
					name_of_source(source));
	}
	cJSON_AddItemToObject(obj, "from", from);
	if (in->policy)
		json_u64(obj, "policy", in->policy);
	cJSON_AddStringToObject(obj, "state", name_of_state(in->state));
	info_flags_json(obj, in->flags);
	json_milli(obj, "flows", in->flows_milli);
	if (in->hops)
		json_u64(obj, "hops", in->hops);
	json_u64(obj, "delay_ns", in->delay_ns);
	json_u64(obj, "target_ns", in->target_ns);
	json_u64(obj, "limit_ns", in->limit_ns);
	json_u64(obj, "held_ns", in->held_ns);
	json_u64(obj, "queue_ns", in->queue_ns);
	json_u64(obj, "target_queue_ns", in->target_queue_ns);
	json_milli(obj, "window_pkts", in->window_milli);
	json_u64(obj, "rate_bps", in->rate_bps);
	json_u64(obj, "stops", in->stops);
	json_u64(obj, "probes", in->probes);
	json_u64(obj, "probe_echoes", in->probe_echoes);
	json_u64(obj, "probe_losses", in->probe_losses);
	json_u64(obj, "watchdogs", in->watchdogs);
	json_u64(obj, "opens", in->opens);
	json_u64(obj, "telemetry_rx", in->telemetry_rx);
	json_u64(obj, "telemetry_bad", in->telemetry_bad);
	json_u64(obj, "updates", in->updates);
	if (!in->requests)
		return;
	json_u64(obj, "credits", in->credits);
	json_u64(obj, "credit_segs", in->credit_segs);
	json_u64(obj, "credits_wasted", in->credits_wasted);
	json_u64(obj, "paid_segs", in->paid_segs);
	json_u64(obj, "unpaid_segs", in->unpaid_segs);
	json_u64(obj, "requests", in->requests);
}

/* The short form that comes without the module's netlink. */
static void diag_json(cJSON *obj, const struct fl_diag *d)
{
	cJSON *from = cJSON_CreateObject();

	attr_json(obj, FAIRLANE_PRIORITY, d->priority);
	attr_json(obj, FAIRLANE_WEIGHT, d->weight_milli);
	cJSON_AddStringToObject(from, "prio", name_of_source(d->priority_from));
	cJSON_AddItemToObject(obj, "from", from);
	attr_json(obj, FAIRLANE_BASE_RTT, d->base_rtt_ns);
	cJSON_AddStringToObject(obj, "state", name_of_state(d->state));
	json_milli(obj, "flows", d->flows_q4 * 1000ULL / 16);
	json_u64(obj, "delay_ns", d->delay_ns);
	json_u64(obj, "queue_ns", d->queue_us * 1000ULL);
}

static void tcp_json(cJSON *obj, const struct fairlane_flow *f)
{
	cJSON *t = cJSON_AddObjectToObject(obj, "tcp");

	json_u64(t, "cwnd_pkts", f->cwnd_pkts);
	json_u64(t, "mss_bytes", f->mss_bytes);
	json_u64(t, "rtt_us", f->rtt_us);
	json_u64(t, "min_rtt_us", f->min_rtt_us);
	json_u64(t, "unacked_pkts", f->unacked_pkts);
	json_u64(t, "retrans_pkts", f->retrans_pkts);
	json_u64(t, "send_queue_bytes", f->send_queue_bytes);
	json_u64(t, "recv_queue_bytes", f->recv_queue_bytes);
	json_u64(t, "acked_bytes", f->acked_bytes);
	json_u64(t, "received_bytes", f->received_bytes);
	json_u64(t, "pacing_bps", f->pacing_bps);
	json_u64(t, "delivery_bps", f->delivery_bps);
}

/* @procs may be NULL. */
cJSON *flow_json(const struct fairlane_flow *f,
		 const struct proc_sockets *procs)
{
	const struct proc_socket *p = procs ? proc_find(procs, f->inode) : NULL;
	cJSON *obj = cJSON_CreateObject();

	id_json(obj, &f->id);
	cJSON_AddStringToObject(obj, "tcp_state", name_of_tcp(f->state));
	json_u64(obj, "uid", f->uid);
	json_u64(obj, "inode", f->inode);
	cJSON_AddStringToObject(obj, "cc", f->cc);
	if (f->has_info)
		info_json(obj, &f->info);
	else if (f->has_diag)
		diag_json(obj, &f->diag);
	if (f->had_cc[0])
		cJSON_AddStringToObject(obj, "had_cc", f->had_cc);
	if (f->has_tcp)
		tcp_json(obj, f);
	if (procs) {
		cJSON *list = cJSON_AddArrayToObject(obj, "processes");

		for (; p && p < procs->s + procs->n && p->inode == f->inode;
		     p++) {
			cJSON *proc = cJSON_CreateObject();

			cJSON_AddStringToObject(proc, "name", p->comm);
			json_u64(proc, "pid", p->pid);
			json_u64(proc, "fd", p->fd);
			cJSON_AddItemToArray(list, proc);
		}
	}
	return obj;
}

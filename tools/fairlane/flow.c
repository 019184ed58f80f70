// SPDX-License-Identifier: GPL-2.0
/* fairlane flow show: sockets, what they have and what they do. */
#include "tool.h"

#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
"usage: fairlane flow show [FILTER]\n"
"       fairlane flow set WHICH SETTINGS\n"
"       fairlane flow watch [FILTER] [interval TIME] [count N]\n"
"FILTER:   [src PREFIX[:PORT]] [dst PREFIX[:PORT]] [sport PORT[-PORT]]\n"
"          [dport PORT[-PORT]] [cookie HEX] [prio N] [cc NAME] [uid USER] [pid PID]\n"
"          [cgroup PATH] [state TCP-STATE|connected|listening|all]\n"
"WHICH:    pid PID fd FD | FILTER, which must fit one flow | FILTER all\n"
"SETTINGS: [prio N] [weight W] [base-rtt TIME] [line-rate RATE] [deadline TIME],\n"
"          each also \"default\"; or cc NAME, alone: another congestion control, live\n"
"set also knows [from CC]: flows that have it, as cc NAME beside settings means, too;\n"
"[share P%] with all: a part of them\n"
"show and watch need no root and work without the module as far as they can.\n";

/* " weight 2.5 (policy 3)" unless it is a default. */
static void show_attr(const struct fl_info *in, enum fairlane_attr attr)
{
	uint8_t from;
	uint32_t value = fairlane_info_value(in, attr, &from);

	if (attr != FAIRLANE_PRIORITY && !opt.details &&
	    (!value || from == FL_FROM_DEFAULT || from >= FL_FROM_NETNS))
		return;
	if (!value && attr != FAIRLANE_PRIORITY)
		return;
	printf(" %s %s", attrs[attr].word, attr_show(attr, value));
	if (from == FL_FROM_POLICY && in->policy)
		printf(" (policy %u)", in->policy);
	else if (from != FL_FROM_DEFAULT || opt.details)
		printf(" (%s)", name_of_source(from));
}

/* Counters, of those things that the flow has to do with. */
static void show_counters(const struct fl_info *in)
{
	const char *before = "\n\t";

	if (in->flags & FL_INFO_PROBES || in->probes) {
		printf("%sstops %llu probes %llu echoes %llu losses %llu watchdogs %llu",
		       before, (unsigned long long)in->stops,
		       (unsigned long long)in->probes,
		       (unsigned long long)in->probe_echoes,
		       (unsigned long long)in->probe_losses,
		       (unsigned long long)in->watchdogs);
		if (in->opens)
			printf(" opens %u%s", in->opens,
			       in->flags & FL_INFO_OPEN ? " (is open)" : "");
		before = " ";
	}
	if (in->flags & FL_INFO_TELEMETRY_SENT || in->telemetry_rx ||
	    in->telemetry_bad) {
		printf("%stelemetry %llu bad %llu", before,
		       (unsigned long long)in->telemetry_rx,
		       (unsigned long long)in->telemetry_bad);
		before = " ";
	}
	if (in->updates) {
		printf("%supdates %llu", before,
		       (unsigned long long)in->updates);
		before = " ";
	}
	if (in->requests)
		printf("%scredits %llu (of %u segments) wasted %llu green %llu red %llu requests %u",
		       before, (unsigned long long)in->credits, in->credit_segs,
		       (unsigned long long)in->credits_wasted,
		       (unsigned long long)in->paid_segs,
		       (unsigned long long)in->unpaid_segs, in->requests);
}

/* What the congestion control sees, with -d. */
static void show_details(const struct fl_info *in)
{
	printf("\n\tdelay %s", show_time(in->delay_ns));
	if (in->target_ns)
		printf(" target %s", show_time(in->target_ns));
	if (in->limit_ns)
		printf(" limit %s", show_time(in->limit_ns));
	if (in->held_ns)
		printf(" held %s", show_time(in->held_ns));
	if (in->flags & FL_INFO_TELEMETRY)
		printf(" queue %s", show_time(in->queue_ns));
	if (in->flags & FL_INFO_OWD)
		printf(" one-way");
	else if (in->flags & FL_INFO_TELEMETRY)
		printf(" target-queue %s", show_time(in->target_queue_ns));
	if (in->hops)
		printf(" hops %u", in->hops);
	if (in->flows_milli)
		printf(" flows %s", show_milli(in->flows_milli));
	if (in->state != FL_STATE_NONE)
		printf(" window %s", show_milli(in->window_milli));
	if (in->rate_bps || in->state == FL_STATE_STOPPED)
		printf(" rate %s", show_rate(in->rate_bps));
	if (in->flags & FL_INFO_APP_LIMITED)
		printf(" app-limited");
	show_counters(in);
}

static void show_processes(const struct fairlane_flow *f,
			   const struct proc_sockets *procs)
{
	const struct proc_socket *p = proc_find(procs, f->inode);

	for (; p && p < procs->s + procs->n && p->inode == f->inode; p++) {
		putchar(' ');
		put_name(p->comm);
		printf("[%d] fd %d", p->pid, p->fd);
	}
}

static void show_flow(const struct fairlane_flow *f,
		      const struct proc_sockets *procs)
{
	enum fairlane_attr attr;

	printf("%s %s", flow_tuple(&f->id), f->cc[0] ? f->cc : "-");
	if (f->state != TCP_ESTABLISHED)
		printf(" %s", name_of_tcp(f->state));
	if (f->has_info) {
		for (attr = 0; attr < FAIRLANE_ATTRS; attr++)
			show_attr(&f->info, attr);
	} else if (f->has_diag) {
		printf(" prio %u", f->diag.priority);
		if (f->diag.weight_milli != FL_WEIGHT_ONE_MILLI)
			printf(" weight %s", show_milli(f->diag.weight_milli));
	}
	if (flow_state(f)[0])
		printf(" %s", flow_state(f));
	if (f->had_cc[0])
		printf(" off (had %s)", f->had_cc);
	if (f->has_tcp && f->state == TCP_ESTABLISHED)
		printf(" cwnd %u rtt %s", f->cwnd_pkts,
		       show_time(f->rtt_us * 1000ULL));
	if (opt.details) {
		printf(" sk:%llx uid %u", (unsigned long long)f->id.cookie,
		       f->uid);
		show_processes(f, procs);
		if (f->has_info)
			show_details(&f->info);
		if (f->has_tcp)
			printf("\n\tacked %s received %s delivery %s pacing %s min-rtt %s retrans %u unacked %u queued %s",
			       show_bytes(f->acked_bytes),
			       show_bytes(f->received_bytes),
			       show_rate(f->delivery_bps),
			       f->pacing_bps ? show_rate(f->pacing_bps) : "off",
			       show_time(f->min_rtt_us * 1000ULL),
			       f->retrans_pkts, f->unacked_pkts,
			       show_bytes(f->send_queue_bytes));
	}
	putchar('\n');
}

static int flow_show(struct words *w)
{
	struct proc_sockets procs = { 0 };
	struct filter filter;
	struct flows list;
	size_t i;

	if (words_help(w, usage))
		return EXIT_OK;
	filter_init(&filter);
	while (words_left(w)) {
		if (word_is(w, "prio"))
			filter.prio = need_u32("prio", word_value(w, "prio"), 0,
					       FL_PRIORITY_MAX);
		else if (!filter_word(&filter, w))
			words_end(w);
	}
	flows_read(&list, &filter);
	if (opt.details)
		proc_sockets_all(&procs);
	if (opt.json) {
		cJSON *doc = cJSON_CreateArray();

		for (i = 0; i < list.n; i++) {
			cJSON *obj = flow_json(&list.f[i], opt.details ?
					       &procs : NULL);

			cJSON_AddItemToArray(doc, obj);
		}
		json_print(doc);
	} else {
		for (i = 0; i < list.n; i++)
			show_flow(&list.f[i], &procs);
	}
	free(procs.s);
	filter_free(&filter);
	flows_free(&list);
	return EXIT_OK;
}

int cmd_flow(struct words *w)
{
	static const struct command commands[] = {
		{ "show", flow_show }, { "list", flow_show },
		{ "set", flow_set }, { "watch", flow_watch },
	};

	return command_run(commands, ARRAY_SIZE(commands), "command", "show",
			   usage, w);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Timed events: changes of flows, and commands in nodes. A command runs beside
 * the traffic; its end is an event, too.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "traffic.h"

static struct proc *commands;	/* by event; pid 0: not running */

/* Changes of flows that already exist or are still to come. */
static void event_change(const struct plan_event *event)
{
	const int64_t *index = event->flows.items;
	size_t i;

	for (i = 0; i < event->flows.count; i++) {
		struct flow *flow = &flows[index[i]];

		if (event->cc)
			sender_set_cc(flow, event->cc);
		if (event->so_priority >= 0)
			sender_set_priority(flow, event->so_priority);
		if (event->weight_milli >= 0)
			sender_set_weight(flow, event->weight_milli);
	}
	index = event->stop.items;
	for (i = 0; i < event->stop.count; i++)
		sender_stop(&flows[index[i]]);
}

/* The time of an event has come. */
void event_run(const struct plan *plan, size_t index)
{
	const struct plan_event *event =
		PLAN_ITEM(struct plan_event, plan->events, index);

	if (!event->argv.count) {
		event_change(event);
		return;
	}
	if (!commands)
		commands = calloc(plan->events.count, sizeof(*commands));
	if (!commands)
		lab_fail("no memory for %zu events", plan->events.count);
	proc_start(&commands[index], event->node, event->argv.items, NULL, 0);
	watch_add(commands[index].pidfd, WATCH_COMMAND, index, EPOLLIN);
}

/* A command has ended; it must have succeeded. */
void event_command_ended(const struct plan *plan, size_t index)
{
	const struct plan_event *event =
		PLAN_ITEM(struct plan_event, plan->events, index);
	struct buffer out = { 0 }, err = { 0 };
	char text[256];
	int code;

	code = proc_finish(&commands[index], &out, &err);
	commands[index].pid = 0;
	proc_text(event->argv.items, text, sizeof(text));
	if (err.length)
		fprintf(stderr, "%s: `%s`: %s", node_name(event->node), text,
			err.data);
	if (code)
		lab_fail("event %zu at %lld ns: %s: `%s` ended with exit code %d; it said: \"%.500s\"",
			 index, (long long)event->at_ns,
			 node_name(event->node), text, code,
			 buffer_one_line(err.length ? &err : &out));
	buffer_free(&out);
	buffer_free(&err);
}

/* Waits for commands that outlast the traffic. */
void events_wait(const struct plan *plan)
{
	size_t i;

	for (i = 0; commands && i < plan->events.count; i++)
		if (commands[i].pid)
			event_command_ended(plan, i);
}

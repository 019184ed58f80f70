// SPDX-License-Identifier: GPL-2.0
/*
 * The course of the traffic: connections, time zero, agenda, end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "traffic.h"

#define EVENTS_AT_ONCE		256
#define CONNECTS_AT_ONCE	64
#define PROGRESS_STEPS		100
/* Time zero is that much after the last preparation, then rounded up. */
#define T0_AFTER_NS		(10 * NS_PER_MS)
#define T0_ROUND_NS		NS_PER_MS
/* The first timers after boot may come late by a tick. */
#define SETTLE_NS		(100 * NS_PER_MS)

#define NEVER			(-1)

struct flow *flows;
size_t flows_count;

static int epoll_fd, timer_fd;
static int64_t t0_ns;
static int64_t woken_ns;
static bool ended;

/* A time on the run's scale; NEVER stays -1. */
int64_t traffic_ns(int64_t at_ns)
{
	return at_ns == NEVER ? -1 : at_ns - t0_ns;
}

/*
 * When the events happened that are being handled: the time of the wake-up.
 * Handling takes no virtual time but for the clock reads in the kernel.
 */
int64_t traffic_now_ns(void)
{
	if (woken_ns == NEVER)
		woken_ns = lab_now_ns();
	return woken_ns;
}

/* Has epoll watch a file; kind and index come back with each event. */
void watch_add(int fd, enum watch_kind kind, size_t index, uint32_t events)
{
	struct epoll_event event = {
		.events = events,
		.data.u64 = (uint64_t)kind << 56 | index,
	};

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
		lab_fail("epoll: %s", strerror(errno));
}

/* Passes one event on. The timer is looked at afterwards. */
static void dispatch(const struct plan *plan, const struct epoll_event *event)
{
	size_t index = event->data.u64 & ((1ULL << 56) - 1);

	switch ((enum watch_kind)(event->data.u64 >> 56)) {
	case WATCH_TIMER:
		return;
	case WATCH_SENDER:
		sender_event(&flows[index], event->events);
		return;
	case WATCH_LISTENER:
		receiver_accept(index);
		return;
	case WATCH_RECEIVER:
		receiver_event(&flows[index], event->events);
		return;
	case WATCH_COMMAND:
		event_command_ended(plan, index);
		return;
	}
}

/* Waits for events and handles them. Returns true if the timer was among them. */
static bool wait_events(const struct plan *plan)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	bool timer = false;
	int count, i;

	count = epoll_wait(epoll_fd, events, EVENTS_AT_ONCE, -1);
	if (count < 0 && errno != EINTR)
		lab_fail("epoll_wait: %s", strerror(errno));
	woken_ns = NEVER;
	for (i = 0; i < count; i++) {
		timer |= events[i].data.u64 >> 56 == WATCH_TIMER;
		dispatch(plan, &events[i]);
	}
	return timer;
}

/* Sets the timer to an absolute time. */
static void timer_arm(int64_t at_ns)
{
	struct itimerspec when = {
		.it_value.tv_sec = at_ns / NS_PER_S,
		.it_value.tv_nsec = at_ns % NS_PER_S,
	};

	if (timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL))
		lab_fail("timerfd_settime: %s", strerror(errno));
}

static void flows_make(const struct plan *plan)
{
	size_t i;

	flows_count = plan->flows.count;
	flows = calloc(flows_count + 1, sizeof(*flows));
	if (!flows)
		lab_fail("no memory for %zu flows", flows_count);
	for (i = 0; i < flows_count; i++) {
		struct flow *flow = &flows[i];

		flow->plan = PLAN_ITEM(struct plan_flow, plan->flows, i);
		flow->fd = -1;
		flow->peer_fd = -1;
		flow->cc = flow->plan->cc;
		flow->so_priority = flow->plan->so_priority;
		flow->weight_milli = flow->plan->weight_milli;
		flow->connected_ns = NEVER;
		flow->started_ns = NEVER;
		flow->received_ns = NEVER;
		flow->acked_ns = NEVER;
		flow->stopped_ns = NEVER;
	}
}

/* Waits until flows first..last-1 that connect early are up on both sides. */
static void connect_wait(const struct plan *plan, size_t first, size_t last)
{
	size_t i;

	for (i = first; i < last; i++) {
		struct flow *flow = &flows[i];

		if (flow->plan->connect != PLAN_CONNECT_EARLY)
			continue;
		while (!sender_ready(flow)) {
			if (flow->state == FLOW_FAILED)
				lab_fail("flow %lld: cannot connect node %s to node %s, port %lld: %s",
					 (long long)flow->plan->id,
					 node_name(flow->plan->src),
					 node_name(flow->plan->dst),
					 (long long)flow->plan->dport,
					 strerror(flow->error));
			wait_events(plan);
		}
	}
}

/* Connects the early flows, some at a time so that no queue overflows. */
static void connect_early(const struct plan *plan)
{
	size_t i, first = 0, batch = 0;

	for (i = 0; i < flows_count; i++)
		if (flows[i].plan->connect == PLAN_CONNECT_EARLY)
			socket_opened(1);
	for (i = 0; i < flows_count; i++) {
		if (flows[i].plan->connect != PLAN_CONNECT_EARLY)
			continue;
		sender_connect(&flows[i]);
		if (++batch < CONNECTS_AT_ONCE)
			continue;
		connect_wait(plan, first, i + 1);
		first = i + 1;
		batch = 0;
	}
	connect_wait(plan, first, flows_count);
}

/* Fixes time zero and everything that depends on it. */
static void agenda_make(const struct plan *plan)
{
	int64_t at_ns = lab_now_ns() + T0_AFTER_NS;
	size_t i;

	t0_ns = (at_ns + T0_ROUND_NS - 1) / T0_ROUND_NS * T0_ROUND_NS;
	for (i = 0; i < flows_count; i++) {
		const struct plan_flow *flow = flows[i].plan;

		if (!flows[i].waits)
			agenda_add(t0_ns + flow->start_ns, AGENDA_START, i);
		if (flow->stop_ns >= 0)
			agenda_add(t0_ns + flow->stop_ns, AGENDA_STOP, i);
	}
	for (i = 0; i < plan->events.count; i++)
		agenda_add(t0_ns + PLAN_ITEM(struct plan_event, plan->events,
					     i)->at_ns,
			   AGENDA_EVENT, i);
	if (plan->sample.interval_ns)
		agenda_add(t0_ns, AGENDA_SAMPLE, 0);
	for (i = 1; i < PROGRESS_STEPS; i++)
		agenda_add(t0_ns + plan->end_ns / PROGRESS_STEPS * i,
			   AGENDA_PROGRESS, i);
	agenda_add(t0_ns + plan->end_ns, AGENDA_END, 0);
}

/* Does what an item of the agenda says. */
static void agenda_do(const struct plan *plan, const struct agenda_item *item)
{
	int64_t next_ns;

	switch (item->kind) {
	case AGENDA_STOP:
		sender_stop(&flows[item->index]);
		return;
	case AGENDA_EVENT:
		event_run(plan, item->index);
		return;
	case AGENDA_START:
		sender_start(&flows[item->index]);
		return;
	case AGENDA_DRAIN:
		sender_drain(&flows[item->index]);
		return;
	case AGENDA_SAMPLE:
		sample_take(plan, item->at_ns - t0_ns);
		next_ns = item->at_ns + plan->sample.interval_ns;
		agenda_add(next_ns, AGENDA_SAMPLE, 0);
		return;
	case AGENDA_PROGRESS:
		lab_say(item->index, item->at_ns - t0_ns, "traffic");
		return;
	case AGENDA_END:
		ended = true;
		return;
	}
}

/* Works through the agenda, each item at its time, until the end. */
static void agenda_run(const struct plan *plan)
{
	int64_t due_ns = NEVER;

	while (!ended) {
		if (due_ns != agenda_first()->at_ns) {
			due_ns = agenda_first()->at_ns;
			timer_arm(due_ns);
		}
		if (!wait_events(plan))
			continue;
		while (!ended && agenda_first()->at_ns <= due_ns) {
			struct agenda_item item = agenda_take();

			agenda_do(plan, &item);
		}
		due_ns = NEVER;
	}
}

/* Runs all flows and events of the plan and keeps what came of them. */
void traffic_run(const struct plan *plan, struct traffic_result *result)
{
	struct timespec settle = { .tv_nsec = SETTLE_NS };
	uint64_t before;

	lab_say(0, 0, "connect");
	nanosleep(&settle, NULL);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_MONOTONIC,
				  TFD_NONBLOCK | TFD_CLOEXEC);
	if (epoll_fd < 0 || timer_fd < 0)
		lab_fail("no epoll or timer: %s", strerror(errno));
	watch_add(timer_fd, WATCH_TIMER, 0, EPOLLIN | EPOLLET);
	flows_make(plan);
	gates_make(plan);
	sender_check_cc(plan);
	cutoff_prepare(plan);
	receiver_listen(plan);
	connect_early(plan);
	before = links_packets(plan);
	taps_start(plan);
	agenda_make(plan);
	lab_say(0, 0, "traffic");
	agenda_run(plan);
	result->t0_ns = t0_ns;
	result->packets_forwarded = links_packets(plan) - before;
	events_wait(plan);
	flowlist_write();
	sample_write(plan);
	result->taps_lost = taps_collect(plan);
}

/* Closes all sockets without a packet. */
void traffic_close(void)
{
	size_t i;

	for (i = 0; i < flows_count; i++) {
		if (flows[i].fd >= 0)
			socket_close_silently(flows[i].fd);
		if (flows[i].peer_fd >= 0)
			socket_close_silently(flows[i].peer_fd);
		flows[i].fd = -1;
		flows[i].peer_fd = -1;
	}
	receiver_unlisten();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Timers of tcp_prioplus, and the stack's own of a connection, by the tracepoints
 * of the kernel that tell when they run.
 */
#include <linux/hrtimer.h>
#include <linux/kallsyms.h>
#include <linux/timer.h>
#include <linux/tracepoint.h>
#include <net/inet_connection_sock.h>

#include "cost.h"

static struct tracepoint *cost_points[3];
static const char * const cost_point_names[] = {
	"hrtimer_expire_entry", "hrtimer_expire_exit", "timer_expire_entry",
};

static struct cost_span cost_timer_span;
static const struct hrtimer *cost_timer;

static bool cost_is_ours(const void *function)
{
	static const void *known;

	if (known != function && cost_is_of(function, "tcp_prioplus"))
		known = function;
	return known == function;
}

static void cost_on_entry(void *data, struct hrtimer *timer, ktime_t *now)
{
	if (!cost_is_ours(timer->function))
		return;
	cost_timer = timer;
	cost_begin(&cost_timer_span);
}

static void cost_on_exit(void *data, struct hrtimer *timer)
{
	if (cost_timer != timer)
		return;
	cost_timer = NULL;
	cost_end(&cost_timer_span, COST_SENDER, COST_TIMER);
}

static void cost_on_stack_timer(void *data, struct timer_list *timer,
				unsigned long baseclk)
{
	static const void *known;
	const struct sock *sk;
	char name[KSYM_SYMBOL_LEN];

	if (known != timer->function) {
		sprint_symbol_no_offset(name, (unsigned long)timer->function);
		if (strcmp(name, "tcp_write_timer"))
			return;
		known = timer->function;
	}
	sk = (const struct sock *)container_of(timer,
					       struct inet_connection_sock,
					       icsk_retransmit_timer);
	cost_sums[cost_role_of(sk)][COST_RTO].calls++;
}

static void * const cost_probes[] = {
	cost_on_entry, cost_on_exit, cost_on_stack_timer,
};

static void cost_match(struct tracepoint *point, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cost_points); i++)
		if (!strcmp(point->name, cost_point_names[i]))
			cost_points[i] = point;
}

static void cost_unregister(unsigned int count)
{
	while (count--)
		tracepoint_probe_unregister(cost_points[count],
					    cost_probes[count], NULL);
	tracepoint_synchronize_unregister();
}

/* Context: process. Return: 0 or a negative errno. */
int cost_timer_init(void)
{
	unsigned int i;
	int err;

	for_each_kernel_tracepoint(cost_match, NULL);
	for (i = 0; i < ARRAY_SIZE(cost_points); i++) {
		err = -ENOENT;
		if (cost_points[i])
			err = tracepoint_probe_register(cost_points[i],
							cost_probes[i], NULL);
		if (err) {
			cost_unregister(i);
			return err;
		}
	}
	return 0;
}

/* Context: process. */
void cost_timer_exit(void)
{
	cost_unregister(ARRAY_SIZE(cost_points));
}

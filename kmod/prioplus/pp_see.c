// SPDX-License-Identifier: GPL-2.0
/*
 * Which D-SACK is a probe's echo: the tracepoint tcp_probe, which each segment of every
 * established socket passes, looks at the range of the D-SACK while a probe is out.
 *
 * Sockets of others shall not pay for that: the tracepoint is used from the first
 * PrioPlus flow on until PP_SEE_LINGER after the last. Flows begin in softirq, where
 * tracepoints cannot be switched, so a work item does it. A probe that leaves before is
 * told by the count of echoes and by time stamps (pp_probe.c).
 */
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>

#include "compat/compat.h"
#include "fairlane/fl_tracepoint.h"
#include "pp_flow.h"

/* The next flow mostly comes soon. */
#define PP_SEE_LINGER	(10 * HZ)

static struct tracepoint *pp_see_tracepoint;
static atomic_t pp_see_users;
static void pp_see_switch(struct work_struct *work);
static DECLARE_DELAYED_WORK(pp_see_work, pp_see_switch);

/* First SACK block of a segment, in host order. Return: is there one? */
static bool pp_first_block(const struct tcphdr *th, u32 *from, u32 *to)
{
	const u8 *opt = (const u8 *)(th + 1);
	const u8 *end = (const u8 *)th + th->doff * 4;

	while (opt < end && *opt != TCPOPT_EOL) {
		if (*opt == TCPOPT_NOP) {
			opt++;
			continue;
		}
		if (end - opt < 2 || opt[1] < 2 || opt[1] > end - opt)
			return false;
		if (*opt == TCPOPT_SACK &&
		    opt[1] >= TCPOLEN_SACK_BASE + TCPOLEN_SACK_PERBLOCK) {
			*from = get_unaligned_be32(opt + 2);
			*to = get_unaligned_be32(opt + 6);
			return true;
		}
		opt += opt[1];
	}
	return false;
}

/* A segment that has come, before the stack looks at it: each of every established
 * socket. Context: softirq or backlog, socket lock held.
 */
static void pp_see(void *data, struct sock *sk, FL_TCP_PROBE_SKB *skb)
{
	struct pp_flow *fl;
	u32 from, to;

	if (inet_csk(sk)->icsk_ca_ops->get_info != pp_get_info)
		return;
	fl = pp_flow_of(sk);
	if (!fl || !fl->probes_out)
		return;
	fl->dsack = PP_DSACK_ECHO;
	if (pp_first_block(tcp_hdr(skb), &from, &to) && from != fl->probe_seq)
		fl->dsack = to - from == 1 ? PP_DSACK_OLD : PP_DSACK_DATA;
}

/* Uses the tracepoint, or not. Without memory the first flow after all have ended has
 * it tried again. Context: work, one at a time.
 */
static void pp_see_switch(struct work_struct *work)
{
	static bool used;
	bool use = atomic_read(&pp_see_users);

	if (use == used)
		return;
	if (!use)
		tracepoint_probe_unregister(pp_see_tracepoint, pp_see, NULL);
	else if (tracepoint_probe_register(pp_see_tracepoint, pp_see, NULL))
		return;
	used = use;
}

/* A flow begins. Context: any. */
void pp_see_use(void)
{
	if (atomic_inc_return(&pp_see_users) == 1)
		mod_delayed_work(fl_system_wq, &pp_see_work, 0);
}

/* A flow ends. Context: any. */
void pp_see_unuse(void)
{
	if (atomic_dec_and_test(&pp_see_users))
		mod_delayed_work(fl_system_wq, &pp_see_work, PP_SEE_LINGER);
}

/**
 * pp_see_init() - find the tracepoint
 *
 * Context: process, module load. Return: 0, or -EOPNOTSUPP: the kernel has none.
 */
int pp_see_init(void)
{
	/* the compiler compares the arguments */
	check_trace_callback_type_tcp_probe(pp_see);
	pp_see_tracepoint = fl_tracepoint("tcp_probe");
	return pp_see_tracepoint ? 0 : -EOPNOTSUPP;
}

/**
 * pp_see_exit() - the tracepoint is not used any more
 *
 * Context: process, module load or unload, no flow is left.
 */
void pp_see_exit(void)
{
	cancel_delayed_work_sync(&pp_see_work);
	pp_see_switch(NULL);
	tracepoint_synchronize_unregister();
}

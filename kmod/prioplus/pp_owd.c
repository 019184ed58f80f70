// SPDX-License-Identifier: GPL-2.0
/*
 * One-way delay in a PrioPlus flow: what the core is told where telemetry tells it,
 * and patience where many ACKs wait (Documentation/reference/telemetry.rst).
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "fairlane/fl_owd.h"
#include "pp_flow.h"

/* ACKs wait if they do so for this part of the base RTT. */
#define PP_BEHIND_PART		4
/* What a priority has of the line to own it: n / (n + 1). */
#define PP_OWN_PARTS		3
/* Round trips above the limit that a flow whose ACKs wait endures. */
#define PP_ENDURE_RTTS		3
/* In flight where probes are not answered, at least; packets. */
#define PP_FALLBACK_PKTS	2

/* Do so many ACKs wait that round trips are no measure? */
static bool pp_waits_behind(const struct pp_flow *fl)
{
	return fl->extra_ns >= fl->chan->base_ns / PP_BEHIND_PART;
}

/* While ACKs wait, bursts of them make the delay ahead and the window tell more flows
 * than there are: #flow does not go beyond what it was. Context: ACK, socket lock
 * held.
 */
static void pp_keep_flows(struct pp_flow *fl)
{
	if (!pp_waits_behind(fl) || !fl->core.flows_known)
		fl->flows_kept_q8 = 0;
	else if (!fl->flows_kept_q8)
		fl->flows_kept_q8 = fl->core.flows_q8;
	else
		fl->core.flows_q8 = min_t(u32, fl->core.flows_q8,
					  fl->flows_kept_q8);
}

/**
 * pp_one_way() - the delay to steer by, where telemetry may tell
 * @fl: the flow; caller holds the socket lock
 * @rtt_ns: an RTT, ns
 * @base_ns: what that is without queues, ns
 *
 * Context: ACK. Return: ns; 0 = this ACK tells nothing.
 */
u32 pp_one_way(struct pp_flow *fl, u32 rtt_ns, u32 base_ns)
{
	const struct fl_profile *pf = fl_profile_for(fl->sk, fl->fs);
	u32 delay_ns = fl_owd_sample(fl->tel, tcp_sk(fl->sk)->tcp_clock_cache,
				     rtt_ns, base_ns, READ_ONCE(pf->noise_ns));

	if (delay_ns) {
		fl->delay_ns = delay_ns;
		fl->extra_ns = rtt_ns > delay_ns ? rtt_ns - delay_ns : 0;
		pp_keep_flows(fl);
	}
	return delay_ns;
}

/* Was the line full of the own priority for the last round trip? */
static bool pp_owns_line(const struct pp_flow *fl, const struct rate_sample *rs)
{
	u64 own, line;

	if (rs->delivered <= 0 || rs->interval_us <= 0 ||
	    rs->interval_us > USEC_PER_SEC)
		return false;
	own = ((u64)rs->delivered * fl->core.flows_q8) <<
	      (FL_WND_SHIFT - PP_FLOWS_SHIFT);
	line = fl_ns_to_wnd(fl->chan->ppn, rs->interval_us * NSEC_PER_USEC);
	return div_u64(own, PP_OWN_PARTS) >= div_u64(line, PP_OWN_PARTS + 1);
}

/* Is a delay above the limit to be endured? Where ACKs wait, nothing can hold the
 * delay ahead as close as a channel is wide: what a step has done, and each change
 * behind, is seen a long round trip later. So it is for some round trips, and for as
 * long as the own priority fills the line; the original CC shrinks the window.
 * Context: ACK, socket lock held.
 */
static bool pp_endures(struct pp_flow *fl, const struct fl_sample *s,
		       const struct rate_sample *rs)
{
	struct pp_sock *ps = pp_sock_of(fl);

	if (!pp_waits_behind(fl) || s->delay_ns < fl->chan->limit_ns) {
		if (s->delay_ns)
			ps->over_ns = 0;
		return false;
	}
	if (!ps->over_ns)
		ps->over_ns = s->now_ns;
	return s->now_ns - ps->over_ns < PP_ENDURE_RTTS * (u64)s->rtt_ns ||
	       pp_owns_line(fl, rs);
}

/**
 * pp_decide_rare() - the core's decision about an ACK, where telemetry tells delays or
 *	probes are not answered
 * @fl: the flow; caller holds the socket lock
 * @s: what the ACK says
 * @rs: what the stack says of it
 *
 * Context: ACK. Return: PP_SEND, or PP_STOP.
 */
enum pp_verdict pp_decide_rare(struct pp_flow *fl, const struct fl_sample *s,
			       const struct rate_sample *rs)
{
	enum pp_verdict verdict;
	struct pp_chan chan;

	if (!fl->fallback && !(fl->tel && pp_endures(fl, s, rs)))
		return pp_on_rare_ack(&fl->core, fl->chan, s);
	chan = *fl->chan;
	chan.limit_ns = U32_MAX;
	verdict = pp_on_rare_ack(&fl->core, &chan, s);
	/* A receiver keeps the ACK of a packet that came alone, which would be a queue of 40 ms
	 * with each packet. No probe draws it here; a second packet does.
	 */
	if (fl->fallback && !fl->opened)
		fl->core.wnd = max_t(u64, fl->core.wnd, PP_FALLBACK_PKTS * FL_WND_ONE);
	return verdict;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What the channel of a flow is: from profile, settings of the socket, base RTT and line
 * rate. pp_share.c has the channels.
 */
#include <net/tcp.h>

#include "ledbat/core/ledbat.h"
#include "prioplus/core/pp_weight.h"
#include "pp_flow.h"

/* Most that the handshake's RTT is believed before the first own sample, us: a
 * lost SYN or SYN-ACK makes it a second, and the wait for a lost probe follows
 * from it. Longer paths are found by that wait's doubling.
 */
#define PP_HANDSHAKE_MAX_US	5000

/* W_LS, permille of the BDP (section 4.4: 125 to 1000); with paper = 1; */
#define PP_START_PERMILLE	500
#define PP_START_PAPER		125
/* with short_flows = 1, as the first window there. */
#define PP_START_SHORT		1000
#define PP_FIRST_SHORT		500
/* Longest wait before a probe, ns, and with short_flows = 1. */
#define PP_PROBE_CAP_NS		NSEC_PER_MSEC
#define PP_PROBE_CAP_SHORT_NS	(10 * NSEC_PER_USEC)

/* Where base RTTs are measured the queue is let drain once in so many times what the longest queue
 * and the path take, log2, and no more often than once in so many ns, log2. That costs less than a
 * hundredth of the line. It does not go by the base RTT, which is wrong where it matters.
 */
#define PP_DRAIN_SHIFT		10
#define PP_DRAIN_LEAST_SHIFT	28

/* A path has so many links at least, of the line's rate. Slower ones count as many. */
#define PP_LINKS_MIN		2

/* Measured base RTT, ns; 0 = not yet. */
static u32 pp_measured_base_ns(const struct pp_flow *fl, u64 line_bps)
{
	u32 base_ns = pp_base_rtt(fl)->data_ns;
	u64 probe_ns = pp_base_rtt(fl)->probe_ns, link_ns;

	if (probe_ns != FL_BASE_NONE) {
		/* a packet is longer by all its data but a byte, see pp_see_links() */
		link_ns = div64_u64((tcp_sk(fl->sk)->mss_cache - 1ULL) * 8 * NSEC_PER_SEC,
				    line_bps);
		probe_ns += max_t(u64, fl->links_ns, PP_LINKS_MIN * link_ns);
		base_ns = min_t(u64, base_ns, probe_ns);
	}
	return base_ns == FL_BASE_NONE ? 0 : base_ns;
}

/* Has a packet been sooner than the base RTT that was given? No path is longer than that. Until
 * one is back a probe must do, on two links at least.
 */
static bool pp_given_is_wrong(const struct pp_flow *fl, u32 given_ns, u64 line_bps)
{
	u32 data_ns = pp_base_rtt(fl)->data_ns;
	u32 least_ns = data_ns != FL_BASE_NONE ? data_ns : pp_measured_base_ns(fl, line_bps);

	return least_ns && least_ns < given_ns;
}

/* How a flow starts and comes back. With short_flows = 1 it takes the room that it sees at
 * once, comes back with the first probe below its limit and does not wait long for one:
 * good where few flows of a priority meet and most are gone after some RTTs.
 */
static void pp_conf_short(struct pp_conf *cf, bool short_flows)
{
	cf->start_permille = cf->paper ? PP_START_PAPER : PP_START_PERMILLE;
	cf->resume_permille = 1000;
	cf->probe_cap_ns = PP_PROBE_CAP_NS;
	if (!short_flows)
		return;
	cf->start_permille = PP_START_SHORT;
	cf->first_permille = PP_FIRST_SHORT;
	cf->resume_permille = 0;
	cf->probe_cap_ns = PP_PROBE_CAP_SHORT_NS;
}

/**
 * pp_configure() - compute and take a flow's channel
 * @fl: the flow; caller holds the socket lock
 * @pf: its profile
 *
 * Return: false without memory for a channel: the flow keeps what it has.
 */
bool pp_configure(struct pp_flow *fl, const struct fl_profile *pf)
{
	const struct pp_settings *own = fl_profile_part(pf, &pp_table);
	u32 wire = fl_wire_bytes(fl->sk);
	u64 line_bps = fl_sock_line_bps(fl->sk, fl->fs, pf, true);
	struct pp_conf cf = {
		.base_ns = fl_sock_base_rtt_ns(fl->fs, pf),
		.line_bps = line_bps,
		.wire_bytes = wire,
		.fluct_ns = READ_ONCE(pf->fluct_ns),
		.noise_ns = READ_ONCE(pf->noise_ns),
		.urgent_prio = READ_ONCE(own->urgent_priority),
		.ai_bytes = READ_ONCE(pf->ai_bytes),
		.share_ns = READ_ONCE(own->share_ns),
		.weight_milli = fl_sock_weight_milli(fl->sk, fl->fs),
		.paper = READ_ONCE(own->paper),
	};
	u32 was_milli = fl->chan ? fl->chan->weight_milli : 0;
	bool was_paper = fl->chan && fl->chan->paper;
	struct pp_chan chan = { };

	/* noise that was told is the same on all hosts: where it is enough, it counts alone */
	if (!cf.paper && pp_base_rtt(fl)->held_ns > cf.noise_ns)
		cf.held_ns = pp_base_rtt(fl)->held_ns;
	fl->gso_segs = fl_sock_gso_segs(fl->sk, pf, line_bps);
	pp_conf_short(&cf, READ_ONCE(own->short_flows));
	/* GAIN is a packet in an RTT */
	if (fl->core.original == &fl_ledbat_channel_ops)
		cf.ai_bytes = wire;
	if (!cf.paper && pp_given_is_wrong(fl, cf.base_ns, line_bps))
		cf.base_ns = 0;
	if (!cf.base_ns) {
		cf.base_ns = pp_measured_base_ns(fl, line_bps);
		cf.probe_base_ns = pp_base_rtt(fl)->probe_ns != FL_BASE_NONE ?
				   pp_base_rtt(fl)->probe_ns : 0;
	}
	if (!cf.base_ns)
		cf.base_ns = clamp_t(u32, tcp_sk(fl->sk)->srtt_us >> 3, 1,
				     PP_HANDSHAKE_MAX_US) * NSEC_PER_USEC;
	/* see pp_open.c */
	cf.base_ns += min_t(u32, fl->longer_ns, NSEC_PER_SEC);
	if (cf.probe_base_ns)
		cf.probe_base_ns += min_t(u32, fl->longer_ns, NSEC_PER_SEC);
	/* a measured RTT is any; ranges of the profile make this succeed */
	cf.base_ns = min_t(u32, cf.base_ns, NSEC_PER_SEC);
	cf.probe_base_ns = min_t(u32, cf.probe_base_ns, NSEC_PER_SEC);
	/* A probe is sooner than a packet. Else a receiver that acknowledges early makes
	 * flows go on by their probes and stop by their packets, again and again.
	 */
	if (cf.probe_base_ns >= cf.base_ns)
		cf.probe_base_ns = 0;
	pp_chan_init(&chan, &cf, fl->opened ? 0 : fl->prio);
	/* given for full packets only: how much shorter a probe takes depends on
	 * how many links there are
	 */
	if (!fl->longer_ns)
		chan.probe_base_ns = min_t(u32, chan.probe_base_ns,
					   pp_base_rtt(fl)->probe_ns);
	if (fl->fallback)
		chan.limit_ns = U32_MAX;
	if (fl->opened)
		chan.target_ns = max(chan.target_ns,
				     chan.base_ns + fl->open_ns);
	if (!pp_chan_take(fl, &chan))
		return false;
	pp_kin_join(fl, line_bps);
	fl_base_rtt_drain(pp_base_rtt(fl),
			  clamp_t(u32, fls64(pp_longest_queue_ns(fl->chan)) + PP_DRAIN_SHIFT,
				  PP_DRAIN_LEAST_SHIFT, FL_BASE_WINDOW_SHIFT));
	pp_reweigh(&fl->core, fl->chan, was_milli);
	if (was_paper != fl->chan->paper) {
		/* what one way keeps of a round means nothing to the other */
		fl->core.glide = 0;
		pp_skip(&fl->core, tcp_sk(fl->sk)->snd_nxt);
	}
	return true;
}

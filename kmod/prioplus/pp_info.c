// SPDX-License-Identifier: GPL-2.0
/*
 * What ss shows of a PrioPlus flow.
 *
 * A congestion control may return one attribute of 20 bytes, and a stock ss
 * prints only those of BBR and DCTCP. So the state goes out as BBR's, with
 * these meanings (ss -ti, "bbr:(bw:..,mrtt:..,pacing_gain:..,cwnd_gain:..)"):
 *
 *	bw		window / base RTT, bit/s; 0 = stopped
 *	mrtt		base RTT, ms
 *	pacing_gain	virtual priority
 *	cwnd_gain	#flow, estimated flows of this priority
 *
 * net.fairlane.research.ss_compat = 0 switches it off. Who asks with FL_DIAG_EXT, as
 * fairlane and a patched ss do, gets our own attribute (fl_diag.c).
 */
#include <linux/inet_diag.h>
#include <linux/module.h>

#include "fairlane/fl_owd.h"
#include "pp_flow.h"

/* ss divides the two gains by this. */
#define PP_INFO_GAIN_SHIFT	8

/* A bit beside others, for who does not hold the socket lock. It is read once. */
#define PP_SEEN(bit_)		data_race(!!(bit_))

/* A flow as BBR's attribute. Context: RCU, socket not locked. */
static void pp_fill_bbr(const struct pp_flow *fl, struct tcp_bbr_info *bbr)
{
	const struct pp_chan *chan = READ_ONCE(fl->chan);
	u64 bw = 0;

	if (!PP_SEEN(fl->core.stopped)) {
		/* bytes of the window, no more than 2^33 */
		bw = ((READ_ONCE(fl->core.wnd) >> 8) * READ_ONCE(fl->mss)) >>
		     (FL_WND_SHIFT - 8);
		bw = div_u64(min_t(u64, bw, 1ULL << 33) * NSEC_PER_SEC,
			     max_t(u32, chan->base_ns, 1));
	}
	memset(bbr, 0, sizeof(*bbr));
	bbr->bbr_bw_lo = (u32)bw;
	bbr->bbr_bw_hi = (u32)(bw >> 32);
	bbr->bbr_min_rtt = chan->base_ns / NSEC_PER_USEC;
	bbr->bbr_pacing_gain = (u32)READ_ONCE(fl->prio) << PP_INFO_GAIN_SHIFT;
	bbr->bbr_cwnd_gain = READ_ONCE(fl->core.flows_q8);
}

/**
 * pp_get_info() - state of a flow for inet_diag and TCP_CC_INFO
 * @sk: the socket, possibly a listener
 * @ext: attributes that the reader asks for
 * @attr: which one @info is
 * @info: where it goes
 *
 * Context: the socket is held, not locked, and its control may be changed meanwhile:
 * values may be torn from one another. TCP_CC_INFO has not even RCU.
 * Return: bytes in @info.
 */
size_t pp_get_info(struct sock *sk, u32 ext, int *attr,
		   union tcp_cc_info *info)
{
	const struct fl_attached *at;
	size_t size;

	size = fl_diag_fill(sk, ext, attr, info);
	if (size)
		return size;
	if (!(ext & ((1 << (INET_DIAG_BBRINFO - 1)) |
		     (1 << (INET_DIAG_VEGASINFO - 1)))) ||
	    !READ_ONCE(fl_profile_get(sock_net(sk))->ss_compat) ||
	    (1 << READ_ONCE(sk->sk_state)) & (TCPF_LISTEN | TCPF_CLOSE))
		return 0;
	rcu_read_lock();
	at = fl_sock_shown(sk, &pp_cc);
	if (at) {
		pp_fill_bbr(container_of(at, struct pp_flow, at), &info->bbr);
		*attr = INET_DIAG_BBRINFO;
		size = sizeof(info->bbr);
	}
	rcu_read_unlock();
	return size;
}

/* What the flow does, for the control plane. Context: RCU, socket not locked. */
static void pp_cc_info(struct sock *sk, const struct fl_attached *at,
		       struct fl_info *info)
{
	const struct pp_flow *fl = container_of(at, struct pp_flow, at);
	u32 probes, echoes, lost;
	const struct pp_chan *chan;
	bool fallback, stopped;
	u64 wnd;

	if (at == &pp_cc.none)
		return;
	chan = READ_ONCE(fl->chan);
	/* without SACK from the first packet on, before anything has started */
	fallback = PP_SEEN(fl->fallback);
	stopped = PP_SEEN(fl->core.stopped);
	info->state = fallback ? FL_STATE_FALLBACK :
		      !PP_SEEN(fl->started) ? FL_STATE_START :
		      stopped ? FL_STATE_STOPPED : FL_STATE_SENDING;
	if (!fallback)
		info->flags |= FL_INFO_PROBES;
	/* what was given counts while no packet has been sooner */
	if (!info->base_rtt_ns || info->base_rtt_ns > chan->base_ns) {
		info->base_rtt_ns = chan->base_ns;
		info->base_rtt_from = FL_FROM_MEASURED;
	}
	info->flows_milli = (u64)READ_ONCE(fl->core.flows_q8) * 1000 >> 8;
	info->target_ns = chan->target_ns;
	info->limit_ns = chan->limit_ns == U32_MAX ? 0 : chan->limit_ns;
	if (!stopped) {
		wnd = min_t(u64, READ_ONCE(fl->core.wnd), 1ULL << 48);
		info->window_milli = (wnd * 1000) >> FL_WND_SHIFT;
		info->rate_bps = fl_wnd_bps(wnd, READ_ONCE(fl->mss),
					    max_t(u32, chan->base_ns, 1));
	}
	info->stops = READ_ONCE(fl->stats.stops);
	/* no more echoes than probes, whatever comes in between */
	echoes = READ_ONCE(fl->stats.echoes);
	probes = max(READ_ONCE(fl->stats.probes), echoes);
	lost = probes - echoes;
	info->probes = probes;
	info->probe_echoes = echoes;
	info->probe_losses = lost - min_t(u32, READ_ONCE(fl->probes_out), lost);
	info->watchdogs = READ_ONCE(fl->stats.watchdogs);
	info->opens = READ_ONCE(fl->stats.opens);
	info->held_ns = chan->held_ns;
	if (PP_SEEN(fl->opened))
		info->flags |= FL_INFO_OPEN;
	if (READ_ONCE(fl->tel))
		fl_owd_info(sk, info);
}

/* Settings have changed: a flow that waits for its next probe asks at once, since
 * it may have the highest priority now. Context: socket lock held, process or
 * softirq; also from within pp_sk_init(), before there is a flow.
 */
static void pp_cc_changed(struct sock *sk)
{
	struct pp_flow *fl = pp_flow_of(sk);

	if (!fl)
		return;
	/* the next ACK looks, see pp_look() */
	pp_sock_of(fl)->look_seq = tcp_sk(sk)->snd_una - 1;
	if (fl->core.stopped && fl->timer_for == PP_TIMER_PROBE)
		pp_probe_after(fl, 0);
}

const struct fl_cc pp_cc = {
	.none = { .cc = &pp_cc },
	.name = "prioplus",
	.weighted = true,
	.measures_line = true,
	.info = pp_cc_info,
	.changed = pp_cc_changed,
};

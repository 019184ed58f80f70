// SPDX-License-Identifier: GPL-2.0
/*
 * One-way delay of a socket: lib/owd.c with what the telemetry option says.
 */
#include <linux/module.h>

#include "fl_sock.h"
#include "fl_owd.h"

/* A round trip longer by less than this part of the base RTT needs no pacing. */
#define FL_OWD_PACE_PART	4
/* Pacing is faster than the window by this part of it, */
#define FL_OWD_PACE_MORE	8
/* of as much of it as can be multiplied: packets << FL_WND_SHIFT. */
#define FL_OWD_PACE_MAX		(FL_WND_ONE << 17)

/**
 * fl_owd_want() - the profile may have switched it on or off
 * @sk: the socket; caller holds its lock
 * @tel: the socket's telemetry, NULL = none; updated
 * @want: net.fairlane.research.owd
 *
 * Return: true if that changed the size of packets.
 */
bool fl_owd_want(struct sock *sk, struct fl_tel **tel, bool want)
{
	struct fl_tel *old = *tel;

	if (want == !!old)
		return false;
	if (!want) {
		WRITE_ONCE(*tel, NULL);
		fl_tel_stop(sk, old);
		return true;
	}
	old = fl_tel_start(sk, FL_TEL_DELAY);
	if (!old)
		return false;
	memset(&old->owd, 0, sizeof(old->owd));
	old->owd.echoes = READ_ONCE(old->echoes);
	WRITE_ONCE(*tel, old);
	return true;
}
EXPORT_SYMBOL_GPL(fl_owd_want);

/**
 * fl_owd_sample() - delay to steer by
 * @tel: what fl_owd_want() gave; NULL = the RTT
 * @now_ns: monotonic time, ns
 * @rtt_ns: RTT of a packet or a probe, ns; 0 = none
 * @base_ns: the same without queues, ns
 * @slack_ns: B, ns
 *
 * Context: ACK, socket lock held. The option was read before TCP has seen the
 * ACK; if more than one came meanwhile, the newest counts.
 * Return: ns; 0 = this ACK tells nothing.
 */
u32 fl_owd_sample(struct fl_tel *tel, u64 now_ns, u32 rtt_ns, u32 base_ns,
		  u32 slack_ns)
{
	struct fl_owd_sample s = {
		.now_ns = now_ns, .rtt_ns = rtt_ns, .base_ns = base_ns,
		.slack_ns = slack_ns,
	};
	u32 echoes;

	if (!tel)
		return rtt_ns;
	echoes = READ_ONCE(tel->echoes);
	s.fresh = echoes != tel->owd.echoes;
	tel->owd.echoes = echoes;
	s.ahead_ns = fl_tel_ns(READ_ONCE(tel->queue));
	s.back_ns = fl_tel_ns(READ_ONCE(tel->back));
	return fl_owd_delay(&tel->owd, &s);
}
EXPORT_SYMBOL_GPL(fl_owd_sample);

/**
 * fl_owd_pace() - spread a window over a round trip longer than the delay
 * @sk: the socket, after fl_apply_wnd(); caller holds its lock
 * @wnd: window, packets << FL_WND_SHIFT
 * @base_ns: RTT without queues, ns
 * @extra_ns: what the round trip is longer than the delay, ns
 *
 * ACKs that waited together come together, and the window would leave with them:
 * a queue that the flow makes itself. With a rate a little above its own it does
 * not. Context: ACK.
 */
void fl_owd_pace(struct sock *sk, u64 wnd, u32 base_ns, u32 extra_ns)
{
	u64 bytes, rate;

	if (extra_ns < base_ns / FL_OWD_PACE_PART || wnd < FL_WND_ONE)
		return;
	bytes = mul_u64_u32_shr(min_t(u64, wnd, FL_OWD_PACE_MAX),
				tcp_sk(sk)->mss_cache, FL_WND_SHIFT);
	bytes += bytes / FL_OWD_PACE_MORE;
	rate = div_u64(bytes * NSEC_PER_SEC, base_ns + extra_ns);
	WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate)));
}
EXPORT_SYMBOL_GPL(fl_owd_pace);

/**
 * fl_owd_info() - what the control plane shows of it
 * @sk: the socket, for which fl_owd_want() gave telemetry
 * @info: to be filled in
 *
 * Context: RCU, socket not locked: its telemetry is looked up.
 */
void fl_owd_info(const struct sock *sk, struct fl_info *info)
{
	const struct fl_tel *tel = fl_tel_lookup(sk);

	if (!tel)
		return;
	info->flags |= FL_INFO_TELEMETRY_SENT;
	info->telemetry_rx = READ_ONCE(tel->echoes);
	/* the socket may begin anew with it: a number to show */
	if (!data_race(READ_ONCE(tel->owd.on)))
		return;
	info->flags |= FL_INFO_TELEMETRY | FL_INFO_OWD;
	info->queue_ns = fl_tel_ns(READ_ONCE(tel->queue));
}
EXPORT_SYMBOL_GPL(fl_owd_info);

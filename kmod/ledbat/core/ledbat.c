// SPDX-License-Identifier: GPL-2.0
/*
 * LEDBAT's window control as a pure core (RFC 6817, section 2.4.2).
 *
 * The distance of the queueing delay from its target moves the window, up and
 * down by the same rule:
 *
 *	off_target = (TARGET - queueing delay) / TARGET
 *	W += GAIN * off_target * acked / W		at most GAIN in an RTT
 *
 * The current delay is the smallest of the last four (CURRENT_FILTER), the
 * base delay the smallest of the last ten minutes (BASE_HISTORY).
 *
 * As an original CC of PrioPlus, "target delay" includes the base delay, as
 * everywhere here: TARGET is t->target_ns - t->base_ns. GAIN is t->ai_wnd, which
 * PrioPlus scales by its estimate of #flow and raises for its adaptive increase
 * (section 4.2.3 of its paper; its simulator does the same). t->max_wnd carries
 * the RFC's flight size plus ALLOWED_INCREASE, t->min_wnd its MIN_CWND.
 *
 * Departures from the RFC:
 *
 * - A decrease takes at most half of the window in an RTT. The RFC knows no
 *   bound, since with its 100 ms an off_target below -1 is rare. With targets
 *   of microseconds, as in a datacenter, one late interrupt is an off_target of
 *   -100 and would cost the whole window. The bound is that of LEDBAT++
 *   (draft-irtf-iccrg-ledbat-plus-plus).
 * - Slow start at the beginning, until the queueing delay is three quarters of
 *   the target or something is lost; also LEDBAT++. The RFC's one packet in an
 *   RTT takes 80 s to fill 1 Gbit/s at an RTT of 30 ms.
 * - In a channel of PrioPlus (fl_ledbat_channel_ops) a window above the target
 *   loses half of its part of the excess in an RTT, W (delay - target) / delay / 2,
 *   if that is more. By the RFC's rule, GAIN packets at most times off_target, the
 *   overshoot of a newcomer stood above its limit for five RTTs (8 us for 100 us at
 *   10 Gbit/s) and made all flows of its priority stop: in four of ten starts of
 *   Figure 8 the link was idle for 70 us, and theirs after 500 us only.
 * - Below a window of one packet, which only PrioPlus asks for, an ACK is a
 *   whole RTT, as in Swift (fl_wnd_per_ack()).
 */
#include "ledbat.h"

/* Slow start ends at this many quarters of the target queueing delay. */
#define LEDBAT_SLOW_QUARTERS	3
/* In a channel, what is above the target is taken off in 2^this RTTs. */
#define LEDBAT_CUT_SHIFT	1
/* Fractional bits of off_target. */
#define LEDBAT_OFF_SHIFT	12
/* Largest off_target that is told apart: 256. */
#define LEDBAT_OFF_MAX		BIT(20)
/* The peer's clock may differ from ours by one part in 2^this: 6 %. */
#define LEDBAT_TICK_SHIFT	4

static void ledbat_core_init(void *state, u64 now_ns)
{
	struct fl_ledbat_state *st = state;
	u32 i;

	/* the first decrease needs no earlier one to wait for */
	st->dec_us = (u32)div_u64(now_ns, 1000) - 1000000;
	for (i = 0; i < FL_LEDBAT_FILTER - 1; i++)
		st->delay_ns[i] = 0;
}

/* FILTER(current_delays): note a delay, return the smallest of the last. */
static u32 ledbat_filter(struct fl_ledbat_state *st, u32 delay_ns)
{
	u32 least_ns = delay_ns;
	u32 i;

	for (i = 0; i < FL_LEDBAT_FILTER - 1; i++)
		if (st->delay_ns[i] && st->delay_ns[i] < least_ns)
			least_ns = st->delay_ns[i];
	for (i = FL_LEDBAT_FILTER - 2; i; i--)
		st->delay_ns[i] = st->delay_ns[i - 1];
	st->delay_ns[0] = delay_ns;
	return least_ns;
}

/* TARGET: queueing delay that is steered to, ns, at least 1. */
static u32 ledbat_target(const struct fl_target *t)
{
	return t->target_ns > t->base_ns ? t->target_ns - t->base_ns : 1;
}

/* |off_target|, at most LEDBAT_OFF_MAX. */
static u32 ledbat_off(u32 off_ns, u32 span_ns)
{
	return min_t(u64, div_u64((u64)off_ns << LEDBAT_OFF_SHIFT, span_ns),
		     LEDBAT_OFF_MAX);
}

/* What an ACK takes of the window above the target. */
static u64 ledbat_cut(const struct fl_target *t, u64 wnd, u64 step,
		      u32 delay_ns, u32 acked_pkts, bool channel)
{
	u32 over_ns = delay_ns - t->target_ns;
	u32 off = ledbat_off(over_ns, ledbat_target(t));
	u64 cut = (step * off) >> LEDBAT_OFF_SHIFT, part, most;

	if (channel) {
		part = div_u64((u64)over_ns << LEDBAT_OFF_SHIFT, delay_ns);
		part = fl_wnd_per_ack(mul_u64_u32_shr(wnd, part,
						      LEDBAT_OFF_SHIFT +
						      LEDBAT_CUT_SHIFT),
				      acked_pkts, wnd);
		cut = max_t(u64, cut, part);
	}
	most = min_t(u64, fl_wnd_per_ack(wnd / 2, acked_pkts, wnd), wnd / 2);
	return min_t(u64, cut, most);
}

static void ledbat_steer(void *state, const struct fl_target *t, u64 *wnd,
			 const struct fl_sample *s, bool channel)
{
	u32 delay_ns, off, span_ns = ledbat_target(t);
	u64 step;

	if (!s->delay_ns)
		return;
	delay_ns = ledbat_filter(state, s->delay_ns);
	step = fl_wnd_per_ack(t->ai_wnd, s->acked_pkts, *wnd);
	if (delay_ns < t->target_ns) {
		/* an empty queue is as far below the target as can be */
		off = ledbat_off(min_t(u32, t->target_ns - delay_ns, span_ns),
				 span_ns);
		if (s->wnd_limited)
			*wnd += (step * off) >> LEDBAT_OFF_SHIFT;
	} else {
		*wnd -= ledbat_cut(t, *wnd, step, delay_ns, s->acked_pkts,
				   channel);
	}
	*wnd = clamp_t(u64, *wnd, t->min_wnd, t->max_wnd);
}

static void ledbat_on_ack(void *state, const struct fl_target *t, u64 *wnd,
			  const struct fl_sample *s)
{
	ledbat_steer(state, t, wnd, s, false);
}

static void ledbat_on_ack_channel(void *state, const struct fl_target *t,
				  u64 *wnd, const struct fl_sample *s)
{
	ledbat_steer(state, t, wnd, s, true);
}

/**
 * fl_ledbat_slow_start() - one ACK of slow start
 * @st: LEDBAT's memory
 * @t: target
 * @wnd: window, packets << FL_WND_SHIFT
 * @s: the ACK
 *
 * Return: false if it is over; ACKs from the next one on go to on_ack().
 */
bool fl_ledbat_slow_start(struct fl_ledbat_state *st, const struct fl_target *t,
			  u64 *wnd, const struct fl_sample *s)
{
	u64 slow_ns = (u64)ledbat_target(t) * LEDBAT_SLOW_QUARTERS / 4;

	if (s->delay_ns &&
	    ledbat_filter(st, s->delay_ns) > t->base_ns + slow_ns)
		return false;
	if (s->wnd_limited)
		*wnd += (u64)s->acked_pkts << FL_WND_SHIFT;
	*wnd = clamp_t(u64, *wnd, t->min_wnd, t->max_wnd);
	return true;
}
EXPORT_SYMBOL_GPL(fl_ledbat_slow_start);

/* Section 2.4.2, "on data loss" and "on CTO". */
static void ledbat_on_loss(void *state, const struct fl_target *t, u64 *wnd,
			   u64 now_ns, u32 rtt_ns, enum fl_loss how)
{
	struct fl_ledbat_state *st = state;
	u32 now_us = div_u64(now_ns, 1000);

	if (how == FL_LOSS_TIMEOUT) {
		*wnd = min_t(u64, *wnd, FL_WND_ONE);
		st->dec_us = now_us;
		return;
	}
	/* at most once in an RTT */
	if (now_us - st->dec_us < rtt_ns / 1000)
		return;
	*wnd = min_t(u64, *wnd, max_t(u64, *wnd / 2, t->min_wnd));
	st->dec_us = now_us;
}

const struct fl_original_ops fl_ledbat_ops = {
	.name = "ledbat",
	.init = ledbat_core_init,
	.on_ack = ledbat_on_ack,
	.on_loss = ledbat_on_loss,
};
EXPORT_SYMBOL_GPL(fl_ledbat_ops);

const struct fl_original_ops fl_ledbat_channel_ops = {
	.name = "ledbat",
	.init = ledbat_core_init,
	.on_ack = ledbat_on_ack_channel,
	.on_loss = ledbat_on_loss,
};
EXPORT_SYMBOL_GPL(fl_ledbat_channel_ops);

/**
 * fl_ledbat_base_add() - note a delay in the history of base delays
 * @h: the history, zeroed at first
 * @now_ns: time, ns; must not go back
 * @delay: a delay, in any unit, see struct fl_ledbat_base
 *
 * RFC 6817: update_base_delay(), MIN(base_delays). Minutes without any delay
 * take no place in the history but age it: after ten of them nothing is left.
 *
 * Return: base delay, this one included.
 */
u32 fl_ledbat_base_add(struct fl_ledbat_base *h, u64 now_ns, u32 delay)
{
	u32 i, minutes;

	if (!h->known || now_ns >= h->end_ns) {
		minutes = FL_LEDBAT_HISTORY;
		if (h->known)
			minutes = min_t(u64, minutes,
					div64_u64(now_ns - h->end_ns,
						  FL_LEDBAT_MINUTE_NS) + 1);
		for (i = 0; i < minutes; i++) {
			h->at = (h->at + 1) % FL_LEDBAT_HISTORY;
			h->known &= ~BIT(h->at);
		}
		/* minutes are counted from the first delay in each */
		h->end_ns = now_ns + FL_LEDBAT_MINUTE_NS;
		h->known |= BIT(h->at);
		h->min[h->at] = delay;
		h->base = delay;
		for (i = 0; i < FL_LEDBAT_HISTORY; i++)
			if (h->known & BIT(i) &&
			    fl_seq_after(h->base, h->min[i]))
				h->base = h->min[i];
	} else if (fl_seq_after(h->min[h->at], delay)) {
		h->min[h->at] = delay;
		if (fl_seq_after(h->base, delay))
			h->base = delay;
	}
	return h->base;
}
EXPORT_SYMBOL_GPL(fl_ledbat_base_add);

/**
 * fl_ledbat_watch() - find out whether the peer's time stamps serve
 * @c: its clock, zeroed at first
 * @now_ns: time, ns
 * @tsval: time stamp that has come from the peer just now
 * @tick_ns: tick of our own time stamps, ns
 *
 * A one-way delay is the peer's stamp less our own that it echoes, which means
 * something only if both count the same. RFC 7323 lets a clock tick anything
 * from a millisecond to a second; so it is watched for a second. A tick that
 * differs by up to 6 % is the same one, seen through delays that vary.
 *
 * Return: enum fl_ledbat_trust.
 */
u8 fl_ledbat_watch(struct fl_ledbat_clock *c, u64 now_ns, u32 tsval,
		   u32 tick_ns)
{
	u64 want, elapsed_ns = now_ns - c->from_ns;
	s64 off;

	if (c->trust != FL_LEDBAT_WATCHING)
		return c->trust;
	if (!c->from_ns)
		goto again;
	if (elapsed_ns < FL_LEDBAT_WATCH_NS)
		return c->trust;
	want = div_u64(elapsed_ns, tick_ns);
	/* silence of half of what a stamp can count says nothing */
	if (want > U32_MAX / 2)
		goto again;
	off = (s64)(u32)(tsval - c->from_tsval) - (s64)want;
	if (off < 0)
		off = -off;
	c->trust = (u64)off <= want >> LEDBAT_TICK_SHIFT ? FL_LEDBAT_TICKS :
							   FL_LEDBAT_OTHER;
	return c->trust;
again:
	c->from_ns = now_ns;
	c->from_tsval = tsval;
	return c->trust;
}
EXPORT_SYMBOL_GPL(fl_ledbat_watch);

/**
 * fl_ledbat_queue_ns() - queueing delay on the way there
 * @owd: one-way delay, ticks; contains the unknown difference of the clocks
 * @base: smallest of the last minutes, ticks
 * @tick_ns: a tick, ns
 * @rtt_queue_ns: the same of the whole round trip, ns
 *
 * What waits on the way there is part of what waits on the whole way: more than
 * that is the clocks drifting apart, or a delayed ACK, whose echo is older than
 * the packet that drew it (RFC 6817, appendix A.2; RFC 7323, section 4).
 *
 * Return: ns.
 */
u32 fl_ledbat_queue_ns(u32 owd, u32 base, u32 tick_ns, u32 rtt_queue_ns)
{
	u64 queue_ns = fl_seq_after(owd, base) ? (u64)(owd - base) * tick_ns :
						 0;

	return min_t(u64, queue_ns, rtt_queue_ns);
}
EXPORT_SYMBOL_GPL(fl_ledbat_queue_ns);

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LEDBAT (RFC 6817, "Low Extra Delay Background Transport"): the window
 * control and what it knows about delays. ledbat.c explains it.
 */
#ifndef FL_LEDBAT_H
#define FL_LEDBAT_H

#include "lib/fl_cc.h"

/* CURRENT_FILTER: the smallest of so many delays is the current one. */
#define FL_LEDBAT_FILTER	4
/* BASE_HISTORY: minutes whose smallest delays are remembered. */
#define FL_LEDBAT_HISTORY	10
/* What such a minute is, ns. */
#define FL_LEDBAT_MINUTE_NS	60000000000ULL
/* How long a peer's clock is watched before it is believed, ns. */
#define FL_LEDBAT_WATCH_NS	1000000000ULL

/**
 * struct fl_ledbat_state - LEDBAT's memory of a flow
 * @dec_us: time of the last decrease for a loss, us modulo 2^32
 * @delay_ns: the last delays, newest first; 0 = none yet
 */
struct fl_ledbat_state {
	u32 dec_us;
	u32 delay_ns[FL_LEDBAT_FILTER - 1];
};

/**
 * struct fl_ledbat_base - the smallest delay of the last minutes
 * @end_ns: end of the minute that runs, ns; 0 = nothing added yet
 * @base: smallest of all
 * @min: smallest of each minute
 * @known: bit mask: which minutes have one
 * @at: index of the minute that runs
 *
 * Delays compare modulo 2^32, since one-way delays contain the unknown
 * difference of two clocks; they must be within 2^31 of each other.
 */
struct fl_ledbat_base {
	u64 end_ns;
	u32 base;
	u32 min[FL_LEDBAT_HISTORY];
	u16 known;
	u8 at;
};

/** enum fl_ledbat_trust - does the peer's time stamp clock serve? */
enum fl_ledbat_trust {
	FL_LEDBAT_WATCHING,	/* not known yet */
	FL_LEDBAT_TICKS,	/* it ticks as ours does */
	FL_LEDBAT_OTHER,	/* it does not, or there are no time stamps */
};

/**
 * struct fl_ledbat_clock - the peer's time stamp clock
 * @from_ns: when watching began, ns
 * @from_tsval: its time stamp then
 * @trust: enum fl_ledbat_trust
 */
struct fl_ledbat_clock {
	u64 from_ns;
	u32 from_tsval;
	u8 trust;
};

extern const struct fl_original_ops fl_ledbat_ops;
extern const struct fl_original_ops fl_ledbat_channel_ops;

bool fl_ledbat_slow_start(struct fl_ledbat_state *st, const struct fl_target *t,
			  u64 *wnd, const struct fl_sample *s);
u32 fl_ledbat_base_add(struct fl_ledbat_base *h, u64 now_ns, u32 delay);
u8 fl_ledbat_watch(struct fl_ledbat_clock *c, u64 now_ns, u32 tsval,
		   u32 tick_ns);
u32 fl_ledbat_queue_ns(u32 owd, u32 base, u32 tick_ns, u32 rtt_queue_ns);

#endif /* FL_LEDBAT_H */

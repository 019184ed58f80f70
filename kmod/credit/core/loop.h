/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver's feedback loop of ExpressPass (Cho, Jang, Han, "Credit-Scheduled
 * Delay-Bounded Congestion Control for Datacenters", SIGCOMM 2017, Algorithm 1),
 * as the authors of FlexPass run it. loop.c explains it.
 */
#ifndef FL_CREDIT_LOOP_H
#define FL_CREDIT_LOOP_H

#include "credit/core/wire.h"

/* Fractional bits of w, of the loss and of the target loss. */
#define FL_LOOP_SHIFT		10
#define FL_LOOP_ONE		BIT(FL_LOOP_SHIFT)
/* w: aggressiveness factor, at the start, least and most: 1/16, 1/100, 1/2 */
#define FL_LOOP_W_START		(FL_LOOP_ONE / 16)
#define FL_LOOP_W_MIN		(FL_LOOP_ONE / 100)
#define FL_LOOP_W_MAX		(FL_LOOP_ONE / 2)
#define FL_LOOP_W_STEP		(FL_LOOP_ONE / 20)
/* Target loss is at most 2^-this: 1/8, when the rate is near 0. */
#define FL_LOOP_TARGET_SHIFT	3
/* A gap is longer or shorter by up to 2^-this, at random: 1/8. */
#define FL_LOOP_JITTER_SHIFT	3
/* Slowest, credits a second. */
#define FL_LOOP_RATE_MIN	1000
/* Smoothing of the RTT: 1/4 for the new. */
#define FL_LOOP_RTT_SHIFT	2

/**
 * struct fl_loop - credit rate of a flow
 * @updated_ns: when the rate was last looked at
 * @timed_ns: when credit number @timed left
 * @rate: credits a second
 * @max: most, credits a second
 * @gap_ns: 1 / @rate
 * @rtt_ns: from a credit to the data that it pays for, smoothed; 0 = not known
 * @next: number of the credit that is expected to come back next
 * @total: credits whose fate has become known since @updated_ns
 * @dropped: of those, the ones that have not come back
 * @timed: number of the credit whose round trip is timed
 * @random: state of the generator for the jitter, not 0
 * @w: aggressiveness factor, << FL_LOOP_SHIFT
 * @timing: a credit's round trip is being timed
 * @may_grow: the last period was good, too
 * @begun: a credit has come back since fl_loop_begin()
 */
struct fl_loop {
	u64 updated_ns;
	u64 timed_ns;
	u32 rate;
	u32 max;
	u32 gap_ns;
	u32 rtt_ns;
	u32 next;
	u32 total;
	u32 dropped;
	u32 timed;
	u32 random;
	u16 w;
	bool timing;
	bool may_grow;
	bool begun;
};

void fl_loop_init(struct fl_loop *l, u32 max, u32 random);
void fl_loop_begin(struct fl_loop *l, u32 next);
void fl_loop_sent(struct fl_loop *l, u32 number, u64 now_ns);
void fl_loop_back(struct fl_loop *l, u32 number, u64 now_ns);
bool fl_loop_update(struct fl_loop *l, u64 now_ns);
void fl_loop_silence(struct fl_loop *l);
u32 fl_loop_gap_ns(struct fl_loop *l);

#endif /* FL_CREDIT_LOOP_H */

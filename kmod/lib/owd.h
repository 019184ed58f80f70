/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-way delay: an RTT without what the ACK waited for on its way back.
 * fl_owd.c explains it.
 */
#ifndef FL_CORE_OWD_H
#define FL_CORE_OWD_H

#include "fl_types.h"

/**
 * struct fl_owd - what a flow remembers
 * @heard_ns: when the newest echo came, monotonic ns
 * @echoes: the caller's: how many had come at the last sample
 * @unheard: ACKs with a delay since the newest echo, saturating
 * @on: echoes come
 */
struct fl_owd {
	u64 heard_ns;
	u32 echoes;
	u8 unheard;
	bool on;
};

/**
 * struct fl_owd_sample - what an ACK says
 * @now_ns: monotonic time, ns
 * @rtt_ns: RTT, ns; 0 = none
 * @base_ns: RTT without queues of what it is the RTT of, ns
 * @ahead_ns: longest queueing delay on the way there, as the echo tells, ns
 * @back_ns: longest queueing delay of the ACK, ns
 * @slack_ns: so much of an RTT may be unexplained: noise, ns
 * @fresh: this ACK has an echo, @ahead_ns and @back_ns are its
 */
struct fl_owd_sample {
	u64 now_ns;
	u32 rtt_ns;
	u32 base_ns;
	u32 ahead_ns;
	u32 back_ns;
	u32 slack_ns;
	bool fresh;
};

u32 fl_owd_delay(struct fl_owd *o, const struct fl_owd_sample *s);

#endif /* FL_CORE_OWD_H */

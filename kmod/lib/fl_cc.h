/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every congestion control core takes in, and the interface of an
 * "original CC" in the sense of the PrioPlus paper (section 4.1): a window
 * that is steered towards a target delay by an additive increase whose step
 * somebody else may scale.
 */
#ifndef FL_CC_H
#define FL_CC_H

#include "fl_types.h"

/**
 * struct fl_sample - what one ACK says
 * @now_ns: monotonic time of the ACK, ns
 * @delay_ns: RTT of the newest data that the ACK acknowledges, ns; 0 = none
 *	(retransmitted data, or nothing new)
 * @rtt_ns: the round trip of it, ns, where @delay_ns is less (fl_owd.c); 0 = it
 *	is not
 * @acked_pkts: packets newly acknowledged or selectively acknowledged
 * @ack_seq: highest sequence number acknowledged
 * @snd_nxt: next sequence number to be sent
 * @seq_per_pkt: sequence numbers in a full packet
 * @random: a fresh random number
 * @wnd_limited: the window (not the application) limited sending
 */
struct fl_sample {
	u64 now_ns;
	u32 delay_ns;
	u32 rtt_ns;
	u32 acked_pkts;
	u32 ack_seq;
	u32 snd_nxt;
	u32 seq_per_pkt;
	u32 random;
	bool wnd_limited;
};

/**
 * struct fl_target - the part of an original CC's settings that PrioPlus sets
 * @target_ns: target delay, base RTT included, ns
 * @base_ns: base RTT, ns, for those that go by the queueing delay
 * @ai_wnd: additive increase for each RTT, packets << FL_WND_SHIFT
 * @min_wnd: smallest window, packets << FL_WND_SHIFT
 * @max_wnd: largest window, packets << FL_WND_SHIFT
 */
struct fl_target {
	u32 target_ns;
	u32 base_ns;
	u32 ai_wnd;
	u64 min_wnd;
	u64 max_wnd;
};

/** enum fl_loss - how a loss was found */
enum fl_loss {
	FL_LOSS_FAST,		/* SACK, RACK: fast recovery begins */
	FL_LOSS_TIMEOUT,	/* the retransmission timer expired */
};

/* Room for the state of any original CC, bytes. */
#define FL_ORIGINAL_STATE	16

/**
 * struct fl_original_ops - an original CC
 * @name: as in the names of the congestion controls, "swift"
 * @init: begin with zeroed state at time @now_ns
 * @on_ack: move *@wnd by one ACK towards @t; samples with delay_ns 0 only
 *	count packets
 * @on_loss: move *@wnd because of a loss
 *
 * All are pure functions of their arguments; the caller serialises.
 */
struct fl_original_ops {
	const char *name;
	void (*init)(void *state, u64 now_ns);
	void (*on_ack)(void *state, const struct fl_target *t, u64 *wnd,
		       const struct fl_sample *s);
	void (*on_loss)(void *state, const struct fl_target *t, u64 *wnd,
			u64 now_ns, u32 rtt_ns, enum fl_loss how);
};

/**
 * fl_wnd_per_ack() - share of a per-RTT step that belongs to one ACK
 * @step: step for a whole RTT, packets << FL_WND_SHIFT
 * @acked_pkts: packets that the ACK acknowledges
 * @wnd: current window, packets << FL_WND_SHIFT
 *
 * Swift, Algorithm 1: cwnd += ai / cwnd * num_acked with at least a packet
 * of window, ai * num_acked below (an ACK is then a whole RTT or more).
 */
static inline u64 fl_wnd_per_ack(u64 step, u32 acked_pkts, u64 wnd)
{
	u64 total = step * min_t(u32, acked_pkts, 1024);

	if (wnd <= FL_WND_ONE)
		return total;
	/* eight bits of the window's fraction are enough for a divisor */
	return div64_u64(total << 8, wnd >> (FL_WND_SHIFT - 8));
}

#endif /* FL_CC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reactive half of FlexPass (section 4.2): DCTCP's window for segments that leave
 * without credit. fp_window.c explains it.
 */
#ifndef FP_WINDOW_H
#define FP_WINDOW_H

#include "lib/fl_types.h"

/* Fractional bits of the window. */
#define FP_WND_SHIFT	16
#define FP_WND_ONE	BIT(FP_WND_SHIFT)
/* Smallest window: a red segment in 4096 RTTs. */
#define FP_WND_MIN	(FP_WND_ONE / 4096)
/* Largest window, packets: counts on the wire have 14 bits. */
#define FP_WND_MAX_PKTS	4096
/* Fractional bits of alpha; g = 1 / 2^FP_G_SHIFT as DCTCP has it. */
#define FP_ALPHA_SHIFT	10
#define FP_G_SHIFT	4

/**
 * struct fp_window - reactive window of a flow
 * @last_ns: when the last segment should have left
 * @wnd: packets << FP_WND_SHIFT, at least FP_WND_MIN
 * @alpha: estimated part of marked packets, << FP_ALPHA_SHIFT
 * @seen: red segments that have come or are lost
 * @marks: of those that came, the marked ones
 * @round_begin: @seen when this RTT began
 * @round_end: this RTT ends when @seen is here
 * @round_marks: @marks when this RTT began
 * @sent: red segments sent when last looked at
 * @carry: what is left of @wnd as whole packets, added in the next RTT, << FP_WND_SHIFT
 * @cut_end: losses and marks until @seen is here belong to the last cut
 * @slow_start: nothing marked or lost yet
 */
struct fp_window {
	u64 last_ns;
	u32 wnd;
	u32 alpha;
	u32 seen;
	u32 marks;
	u32 round_begin;
	u32 round_end;
	u32 round_marks;
	u32 sent;
	u32 carry;
	u32 cut_end;
	bool slow_start;
};

void fp_window_init(struct fp_window *w, u32 first_pkts);
void fp_window_move(struct fp_window *w, u32 by, u32 marks);
void fp_window_update(struct fp_window *w, u32 sent, u32 seen, u32 marks,
		      bool loss);
u32 fp_window_room(struct fp_window *w, u32 sent, u64 now_ns, u32 rtt_ns,
		   u64 *wait_ns);
void fp_window_timeout(struct fp_window *w, u32 sent);

#endif /* FP_WINDOW_H */

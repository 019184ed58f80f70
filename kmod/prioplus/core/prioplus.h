/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PrioPlus (Zhang et al., "Enabling Virtual Priority in Data Center
 * Congestion Control", EuroSys 2025) as a pure core over an original CC.
 * prioplus.c explains it.
 */
#ifndef FL_PRIOPLUS_H
#define FL_PRIOPLUS_H

#include "lib/fl_cc.h"

/* Highest virtual priority. 0, the lowest, has @eps_ns instead of a channel. */
#define PP_PRIO_MAX		31
/* #flow never leaves 1 .. this. */
#define PP_FLOWS_MAX		4096
/* First window with unknown #flow, packets; pp_conf.first_permille makes it larger. */
#define PP_NEW_PKTS		2
/* Fractional bits of #flow. */
#define PP_FLOWS_SHIFT		8
#define PP_FLOWS_ONE		BIT(PP_FLOWS_SHIFT)
/* Of what the kin have in flight. */
#define PP_KIN_SHIFT		8
#define PP_WND_TO_KIN_SHIFT	(FL_WND_SHIFT - PP_KIN_SHIFT)

/** enum pp_rules - the rules of prioplus.c, which explains them */
enum pp_rules {
	PP_SCALE,
	PP_COUNT,
	PP_STEP,
	PP_PATIENCE,
	PP_RETURN,
	__PP_RULES,
};

/* In user space a rule can be switched off, to see what it is good for. */
#ifdef PP_ABLATION
extern u32 pp_rules_off;
#define pp_rule(rule_)		(!(pp_rules_off & BIT(rule_)))
#else
#define pp_rule(rule_)		((rule_) < __PP_RULES)
#endif

/**
 * struct pp_chan - the channel of a priority on a path, and its settings
 * @base_ns: RTT of a full packet and its ACK without queues, ns
 * @probe_base_ns: the same for a probe and its echo, ns
 * @target_ns: D_target, base RTT included, ns
 * @limit_ns: D_limit, base RTT included, ns; U32_MAX = the flow never stops
 * @lower_ns: D_limit of the next lower priority, ns
 * @width_ns: distance of two priorities' targets, ns: A + B, where A is at least
 *	what packets and base RTT ask for, see pp_chan.c
 * @eps_ns: a delay less than this above @base_ns is the base RTT, ns: 1 us, or the
 *	time of a packet if that is longer
 * @probe_cap_ns: longest wait before a probe, ns
 * @probe_room_ns: time on the line in which each flow of the priority may
 *	send a probe, ns
 * @ai_wnd: W_AI of the original CC, packets << FL_WND_SHIFT
 * @ai_most_wnd: the same times the flow's weight
 * @weight_milli: the flow's weight inside its priority, thousandths
 * @weight_l2: its logarithm to base 2, << 8
 * @share_ns: the target moves down by this with each doubling of the window for
 *	each weight, ns; 0 = it stays, see pp_weight.c
 * @share_l2: from this window for each weight on, logarithm to base 2 << 8
 * @ai_many_wnd: additive increase of all flows of the priority together, as
 *	far as their number allows: a flow's part is this / sqrt(#flow), and at
 *	most @ai_wnd; packets << FL_WND_SHIFT
 * @ppn: line rate, see fl_ppn()
 * @bdp_wnd: line rate times base RTT, packets << FL_WND_SHIFT
 * @start_wnd: W_LS, step of the linear start, packets << FL_WND_SHIFT
 * @first_wnd: largest first window with unknown #flow, packets << FL_WND_SHIFT
 * @max_wnd: largest window, line rate times D_limit, times 64: the rate may be wrong
 * @share_settled: only a flow that has settled has a target of its own
 * @held_ns: the path holds packets for up to this without a queue, see struct pp_conf, ns
 * @own_noise_ns: an excess is not another's if it is no more than this above what the own
 *	priority has in flight, see 4. in prioplus.c, ns; 0 = each excess is
 * @data_ns: the data of a full packet takes this on the links of a way, ns
 * @paper: do what the paper's Algorithm 1 prints
 * @urgent: flows begin without a probe (section 4.4)
 * @paced: the base RTT is long beside the channel: the sender spreads each
 *	window over a base RTT, see 1. in prioplus.c
 * @few: what probes wait for behind the packets of a host's other flows is about a channel: kin
 *	are asked for, see pp_kin_explains()
 * @clear_stop: points for resuming that a stop takes, see 5. in prioplus.c
 * @clear_heir: points that a preempted flow needs to resume
 * @clear_gap: points that it needs in addition for each channel between
 * @clear_ahead: points that it needs in addition for each of these that waits, too
 * @clear_base: points that a probe at base delay gives
 */
struct pp_chan {
	u32 base_ns;
	u32 probe_base_ns;
	u32 target_ns;
	u32 limit_ns;
	u32 lower_ns;
	u32 width_ns;
	u32 eps_ns;
	u32 probe_cap_ns;
	u32 probe_room_ns;
	u32 ai_wnd;
	u32 ai_many_wnd;
	u32 ai_most_wnd;
	u32 weight_milli;
	s32 weight_l2;
	u32 share_ns;
	s32 share_l2;
	u32 held_ns;
	u32 own_noise_ns;
	u32 data_ns;
	bool paper;
	bool urgent;
	bool paced;
	bool few;
	bool share_settled;
	u8 clear_stop;
	u8 clear_heir;
	u8 clear_gap;
	u8 clear_ahead;
	u8 clear_base;
	u64 ppn;
	u64 bdp_wnd;
	u64 start_wnd;
	u64 first_wnd;
	u64 max_wnd;
};

/**
 * struct pp_conf - what a channel is computed from
 * @base_ns: base RTT of full packets, ns, at least 1
 * @probe_base_ns: base RTT of probes, ns; 0 = from @base_ns, for a path of
 *	two links
 * @line_bps: line rate, bit/s
 * @wire_bytes: full packet on the line, bytes, at least 64
 * @fluct_ns: A, delay fluctuation of the original CC (section 4.3.2), ns; more
 *	where packets or the base RTT are long
 * @noise_ns: B, tolerable noise of a delay measurement (section 4.3.2), ns
 * @held_ns: the path holds packets for up to this when there is no queue (lib/hold.h), ns. Nobody
 *	has told, and the more packets are under way the longer each is held: B is at least twice
 *	that
 * @probe_cap_ns: see struct pp_chan
 * @start_permille: W_LS in permille of the BDP (section 4.4: 125 to 1000)
 * @first_permille: first window of a linear start with unknown #flow, in
 *	permille of the BDP; less than two packets are two
 * @ai_bytes: W_AI in bytes on the line
 * @weight_milli: weight inside the priority, thousandths; 0 = 1000
 * @share_ns: see struct pp_chan
 * @urgent_prio: priorities from this one on are urgent: they begin without a
 *	probe, and their W_LS is the BDP; 0 = none is
 * @resume_permille: points for resuming, permille of the usual; 0 = one probe below
 *	the limit does, as in the paper
 * @paper: see struct pp_chan
 */
struct pp_conf {
	u32 base_ns;
	u32 probe_base_ns;
	u64 line_bps;
	u32 wire_bytes;
	u32 fluct_ns;
	u32 noise_ns;
	u32 held_ns;
	u32 probe_cap_ns;
	u32 start_permille;
	u32 first_permille;
	u32 ai_bytes;
	u32 weight_milli;
	u32 share_ns;
	u32 urgent_prio;
	u32 resume_permille;
	bool paper;
};

/** enum pp_verdict - what the sender must do now */
enum pp_verdict {
	PP_SEND,	/* go on with the window */
	PP_STOP,	/* stop sending, probe after probe_wait_ns */
	PP_PROBE,	/* stay stopped, probe again after probe_wait_ns */
	PP_RESUME,	/* send again, with the window */
};

/**
 * struct pp_core - a PrioPlus flow
 * @wnd: window, packets << FL_WND_SHIFT; kept, but not used while stopped
 * @original: the original CC
 * @original_state: its state
 * @step_wnd: adaptive increase that the ACKs of this RTT share out (paper
 *	mode), packets << FL_WND_SHIFT
 * @ref_wnd: while #flow is not known, window of the packet that ended the last RTT when it
 *	was sent, packets << FL_WND_SHIFT; 0 = none
 * @glide_wnd: window that a new weight is to have, packets << FL_WND_SHIFT; only
 *	with @glide, and so with #flow known
 * @sent_wnd: of a flow that doubles (pp_grow.c), the window at the ends of the last two RTTs; of
 *	any other before and after the step that ended the last RTT, packets << FL_WND_SHIFT
 * @sent_seq: of a flow that doubles, next sequence number at these times
 * @ref_ns: delay of the packet of @ref_wnd, ns
 * @round_end: an ACK beyond this number ends the RTT
 * @probe_wait_ns: wait before the next probe, ns
 * @probe_ns: delay that the last probe saw, as of a full packet, ns
 * @flows_q8: #flow, estimated flows of this priority, << PP_FLOWS_SHIFT
 * @crowd_q8: flows of this priority that want to resume, << PP_FLOWS_SHIFT
 * @shift_ns: the flow's own target is this far below @target_ns, ns
 * @ai_of: the #flow that @ai_wnd is of; 0 = none
 * @ai_wnd: additive increase for an RTT with a packet of window and more, packets <<
 *	FL_WND_SHIFT
 * @kin_q8: what others of this host, to the same one and of this priority or a lower one, have in
 *	flight, packets << PP_KIN_SHIFT; 0 where nobody tells
 * @kin_waits: of those of its own priority, how many wait, itself too
 * @kin_ns: delay that one of them has seen last, ns
 * @countdown: RTTs at base delay until #flow is halved
 * @in_channel: RTTs that ended inside the own channel, forgotten outside
 * @over: consecutive samples above D_limit, no more counted than decide
 * @over_rounds: RTTs above D_limit in this conflict
 * @hold: RTTs for which a higher priority is suspected: no adaptive increase
 * @low_rounds: RTTs in a row that ended below @lower_ns during a hold
 * @glide: RTTs left to reach @glide_wnd; 0 = not on the way
 * @gap: channels between the own one and the delay that probes saw, the larger of
 *	the last two above the limit
 * @gap_last: the same of the last one, however many; on a long path since the last stop
 * @seen: bit i: the queue has stood i + 1 channels above the own one, and no higher since
 * @clear: points that probes have given for resuming
 * @stopped: not sending
 * @dual: the RTT after an adaptive increase is over (paper mode)
 * @linear: this run began with a linear start
 * @flows_known: #flow was measured, it is not a guess
 * @owns: while #flow is not known: all of the queue is the own priority's, as the line was
 *	empty, or the delay has followed the own growth
 * @shrunk: while #flow is not known: an excess was taken back, which does not show yet
 * @preempted: a higher priority has stopped the flow, or kept it from
 *	beginning, and it has not settled since
 * @kin_more: its kin have more than twice as much each, for their weights
 * @idle: stopped with a window as it had nothing to send, and nobody has kept it from going on
 *	since
 */
struct pp_core {
	u64 wnd;
	const struct fl_original_ops *original;
	u8 original_state[FL_ORIGINAL_STATE] __aligned(8);
	union {
		u64 step_wnd;
		u64 ref_wnd;
		u64 glide_wnd;
	};
	u64 sent_wnd[2];
	u32 sent_seq[2];
	u32 ref_ns;
	u32 round_end;
	u32 probe_wait_ns;
	u32 probe_ns;
	u32 flows_q8;
	u32 crowd_q8;
	u32 shift_ns;
	u32 ai_of;
	u32 ai_wnd;
	u32 kin_q8;
	u32 kin_waits;
	u32 kin_ns;
	u16 countdown;
	u16 seen;
	u8 in_channel;
	u8 over;
	u8 over_rounds;
	u8 hold;
	u8 low_rounds;
	u8 glide;
	u8 gap;
	u8 gap_last;
	s8 clear;
	u8 stopped:1,
	   dual:1,
	   linear:1,
	   flows_known:1,
	   owns:1,
	   shrunk:1,
	   preempted:1,
	   idle:1;
	u8 kin_more:1;
};

int pp_chan_init(struct pp_chan *ch, const struct pp_conf *cf, u32 prio);
void pp_init(struct pp_core *pp, const struct fl_original_ops *original, u64 now_ns,
	     u32 snd_nxt);
void pp_suspend_idle(struct pp_core *pp, u64 wnd);
void pp_begin_urgent(struct pp_core *pp, const struct pp_chan *ch, u32 snd_nxt);
void pp_move(struct pp_core *pp, bool up);
void pp_skip(struct pp_core *pp, u32 snd_nxt);
void pp_go(struct pp_core *pp, u64 wnd, u32 snd_nxt);
enum pp_verdict pp_on_probe(struct pp_core *pp, const struct pp_chan *ch,
			    u32 delay_ns, u32 snd_nxt, u32 random);
u64 pp_extra_wnd(const struct pp_core *pp, const struct pp_chan *ch,
		 u32 delay_ns, u32 extra_ns);
void pp_on_loss(struct pp_core *pp, const struct pp_chan *ch, u64 now_ns,
		u32 rtt_ns, enum fl_loss how);

#endif /* FL_PRIOPLUS_H */

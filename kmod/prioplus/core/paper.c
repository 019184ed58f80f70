// SPDX-License-Identifier: GPL-2.0
/*
 * PrioPlus as the paper prints it: Algorithm 1, for net.fairlane.research.paper = 1.
 *
 * Three things differ from the print. Line 15 doubles #flow where section 4.3.1 halves
 * it. Line 7 stops with the third sample above the limit where the text says two. A flow
 * whose share of W_LS is below a tenth of a packet probes again, as in the authors'
 * simulator.
 */
#include "pp_count.h"
#include "paper.h"

/* Below this share of W_LS a flow probes again (simulator). */
#define PP_PAPER_MIN_WND	(FL_WND_ONE / 10)

/* Lines 15, 16, 33, 34: #flow is halved after enough RTTs at base delay. */
static void pp_paper_count_down(struct pp_core *pp)
{
	if (pp->countdown)
		pp->countdown--;
	else
		pp->flows_q8 = max_t(u32, pp->flows_q8 / 2, PP_FLOWS_ONE);
}

/* Lines 8 and 9: #flow, and countdown = BaseBdp / W_LS. */
static void pp_paper_count(struct pp_core *pp, const struct pp_chan *ch,
			   u32 delay_ns)
{
	u64 n = div64_u64(ch->bdp_wnd, max_t(u64, ch->start_wnd, 1));

	pp->flows_q8 = max_t(u32, pp->flows_q8,
			     pp_flows_by_inflight(pp, ch, delay_ns));
	pp->countdown = min_t(u64, n, U16_MAX);
}

/* Lines 24 to 26: wait (delay - D_target) + random(BaseRtt), section 4.2.1. */
static void pp_paper_wait(struct pp_core *pp, const struct pp_chan *ch,
			  u32 delay_ns, u32 random)
{
	u64 wait_ns = ((u64)random * ch->base_ns) >> 32;

	if (delay_ns > ch->target_ns)
		wait_ns += delay_ns - ch->target_ns;
	pp->probe_wait_ns = min_t(u64, wait_ns, ch->probe_cap_ns);
}

/* Lines 2 to 6: an RTT has ended, every other one after an increase. */
static void pp_paper_turn(struct pp_core *pp, const struct fl_sample *s)
{
	pp->round_end = s->snd_nxt;
	pp->dual = !pp->dual;
	if (!pp->dual)
		pp->step_wnd = 0;
}

/* Lines 13 to 20: the end of an RTT below the limit. */
static void pp_paper_round(struct pp_core *pp, const struct pp_chan *ch,
			   const struct fl_sample *s)
{
	u64 step;

	if (s->delay_ns > ch->target_ns)
		return;
	if (pp_at_base(ch, s->delay_ns)) {
		pp->wnd += pp_own_part(pp, ch->start_wnd);
		pp_paper_count_down(pp);
	} else if (pp->dual) {
		step = div_u64(pp->wnd * (ch->target_ns - s->delay_ns),
			       s->delay_ns);
		pp->step_wnd = min_t(u64, pp->wnd / 2, step);
	}
}

/* Lines 7 to 11: the second sample in a row above the limit. */
static enum pp_verdict pp_paper_stop(struct pp_core *pp,
				     const struct pp_chan *ch,
				     const struct fl_sample *s)
{
	pp_paper_count(pp, ch, s->delay_ns);
	pp->stopped = 1;
	pp_paper_wait(pp, ch, s->delay_ns, s->random);
	return PP_STOP;
}

/**
 * pp_paper_ack() - NewAck of Algorithm 1
 * @pp: the flow, sending
 * @ch: its channel
 * @s: what the ACK says, with a delay
 *
 * Return: PP_SEND; or PP_STOP, and pp->probe_wait_ns is set.
 */
enum pp_verdict pp_paper_ack(struct pp_core *pp, const struct pp_chan *ch,
			     const struct fl_sample *s)
{
	bool turn = fl_seq_after(s->ack_seq, pp->round_end);
	u64 ai_wnd;

	if (turn)
		pp_paper_turn(pp, s);
	if (s->delay_ns >= ch->limit_ns && pp->over)
		return pp_paper_stop(pp, ch, s);
	pp->over = s->delay_ns >= ch->limit_ns;
	if (turn && !pp->over)
		pp_paper_round(pp, ch, s);
	ai_wnd = pp_own_part(pp, ch->ai_wnd) + pp->step_wnd;
	pp_original_ack(pp, ch, min_t(u64, ai_wnd, U32_MAX), s);
	return PP_SEND;
}

/**
 * pp_paper_probe() - NewProbeAck of Algorithm 1
 * @pp: the flow, stopped
 * @ch: its channel
 * @delay_ns: RTT of the probe as of a full packet, ns
 * @snd_nxt: next sequence number
 * @random: a fresh random number
 *
 * Return: PP_RESUME, and pp->wnd is set; PP_PROBE, and pp->probe_wait_ns is set.
 */
enum pp_verdict pp_paper_probe(struct pp_core *pp, const struct pp_chan *ch,
			       u32 delay_ns, u32 snd_nxt, u32 random)
{
	u64 wnd = 0;

	if (delay_ns < ch->limit_ns && pp_at_base(ch, delay_ns)) {
		wnd = pp_own_part(pp, ch->start_wnd);
		pp_paper_count_down(pp);
	} else if (delay_ns < ch->limit_ns) {
		wnd = FL_WND_ONE;
	}
	if (wnd < PP_PAPER_MIN_WND) {
		pp_paper_wait(pp, ch, delay_ns, random);
		return PP_PROBE;
	}
	pp_go(pp, wnd, snd_nxt);
	return PP_RESUME;
}

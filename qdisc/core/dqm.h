/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MLCC's destination queue management (MLCC, section 3.3.2): what a border router tells the
 * sender of a flow whose packets wait in a queue of their own there, so that they wait for a
 * target time, though the sender hears of it a round trip between datacenters later. Pure
 * integers: no packets, no clock, no locks. The caller serialises.
 *
 *	R_credit	rate at which the queue is emptied: the credit loop's, from ACKs
 *	R_tell		what the sender is told: R bar of the paper
 *	R_dqm		rate at which the target would be reached in theta
 *
 * Each step (a round trip behind the router, RTT_D, but RTT_C / DQM_RING at least):
 *
 *	Q_pre = Q + (mean of R_tell over the last RTT_C - R_credit) RTT_C	(1) to (3)
 *	D_pre = Q_pre / mean of the last five R_credit				(4)
 *	R_dqm = R_credit (1 - (D_pre - D_t) / theta)				(5)
 *
 * which is a Smith predictor: what was told in the last RTT_C has not arrived yet. From R_dqm
 * to R_tell there are three ways:
 *
 *	DQM_PRINTED	equations 6 to 9 as printed: each packet that leaves adds
 *			alpha R_dqm / R_credit to a token, and R_tell moves up by MTU / RTT_C if
 *			that makes a whole one, else down. This integrates D_pre - D_t, and the
 *			prediction leaves a second integrator: x'' = -(x - D_t) / (RTT_C theta),
 *			which swings for ever with a period of 2 pi sqrt(RTT_C theta).
 *	DQM_DAMPED	the same, compared with R_tell instead of R_credit: R_tell follows R_dqm
 *			with a time constant of RTT_C, damping sqrt(theta / RTT_C) / 2: .5, .87
 *			and 1.1 for the paper's theta of 6, 18 and 30 ms, which is what its
 *			Figure 9 tells of them.
 *	DQM_FILTER	no token: R_tell follows R_dqm with a time constant of RTT_C / 4, and
 *			theta is RTT_C: critically damped, settled in half of the time.
 *
 * Equation 5 holds below the target as well: a flow whose queue is too short is told more
 * than it may send. Misprints of the sums' bounds are read as means of the newest values.
 */
#ifndef FABRIC_DQM_H
#define FABRIC_DQM_H

#include "core/types.h"

/* Steps in an RTT between datacenters at most; a power of two. */
#define DQM_RING		256
/* Rates of the credit loop that (4) averages. */
#define DQM_CREDITS		5
/* Packets in an RTT_C that are told at least. */
#define DQM_LEAST		2
/* Fractional bits of the token and of parts. */
#define DQM_SHIFT		16
#define DQM_ONE			BIT(DQM_SHIFT)
/* Rates are below, bytes/s: 8 Tbit/s. Times are below 4 s, queues below 2^40 bytes. */
#define DQM_RATE_MAX		1000000000000ULL
#define DQM_QUEUE_MAX		BIT_ULL(40)

enum dqm_form {
	DQM_FILTER,
	DQM_DAMPED,
	DQM_PRINTED,
};

/**
 * struct dqm_par - parameters
 * @form: from R_dqm to R_tell
 * @theta_ns: time in which the target is to be reached, ns; 0: RTT_C
 * @target_ns: D_t: time that packets are to wait, ns
 * @line_bytes: fastest that the sender can send, bytes/s
 * @min_bytes: slowest rate to tell, bytes/s
 * @wire_bytes: a full packet on the line, bytes
 */
struct dqm_par {
	enum dqm_form form;
	u32 theta_ns;
	u32 target_ns;
	u64 line_bytes;
	u64 min_bytes;
	u32 wire_bytes;
};

/**
 * struct dqm_flow - a flow with a queue
 * @tell: R_tell, bytes/s
 * @dqm: R_dqm, bytes/s
 * @credit: R_credit, bytes/s
 * @credits: the last of them
 * @credit_sum: their sum
 * @cross_ns: RTT_C: between the datacenters, ns
 * @step_ns: from one step to the next, ns
 * @packet: MTU / RTT_C, bytes/s
 * @part: what a packet that leaves adds to the token, DQM_ONE at most
 * @token: below DQM_ONE
 * @at: oldest of @told
 * @steps: of @told in use: in RTT_C
 * @credit_at: oldest of @credits
 * @told_sum: sum of @told
 * @told: R_tell at the last steps
 */
struct dqm_flow {
	u64 tell;
	u64 dqm;
	u64 credit;
	u64 credits[DQM_CREDITS];
	u64 credit_sum;
	u32 cross_ns;
	u32 step_ns;
	u64 packet;
	u32 part;
	u32 token;
	u16 at;
	u16 steps;
	u8 credit_at;
	u64 told_sum;
	u64 told[DQM_RING];
};

static inline u64 dqm_bounded(const struct dqm_par *par, u64 rate)
{
	return max_t(u64, min_t(u64, rate, par->line_bytes), par->min_bytes);
}

/* Slowest rate to tell: DQM_LEAST packets in RTT_C, or the sender's next packet would be
 * further away than what it hears next; half of R_credit if that is less.
 */
static inline u64 dqm_least(const struct dqm_flow *f, const struct dqm_par *par)
{
	return max_t(u64, min_t(u64, DQM_LEAST * f->packet, f->credit / 2), par->min_bytes);
}

/* What may be told of a rate. */
static inline u64 dqm_tellable(const struct dqm_flow *f, const struct dqm_par *par, u64 rate)
{
	return max_t(u64, min_t(u64, rate, par->line_bytes), dqm_least(f, par));
}

/**
 * dqm_init() - a flow comes
 * @f: the flow
 * @par: parameters
 * @cross_ns: RTT_C, ns, 1000 and more
 * @near_ns: RTT_D, ns
 * @credit: R_credit at first, bytes/s: the receiving host's line, over its active queues
 *
 * The sender has been told nothing: what is on its way comes at the line's rate.
 */
static inline void dqm_init(struct dqm_flow *f, const struct dqm_par *par, u32 cross_ns,
			    u32 near_ns, u64 credit)
{
	int i;

	memset(f, 0, sizeof(*f));
	f->cross_ns = cross_ns;
	f->step_ns = max_t(u32, near_ns, max_t(u32, cross_ns / DQM_RING, 1));
	f->steps = clamp_t(u32, cross_ns / f->step_ns, 1, DQM_RING);
	f->packet = div_u64(par->wire_bytes * (u64)NSEC_PER_SEC, cross_ns);
	f->credit = dqm_bounded(par, credit);
	f->tell = par->line_bytes;
	f->dqm = f->tell;
	f->told_sum = f->steps * f->tell;
	for (i = 0; i < f->steps; i++)
		f->told[i] = f->tell;
	for (i = 0; i < DQM_CREDITS; i++)
		f->credits[i] = f->credit;
	f->credit_sum = DQM_CREDITS * f->credit;
}

/* Bytes that a rate sends in a time. */
static inline u64 dqm_bytes(u64 rate, u32 ns)
{
	return mul_u64_u64_div_u64(rate, ns, NSEC_PER_SEC);
}

/**
 * dqm_credit() - the credit loop has another rate: once in a round
 * @f: the flow
 * @par: parameters
 * @credit: R_credit, bytes/s
 *
 * In equation 9 R_tell is R_credit and what the token has made, so it moves along. So it
 * does without a token: the peak of Figure 9 is 39.2 instead of 42.4 MB.
 */
static inline void dqm_credit(struct dqm_flow *f, const struct dqm_par *par, u64 credit)
{
	u64 old = f->credit;

	f->credit = dqm_bounded(par, credit);
	f->credit_sum += f->credit - f->credits[f->credit_at];
	f->credits[f->credit_at] = f->credit;
	if (++f->credit_at == DQM_CREDITS)
		f->credit_at = 0;
	if (f->credit >= old)
		f->tell = dqm_tellable(f, par, f->tell + (f->credit - old));
	else
		f->tell = dqm_tellable(f, par, f->tell - min_t(u64, f->tell, old - f->credit));
}

/* Equations 1 to 4: how long packets will wait an RTT_C from now, ns; 5 s at most, which is longer
 * than all that it is compared with.
 */
static inline u64 dqm_predicted_ns(const struct dqm_flow *f, u64 queue_bytes)
{
	u64 in = dqm_bytes(div_u64(f->told_sum, f->steps), f->cross_ns);
	u64 out = dqm_bytes(f->credit, f->cross_ns);
	u64 queue = min_t(u64, queue_bytes, DQM_QUEUE_MAX) + in;

	queue = queue > out ? queue - out : 0;
	return mul_u64_u64_div_u64(min_t(u64, queue, f->credit_sum),
				   DQM_CREDITS * (u64)NSEC_PER_SEC,
				   max_t(u64, f->credit_sum, 1));
}

/* What a packet that leaves adds to the token: alpha is 1/2. */
static inline u32 dqm_part(const struct dqm_flow *f, const struct dqm_par *par)
{
	u64 of = par->form == DQM_PRINTED ? f->credit : f->tell;

	return min_t(u64, div64_u64(f->dqm << (DQM_SHIFT - 1), max_t(u64, of, 1)), DQM_ONE);
}

/* Equation 5. The rate is twice the line's at most: a gap that would make it more may be as many
 * theta as an administrator likes, and their product have more than 64 bits.
 */
static inline void dqm_aim(struct dqm_flow *f, const struct dqm_par *par, u64 queue_bytes)
{
	u64 most = div64_u64(2 * par->line_bytes, max_t(u64, f->credit, 1));
	u64 predicted_ns = dqm_predicted_ns(f, queue_bytes), gap;
	u32 theta_ns = par->theta_ns ?: f->cross_ns;

	if (predicted_ns > par->target_ns) {
		gap = min_t(u64, predicted_ns - par->target_ns, theta_ns);
		f->dqm = f->credit - mul_u64_u64_div_u64(f->credit, gap, theta_ns);
	} else {
		gap = min_t(u64, par->target_ns - predicted_ns,
			    theta_ns * min_t(u64, most, U32_MAX));
		f->dqm = f->credit + mul_u64_u64_div_u64(f->credit, gap, theta_ns);
	}
	f->dqm = max_t(u64, min_t(u64, f->dqm, 2 * par->line_bytes), dqm_least(f, par));
}

/* R_tell follows R_dqm for a time. */
static inline void dqm_follow(struct dqm_flow *f, const struct dqm_par *par, u32 ns)
{
	u32 tau_ns = max_t(u32, f->cross_ns / 4, ns);

	if (f->dqm > f->tell)
		f->tell += mul_u64_u64_div_u64(f->dqm - f->tell, ns, tau_ns);
	else
		f->tell -= mul_u64_u64_div_u64(f->tell - f->dqm, ns, tau_ns);
	f->tell = dqm_tellable(f, par, f->tell);
}

/**
 * dqm_step() - equations 1 to 5, each f->step_ns
 * @f: the flow
 * @par: parameters
 * @queue_bytes: waiting
 * @steps: so many steps have passed, 1 and more; more than RTT_C has count as those
 */
static inline void dqm_step(struct dqm_flow *f, const struct dqm_par *par, u64 queue_bytes,
			    u32 steps)
{
	steps = min_t(u32, steps, f->steps);
	dqm_aim(f, par, queue_bytes);
	if (par->form == DQM_FILTER)
		dqm_follow(f, par, steps * f->step_ns);
	else
		f->part = dqm_part(f, par);
	while (steps--) {
		f->told_sum += f->tell - f->told[f->at];
		f->told[f->at] = f->tell;
		if (++f->at == f->steps)
			f->at = 0;
	}
}

/**
 * dqm_packet() - equations 6 to 9: a packet leaves the queue
 * @f: the flow
 * @par: parameters
 */
static inline void dqm_packet(struct dqm_flow *f, const struct dqm_par *par)
{
	if (par->form == DQM_FILTER)
		return;
	f->token += f->part;
	if (f->token >= DQM_ONE) {
		f->token -= DQM_ONE;
		f->tell = dqm_tellable(f, par, f->tell + f->packet);
	} else {
		f->tell = dqm_tellable(f, par, f->tell - min_t(u64, f->tell, f->packet));
	}
}

#endif /* FABRIC_DQM_H */

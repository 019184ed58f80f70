// SPDX-License-Identifier: GPL-2.0
/*
 * PowerTCP's window control (Algorithm 1 of the paper), in rates as in hpcc.c: a rate is the
 * paper's window over the RTT without queues. With each ACK
 *
 *	w = gamma (w_old / power + beta) + (1 - gamma) w
 *
 * w_old is the window in force when this round trip began, which is when what is acknowledged
 * now was sent. The port averages the power over the flow's RTT (qdisc/core/load.h), which is
 * the paper's smoothing.
 *
 * beta is HPCC's step, weight and all (hpcc.c, (3)): with line (1 - eta) / N, eta .95 and N 4
 * it is 1/80 of the line, the paper's N being 80. At rest n flows have a queue of n / 80 of
 * what is in flight without one. A rate below line / 4 steps by less.
 *
 * Where this is not the paper's:
 *  - gamma is .1 instead of .9: the power is an average over a round trip, and a flow that goes
 *    the whole way to it at once swings. Of 40 set-ups of the space powertcp/basic 32 are good
 *    with .1, 26 with .5 and 19 with .9.
 *  - a round trip raises a rate to PT_RISE times itself at most, as slow start does. Without that
 *    bound the 64 flows of net/hpcc's incast have a queue of 74 us at 99 % instead of 30 us, and
 *    the flow that has the line alone again comes to rest there after 4.6 ms instead of .9 ms.
 *  - after a loss in a queue that nobody tells of (hpcc.c, (5)) a round trip adds HPCC's step,
 *    however many ACKs it has: gamma would give all of the step to a flow of many ACKs and a tenth
 *    to a flow of one (weights 1, 1, 2, 2, 4, 4 in net/hpcc's short queue: the heaviest had 28
 *    times the bytes of the lightest, and have 2.4 times).
 */
#include "powertcp.h"

#define PT_RISE			2
#define PT_GAMMA_SHIFT		10

/**
 * pt_gamma() - the setting as pt_on_power() wants it
 * @permille: gamma, weight of what an ACK says, thousandths; out of range counts as the nearest
 *
 * Return: << PT_GAMMA_SHIFT, 1 and more.
 */
u32 pt_gamma(u32 permille)
{
	permille = clamp_t(u32, permille, PT_GAMMA_MIN_PERMILLE, PT_GAMMA_MAX_PERMILLE);
	return (permille << PT_GAMMA_SHIFT) / 1000;
}

/**
 * pt_on_power() - an ACK with a power has come
 * @hp: the flow
 * @par: its parameters
 * @gamma: of pt_gamma()
 * @power: of the busiest port, << FL_LOAD_HOST_SHIFT, as of fl_load_of()
 * @turned: a round trip is over with it
 * @limited: the application, not the rate, limits what is sent: then a power is no reason to
 *	send more
 */
void pt_on_power(struct hp_core *hp, const struct hp_par *par, u32 gamma, u32 power,
		 bool turned, bool limited)
{
	u64 rate, to;

	power = hp_believed(hp, PT_POWER_ONE, power);
	/* rates are below 2^44, a power of 1 is 2^16 */
	to = hp->step + div_u64(hp->reference << FL_LOAD_HOST_SHIFT,
				max_t(u32, power, PT_POWER_ONE / PT_RISE));
	rate = ((((u64)BIT(PT_GAMMA_SHIFT) - gamma) * hp->rate) >> PT_GAMMA_SHIFT) +
	       ((gamma * to) >> PT_GAMMA_SHIFT);
	if (hp->untold)
		rate = hp->reference + (hp->step >> 1);
	if (limited)
		rate = min_t(u64, rate, hp->reference);
	hp->rate = clamp_t(u64, rate, par->min_bytes, par->max_bytes);
	if (turned)
		hp_turn(hp, par);
}

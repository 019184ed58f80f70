// SPDX-License-Identifier: GPL-2.0
/*
 * MLCC's sender. A flow to another datacenter has
 *
 *	R = min(R_NS, R_told)					(equation 10)
 *
 * R_NS is HPCC's rate for the load of the way to the border router, which is some 20 us
 * away; R_told is what the border router of the receiver asks for, half of the long round
 * trip ago. A flow that no border router tells a rate is end to end, one loop as in HPCC.
 */
#include "mlcc.h"

/**
 * ml_on_tell() - the far border router asks for a rate
 * @ml: the flow
 * @now_ns: monotonic time, ns
 * @rate: bytes on the line a second
 */
void ml_on_tell(struct ml_core *ml, u64 now_ns, u64 rate)
{
	ml->told = rate;
	ml->told_ns = now_ns;
	ml->border = true;
}

/**
 * ml_on_near() - the load of the way to the border router has come
 * @ml: the flow
 * @now_ns: monotonic time, ns
 * @rtt: over what time, as of fl_load_rtt(); that is a round of the near loop
 *
 * Return: rounds that are over with it, ML_ROUNDS_MAX at most. It is more than one if ACKs
 * are further apart, and the most for the first load.
 */
u32 ml_on_near(struct ml_core *ml, u64 now_ns, u8 rtt)
{
	u64 rounds = (now_ns - ml->turn_ns) >> (FL_LOAD_RTT_NS_SHIFT + rtt);

	ml->near_rtt = rtt;
	ml->near_ns = now_ns;
	ml->near = true;
	if (rounds)
		ml->turn_ns = now_ns;
	return min_t(u64, rounds, ML_ROUNDS_MAX);
}

/**
 * ml_expire() - forget what is too old
 * @ml: the flow
 * @now_ns: monotonic time, ns
 * @rtt_ns: RTT from end to end, ns
 */
void ml_expire(struct ml_core *ml, u64 now_ns, u64 rtt_ns)
{
	u64 limit_ns = ML_EXPIRE_RTTS * rtt_ns;

	if (ml->border && now_ns - ml->told_ns > limit_ns)
		ml->border = false;
	if (ml->near && now_ns - ml->near_ns > limit_ns)
		ml->near = false;
}

/**
 * ml_rate() - equation 10
 * @ml: the flow
 * @rate: R_NS; without a border router, HPCC's rate from end to end. Bytes/s
 *
 * Return: what to send at, bytes on the line a second. A near loop that is not heard says
 * nothing.
 */
u64 ml_rate(const struct ml_core *ml, u64 rate)
{
	if (!ml->border)
		return rate;
	return ml->near ? min_t(u64, rate, ml->told) : ml->told;
}

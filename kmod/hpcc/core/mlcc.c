// SPDX-License-Identifier: GPL-2.0
/*
 * MLCC's sender. A flow to another datacenter has
 *
 *	R = min(R_NS, R_told)					(equation 10)
 *
 * R_NS is HPCC's rate for the load of the way to the border router, which is some 20 us
 * away; R_told is what the border router of the receiver asks for, half of the long round
 * trip ago. A flow that no border router tells anything is end to end, one loop as in HPCC. One
 * that its own alone tells of the way to it has HPCC's rate for the rest in the place of R_told.
 */
#include "mlcc.h"

/**
 * ml_again() - the flow begins anew after a pause: nothing has been told
 * @ml: the flow
 */
void ml_again(struct ml_core *ml)
{
	ml->border = false;
	ml->near = false;
	ml->heard = false;
	ml->goal = 0;
}

/**
 * ml_apart() - does the flow act in rounds of the near loop?
 * @ml: the flow
 *
 * It does with a border router at either end.
 */
bool ml_apart(const struct ml_core *ml)
{
	return ml->border || ml->near;
}

/**
 * ml_beside() - does the flow need a loop of the whole way beside the near one?
 * @ml: the flow
 *
 * Its own border router tells of the way to itself and takes that out of the load that comes back;
 * none at the far end asks for a rate. What comes back is the load of the rest.
 */
bool ml_beside(const struct ml_core *ml)
{
	return ml->near && ml->heard && !ml->border;
}

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
 * Return: is a round over with it?
 */
bool ml_on_near(struct ml_core *ml, u64 now_ns, u8 rtt)
{
	bool turned = (now_ns - ml->turn_ns) >> (FL_LOAD_RTT_NS_SHIFT + rtt);

	ml->near_rtt = rtt;
	ml->near_ns = now_ns;
	ml->near = true;
	if (turned)
		ml->turn_ns = now_ns;
	return turned;
}

/**
 * ml_start() - R_NS to begin with, when the near loop is heard for the first time (again)
 * @ml: the flow
 * @share: what a flow may have of a line that it finds, bytes/s
 * @load: the load that has come, << FL_LOAD_HOST_SHIFT
 *
 * HPCC's steps would take a flow from its initial window to its share in hundreds of rounds. The
 * paper's flows begin with the line's rate, blindly. This one begins with a part of its share, less
 * if something waits already, and doubles (ml_double()). What the flows of one host add up to waits
 * in that host, and the near loop is as long as that queue: when 256 flows of 8 hosts on 100 Gbit/s
 * began with whole shares, their leaf's queue grew for 1.7 ms to 22 MB.
 *
 * Return: bytes/s.
 */
u64 ml_start(const struct ml_core *ml, u64 share, u32 load)
{
	share >>= ML_START_SHIFT;
	if (load > BIT(FL_LOAD_HOST_SHIFT))
		share = div_u64(share << FL_LOAD_HOST_SHIFT, load);
	return ml_rate(ml, share);
}

/**
 * ml_started() - the rate of ml_start() or ml_double() is in force
 * @ml: the flow
 * @now_ns: monotonic time, ns
 * @goal: rate to double up to, bytes/s
 *
 * The port needs the time over which it averages, and the way there and back, until it tells a load
 * that has this rate in it. Flows that start together and go by a line that was empty would all
 * send with their own line's rate: 8 of 25 Gbit/s on 100 Gbit/s had a queue of .9 MB.
 */
void ml_started(struct ml_core *ml, u64 now_ns, u64 goal)
{
	u64 rounds = ml->far ? 1 : ML_START_ROUNDS;

	ml->goal = goal;
	ml->start_ns = now_ns + (rounds << (FL_LOAD_RTT_NS_SHIFT + ml->near_rtt));
}

/* Are loads of the near loop older than the rate? */
bool ml_starting(const struct ml_core *ml, u64 now_ns)
{
	return now_ns < ml->start_ns;
}

/**
 * ml_double() - a load has come that has the rate in it: may a flow that begins go on?
 * @ml: the flow
 * @now_ns: monotonic time, ns
 * @rate: its rate, bytes/s
 * @load: the load that has come, << FL_LOAD_HOST_SHIFT
 *
 * Nothing waits: it doubles, up to its share. Otherwise it has begun.
 *
 * Return: the new rate, bytes/s; 0: the law goes on.
 */
u64 ml_double(struct ml_core *ml, u64 now_ns, u64 rate, u32 load)
{
	u64 goal = ml_rate(ml, ml->goal);

	if (rate >= goal || load > BIT(FL_LOAD_HOST_SHIFT)) {
		ml->goal = 0;
		return 0;
	}
	ml_started(ml, now_ns, goal);
	return min_t(u64, 2 * rate, goal);
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
 * Return: what to send at, bytes on the line a second.
 */
u64 ml_rate(const struct ml_core *ml, u64 rate)
{
	return ml->border ? min_t(u64, rate, ml->told) : rate;
}

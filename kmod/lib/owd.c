// SPDX-License-Identifier: GPL-2.0
/*
 * One-way delay from telemetry.
 *
 * A delay-based control takes an RTT for the queue ahead. If the ACKs wait, too,
 * it makes way for a queue that is none of its business (PrioPlus, appendix A.3).
 * The telemetry option tells both: the echo, how long the data waited, and the
 * option in the ACK itself, how long the ACK did. What steers is then
 *
 *	delay = base RTT + ahead	if that and back explain the RTT, within B
 *		RTT - back		otherwise
 *
 * The second line makes it safe. A queue at a hop that does not stamp (the
 * sender's own card, a switch without telemetry) is in no option but in the RTT,
 * and whatever of the RTT is not the ACK's own waiting counts as ahead of the
 * data, as it always did. Where nothing stamps, this is the RTT. No minimum over
 * time is taken: a flow that fills its own card's queue must see that at once.
 * Noise up to B, the channel's allowance, vanishes; more of it is as with RTTs.
 *
 * Several stamping hops: the option has the longest of their delays. If the
 * others are within B, the longest steers; if not, the sum does, as with RTTs: a
 * flow through two full channels sees both. Of the ACKs' queues, too, the longest
 * is what is taken off, and further ones count as ahead.
 *
 * Units of 16 ns are 1/250 of a default channel. The switch's stamp-round cuts
 * delays down to multiples of a power of two; more than B, and what it has cut off
 * comes back by the second line now and then, as noise.
 * A delay beyond 17.3 ms is told as that, and the rest of it counts likewise.
 *
 * Switching. The first echo turns it on. ACKs without an echo (SACK blocks leave
 * no room, a route has changed) tell nothing from then on, since nobody knows what
 * they have waited; after more than FL_OWD_UNHEARD of them and two round trips
 * the RTT counts again.
 */
#include "lib/owd.h"

/* So many ACKs without an echo may be chance. */
#define FL_OWD_UNHEARD	8

/**
 * fl_owd_delay() - delay to steer by
 * @o: the flow's, zeroed at first
 * @s: the ACK
 *
 * Return: ns, base RTT included; 0 = this ACK tells nothing.
 */
u32 fl_owd_delay(struct fl_owd *o, const struct fl_owd_sample *s)
{
	u64 told_ns = (u64)s->base_ns + s->ahead_ns;

	if (!s->rtt_ns)
		return 0;
	if (!s->fresh) {
		if (!o->on)
			return s->rtt_ns;
		if (o->unheard < U8_MAX)
			o->unheard++;
		if (o->unheard <= FL_OWD_UNHEARD ||
		    s->now_ns - o->heard_ns <= 2ULL * s->rtt_ns)
			return 0;
		o->on = false;
		return s->rtt_ns;
	}
	o->on = true;
	o->heard_ns = s->now_ns;
	o->unheard = 0;
	if (s->rtt_ns > told_ns + s->back_ns + s->slack_ns)
		return s->rtt_ns - s->back_ns;
	return min_t(u64, told_ns, U32_MAX - 1);
}

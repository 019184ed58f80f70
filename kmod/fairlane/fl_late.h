/* SPDX-License-Identifier: GPL-2.0 */
/* Is a delay the network's or the receiver's? See fl_late.c. */
#ifndef FL_LATE_H
#define FL_LATE_H

#include <linux/types.h>
#include <net/sock.h>

/* What is known of the delays of a flow that goes by them: they are the network's; so many more
 * above the target are believed, since one that was prompt was above it, too; the receiver was
 * asked, and acknowledges the next packets at once; the last delay may be the receiver's, which is
 * to be asked.
 */
#define FL_LATE_NOT	0
#define FL_LATE_TRUST	8
#define FL_LATE_PROMPT	9
#define FL_LATE_ASK	10
/* A delay that is more by less than this part of it is not doubted, log2. */
#define FL_LATE_PART_SHIFT	3

u8 fl_late_sends(struct sock *sk, u8 late);
u8 fl_late_asks(struct sock *sk, u32 delay_ns, u32 target_ns);

/**
 * fl_late_next() - an ACK tells a delay
 * @sk: the socket; caller holds its lock
 * @late: what was known before
 * @delay_ns: the delay, ns
 * @target_ns: what the flow steers to, ns
 * @fresh: it is that of a packet which was sent after the receiver was asked
 * @few: the window is less than two packets
 *
 * A prompt delay says whose the doubted one was. Of 300 flows with less than a packet in flight
 * each sees delays above and below the target by turns. Where each one above it was doubted anew,
 * 300 flows of Swift used .75 of 100 Gbit/s instead of .83 (figure 3c). With 13 for FL_LATE_TRUST a
 * reader of 64 kB each 2 ms takes 609 ms for 6 MB, three times what cubic takes (net/cc:
 * late_readers). With larger windows as well a flow whose route becomes longer gives way at once,
 * and has .68 instead of 1.00 of the line after 1.7 s (net/cc: longer_route).
 *
 * Return: what is known now. With FL_LATE_ASK the delay is not to be believed.
 */
static inline u8 fl_late_next(struct sock *sk, u8 late, u32 delay_ns, u32 target_ns, bool fresh,
			      bool few)
{
	bool above = delay_ns >= target_ns;

	if (!late)
		return above ? fl_late_asks(sk, delay_ns, target_ns) : FL_LATE_NOT;
	if (late < FL_LATE_PROMPT)
		return above ? late - fresh : few ? late : FL_LATE_NOT;
	if (!above)
		return FL_LATE_NOT;
	return fresh ? FL_LATE_TRUST : late;
}

#endif /* FL_LATE_H */

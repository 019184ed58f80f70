// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: pauses of whole bands (IEEE 802.1Qbb), a rival to isolation queues. The
 * band's number is the class of traffic.
 *
 * A switch counts the bytes that came in by each port and wait at others. If they are more than
 * an eighth of what is free in the shared buffer (without one: below the port's limit), the
 * neighbour at that port is to send nothing of the class. Pauses are repeated at every tick
 * of the switch and hold for four.
 *
 * Real devices end such frames themselves, and bridges drop them: this is for devices that
 * hand them on, as those of the lab do.
 */
#include "fabric_isolate.h"

/* Bytes that can still come. */
static u64 fabric_pfc_free(const struct fabric_sched *q)
{
	u64 total = q->limit_bytes, used = q->waiting_bytes;

	if (q->buffer) {
		total = fabric_buffer_pool(q->buffer);
		used = fabric_buffer_used(q->buffer);
	}
	return total > used ? total - used : 0;
}

/* The neighbour at @in is to wait, or to go on. When the qdisc goes the root lock is not held, and
 * softirqs, which take the switch's lock, may come on this processor.
 */
static void fabric_pfc_set(struct fabric_isolate *iso, u8 in, bool wait)
{
	struct fabric_pfc *pfc = &iso->pfc;

	spin_lock_bh(&iso->lock);
	if ((pfc->tells & BIT_ULL(in)) && !(pfc->paused & BIT_ULL(in)) == wait) {
		WRITE_ONCE(pfc->paused, pfc->paused ^ BIT_ULL(in));
		pfc->tell |= BIT_ULL(in);
		fabric_isolate_kick(iso);
	}
	spin_unlock_bh(&iso->lock);
}

/* A packet was admitted. */
void fabric_pfc_arrive(struct fabric_sched *q, struct sk_buff *skb, u32 len)
{
	struct fabric_isolate_port *p = q->isolate;
	struct fabric_isolate *iso = p->iso;
	u8 in = PYR_NONE;
	u32 held;

	if (READ_ONCE(p->joined))
		in = fabric_isolate_ingress(iso, skb->skb_iif);
	fabric_cb(skb)->pyr.in = in;
	if (in == PYR_NONE)
		return;
	held = atomic_add_return(len, &iso->pfc.held[in]);
	if (!(READ_ONCE(iso->pfc.paused) & BIT_ULL(in)) &&
	    READ_ONCE(iso->pfc.tells) & BIT_ULL(in) &&
	    pfc_pauses(held, fabric_pfc_free(q)))
		fabric_pfc_set(iso, in, true);
}

/* A packet was taken out of the band. */
void fabric_pfc_leave(struct fabric_sched *q, const struct sk_buff *skb,
		      u32 len)
{
	struct fabric_isolate *iso = q->isolate->iso;
	u8 in = fabric_cb(skb)->pyr.in;
	u32 held;

	if (in == PYR_NONE)
		return;
	held = atomic_sub_return(len, &iso->pfc.held[in]);
	if (READ_ONCE(iso->pfc.paused) & BIT_ULL(in) &&
	    pfc_resumes(held, fabric_pfc_free(q)))
		fabric_pfc_set(iso, in, false);
}

/* All packets of the band are about to be thrown away. */
void fabric_pfc_forget(struct fabric_sched *q, struct fabric_band *band)
{
	const struct sk_buff *skb;

	for (skb = band->fifo.head; skb; skb = skb->next)
		fabric_pfc_leave(q, skb, qdisc_pkt_len(skb));
}

/* Takes a frame to send. Return: false: there is none. */
bool fabric_pfc_next(struct fabric_isolate *iso, u8 *data, u8 *port)
{
	const struct fabric_isolate_port *p;
	struct fabric_pfc *pfc = &iso->pfc;
	u16 quanta = 0;

	if (!pfc->tell)
		return false;
	*port = __ffs64(pfc->tell);
	pfc->tell &= pfc->tell - 1;
	p = iso->port[*port];	/* there is one: its bit goes with it */
	if (pfc->paused & BIT_ULL(*port)) {
		quanta = pfc_quanta((u64)iso->sw.config.tick_ns * PYR_HOLD_TICKS,
				    p->settings.speed_bps);
		pfc->pauses++;
	} else {
		pfc->resumes++;
	}
	pfc_write(p->settings.band, quanta, data);
	return true;
}

/* Repeats pauses. One whose packets have all gone ends: two ports may have decided
 * differently at once.
 */
void fabric_pfc_tick(struct fabric_isolate *iso)
{
	struct fabric_pfc *pfc = &iso->pfc;
	u64 left;

	pfc->tell |= pfc->paused;
	for (left = pfc->paused; left; left &= left - 1) {
		if (!atomic_read(&pfc->held[__ffs64(left)]))
			WRITE_ONCE(pfc->paused,
				   pfc->paused & ~BIT_ULL(__ffs64(left)));
	}
}

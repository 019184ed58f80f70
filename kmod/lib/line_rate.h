/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The line rate of a path, measured: the most that any flow of a host has got
 * through it in a round trip, or all of them in many. Pure functions; the caller serialises.
 *
 * What a flow has in flight passes the bottleneck within the round trip that it
 * takes to be acknowledged, so one divided by the other is a rate that the line
 * has at least. It is the line's own if there was a queue and nobody else in it;
 * of n flows each sees its share. So the largest of many counts, and it counts
 * only once there was a queue: a few packets on an idle line tell nothing.
 *
 * What all flows get together is the line's as well. Each tells the path about once a
 * round trip what it got since (a lump). The path adds those up that began and ended
 * within FL_RATE_SUM_ROUNDS round trips, and divides by their time and one round trip:
 * what the last ACKs are of may have passed the bottleneck that much before.
 */
#ifndef FL_LINE_RATE_H
#define FL_LINE_RATE_H

#include "fl_types.h"

/* A window is 2^this ns: 34 s; the last two count. */
#define FL_RATE_WINDOW_SHIFT	35
/* A delay above the base RTT by this part of it, and this much, is a queue. */
#define FL_RATE_QUEUE_PART	16
#define FL_RATE_QUEUE_MIN_NS	500
/* What all flows get is added up for so many round trips. */
#define FL_RATE_SUM_ROUNDS	32

/**
 * struct fl_rate_meter - a flow's present round trip
 * @start_ns: its begin, monotonic ns; 0 = there is none
 * @end_seq: what was sent before; an ACK of all that ends it
 * @una: acknowledged at its begin
 * @pkts: packets delivered until then
 * @rtt_ns: delay at its begin, ns
 * @seen_kbps: what the caller knows of the path, 0 = nothing
 * @lump_ns: begin of what the path has not been told, monotonic ns; 0 = none
 * @lump_una: acknowledged at that time
 * @lump_pkts: packets delivered until then
 */
struct fl_rate_meter {
	u64 start_ns;
	u64 lump_ns;
	u32 end_seq;
	u32 una;
	u32 pkts;
	u32 rtt_ns;
	u32 seen_kbps;
	u32 lump_una;
	u32 lump_pkts;
};

/**
 * struct fl_rate_lump - what a flow got in about a round trip
 * @start_ns: begin, monotonic ns
 * @end_ns: end
 * @bytes: on the line; 0 = there is no lump
 * @rtt_ns: delay at its end, ns
 */
struct fl_rate_lump {
	u64 start_ns;
	u64 end_ns;
	u64 bytes;
	u32 rtt_ns;
};

/**
 * struct fl_rate_ack - what an ACK tells
 * @now_ns: monotonic time, ns
 * @una: next sequence number not acknowledged
 * @snd_nxt: next sequence number to be sent
 * @pkts: packets delivered since the connection began
 * @overhead_bytes: of a packet on the line beyond its payload
 * @rtt_ns: its delay, ns; 0 = not known
 * @clean: nothing is lost or out of order
 */
struct fl_rate_ack {
	u64 now_ns;
	u32 una;
	u32 snd_nxt;
	u32 pkts;
	u32 overhead_bytes;
	u32 rtt_ns;
	bool clean;
};

/**
 * struct fl_rate_path - a path
 * @key: which path; 0 = free
 * @window: the present window
 * @now_kbps: largest rate in it
 * @before_kbps: largest rate in the one before
 * @queued: there was a queue in this window (1), in the one before (2)
 * @sum_ns: since when lumps are added up, monotonic ns
 * @sum_bytes: of those that began since
 */
struct fl_rate_path {
	u32 key;
	u32 window;
	u32 now_kbps;
	u32 before_kbps;
	u32 queued;
	u64 sum_ns;
	u64 sum_bytes;
};

/* On the line, between what is kept of then and an ACK. */
static inline u64 fl_rate_bytes(const struct fl_rate_ack *a, u32 una, u32 pkts)
{
	return min_t(u64, (u32)(a->una - una) + (u64)(u32)(a->pkts - pkts) * a->overhead_bytes,
		     1ULL << 40);
}

/**
 * fl_rate_round() - does an ACK end a round trip, and what did that deliver?
 * @m: the flow's, zeroed at first
 * @a: the ACK
 *
 * The interval is no shorter than the round trip before it: ACKs that were held up
 * and come together must not look like a fast line. So it begins with an ACK whose delay is known.
 *
 * Return: kbit/s on the line, 0 = it does not, or nothing can be said.
 */
static inline u32 fl_rate_round(struct fl_rate_meter *m,
				const struct fl_rate_ack *a)
{
	u64 ns, kbps = 0;

	if (!a->clean) {
		m->start_ns = 0;
		return 0;
	}
	if (m->start_ns) {
		if (fl_seq_after(m->end_seq, a->una))
			return 0;
		ns = max_t(u64, a->now_ns - m->start_ns, m->rtt_ns);
		kbps = div64_u64(fl_rate_bytes(a, m->una, m->pkts) * 8000000, ns);
	}
	m->start_ns = a->una == a->snd_nxt || !a->rtt_ns ? 0 : a->now_ns;
	m->end_seq = a->snd_nxt;
	m->una = a->una;
	m->pkts = a->pkts;
	m->rtt_ns = a->rtt_ns;
	return min_t(u64, kbps, U32_MAX);
}

/**
 * fl_rate_lump() - does an ACK end a lump?
 * @m: the flow's, zeroed at first
 * @a: the ACK
 *
 * Unlike a round trip a lump may have pauses, so that flows count which have no more
 * than one packet on its way. A loss ends it without a word: what is acknowledged later
 * may have arrived long ago.
 *
 * Return: the lump; its bytes are 0 if there is none.
 */
static inline struct fl_rate_lump fl_rate_lump(struct fl_rate_meter *m, const struct fl_rate_ack *a)
{
	struct fl_rate_lump lump = {
		.start_ns = m->lump_ns, .end_ns = a->now_ns, .rtt_ns = a->rtt_ns,
	};

	if (a->clean && m->lump_ns) {
		if (!a->rtt_ns || a->now_ns - m->lump_ns < a->rtt_ns)
			return lump;
		lump.bytes = fl_rate_bytes(a, m->lump_una, m->lump_pkts);
	}
	m->lump_ns = a->now_ns;
	m->lump_una = a->una;
	m->lump_pkts = a->pkts;
	return lump;
}

/**
 * fl_rate_sum() - add a lump to what all flows of a path get
 * @p: the path, current
 * @lump: the lump
 *
 * Return: kbit/s of all flows, 0 = not known yet.
 */
static inline u32 fl_rate_sum(struct fl_rate_path *p, const struct fl_rate_lump *lump)
{
	u64 ns = lump->end_ns - p->sum_ns, kbps = 0;

	/* lumps come from several CPUs and need not come in order */
	if (p->sum_ns && lump->start_ns >= p->sum_ns)
		p->sum_bytes = min_t(u64, p->sum_bytes + lump->bytes, 1ULL << 40);
	if (p->sum_ns && (s64)ns < (s64)lump->rtt_ns * FL_RATE_SUM_ROUNDS)
		return 0;
	if (p->sum_ns)
		kbps = div64_u64(p->sum_bytes * 8000000, ns + lump->rtt_ns);
	p->sum_ns = lump->end_ns;
	p->sum_bytes = 0;
	return min_t(u64, kbps, U32_MAX);
}

/* Does a delay tell of a queue? */
static inline bool fl_rate_is_queue(u32 rtt_ns, u32 base_ns)
{
	return base_ns && rtt_ns > base_ns +
	       max_t(u32, base_ns / FL_RATE_QUEUE_PART, FL_RATE_QUEUE_MIN_NS);
}

/**
 * fl_rate_turn() - make a path current
 * @p: the path, or free, or another path
 * @key: which path it is to be
 * @window: the present window
 *
 * Return: false if @p is another path that was used in the last two windows.
 */
static inline bool fl_rate_turn(struct fl_rate_path *p, u32 key, u32 window)
{
	/* below 0 where another CPU's ACK was first: clocks agree, locks take their time */
	s32 age = window - p->window;

	if (p->key != key) {
		if (p->key && age < 2)
			return false;
		p->key = key;
		p->sum_ns = 0;
		age = 2;
	}
	if (age <= 0)
		return true;
	p->before_kbps = age == 1 ? p->now_kbps : 0;
	p->queued = age == 1 && p->queued & 1 ? 2 : 0;
	p->now_kbps = 0;
	p->window = window;
	return true;
}

/* Largest rate of the last two windows, kbit/s; 0 = there was no queue in them. */
static inline u32 fl_rate_most(const struct fl_rate_path *p)
{
	return p->queued ? max_t(u32, p->now_kbps, p->before_kbps) : 0;
}

/**
 * fl_rate_sample() - take in a rate
 * @p: the path, current
 * @kbps: the rate, kbit/s
 * @queued: there was a queue
 * @app_limited: the application sent less than it might: counts if it is the most
 */
static inline void fl_rate_sample(struct fl_rate_path *p, u32 kbps,
				  bool queued, bool app_limited)
{
	if (app_limited && kbps <= max_t(u32, p->now_kbps, p->before_kbps))
		return;
	p->now_kbps = max_t(u32, p->now_kbps, kbps);
	if (queued && !app_limited)
		p->queued |= 1;
}

#endif /* FL_LINE_RATE_H */

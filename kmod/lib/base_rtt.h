/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The base RTT of a path as all flows of a host have seen it: a minimum over
 * the last two windows of time; and for how long the path holds packets (hold.h): the most that
 * was told in the last sixteen. A pure function of what it is told; the caller serialises.
 */
#ifndef FL_BASE_RTT_H
#define FL_BASE_RTT_H

#include "fl_types.h"

/* No sample. */
#define FL_BASE_NONE		U32_MAX
/* A window is 2^this ns of the wall clock: 2.1 s. */
#define FL_BASE_WINDOW_SHIFT	31

/* A clock this many windows behind is another CPU's; more: it was set back. */
#define FL_BASE_BEHIND		16

/* What a path holds packets for is forgotten after so many windows. */
#define FL_BASE_HELD_WINDOWS	16

/** enum fl_base_rtt_kind - what a delay is of */
enum fl_base_rtt_kind {
	FL_BASE_DATA,		/* a full packet and its ACK */
	FL_BASE_PROBE,		/* a probe and its echo */
	FL_BASE_LONGER,		/* likewise, on a longer path to the same address */
	__FL_BASE_KINDS
};

/**
 * struct fl_base_rtt_path - a path
 * @key: which path; 0 = free
 * @window: the present window
 * @now_ns: smallest delay in it, by kind
 * @before_ns: smallest delay in the one before
 * @held_ns: packets are held for up to this
 * @held_window: when that was told last
 */
struct fl_base_rtt_path {
	u32 key;
	u32 window;
	u32 now_ns[__FL_BASE_KINDS];
	u32 before_ns[__FL_BASE_KINDS];
	u32 held_ns;
	u32 held_window;
};

/**
 * fl_base_rtt_turn() - make a path current
 * @p: the path, or free, or another path
 * @key: which path it is to be
 * @window: the present window
 *
 * Return: false if @p is another path that was used in the last two windows.
 */
static inline bool fl_base_rtt_turn(struct fl_base_rtt_path *p, u32 key, u32 window)
{
	s32 age = window - p->window;
	int i;

	if (p->key != key) {
		if (p->key && age < 2 && age > -FL_BASE_BEHIND)
			return false;
		p->key = key;
		p->held_ns = 0;
		age = 2;
	}
	if (age <= 0 && age > -FL_BASE_BEHIND)
		return true;
	for (i = 0; i < __FL_BASE_KINDS; i++) {
		p->before_ns[i] = age == 1 ? p->now_ns[i] : FL_BASE_NONE;
		p->now_ns[i] = FL_BASE_NONE;
	}
	p->window = window;
	return true;
}

/* Smallest delay of the last two windows; FL_BASE_NONE = none known. */
static inline u32 fl_base_rtt_least(const struct fl_base_rtt_path *p,
				    enum fl_base_rtt_kind kind)
{
	return min_t(u32, p->now_ns[kind], p->before_ns[kind]);
}

/* Take in a delay. The path is current. */
static inline void fl_base_rtt_sample(struct fl_base_rtt_path *p,
				      enum fl_base_rtt_kind kind, u32 ns)
{
	p->now_ns[kind] = min_t(u32, p->now_ns[kind], ns);
}

/* For how long the path holds packets, ns; 0 = not at all, or nobody has told of late. */
static inline u32 fl_base_rtt_held(const struct fl_base_rtt_path *p, u32 window)
{
	s32 age = window - READ_ONCE(p->held_window);

	return age < FL_BASE_HELD_WINDOWS && age > -FL_BASE_BEHIND ? READ_ONCE(p->held_ns) : 0;
}

/* It has held packets for @ns. The path is current. */
static inline void fl_base_rtt_hold(struct fl_base_rtt_path *p, u32 ns)
{
	WRITE_ONCE(p->held_ns, max_t(u32, fl_base_rtt_held(p, p->window), ns));
	WRITE_ONCE(p->held_window, p->window);
}

#endif /* FL_BASE_RTT_H */

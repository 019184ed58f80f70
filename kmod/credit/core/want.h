/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many more credits a receiver gives: what the sender has told it, less what
 * is on its way. The sender's side of it is in gate.c.
 */
#ifndef FL_CREDIT_WANT_H
#define FL_CREDIT_WANT_H

#include "credit/core/wire.h"

/**
 * struct fl_want - what a sender wants
 * @last: number of the newest credit given
 * @after: what is wanted is wanted after this one
 * @lost: credits up to this one are not on their way any more
 * @credits: so many are wanted after @after
 */
struct fl_want {
	u32 last;
	u32 after;
	u32 lost;
	u32 credits;
};

/**
 * fl_want_told() - the sender has told what it has left
 * @w: what it wants, updated
 * @number: newest credit that it had got then
 * @backlog_segs: what it had left
 * @segs: segments of a credit
 *
 * Return: false, that is older than what is known, or of a credit never given.
 */
static inline bool fl_want_told(struct fl_want *w, u32 number, u32 backlog_segs,
				u32 segs)
{
	if (fl_credit_ahead(number, w->after) < 0 ||
	    fl_credit_ahead(number, w->last) > 0)
		return false;
	w->after = number;
	w->credits = (backlog_segs + segs - 1) / segs;
	/* always the newer of the two, so that it does not wrap */
	if (fl_credit_ahead(number, w->lost) > 0)
		w->lost = number;
	return true;
}

/* Credits on their way, as far as known. */
static inline u32 fl_want_out(const struct fl_want *w)
{
	return fl_credit_ahead(w->last, w->lost);
}

/* Is another credit wanted? */
static inline bool fl_want_more(const struct fl_want *w)
{
	return fl_want_out(w) < w->credits;
}

/* A credit is given. Return: its number. */
static inline u32 fl_want_give(struct fl_want *w)
{
	w->last = (w->last + 1) & FL_CREDIT_NUMBER_MASK;
	return w->last;
}

/* Nothing has come for too long: what was on its way is lost. */
static inline void fl_want_lose(struct fl_want *w)
{
	w->lost = w->last;
}

#endif /* FL_CREDIT_WANT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* How the work of fl_off.c is told of flows. */
#ifndef FL_OFF_H
#define FL_OFF_H

#include <linux/hash.h>

#include "compat/compat.h"
#include "fl_control.h"

/* Flows that the work is to look at, in fl_ns.flows. */
#define FL_OFF_MARK	XA_MARK_1

/**
 * fl_off_flow() - does a connection do without our congestion controls?
 * @ns: its namespace
 * @cookie: the socket's
 *
 * Of a namespace that is on for a share of its connections, the cookie tells: a larger share
 * has all those of a smaller one. "fairlane flow set ... share" counts likewise.
 */
static inline bool fl_off_flow(const struct fl_ns *ns, u64 cookie)
{
	u32 share_permille = READ_ONCE(ns->off.share_permille);

	if (READ_ONCE(ns->off.on))
		return true;
	/* cookies are consecutive */
	return share_permille < 1000 &&
	       (u32)(cookie * GOLDEN_RATIO_64 >> 32) % 1000 >= share_permille;
}

/* Has the work look at marked flows. Context: any. */
static inline void fl_off_queue(struct fl_ns *ns, unsigned long delay)
{
	spin_lock_bh(&ns->off.lock);
	if (!ns->off.closing)
		mod_delayed_work(fl_system_wq, &ns->off.work, delay);
	spin_unlock_bh(&ns->off.lock);
}

/**
 * fl_off_note() - a congestion control begins with a socket while it should not
 * @f: the socket's settings
 *
 * Context: init callback, softirq or process, socket lock held.
 */
static inline void fl_off_note(struct fl_sock *f)
{
	struct fl_ns *ns = f->ns;

	xa_lock_bh(&ns->flows);
	if (xa_load(&ns->flows, f->cookie) == f)
		__xa_set_mark(&ns->flows, f->cookie, FL_OFF_MARK);
	xa_unlock_bh(&ns->flows);
	fl_off_queue(ns, 0);
}

#endif /* FL_OFF_H */

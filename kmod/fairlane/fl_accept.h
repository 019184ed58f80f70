/* SPDX-License-Identifier: GPL-2.0 */
/* How the work of fl_accept.c is told of flows. */
#ifndef FL_ACCEPT_H
#define FL_ACCEPT_H

#include "compat/compat.h"
#include "fl_control.h"

/* Flows that the work is to look at, in fl_ns.flows. */
#define FL_ACCEPT_MARK		XA_MARK_2

/* Until sockets that were not accepted are looked at again: at first, and at most. */
#define FL_ACCEPT_AGAIN_MIN	1
#define FL_ACCEPT_AGAIN_MAX	(HZ / 2)

/* Has the work look at marked flows. Not by mod_delayed_work(): connections that come all the time
 * would put it off for ever. Context: any.
 */
static inline void fl_accept_queue(struct fl_ns *ns, unsigned long delay)
{
	spin_lock_bh(&ns->accept.lock);
	if (!ns->accept.closing)
		queue_delayed_work(fl_system_wq, &ns->accept.work, delay);
	spin_unlock_bh(&ns->accept.lock);
}

/**
 * fl_accept_note() - a connection is established that somebody will accept
 * @f: its settings
 *
 * Context: softirq or process, socket lock held.
 */
static inline void fl_accept_note(struct fl_sock *f)
{
	struct fl_ns *ns = f->ns;

	if (!READ_ONCE(f->charged_milli) || !fl_limit_of_uids(ns))
		return;
	xa_lock_bh(&ns->flows);
	if (f->cookie && xa_load(&ns->flows, f->cookie) == f)
		__xa_set_mark(&ns->flows, f->cookie, FL_ACCEPT_MARK);
	xa_unlock_bh(&ns->flows);
	fl_accept_queue(ns, FL_ACCEPT_AGAIN_MIN);
}

#endif /* FL_ACCEPT_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * ss: what Fairlane's congestion controls tell of a flow, with -i.
 *
 * They answer with FL_DIAG_ATTR if FL_DIAG_EXT is in the request; the attribute's
 * number is far above what parse_rtattr() keeps, so it is looked for here.
 */
#include <string.h>
#include <linux/fairlane.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "ss_fairlane.h"

static const char *state_name(unsigned int state)
{
	switch (state) {
	case FL_STATE_START:	return "start";
	case FL_STATE_SENDING:	return "sending";
	case FL_STATE_STOPPED:	return "stopped";
	case FL_STATE_FALLBACK:	return "fallback";
	default:		return "none";
	}
}

/* Times in ms, as everything in ss. */
static void show(const struct fl_diag *d, void (*out)(const char *fmt, ...))
{
	out(" fairlane:(prio:%u,weight:%g,state:%s", d->priority,
	    d->weight_milli / 1000.0, state_name(d->state));
	if (d->base_rtt_ns)
		out(",base_rtt:%g", d->base_rtt_ns / 1e6);
	if (d->delay_ns)
		out(",delay:%g", d->delay_ns / 1e6);
	if (d->flows_q4)
		out(",flows:%g", d->flows_q4 / 16.0);
	if (d->queue_us)
		out(",queue:%g", d->queue_us / 1e3);
	out(")");
}

void ss_fairlane_show(const struct nlmsghdr *nlh,
		      void (*out)(const char *fmt, ...))
{
	const struct inet_diag_msg *r = NLMSG_DATA(nlh);
	struct rtattr *a = (struct rtattr *)(r + 1);
	int len = nlh->nlmsg_len - NLMSG_LENGTH(sizeof(*r));
	struct fl_diag d;

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type != FL_DIAG_ATTR ||
		    RTA_PAYLOAD(a) < sizeof(d))
			continue;
		memcpy(&d, RTA_DATA(a), sizeof(d));
		if (d.version >= FL_DIAG_VERSION)
			show(&d, out);
	}
}

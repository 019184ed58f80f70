// SPDX-License-Identifier: GPL-2.0
/*
 * State of a flow for inet_diag in our own attribute of 20 bytes: who asks with
 * FL_DIAG_EXT (fairlane flow show, a patched ss) gets it without privilege and
 * without the module's netlink.
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/inet_diag.h>

#include "fl_control.h"

/**
 * fl_diag_fill() - answer of a congestion control's get_info()
 * @sk: the socket, listeners too
 * @ext: attributes that the reader asks for
 * @attr: becomes FL_DIAG_ATTR
 * @info: where it goes
 *
 * getsockopt(TCP_CC_INFO) asks for everything and cannot tell which one it got:
 * it is left to what the congestion control has shown before.
 *
 * Context: RCU, socket not locked: values may be torn from one another.
 * Return: bytes in @info, 0: the reader did not ask for it.
 */
size_t fl_diag_fill(struct sock *sk, u32 ext, int *attr,
		    union tcp_cc_info *info)
{
	struct fl_diag *d = (struct fl_diag *)info;
	struct fl_info full;

	BUILD_BUG_ON(sizeof(*d) > sizeof(*info));
	if (!(ext & FL_DIAG_EXT) || ext == ~0U)
		return 0;
	fl_attr_info(sk, fl_sock_find(sk), &full);
	*d = (struct fl_diag) {
		.version = FL_DIAG_VERSION,
		.state = full.state,
		.priority = full.priority,
		.priority_from = full.priority_from,
		.weight_milli = full.weight_milli,
		.base_rtt_ns = full.base_rtt_ns,
		.delay_ns = full.delay_ns,
		.flows_q4 = min_t(u64, div_u64((u64)full.flows_milli * 16, 1000),
				  U16_MAX),
		.queue_us = min_t(u32, full.queue_ns / 1000, U16_MAX),
	};
	*attr = FL_DIAG_ATTR;
	return sizeof(*d);
}
EXPORT_SYMBOL_GPL(fl_diag_fill);

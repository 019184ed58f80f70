// SPDX-License-Identifier: GPL-2.0
/*
 * ExpressPass: the receiver says when to send (Cho, Jang, Han, "Credit-Scheduled
 * Delay-Bounded Congestion Control for Datacenters", SIGCOMM 2017).
 *
 * Everything is in kmod/credit/: here is the congestion control that users choose. A
 * segment leaves for each credit and never without. Switches must give credits a band of
 * their own whose rate is what their data may have (sch_fabric), and packets of other
 * controls in the data's band get nothing: that is what FlexPass is for.
 */
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/tcp.h>

#include "credit/credit.h"
#include "fairlane/fl_sock.h"

FL_CREDIT_WITHOUT(tcp_expresspass_reno, "xpass-reno");

static const struct fl_cc expresspass_cc = {
	.none = { .cc = &expresspass_cc },
	.name = "expresspass",
	.info = fl_credit_info,
};

static const struct fl_sender_ops expresspass_sender = {
	.cc = &expresspass_cc,
	.without = &tcp_expresspass_reno,
	.flow_bytes = sizeof(struct fl_credit_flow),
};

FL_CREDIT_CONTROL(tcp_expresspass, "expresspass", expresspass_sender);

static int __init expresspass_register(void)
{
	return tcp_register_congestion_control(&tcp_expresspass);
}

static void __exit expresspass_unregister(void)
{
	tcp_unregister_congestion_control(&tcp_expresspass);
	/* timers that were running when their flow ended */
	rcu_barrier();
}

module_init(expresspass_register);
module_exit(expresspass_unregister);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("ExpressPass: the receiver says when to send");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");

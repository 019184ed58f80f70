// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane.ko: what Fairlane's congestion controls share.
 *
 *  - settings of a network namespace (fl_profile.c),
 *  - line rates of devices (fl_speed.c),
 *  - delay samples in nanoseconds (fl_rtt.c),
 *  - Swift's window control (core/swift.c), which is a congestion control of
 *    its own and the original CC under PrioPlus.
 */
#include <linux/module.h>

#include "fairlane.h"

static int __init fairlane_init(void)
{
	int err;

	err = fl_profile_init();
	if (err)
		return err;
	err = fl_speed_init();
	if (err)
		fl_profile_exit();
	return err;
}

static void __exit fairlane_exit(void)
{
	fl_speed_exit();
	fl_profile_exit();
}

module_init(fairlane_init);
module_exit(fairlane_exit);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("Virtual priority and weight for TCP: common part");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");

// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane.ko: what Fairlane's congestion controls share.
 *
 *  - settings of a network namespace (fl_profile.c),
 *  - line rates of devices (fl_speed.c),
 *  - measured base RTTs (fl_base_rtt.c),
 *  - settings of sockets and who may change them: the control plane
 *    (fl_control.h and what it names),
 *  - what a new namespace begins with (fl_inherit.c),
 *  - how a namespace does without our congestion controls (fl_off.c),
 *  - who has accepted a connection (fl_accept.c),
 *  - delay samples in nanoseconds (fl_rtt.c),
 *  - telemetry: sockets that have it (fl_telemetry.c), the option in their
 *    segments (fl_option.c).
 *
 * It knows no congestion control: each registers its settings (fl_setting.h) and
 * attaches to the settings of its sockets (struct fl_cc).
 */
#include <linux/module.h>

#include "fairlane.h"
#include "fl_control.h"
#include "fl_telemetry.h"

/**
 * struct fl_part - a part of the module, in the order of starting
 * @init: start it
 * @exit: stop it
 */
struct fl_part {
	int (*init)(void);
	void (*exit)(void);
};

static const struct fl_part fl_parts[] = {
	{ fl_limit_init, fl_limit_exit },
	{ fl_sock_init, fl_sock_exit },
	{ fl_profile_init, fl_profile_exit },
	{ fl_inherit_init, fl_inherit_exit },
	{ fl_speed_init, fl_speed_exit },
	{ fl_base_rtt_init, fl_base_rtt_exit },
	{ fl_telemetry_init, fl_telemetry_exit },
	{ fl_off_init, fl_off_exit },
	{ fl_accept_init, fl_accept_exit },
	/* these show what those above have: they begin later and end before */
	{ fl_genl_init, fl_genl_exit },
	{ fl_sockopt_init, fl_sockopt_exit },
	{ fl_hook_init, fl_hook_exit },
};

static void fl_parts_exit(size_t count)
{
	while (count--)
		fl_parts[count].exit();
}

static int __init fairlane_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(fl_parts); i++) {
		err = fl_parts[i].init();
		if (err) {
			fl_parts_exit(i);
			return err;
		}
	}
	return 0;
}

static void __exit fairlane_exit(void)
{
	fl_parts_exit(ARRAY_SIZE(fl_parts));
}

module_init(fairlane_init);
module_exit(fairlane_exit);

MODULE_AUTHOR("The Fairlane developers");
MODULE_DESCRIPTION("Virtual priority and weight for TCP: common part");
MODULE_LICENSE("GPL");
/* any host may be asked for credit */
MODULE_SOFTDEP("post: fairlane_credit");
MODULE_VERSION("0.1");

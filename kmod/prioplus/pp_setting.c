// SPDX-License-Identifier: GPL-2.0
/* Ranges and defaults of PrioPlus' settings. */
#include <linux/fairlane.h>

#include "prioplus/core/prioplus.h"
#include "pp_setting.h"

static struct fl_setting pp_setting_table[] = {
	FL_RESEARCH_SETTING(struct pp_settings, short_flows, 0, 0, 1),
	FL_RESEARCH_SETTING(struct pp_settings, urgent_priority, 0, 0, FL_PRIORITY_MAX),
	FL_RESEARCH_SETTING(struct pp_settings, share_ns, 0, 0, 1000000),
	FL_RESEARCH_SETTING(struct pp_settings, paper, 0, 0, 1),
};

struct fl_settings pp_table = {
	.owner = KBUILD_MODNAME,
	.table = pp_setting_table,
	.count = ARRAY_SIZE(pp_setting_table),
};

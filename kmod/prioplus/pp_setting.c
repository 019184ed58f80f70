// SPDX-License-Identifier: GPL-2.0
/* Ranges and defaults of PrioPlus' settings. */
#include <linux/fairlane.h>

#include "prioplus/core/prioplus.h"
#include "pp_setting.h"

static struct fl_setting pp_setting_table[] = {
	FL_RESEARCH_SETTING(struct pp_settings, probe_rtt_ns, 0, 0, 1000000000),
	FL_RESEARCH_SETTING(struct pp_settings, epsilon_ns, 0, 0, 100000000),
	FL_RESEARCH_SETTING(struct pp_settings, start_permille, 500, 1, 1000),
	FL_RESEARCH_SETTING(struct pp_settings, start_middle_permille, 250, 1, 1000),
	FL_RESEARCH_SETTING(struct pp_settings, start_middle_priority, 0, 0, PP_PRIO_MAX),
	FL_RESEARCH_SETTING(struct pp_settings, start_high_permille, 1000, 1, 1000),
	FL_RESEARCH_SETTING(struct pp_settings, start_high_priority, 0, 0, PP_PRIO_MAX),
	FL_RESEARCH_SETTING(struct pp_settings, first_permille, 0, 0, 1000),
	FL_RESEARCH_SETTING(struct pp_settings, urgent_priority, 0, 0, FL_PRIORITY_MAX),
	FL_RESEARCH_SETTING(struct pp_settings, unlimited_priority, 0, 0, FL_PRIORITY_MAX),
	FL_RESEARCH_SETTING(struct pp_settings, resume_permille, 1000, 0, 1000),
	FL_RESEARCH_SETTING(struct pp_settings, share_ns, 0, 0, 1000000),
	FL_RESEARCH_SETTING(struct pp_settings, probe_cap_us, 1000, 10, 100000),
	FL_RESEARCH_SETTING(struct pp_settings, probe_timeout_us, 1000, 50, 1000000),
	FL_RESEARCH_SETTING(struct pp_settings, paper, 0, 0, 1),
};

struct fl_settings pp_table = {
	.owner = KBUILD_MODNAME,
	.table = pp_setting_table,
	.count = ARRAY_SIZE(pp_setting_table),
};

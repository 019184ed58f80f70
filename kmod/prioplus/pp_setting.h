/* SPDX-License-Identifier: GPL-2.0 */
/* PrioPlus' settings of a network namespace, /proc/sys/net/fairlane/. */
#ifndef PP_SETTING_H
#define PP_SETTING_H

#include "fairlane/fairlane.h"

/**
 * struct pp_settings - PrioPlus' settings
 * @short_flows: few flows of a priority meet and most last for some RTTs, see
 *	pp_conf_short() in pp_configure.c
 * @urgent_priority: flows of this priority and above begin without a probe and
 *	with W_LS = BDP, section 4.4; 0 = none
 * @share_ns: the target moves down by this with each doubling of a flow's window
 *	for its weight, ns; 0 = by what follows from the path, see core/pp_weight.c
 * @paper: exactly as the paper prints it
 */
struct pp_settings {
	u32 short_flows;
	u32 urgent_priority;
	u32 share_ns;
	u32 paper;
};

extern struct fl_settings pp_table;

#endif /* PP_SETTING_H */

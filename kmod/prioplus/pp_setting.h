/* SPDX-License-Identifier: GPL-2.0 */
/* PrioPlus' settings of a network namespace, /proc/sys/net/fairlane/. */
#ifndef PP_SETTING_H
#define PP_SETTING_H

#include "fairlane/fairlane.h"

/**
 * struct pp_settings - PrioPlus' settings
 * @probe_rtt_ns: RTT of a probe without queues, ns; 0 = from base_rtt_ns
 * @epsilon_ns: less than this above the base RTT is an empty queue, ns; 0 =
 *	the larger of 1 us and the time of a packet on the line
 * @start_permille: W_LS in permille of the BDP, section 4.4
 * @start_middle_permille: the same of priorities from @start_middle_priority on
 * @start_middle_priority: first priority of the middle class, 0 = none
 * @start_high_permille: W_LS of priorities from @start_high_priority on
 * @start_high_priority: first priority of the high class, 0 = none
 * @first_permille: first window of a flow that finds the path empty and does not
 *	know #flow, permille of the BDP, at least two packets
 * @urgent_priority: flows of this priority and above begin without a probe and
 *	with W_LS = BDP, section 4.4; 0 = none
 * @unlimited_priority: flows of this priority and above have no D_limit: they
 *	never stop; 0 = none
 * @resume_permille: evidence that a higher priority is gone before a flow that it
 *	stopped resumes, permille of the default; 0 = a probe
 * @share_ns: the target moves down by this with each doubling of a flow's window
 *	for its weight, ns; 0 = it stays, see core/pp_weight.c
 * @probe_cap_us: longest wait before a probe, us
 * @probe_timeout_us: a probe without an echo is lost after this, us
 * @paper: exactly as the paper prints it
 */
struct pp_settings {
	u32 probe_rtt_ns;
	u32 epsilon_ns;
	u32 start_permille;
	u32 start_middle_permille;
	u32 start_middle_priority;
	u32 start_high_permille;
	u32 start_high_priority;
	u32 first_permille;
	u32 urgent_priority;
	u32 unlimited_priority;
	u32 resume_permille;
	u32 share_ns;
	u32 probe_cap_us;
	u32 probe_timeout_us;
	u32 paper;
};

extern struct fl_settings pp_table;

#endif /* PP_SETTING_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PowerTCP (Addanki et al.: "PowerTCP: Pushing the Performance Limits of Datacenter Networks",
 * NSDI 2022): HPCC's flow and parameters under another law, that of the power of the
 * busiest port.
 */
#ifndef FL_POWERTCP_H
#define FL_POWERTCP_H

#include "hpcc/core/hpcc.h"

/* A power of 1: the line is full, nothing waits, and the queue stays as it is. */
#define PT_POWER_ONE		HP_LOAD_ONE

/* Range of the setting. */
#define PT_GAMMA_MIN_PERMILLE	1
#define PT_GAMMA_MAX_PERMILLE	1000

u32 pt_gamma(u32 permille);
void pt_on_power(struct hp_core *hp, const struct hp_par *par, u32 gamma, u32 power,
		 bool turned, bool limited);

#endif /* FL_POWERTCP_H */

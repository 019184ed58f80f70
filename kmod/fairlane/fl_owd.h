/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-way delay for congestion controls. Documentation/reference/telemetry.rst.
 */
#ifndef FL_OWD_H
#define FL_OWD_H

#include "fl_telemetry.h"

struct fl_info;

bool fl_owd_want(struct sock *sk, struct fl_tel **tel, bool want);
u32 fl_owd_sample(struct fl_tel *tel, u64 now_ns, u32 rtt_ns, u32 base_ns,
		  u32 slack_ns);
void fl_owd_pace(struct sock *sk, u64 wnd, u32 base_ns, u32 extra_ns);
void fl_owd_info(const struct sock *sk, struct fl_info *info);

#endif /* FL_OWD_H */

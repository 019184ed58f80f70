/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PrioPlus inside: weights of flows of one priority. pp_weight.c explains it.
 */
#ifndef FL_PP_WEIGHT_H
#define FL_PP_WEIGHT_H

#include "prioplus.h"

/* Weights are thousandths. 1: what a flow has that was told nothing. */
#define PP_WEIGHT_ONE_MILLI	1000
/* A flow's weight never leaves this range, whatever was set. */
#define PP_WEIGHT_MIN_MILLI	63
#define PP_WEIGHT_MAX_MILLI	16000

void pp_weight_init(struct pp_chan *ch, u32 weight_milli);
u64 pp_weighted_ai(const struct pp_core *pp, const struct pp_chan *ch);
void pp_reweigh(struct pp_core *pp, const struct pp_chan *ch, u32 was_milli);
void pp_targets_init(struct pp_chan *ch, u32 share_ns);
void pp_share(struct pp_core *pp, const struct pp_chan *ch);
void pp_glide(struct pp_core *pp, const struct pp_chan *ch, u32 delay_ns);

#endif /* FL_PP_WEIGHT_H */

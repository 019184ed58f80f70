/* SPDX-License-Identifier: GPL-2.0 */
/* PrioPlus inside: the paper's Algorithm 1 as printed. */
#ifndef FL_PP_PAPER_H
#define FL_PP_PAPER_H

#include "prioplus.h"

enum pp_verdict pp_paper_ack(struct pp_core *pp, const struct pp_chan *ch,
			     const struct fl_sample *s);
enum pp_verdict pp_paper_probe(struct pp_core *pp, const struct pp_chan *ch,
			       u32 delay_ns, u32 snd_nxt, u32 random);

#endif /* FL_PP_PAPER_H */

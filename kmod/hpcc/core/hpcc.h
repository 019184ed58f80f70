/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC (Li et al.: "HPCC: High Precision Congestion Control", SIGCOMM 2019): the rate
 * control of a flow by the load of the busiest port, in rates instead of windows.
 */
#ifndef FL_HPCC_H
#define FL_HPCC_H

#include "lib/fl_types.h"
#include "lib/load.h"

/* A load of 1. */
#define HP_LOAD_ONE		BIT(FL_LOAD_HOST_SHIFT)
/* Weights are counted in thousandths. */
#define HP_WEIGHT_ONE_MILLI	1000
#define HP_WEIGHT_MAX_MILLI	1000000

/* Ranges of the settings. */
#define HP_ETA_MIN_PERMILLE	500
#define HP_ETA_MAX_PERMILLE	1000
#define HP_STAGES_MAX		100
#define HP_FLOWS_MAX		1000

/**
 * struct hp_conf - what the parameters follow from
 * @line_bps: fastest that the sender can send, bit/s, 1 Mbit/s and more
 * @eta_permille: eta, the load to steer for, thousandths
 * @stages: maxStage, round trips with additive steps alone
 * @flows: N, for so many flows there is room for steps without a queue
 * @weight_milli: weight, thousandths
 */
struct hp_conf {
	u64 line_bps;
	u32 eta_permille;
	u32 stages;
	u32 flows;
	u32 weight_milli;
};

/**
 * struct hp_par - what hp_par_init() made of the settings
 * @max_bytes: fastest rate, bytes on the line a second
 * @min_bytes: slowest
 * @step_bytes: additive step of a round trip, of a rate of @whole_bytes and more
 * @whole_bytes: w line / N: below this rate steps become smaller, bytes/s
 * @eta: load to steer for, << FL_LOAD_HOST_SHIFT
 * @stages: round trips with additive steps alone
 * @cut_q10: part of the rate that a loss takes, 1024 is all
 */
struct hp_par {
	u64 max_bytes;
	u64 min_bytes;
	u64 step_bytes;
	u64 whole_bytes;
	u32 eta;
	u32 stages;
	u32 cut_q10;
};

/**
 * struct hp_core - a flow
 * @rate: what to send at, bytes on the line a second
 * @reference: W^c of the paper: the rate that was in force when this round trip began
 * @step: additive step of this round trip, bytes/s
 * @stage: round trips with additive steps alone so far
 * @untold: a queue is full that no load tells of: until one does, additive steps alone
 */
struct hp_core {
	u64 rate;
	u64 reference;
	u64 step;
	u32 stage;
	bool untold;
};

/**
 * hp_is_over() - is a round trip over?
 * @turn_seq: when this is acknowledged; it was snd_nxt + 1, or less
 * @una: what is acknowledged now
 * @nxt: next sequence number to be sent
 *
 * Nobody may have asked for more than 2 GB: what is not in flight is no number to wait for.
 */
static inline bool hp_is_over(u32 turn_seq, u32 una, u32 nxt)
{
	return turn_seq - una - 1 > nxt - una;
}

void hp_par_init(struct hp_par *par, const struct hp_conf *cf);
void hp_turn(struct hp_core *hp, const struct hp_par *par);
void hp_init(struct hp_core *hp, const struct hp_par *par, u64 rate);
void hp_on_load(struct hp_core *hp, const struct hp_par *par, u32 load, bool turned,
		bool limited);
u32 hp_believed(struct hp_core *hp, u32 full, u32 load);
void hp_on_loss(struct hp_core *hp, const struct hp_par *par, bool timeout, u64 untold);

#endif /* FL_HPCC_H */

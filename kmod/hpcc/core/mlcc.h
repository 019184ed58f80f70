/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MLCC's sender (section 3.3.2 of the paper, equation 10): what border routers have told,
 * for how long that is in force, and what follows from it.
 */
#ifndef FL_MLCC_H
#define FL_MLCC_H

#include "lib/fl_types.h"
#include "lib/load.h"

/* What was not told for so many RTTs is no longer in force. */
#define ML_EXPIRE_RTTS		4
/* Loads that come for so many rounds of the near loop after a start are those from before it. */
#define ML_START_ROUNDS		4
/* A flow begins with this part of its share of a line that it finds. */
#define ML_START_SHIFT		2

/**
 * struct ml_core - what a flow has been told
 * @told: rate of the far border router, bytes on the line a second
 * @told_ns: when it came
 * @near_ns: when the last load of the near loop came
 * @turn_ns: when the present round of the near loop began
 * @start_ns: until then loads are older than the rate
 * @goal: share that the flow that begins doubles up to, bytes/s; 0: it goes by the law
 * @near_rtt: time of the near loop, as of fl_load_rtt()
 * @border: @told is in force
 * @near: so is the near loop
 * @far: the far border router tells its loads, there is none at this end
 * @heard: an ACK has told something since the flow began, or began again after a pause
 */
struct ml_core {
	u64 told;
	u64 told_ns;
	u64 near_ns;
	u64 turn_ns;
	u64 start_ns;
	u64 goal;
	u8 near_rtt;
	bool border;
	bool near;
	bool far;
	bool heard;
};

void ml_again(struct ml_core *ml);
bool ml_apart(const struct ml_core *ml);
bool ml_beside(const struct ml_core *ml);
void ml_on_tell(struct ml_core *ml, u64 now_ns, u64 rate);
bool ml_on_near(struct ml_core *ml, u64 now_ns, u8 rtt);
u64 ml_start(const struct ml_core *ml, u64 share, u32 load);
void ml_started(struct ml_core *ml, u64 now_ns, u64 goal);
u64 ml_double(struct ml_core *ml, u64 now_ns, u64 rate, u32 load);
bool ml_starting(const struct ml_core *ml, u64 now_ns);
void ml_expire(struct ml_core *ml, u64 now_ns, u64 rtt_ns);
u64 ml_rate(const struct ml_core *ml, u64 rate);

#endif /* FL_MLCC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Named numbers taken from a run, and what is expected of them. */
#ifndef LAB_MEASURES_H
#define LAB_MEASURES_H

#include "run.h"

/* One result: "preempt_4" or "queue_p4.p50". NAN means "not reached". */
struct value {
	char *name;
	double v;
	const char *unit;	/* us, bps, bytes, packets, flows or "" */
};

struct values {
	struct value *v;
	int n;
};

struct measure {
	const char *name;
	struct ynode *y;
	const struct measure_kind *kind;
	const struct port *port;
	bool receivers;		/* all ports that lead to receivers */
	bool *group;		/* which groups count, NULL = all */
	int64_t from_ns, to_ns;	/* completion: from is NEVER if not given */
	int64_t hold_ns, bin_ns;
	double fraction, target, tolerance;
	int mode;		/* of:, count:, per: */
	double percentile[16];
	int percentiles;
	int64_t class_bytes[16];
	int classes;
	const char *reason;
	uint64_t dscps;		/* only packets with one of these, 0 = all */
	int than;		/* the group that others are compared with, -1 none */
	int below;		/* the group that an intrusion is blamed on */
};

typedef void (*measure_fn)(const struct measure *m, const struct run *run,
			   struct values *out);

void measures_check(struct scenario *sc);
void measures_run(const struct run *run, struct values *out);
void values_of_samples(const struct measure *m, const char *prefix,
		       const char *unit, double *x, size_t n,
		       struct values *out);
void value_add(struct values *out, const char *unit, double v,
	       const char *fmt, ...) PRINTF(4, 5);
const struct value *value_find(const struct values *all, const char *name);
const struct value *value_need(struct ynode *at, const struct values *all,
			       const char *name);

/* The kinds of measures, one function each: rates.c, queues.c, counts.c. */
void eval_throughput(const struct measure *m, const struct run *run,
		     struct values *out);
void eval_share(const struct measure *m, const struct run *run,
		struct values *out);
void eval_utilisation(const struct measure *m, const struct run *run,
		      struct values *out);
void eval_reach(const struct measure *m, const struct run *run,
		struct values *out);
void eval_convergence(const struct measure *m, const struct run *run,
		      struct values *out);
void eval_fairness(const struct measure *m, const struct run *run,
		   struct values *out);
void eval_intrusion(const struct measure *m, const struct run *run,
		    struct values *out);
void eval_silence(const struct measure *m, const struct run *run,
		  struct values *out);
void eval_queue_delay(const struct measure *m, const struct run *run,
		      struct values *out);
void eval_backlog(const struct measure *m, const struct run *run,
		  struct values *out);
void eval_occupancy(const struct measure *m, const struct run *run,
		    struct values *out);
void eval_fct(const struct measure *m, const struct run *run,
	      struct values *out);
void eval_slowdown(const struct measure *m, const struct run *run,
		   struct values *out);
void eval_maxmin(const struct measure *m, const struct run *run,
		 struct values *out);
void maxmin_check(struct scenario *sc, const struct measure *m);
void eval_retransmits(const struct measure *m, const struct run *run,
		      struct values *out);
void eval_marks(const struct measure *m, const struct run *run,
		struct values *out);
void eval_drops(const struct measure *m, const struct run *run,
		struct values *out);
void counter_check(struct scenario *sc, const struct measure *m);
void eval_counter(const struct measure *m, const struct run *run,
		  struct values *out);

/* completion.c */
void completion_check(struct scenario *sc, const struct measure *m);
void eval_completion(const struct measure *m, const struct run *run,
		     struct values *out);
void faster_check(struct scenario *sc, const struct measure *m);
void eval_faster(const struct measure *m, const struct run *run,
		 struct values *out);

/* derived.c */
void derived_check(struct scenario *sc, struct ynode *y);
void eval_mean(const struct measure *m, const struct run *run,
	       struct values *out);
void eval_spread(const struct measure *m, const struct run *run,
		 struct values *out);
void eval_ratio(const struct measure *m, const struct run *run,
		struct values *out);
void eval_largest(const struct measure *m, const struct run *run,
		  struct values *out);

/* expect.c */
struct verdict {
	char *text;		/* "util >= 0.98" */
	const char *name;
	double value;
	const char *unit;
	bool pass;
};

struct verdicts {
	struct verdict *v;
	int n;
	int failed;
};

bool expect_valid(const char *name, const char *target);
const struct value *expect_value(struct ynode *at, struct ynode *measures,
				 const char *name, const struct values *known);
void expect_check(struct ynode *list, struct ynode *measures,
		  const struct values *known);
void expect_run(const struct ynode *list, const struct values *values,
		struct verdicts *out);

/* ratio.c */
void ratio_check(struct ynode *list, struct ynode *measures,
		 const struct values *known);

#endif

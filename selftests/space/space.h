/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random set-ups for the lab. A set-up is a point in a space: for each of the
 * space's dimensions (rate, base RTT, order of starts, ...) a value that the seed
 * decides. A control says which dimensions its spaces have, who sends, and what is
 * expected (struct space_control).
 */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define SPACE_DIMS	48

/**
 * struct space_dim - a dimension and its value in this set-up
 * @name: name, as in the scenario's params
 * @value: value, as there
 * @given: it comes from the command line, not from the seed
 */
struct space_dim {
	char name[24];
	char value[40];
	bool given;
};

/**
 * struct space_text - a part of the scenario, as it grows
 * @f: to write to
 * @text: what was written, after fflush()
 * @bytes: its length
 * @entries: entries so far
 */
struct space_text {
	FILE *f;
	char *text;
	size_t bytes;
	int entries;
};

/**
 * struct space_class - flows of one priority, where the lab is not the only one to run
 *	the set-up
 * @priority: their virtual priority
 * @flows: how many they are
 * @start_us: when they start, us
 * @stop_us: when they stop, us
 */
struct space_class {
	int priority;
	int flows;
	double start_us;
	double stop_us;
};

#define SPACE_CLASSES	8

/**
 * struct space_flow - a flow with a weight that the set-up's change may concern
 * @weight: before and after the change
 * @there: it sends before and after the change
 * @first: where links are in a row, the first that it takes
 * @last: the last
 */
struct space_flow {
	double weight[2];
	bool there[2];
	int first;
	int last;
};

#define SPACE_FLOWS	64

/**
 * struct space_window - a time in which is judged what a change has led to
 * @from_us: begin, us
 * @until_us: end, us
 */
struct space_window {
	double from_us;
	double until_us;
};

/**
 * struct space_setup - a set-up
 * @control: the control's name
 * @space: which of its spaces
 * @seed: what the set-up is drawn from
 * @dim: its dimensions
 * @dims: how many they are
 * @rate_bps: rate of the bottleneck, bit/s
 * @wire_bytes: a full packet on the line, bytes
 * @base_us: RTT of a full packet and its ACK without queues, us; of the
 *	near hosts where there are far ones
 * @settle_us: time after a change from which on shares are judged, us
 * @step_us: time from a change to the next one, us
 * @prop_us: propagation delay of a link, us
 * @class: classes of flows, as far as a model in user space knows them
 * @classes: how many they are
 * @flow: flows with weights
 * @flows: how many they are
 * @window: when their shares are judged, before and after the change
 * @change_us: time of the change, us; 0: there is none
 * @hosts: sending hosts so far
 * @end_us: end of the run, us
 * @groups: entries of the scenario's groups
 * @defaults: further entries of its group_defaults
 * @measures: entries of its measures
 * @expect: entries of its expectations
 * @events: entries of its events
 * @sysctl: entries of its hosts' sysctl
 * @qdisc: of all ports; empty: a large FIFO at switches
 */
struct space_setup {
	const char *control;
	const char *space;
	uint64_t seed;
	struct space_dim dim[SPACE_DIMS];
	int dims;
	double rate_bps;
	int wire_bytes;
	double base_us;
	double settle_us;
	double step_us;
	double prop_us;
	struct space_class class[SPACE_CLASSES];
	int classes;
	struct space_flow flow[SPACE_FLOWS];
	int flows;
	struct space_window window[2];
	double change_us;
	int hosts;
	double end_us;
	struct space_text groups;
	struct space_text defaults;
	struct space_text measures;
	struct space_text expect;
	struct space_text events;
	struct space_text sysctl;
	char qdisc[96];
};

/**
 * struct space_control - a control that has spaces
 * @name: as in TCP_CONGESTION
 * @spaces: their names, NULL at the end; the first is the default
 * @draw: draw a set-up: path_draw(), then groups, measures, expectations
 * @write: write the scenario; NULL: path_write()
 */
struct space_control {
	const char *name;
	const char *const *spaces;
	void (*draw)(struct space_setup *s);
	void (*write)(struct space_setup *s, FILE *out);
};

extern const struct space_control space_expresspass;
extern const struct space_control space_flexpass;
extern const struct space_control space_hpcc;
extern const struct space_control space_mlcc;
extern const struct space_control space_powertcp;
extern const struct space_control space_prioplus;
extern const struct space_control space_soze;

int prioplus_top(const struct space_setup *s, double at_us);

/* dim.c: a dimension's value. What the command line gives wins over the seed; a
 * dimension's value depends on seed, space and its own name alone, so that a new
 * dimension does not move the others.
 */
double dim_random(const struct space_setup *s, const char *name);
const char *dim_pick(struct space_setup *s, const char *name, int n,
		     const char *const *values);
double dim_log(struct space_setup *s, const char *name, double low,
	       double high);
int dim_int(struct space_setup *s, const char *name, int low, int high);
const char *dim_text(struct space_setup *s, const char *name,
		     const char *value);
const char *dim_of(const struct space_setup *s, const char *name);
void dim_give(struct space_setup *s, const char *assignment);
void dim_check(const struct space_setup *s);
bool space_is(const struct space_setup *s, const char *name);
bool seed_read(const char *text, uint64_t *seed);
bool seeds_read(const char *first, const char *last, uint64_t *from, uint64_t *to);
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define DIM_PICK(s, name, ...) \
	dim_pick(s, name, sizeof((const char *[]){ __VA_ARGS__ }) / \
		 sizeof(const char *), (const char *[]){ __VA_ARGS__ })

/**
 * struct path_range - what path_draw() draws from
 * @rate_gbit: rates of the line, Gbit/s
 * @rates: how many they are
 * @low_us: shortest base RTT, us
 * @high_us: longest base RTT, us
 * @wide: draw MTU 4000, hops, far hosts, noise and offload, too
 */
struct path_range {
	const char *const *rate_gbit;
	int rates;
	double low_us;
	double high_us;
	bool wide;
};

/* path.c: the way from senders to receiver, and the scenario as a whole. */
extern const struct path_range path_basic;
extern const struct path_range path_wide;
void path_draw(struct space_setup *s, const struct path_range *range);
void path_buffers(struct space_setup *s, double rate_bps, double rtt_us);
void path_write(struct space_setup *s, FILE *out);
void path_write_head(const struct space_setup *s, FILE *out);
void path_write_groups(struct space_setup *s, FILE *out);
const char *path_entries(struct space_text *t);
void group_add(struct space_setup *s, const char *name, int flows,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));
void measure_add(struct space_setup *s, const char *name, const char *must,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
void shares_judge(struct space_setup *s, double median, double sum, double used);
void entry_add(struct space_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SPACE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* A scenario as the runner sees it once the file has been read and expanded. */
#ifndef LAB_SCENARIO_H
#define LAB_SCENARIO_H

#include <cjson/cJSON.h>

#include "yaml.h"

#define NAME_LEN	16	/* of nodes and devices, as IFNAMSIZ */
#define NEVER		(-1LL)
#define NOISE_POINTS	65	/* equidistant quantiles of a noise curve */

/* Names and values in order: sysctls, module parameters. */
struct pairs {
	char **key;
	char **value;
	int n;
};

void pairs_set(struct pairs *p, const char *key, const char *value);
const char *pairs_get(const struct pairs *p, const char *key);
void pairs_read(struct ynode *map, const char *key, struct pairs *out);

/* Extra delay of a packet, drawn from a curve of equidistant quantiles. */
struct noise {
	uint32_t quantile_ns[NOISE_POINTS];
	int n;
};

/* What a link or one of its ends is made with. */
struct link_params {
	bool veth;
	bool offload;
	int mtu;
	int64_t rate_bps;
	int64_t delay_ns;
	int overhead_bytes;
	int ring_pkts;
	struct noise noise;
};

struct node;

/* One end of a link: a network device in a node. */
struct port {
	struct node *node;
	struct port *peer;
	char dev[NAME_LEN];
	char mac[18];
	struct link_params p;
	const char *qdisc;	/* "fabric limit 1mb" */
	struct strv tc;		/* whole tc commands instead of qdisc */
	int tap;		/* number of its packet recorder, -1 none */
	bool down;		/* its link, while events are read */
};

struct node {
	char name[NAME_LEN];
	bool is_switch;
	int index;
	char addr[40];
	struct port **port;
	int ports;
	struct pairs sysctl;
	const char *route;	/* attributes of a host's default route */
	struct strv quickack;	/* addresses whose packets are ACKed at once */
};

struct link {
	struct port a, b;
};

struct flow {
	int id;
	int group;
	struct node *src, *dst;
	int gate;		/* whose opening it waits for, -1 none */
	int64_t start_ns;	/* since time zero, or since the gate opened */
	int64_t stop_ns;	/* NEVER if only the size ends it */
	int64_t bytes;		/* NEVER if only the stop time ends it */
};

struct group {
	char *name;
	struct ynode *y;
	const char *cc, *receiver_cc;
	int64_t priority;
	double weight;
	int dscp;
	int connect_early;
	bool ack_every;
	bool write_whole;	/* all of it into the socket buffer at once */
	bool stock_buffers;	/* the application sets none */
	int64_t rcvbuf, sndbuf;
	int64_t deadline_ns;	/* 0 none */
	bool waits;		/* after:, its first start is not planned */
	int passes;		/* how often all its flows come, one after the other */
	int rounds;		/* passes without a pause between them */
	int64_t pause_ns;	/* after so many rounds */
	bool per_node;		/* a host goes on alone, the others may lag */
	double deadline_factor;	/* of each flow's ideal time, 0 none */
	int64_t base_rtt_ns;	/* told to the senders; 0 not told */
	bool base_rtt_of_path;	/* each sender is told that of its path */
	int first, count;	/* its flows in scenario.flow[] */
};

/* Cumulative distribution of flow sizes. */
struct sizes {
	double *bytes;
	double *prob;
	int n;
};

/* Opens when all of some flows have been delivered; lets others start. */
struct gate {
	int *after, afters;	/* flow numbers */
	int *flow, flows;
	int64_t delay_ns;	/* from the last delivery to the opening */
};

/* A timed change. */
struct event {
	int64_t at_ns;
	struct node *node;	/* where argv runs, NULL for flow changes */
	struct strv argv;
	int group;		/* whose flows change, -1 none */
	bool stop;
	const char *cc;
	int64_t priority;	/* -1 unchanged */
	double weight;		/* < 0 unchanged */
};

struct scenario {
	char *path, *title, *description;
	struct strv files;	/* path, and what it inherits from */
	struct ynode *root;
	uint64_t seed;
	bool ipv6;
	int64_t duration_ns;
	struct pairs sysctl, params;
	struct pairs modules;	/* name → parameter text */

	struct node **node;
	int nodes;
	struct link **link;
	int links;
	struct port *bottleneck;
	struct port **tap;
	int taps;

	struct group *group;
	int groups;
	struct flow *flow;
	int flows;
	struct gate *gate;
	int gates;
	struct event *event;
	int events;

	int64_t series_ns;	/* sampling interval, 0 = no series.csv */
	bool series_receiver;	/* measured at the receivers, not the port */
	int64_t queues_ns;
	struct port **queue;	/* ports in queues.csv */
	int queues;
	int64_t sample_ns;	/* tcp_info samples, 0 = none */
	struct strv sample_groups;
	struct strv counted;	/* nodes whose tc counters a measure needs */

	struct ynode *measures;
	struct ynode *expect, *expect_median, *expect_ratio;
};

struct scenario *scenario_load(const char *path, const struct strv *sets,
			       int64_t seed);
void scenario_errors(const char *path);

/* topology.c, shapes.c, routes.c */
void topology_load(struct scenario *sc);
struct node *node_add(struct scenario *sc, const struct ynode *y,
		      const char *name, bool is_switch);
void link_add(struct scenario *sc, const struct ynode *y, struct node *a,
	      struct node *b, const struct link_params *p);
int64_t link_rate(struct ynode *map, const char *key, int64_t dflt);
int64_t link_delay(struct ynode *map, const char *key, int64_t dflt);
void link_params_read(struct ynode *map, struct link_params *p);
const char *qdisc_read(struct ynode *map);
bool shape_load(struct scenario *sc, struct ynode *topology,
		const struct link_params *defaults);
struct node *node_find(const struct scenario *sc, const char *name);
const char *node_number(const struct node *n);
struct port *port_need(const struct scenario *sc, const struct ynode *y,
		       const char *name);
void ports_match(const struct scenario *sc, const struct ynode *y,
		 const char *pattern, struct port ***list, int *n);
void nodes_match(const struct scenario *sc, const struct ynode *y,
		 const char *pattern, bool want_switch, struct node ***list,
		 int *n);
const char *port_name(const struct port *p);
int tap_add(struct scenario *sc, struct port *p);
int hops_between(const struct scenario *sc, const struct node *a,
		 const struct node *b);
int64_t base_rtt_ns(const struct scenario *sc, const struct node *src,
		    const struct node *dst);
int64_t ideal_fct_ns(const struct scenario *sc, const struct flow *f);
void link_state(struct port *p, bool down);
int next_hops(const struct scenario *sc, const struct node *from,
	      const struct node *to, struct port **out);

/* machine.c */
void machine_check(const struct scenario *sc, const char *kernel);

/* fabric.c */
char *fabric_routes(const struct scenario *sc);
bool fabric_node(const struct node *n);
void plan_fabric(cJSON *plan, const struct scenario *sc);

/* batch.c */
int route_hops(const struct scenario *sc, const struct node *n,
	       const struct node *to, struct port **hop);
char *routes_batch(const struct scenario *sc, const struct node *n);
void node_batch(const struct scenario *sc, const struct node *n,
		struct strv *out);
void plan_network(cJSON *plan, const struct scenario *sc);

/* flows.c, after.c, dags.c, arrivals.c, events.c, noise.c */
void groups_load(struct scenario *sc);
void flow_add(struct scenario *sc, int group, struct node *src,
	      struct node *dst, int64_t start_ns, int64_t stop_ns,
	      int64_t bytes);
bool sizes_read(struct ynode *y, const char *name, struct sizes *z);
int64_t sizes_draw(const struct sizes *z, struct rng *rng);
bool arrivals_load(struct scenario *sc, int group, struct node **src, int srcs,
		   struct node **dst, int dsts, struct rng *rng);
void dags_load(struct scenario *sc);
void after_load(struct scenario *sc);
const char *y_cc(struct ynode *map, const char *key, const char *dflt);
double y_weight(struct ynode *map, double dflt);
int group_need(const struct scenario *sc, const struct ynode *y,
	       const char *name);
int64_t group_start_ns(const struct scenario *sc, int group);
int64_t y_moment(const struct scenario *sc, struct ynode *n, int64_t dflt);
void y_window(const struct scenario *sc, struct ynode *map, const char *key,
	      int64_t *from_ns, int64_t *to_ns);
void events_load(struct scenario *sc);
void noise_load(struct ynode *map, const char *key, struct noise *out);

/* plan.c, modules.c */
#define ECMP_POLICY	1	/* fib_multipath_hash_policy: addresses, protocol, ports */

uint32_t ecmp_seed(const struct scenario *sc, const struct node *n);
char *tc_text(const char *text, const char *dev, int place, const char *number);
char *port_text(const char *text, const struct port *p);

struct module_list {
	struct strv name, path, params;
};

char *plan_text(const struct scenario *sc, const struct module_list *modules,
		bool leak_check);
char *plan_exec_text(const struct module_list *modules,
		     const struct strv *argv, bool leak_check);
void add_strings(cJSON *o, const char *key, const struct strv *list);
double plan_tap_records(const struct scenario *sc);
void modules_for(const struct scenario *sc, const char *kernel,
		 struct module_list *out);
void module_add(struct module_list *out, const char *kernel, const char *name,
		const char *params, bool required);

#endif

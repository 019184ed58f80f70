// SPDX-License-Identifier: GPL-2.0
/* Write plan.json: everything the guest has to do, as plain steps. */
#include "scenario.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Settings that every guest needs; facts behind them in Documentation/guide/lab.rst.
 * A scenario's own values win.
 */
static const char *const base_sysctl[][2] = {
	{ "net.core.devconf_inherit_init_net", "1" },
	{ "net.core.default_qdisc", "pfifo" },
	{ "net.core.rmem_max", "67108864" },
	{ "net.core.wmem_max", "67108864" },
	{ "net.core.netdev_max_backlog", "100000" },
	{ "net.ipv4.tcp_mem", "1000000 1500000 2000000" },
	{ "net.ipv4.tcp_rmem", "4096 16777216 67108864" },
	{ "net.ipv4.tcp_wmem", "4096 16777216 67108864" },
	{ "net.ipv4.conf.all.rp_filter", "0" },
	{ "net.ipv4.conf.default.rp_filter", "0" },
};

/* The same for every node's own network namespace. */
static const char *const node_sysctl[][2] = {
	{ "net.ipv4.tcp_no_metrics_save", "1" },
	{ "net.ipv4.tcp_max_syn_backlog", "65536" },
	{ "net.core.somaxconn", "65536" },
};

/* Add a list of texts to an object. */
void add_strings(cJSON *o, const char *key, const struct strv *list)
{
	const char *const *s = (const char *const *)list->s;

	cJSON_AddItemToObject(o, key, cJSON_CreateStringArray(s, list->n));
}

/* Add the [name, value] lists of @p to @list. */
static void add_pairs(cJSON *list, const struct pairs *p)
{
	int i;

	for (i = 0; i < p->n; i++) {
		const char *item[2] = { p->key[i], p->value[i] };

		cJSON_AddItemToArray(list, cJSON_CreateStringArray(item, 2));
	}
}

/* Sysctls of the guest before the nodes are made. Names that belong to one
 * network namespace are repeated in every node by add_nodes().
 */
static void add_sysctls(cJSON *plan, const struct scenario *sc)
{
	struct pairs p = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(base_sysctl); i++)
		pairs_set(&p, base_sysctl[i][0], base_sysctl[i][1]);
	if (sc->ipv6) {
		pairs_set(&p, "net.ipv6.conf.default.accept_dad", "0");
		pairs_set(&p, "net.ipv6.conf.default.accept_ra", "0");
		pairs_set(&p, "net.ipv6.conf.default.addr_gen_mode", "1");
		pairs_set(&p, "net.ipv6.conf.default.router_solicitations",
			  "0");
	} else {
		pairs_set(&p, "net.ipv6.conf.all.disable_ipv6", "1");
		pairs_set(&p, "net.ipv6.conf.default.disable_ipv6", "1");
	}
	for (i = 0; i < (size_t)sc->sysctl.n; i++)
		pairs_set(&p, sc->sysctl.key[i], sc->sysctl.value[i]);
	add_pairs(cJSON_AddArrayToObject(plan, "sysctl"), &p);
}

/* Is there a module of ours that has settings? */
static bool has_fairlane(const struct module_list *modules)
{
	int i;

	for (i = 0; i < modules->path.n; i++)
		if (!strcmp(modules->name.s[i], "fairlane"))
			return true;
	return false;
}

/* Seed of a node's choice among equal routes. */
uint32_t ecmp_seed(const struct scenario *sc, const struct node *n)
{
	struct rng rng;
	int i;

	rng_seed(&rng, sc->seed, "ecmp");
	for (i = 0; i < n->index; i++)
		rng_u64(&rng);
	return (uint32_t)rng_u64(&rng) | 1;
}

/* Hosts and switches with their own settings. */
static void add_nodes(cJSON *plan, const struct scenario *sc, bool fairlane)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "nodes");
	char *policy = xasprintf("%d", ECMP_POLICY);
	int i;
	size_t k;

	for (i = 0; i < sc->nodes; i++) {
		struct node *n = sc->node[i];
		cJSON *o = cJSON_CreateObject();
		struct pairs p = { 0 };
		char *text = xasprintf("%u", ecmp_seed(sc, n));

		for (k = 0; k < ARRAY_SIZE(node_sysctl); k++)
			pairs_set(&p, node_sysctl[k][0], node_sysctl[k][1]);
		/* receivers reflect whatever their congestion control is */
		if (fairlane)
			pairs_set(&p, "net.fairlane.telemetry", "2");
		if (n->is_switch && sc->ipv6)
			pairs_set(&p, "net.ipv6.conf.all.forwarding", "1");
		if (n->is_switch)
			pairs_set(&p, "net.ipv4.ip_forward", "1");
		if (n->ports > 1) {
			pairs_set(&p, sc->ipv6 ?
				  "net.ipv6.fib_multipath_hash_policy" :
				  "net.ipv4.fib_multipath_hash_policy", policy);
			pairs_set(&p, "net.ipv4.fib_multipath_hash_seed", text);
		}
		for (k = 0; k < (size_t)n->sysctl.n; k++)
			pairs_set(&p, n->sysctl.key[k], n->sysctl.value[k]);
		/* global ones of the scenario that live in each namespace */
		for (k = 0; k < (size_t)sc->sysctl.n; k++)
			if (!strncmp(sc->sysctl.key[k], "net.ipv", 7) &&
			    !pairs_get(&n->sysctl, sc->sysctl.key[k]) &&
			    !strstr(sc->sysctl.key[k], "_mem") &&
			    !strstr(sc->sysctl.key[k], ".conf."))
				pairs_set(&p, sc->sysctl.key[k],
					  sc->sysctl.value[k]);
		cJSON_AddStringToObject(o, "name", n->name);
		add_pairs(cJSON_AddArrayToObject(o, "sysctl"), &p);
		cJSON_AddItemToArray(list, o);
		free(text);
	}
	free(policy);
}

/* Append a number to a list. */
static void add_number(cJSON *list, double v)
{
	cJSON_AddItemToArray(list, cJSON_CreateNumber(v));
}

/* Queue length if the port's qdisc is what the guest gives every device by
 * itself (pfifo, as long as the device says), else 0.
 */
static int plain_pfifo(const struct port *p)
{
	int limit = 0, end = 0;

	if (p->tc.n || p->node->is_switch ||
	    sscanf(p->qdisc, "pfifo limit %d%n", &limit, &end) != 1 ||
	    p->qdisc[end] || limit < 1)
		return 0;
	return limit;
}

/* One end of a link. */
static cJSON *port_json(const struct scenario *sc, const struct port *p,
			int number)
{
	cJSON *o = cJSON_CreateObject(), *q;
	int i;

	cJSON_AddStringToObject(o, "node", p->node->name);
	cJSON_AddStringToObject(o, "dev", p->dev);
	cJSON_AddStringToObject(o, "mac", p->mac);
	cJSON_AddNumberToObject(o, "mtu", p->p.mtu);
	if (plain_pfifo(p))
		cJSON_AddNumberToObject(o, "txqueuelen", plain_pfifo(p));
	if (!p->p.offload && !p->node->is_switch)
		cJSON_AddNumberToObject(o, "gso_max_segs", 1);
	if (p->p.veth)
		return o;
	cJSON_AddNumberToObject(o, "rate_bps", p->p.rate_bps);
	cJSON_AddNumberToObject(o, "delay_ns", p->p.delay_ns);
	cJSON_AddNumberToObject(o, "overhead_bytes", p->p.overhead_bytes);
	cJSON_AddNumberToObject(o, "ring_pkts", p->p.ring_pkts);
	cJSON_AddBoolToObject(o, "offload", p->p.offload);
	if (p->p.noise.n) {
		struct rng rng;

		q = cJSON_AddArrayToObject(o, "noise_ns");
		for (i = 0; i < p->p.noise.n; i++)
			add_number(q, p->p.noise.quantile_ns[i]);
		rng_seed(&rng, sc->seed * 1000003 + number, "noise");
		cJSON_AddNumberToObject(o, "noise_seed",
					(uint32_t)rng_u64(&rng) | 1);
	}
	return o;
}

/* All links. */
static void add_links(cJSON *plan, const struct scenario *sc)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "links");
	int i;

	for (i = 0; i < sc->links; i++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "kind", sc->link[i]->a.p.veth ?
					"veth" : "lablink");
		cJSON_AddItemToObject(o, "a", port_json(sc, &sc->link[i]->a,
							2 * i));
		cJSON_AddItemToObject(o, "b", port_json(sc, &sc->link[i]->b,
							2 * i + 1));
		cJSON_AddItemToArray(list, o);
	}
}

/* tc's words for a port: $dev is its device, $port its place among the ports of its
 * node, from 0, $number what the node's name ends with.
 */
char *tc_text(const char *text, const char *dev, int place, const char *number)
{
	struct buf b = { 0 };
	const char *s;

	for (s = text; *s; s++) {
		if (!strncmp(s, "$dev", 4)) {
			buf_addf(&b, "%s", dev);
			s += 3;
		} else if (!strncmp(s, "$port", 5)) {
			buf_addf(&b, "%d", place);
			s += 4;
		} else if (!strncmp(s, "$number", 7)) {
			buf_addf(&b, "%s", number);
			s += 6;
		} else {
			buf_add(&b, s, 1);
		}
	}
	return b.s ? b.s : xstrdup("");
}

/* The words as they are for port @p. */
char *port_text(const char *text, const struct port *p)
{
	int place = 0;

	while (p->node->port[place] != p)
		place++;
	return tc_text(text, p->dev, place, node_number(p->node));
}

/* The `tc -batch` input of every node. */
static void add_qdiscs(cJSON *plan, const struct scenario *sc)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "tc");
	int i, k, c;

	for (i = 0; i < sc->nodes; i++) {
		struct node *n = sc->node[i];
		struct strv tc = { 0 };
		cJSON *o;

		for (k = 0; k < n->ports; k++) {
			struct port *p = n->port[k];

			if (!p->tc.n && p->qdisc[0] && !plain_pfifo(p))
				strv_addf(&tc, "qdisc replace dev %s root handle 1: %s",
					  p->dev, port_text(p->qdisc, p));
			for (c = 0; c < p->tc.n; c++)
				strv_add(&tc, port_text(p->tc.s[c], p));
		}
		if (!tc.n)
			continue;
		o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "node", n->name);
		add_strings(o, "batch", &tc);
		cJSON_AddItemToArray(list, o);
	}
}

/* Room for what the packet recorders can see in the run: full packets at line
 * rate and as many small ones again.
 */
double plan_tap_records(const struct scenario *sc)
{
	double records = 100000;
	int i;

	for (i = 0; i < sc->taps; i++)
		records += 2.0 * sc->tap[i]->p.rate_bps / 8 /
			   (sc->tap[i]->p.mtu + 38) * sc->duration_ns / 1e9 +
			   1000;
	return records < 40e6 ? ceil(records) : 40e6;
}

/* Packet recorders. */
static void add_taps(cJSON *plan, const struct scenario *sc)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "taps");
	int i;

	for (i = 0; i < sc->taps; i++) {
		struct port *p = sc->tap[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddNumberToObject(o, "tap", i);
		cJSON_AddStringToObject(o, "node", p->node->name);
		cJSON_AddStringToObject(o, "dev", p->dev);
		cJSON_AddItemToArray(list, o);
	}
	cJSON_AddNumberToObject(plan, "tap_records_max",
				plan_tap_records(sc));
}

/* A weight in thousandths. */
static void add_weight(cJSON *o, double weight)
{
	cJSON_AddNumberToObject(o, "weight_milli", llround(weight * 1000));
}

/* Deadline of a message, microseconds. */
static void add_deadline(cJSON *o, const struct scenario *sc,
			 const struct flow *f)
{
	const struct group *g = &sc->group[f->group];
	int64_t us = g->deadline_ns / 1000;

	if (g->deadline_factor > 0)
		us = llround(ceil(ideal_fct_ns(sc, f) / 1000.0 *
				  g->deadline_factor));
	if (us)
		cJSON_AddNumberToObject(o, "deadline_us", us);
}

/* The base RTT that the sender is told. */
static void add_base_rtt(cJSON *o, const struct scenario *sc,
			 const struct flow *f)
{
	const struct group *g = &sc->group[f->group];
	int64_t ns = g->base_rtt_of_path ? base_rtt_ns(sc, f->src, f->dst) :
		     g->base_rtt_ns;

	if (ns)
		cJSON_AddNumberToObject(o, "base_rtt_ns", ns);
}

/* Every flow. */
static void add_flows(cJSON *plan, const struct scenario *sc)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "flows");
	int i;

	for (i = 0; i < sc->flows; i++) {
		const struct flow *f = &sc->flow[i];
		const struct group *g = &sc->group[f->group];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddNumberToObject(o, "id", f->id);
		cJSON_AddStringToObject(o, "src", f->src->name);
		cJSON_AddStringToObject(o, "dst", f->dst->name);
		cJSON_AddStringToObject(o, "src_addr", f->src->addr);
		cJSON_AddStringToObject(o, "dst_addr", f->dst->addr);
		cJSON_AddNumberToObject(o, "sport", 20000 + f->id % 40000);
		cJSON_AddNumberToObject(o, "dport", 10000 + f->id / 40000);
		cJSON_AddStringToObject(o, "cc", g->cc);
		if (g->receiver_cc)
			cJSON_AddStringToObject(o, "rcv_cc", g->receiver_cc);
		cJSON_AddNumberToObject(o, "so_priority", g->priority);
		add_weight(o, g->weight);
		cJSON_AddNumberToObject(o, "dscp", g->dscp);
		cJSON_AddNumberToObject(o, "start_ns", f->start_ns);
		cJSON_AddNumberToObject(o, "stop_ns", f->stop_ns);
		cJSON_AddNumberToObject(o, "bytes", f->bytes);
		cJSON_AddStringToObject(o, "connect", g->connect_early ?
					"early" : "at_start");
		if (g->rcvbuf != NEVER)
			cJSON_AddNumberToObject(o, "rcvbuf", g->rcvbuf);
		if (g->sndbuf != NEVER)
			cJSON_AddNumberToObject(o, "sndbuf", g->sndbuf);
		add_deadline(o, sc, f);
		add_base_rtt(o, sc, f);
		cJSON_AddBoolToObject(o, "quickack", g->ack_every);
		if (g->stock_buffers)
			cJSON_AddBoolToObject(o, "stock_buffers", true);
		if (g->write_whole)
			cJSON_AddBoolToObject(o, "whole", true);
		cJSON_AddItemToArray(list, o);
	}
}

/* A list of flows. */
static cJSON *flow_numbers(const int *flow, int n)
{
	cJSON *list = cJSON_CreateArray();
	int i;

	for (i = 0; i < n; i++)
		add_number(list, flow[i]);
	return list;
}

/* What waits for what. */
static void add_gates(cJSON *plan, const struct scenario *sc)
{
	cJSON *list;
	int i;

	if (!sc->gates)
		return;
	list = cJSON_AddArrayToObject(plan, "gates");
	for (i = 0; i < sc->gates; i++) {
		const struct gate *gate = &sc->gate[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddItemToObject(o, "after",
				      flow_numbers(gate->after, gate->afters));
		cJSON_AddItemToObject(o, "flows",
				      flow_numbers(gate->flow, gate->flows));
		cJSON_AddNumberToObject(o, "delay_ns", gate->delay_ns);
		cJSON_AddItemToArray(list, o);
	}
}

/* Numbers of a group's flows. */
static cJSON *group_flows(const struct scenario *sc, int group)
{
	cJSON *list = cJSON_CreateArray();
	int i;

	for (i = 0; i < sc->group[group].count; i++)
		add_number(list, sc->flow[sc->group[group].first + i].id);
	return list;
}

/* Timed changes, in order of time. */
static void add_events(cJSON *plan, const struct scenario *sc)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "events");
	int i;

	for (i = 0; i < sc->events; i++) {
		const struct event *e = &sc->event[i];
		cJSON *o = cJSON_CreateObject();

		cJSON_AddNumberToObject(o, "at_ns", e->at_ns);
		if (e->node) {
			cJSON_AddStringToObject(o, "node", e->node->name);
			add_strings(o, "argv", &e->argv);
		} else {
			cJSON_AddItemToObject(o, e->stop ? "stop" : "flows",
					      group_flows(sc, e->group));
			if (e->priority >= 0)
				cJSON_AddNumberToObject(o, "so_priority",
							e->priority);
			if (e->weight >= 0)
				add_weight(o, e->weight);
			if (e->cc)
				cJSON_AddStringToObject(o, "cc", e->cc);
		}
		cJSON_AddItemToArray(list, o);
	}
}

/* Counters of the qdiscs, read after the traffic. */
static void add_collect(cJSON *plan, const struct scenario *sc)
{
	static const char *const argv[] = { "tc", "-s", "-j", "qdisc", "show" };
	cJSON *list = cJSON_AddArrayToObject(plan, "collect");
	int i;

	for (i = 0; i < sc->nodes; i++) {
		cJSON *o;
		char *file;

		if (!sc->node[i]->is_switch && sc->nodes > 64 &&
		    !strv_has(&sc->counted, sc->node[i]->name))
			continue;
		o = cJSON_CreateObject();
		file = xasprintf("tc-%s.json", sc->node[i]->name);
		cJSON_AddStringToObject(o, "node", sc->node[i]->name);
		cJSON_AddItemToObject(o, "argv",
				      cJSON_CreateStringArray(argv, 5));
		cJSON_AddStringToObject(o, "file", file);
		cJSON_AddItemToArray(list, o);
		free(file);
	}
}

/* The part of a plan that every guest gets: modules and environment. */
static void add_frame(cJSON *plan, const struct module_list *modules,
		      bool leak_check)
{
	cJSON *o, *list;
	int i;

	/* the guest's host process has the run's folder as its own */
	cJSON_AddStringToObject(plan, "out", "/proc/self/cwd");
	o = cJSON_AddObjectToObject(plan, "env");
	cJSON_AddStringToObject(o, "TC_LIB_DIR", path_plugins());
	cJSON_AddStringToObject(o, "PATH", path_programs());
	cJSON_AddStringToObject(o, "HOME", "/tmp");
	list = cJSON_AddArrayToObject(plan, "modules");
	for (i = 0; i < modules->path.n; i++) {
		o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "path", modules->path.s[i]);
		cJSON_AddStringToObject(o, "params", modules->params.s[i]);
		cJSON_AddItemToArray(list, o);
	}
	cJSON_AddBoolToObject(plan, "leak_check", leak_check);
}

/* tcp_info samples of the groups asked for, of all if none is named. */
static void add_sample(cJSON *plan, const struct scenario *sc)
{
	cJSON *o, *list;
	int i;

	if (!sc->sample_ns)
		return;
	o = cJSON_AddObjectToObject(plan, "sample");
	cJSON_AddNumberToObject(o, "interval_ns", sc->sample_ns);
	list = cJSON_AddArrayToObject(o, "flows");
	for (i = 0; i < sc->flows; i++)
		if (!sc->sample_groups.n ||
		    strv_has(&sc->sample_groups,
			     sc->group[sc->flow[i].group].name))
			add_number(list, i);
}

/* plan.json of a scenario, as text. */
char *plan_text(const struct scenario *sc, const struct module_list *modules,
		bool leak_check)
{
	cJSON *plan = cJSON_CreateObject();
	char *text;

	add_frame(plan, modules, leak_check);
	add_sysctls(plan, sc);
	add_nodes(plan, sc, has_fairlane(modules));
	add_links(plan, sc);
	plan_network(plan, sc);
	add_qdiscs(plan, sc);
	plan_fabric(plan, sc);
	add_taps(plan, sc);
	add_flows(plan, sc);
	add_gates(plan, sc);
	add_events(plan, sc);
	add_sample(plan, sc);
	cJSON_AddNumberToObject(plan, "end_ns", sc->duration_ns);
	add_collect(plan, sc);
	text = cJSON_Print(plan);
	cJSON_Delete(plan);
	return text;
}

/* plan.json of `lab exec`: run one command in a bare guest. */
char *plan_exec_text(const struct module_list *modules,
		     const struct strv *argv, bool leak_check)
{
	cJSON *plan = cJSON_CreateObject(), *o;
	char *text;

	add_frame(plan, modules, leak_check);
	o = cJSON_AddObjectToObject(plan, "exec");
	add_strings(o, "argv", argv);
	cJSON_AddNullToObject(o, "node");
	text = cJSON_Print(plan);
	cJSON_Delete(plan);
	return text;
}

// SPDX-License-Identifier: GPL-2.0
#include "fluid.h"

#include <stdio.h>

/* Of the clock: thousands of links have events in the time of a packet. */
#define BUCKET_NS	0.1

u32 net_random(struct net *n, u32 below)
{
	return (pn_random(&n->sn.net) >> 33) % below;
}

/* Flows between random hosts, or all to the first, over one of the equal paths,
 * weights 1 to 4.
 */
void net_init(struct net *n, u32 k, u32 flows, double line_bps, bool incast,
	      bool packets, u32 seed)
{
	struct sz_conf cf = { .line_bps = line_bps, .wire_bytes = PN_WIRE };
	u32 f, src, dst;
	int l;

	if (tree_init(&n->tree, k)) {
		fprintf(stderr, "k = %u: even, 2 to %d\n", k, TREE_K_MAX);
		exit(2);
	}
	sn_init(&n->sn, &cf, n->tree.links, flows, BUCKET_NS, seed);
	n->sn.told_max_ns = SN_TOLD_MAX_NS;
	for (l = 0; l < n->sn.net.links; l++)
		n->sn.net.link[l].tau_ns = NET_TAU_NS;
	for (f = 0; f < flows; f++) {
		struct pn_flow *pf = &n->sn.net.flow[f];

		src = net_random(n, n->tree.hosts - incast) + incast;
		dst = net_random(n, n->tree.hosts - 1);
		dst = incast ? 0 : dst + (dst >= src);
		pf->hops = tree_path(&n->tree, src, dst,
				     net_random(n, k * k / 4), pf->path);
		pf->alive = true;
		pf->step_ns = NET_PROP_NS;
		pf->back_ns = pf->hops * NET_PROP_NS;
		n->sn.flow[f].base_ns = pf->hops * (2 * NET_PROP_NS + PN_WIRE * 8e9 / line_bps);
		n->sn.flow[f].weight = 1000 * (1 + net_random(n, 4));
	}
	n->fluid = packets ? NULL : fluid_new(n);
}

void net_free(struct net *n)
{
	fluid_free(n->fluid);
	sn_free(&n->sn);
}

/* Goes on until a time. */
void net_run(struct net *n, double until_ns)
{
	if (n->fluid)
		fluid_run(n->fluid, until_ns);
	else
		sn_run(&n->sn, until_ns);
}

/* A flow begins at a time: its initial window, all at once. */
void net_start(struct net *n, u32 f, double at_ns)
{
	if (n->fluid)
		fluid_start(n->fluid, f, at_ns);
	else
		pn_at(&n->sn.net, at_ns, f, PN_START, 0);
}

/* A flow that has its share, ideal_l2, since long; its first packet leaves within
 * the time of one.
 */
void net_settled(struct net *n, u32 f)
{
	struct sn_flow *fl = &n->sn.flow[f];
	struct pn_flow *pf = &n->sn.net.flow[f];
	u64 rate = sz_exp2(fl->ideal_l2);

	sz_init(&fl->sz, &n->sn.par, 0, rate, fl->weight);
	fl->sz.starting = false;
	fl->sz.age = U32_MAX;
	fl->rest_ns = fl->base_ns;
	pf->next_ns = PN_WIRE * 1e9 / rate * (net_random(n, 1 << 20) / 1048576.);
	if (n->fluid)
		fluid_settled(n->fluid, f);
	else
		net_start(n, f, pf->next_ns);
}

/* A flow has another weight. */
void net_weight(struct net *n, u32 f, u32 weight_milli)
{
	sn_weigh(&n->sn, f, weight_milli);
	if (!n->fluid && n->sn.flow[f].rest_ns > 0)
		pn_send(&n->sn.net, f);
}

// SPDX-License-Identifier: GPL-2.0
#include "soze_net.h"

#define SLACK_NS	20000		/* of an RTT that says that it was more */

static struct sn *sn_of(struct pn *n)
{
	return (struct sn *)((char *)n - offsetof(struct sn, net));
}

/*
 * Equations 6 and 7 as printed: r = r (T^-1(D) / (r / w))^m with m = 0.25, where T^-1 is
 * equation 6's and so not the core's with many flows. Only the window,
 * r times the RTT, keeps to r; the gain has no bound.
 */
static void on_ack_printed(struct sn *n, struct sn_flow *fl, const struct sz_sample *s)
{
	double share = exp2(n->par.alpha_l2 / (double)SZ_ONE) *
		       exp(-((double)s->delay_ns - n->par.k_ns) / n->par.q_ns);
	double rate = exp2(fl->sz.rate_l2 / (double)SZ_ONE);

	fl->told_ns = s->delay_ns;
	if (n->printed == SN_PER_RTT && n->net.now_ns - fl->decided_ns <= s->rtt_ns)
		return;
	fl->decided_ns = n->net.now_ns;
	rate *= pow(share * fl->weight / 1000 / rate, 0.25);
	fl->sz.rate_l2 = fmin(fmax(log2(rate) * SZ_ONE, 10. * SZ_ONE), n->par.max_l2);
}

/* Packets that may be in flight; as printed: the rate in an RTT. */
static u32 window(struct pn *n, u32 f)
{
	const struct sn *sn = sn_of(n);
	const struct sn_flow *fl = &sn->flow[f];

	if (!(fl->rest_ns > 0))
		return SN_BURST;
	if (sn->printed == SN_CORE)
		return sz_window_pkts(&fl->sz, &sn->par, fl->rest_ns);
	return fmax(exp2(fl->sz.rate_l2 / (double)SZ_ONE) *
		    (fl->rest_ns + fl->told_ns) / 1e9 / n->wire_bytes, 1);
}

/* Like TCP, the first packets unpaced. */
static double gap_ns(struct pn *n, u32 f)
{
	const struct sn *sn = sn_of(n);
	const struct sn_flow *fl = &sn->flow[f];

	return fl->rest_ns > 0 && sn->printed == SN_CORE ?
	       n->wire_bytes * 1e9 / sz_exp2(fl->sz.pace_l2) : 0;
}

/**
 * sn_hear() - what a flow makes of an ACK
 * @n: the network
 * @f: the flow
 * @now_ns: time
 * @rtt_ns: RTT
 * @told_ns: the largest delay that a link has told
 */
void sn_hear(struct sn *n, u32 f, double now_ns, double rtt_ns, double told_ns)
{
	struct sn_flow *fl = &n->flow[f];
	/* the option counts in units of 16 ns */
	struct sz_sample s = { .now_ns = now_ns, .delay_ns = (u32)told_ns & ~15U };
	double over_ns;

	n->rtt_sum_ns += rtt_ns;
	n->acks++;
	if (!(fl->base_ns > 0) || rtt_ns < fl->base_ns)
		fl->base_ns = rtt_ns;
	/* what it has no numbers for is seen in the RTT, as in tcp_soze.c */
	if (n->told_max_ns && told_ns >= n->told_max_ns) {
		over_ns = rtt_ns - fl->base_ns - n->told_max_ns - SLACK_NS;
		s.delay_ns = n->told_max_ns + (over_ns > 0 ? (u32)over_ns : 0);
	}
	if (fl->rest_ns > 0) {
		fl->rest_ns += (rtt_ns - s.delay_ns - fl->rest_ns) / 8;
	} else {
		fl->rest_ns = rtt_ns - s.delay_ns;
		sz_init(&fl->sz, &n->par, now_ns,
			SN_BURST * n->net.wire_bytes * 1e9 / rtt_ns, fl->weight);
	}
	if (fl->rest_ns < 1)
		fl->rest_ns = 1;
	s.rtt_ns = fl->rest_ns + s.delay_ns;
	if (n->printed == SN_CORE)
		sz_on_ack(&fl->sz, &n->par, s);
	else
		on_ack_printed(n, fl, &s);
}

static void acked(struct pn *n, const struct pn_event *ev)
{
	n->flow[ev->flow].in_flight--;
	sn_hear(sn_of(n), ev->flow, n->now_ns, n->now_ns - ev->sent, ev->told);
	pn_send(n, ev->flow);
}

/* A flow has another weight. */
void sn_weigh(struct sn *n, u32 f, u32 weight)
{
	struct sn_flow *fl = &n->flow[f];

	fl->weight = weight;
	if (fl->rest_ns > 0)
		sz_set_weight(&fl->sz, &n->par, weight);
}

static void own(struct pn *n, const struct pn_event *ev)
{
	if (ev->what == SN_WEIGHT)
		sn_weigh(sn_of(n), ev->flow, ev->value);
	pn_send(n, ev->flow);
}

static const struct pn_control soze = {
	.window = window, .gap_ns = gap_ns, .acked = acked, .own = own,
	.late_made_up = true,
};

/* Links get the rate that all flows are told. @bucket_ns: of the clock; 0: an eighth of a
 * packet's time, for few links.
 */
void sn_init(struct sn *n, const struct sz_conf *cf, int links, int flows,
	     double bucket_ns, u32 seed)
{
	int l;

	memset(n, 0, sizeof(*n));
	pn_init(&n->net, &soze, links, flows,
		bucket_ns > 0 ? bucket_ns : cf->wire_bytes * 1e9 / cf->line_bps, seed);
	n->net.wire_bytes = cf->wire_bytes;
	for (l = 0; l < links; l++)
		n->net.link[l].bps = cf->line_bps;
	n->flow = pn_alloc(flows, sizeof(*n->flow));
	if (sz_par_init(&n->par, cf))
		abort();
}

void sn_free(struct sn *n)
{
	pn_free(&n->net);
	free(n->flow);
}

/* Flow f over links (ended by -1) with a weight, from a time on (INFINITY: not yet). */
void sn_add(struct sn *n, u32 f, const int *path, double prop_ns, u32 weight,
	    double start_ns)
{
	struct pn_flow *pf = &n->net.flow[f];

	for (; path[pf->hops] >= 0; pf->hops++)
		pf->path[pf->hops] = path[pf->hops];
	pf->step_ns = prop_ns / (2 * pf->hops);
	pf->back_ns = prop_ns / 2;
	n->flow[f].weight = weight;
	if (start_ns < INFINITY)
		pn_at(&n->net, start_ns, f, PN_START, 0);
}

/* Counters begin again. */
void sn_clear(struct sn *n)
{
	pn_clear(&n->net);
	n->rtt_sum_ns = 0;
	n->acks = 0;
}

/* Weighted max-min shares of the flows that are alive; @cost: NULL: not wanted. */
void sn_fill(struct sn *n, struct wf_cost *cost)
{
	u32 used = 0, alive = 0;
	int flows = n->net.flows, f, h;
	u32 *first = pn_alloc(flows + 1ULL, sizeof(*first));
	u32 *hop = pn_alloc((size_t)flows * PN_HOPS, sizeof(*hop));
	double *capacity = pn_alloc(n->net.links, sizeof(*capacity));
	double *weight = pn_alloc(flows, sizeof(*weight));
	double *rate = pn_alloc(flows, sizeof(*rate));
	struct wf_net wf = {
		n->net.links, 0, capacity, weight, first, hop,
	};
	struct wf_cost unused;

	for (h = 0; h < n->net.links; h++)
		capacity[h] = n->net.link[h].bps;
	for (f = 0; f < flows; f++) {
		if (!n->net.flow[f].alive)
			continue;
		weight[alive] = n->flow[f].weight;
		first[alive++] = used;
		for (h = 0; h < n->net.flow[f].hops; h++)
			hop[used++] = n->net.flow[f].path[h];
	}
	first[alive] = used;
	wf.flows = alive;
	if (!wf_solve(&wf, rate, cost ?: &unused) || wf_check(&wf, rate) * 1e6 > 1)
		abort();
	for (alive = 0, f = 0; f < flows; f++)
		if (n->net.flow[f].alive)
			n->flow[f].ideal = rate[alive++];
	free(first);
	free(hop);
	free(capacity);
	free(weight);
	free(rate);
}

/* Largest error of what flows got since sn_clear() at from_ns, permille. */
double sn_worst_permille(struct sn *n, double from_ns)
{
	double worst = 0, rate;
	int f;

	sn_fill(n, NULL);
	for (f = 0; f < n->net.flows; f++) {
		if (!n->net.flow[f].alive)
			continue;
		rate = n->net.flow[f].bytes * 8e9 / (n->net.now_ns - from_ns);
		worst = fmax(worst, fabs(rate / n->flow[f].ideal - 1));
	}
	return 1000 * worst;
}

/* Largest error of the rates that the flows have now, permille. */
double sn_worst_rate_permille(struct sn *n)
{
	double sum = 0, ideal = 0, worst = 0, part;
	int f;

	sn_fill(n, NULL);
	for (f = 0; f < n->net.flows; f++) {
		if (!n->net.flow[f].alive)
			continue;
		sum += sz_exp2(n->flow[f].sz.rate_l2);
		ideal += n->flow[f].ideal;
	}
	for (f = 0; f < n->net.flows; f++) {
		if (!n->net.flow[f].alive)
			continue;
		part = sz_exp2(n->flow[f].sz.rate_l2) / sum;
		worst = fmax(worst, fabs(part / (n->flow[f].ideal / ideal) - 1));
	}
	return 1000 * worst;
}

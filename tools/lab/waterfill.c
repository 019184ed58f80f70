// SPDX-License-Identifier: GPL-2.0
/* Water filling: all flows rise together, each by its weight, until a link is
 * full; its flows stay at that level, and the others go on. Of all links the one
 * that gives a unit of weight least is full first: (what is left of it) / (weight
 * of those that still rise). That level of a link never falls while others
 * are fixed, so a heap of links needs only moves downwards, and the whole takes
 * as many steps as flows use links, times the logarithm of the number of links.
 */
#include "waterfill.h"

#include <math.h>
#include <stdlib.h>

/**
 * struct wf_work - the solver at work
 * @net: what it solves
 * @cost: its counters
 * @left: capacity that nobody has yet, by link
 * @weight: of the flows that still rise, by link
 * @rising: how many they are, by link
 * @level: @left / @weight
 * @heap: links that have rising flows, the lowest level first
 * @place: of a link in @heap
 * @heaped: entries of @heap
 * @begin: where a link's flows begin in @user; links + 1 entries
 * @user: flows by link
 * @fixed: the flow has its rate
 */
struct wf_work {
	const struct wf_net *net;
	struct wf_cost cost;
	double *left, *weight, *level;
	uint32_t *rising, *heap, *place, *begin, *user;
	uint32_t heaped;
	bool *fixed;
};

/* Sinks the link at a place of the heap to where it belongs. */
static void wf_sink(struct wf_work *w, uint32_t at)
{
	uint32_t link = w->heap[at], child;

	while ((child = 2 * at + 1) < w->heaped) {
		if (child + 1 < w->heaped &&
		    w->level[w->heap[child + 1]] < w->level[w->heap[child]])
			child++;
		if (w->level[w->heap[child]] >= w->level[link])
			break;
		w->heap[at] = w->heap[child];
		w->place[w->heap[at]] = at;
		at = child;
		w->cost.moves++;
	}
	w->heap[at] = link;
	w->place[link] = at;
}

/* Takes the link at a place out of the heap. */
static void wf_remove(struct wf_work *w, uint32_t at)
{
	uint32_t link = w->heap[--w->heaped];

	if (at == w->heaped)
		return;
	/* it may belong further up than here */
	while (at && w->level[w->heap[(at - 1) / 2]] > w->level[link]) {
		w->heap[at] = w->heap[(at - 1) / 2];
		w->place[w->heap[at]] = at;
		at = (at - 1) / 2;
		w->cost.moves++;
	}
	w->heap[at] = link;
	w->place[link] = at;
	wf_sink(w, at);
}

/* Lists the flows of each link. */
static void wf_list(struct wf_work *w)
{
	const struct wf_net *net = w->net;
	uint32_t f, h, l, *next;

	for (h = 0; h < net->first[net->flows]; h++)
		w->begin[net->hop[h] + 1]++;
	for (l = 0; l < net->links; l++)
		w->begin[l + 1] += w->begin[l];
	next = w->heap;		/* not in use yet */
	for (l = 0; l < net->links; l++)
		next[l] = w->begin[l];
	for (f = 0; f < net->flows; f++) {
		for (h = net->first[f]; h < net->first[f + 1]; h++) {
			l = net->hop[h];
			w->user[next[l]++] = f;
			w->weight[l] += net->weight[f];
			w->rising[l]++;
			w->cost.visits++;
		}
	}
}

/* Orders the links that have flows. */
static void wf_order(struct wf_work *w)
{
	uint32_t l, i;

	for (l = 0; l < w->net->links; l++) {
		w->left[l] = w->net->capacity[l];
		if (!w->rising[l])
			continue;
		w->level[l] = w->left[l] / w->weight[l];
		w->place[l] = w->heaped;
		w->heap[w->heaped++] = l;
	}
	for (i = w->heaped / 2; i-- > 0;)
		wf_sink(w, i);
}

/* A flow has its rate: its links have less left, and less weight to share it. */
static void wf_fix(struct wf_work *w, uint32_t f, double rate)
{
	const struct wf_net *net = w->net;
	uint32_t h, l;

	w->fixed[f] = true;
	for (h = net->first[f]; h < net->first[f + 1]; h++) {
		l = net->hop[h];
		w->cost.visits++;
		w->left[l] = fmax(w->left[l] - rate, 0);
		w->weight[l] -= net->weight[f];
		if (!--w->rising[l]) {
			wf_remove(w, w->place[l]);
			continue;
		}
		w->level[l] = fmax(w->left[l] / w->weight[l], w->level[l]);
		wf_sink(w, w->place[l]);
	}
}

static bool wf_alloc(struct wf_work *w)
{
	uint32_t links = w->net->links, flows = w->net->flows;

	w->left = calloc(links + 1, sizeof(*w->left));
	w->weight = calloc(links + 1, sizeof(*w->weight));
	w->level = calloc(links + 1, sizeof(*w->level));
	w->rising = calloc(links + 1, sizeof(*w->rising));
	w->heap = calloc(links + 1, sizeof(*w->heap));
	w->place = calloc(links + 1, sizeof(*w->place));
	w->begin = calloc(links + 1, sizeof(*w->begin));
	w->user = calloc((size_t)w->net->first[flows] + 1, sizeof(*w->user));
	w->fixed = calloc(flows + 1, sizeof(*w->fixed));
	return w->left && w->weight && w->level && w->rising && w->heap &&
	       w->place && w->begin && w->user && w->fixed;
}

static void wf_free(struct wf_work *w)
{
	free(w->left);
	free(w->weight);
	free(w->level);
	free(w->rising);
	free(w->heap);
	free(w->place);
	free(w->begin);
	free(w->user);
	free(w->fixed);
}

/**
 * wf_solve() - weighted max-min rates
 * @net: flows and links
 * @rate: result, in the unit of the capacities, an entry for each flow
 * @cost: result, may be NULL
 *
 * Return: false if there is no memory.
 */
bool wf_solve(const struct wf_net *net, double *rate, struct wf_cost *cost)
{
	struct wf_work w = { .net = net };
	uint32_t full, f, i;
	double level;

	if (!wf_alloc(&w)) {
		wf_free(&w);
		return false;
	}
	wf_list(&w);
	wf_order(&w);
	while (w.heaped) {
		full = w.heap[0];
		level = w.level[full];
		w.cost.rounds++;
		for (i = w.begin[full]; i < w.begin[full + 1]; i++) {
			f = w.user[i];
			w.cost.visits++;
			if (w.fixed[f])
				continue;
			rate[f] = level * net->weight[f];
			wf_fix(&w, f, rate[f]);
		}
	}
	if (cost)
		*cost = w.cost;
	wf_free(&w);
	return true;
}

/**
 * wf_check() - how far rates are from being weighted max-min
 * @net: flows and links
 * @rate: of each flow
 *
 * By the definition, not by how they were found: no link carries more than it
 * can, and each flow crosses a full link on which nobody has more for its weight.
 *
 * Return: the largest violation of either, relative; 0 if there is none,
 * INFINITY without memory.
 */
double wf_check(const struct wf_net *net, const double *rate)
{
	double *load = calloc(net->links + 1, sizeof(*load));
	double *top = calloc(net->links + 1, sizeof(*top));
	double worst = 0, best, slack, unit;
	uint32_t f, h, l;

	if (!load || !top) {
		free(load);
		free(top);
		return INFINITY;
	}
	for (f = 0; f < net->flows; f++) {
		for (h = net->first[f]; h < net->first[f + 1]; h++) {
			l = net->hop[h];
			load[l] += rate[f];
			top[l] = fmax(top[l], rate[f] / net->weight[f]);
		}
	}
	for (l = 0; l < net->links; l++)
		worst = fmax(worst, load[l] / net->capacity[l] - 1);
	for (f = 0; f < net->flows; f++) {
		best = INFINITY;
		unit = rate[f] / net->weight[f];
		for (h = net->first[f]; h < net->first[f + 1]; h++) {
			l = net->hop[h];
			slack = fmax(1 - load[l] / net->capacity[l],
				     1 - unit / top[l]);
			best = fmin(best, slack);
		}
		worst = fmax(worst, best);
	}
	free(load);
	free(top);
	return worst;
}

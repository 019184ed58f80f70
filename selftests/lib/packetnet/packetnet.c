// SPDX-License-Identifier: GPL-2.0
#include "packetnet.h"

#include <stdlib.h>
#include <string.h>

/* Links and flows are to be filled in; a bucket of the clock is @bucket_ns. */
void pn_init(struct pn *n, const struct pn_control *control, int links, int flows,
	     double bucket_ns, u32 seed)
{
	memset(n, 0, sizeof(*n));
	n->control = control;
	n->clock = pn_clock_open(bucket_ns);
	n->link = pn_alloc(links, sizeof(*n->link));
	n->flow = pn_alloc(flows, sizeof(*n->flow));
	n->links = links;
	n->flows = flows;
	n->wire_bytes = PN_WIRE;
	n->random = 88172645463325252ULL + seed * 1000003ULL;
}

void pn_free(struct pn *n)
{
	pn_clock_close(n->clock);
	free(n->link);
	free(n->flow);
}

u64 pn_random(struct pn *n)
{
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return n->random;
}

/* Something happens to a flow at a time. */
void pn_at(struct pn *n, double at_ns, u32 f, u8 what, u32 value)
{
	struct pn_event *ev = pn_clock_new(n->clock);

	*ev = (struct pn_event) {
		.at = at_ns, .flow = f, .what = what, .value = value,
	};
	pn_clock_add(n->clock, ev);
}

/* A packet reaches a link: wait, be sent, go on or be acknowledged. */
static void arrive(struct pn *n, struct pn_event *ev)
{
	const struct pn_control *control = n->control;
	struct pn_flow *fl = &n->flow[ev->flow];
	struct pn_link *l = &n->link[fl->path[ev->hop]];
	double now_ns = ev->at, start_ns = l->free_ns > now_ns ? l->free_ns : now_ns;
	double delay_ns = start_ns - now_ns, part;
	double line_ns = ev->bytes * 8e9 / l->bps;

	if (control->whole_ns)
		line_ns = (u64)line_ns;
	l->free_ns = start_ns + line_ns;
	l->busy_ns += l->free_ns - start_ns;
	l->delay_sum_ns += delay_ns;
	l->packets++;
	if (delay_ns > l->delay_max_ns)
		l->delay_max_ns = delay_ns;
	if (l->tau_ns > 0) {
		part = (start_ns - l->last_ns) / l->tau_ns;
		l->told_ns += (delay_ns - l->told_ns) * (part < 1 ? part : 1);
		l->last_ns = start_ns;
		delay_ns = l->told_ns;
	}
	if (delay_ns > ev->told)
		ev->told = delay_ns;
	ev->at = l->free_ns + fl->step_ns;
	if (++ev->hop == fl->hops) {
		fl->bytes += ev->bytes;
		ev->what = PN_ACK;
		ev->at += fl->back_ns;
	}
	if (control->passed)
		control->passed(n, ev, start_ns, start_ns - now_ns);
	pn_clock_add(n->clock, ev);
}

/* A packet leaves its sender now, by the first link. */
void pn_packet(struct pn *n, u32 f, u32 bytes, bool probe)
{
	struct pn_event *ev = pn_clock_new(n->clock);

	*ev = (struct pn_event) {
		.at = n->now_ns, .sent = n->now_ns, .flow = f, .bytes = bytes,
		.what = PN_ARRIVE, .probe = probe,
		.value = probe ? 0 : ++n->flow[f].sent,
	};
	arrive(n, ev);
}

/* Sends what window and pacing allow. */
void pn_send(struct pn *n, u32 f)
{
	const struct pn_control *control = n->control;
	struct pn_flow *fl = &n->flow[f];
	double gap_ns, late_ns;
	u32 window;

	if (!fl->alive)
		return;
	window = control->window(n, f);
	if (fl->in_flight >= window)
		return;
	gap_ns = control->gap_ns(n, f);
	while (fl->in_flight < window) {
		if (gap_ns > 0 && n->now_ns < fl->next_ns) {
			if (!fl->timer)
				pn_at(n, fl->next_ns, f, PN_TIMER, 0);
			fl->timer = true;
			return;
		}
		if (gap_ns > 0) {
			late_ns = n->now_ns - fl->next_ns;
			if (!control->late_made_up)
				late_ns = 0;
			else if (late_ns > gap_ns / 2)
				late_ns = gap_ns / 2;
			fl->next_ns = n->now_ns + gap_ns - late_ns;
		}
		fl->in_flight++;
		pn_packet(n, f, n->wire_bytes, false);
	}
}

static void handle(struct pn *n, struct pn_event *ev)
{
	struct pn_flow *fl = &n->flow[ev->flow];
	struct pn_event e;

	if (ev->what == PN_ARRIVE) {
		arrive(n, ev);
		return;
	}
	/* what follows may make events, and move all of them */
	e = *ev;
	pn_clock_drop(n->clock, ev);
	switch (e.what) {
	case PN_START:
		fl->alive = true;
		n->control->own(n, &e);
		break;
	case PN_STOP:
		fl->alive = false;
		break;
	case PN_ACK:
		n->control->acked(n, &e);
		break;
	case PN_TIMER:
		fl->timer = false;
		pn_send(n, e.flow);
		break;
	default:
		n->control->own(n, &e);
	}
}

/* Goes on until a time. */
void pn_run(struct pn *n, double until_ns)
{
	struct pn_event *ev;

	while ((ev = pn_clock_next(n->clock, until_ns))) {
		n->now_ns = ev->at;
		handle(n, ev);
	}
	n->now_ns = until_ns;
}

/* Counters begin again. */
void pn_clear(struct pn *n)
{
	int f, l;

	for (f = 0; f < n->flows; f++)
		n->flow[f].bytes = 0;
	for (l = 0; l < n->links; l++) {
		n->link[l].busy_ns = 0;
		n->link[l].delay_sum_ns = 0;
		n->link[l].delay_max_ns = 0;
		n->link[l].packets = 0;
	}
}

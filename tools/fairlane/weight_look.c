// SPDX-License-Identifier: GPL-2.0
/* fairlane weight, looking: what each flow has delivered, has left, and how fast it
 * goes.
 */
#include "weight_run.h"

#include <stdlib.h>
#include <string.h>

/* Now, in ns. */
uint64_t weight_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static int by_cookie(const void *a, const void *b)
{
	const struct tracked *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->id.cookie < y->id.cookie ? -1 : x->id.cookie > y->id.cookie;
}

/* A flow that an earlier look saw; NULL: it is new. */
static struct tracked *find_tracked(struct steering *s, size_t place,
				    uint64_t cookie)
{
	struct tracked key = { .place = place, .id.cookie = cookie };

	return s->sorted ? bsearch(&key, s->flow, s->sorted, sizeof(key),
				   by_cookie) : NULL;
}

/* The weight in force, and what it goes back to at the end. */
static uint32_t weight_now(const struct fairlane_flow *f, uint32_t *before)
{
	uint8_t from;
	uint32_t milli;

	*before = FAIRLANE_UNSET;
	if (!f->has_info)
		return f->has_diag && f->diag.weight_milli ?
		       f->diag.weight_milli : FL_WEIGHT_ONE_MILLI;
	milli = fairlane_info_value(&f->info, FAIRLANE_WEIGHT, &from);
	if (from == FL_FROM_SOCKOPT || from == FL_FROM_NETLINK ||
	    from == FL_FROM_LISTENER)
		*before = milli;
	return milli ? milli : FL_WEIGHT_ONE_MILLI;
}

/* One flow of a job: what it has delivered, has left, and how fast it goes. */
static void track(struct steering *s, size_t place, const struct fairlane_flow *f,
		  const struct job_entry *entry)
{
	/* the SYN counts as an acknowledged byte */
	uint64_t acked = f->acked_bytes ? f->acked_bytes - 1 : 0;
	struct tracked *t = find_tracked(s, place, f->id.cookie);
	uint32_t before;

	if (!t) {
		s->flow = xgrow(s->flow, s->flows, sizeof(*t));
		t = &s->flow[s->flows++];
		memset(t, 0, sizeof(*t));
		t->place = place;
		t->id = f->id;
		t->weight_milli = weight_now(f, &t->before_milli);
	} else if (!s->dry_run) {
		t->weight_milli = weight_now(f, &before);
	}
	t->rate = 0;
	/* a rate over a time in which it began to send would be too small */
	if (t->look && t->look == s->look - 1 && t->acked_bytes && s->passed_ns)
		t->rate = (acked - t->acked_bytes) * 1e9 / s->passed_ns;
	t->entry = entry;
	t->look = s->look;
	t->acked_bytes = acked;
	t->left_bytes = entry->size_bytes > acked ? entry->size_bytes - acked :
						    0;
	if (t->left_bytes < f->send_queue_bytes)
		t->left_bytes = f->send_queue_bytes;
	t->active = t->left_bytes && (acked || f->send_queue_bytes);
	t->want_milli = t->weight_milli;
}

/* Go to where its flows are. */
void weight_enter(const struct place *p)
{
	if (p->fd >= 0)
		netns_enter_fd(p->fd, p->name);
}

/* Flows that are gone are forgotten. */
static void forget(struct steering *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->flows; i++)
		if (s->flow[i].look == s->look)
			s->flow[kept++] = s->flow[i];
	s->flows = kept;
	s->sorted = kept;
	if (kept)
		qsort(s->flow, kept, sizeof(*s->flow), by_cookie);
}

/**
 * weight_look() - look at all flows of all places
 * @s: gets what is seen
 */
void weight_look(struct steering *s)
{
	struct filter all;
	struct flows list;
	uint64_t now_ns;
	size_t p, i;

	filter_init(&all);
	parse_tcp_states("all", &all.states);
	now_ns = weight_clock_ns(CLOCK_MONOTONIC);
	s->passed_ns = s->look ? now_ns - s->now_ns : 0;
	s->now_ns = now_ns;
	s->look++;
	for (p = 0; p < s->places; p++) {
		weight_enter(&s->place[p]);
		flows_read(&list, &all);
		for (i = 0; i < list.n; i++) {
			const struct job_entry *e = jobs_find(&s->jobs,
							      &list.f[i]);

			if (e)
				track(s, p, &list.f[i], e);
		}
		flows_free(&list);
	}
	forget(s);
}

// SPDX-License-Identifier: GPL-2.0
/* fairlane metrics: ports of sch_fabric and their bands, as tc tells, the border router, and
 * congestion roots.
 */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

/**
 * struct counted - a number that tc tells
 * @name: of the metric, behind "port_", "band_" or "border_"
 * @key: in tc's JSON
 * @counter: it never falls
 * @help: a sentence
 */
struct counted {
	const char *name;
	const char *key;
	bool counter;
	const char *help;
};

/* Of a port and of a band. */
static const struct counted counted[] = {
	{ "sent_bytes", "bytes", true, "bytes sent" },
	{ "sent_packets", "packets", true, "packets sent" },
	{ "marks", "marks", true, "packets marked (ECN)" },
	{ "drops", "dropped", true, "packets dropped, whatever for" },
	{ "backlog_bytes", "backlog_bytes", false, "bytes that wait" },
	{ "backlog_max_bytes", "backlog_max_bytes", false, "most bytes that ever waited" },
};

/* Of the border router (MLCC): what an operator acts on. */
static const struct counted border_counted[] = {
	{ "connections", "connections", false, "connections that the border router knows" },
	{ "credits", "credits", true, "loads of ACKs that the border router has taken" },
	{ "told", "told", true, "rates that the border router has told senders" },
	{ "messages", "messages", true,
	  "loads that the border router has told senders in messages" },
	{ "unsent", "unsent", true,
	  "messages that the border router has not sent: too many, no memory, no way" },
	{ "refused", "refused", true,
	  "loads of ACKs that the border router has not believed" },
	{ "evicted", "evicted", true,
	  "connections that the border router has forgotten for others" },
	{ "shared", "shared", true,
	  "packets that have waited in a queue that connections share, for want of room for more" },
	{ "host_full", "host_full", true,
	  "packets dropped because their host's queues had their part of a port's limit" },
};

/* One counter of all ports, or of all their bands. */
static void print_counted(struct metrics *m, const cJSON *doc, const struct counted *c, bool bands)
{
	char *name = xprintf("%s_%s", bands ? "band" : "port", c->name);
	const cJSON *q, *band;

	metrics_family(m, name, c->counter, c->help);
	cJSON_ArrayForEach(q, doc) {
		const cJSON *stats = cJSON_GetObjectItem(q, "fabric");
		const char *dev = json_text_of(q, "dev"), *handle = json_text_of(q, "handle");

		if (strcmp(json_text_of(q, "kind"), "fabric") || !stats)
			continue;
		if (!bands) {
			metrics_sample(m, json_number_of(stats, c->key), "dev=\"%s\",handle=\"%s\"",
				       dev, handle);
			continue;
		}
		cJSON_ArrayForEach(band, cJSON_GetObjectItem(stats, "bands"))
			metrics_sample(m, json_number_of(band, c->key),
				       "dev=\"%s\",handle=\"%s\",band=\"%.0f\"", dev, handle,
				       json_number_of(band, "band"));
	}
	free(name);
}

/* What a namespace's border router has counted: each of its ports tells the same. */
static void print_border(struct metrics *m, const cJSON *doc)
{
	const cJSON *q, *counts = NULL;
	size_t i;

	cJSON_ArrayForEach(q, doc) {
		counts = cJSON_GetObjectItem(cJSON_GetObjectItem(q, "fabric"), "border");
		if (counts)
			break;
	}
	for (i = 0; counts && i < ARRAY_SIZE(border_counted); i++) {
		const struct counted *c = &border_counted[i];
		char *name = xprintf("border_%s", c->name);

		metrics_family(m, name, c->counter, c->help);
		metrics_number(m, json_number_of(counts, c->key));
		free(name);
	}
}

/* Congestion roots (Pyrrha): how many, what waits for them, what happened. */
static void print_roots(struct metrics *m)
{
	cJSON *doc = fabric_read(), *sw, *root, *count;

	if (!doc)
		return;
	metrics_family(m, "switch_roots", false, "congestion roots that a switch knows");
	cJSON_ArrayForEach(sw, doc)
		metrics_sample(m, cJSON_GetArraySize(cJSON_GetObjectItem(sw, "roots")),
			       "switch=\"%.0f\"", json_number_of(sw, "switch"));
	metrics_family(m, "switch_parked_packets", false, "packets that wait for congestion roots");
	cJSON_ArrayForEach(sw, doc) {
		double parked = 0;

		cJSON_ArrayForEach(root, cJSON_GetObjectItem(sw, "roots"))
			parked += json_number_of(root, "parked_packets");
		metrics_sample(m, parked, "switch=\"%.0f\"", json_number_of(sw, "switch"));
	}
	metrics_family(m, "switch_events", true,
		       "what happened to congestion roots, and frames about them");
	cJSON_ArrayForEach(sw, doc)
		cJSON_ArrayForEach(count, sw)
			if (cJSON_IsNumber(count) && strcmp(count->string, "switch") &&
			    strcmp(count->string, "paths") && !strstr(count->string, "_max"))
				metrics_sample(m, count->valuedouble,
					       "switch=\"%.0f\",event=\"%s\"",
					       json_number_of(sw, "switch"), count->string);
	cJSON_Delete(doc);
}

void metrics_ports(struct metrics *m)
{
	cJSON *doc = fabric_ports_read();
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(counted); i++)
		print_counted(m, doc, &counted[i / 2], i & 1);
	print_border(m, doc);
	cJSON_Delete(doc);
	print_roots(m);
}

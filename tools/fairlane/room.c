// SPDX-License-Identifier: GPL-2.0
/*
 * Have the ports of fabric.yaml room for the queue that a priority keeps? PrioPlus steers for a
 * delay (kmod/lib/channel.h), and a long base RTT makes channels wide: at 10 Gbit/s and 2 ms
 * priority 6 keeps 1.25 MB. A port that is full before that loses packets, and the flows never see
 * the delay at which they, or those of lower priorities, stop.
 */
#include "apply.h"
#include "lib/channel.h"

#include <stdlib.h>
#include <string.h>

/* A full packet on the line, bytes. */
#define ROOM_PKT_BYTES	1538

/**
 * struct queue - what a priority keeps at a port
 * @bytes: at its target
 * @most_bytes: where it stops
 * @prio: the priority
 * @base_ns: base RTT of its path
 * @mbps: line rate of its flows
 */
struct queue {
	double bytes;
	double most_bytes;
	uint32_t prio;
	uint32_t base_ns;
	uint32_t mbps;
};

/**
 * room_read() - what this namespace says of paths and priorities
 *
 * Return: profiles, policies and limits, as "save" has them in JSON.
 */
cJSON *room_read(void)
{
	cJSON *doc = cJSON_CreateObject();
	char *text;

	profile_save(NULL, cJSON_AddArrayToObject(doc, "profiles"));
	policy_save(NULL, cJSON_AddArrayToObject(doc, "policies"), true);
	limits_save(NULL, doc, true);
	/* numbers are text until they are read */
	text = cJSON_PrintUnformatted(doc);
	cJSON_Delete(doc);
	doc = cJSON_Parse(text);
	free(text);
	return doc;
}

/* The value that stands behind @word in what tc says of the port itself, to be freed; NULL: it is
 * not there.
 */
static char *port_value(const char *text, const char *word)
{
	const char *bands = strstr(text, " band "), *at = text;
	size_t len = strlen(word);

	while ((at = strstr(at, word)) && (!bands || at < bands)) {
		if ((at == text || at[-1] == ' ') && at[len] == ' ')
			return xprintf("%.*s", (int)strcspn(at + len + 1, " "), at + len + 1);
		at += len;
	}
	return NULL;
}

/* The port's limit: tc's kb has 1024 bytes. */
static double port_bytes(const char *text)
{
	static const char units[] = "bKMG";
	char *value = port_value(text, "limit"), *end;
	double bytes = value ? strtoull(value, &end, 10) : 0;
	const char *unit = value && *end ? strchr(units, *end) : NULL;

	bytes *= unit ? 1ULL << 10 * (unit - units) : 1;
	free(value);
	return bytes;
}

/* The rate of the line that the port is, or @mbps, that of its device. */
static uint32_t port_mbps(const char *text, uint32_t mbps)
{
	char *value = port_value(text, "rate");
	uint64_t bps = 0;

	if (value && parse_rate_bps(value, &bps) && bps)
		mbps = bps / 1000000;
	free(value);
	return mbps;
}

static uint32_t profile_value(const cJSON *profile, const char *name)
{
	const cJSON *all = cJSON_GetObjectItem(profile, "settings");

	return json_number_of(cJSON_GetObjectItem(all, name), "value");
}

/* The larger one of @most and the queue of @prio on the paths of @profile; @set: what a policy
 * gives beside.
 */
static void queue_most(struct queue *most, const cJSON *profile, const cJSON *set, uint32_t prio,
		       uint32_t mbps)
{
	uint32_t fluct_ns = profile_value(profile, "fluct_ns");
	uint32_t noise_ns = profile_value(profile, "noise_ns"), pkt_ns, ns;
	struct queue q = {
		.prio = prio,
		.base_ns = json_number_of(set, "base_rtt_ns"),
		.mbps = json_number_of(set, "line_rate_mbps"),
	};
	double bytes_per_ns;

	q.base_ns = q.base_ns ? q.base_ns : profile_value(profile, "base_rtt_ns");
	q.mbps = q.mbps ? q.mbps : profile_value(profile, "line_rate_mbps");
	q.mbps = q.mbps ? q.mbps : mbps;
	if (!q.mbps)
		return;
	pkt_ns = ROOM_PKT_BYTES * 8000 / q.mbps;
	ns = fl_channel_ns(prio, fluct_ns, noise_ns, pkt_ns, q.base_ns);
	bytes_per_ns = (mbps && mbps < q.mbps ? mbps : q.mbps) / 8000.0;
	q.bytes = ns * bytes_per_ns;
	if (q.bytes <= most->bytes)
		return;
	fluct_ns = fl_channel_fluct_ns(fluct_ns, pkt_ns, q.base_ns);
	q.most_bytes = ((double)ns + fluct_ns / 2 + noise_ns) * bytes_per_ns;
	*most = q;
}

/* May a peer be in both prefixes? */
static bool meet(const char *a, const char *b)
{
	struct prefix p, q;

	return !a[0] || !b[0] || !parse_prefix(a, false, &p) || !parse_prefix(b, false, &q) ||
	       prefix_has(&p, q.family, q.addr) || prefix_has(&q, p.family, p.addr);
}

/* The longest queue that the file makes at a port. Where no class has a priority users may have
 * what the limits let them.
 */
static struct queue longest_queue(const cJSON *doc, uint32_t mbps)
{
	struct queue most = { 0 };
	const cJSON *profile, *policy, *set;
	bool given = false;

	cJSON_ArrayForEach(profile, cJSON_GetObjectItem(doc, "profiles")) {
		cJSON_ArrayForEach(policy, cJSON_GetObjectItem(doc, "policies")) {
			set = cJSON_GetObjectItem(policy, "set");
			if (!cJSON_GetObjectItem(set, "prio"))
				continue;
			given = true;
			if (meet(json_text_of(policy, "dst"), json_text_of(profile, "dst")))
				queue_most(&most, profile, set, json_number_of(set, "prio"), mbps);
		}
		if (!given)
			queue_most(&most, profile, NULL,
				   json_number_of(cJSON_GetObjectItem(doc, "limits"), "prio"),
				   mbps);
	}
	return most;
}

/**
 * room_port() - has a port room for the longest queue that the file makes?
 * @doc: what room_read() has found
 * @p: the port
 * @text: as tc shows it
 * @mbps: speed of its device, 0: not known
 * @list: gets what is wrong
 */
void room_port(const cJSON *doc, const struct fabric_port *p, const char *text, uint32_t mbps,
	       cJSON *list)
{
	struct queue q = longest_queue(doc, port_mbps(text, mbps));
	double bytes = port_bytes(text);
	cJSON *obj;

	if (!bytes || bytes >= q.bytes)
		return;
	obj = cJSON_CreateObject();
	json_text(obj, "text", "port %s holds %s, and prio %u keeps %s in it (base RTT %s, %s): packets are lost before its flows stop",
		  p->dev, show_bytes(bytes), q.prio, show_bytes(q.bytes), show_time(q.base_ns),
		  show_rate(q.mbps * 1e6));
	json_text(obj, "cure", "limit %.0fkb of port %s in the file, or a lower prio",
		  q.most_bytes / 1024 + 1, p->dev);
	cJSON_AddItemToArray(list, obj);
}

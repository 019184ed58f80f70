// SPDX-License-Identifier: GPL-2.0
/* Measures that are counts: retransmissions from the flows, marks and drops
 * from what tc says of the port's qdiscs after the traffic.
 */
#include "measures.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* Segments the groups' flows sent again. */
void eval_retransmits(const struct measure *m, const struct run *run,
		      struct values *out)
{
	double sum = 0;
	int i;

	for (i = 0; i < run->sc->flows; i++)
		if (!m->group || m->group[run->sc->flow[i].group])
			sum += run->flow[i].retransmits;
	value_add(out, "packets", sum, "%s", m->name);
}

/* Sum of the numbers called @key inside @json, where they are nearest to the top:
 * a qdisc's own counter, not those of its bands and colours, which it is the sum
 * of; *found counts them. "dropped.limit" is the number "limit" inside something
 * called "dropped".
 */
static double sum_key(const cJSON *json, const char *key, int *found)
{
	const char *dot = strchr(key, '.');
	size_t len = dot ? (size_t)(dot - key) : strlen(key);
	int before = *found;
	double sum = 0;
	const cJSON *c;

	cJSON_ArrayForEach(c, json) {
		bool hit = c->string && strlen(c->string) == len &&
			   !strncmp(c->string, key, len);

		if (hit && dot) {
			sum += sum_key(c, dot + 1, found);
		} else if (hit && cJSON_IsNumber(c)) {
			sum += c->valuedouble;
			(*found)++;
		}
	}
	if (*found != before)
		return sum;
	cJSON_ArrayForEach(c, json)
		sum += sum_key(c, key, found);
	return sum;
}

/* Sum of a counter over the qdiscs of a port; false if tc does not say it.
 * With @root_only the children are left out, because the root counts them.
 */
static bool port_counter(const struct run *run, const struct port *p,
			 const char *key, bool root_only, double *sum)
{
	char *path = xasprintf("%s/raw/tc-%s.json", run->dir, p->node->name);
	char *text = read_file(path, NULL);
	cJSON *json = text ? cJSON_Parse(text) : NULL;
	const cJSON *q;
	int found = 0;

	if (!json)
		die_unclean("%s is missing or not valid JSON", path);
	*sum = 0;
	cJSON_ArrayForEach(q, json) {
		const cJSON *dev = cJSON_GetObjectItem(q, "dev");

		if (!cJSON_IsString(dev) || strcmp(dev->valuestring, p->dev))
			continue;
		if (root_only && !cJSON_IsTrue(cJSON_GetObjectItem(q, "root")))
			continue;
		*sum += sum_key(q, key, &found);
	}
	cJSON_Delete(json);
	free(text);
	free(path);
	return found;
}

/* A counter that the scenario names must be there. */
static double named_counter(const struct measure *m, const struct run *run)
{
	double v;

	if (!port_counter(run, m->port, m->reason, false, &v))
		die_unclean("measure %s: tc counts no \"%s\" at port %s",
			    m->name, m->reason, port_name(m->port));
	return v;
}

/* Packets marked "congestion experienced" by the port's qdisc; a qdisc that
 * counts none makes none.
 */
void eval_marks(const struct measure *m, const struct run *run,
		struct values *out)
{
	static const char *const keys[] = { "marks", "ecn_mark", "marked",
					    "ce_mark" };
	double v = 0;
	size_t i;

	if (m->reason)
		v = named_counter(m, run);
	for (i = 0; !m->reason && i < ARRAY_SIZE(keys); i++)
		if (port_counter(run, m->port, keys[i], false, &v))
			break;
	value_add(out, "packets", v, "%s", m->name);
}

/* Packets the port's qdisc dropped, all or for one reason (a counter's name
 * in tc's output).
 */
void eval_drops(const struct measure *m, const struct run *run,
		struct values *out)
{
	double v;

	if (m->reason)
		v = named_counter(m, run);
	else if (!port_counter(run, m->port, "drops", true, &v))
		die_unclean("measure %s: tc says nothing of port %s", m->name,
			    port_name(m->port));
	value_add(out, "packets", v, "%s", m->name);
}

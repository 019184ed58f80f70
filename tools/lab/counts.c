// SPDX-License-Identifier: GPL-2.0
/* Measures that are counts: retransmissions from the flows, marks and drops
 * from what tc says of the port's qdiscs after the traffic.
 */
#include "measures.h"

#include <cjson/cJSON.h>
#include <math.h>
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
	char *path, *text;
	const cJSON *q;
	int found = 0;
	cJSON *json;

	*sum = NAN;
	if (!run->dir)
		return true;
	path = xasprintf("%s/raw/tc-%s.json", run->dir, p->node->name);
	text = read_file(path, NULL);
	json = text ? cJSON_Parse(text) : NULL;
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

/* The number in column @column of @line, which begins with the protocol's name. */
static double column_of(const char *line, int column)
{
	for (; column; column--) {
		line += strcspn(line, "\n ");
		line += *line == ' ';
	}
	return strtod(line, NULL);
}

/* A counter as nstat names it, "TcpExtTCPTimeouts", in @text, which has lines of names
 * each with a line of numbers after it.
 */
static bool proto_counter(const char *text, const char *key, double *v)
{
	const char *line, *next;

	for (line = text; *line; line = *next ? next + 1 : next) {
		const char *end = line + strcspn(line, ":\n"), *word;
		size_t proto = end - line;
		int column = 0;

		next = strchrnul(line, '\n');
		if (*end != ':' || strncmp(line, key, proto) || !*next)
			continue;
		for (word = end; word < next; word += strcspn(word, "\n ")) {
			word += strspn(word, ": ");
			column++;
			if (strcspn(word, "\n ") == strlen(key + proto) &&
			    !strncmp(word, key + proto, strlen(key + proto))) {
				*v = column_of(next + 1, column);
				return true;
			}
		}
	}
	return false;
}

/* "credit.got": the counter in a line of its own, as /proc/net/fairlane_credit has them. */
static bool line_counter(const char *text, const char *key, double *v)
{
	size_t len = strlen(key);
	const char *line;

	for (line = text; *line; line += strcspn(line, "\n"), line += !!*line) {
		if (!strncmp(line, key, len) && line[len] == ' ') {
			*v = strtod(line + len, NULL);
			return true;
		}
	}
	return false;
}

/* Counter @key of a node; false if it counts no such thing. */
static bool node_counter(const struct run *run, const struct node *n,
			 const char *key, double *sum)
{
	bool found = false, credit = !strncmp(key, "credit.", 7);
	char *path, *text;
	double v;
	int i;

	*sum = NAN;
	if (!run->dir)
		return true;
	*sum = 0;
	for (i = 0; !strncmp(key, "tc.", 3) && i < n->ports; i++) {
		if (port_counter(run, n->port[i], key + 3, true, &v)) {
			*sum += v;
			found = true;
		}
	}
	if (!strncmp(key, "tc.", 3))
		return found;
	path = xasprintf("%s/raw/netstat-%s.txt", run->dir, n->name);
	text = read_file(path, NULL);
	if (!text)
		die_unclean("%s is missing", path);
	found = credit ? line_counter(text, key + 7, sum) :
			 proto_counter(text, key, sum);
	free(text);
	free(path);
	return found;
}

/* Check counter: and nodes:. */
void counter_check(struct scenario *sc, const struct measure *m)
{
	const char *nodes = y_text(m->y, "nodes", "*");
	bool any = false;
	int i;

	for (i = 0; i < sc->nodes; i++)
		any |= name_match(nodes, sc->node[i]->name);
	if (!any)
		y_error(m->y, "nodes: there is no \"%s\"", nodes);
	y_need(m->y, "counter");
}

/* Counters of the nodes' stacks, of credit and of tc, together. */
void eval_counter(const struct measure *m, const struct run *run,
		  struct values *out)
{
	const char *nodes = y_text(m->y, "nodes", "*");
	struct strv names = { 0 };
	double sum = 0, v;
	int i, k;

	y_list(m->y, "counter", &names);
	for (i = 0; i < names.n; i++) {
		bool found = false;

		for (k = 0; k < run->sc->nodes; k++) {
			const struct node *n = run->sc->node[k];

			if (name_match(nodes, n->name) &&
			    node_counter(run, n, names.s[i], &v)) {
				sum += v;
				found = true;
			}
		}
		if (!found)
			die_unclean("measure %s: no node counts \"%s\"", m->name,
				    names.s[i]);
		free(names.s[i]);
	}
	free(names.s);
	value_add(out, "", sum, "%s", m->name);
}

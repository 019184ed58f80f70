// SPDX-License-Identifier: GPL-2.0
/* fairlane fabric show: the border router (MLCC) of this namespace, from what tc says of its
 * ports: those with a role, the hosts behind them, what waits by connection, what was counted.
 */
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/**
 * fabric_ports_read() - what tc says of all ports of this namespace
 *
 * Return: tc's JSON, to be deleted; NULL: nothing.
 */
cJSON *fabric_ports_read(void)
{
	FILE *tc = popen("PATH=$PATH:/usr/sbin:/sbin tc -s -j qdisc show 2> /dev/null", "r");
	char *text = NULL;
	size_t size = 0;
	cJSON *doc;

	if (!tc)
		return NULL;
	/* one line, however long */
	doc = getline(&text, &size, tc) > 0 ? cJSON_Parse(text) : NULL;
	free(text);
	pclose(tc);
	return doc;
}

/* ---- reading ----------------------------------------------------------------- */

static void copy(cJSON *to, const cJSON *from, const char *key)
{
	const cJSON *field = cJSON_GetObjectItem(from, key);

	if (field)
		cJSON_AddItemToObject(to, key, cJSON_Duplicate(field, true));
}

static void add_to(cJSON *o, const char *key, double more)
{
	cJSON *sum = cJSON_GetObjectItem(o, key);

	if (sum)
		cJSON_SetNumberValue(sum, sum->valuedouble + more);
	else
		cJSON_AddNumberToObject(o, key, more);
}

/* The host to which a connection's queue goes, among those of a port, made if need be. */
static cJSON *host_of(cJSON *hosts, const cJSON *flow)
{
	cJSON *host;

	cJSON_ArrayForEach(host, hosts) {
		if (!strcmp(json_text_of(host, "host"), json_text_of(flow, "to")))
			return host;
	}
	host = cJSON_CreateObject();
	cJSON_AddStringToObject(host, "host", json_text_of(flow, "to"));
	cJSON_AddNumberToObject(host, "rate_bps", json_number_of(flow, "host_bps"));
	cJSON_AddNumberToObject(host, "flow_bps", json_number_of(flow, "credit_bps"));
	cJSON_AddNumberToObject(host, "waiting_flows_milli",
				json_number_of(flow, "host_flows_milli"));
	cJSON_AddNumberToObject(host, "near_ns", json_number_of(flow, "near_ns"));
	cJSON_AddArrayToObject(host, "flows");
	cJSON_AddItemToArray(hosts, host);
	return host;
}

/* What is the same for all connections of a host is told of the host alone. */
static void add_flow(cJSON *port, cJSON *hosts, const cJSON *from)
{
	static const char * const keys[] = {
		"from", "from_port", "to_port", "backlog_bytes", "backlog_packets",
		"backlog_max_bytes", "tell_bps", "cross_ns",
	};
	cJSON *host = host_of(hosts, from), *flow = cJSON_CreateObject();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		copy(flow, from, keys[i]);
	cJSON_AddItemToArray(cJSON_GetObjectItem(host, "flows"), flow);
	add_to(host, "backlog_bytes", json_number_of(from, "backlog_bytes"));
	add_to(port, "backlog_bytes", json_number_of(from, "backlog_bytes"));
	add_to(port, "backlog_packets", json_number_of(from, "backlog_packets"));
}

static void add_port(cJSON *ports, const cJSON *qdisc)
{
	static const char * const keys[] = {
		"role", "host_rate", "flow_delay", "flow_theta", "flow_form", "flow_weight",
	};
	const cJSON *stats = cJSON_GetObjectItem(qdisc, "fabric"), *flow;
	const cJSON *options = cJSON_GetObjectItem(qdisc, "options");
	cJSON *port = cJSON_CreateObject(), *hosts;
	size_t i;

	cJSON_AddItemToArray(ports, port);
	cJSON_AddStringToObject(port, "dev", json_text_of(qdisc, "dev"));
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		copy(port, options, keys[i]);
	if (strcmp(json_text_of(port, "role"), "lan"))
		return;
	add_to(port, "backlog_bytes", 0);
	add_to(port, "backlog_packets", 0);
	hosts = cJSON_AddArrayToObject(port, "hosts");
	cJSON_ArrayForEach(flow, cJSON_GetObjectItem(stats, "flows"))
		add_flow(port, hosts, flow);
}

/**
 * fabric_border_read() - the border router of this namespace
 *
 * Return: an object, to be deleted; NULL: there is none, or no tc that shows it.
 */
cJSON *fabric_border_read(void)
{
	cJSON *doc = fabric_ports_read(), *router = NULL;
	const cJSON *qdisc, *counts;

	cJSON_ArrayForEach(qdisc, doc) {
		counts = cJSON_GetObjectItem(cJSON_GetObjectItem(qdisc, "fabric"), "border");
		if (!counts)
			continue;
		/* the counts of all ports are those of the router */
		if (!router) {
			router = cJSON_CreateObject();
			cJSON_AddItemToObject(router, "border", cJSON_Duplicate(counts, true));
			cJSON_AddArrayToObject(router, "ports");
		}
		add_port(cJSON_GetObjectItem(router, "ports"), qdisc);
	}
	cJSON_Delete(doc);
	return router;
}

/* ---- printing ---------------------------------------------------------------- */

static void print_flow(const cJSON *host, const cJSON *flow)
{
	printf("      %s:%.0f from %s:%.0f waiting %s in %.0f packets, most %s",
	       json_text_of(host, "host"), json_number_of(flow, "to_port"),
	       json_text_of(flow, "from"), json_number_of(flow, "from_port"),
	       show_bytes(json_number_of(flow, "backlog_bytes")),
	       json_number_of(flow, "backlog_packets"),
	       show_bytes(json_number_of(flow, "backlog_max_bytes")));
	printf(" told %s rtt %s\n", show_rate(json_number_of(flow, "tell_bps")),
	       show_time(json_number_of(flow, "cross_ns")));
}

static void print_host(const cJSON *host)
{
	const cJSON *flow;

	printf("    host %s rate %s, of a queue %s, waiting %s in %s queues",
	       json_text_of(host, "host"), show_rate(json_number_of(host, "rate_bps")),
	       show_rate(json_number_of(host, "flow_bps")),
	       show_bytes(json_number_of(host, "backlog_bytes")),
	       show_milli(json_number_of(host, "waiting_flows_milli")));
	if (json_number_of(host, "near_ns"))
		printf(" rtt %s", show_time(json_number_of(host, "near_ns")));
	putchar('\n');
	cJSON_ArrayForEach(flow, cJSON_GetObjectItem(host, "flows"))
		print_flow(host, flow);
}

/**
 * fabric_border_print() - a border router as text
 * @router: of fabric_border_read()
 */
void fabric_border_print(const cJSON *router)
{
	const cJSON *port, *host, *count;
	bool any = false;

	printf("border router\n");
	cJSON_ArrayForEach(count, cJSON_GetObjectItem(router, "border")) {
		if (!count->valuedouble)
			continue;
		printf("%s %s %.0f", any ? "" : " ", count->string, count->valuedouble);
		any = true;
	}
	if (any)
		putchar('\n');
	cJSON_ArrayForEach(port, cJSON_GetObjectItem(router, "ports")) {
		printf("  port %s role %s", json_text_of(port, "dev"),
		       json_text_of(port, "role"));
		if (cJSON_GetObjectItem(port, "hosts"))
			printf(" waiting %s in %.0f packets",
			       show_bytes(json_number_of(port, "backlog_bytes")),
			       json_number_of(port, "backlog_packets"));
		putchar('\n');
		cJSON_ArrayForEach(host, cJSON_GetObjectItem(port, "hosts"))
			print_host(host);
	}
}

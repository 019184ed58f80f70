// SPDX-License-Identifier: GPL-2.0
/* fairlane fabric: the switches of sch_fabric in this namespace: congestion roots,
 * what waits for them, and the paths that packets take; its border router (fabricborder.c).
 */
#include "tool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/fairlane.h>

static const char usage[] =
"usage: fairlane fabric show\n"
"       fairlane fabric path switch N port P to ADDRESS via SWITCH:PORT[,SWITCH:PORT]...|none\n"
"       fairlane fabric load FILE|-\n"
"show: each switch of this namespace, and the congestion roots that it knows; its border\n"
"router: what waits, by host and connection, and what senders are told. path: the\n"
"ports that packets for ADDRESS, which leave switch N by port P, pass after that, the\n"
"nearest first; without it nothing is parked for roots on it. load: such paths of a whole\n"
"network, a line each, without \"fairlane fabric path\"; those of switches that are not in this\n"
"namespace are passed over.\n";

static const char * const count_names[FABRIC_COUNT_MAX + 1] = {
	[FABRIC_COUNT_PAUSE] = "pause_sent",
	[FABRIC_COUNT_RESUME] = "resume_sent",
	[FABRIC_COUNT_MERGE] = "merge_sent",
	[FABRIC_COUNT_RELEASE] = "release_sent",
	[FABRIC_COUNT_HEARD] = "heard",
	[FABRIC_COUNT_REFUSED] = "refused",
	[FABRIC_COUNT_NOMINATED] = "nominated",
	[FABRIC_COUNT_MERGED] = "merged",
	[FABRIC_COUNT_ASSIGNED] = "assigned",
	[FABRIC_COUNT_RELEASED] = "released",
	[FABRIC_COUNT_SHARED] = "shared",
	[FABRIC_COUNT_EXPIRED] = "expired",
	[FABRIC_COUNT_FORGOTTEN] = "forgotten",
	[FABRIC_COUNT_FULL] = "full",
	[FABRIC_COUNT_ISOLATED] = "isolated",
	[FABRIC_COUNT_ROOTS_MAX] = "roots_max",
	[FABRIC_COUNT_QUEUES_MAX] = "queues_max",
	[FABRIC_COUNT_NO_PATH] = "no_path",
	[FABRIC_COUNT_PFC_PAUSE] = "pfc_pause_sent",
	[FABRIC_COUNT_PFC_RESUME] = "pfc_resume_sent",
	[FABRIC_COUNT_PFC_HEARD] = "pfc_heard",
};

static struct nl_sock *sock;
static int family;

/* Return: false, sch_fabric is not loaded. */
static bool open_fabric(void)
{
	sock = nl_socket_alloc();
	if (!sock || genl_connect(sock))
		fail_kernel("no netlink socket");
	family = genl_ctrl_resolve(sock, FABRIC_GENL_NAME);
	if (family >= 0)
		return true;
	nl_socket_free(sock);
	return false;
}

static void connect_fabric(void)
{
	if (!open_fabric())
		fail_kernel("sch_fabric is not loaded");
}

static struct nl_msg *message(int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0,
				 flags, cmd, FABRIC_GENL_VERSION))
		fail_kernel("out of memory");
	return msg;
}

static void put(struct nl_msg *msg, int attr, const void *data, int len)
{
	if (nla_put(msg, attr, len, data))
		fail_kernel("out of memory");
}

/* ---- show ------------------------------------------------------------------ */

/* The ports of a set as JSON. */
static void json_ports(cJSON *o, const char *key, uint64_t set)
{
	cJSON *list = cJSON_AddArrayToObject(o, key);
	int i;

	for (i = 0; i < FABRIC_PORTS_MAX; i++) {
		if (set >> i & 1)
			cJSON_AddItemToArray(list, cJSON_CreateNumber(i));
	}
}

/* Counters stay below 2^53 for as long as anybody lives. */
static void add_number(cJSON *o, const char *key, uint64_t v)
{
	cJSON_AddNumberToObject(o, key, v);
}

static uint64_t get_u64(struct nlattr **a, int attr)
{
	return a[attr] ? nla_get_u64(a[attr]) : 0;
}

static void add_switch(cJSON *doc, struct nlattr **a)
{
	struct nlattr *count[FABRIC_COUNT_MAX + 1] = { NULL };
	cJSON *o = cJSON_CreateObject();
	int i;

	cJSON_AddItemToArray(doc, o);
	add_number(o, "switch", nla_get_u32(a[FABRIC_A_SWITCH]));
	json_ports(o, "ports", get_u64(a, FABRIC_A_PORTS));
	add_number(o, "paths", a[FABRIC_A_PATHS] ?
			     nla_get_u32(a[FABRIC_A_PATHS]) : 0);
	nla_parse_nested(count, FABRIC_COUNT_MAX, a[FABRIC_A_COUNTS], NULL);
	for (i = 1; i <= FABRIC_COUNT_MAX; i++)
		add_number(o, count_names[i], get_u64(count, i));
	cJSON_AddArrayToObject(o, "roots");
}

static void add_root(cJSON *doc, struct nlattr **a)
{
	cJSON *sw = cJSON_GetArrayItem(doc, cJSON_GetArraySize(doc) - 1);
	uint64_t id = get_u64(a, FABRIC_A_ROOT);
	cJSON *o = cJSON_CreateObject();

	if (!sw)
		return;
	cJSON_AddItemToArray(cJSON_GetObjectItem(sw, "roots"), o);
	json_text(o, "root", "%u:%u", (unsigned int)(id >> 16),
		  (unsigned int)(id & 0xffff));
	add_number(o, "distance", a[FABRIC_A_DISTANCE] ?
				nla_get_u8(a[FABRIC_A_DISTANCE]) : 0);
	json_ports(o, "parking", get_u64(a, FABRIC_A_PARKING));
	json_ports(o, "paused", get_u64(a, FABRIC_A_PAUSED));
	json_ports(o, "told", get_u64(a, FABRIC_A_TOLD));
	json_ports(o, "pausing", get_u64(a, FABRIC_A_PAUSING));
	add_number(o, "parked_packets", a[FABRIC_A_PARKED_PACKETS] ?
				      nla_get_u32(a[FABRIC_A_PARKED_PACKETS]) : 0);
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct nlattr *a[FABRIC_A_MAX + 1];

	if (genlmsg_parse(nlmsg_hdr(msg), 0, a, FABRIC_A_MAX, NULL) ||
	    !a[FABRIC_A_SWITCH])
		return NL_SKIP;
	if (a[FABRIC_A_ROOT])
		add_root(arg, a);
	else if (a[FABRIC_A_COUNTS])
		add_switch(arg, a);
	return NL_OK;
}

/* A list of ports as text. */
static void print_ports(const char *word, const cJSON *o, const char *key)
{
	const cJSON *port;

	if (!cJSON_GetArraySize(cJSON_GetObjectItem(o, key)))
		return;
	printf(" %s", word);
	cJSON_ArrayForEach(port, cJSON_GetObjectItem(o, key))
		printf(" %d", port->valueint);
}

static void print_switch(const cJSON *sw)
{
	const cJSON *root;
	int i;

	printf("switch %d", cJSON_GetObjectItem(sw, "switch")->valueint);
	print_ports("ports", sw, "ports");
	printf(" paths %d\n ", cJSON_GetObjectItem(sw, "paths")->valueint);
	for (i = 1; i <= FABRIC_COUNT_MAX; i++) {
		double v = cJSON_GetObjectItem(sw, count_names[i])->valuedouble;

		if (v)
			printf(" %s %.0f", count_names[i], v);
	}
	putchar('\n');
	cJSON_ArrayForEach(root, cJSON_GetObjectItem(sw, "roots")) {
		printf("  root %s", cJSON_GetObjectItem(root, "root")->valuestring);
		printf(" distance %d", cJSON_GetObjectItem(root, "distance")->valueint);
		print_ports("parked at", root, "parking");
		print_ports("waiting at", root, "paused");
		print_ports("told", root, "told");
		print_ports("pausing", root, "pausing");
		printf(" packets %d\n",
		       cJSON_GetObjectItem(root, "parked_packets")->valueint);
	}
}

/**
 * fabric_read() - the switches of this namespace and their congestion roots
 *
 * Return: an array, to be deleted; NULL: sch_fabric is not loaded.
 */
cJSON *fabric_read(void)
{
	struct nl_msg *msg;
	cJSON *doc;
	int err;

	if (!open_fabric())
		return NULL;
	doc = cJSON_CreateArray();
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_message, doc);
	msg = message(FABRIC_CMD_SWITCH_GET, NLM_F_DUMP);
	err = nl_send_sync(sock, msg);
	if (err < 0)
		fail_kernel("reading: %s", nl_geterror(err));
	nl_socket_free(sock);
	return doc;
}

static int cmd_show(struct words *w)
{
	cJSON *doc, *router, *sw;

	words_end(w);
	doc = fabric_read();
	if (!doc)
		fail_kernel("sch_fabric is not loaded");
	router = fabric_border_read();
	if (opt.json) {
		if (router)
			cJSON_AddItemToArray(doc, router);
		json_print(doc);
		return EXIT_OK;
	}
	cJSON_ArrayForEach(sw, doc)
		print_switch(sw);
	if (router)
		fabric_border_print(router);
	cJSON_Delete(router);
	cJSON_Delete(doc);
	return EXIT_OK;
}

/* ---- path ------------------------------------------------------------------ */

/* Reads "SWITCH:PORT,..." Returns how many. */
static int parse_hops(const char *s, uint64_t *hops)
{
	int n = 0;

	if (!strcmp(s, "none"))
		return 0;
	while (n < FABRIC_PATH_HOPS_MAX) {
		unsigned long id, port;
		char *end;

		id = strtoul(s, &end, 10);
		if (end == s || *end != ':' || !id || id > UINT32_MAX)
			break;
		s = end + 1;
		port = strtoul(s, &end, 10);
		if (end == s || port >= FABRIC_PORTS_MAX)
			break;
		hops[n++] = (uint64_t)id << 16 | port;
		if (!*end)
			return n;
		if (*end != ',')
			break;
		s = end + 1;
	}
	fail("via: SWITCH:PORT[,SWITCH:PORT]... is wanted, at most %d, or none",
	     FABRIC_PATH_HOPS_MAX);
}

/* An address as 16 bytes. */
static void parse_to(const char *s, uint8_t *to)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (inet_pton(AF_INET6, s, to) == 1)
		return;
	memcpy(to, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, s, to + sizeof(mapped)) != 1)
		fail("to: an address is wanted, not \"%s\"", s);
}

/* Tells the kernel a path. Returns 0 or libnl's error. */
static int set_path(uint32_t sw, uint8_t port, const char *to, const char *via)
{
	uint64_t hops[FABRIC_PATH_HOPS_MAX];
	uint8_t address[16];
	struct nl_msg *msg;
	int n;

	parse_to(to, address);
	n = parse_hops(via, hops);
	msg = message(FABRIC_CMD_PATH_SET, 0);
	put(msg, FABRIC_A_SWITCH, &sw, sizeof(sw));
	put(msg, FABRIC_A_PORT, &port, sizeof(port));
	put(msg, FABRIC_A_TO, address, sizeof(address));
	put(msg, FABRIC_A_HOPS, hops, n * sizeof(*hops));
	return nl_send_sync(sock, msg);
}

static int cmd_path(struct words *w)
{
	const char *id = NULL, *port = NULL, *to = NULL, *via = NULL;
	int err;

	while (words_left(w)) {
		if (word_is(w, "switch"))
			id = word_value(w, "switch");
		else if (word_is(w, "port"))
			port = word_value(w, "port");
		else if (word_is(w, "to"))
			to = word_value(w, "to");
		else if (word_is(w, "via"))
			via = word_value(w, "via");
		else
			fail("path: \"%s\"? (fairlane fabric help)", word_peek(w));
	}
	if (!id || !port || !to || !via)
		fail("path: switch, port, to and via are wanted");
	connect_fabric();
	err = set_path(need_u32("switch", id, 1, UINT32_MAX),
		       need_u32("port", port, 0, FABRIC_PORTS_MAX - 1), to, via);
	if (err < 0)
		fail_kernel("path: %s", nl_geterror(err));
	nl_socket_free(sock);
	return EXIT_OK;
}

/* ---- load ------------------------------------------------------------------ */

static int cmd_load(struct words *w)
{
	char line[512], to[64], via[256], rest;
	const char *name = words_left(w) ? word_next(w) : NULL;
	unsigned int sw, port, number = 0, others = 0, set = 0;
	FILE *f;
	int err;

	if (!name)
		fail("load: a file is wanted");
	words_end(w);
	f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	if (!f)
		fail("load: %s: %s", name, strerror(errno));
	connect_fabric();
	while (fgets(line, sizeof(line), f)) {
		number++;
		if (line[0] == '#' || line[strspn(line, " \t\n")] == '\0')
			continue;
		if (sscanf(line, "switch %u port %u to %63s via %255s %c", &sw,
			   &port, to, via, &rest) != 4 ||
		    !sw || port >= FABRIC_PORTS_MAX)
			fail("load: %s:%u: switch N port P to ADDRESS via SWITCH:PORT,... is wanted",
			     name, number);
		err = set_path(sw, port, to, via);
		if (err == -NLE_NODEV)
			others++;
		else if (err < 0)
			fail_kernel("load: %s:%u: %s", name, number,
				    nl_geterror(err));
		else
			set++;
	}
	fclose(f);
	nl_socket_free(sock);
	printf("%u paths set, %u of switches elsewhere\n", set, others);
	return EXIT_OK;
}

static const struct command commands[] = {
	{ "show", cmd_show }, { "path", cmd_path },
	{ "load", cmd_load },
};

int cmd_fabric(struct words *w)
{
	return command_run(commands, ARRAY_SIZE(commands), "command", "show",
			   usage, w);
}

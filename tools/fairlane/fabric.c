// SPDX-License-Identifier: GPL-2.0
/* fairlane fabric: the switches of sch_fabric in this namespace: congestion roots,
 * what waits for them; its border router (fabricborder.c) and paths (fabricload.c).
 */
#include "fabric.h"

#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/fairlane.h>

/* Of a message beside its data; libnl's own messages are 4096 bytes in all. */
#define HEAD_BYTES	1024

static const char usage[] =
"usage: fairlane fabric show\n"
"       fairlane fabric load FILE|-\n"
"show: each switch of this namespace, and the congestion roots that it knows; its border\n"
"router: what waits, by host and connection, and what senders are told. load: the routes of\n"
"all switches of a network, so that those of this namespace know which ports packets pass after them;\n"
"it is refused if this kernel routes in another way. Lines of the file are\n"
"  switch N [policy P] [fields F] [seed S]   how a switch chooses among equal routes\n"
"  port N:P to M                             behind port P of switch N is switch M\n"
"  route N port P[*WEIGHT][,P...] to PREFIX...\n"
"\"mistold\" counts packets that left by another port than the file says while there were roots, of\n"
"those (\"foretold\") of which it says one.\n";

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
	[FABRIC_COUNT_FORETOLD] = "foretold",
	[FABRIC_COUNT_MISTOLD] = "mistold",
	[FABRIC_COUNT_HASH_PAUSE] = "hash_paused",
	[FABRIC_COUNT_HASH_RESUME] = "hash_resumed",
	[FABRIC_COUNT_HASH_SENT] = "hash_frames_sent",
	[FABRIC_COUNT_HASH_HEARD] = "hash_frames_heard",
	[FABRIC_COUNT_HASH_EXPIRED] = "hash_expired",
	[FABRIC_COUNT_HASH_HELD_NS] = "hash_held_ns",
	[FABRIC_COUNT_HASH_USED_MAX] = "hash_used_max",
};

#define ERROR_CHARS	256

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

void fabric_connect(void)
{
	if (!open_fabric())
		fail_kernel("the kernel module sch_fabric is not loaded (modprobe sch_fabric)");
}

static struct nl_msg *message(int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(FABRIC_DATA_BYTES + HEAD_BYTES);

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0,
				 flags, cmd, FABRIC_GENL_VERSION))
		fail_kernel("out of memory");
	return msg;
}

struct nl_msg *fabric_message(int cmd)
{
	return message(cmd, 0);
}

void fabric_put(struct nl_msg *msg, int attr, const void *data, int len)
{
	if (nla_put(msg, attr, len, data))
		fail_kernel("out of memory");
}

/* Keeps what the kernel says of an error. */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)err - 1;
	int skip = sizeof(*err);
	struct nlattr *text;

	(void)from;
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - sizeof(err->msg);
	text = hdr->nlmsg_flags & NLM_F_ACK_TLVS ?
	       nlmsg_find_attr(hdr, skip, NLMSGERR_ATTR_MSG) : NULL;
	snprintf(arg, ERROR_CHARS, "%s", text ? nla_get_string(text) : strerror(-err->error));
	return -NLE_FAILURE;
}

void fabric_send(struct nl_msg *msg, const char *what)
{
	char text[ERROR_CHARS] = "no answer";
	int one = 1;

	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, on_error, text);
	if (nl_send_sync(sock, msg) < 0)
		fail_kernel("%s: %s", what, text);
}

void fabric_disconnect(void)
{
	nl_socket_free(sock);
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

/* The ports' devices, by port. */
static void json_devices(cJSON *o, struct nlattr *a)
{
	cJSON *list = cJSON_AddArrayToObject(o, "devices");
	int n = a ? nla_len(a) / (int)sizeof(int32_t) : 0, i;
	const int32_t *device = a ? nla_data(a) : NULL;

	while (n && !device[n - 1])
		n--;
	for (i = 0; i < n; i++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(device[i]));
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
	json_devices(o, a[FABRIC_A_DEVICES]);
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
	bool any = false;
	int i;

	printf("switch %d", cJSON_GetObjectItem(sw, "switch")->valueint);
	print_ports("ports", sw, "ports");
	printf(" paths %d\n", cJSON_GetObjectItem(sw, "paths")->valueint);
	for (i = 1; i <= FABRIC_COUNT_MAX; i++) {
		double v = cJSON_GetObjectItem(sw, count_names[i])->valuedouble;

		if (!v)
			continue;
		printf("%s %s %.0f", any ? "" : " ", count_names[i], v);
		any = true;
	}
	if (any)
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
		fail_kernel("the kernel module sch_fabric is not loaded (modprobe sch_fabric)");
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

static const struct command commands[] = {
	{ "show", cmd_show }, { "load", cmd_fabric_load },
};

int cmd_fabric(struct words *w)
{
	return command_run(commands, ARRAY_SIZE(commands), "command", "show",
			   usage, w);
}

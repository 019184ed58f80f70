// SPDX-License-Identifier: GPL-2.0
/* fairlane apply: ports of a router, by tc, which knows the options of sch_fabric. */
#include "apply.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT_WORDS	256

static const char handle[] = "1:";

/**
 * port_text() - the options of a port, as tc shows them
 * @dev: its device
 *
 * Return: to be freed; NULL: the root of the device is no fabric.
 */
char *port_text(const char *dev)
{
	static char buf[16384];
	const char *const argv[] = {
		"tc", "qdisc", "show", "dev", dev, "root", NULL
	};
	char *line, *end, *ref;

	if (tool_run(buf, sizeof(buf), argv))
		return NULL;
	line = strstr(buf, "qdisc fabric ");
	ref = line ? strstr(line, "refcnt ") : NULL;
	if (!ref)
		return NULL;
	ref += strlen("refcnt ");
	ref += strspn(ref, "0123456789 ");
	end = ref + strcspn(ref, "\n");
	while (end > ref && end[-1] == ' ')
		end--;
	return xprintf("%.*s", (int)(end - ref), ref);
}

/* The MTU of a device, where only this process is. */
void port_mtu(const char *dev, int mtu)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = { .ifr_mtu = mtu };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (sock < 0 || ioctl(sock, SIOCSIFMTU, &ifr))
		fail_kernel("%s: cannot set the MTU to %d", dev, mtu);
	close(sock);
}

/**
 * port_set() - make a device a port, or change it
 * @dev: the device
 * @options: words after "fabric"
 * @said: gets what tc says
 * @size: of @said
 *
 * Return: tc's exit status.
 */
int port_set(const char *dev, const char *options, char *said, size_t size)
{
	const char *argv[PORT_WORDS] = {
		"tc", "qdisc", "replace", "dev", dev, "root", "handle", handle,
		"fabric",
	};
	char *words = xprintf("%s", options), *rest = words, *word;
	int n = 9, status;

	while ((word = strsep(&rest, " \t\n"))) {
		if (n == PORT_WORDS - 1)
			fail("more than %d words for a port", PORT_WORDS - 10);
		if (*word)
			argv[n++] = word;
	}
	argv[n] = NULL;
	status = tool_run(said, size, argv);
	if (status == 127)
		snprintf(said, size, "tc cannot be run (apt install iproute2)");
	said[strcspn(said, "\n")] = 0;
	free(words);
	return status;
}

/* The device gets its standard queue back. Return: tc's exit status. */
int port_del(const char *dev)
{
	const char *const argv[] = {
		"tc", "qdisc", "del", "dev", dev, "root", NULL
	};
	char said[256];

	return tool_run(said, sizeof(said), argv);
}

static cJSON *port_json(const struct fabric_port *p)
{
	cJSON *obj = cJSON_CreateObject();

	cJSON_AddStringToObject(obj, "dev", p->dev);
	if (p->netns)
		cJSON_AddStringToObject(obj, "netns", p->netns);
	return obj;
}

/**
 * port_missing() - a port's device, or its network namespace, is not there yet
 * @p: the port
 * @list: gets it
 */
void port_missing(const struct fabric_port *p, cJSON *list)
{
	cJSON *obj = port_json(p);

	cJSON_AddBoolToObject(obj, "missing", true);
	cJSON_AddItemToArray(list, obj);
}

/* Options change without loss. One that is there but not in the file can only be taken
 * back by making the queue anew. @now: as it is; NULL: no fabric, and what there is stays
 * unless tc takes the fabric. Return: an exit code.
 */
static int port_change(const struct fabric_port *p, const char *wanted, const char *now)
{
	bool ours = now, done = false;
	char said[1024] = "", *text;
	int tries;

	for (tries = 0; tries < 2 && !done && (!tries || ours); tries++) {
		if (tries)
			port_del(p->dev);
		text = port_set(p->dev, p->options, said, sizeof(said)) ? NULL :
		       port_text(p->dev);
		ours |= !!text;
		done = text && !strcmp(text, wanted);
		free(text);
	}
	if (done)
		return EXIT_OK;
	fprintf(stderr, "Error: %s%s\n", p->where, said[0] ? said :
		"the port is not what the file wants, although tc took it");
	if (ours)
		port_del(p->dev);
	if (now)
		port_set(p->dev, now, said, sizeof(said));
	return EXIT_KERNEL;
}

/**
 * port_make() - make a port what a file wants
 * @p: the port
 * @wanted: as port_text() will show it
 * @dry_run: change nothing
 * @list: gets what is different; untouched if nothing is
 *
 * Return: an exit code. Where a change fails, a fabric that was there is again.
 */
int port_make(const struct fabric_port *p, const char *wanted, bool dry_run,
	      cJSON *list)
{
	int code = EXIT_OK;
	cJSON *obj;
	char *now;

	if (!if_nametoindex(p->dev)) {
		port_missing(p, list);
		return EXIT_OK;
	}
	now = port_text(p->dev);
	if (!now || strcmp(now, wanted)) {
		obj = port_json(p);
		if (now)
			cJSON_AddStringToObject(obj, "from", now);
		else
			cJSON_AddNullToObject(obj, "from");
		cJSON_AddStringToObject(obj, "to", wanted);
		if (!dry_run)
			code = port_change(p, wanted, now);
		if (code)
			cJSON_AddTrueToObject(obj, "failed");
		cJSON_AddItemToArray(list, obj);
	}
	free(now);
	return code;
}

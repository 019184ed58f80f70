// SPDX-License-Identifier: GPL-2.0
/*
 * Tries a file in a network namespace that nobody is in. There the kernel says what it
 * thinks of each value, and what the settings and the ports look like afterwards: in its own
 * words, which can be compared with those of another namespace. Nothing of the
 * host changes by that.
 */
#include "apply.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Behind a refusal of a key at the top of the file, which may be a typing error. */
#define TOP_KEYS	"; other keys are control, namespaces, paths, limits, classes, ports, " \
			"research"

/* What a port that is not there yet is tried with. */
#define SPEED_MBPS	10000

/**
 * struct device - of a port, where it is: what a port's options may depend on
 * @mtu: 0: there is no such device
 * @mbps: its speed, 0: it does not tell
 */
struct device {
	int mtu;
	uint32_t mbps;
};

/* A device here. */
static struct device device_of(const char *dev)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct device device = { 0 };
	struct ifreq ifr = { 0 };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (sock >= 0 && !ioctl(sock, SIOCGIFMTU, &ifr)) {
		device.mtu = ifr.ifr_mtu;
		device.mbps = device_mbps(sock, dev);
	}
	if (sock >= 0)
		close(sock);
	return device;
}

/* The devices of the ports. */
static struct device *port_devices(const struct fabric_file *f)
{
	size_t i, size = (f->ports + 1) * sizeof(struct device);
	struct device *device = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int fd;

	if (device == MAP_FAILED)
		fail_kernel("out of memory");
	for (i = 0; i < f->ports; i++) {
		const struct fabric_port *p = &f->port[i];

		if (!p->netns) {
			device[i] = device_of(p->dev);
			continue;
		}
		/* a pod that has not begun: its port is not there yet */
		fd = netns_find(p->netns);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			fail_kernel("%snetwork namespace \"%s\": %s", p->where, p->netns,
				    strerror(errno));
		pid = fork();
		if (!pid) {
			netns_enter_fd(fd, p->netns);
			device[i] = device_of(p->dev);
			_exit(EXIT_OK);
		}
		close(fd);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			fail_kernel("fork: %s", strerror(errno));
	}
	return device;
}

/* Where the word @word is in @text, NULL: nowhere. */
static const char *find_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *at = text;

	while ((at = strstr(at, word))) {
		if ((at == text || strchr(" \t\n", at[-1])) && strchr(" \t\n", at[len]))
			return at;
		at += len;
	}
	return NULL;
}

/* Are the options a preset, and what it may be told of the line? The word "speed" behind them is
 * the preset's, which does not ask the device itself, and nothing of theirs needs the device's.
 */
static bool is_preset(const char *options)
{
	char *words = xprintf("%s", options), *save;
	char *word = strtok_r(words, " \t\n", &save);
	bool preset = word && !strcmp(word, "preset");

	/* its name */
	if (preset)
		strtok_r(NULL, " \t\n", &save);
	while (preset && (word = strtok_r(NULL, " \t\n", &save))) {
		preset = !strcmp(word, "mtu") || !strcmp(word, "segs");
		strtok_r(NULL, " \t\n", &save);
	}
	free(words);
	return preset;
}

/* The options of a port for a device that tells no speed: with that of its own, if it has one and
 * they name none. Options of bands are the last. A preset is the first; else the speed is, so that
 * tc does not take it for the missing value of the last option. Return: to be freed.
 */
static char *options_for(const struct fabric_port *p, const struct device *device)
{
	uint32_t mbps = device->mtu ? device->mbps : SPEED_MBPS;
	const char *bands = find_word(p->options, "band");
	char *port, *all;

	if (!bands)
		bands = p->options + strlen(p->options);
	port = xprintf("%.*s", (int)(bands - p->options), p->options);
	if (!mbps || find_word(port, "speed") || find_word(port, "rate") || is_preset(port))
		all = xprintf("%s", p->options);
	else if (find_word(port, "preset"))
		all = xprintf("%s speed %umbit %s", port, mbps, bands);
	else
		all = xprintf("speed %umbit %s", mbps, p->options);
	free(port);
	return all;
}

static void try_ports(const struct fabric_file *f, const struct device *device, cJSON *doc)
{
	cJSON *list = cJSON_AddArrayToObject(doc, "ports");
	char said[1024], *options, *text;
	size_t i;

	for (i = 0; i < f->ports; i++) {
		const struct fabric_port *p = &f->port[i];

		snprintf(opt.where, sizeof(opt.where), "%s", p->where);
		port_mtu("lo", device[i].mtu ? device[i].mtu : ETH_DATA_LEN);
		options = options_for(p, &device[i]);
		if (port_set("lo", options, said, sizeof(said)))
			fail("%s", strncmp(said, "Error: ", 7) ? said : said + 7);
		free(options);
		text = port_text("lo");
		if (!text)
			fail_kernel("tc does not show what it has made");
		cJSON_AddItemToArray(list, cJSON_CreateString(text));
		free(text);
		port_del("lo");
	}
}

/* Controls that steer for the delay of their priority's channel. */
static bool has_channels(const char *control)
{
	return !control || !strncmp(control, "prioplus", 8) || !strcmp(control, "swift") ||
	       !strcmp(control, "ledbat");
}

/* Have the ports room for what the settings ask of them? */
static void try_room(const struct fabric_file *f, const struct device *device, cJSON *doc)
{
	cJSON *list = cJSON_AddArrayToObject(doc, "narrow"), *said, *text;
	size_t i = 0;

	if (!f->ports || !has_channels(f->control))
		return;
	said = room_read();
	cJSON_ArrayForEach(text, cJSON_GetObjectItem(doc, "ports")) {
		room_port(said, &f->port[i], cJSON_GetStringValue(text), device[i].mbps, list);
		i++;
	}
	cJSON_Delete(said);
}

/* In the namespace of its own: a mistake ends the process. */
static void try_all(const struct fabric_file *f, const struct device *device, FILE *out)
{
	cJSON *doc = cJSON_CreateObject();
	const char *refused;
	char *text;
	size_t i;

	opt.json = false;
	if (unshare(CLONE_NEWNET))
		fail_kernel("a network namespace to try the file in: %s (needs root)",
			    strerror(errno));
	settings_clear();
	/* first: the kernel loads its module, which brings settings */
	if (f->control) {
		snprintf(opt.where, sizeof(opt.where), "%s", f->control_where);
		refused = control_set(f->control);
		if (refused)
			fail("%s: %s", f->control, refused);
	}
	for (i = 0; i < f->steps; i++) {
		struct words w = { .v = f->step[i].words, .n = f->step[i].n };

		snprintf(opt.where, sizeof(opt.where), "%s", f->step[i].where);
		opt.keys = f->step[i].top ? TOP_KEYS : "";
		run_words(&w);
	}
	try_ports(f, device, doc);
	opt.where[0] = 0;
	try_room(f, device, doc);
	text = settings_now();
	cJSON_AddStringToObject(doc, "settings", text);
	free(text);
	text = cJSON_PrintUnformatted(doc);
	fputs(text, out);
	fflush(out);
	_exit(EXIT_OK);
}

/* What the child wrote. */
static void read_result(const struct fabric_file *f, struct rehearsed *r,
			FILE *in)
{
	size_t len = ftell(in), i;
	char *text = xalloc(len + 1);
	cJSON *doc, *ports, *item;

	rewind(in);
	len = fread(text, 1, len, in);
	doc = cJSON_Parse(text);
	ports = cJSON_GetObjectItem(doc, "ports");
	if (cJSON_GetArraySize(ports) != (int)f->ports)
		fail_kernel("the file could not be tried");
	item = cJSON_GetObjectItem(doc, "settings");
	r->settings = xprintf("%s", cJSON_GetStringValue(item));
	r->port = xalloc(f->ports * sizeof(*r->port));
	for (i = 0; i < f->ports; i++) {
		item = cJSON_GetArrayItem(ports, i);
		r->port[i] = xprintf("%s", cJSON_GetStringValue(item));
	}
	r->narrow = cJSON_DetachItemFromObject(doc, "narrow");
	cJSON_Delete(doc);
	free(text);
}

/**
 * rehearse() - try a file where it does no harm
 * @f: the file
 * @r: is filled
 *
 * What the kernel or tc refuses ends the program, with file, line and key.
 */
void rehearse(const struct fabric_file *f, struct rehearsed *r)
{
	FILE *tmp = file_for_child();
	struct device *device = port_devices(f);
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		try_all(f, device, tmp);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		fail_kernel("the file could not be tried");
	if (WEXITSTATUS(status))
		exit(WEXITSTATUS(status));
	fseek(tmp, 0, SEEK_END);
	read_result(f, r, tmp);
	fclose(tmp);
	munmap(device, (f->ports + 1) * sizeof(*device));
}

void rehearsed_free(const struct fabric_file *f, struct rehearsed *r)
{
	size_t i;

	for (i = 0; i < f->ports; i++)
		free(r->port[i]);
	free(r->port);
	free(r->settings);
	cJSON_Delete(r->narrow);
}

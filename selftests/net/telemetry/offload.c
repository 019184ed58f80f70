// SPDX-License-Identifier: GPL-2.0
/*
 * offload DEV NAME on|off...: what a device does with large packets and checksums, in
 * this network namespace: tso, gso, gro, tx, rx. As ethtool -K, which not every
 * machine has.
 */
#include <err.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static const struct {
	const char *name;
	unsigned int command;
} offloads[] = {
	{ "tso", ETHTOOL_STSO }, { "gso", ETHTOOL_SGSO }, { "gro", ETHTOOL_SGRO },
	{ "tx", ETHTOOL_STXCSUM }, { "rx", ETHTOOL_SRXCSUM },
};

static void set(int fd, const char *dev, const char *name, const char *word)
{
	struct ethtool_value value = { .data = !strcmp(word, "on") };
	struct ifreq rq = { .ifr_data = (void *)&value };
	size_t i;

	if (!value.data && strcmp(word, "off"))
		errx(2, "%s: on or off?", word);
	for (i = 0; i < sizeof(offloads) / sizeof(*offloads); i++) {
		if (strcmp(offloads[i].name, name))
			continue;
		value.cmd = offloads[i].command;
		snprintf(rq.ifr_name, sizeof(rq.ifr_name), "%s", dev);
		if (ioctl(fd, SIOCETHTOOL, &rq))
			err(1, "%s: %s %s", dev, name, word);
		return;
	}
	errx(2, "%s: no such offload", name);
}

int main(int argc, char **argv)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), i;

	if (argc < 4 || argc % 2)
		errx(2, "Usage: offload DEV NAME on|off...");
	if (fd < 0)
		err(1, "socket");
	for (i = 2; i < argc; i += 2)
		set(fd, argv[1], argv[i], argv[i + 1]);
	return 0;
}

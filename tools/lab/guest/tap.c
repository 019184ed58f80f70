// SPDX-License-Identifier: GPL-2.0
/*
 * The packet recorder (labtap.ko).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kmod/labtap.h"
#include "labinit.h"

#define TAP_CONTROL	"/proc/labtap"
#define TAP_STATS	"/proc/labtap_stats"
#define TAP_COPY_BYTES	(1024 * 1024)

static void tap_command(const char *path, const char *command,
			const char *what)
{
	int error = file_write(path, command);

	if (error == -ENOENT)
		lab_fail("%s: no %s (is labtap loaded?)", what, path);
	if (error)
		lab_fail("%s: labtap does not accept \"%.*s\": %s", what,
			 (int)strcspn(command, "\n"), command,
			 strerror(-error));
}

/* Names the taps; nothing is recorded yet. */
void taps_add(const struct plan *plan)
{
	char command[64];
	size_t i;

	for (i = 0; i < plan->taps.count; i++) {
		const struct plan_tap *tap =
			PLAN_ITEM(struct plan_tap, plan->taps, i);

		node_enter(tap->node);
		snprintf(command, sizeof(command), "add %lld %s\n",
			 (long long)tap->tap, tap->dev);
		tap_command("/proc/self/net/labtap", command,
			    node_name(tap->node));
	}
	node_enter(PLAN_NO_NODE);
}

/* Recording begins, from an empty record. */
void taps_start(const struct plan *plan)
{
	char command[64];

	if (!plan->taps.count)
		return;
	snprintf(command, sizeof(command), "start %lld\n",
		 (long long)plan->tap_records_max);
	tap_command(TAP_CONTROL, command, "taps");
}

/* Copies the records to raw/pkts.bin. */
static void taps_copy(void)
{
	int in = open(TAP_CONTROL, O_RDONLY | O_CLOEXEC);
	int out = open(LAB_RAW_DIR "/pkts.bin",
		       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char *block = malloc(TAP_COPY_BYTES);
	ssize_t got, done, put;

	if (in < 0 || out < 0 || !block)
		lab_fail("cannot copy the packet records: %s",
			 strerror(errno));
	while ((got = read(in, block, TAP_COPY_BYTES)) > 0)
		for (done = 0; done < got; done += put) {
			put = write(out, block + done, got - done);
			if (put < 0)
				lab_fail("cannot write raw/pkts.bin: %s",
					 strerror(errno));
		}
	if (got < 0)
		lab_fail("cannot read the packet records: %s",
			 strerror(errno));
	free(block);
	close(in);
	if (close(out))
		lab_fail("cannot write raw/pkts.bin: %s", strerror(errno));
}

/* Packets that found no room among the records. */
static int64_t taps_lost(void)
{
	struct buffer text = { 0 };
	int fd = open(TAP_STATS, O_RDONLY | O_CLOEXEC);
	long long lost = 0;
	const char *place;

	if (fd < 0)
		lab_fail("cannot open %s: %s", TAP_STATS, strerror(errno));
	buffer_read_fd(&text, fd, TAP_STATS);
	close(fd);
	place = strstr(text.data, "overflow ");
	if (!place || sscanf(place, "overflow %lld", &lost) != 1)
		lab_fail("%s has no line \"overflow\"", TAP_STATS);
	buffer_free(&text);
	return lost;
}

/* Ends the recording and keeps the records. Returns how many were lost. */
int64_t taps_collect(const struct plan *plan)
{
	int64_t lost;

	if (!plan->taps.count)
		return 0;
	tap_command(TAP_CONTROL, "stop\n", "taps");
	lost = taps_lost();
	taps_copy();
	tap_command(TAP_CONTROL, "free\n", "taps");
	return lost;
}

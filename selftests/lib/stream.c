// SPDX-License-Identifier: GPL-2.0
/* Connections whose every byte is compared: see stream.h. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "ends.h"
#include "stream.h"

#define PERIOD_BYTES	65521
/* From where one stream begins to where the next does. */
#define STRIDE_BYTES	4099

static unsigned char pattern[PERIOD_BYTES + STREAM_CHUNK_BYTES];
static unsigned char buffer[STREAM_CHUNK_BYTES];
static int64_t zero_ns;

/* xorshift64 */
void stream_prepare(void)
{
	uint64_t x = 88172645463325252ULL;
	size_t i;

	for (i = 0; i < PERIOD_BYTES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		pattern[i] = x >> 56;
	}
	for (; i < sizeof(pattern); i++)
		pattern[i] = pattern[i - PERIOD_BYTES];
}

void stream_start(void)
{
	zero_ns = clock_ns(CLOCK_MONOTONIC);
}

int64_t stream_now(void)
{
	return clock_ns(CLOCK_MONOTONIC) - zero_ns;
}

void stream_open(struct stream *s, int number, int tx, int rx)
{
	*s = (struct stream){ .number = number, .tx = tx, .rx = rx };
	fcntl(tx, F_SETFL, O_NONBLOCK);
	fcntl(rx, F_SETFL, O_NONBLOCK);
}

/* What a stream has at an offset, good for STREAM_CHUNK_BYTES. */
static const unsigned char *pattern_at(const struct stream *s, int64_t offset)
{
	return pattern + (offset + (int64_t)s->number * STRIDE_BYTES) % PERIOD_BYTES;
}

int64_t stream_send(struct stream *s, int64_t want)
{
	ssize_t n;

	if (want > STREAM_CHUNK_BYTES)
		want = STREAM_CHUNK_BYTES;
	n = send(s->tx, pattern_at(s, s->sent_bytes), want, MSG_NOSIGNAL);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		die("flow %d: send: %s", s->number, strerror(errno));
	s->sent_bytes += n;
	return n;
}

void stream_note_gap(struct stream *s, int64_t now_ns)
{
	if (now_ns - s->last_ns > s->gap_ns)
		s->gap_ns = now_ns - s->last_ns;
	s->last_ns = now_ns;
}

void stream_receive(struct stream *s, int64_t now_ns)
{
	ssize_t n;

	do {
		n = recv(s->rx, buffer, sizeof(buffer), 0);
		if (n <= 0)
			break;
		if (memcmp(buffer, pattern_at(s, s->received_bytes), n))
			die("flow %d: wrong data after byte %lld", s->number,
			    (long long)s->received_bytes);
		s->received_bytes += n;
		stream_note_gap(s, now_ns);
	} while (n == sizeof(buffer));
	if (n == 0)
		s->done = true;
	else if (n < 0 && errno != EAGAIN)
		die("flow %d: recv: %s", s->number, strerror(errno));
}

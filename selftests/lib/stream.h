/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TCP connection with both ends in this process, whose every byte is compared with
 * what was sent. All data is a window of one pattern whose length is prime, so that
 * no buffer hides a shift; each stream begins elsewhere in it.
 */
#ifndef SELFTESTS_STREAM_H
#define SELFTESTS_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* Most that one call sends or receives. */
#define STREAM_CHUNK_BYTES	65536

/**
 * struct stream - one connection
 * @number: of the stream; also where in the pattern it begins
 * @tx: end that sends, nonblocking; -1: closed
 * @rx: end that receives, nonblocking
 * @sent_bytes: taken by tx
 * @received_bytes: read from rx and found right
 * @last_ns: when data came last, by stream_now()
 * @gap_ns: longest time without data
 * @done: the receiver saw the end of the stream
 */
struct stream {
	int number;
	int tx;
	int rx;
	int64_t sent_bytes;
	int64_t received_bytes;
	int64_t last_ns;
	int64_t gap_ns;
	bool done;
};

/* Makes the pattern; before anything else here. */
void stream_prepare(void);

/* From now on stream_now() counts. */
void stream_start(void);

/* Time since stream_start(), ns. */
int64_t stream_now(void);

/* Makes both ends nonblocking. */
void stream_open(struct stream *s, int number, int tx, int rx);

/* Sends at most @want bytes. Return: how many; 0: nothing fits. */
int64_t stream_send(struct stream *s, int64_t want);

/* Reads what is there at @now_ns and compares; other data than sent ends the program. */
void stream_receive(struct stream *s, int64_t now_ns);

/* Notes in @gap_ns the time without data up to now. */
void stream_note_gap(struct stream *s, int64_t now_ns);

#endif

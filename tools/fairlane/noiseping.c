// SPDX-License-Identifier: GPL-2.0
/* Ping-pong over a TCP connection with the kernel's time stamps, for fairlane noise.
 *
 * A message goes out, the responder sends as many bytes back. What is wanted is what a
 * congestion control sees: from the sender's stack through queue, card and network to
 * the responder's stack and back. So the times are those that the kernel notes, when
 * the message enters the queue of the device and when the reply comes from it; and the
 * responder notes the same two and tells in its next reply how long it has taken, which
 * is taken off. No process has a part in it, as little as in an ACK. (Time stamps of
 * the card would leave out the noise of the host that congestion control does see.)
 * A plain echo server does not tell; with it, the time of its process is in the result.
 */
#include "noise.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#define MAGIC_ASK	"FLNOISEQ"
#define MAGIC_TELL	"FLNOISER"
/* Nobody answers for this long: give up, ms. */
#define PATIENCE_MS	2000
/* More than this is no noise: a clock was set, ns. */
#define LONGEST_NS	(10 * NSEC_PER_SEC)

/* The beginning of a message, NOISE_SIZE_MIN bytes; the rest is zero. Big endian. */
struct message {
	char magic[8];
	uint64_t number;
	uint64_t took;		/* question: bytes; reply: 1 + ns that the last took,
				 * 0: unknown
				 */
};

/* One end of a connection and its times. */
struct end {
	int fd;
	bool stamps;		/* the kernel notes times */
	uint64_t sent_bytes;
	uint64_t sent_ns;	/* of the newest message, 0: not told yet */
	uint64_t heard_ns;
};

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static uint64_t stamp_ns(const struct cmsghdr *c)
{
	struct scm_timestamping t;

	memcpy(&t, CMSG_DATA(c), sizeof(t));
	return t.ts[0].tv_sec * NSEC_PER_SEC + t.ts[0].tv_nsec;
}

/* Prepares a connected socket. */
static void end_init(struct end *e, int fd, bool kernel)
{
	int one = 1, flags = SOF_TIMESTAMPING_TX_SCHED |
		    SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
		    SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;

	*e = (struct end) { .fd = fd };
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	e->stamps = kernel && !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING,
					  &flags, sizeof(flags));
}

/* A time of sending from the error queue; of the newest message only. */
static void end_read_sent(struct end *e)
{
	char control[256];
	struct msghdr m = { .msg_control = control };
	struct cmsghdr *c;

	for (;;) {
		struct sock_extended_err err = { 0 };
		uint64_t ns = 0;

		m.msg_controllen = sizeof(control);
		if (recvmsg(e->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
			if (c->cmsg_level == SOL_SOCKET &&
			    c->cmsg_type == SO_TIMESTAMPING)
				ns = stamp_ns(c);
			else if (c->cmsg_level == IPPROTO_IP ||
				 c->cmsg_level == IPPROTO_IPV6)
				memcpy(&err, CMSG_DATA(c), sizeof(err));
		}
		/* TCP counts bytes: the last one of the message */
		if (err.ee_info == SCM_TSTAMP_SCHED &&
		    err.ee_data == (uint32_t)(e->sent_bytes - 1))
			e->sent_ns = ns;
	}
}

static bool end_send(struct end *e, const void *data, size_t size)
{
	if (!e->stamps)
		e->sent_ns = clock_ns();
	else
		e->sent_ns = 0;
	e->sent_bytes += size;
	return send(e->fd, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* Reads a whole message of @size bytes, or what there is if @some. Return: bytes; 0 at
 * the end; -1 on errors and after PATIENCE_MS.
 */
static ssize_t end_read(struct end *e, char *data, size_t size, bool some)
{
	struct pollfd p = { .fd = e->fd, .events = POLLIN };
	char control[256];
	size_t got = 0;

	while (got < size) {
		struct iovec iov = { data + got, size - got };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
				    .msg_control = control,
				    .msg_controllen = sizeof(control) };
		struct cmsghdr *c;
		ssize_t n;

		if (poll(&p, 1, some ? -1 : PATIENCE_MS) <= 0)
			return errno = ETIMEDOUT, -1;
		if (p.revents & POLLERR)
			end_read_sent(e);
		n = recvmsg(e->fd, &m, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return n;
		if (!e->stamps)
			e->heard_ns = clock_ns();
		for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
			if (c->cmsg_level == SOL_SOCKET &&
			    c->cmsg_type == SO_TIMESTAMPING)
				e->heard_ns = stamp_ns(c);
		got += n;
		if (some)
			break;
	}
	return got;
}

/* The time at which the newest message was sent; it may come a little later. */
static uint64_t end_sent_ns(struct end *e)
{
	struct pollfd p = { .fd = e->fd };
	int tries;

	for (tries = 0; !e->sent_ns && tries < 10; tries++) {
		end_read_sent(e);
		if (!e->sent_ns)
			poll(&p, 1, 1);
	}
	return e->sent_ns;
}

/**
 * noise_respond() - answer one connection until it ends
 * @fd: the connection, closed at the end
 *
 * Everything that is no message of ours is sent back as it came: an echo server.
 */
void noise_respond(int fd)
{
	static char data[NOISE_SIZE_MAX];
	uint64_t took = 0, size = 0;
	struct message head;
	struct end e;
	ssize_t n;

	end_init(&e, fd, true);
	while ((n = end_read(&e, data + size, sizeof(data) - size, true)) > 0) {
		size += n;
		memcpy(&head, data, sizeof(head));
		if (size >= sizeof(head) &&
		    !memcmp(head.magic, MAGIC_ASK, sizeof(head.magic))) {
			if (size < be64toh(head.took) &&
			    be64toh(head.took) <= sizeof(data))
				continue;
			memcpy(head.magic, MAGIC_TELL, sizeof(head.magic));
			head.took = htobe64(took);
			memcpy(data, &head, sizeof(head));
		}
		if (!end_send(&e, data, size))
			break;
		took = 0;
		if (e.stamps && end_sent_ns(&e) >= e.heard_ns && e.heard_ns)
			took = 1 + e.sent_ns - e.heard_ns;
		size = 0;
	}
	close(fd);
}

/* Waits until the next message is due. */
static void pause_until(uint64_t *due_ns, uint64_t interval_ns)
{
	struct timespec ts;

	*due_ns += interval_ns;
	ts.tv_sec = *due_ns / NSEC_PER_SEC;
	ts.tv_nsec = *due_ns % NSEC_PER_SEC;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* One message and its reply. @rtt_ns: UINT64_MAX: unknown. @took: of struct message.
 * Return: false if the connection is lost.
 */
static bool ping(struct end *e, char *data, const struct noise_opts *o,
		 uint64_t number, uint64_t *rtt_ns, uint64_t *took)
{
	struct message head = { .number = htobe64(number),
				.took = htobe64(o->size) };

	memset(data, 0, o->size);
	memcpy(head.magic, MAGIC_ASK, sizeof(head.magic));
	memcpy(data, &head, sizeof(head));
	errno = 0;
	e->heard_ns = 0;
	if (!end_send(e, data, o->size) ||
	    end_read(e, data, o->size, false) != (ssize_t)o->size)
		return false;
	memcpy(&head, data, sizeof(head));
	*took = 0;
	if (e->stamps && be64toh(head.number) == number &&
	    !memcmp(head.magic, MAGIC_TELL, sizeof(head.magic)))
		*took = be64toh(head.took);
	*rtt_ns = UINT64_MAX;
	if (end_sent_ns(e) && e->heard_ns >= e->sent_ns &&
	    e->heard_ns - e->sent_ns < LONGEST_NS)
		*rtt_ns = e->heard_ns - e->sent_ns;
	return true;
}

/* Notes a delay, now that the next reply has come. @told: the responder says what it
 * has taken.
 */
static void note_delay(struct noise_result *r, uint64_t rtt_ns, uint64_t took)
{
	if (r->told && took)
		took--;
	if (rtt_ns == UINT64_MAX || took > rtt_ns)
		r->discarded++;
	else
		r->delay_ns[r->n++] = rtt_ns - took;
}

/**
 * noise_ping() - measure
 * @fd: a connection to a responder or an echo server, closed at the end
 * @o: how
 * @r: what has come out; delays in the order of sending
 *
 * The first message, which finds caches cold, is not counted. Fails with a message if
 * the connection does.
 */
void noise_ping(int fd, const struct noise_opts *o, struct noise_result *r)
{
	uint64_t due_ns, rtt_ns, last_ns = UINT64_MAX, took;
	char *data = xalloc(o->size);
	struct timespec ts;
	struct end e;
	uint64_t i;

	end_init(&e, fd, o->kernel_clock);
	r->kernel_clock = e.stamps;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	due_ns = ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
	/* what the last one took is told by one more */
	for (i = 0; i <= o->count + 1; i++) {
		if (!ping(&e, data, o, i, &rtt_ns, &took))
			fail_kernel("noise: no answer to message %llu: %s",
				    (unsigned long long)i + 1,
				    errno ? strerror(errno) :
					    "the other side has closed");
		if (i == 1)
			r->told = took;
		else if (i && r->told && !took)
			last_ns = UINT64_MAX;
		if (i > 1)
			note_delay(r, last_ns, took);
		last_ns = rtt_ns;
		pause_until(&due_ns, o->interval_ns);
	}
	free(data);
	close(fd);
}

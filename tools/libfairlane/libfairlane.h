/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libfairlane: virtual priority and weight of TCP sockets, for programs.
 *
 * Three ways to a socket, from the simplest to the widest:
 *
 *	fairlane_set(fd, ...)		your own socket, by setsockopt: no other
 *					state, no connection to anything
 *	fairlane_dup_fd(pid, fd)	another process' socket: a file descriptor
 *					for the calls above
 *	fairlane_open(), ..._flow_*()	any socket of the network namespace, by
 *					netlink; events as well
 *
 * Every function returns 0 (or a count) or a negative errno, never sets errno,
 * never prints, never ends the program. Calls on different connections may
 * be made from different threads at once; calls on one connection may not.
 * Structures that the library hands out may grow at their end in later
 * versions; a program never allocates them itself, except where that is said.
 * Documentation/reference/libfairlane.rst says more, with examples.
 */
#ifndef LIBFAIRLANE_H
#define LIBFAIRLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/fairlane.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a value: take the explicit setting back. No attribute's range has it. */
#define FAIRLANE_UNSET	0xffffffffU

/* What can be set of a socket; ranges are in linux/fairlane.h. */
enum fairlane_attr {
	FAIRLANE_PRIORITY = FL_SET_PRIORITY,	/* virtual, 0 (lowest) to 15 */
	FAIRLANE_WEIGHT = FL_SET_WEIGHT,	/* thousandths, 1 to 1000000 */
	FAIRLANE_BASE_RTT = FL_SET_BASE_RTT,	/* of the empty path, ns */
	FAIRLANE_LINE_RATE = FL_SET_LINE_RATE,	/* of the path, Mbit/s */
	FAIRLANE_DEADLINE = FL_SET_DEADLINE,	/* of a message, us */
	FAIRLANE_ATTRS				/* how many there are */
};

/* One attribute and its value; allocated by the caller. */
struct fairlane_setting {
	enum fairlane_attr attr;
	uint32_t value;
};

/* ---- a socket that is yours --------------------------------------------- */

/*
 * Set or take back (FAIRLANE_UNSET) one attribute of a TCP socket.
 * -ENOPROTOOPT: the module fairlane is not loaded, or not a TCP socket;
 * -ERANGE or -EINVAL: value out of range; -EPERM: above the limit for users.
 */
int fairlane_set(int fd, enum fairlane_attr attr, uint32_t value);

/* The value in force, whoever set it. */
int fairlane_get(int fd, enum fairlane_attr attr, uint32_t *value);

/*
 * Set several. Stops at the first refusal and puts back what it has changed by
 * then; @failed (if not NULL) becomes the index of the refused one.
 */
int fairlane_set_many(int fd, const struct fairlane_setting *settings,
		      size_t count, size_t *failed);

/* What the congestion control thinks; *size is how much @info holds and becomes
 * how much was written: an older kernel knows fewer fields.
 */
int fairlane_info(int fd, struct fl_info *info, size_t *size);

/* One attribute in @info, and where it comes from (enum fl_from). */
uint32_t fairlane_info_value(const struct fl_info *info,
			     enum fairlane_attr attr, uint8_t *from);

/* A descriptor of another process' socket: pidfd_getfd(2), which wants the
 * right to trace that process. Close it after use.
 */
int fairlane_dup_fd(pid_t pid, int fd);

/* ---- a connection ------------------------------------------------------- */

struct fairlane;

/* Connect to the module, in the network namespace of the calling thread.
 * -ENOENT: the module fairlane is not loaded.
 */
int fairlane_open(struct fairlane **connection);
void fairlane_close(struct fairlane *connection);

/* What the last call on this connection complained about: the kernel's own text
 * where there is one. Never NULL, valid until the next call.
 */
const char *fairlane_error(const struct fairlane *connection);

/* ---- flows -------------------------------------------------------------- */

/* Which socket. Allocated by the caller when given to a function: zero it, then
 * fill in cookie, or family, addresses and ports, or both.
 */
struct fairlane_id {
	uint64_t cookie;	/* SO_COOKIE, 0: unknown */
	uint8_t family;		/* AF_INET, AF_INET6 */
	uint8_t src[16];	/* the socket's own address, network order */
	uint8_t dst[16];
	uint16_t sport;		/* host order */
	uint16_t dport;
};

/* One socket. Fields that are not known are 0. */
struct fairlane_flow {
	struct fairlane_id id;
	uint8_t state;			/* TCP_ESTABLISHED ... */
	uint32_t uid;
	uint32_t inode;			/* as in /proc/PID/fd */
	uint32_t ifindex;		/* bound to this device */
	char cc[16];
	bool has_info;			/* info is known: from the module */
	struct fl_info info;
	bool has_diag;			/* diag is known: from sock_diag */
	struct fl_diag diag;
	/* What TCP itself says; only from fairlane_diag_dump(). */
	bool has_tcp;
	uint32_t cwnd_pkts;
	uint32_t mss_bytes;
	uint32_t rtt_us;
	uint32_t min_rtt_us;
	uint32_t unacked_pkts;
	uint32_t retrans_pkts;		/* since the start */
	uint32_t send_queue_bytes;
	uint32_t recv_queue_bytes;
	uint64_t acked_bytes;
	uint64_t received_bytes;
	uint64_t pacing_bps;
	uint64_t delivery_bps;
	uint64_t cgroup;		/* its number; only from fairlane_diag_dump() */
	uint32_t last_sent_ms;	/* since data was sent; of has_tcp */
	char had_cc[16];		/* what "fairlane off" took away; "": nothing */
};

/* Called for each; another value than 0 ends the dump, which returns it. */
typedef int (*fairlane_flow_fn)(const struct fairlane_flow *flow, void *arg);

/* Find one socket; *flow is to be released with free(). -ENOENT: none. */
int fairlane_flow_find(struct fairlane *connection,
		       const struct fairlane_id *id,
		       struct fairlane_flow **flow);

/* Change one socket, live; needs CAP_NET_ADMIN unless the socket is yours. */
int fairlane_flow_set(struct fairlane *connection,
		      const struct fairlane_id *id,
		      const struct fairlane_setting *settings, size_t count);

/* A change of many sockets; allocated by the caller. */
struct fairlane_change {
	struct fairlane_id id;
	const struct fairlane_setting *settings;
	size_t count;
	int result;		/* out: 0 or a negative errno */
};

/* Change many sockets with as few system calls as possible. Each is tried, its
 * result is in the change. Returns how many were refused, or a negative errno.
 */
int fairlane_flow_set_batch(struct fairlane *connection,
			    struct fairlane_change *changes, size_t count);

/* All sockets that have attributes. */
int fairlane_flow_dump(struct fairlane *connection, fairlane_flow_fn fn,
		       void *arg);

/*
 * All TCP sockets in the states of the mask (1 << TCP_ESTABLISHED ...), by the
 * kernel's sock_diag: needs neither privilege nor the module's netlink nor a
 * connection. Knows diag (from our congestion controls) and TCP's own numbers.
 */
int fairlane_diag_dump(uint32_t states, fairlane_flow_fn fn, void *arg);

/* ---- events ------------------------------------------------------------- */

/* One change or refusal, whoever made it: the audit trail. */
struct fairlane_event {
	uint64_t seq;		/* goes up by one; a gap: events that were lost */
	uint64_t time_ns;	/* CLOCK_REALTIME */
	uint8_t kind;		/* enum fl_event_kind */
	uint32_t what;		/* see the kind */
	uint32_t old_value;
	uint32_t new_value;
	uint8_t old_from;	/* enum fl_from */
	uint8_t new_from;	/* also the reason of the change */
	bool has_who;		/* uid, pid and comm are those of who did it */
	uint32_t uid;
	uint32_t pid;
	char comm[16];
	int error;		/* of a refusal, positive errno */
	bool has_flow;		/* id, owner and cc are of the flow */
	struct fairlane_id id;
	uint32_t owner;		/* uid of the socket */
	char cc[16];
	uint32_t policy;	/* order of the policy that did it, 0: none */
	char name[32];		/* of a profile's setting */
	uint8_t prefix_bits;	/* of a profile's prefix, which is id.dst */
	bool has_uid_of;	/* a uid's budget */
	uint32_t uid_of;
	uint64_t cgroup;	/* a cgroup's budget, 0: not */
};

typedef int (*fairlane_event_fn)(const struct fairlane_event *event, void *arg);

/* Subscribe; returns a file descriptor to poll for reading. It belongs to the
 * connection. From then on use this connection for events alone.
 */
int fairlane_events(struct fairlane *connection);

/* Hand what has arrived to @fn; -ENOBUFS: the reader was too slow, events were
 * lost (and counted: fairlane stats), go on reading.
 */
int fairlane_events_read(struct fairlane *connection, fairlane_event_fn fn,
			 void *arg);

#ifdef __cplusplus
}
#endif

#endif /* LIBFAIRLANE_H */

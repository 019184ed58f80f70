/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of libfairlane share, and the command `fairlane`, which is
 * linked with the static library, uses too. Not for other programs: hidden in the
 * shared library.
 */
#ifndef LIBFAIRLANE_PRIVATE_H
#define LIBFAIRLANE_PRIVATE_H

#include "libfairlane.h"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#define __aligned(n) __attribute__((aligned(n)))
#define FL_HIDDEN __attribute__((visibility("hidden")))

/**
 * struct fairlane - a connection
 * @sk: netlink socket
 * @events: second socket, for events; they must not mix with replies
 * @family: number of our family
 * @error: text of the last error
 * @result: of the request under way: 1 none yet, 0, negative errno
 * @seq: sequence number of that request
 * @interrupted: its dump was not consistent
 */
struct fairlane {
	struct nl_sock *sk;
	struct nl_sock *events;
	int family;
	char error[256];
	int result;
	uint32_t seq;
	bool interrupted;
};

/* Called for each message of a reply; another value than 0 ends it. */
typedef int (*fl_reply_fn)(struct nlattr **attrs, struct nlmsghdr *h,
			   void *arg);

/**
 * struct fl_reply - what to do with replies
 * @fn: NULL: none are wanted
 * @arg: for @fn
 * @max: largest attribute
 * @f: the connection
 * @stopped: what @fn returned
 */
struct fl_reply {
	fl_reply_fn fn;
	void *arg;
	int max;
	struct fairlane *f;
	int stopped;
};

FL_HIDDEN struct nl_msg *fl_message(struct fairlane *f, int cmd, int flags);
FL_HIDDEN int fl_send(struct fairlane *f, struct nl_msg *msg,
		      struct fl_reply *reply);
FL_HIDDEN int fl_fail(struct fairlane *f, int err, const char *text);
FL_HIDDEN int fl_error_of(struct nlmsghdr *h, char *text, size_t size);
FL_HIDDEN int fl_put_id(struct nl_msg *msg, const struct fairlane_id *id);
FL_HIDDEN uint64_t fl_u64(struct nlattr **attrs, int nr);
FL_HIDDEN uint32_t fl_u32(struct nlattr **attrs, int nr);
FL_HIDDEN uint8_t fl_u8(struct nlattr **attrs, int nr);
FL_HIDDEN uint16_t fl_port(struct nlattr **attrs, int nr);
FL_HIDDEN void fl_address(struct nlattr **attrs, int nr, uint8_t *addr);
FL_HIDDEN void fl_string(struct nlattr **attrs, int nr, char *s, size_t size);

#endif

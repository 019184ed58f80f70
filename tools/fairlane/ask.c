// SPDX-License-Identifier: GPL-2.0
/* Requests of the commands: errors end the program with the kernel's text. */
#include "ask.h"

#include <errno.h>
#include <string.h>

struct nl_msg *ask_message(struct fairlane *f, int cmd, int flags)
{
	struct nl_msg *msg = fl_message(f, cmd, flags);

	if (!msg)
		fail_kernel("out of memory");
	return msg;
}

static void put(struct nl_msg *msg, int attr, const void *data, int len)
{
	if (nla_put(msg, attr, len, data))
		fail_kernel("out of memory");
}

void ask_u8(struct nl_msg *msg, int attr, uint8_t v)
{
	put(msg, attr, &v, sizeof(v));
}

void ask_u16(struct nl_msg *msg, int attr, uint16_t v)
{
	put(msg, attr, &v, sizeof(v));
}

void ask_u32(struct nl_msg *msg, int attr, uint32_t v)
{
	put(msg, attr, &v, sizeof(v));
}

void ask_text(struct nl_msg *msg, int attr, const char *s)
{
	put(msg, attr, s, strlen(s) + 1);
}

void ask_bytes(struct nl_msg *msg, int attr, const void *data, int len)
{
	put(msg, attr, data, len);
}

/**
 * ask_do() - send a request; a refusal ends the program
 * @f: the connection
 * @msg: the request, freed here
 * @fn: called for each reply, or NULL
 * @max: largest attribute of the replies
 * @arg: for @fn
 * @what: what was asked, for messages
 */
void ask_do(struct fairlane *f, struct nl_msg *msg, fl_reply_fn fn, int max,
	    void *arg, const char *what)
{
	struct fl_reply reply = { .fn = fn, .arg = arg, .max = max };
	int err = fl_send(f, msg, fn ? &reply : NULL);

	if (err)
		fail_kernel("%s: %s%s", what, fairlane_error(f),
			    err == -EPERM ?
			    " (needs CAP_NET_ADMIN in this network namespace)" :
			    "");
}

/* Read a list; an error ends the program. */
void ask_dump(int cmd, fl_reply_fn fn, int max, void *arg)
{
	struct fairlane *f = connect_module();

	ask_do(f, ask_message(f, cmd, NLM_F_DUMP), fn, max, arg, "reading");
	fairlane_close(f);
}

/* A cgroup as the kernel names it: from the root of cgroup v2, with a slash. */
const char *cgroup_word(const char *s)
{
	static const char mount[] = "/sys/fs/cgroup";

	if (!strncmp(s, mount, sizeof(mount) - 1) &&
	    (s[sizeof(mount) - 1] == '/' || !s[sizeof(mount) - 1]))
		s += sizeof(mount) - 1;
	if (!s[0])
		return "/";
	if (s[0] != '/')
		fail("cgroup %s: a path from the root of cgroup v2 is wanted, such as /system.slice/nginx.service",
		     s);
	return s;
}

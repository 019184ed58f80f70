// SPDX-License-Identifier: GPL-2.0
/* Requests of the commands: errors end the program with the kernel's text. */
#include "ask.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define CGROUP_MOUNT	"/sys/fs/cgroup"

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

void ask_u64(struct nl_msg *msg, int attr, uint64_t v)
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
	static const char mount[] = CGROUP_MOUNT;

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

/* "#31": the cgroup of that number, which no path needs to name. */
bool cgroup_number(const char *s, uint64_t *id)
{
	return s[0] == '#' && parse_u64(s + 1, 10, UINT64_MAX, id) && *id;
}

/**
 * cgroup_gone() - does a path name a cgroup no more?
 * @path: that a setting was made with; "": with none
 * @id: the cgroup's number, which the kernel goes by
 *
 * A unit that is started again has a new cgroup of the old path. Return: false where nobody can
 * tell, too.
 */
bool cgroup_gone(const char *path, uint64_t id)
{
	struct statfs fs;
	struct stat st;
	char *file;
	bool gone;

	if (!path[0] || statfs(CGROUP_MOUNT, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)
		return false;
	file = xprintf(CGROUP_MOUNT "%s", path);
	gone = stat(file, &st) || st.st_ino != id;
	free(file);
	return gone;
}

/* As a command reads it. @exact: the very cgroup, by its number if its path does not name it. */
void cgroup_save(FILE *out, const char *path, uint64_t id, bool exact)
{
	fputs(" cgroup ", out);
	if (path[0] && !(exact && cgroup_gone(path, id)))
		save_word(out, path);
	else
		fprintf(out, "\"#%llu\"", (unsigned long long)id);
}

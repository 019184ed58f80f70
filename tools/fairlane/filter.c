// SPDX-License-Identifier: GPL-2.0
/* Which flows a command is about. */
#include "ask.h"

#include <errno.h>
#include <ftw.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void filter_init(struct filter *f)
{
	memset(f, 0, sizeof(*f));
	parse_tcp_states("connected", &f->states);
	f->uid = UINT32_MAX;
	f->prio = -1;
}

void filter_free(struct filter *f)
{
	free(f->cgroups);
	free(f->inodes);
	f->cgroups = NULL;
	f->inodes = NULL;
}

/* A user's number or name. */
uint32_t parse_uid(const char *s)
{
	struct passwd *pw;
	uint64_t v;

	if (parse_u64(s, 10, UINT32_MAX - 1, &v))
		return v;
	pw = getpwnam(s);
	if (!pw)
		fail("uid %s: no such user", s);
	return pw->pw_uid;
}

/* Only sockets of this process. */
static void take_pid(struct filter *f, const char *s)
{
	struct proc_sockets list = { 0 };
	uint64_t pid;
	size_t i;

	if (!parse_u64(s, 10, 1 << 22, &pid) || !pid)
		fail("pid %s: the number of a process is wanted", s);
	proc_sockets_of(&list, pid);
	f->inodes = xalloc(list.n * sizeof(*f->inodes));
	for (i = 0; i < list.n; i++)
		f->inodes[i] = list.s[i].inode;
	f->inode_count = list.n;
	free(list.s);
}

static struct filter *walked;

/* A cgroup's number is that of its folder. */
static int keep_cgroup(const char *path, const struct stat *st, int type,
		       struct FTW *where)
{
	(void)path;
	(void)where;
	if (type != FTW_D)
		return 0;
	walked->cgroups = xgrow(walked->cgroups, walked->cgroup_count,
				sizeof(*walked->cgroups));
	walked->cgroups[walked->cgroup_count++] = st->st_ino;
	return 0;
}

/* Only sockets of this cgroup, and those below it that there are now. */
static void take_cgroup(struct filter *f, const char *s)
{
	char *path = xprintf("/sys/fs/cgroup%s", cgroup_word(s));

	walked = f;
	if (nftw(path, keep_cgroup, 16, FTW_PHYS | FTW_MOUNT))
		fail("cgroup %s: %s", s, strerror(errno));
	free(path);
}

static void take_prefix(const char *key, const char *s, struct prefix *p,
			uint16_t *ports)
{
	if (!parse_prefix(s, true, p))
		fail("%s %s: an address, a prefix or ADDRESS:PORT is wanted, such as 10.0.0.1, 10.0.0.0/8, 10.0.0.1:80, [fd00::1]:80 (no address bits behind a prefix)",
		     key, s);
	if (p->port && ports[1])
		fail("%s %s: a port is said twice", key, s);
	if (p->port) {
		ports[0] = p->port;
		ports[1] = p->port;
	}
}

static void take_ports(const char *key, const char *s, uint16_t *ports)
{
	if (ports[1])
		fail("%s %s: a port is said twice", key, s);
	if (!parse_ports(s, &ports[0], &ports[1]))
		fail("%s %s: a port or a range of ports from 1 to 65535 is wanted, such as 5201 or 5000-5010",
		     key, s);
}

/**
 * filter_word() - take "dport 80" and the like
 * @f: the filter
 * @w: the command line
 *
 * Return: whether the next words belong to a filter.
 */
bool filter_word(struct filter *f, struct words *w)
{
	if (word_is(w, "src")) {
		take_prefix("src", word_value(w, "src"), &f->src, f->sport);
	} else if (word_is(w, "dst")) {
		take_prefix("dst", word_value(w, "dst"), &f->dst, f->dport);
	} else if (word_is(w, "sport")) {
		take_ports("sport", word_value(w, "sport"), f->sport);
	} else if (word_is(w, "dport")) {
		take_ports("dport", word_value(w, "dport"), f->dport);
	} else if (word_is(w, "cookie")) {
		const char *s = word_value(w, "cookie");

		if (!parse_cookie(s, &f->cookie))
			fail("cookie %s: hexadecimal is wanted, as flow show and ss -e print it",
			     s);
	} else if (word_is(w, "uid")) {
		f->uid = parse_uid(word_value(w, "uid"));
	} else if (word_is(w, "pid")) {
		take_pid(f, word_value(w, "pid"));
	} else if (word_is(w, "cgroup")) {
		take_cgroup(f, word_value(w, "cgroup"));
	} else if (word_is(w, "cc")) {
		f->cc = word_value(w, "cc");
	} else if (word_is(w, "state")) {
		const char *s = word_value(w, "state");

		if (!parse_tcp_states(s, &f->states))
			fail("state %s: a state of TCP is wanted, such as established, listening, connected, all",
			     s);
	} else {
		return false;
	}
	f->listed = true;
	return true;
}

static bool port_in(const uint16_t *range, uint16_t port)
{
	return !range[1] || (port >= range[0] && port <= range[1]);
}

bool filter_has(const struct filter *f, const struct fairlane_flow *flow)
{
	const struct fairlane_id *id = &flow->id;
	size_t i;

	if (!(f->states & 1U << flow->state) ||
	    !prefix_has(&f->src, id->family, id->src) ||
	    !prefix_has(&f->dst, id->family, id->dst) ||
	    !port_in(f->sport, id->sport) || !port_in(f->dport, id->dport) ||
	    (f->cookie && f->cookie != id->cookie) ||
	    (f->uid != UINT32_MAX && f->uid != flow->uid) ||
	    (f->cc && strcmp(f->cc, flow->cc)) ||
	    (f->prio >= 0 && (!flow_prio_known(flow) ||
			      flow_prio(flow) != (uint32_t)f->prio)))
		return false;
	for (i = 0; i < f->cgroup_count; i++)
		if (flow->cgroup == f->cgroups[i])
			break;
	if (f->cgroups && i == f->cgroup_count)
		return false;
	if (!f->inodes)
		return true;
	for (i = 0; i < f->inode_count; i++)
		if (flow->inode && f->inodes[i] == flow->inode)
			return true;
	return false;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * fairlane flow set: change live sockets.
 *
 * By pid and fd the socket is borrowed from its process (pidfd_getfd) and set by
 * setsockopt: that works for sockets that are not connected yet, too. All others
 * are found by a filter and set by netlink. A congestion control can be set by the
 * socket's descriptor only, so that one is borrowed from any process that has it open.
 */
#include "tool.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What to do about a refusal. */
static const char *set_hint(int err)
{
	switch (-err) {
	case ENOPROTOOPT:
		return " (the module fairlane is not loaded, or this is no TCP socket)";
	case EPERM:
		return " (above the limit for users, or another's socket: fairlane limits show)";
	case EDQUOT:
		return " (the sum of weights would be above its budget: fairlane limits show)";
	case ENOTSOCK:
		return " (this descriptor is not a socket)";
	case EOPNOTSUPP:
		return " (this is not a TCP socket)";
	default:
		return "";
	}
}

static void print_result(const struct fairlane_flow *f, const char *error)
{
	cJSON *obj;

	if (!opt.json)
		return;
	obj = f ? flow_json(f, NULL) : cJSON_CreateObject();
	if (error)
		cJSON_AddStringToObject(obj, "error", error);
	json_print(obj);
}

/* Gives a socket another congestion control, live. Return: NULL, or why not. */
static const char *set_control(int sock, const char *cc)
{
	if (!setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		return NULL;
	return errno == ENOENT ?
	       "there is no such congestion control (modprobe tcp_NAME)" :
	       errno == EPERM ?
	       "not for users (sysctl net.ipv4.tcp_allowed_congestion_control)" :
	       strerror(errno);
}

/* The control of a flow that some process has open. Return: NULL, or why not. */
static const char *set_control_of(const struct fairlane_flow *f,
				  const struct proc_sockets *procs,
				  const char *cc)
{
	const struct proc_socket *p = proc_find(procs, f->inode);
	const char *refused;
	int sock;

	if (!p)
		return "no process that can be seen has it open";
	sock = fairlane_dup_fd(p->pid, p->fd);
	if (sock < 0)
		return strerror(-sock);
	refused = set_control(sock, cc);
	close(sock);
	return refused;
}

/* How many of @n flows are as they were to be; @what and @more say how. One flow that was named is
 * not worth a word.
 */
static void say_changed(size_t n, size_t refused, const char *what, const char *more)
{
	if (opt.json) {
		cJSON *doc = cJSON_CreateObject();

		json_u64(doc, "matched", n);
		json_u64(doc, "changed", n - refused);
		json_print(doc);
	} else if (n != 1) {
		printf("%zu of %zu flows %s%s\n", n - refused, n, what, more);
	}
}

/* The control of all of them; every refusal is told, none stops the others. */
static int set_controls(const struct flows *flows, const char *cc)
{
	struct proc_sockets procs;
	size_t i, refused = 0;

	proc_sockets_all(&procs);
	for (i = 0; i < flows->n; i++) {
		const char *why = set_control_of(&flows->f[i], &procs, cc);

		if (why)
			fprintf(stderr, "Error: %s: cc %s: %s\n",
				flow_tuple(&flows->f[i].id), cc, why);
		refused += !!why;
	}
	say_changed(flows->n, refused, "have ", cc);
	free(procs.s);
	return refused ? EXIT_KERNEL : EXIT_OK;
}

static int set_by_fd(int pid, int fd, const struct fairlane_setting *list,
		     size_t n, const char *cc)
{
	const char *refused;
	size_t failed = 0;
	int sock, err;

	if (opt.check_only)
		return EXIT_OK;
	sock = fairlane_dup_fd(pid, fd);
	if (sock < 0)
		fail_kernel("pid %d fd %d: %s%s", pid, fd, strerror(-sock),
			    sock == -ESRCH ? " (no such process)" :
			    sock == -EBADF ? " (it has no such descriptor)" :
			    sock == -EPERM ?
			    " (borrowing it needs the right to trace that process)" :
			    "");
	refused = cc ? set_control(sock, cc) : NULL;
	if (refused)
		fail_kernel("pid %d fd %d: cc %s: %s", pid, fd, cc, refused);
	err = n ? fairlane_set_many(sock, list, n, &failed) : 0;
	close(sock);
	if (err)
		fail_kernel("pid %d fd %d: %s %s: %s%s", pid, fd,
			    attrs[list[failed].attr].word,
			    attr_show(list[failed].attr, list[failed].value),
			    strerror(-err), set_hint(err));
	if (opt.json)
		print_result(NULL, NULL);
	return EXIT_OK;
}

/* Make the changes; every refusal is told, none stops the others. */
static int set_flows(const struct flows *flows,
		     const struct fairlane_setting *list, size_t n)
{
	struct fairlane_change *changes = xalloc(flows->n * sizeof(*changes));
	struct fairlane *f = connect_module();
	int refused;
	size_t i;

	for (i = 0; i < flows->n; i++) {
		changes[i].id.cookie = flows->f[i].id.cookie;
		changes[i].id = flows->f[i].id;
		changes[i].settings = list;
		changes[i].count = n;
	}
	refused = fairlane_flow_set_batch(f, changes, flows->n);
	if (refused < 0)
		fail_kernel("netlink: %s", fairlane_error(f));
	for (i = 0; i < flows->n; i++)
		if (changes[i].result)
			fprintf(stderr, "Error: %s: %s%s\n",
				flow_tuple(&flows->f[i].id),
				refused == 1 ? fairlane_error(f) :
				strerror(-changes[i].result),
				set_hint(changes[i].result));
	say_changed(flows->n, refused, "changed", "");
	fairlane_close(f);
	free(changes);
	return refused ? EXIT_KERNEL : EXIT_OK;
}

/**
 * struct order - what "flow set" is to do
 * @filter: which flows
 * @all: more than one is meant
 * @pid: of pid and fd
 * @fd: -1: none
 * @list: settings
 * @n: how many
 * @cc: new congestion control; NULL: as it is
 * @share_permille: only this part of the flows that fit
 */
struct order {
	struct filter filter;
	bool all;
	int pid;
	int fd;
	struct fairlane_setting list[FAIRLANE_ATTRS];
	size_t n;
	const char *cc;
	uint32_t share_permille;
};

/* Leaves a part of the flows, always the same ones: chosen by the cookie. */
static void take_share(struct flows *flows, uint32_t permille)
{
	size_t i, n = 0;

	for (i = 0; i < flows->n; i++) {
		/* as fl_off_flow() of the module */
		uint64_t h = flows->f[i].id.cookie * 0x61c8864680b583ebULL;

		if ((h >> 32) % 1000 < permille)
			flows->f[n++] = flows->f[i];
	}
	flows->n = n;
}

/* pid PID fd FD; pid alone belongs to the filter. */
static bool take_pid_fd(struct order *o, struct words *w)
{
	if (w->n - w->i < 4 || strcmp(w->v[w->i], "pid") ||
	    strcmp(w->v[w->i + 2], "fd"))
		return false;
	if (o->fd >= 0)
		fail("\"pid\" twice");
	w->i++;
	o->pid = need_u32("pid", word_next(w), 1, 1 << 22);
	w->i++;
	o->fd = need_u32("fd", word_next(w), 0, 1 << 30);
	return true;
}

/* "cc NAME" is what the flow gets if nothing else is to be set, else one that it must
 * have. "from NAME" is always the latter.
 */
static void take_control(struct order *o, const char *from)
{
	if (o->n && o->cc && !from) {
		from = o->cc;
		o->cc = NULL;
	}
	if (o->n && o->cc)
		fail("flow set: a congestion control and settings, one after the other please");
	if (from) {
		o->filter.cc = from;
		o->filter.listed = true;
	}
	if (!o->n && !o->cc)
		fail("flow set: nothing to set (prio, weight, base-rtt, line-rate, deadline, cc)");
}

/* A control that nobody can have is a mistake, not a filter that fits nothing. */
static void need_control(const char *name)
{
	char *text = read_text("/proc/sys/net/ipv4/tcp_available_congestion_control"), *save, *s;

	for (s = text ? strtok_r(text, "\n ", &save) : NULL; s; s = strtok_r(NULL, "\n ", &save))
		if (!strcmp(s, name))
			break;
	if (text && !s)
		fail_kernel("from %s: there is no such congestion control, so no flow has it",
			    name);
	free(text);
}

static void read_order(struct order *o, struct words *w)
{
	const char *from = NULL;

	memset(o, 0, sizeof(*o));
	filter_init(&o->filter);
	o->fd = -1;
	while (words_left(w)) {
		if (word_is(w, "all"))
			o->all = true;
		else if (word_is(w, "cc"))
			o->cc = word_value(w, "cc");
		else if (word_is(w, "share"))
			o->share_permille = need_share(word_value(w, "share"));
		else if (word_is(w, "from"))
			from = word_value(w, "from");
		else if (!take_pid_fd(o, w) &&
			 !word_setting(w, o->list, &o->n, true) &&
			 !filter_word(&o->filter, w))
			words_end(w);
	}
	take_control(o, from);
	if (from)
		need_control(from);
	if (o->fd >= 0 && (o->filter.listed || o->all))
		fail("flow set: pid and fd name one socket, there is nothing to filter");
	if (o->fd < 0 && !o->filter.listed && !o->all)
		fail("flow set: which flow? (pid PID fd FD, cookie HEX, or a filter; \"all\" for every one that fits)");
}

/* Where no flow fits, nothing else would tell that the congestion control is misspelt. */
static void try_control(const char *cc)
{
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *refused = sock < 0 ? NULL : set_control(sock, cc);

	if (refused)
		fail_kernel("cc %s: %s", cc, refused);
	if (sock >= 0)
		close(sock);
}

int flow_set(struct words *w)
{
	struct flows flows;
	struct order o;
	int code;

	read_order(&o, w);
	if (o.share_permille && !o.all)
		fail("flow set: \"share\" goes with \"all\"");
	if (o.fd >= 0)
		return set_by_fd(o.pid, o.fd, o.list, o.n, o.cc);
	if (opt.check_only)
		return EXIT_OK;
	flows_read(&flows, &o.filter);
	if (o.share_permille)
		take_share(&flows, o.share_permille);
	if (!flows.n && !o.all)
		fail_kernel("no flow fits");
	if (flows.n > 1 && !o.all)
		fail("%zu flows fit, such as %s and %s: say more, or add \"all\"",
		     flows.n, flow_tuple(&flows.f[0].id),
		     flow_tuple(&flows.f[1].id));
	if (o.cc && !flows.n)
		try_control(o.cc);
	code = o.cc ? set_controls(&flows, o.cc) :
	       set_flows(&flows, o.list, o.n);
	flows_free(&flows);
	filter_free(&o.filter);
	return code;
}

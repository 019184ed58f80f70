// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what a user without privilege may try against the others of his host.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/userfaultfd.h>

#include "ctl.h"

static struct nl m;

/**
 * struct stall - a process that keeps the lock of its own socket, or a file of /proc/sys
 * @fd: the socket, or the file
 * @file: it is a file
 * @uffd: who answers for the page that it sends from, or reads into
 * @page: the page, which is not there
 * @thread: in send() or read()
 */
struct stall {
	int fd;
	bool file;
	int uffd;
	char *page;
	pthread_t thread;
};

static void *stalled(void *arg)
{
	struct stall *s = arg;

	if (s->file)
		REQUIRE(read(s->fd, s->page, 4096) > 0);
	else
		REQUIRE(send(s->fd, s->page, 4096, 0) == 4096);
	return NULL;
}

/* send() has the socket locked when it finds that the page is not there. FUSE or
 * userfaultfd(): who provides the page decides for how long.
 */
static void stall_begin(struct stall *s, int fd, bool file)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffd_msg msg;

	s->fd = fd;
	s->file = file;
	s->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	REQUIRE(s->uffd >= 0);
	REQUIRE(!ioctl(s->uffd, UFFDIO_API, &api));
	s->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(s->page != MAP_FAILED);
	reg.range.start = (unsigned long)s->page;
	reg.range.len = 4096;
	REQUIRE(!ioctl(s->uffd, UFFDIO_REGISTER, &reg));
	REQUIRE(!pthread_create(&s->thread, NULL, stalled, s));
	/* it is in there */
	REQUIRE(read(s->uffd, &msg, sizeof(msg)) == sizeof(msg));
	EQUAL(msg.event, UFFD_EVENT_PAGEFAULT);
}

static void stall_end(struct stall *s)
{
	struct uffdio_zeropage zero = { .range = { (unsigned long)s->page, 4096 } };

	REQUIRE(!ioctl(s->uffd, UFFDIO_ZEROPAGE, &zero));
	REQUIRE(!pthread_join(s->thread, NULL));
	close(s->uffd);
	munmap(s->page, 4096);
}

static void take_priority(struct nlattr **tb, void *arg)
{
	*(uint64_t *)arg = nl_num(tb[FL_A_FLOW_PRIORITY]);
}

static void too_long(int signal)
{
	static const char text[] = "# a request waits for the socket's owner\n";

	(void)signal;
	_exit(write(1, text, sizeof(text) - 1) ? 1 : 2);
}

/* All that somebody may ask while the owner keeps the socket locked. In a process of its
 * own: one that waits for ever can be left behind.
 */
static void ask_all(uint64_t cookie)
{
	uint64_t prio = 99;
	int fd = nl_open();

	signal(SIGALRM, too_long);
	alarm(5);
	nl_start(&m, FL_CMD_FLOW_GET, 0);
	nl_u64(&m, FL_A_FLOW_COOKIE, cookie);
	EQUAL(nl_talk(fd, &m, take_priority, &prio), 0);
	EQUAL(prio, 1);
	nl_start(&m, FL_CMD_FLOW_SET, 0);
	nl_u64(&m, FL_A_FLOW_COOKIE, cookie);
	nl_u32(&m, FL_A_FLOW_PRIORITY, 5);
	EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
	nl_start(&m, FL_CMD_LIMIT_SET, 0);
	nl_u32(&m, FL_A_LIMIT_WEIGHT_MAX_MILLI, 3000);
	EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
	nl_start(&m, FL_CMD_BUDGET_SET, 0);
	nl_u32(&m, FL_A_BUDGET_UID, NOBODY);
	nl_u32(&m, FL_A_BUDGET_MILLI, 4000);
	EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
	nl_start(&m, FL_CMD_POLICY_ADD, 0);
	nl_u32(&m, FL_A_POLICY_DEADLINE_US, 1234);
	EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
	nl_start(&m, FL_CMD_POLICY_APPLY, 0);
	EQUAL(nl_talk(fd, &m, NULL, NULL), 0);
	/* what was said is in force, whoever has the lock */
	nl_start(&m, FL_CMD_FLOW_GET, 0);
	nl_u64(&m, FL_A_FLOW_COOKIE, cookie);
	EQUAL(nl_talk(fd, &m, take_priority, &prio), 0);
	EQUAL(prio, 5);
	exit(0);
}

/* Whoever keeps his own socket locked keeps nobody from asking about it, or about
 * anything else.
 */
static void test_stalled_owner(void)
{
	static const char * const ccs[] = { "cubic", "prioplus", "swift" };
	struct pair p = make_pair(V4);
	struct stall s;
	uint64_t cookie;
	int status;
	pid_t pid;
	size_t i;

	for (i = 0; i < sizeof(ccs) / sizeof(*ccs); i++) {
		REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, ccs[i], strlen(ccs[i])));
		EQUAL(set_opt(p.client, FL_SO_PRIORITY, 1), 0);
		EQUAL(set_opt(p.client, FL_SO_WEIGHT, 9000), 0);
		cookie = cookie_of(p.client);
		stall_begin(&s, p.client, false);
		pid = fork();
		if (!pid)
			ask_all(cookie);
		REQUIRE(waitpid(pid, &status, 0) == pid);
		EQUAL(status, 0);
		stall_end(&s);
		EQUAL(get_opt(p.client, FL_SO_PRIORITY), 5);
		EQUAL(get_opt(p.client, FL_SO_DEADLINE_US), 1234);
	}
}

static void switch_off(const char *to)
{
	int fd = open("/proc/sys/net/fairlane/off", O_WRONLY);

	signal(SIGALRM, too_long);
	alarm(5);
	REQUIRE(write(fd, to, 1) == 1);
	exit(0);
}

/* Nor from switching off what all others have: he follows when he lets go. */
static void test_stalled_off(void)
{
	static const char * const ccs[] = { "prioplus", "swift" };
	struct pair p = make_pair(V4), other = make_pair(V6);
	int fd = nl_open(), status, i;
	struct stall s;
	char name[16];
	socklen_t len;
	pid_t pid;

	for (i = 0; i < 2; i++) {
		REQUIRE(!setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, ccs[i], strlen(ccs[i])));
		REQUIRE(!setsockopt(other.client, IPPROTO_TCP, TCP_CONGESTION, ccs[i],
				    strlen(ccs[i])));
		stall_begin(&s, p.client, false);
		pid = fork();
		if (!pid)
			switch_off("1");
		REQUIRE(waitpid(pid, &status, 0) == pid);
		EQUAL(status, 0);
		EQUAL(stat_of(fd, FL_A_STAT_OFF), 1);
		EQUAL(stat_of(fd, FL_A_STAT_OFF_FLOWS), 1);
		EQUAL(stat_of(fd, FL_A_STAT_OFF_WAITING), 1);
		stall_end(&s);
		wait_ns(1000000000);
		EQUAL(stat_of(fd, FL_A_STAT_OFF_FLOWS), 2);
		EQUAL(stat_of(fd, FL_A_STAT_OFF_WAITING), 0);
		EQUAL(stat_of(fd, FL_A_STAT_FLOWS_CC), 0);
		len = sizeof(name);
		REQUIRE(!getsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION, name, &len));
		REQUIRE(!strcmp(name, "cubic") || !strcmp(name, "reno"));
		pid = fork();
		if (!pid)
			switch_off("0");
		REQUIRE(waitpid(pid, &status, 0) == pid);
		EQUAL(status, 0);
		EQUAL(stat_of(fd, FL_A_STAT_FLOWS_CC), 2);
	}
	close_pair(&other);
}

/* Reads a setting of a namespace that goes meanwhile, and has all time of the world for it. A child
 * keeps the namespace until the read has begun: the file would be taken back before, else.
 */
static void read_slowly(int begun, int enough)
{
	int kept[2], fd, status;
	struct stall s;
	pid_t keeper;
	char byte;

	REQUIRE(!unshare(CLONE_NEWNET));
	fd = open("/proc/sys/net/fairlane/telemetry", O_RDONLY);
	REQUIRE(fd >= 0 && !pipe(kept));
	keeper = fork();
	if (!keeper) {
		close(kept[1]);
		exit(read(kept[0], &byte, 1));
	}
	REQUIRE(!unshare(CLONE_NEWNET));
	stall_begin(&s, fd, true);
	close(kept[1]);
	REQUIRE(waitpid(keeper, &status, 0) == keeper);
	EQUAL(status, 0);
	REQUIRE(write(begun, "", 1) == 1);
	REQUIRE(!read(enough, &byte, 1));
	stall_end(&s);
	exit(0);
}

static void ask_profile(void)
{
	int fd = nl_open();

	REQUIRE(!unshare(CLONE_NEWNET));
	nl_start(&m, FL_CMD_PROFILE_GET, 0);
	exit(nl_talk(fd, &m, NULL, NULL) ? 1 : 0);
}

/* The kernel takes a file of /proc/sys back when nobody is in it any more, whoever that is and
 * however long he takes. Nobody else waits for that: others make namespaces, and ask for settings.
 */
static void test_stalled_setting(void)
{
	int begun[2], enough[2], status, i;
	pid_t reader, pid, done = 0;
	char byte;

	REQUIRE(!pipe(begun) && !pipe(enough));
	reader = fork();
	if (!reader) {
		close(enough[1]);
		read_slowly(begun[1], enough[0]);
	}
	close(begun[1]);
	REQUIRE(read(begun[0], &byte, 1) == 1);
	/* the kernel is about to take the files back */
	wait_ns(1000000000);
	pid = fork();
	if (!pid) {
		close(enough[1]);
		ask_profile();
	}
	for (i = 0; i < 50 && !done; i++) {
		wait_ns(100000000);
		done = waitpid(pid, &status, WNOHANG);
	}
	close(enough[1]);
	EQUAL(done, pid);
	EQUAL(status, 0);
	REQUIRE(waitpid(reader, &status, 0) == reader);
	EQUAL(status, 0);
}

/* Made over netlink for a socket that goes at the same time: settings of no socket must
 * not stay.
 */
static void test_going_socket(void)
{
	uint64_t before, cookie;
	int fd = nl_open(), listener = listen_on(V4, 0), i, c, s, r, status;
	pid_t pid;

	before = stat_of(fd, FL_A_STAT_FLOWS);
	for (i = 0; i < 300; i++) {
		struct linger abort = { 1, 0 };

		c = connect_to(V4, listener, NULL);
		s = accept(listener, NULL, NULL);
		REQUIRE(s >= 0);
		cookie = cookie_of(c);
		EQUAL(set_opt(c, FL_SO_WEIGHT, 2000), 0);
		setsockopt(c, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
		pid = fork();
		if (!pid) {
			int own = nl_open();

			close(c);
			for (r = 0; !r;) {
				nl_start(&m, FL_CMD_FLOW_SET, 0);
				nl_u64(&m, FL_A_FLOW_COOKIE, cookie);
				nl_u32(&m, FL_A_FLOW_WEIGHT_MILLI, 1000 + random() % 1000);
				r = nl_talk(own, &m, NULL, NULL);
				sched_yield();
			}
			exit(r != -ENOENT);
		}
		sched_yield();
		close(c);
		close(s);
		REQUIRE(waitpid(pid, &status, 0) == pid);
		EQUAL(status, 0);
	}
	/* accepted ones end in the background */
	for (i = 0; i < 100 && stat_of(fd, FL_A_STAT_FLOWS) != before; i++)
		wait_ns(100000000);
	EQUAL(stat_of(fd, FL_A_STAT_FLOWS), before);
}

#define FLOOD	(3 * FL_EVENT_RATE)

/* Events say who does what: they are not for everybody. Nor does everybody who can make
 * some hide those of others behind his own.
 */
static void test_events_of_others(void)
{
	struct pair p = make_pair(V4), q;
	int fd = listen_events(), status, i;
	struct seen s = { };
	bool found = false;
	pid_t pid;

	pid = fork();
	if (!pid) {
		int group = nl_group(), mine;

		as_user(NOBODY);
		mine = nl_open();
		REQUIRE(setsockopt(mine, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
				   &group, sizeof(group)));
		EQUAL(errno, EPERM);
		/* refused, accepted: either is an event */
		q = make_pair(V4);
		for (i = 0; i < FLOOD; i++)
			EQUAL(set_opt(q.client, FL_SO_PRIORITY, i & 1 ? 15 : i / 2 % 2),
			      i & 1 ? -EPERM : 0);
		exit(0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EQUAL(status, 0);
	EQUAL(set_opt(p.client, FL_SO_PRIORITY, 7), 0);
	while (read_event(fd, &s) > 0)
		found |= nl_num(s.tb[FL_A_EVENT_OWNER]) == 0 && nl_num(s.tb[FL_A_EVENT_NEW]) == 7;
	printf("# %llu events of %u, gaps of %llu\n", (unsigned long long)s.count, FLOOD + 1,
	       (unsigned long long)s.gaps);
	REQUIRE(found);
	/* half a dozen seconds may have passed on a slow machine */
	REQUIRE(s.count >= FL_EVENT_RATE && s.count < FLOOD);
	EQUAL(s.count + s.gaps, FLOOD + 1);
}

static uint32_t state_of(int fd)
{
	struct fl_info info = { };
	socklen_t len = sizeof(info);

	REQUIRE(!getsockopt(fd, IPPROTO_IP, FL_SO_INFO, &info, &len));
	return info.state;
}

/* What a device encrypts is looked at on its way there (selftests/machine/stock/module): a
 * probe is no part of that stream. The flow has to go without, if it has begun with some
 * too, and none gets there.
 */
static void test_encrypted(void)
{
	static const char name[] = "fl_encrypts";
	struct pair p = { .listener = listen_on(V4, 0) };
	char buf[1000] = { };
	int late, i;

	for (late = 0; late < 2; late++) {
		p.client = connect_to(V4, p.listener, "prioplus");
		p.server = accept(p.listener, NULL, NULL);
		REQUIRE(p.server >= 0);
		EQUAL(set_opt(p.client, FL_SO_PRIORITY, 3), 0);
		if (late) {
			REQUIRE(write(p.client, buf, sizeof(buf)) == sizeof(buf));
			REQUIRE(recv(p.server, buf, sizeof(buf), MSG_WAITALL) == sizeof(buf));
			REQUIRE(state_of(p.client) != FL_STATE_FALLBACK);
		}
		if (setsockopt(p.client, IPPROTO_TCP, TCP_ULP, name, sizeof(name) - 1))
			exit(SKIPPED);
		for (i = 0; i < 100 && state_of(p.client) != FL_STATE_FALLBACK; i++) {
			REQUIRE(write(p.client, buf, sizeof(buf)) == sizeof(buf));
			REQUIRE(recv(p.server, buf, sizeof(buf), MSG_WAITALL) == sizeof(buf));
			wait_ns(10000000);
		}
		EQUAL(state_of(p.client), FL_STATE_FALLBACK);
		close(p.client);
		close(p.server);
	}
}

const struct test hostile_tests[] = {
	{ "encrypted", test_encrypted },
	{ "stalled_owner", test_stalled_owner },
	{ "stalled_off", test_stalled_off },
	{ "stalled_setting", test_stalled_setting },
	{ "going_socket", test_going_socket },
	{ "events_of_others", test_events_of_others },
	{ }
};

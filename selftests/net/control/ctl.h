/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the control plane's tests: TCP pairs, a netlink client of a few
 * lines that takes nothing from libnl or libfairlane, expectations.
 */
#ifndef CTL_H
#define CTL_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "../../../kmod/include/uapi/linux/fairlane.h"

#define NOBODY	65534

/* Exit status of a test that this kernel cannot run. */
#define SKIPPED	4

/* Ends the test if it does not hold; says where and what errno is. */
#define REQUIRE(what) do {						\
	if (!(what)) {							\
		printf("# %s:%d: %s (errno %d)\n", __FILE__, __LINE__,	\
		       #what, errno);					\
		exit(1);						\
	}								\
} while (0)

/* ... with two numbers that should be equal. */
#define EQUAL(got, want) do {						\
	long long g_ = (got), w_ = (want);				\
									\
	if (g_ != w_) {							\
		printf("# %s:%d: %s is %lld, expected %lld\n", __FILE__, \
		       __LINE__, #got, g_, w_);				\
		exit(1);						\
	}								\
} while (0)

/** enum kind - how a connection is addressed */
enum kind { V4, V6, MAPPED, KINDS };

/**
 * struct pair - a connection over lo
 * @listener: listening socket
 * @client: connected socket
 * @server: accepted socket
 */
struct pair {
	int listener;
	int client;
	int server;
};

int listen_on(enum kind kind, int port);
int connect_to(enum kind kind, int listener, const char *cc);
struct pair make_pair(enum kind kind);
void close_pair(struct pair *p);
int set_opt(int fd, int opt, uint32_t val);
int unset_opt(int fd, int opt);
int64_t get_opt(int fd, int opt);
uint64_t cookie_of(int fd);
void as_user(int uid);
void write_file(const char *path, const char *text);
void wait_ns(long ns);
int port_of(int fd);
void many_files(void);

/**
 * struct nl - a request, later its answer
 * @buf: the message
 * @len: its length
 * @error: errno of the answer
 * @text: extack text of the answer
 */
struct nl {
	char buf[65536];
	int len;
	int error;
	char text[256];
};

int nl_open(void);
int nl_group(void);
void nl_start(struct nl *m, int cmd, int flags);
void nl_add(struct nl *m, int type, const void *data, int len);
void nl_u8(struct nl *m, int type, uint8_t v);
void nl_u16(struct nl *m, int type, uint16_t v);
void nl_u32(struct nl *m, int type, uint32_t v);
void nl_u64(struct nl *m, int type, uint64_t v);
void nl_str(struct nl *m, int type, const char *s);
int nl_nest(struct nl *m, int type);
void nl_nest_end(struct nl *m, int at);
int nl_talk(int fd, struct nl *m, void (*each)(struct nlattr **tb, void *arg), void *arg);
bool nl_parse(const struct nlmsghdr *h, struct nlattr **tb);
uint64_t nl_num(const struct nlattr *a);
uint64_t stat_of(int fd, int stat);

/* Attributes of any of our messages have smaller numbers. */
#define NL_ATTRS	64

/** struct seen - what a reader of the events has */
struct seen {
	uint64_t first, last, count, gaps;
	struct nlattr *tb[NL_ATTRS];
};

int listen_events(void);
int read_event(int fd, struct seen *s);

/** struct test - a test by name; its exit status is the verdict */
struct test {
	const char *name;
	void (*run)(void);
};

extern const struct test socket_tests[], policy_tests[], netlink_tests[];
extern const struct test limit_tests[], hostile_tests[], fuzz_tests[];

#endif /* CTL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests' helpers share that have both ends of a connection in one process:
 * ending with a sentence, the clock, namespaces, addresses.
 */
#ifndef SELFTESTS_ENDS_H
#define SELFTESTS_ENDS_H

#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#define NS_PER_S	1000000000LL

/* Prints "# PROGRAM: ..." to stderr and exits with status 1. */
__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *format, ...);

/* What a clock (CLOCK_...) shows, ns. */
int64_t clock_ns(clockid_t clock);

/* An integer from @min to @max; anything else ends the program. */
long long number(const char *text, long long min, long long max);

/* Changes to a namespace by the name that "ip netns" knows. */
void enter(const char *name);

/* A socket in a namespace, where the process stays. Return: the descriptor. */
int socket_in(const char *name, int family, int type);

/* An IPv4 or IPv6 address as a socket's. Return: the length of @to that is used. */
socklen_t parse_address(const char *text, int port, struct sockaddr_storage *to);

/* Sets TCP_CONGESTION. */
void set_cc(int fd, const char *cc);

#endif

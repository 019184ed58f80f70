/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SELFTESTS_INJECT_H
#define SELFTESTS_INJECT_H

/*
 * Sends an ACK without data from the end @from of an IPv4 connection, whose host is the
 * namespace @ns, to the end @to; both are sockets of this process. @hex: TCP options,
 * a multiple of 4 bytes. Needs CAP_NET_RAW and CAP_NET_ADMIN.
 */
void inject(const char *ns, int from, int to, const char *hex);

#endif

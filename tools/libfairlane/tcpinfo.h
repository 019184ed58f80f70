/* SPDX-License-Identifier: GPL-2.0 */
/* See tcpinfo.c. */
#ifndef LIBFAIRLANE_TCPINFO_H
#define LIBFAIRLANE_TCPINFO_H

__attribute__((visibility("hidden")))
void fl_read_tcp_info(const void *data, size_t len, struct fairlane_flow *fl);

#endif

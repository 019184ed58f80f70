/* SPDX-License-Identifier: GPL-2.0 */
/* See ss_fairlane.c. */
#ifndef SS_FAIRLANE_H
#define SS_FAIRLANE_H

#include <linux/fairlane.h>

struct nlmsghdr;

void ss_fairlane_show(const struct nlmsghdr *nlh,
		      void (*out)(const char *fmt, ...));

#endif

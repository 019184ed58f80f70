/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FL_TRACEPOINT_H
#define FL_TRACEPOINT_H

struct tracepoint;

struct tracepoint *fl_tracepoint(const char *name);

#endif /* FL_TRACEPOINT_H */

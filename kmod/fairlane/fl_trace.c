// SPDX-License-Identifier: GPL-2.0
/* The tracepoints themselves, for the congestion controls too. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "fl_trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(fl_delay_update);

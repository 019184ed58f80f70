// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of PrioPlus themselves. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "pp_trace.h"

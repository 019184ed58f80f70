// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of Söze themselves. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "sz_trace.h"

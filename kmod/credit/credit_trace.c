// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of credit themselves. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "credit_trace.h"

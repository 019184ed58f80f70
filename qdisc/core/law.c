// SPDX-License-Identifier: GPL-2.0
/*
 * The law of MLCC's credit loop is HPCC's. Modules share no objects, and a port needs no
 * other module, so here is the very source once more. Unit tests link the original.
 */
#ifdef __KERNEL__

#include <linux/export.h>

/* What is exported is that of another module. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)	struct fabric_own_##symbol

#include "lib/isqrt.c"
#include "hpcc/core/hpcc.c"

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FL_ISQRT_H
#define FL_ISQRT_H

#include "lib/fl_types.h"

u32 fl_isqrt(u64 x);

#endif /* FL_ISQRT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integer types and the few helpers that sch_fabric's pure cores use, for the
 * kernel and for the unit tests in user space.
 */
#ifndef FABRIC_TYPES_H
#define FABRIC_TYPES_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>

#else

#include <string.h>

#include "lib/fl_types.h"

#ifndef NSEC_PER_SEC
#define NSEC_PER_SEC	1000000000L
#endif

static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

/* Quotient and remainder of an unsigned division. */
static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

/* a * b / c with 128 bits in between. A result of more than 64 bits is a fault, as the kernel has
 * it on x86.
 */
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	__uint128_t product = a;

	product *= b;
	if (product / c > UINT64_MAX)
		__builtin_trap();
	return product / c;
}

/* Number of the lowest set bit counted from 0; @x is not 0. */
static inline unsigned long __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

/* The same of 64 bits, also where a long has 32. */
static inline unsigned int __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

#endif /* __KERNEL__ */

#endif /* FABRIC_TYPES_H */

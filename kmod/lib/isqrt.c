// SPDX-License-Identifier: GPL-2.0
/* Integer square root: the kernel's int_sqrt64() is for 64-bit machines only. */
#include "lib/isqrt.h"

/**
 * fl_isqrt() - integer square root
 * @x: any number
 *
 * Return: the largest r with r * r <= x.
 */
u32 fl_isqrt(u64 x)
{
	u64 r = 0, bit = x ? BIT_ULL((fls64(x) - 1) & ~1) : 0;

	while (bit) {
		if (x >= r + bit) {
			x -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
		bit >>= 2;
	}
	return r;
}
EXPORT_SYMBOL_GPL(fl_isqrt);

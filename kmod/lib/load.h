/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The load of a port as the telemetry option tells it. The format is in the ABI header
 * and, drawn, in Documentation/reference/telemetry.rst.
 *
 * The number is a small floating-point one: of two numbers the larger is the larger
 * load, so a switch compares numbers, and neither side needs a logarithm.
 */
#ifndef FL_CORE_LOAD_H
#define FL_CORE_LOAD_H

#include <linux/fairlane.h>

#include "fl_types.h"

/* Fractional bits of a load in a switch and in a host. */
#define FL_LOAD_SHIFT		32
#define FL_LOAD_HOST_SHIFT	16

#define FL_LOAD_PART_BITS	7
#define FL_LOAD_PART_MASK	0x7f
/* Number of the highest bit, from 1, of the least load that has a number of its own. */
#define FL_LOAD_FIRST_BIT	(FL_LOAD_SHIFT - 4 + 1)
#define FL_LOAD_EXPONENTS	8

/**
 * fl_load_code() - a load as the option tells it
 * @load: the load, 1 << FL_LOAD_SHIFT is 1
 *
 * Return: its number, rounded down by less than 1 %; 0 to FL_LOAD_MAX.
 */
static inline u16 fl_load_code(u64 load)
{
	int exponent = fls64(load) - FL_LOAD_FIRST_BIT;
	u32 part;

	if (exponent < 0)
		return 0;
	if (exponent >= FL_LOAD_EXPONENTS)
		return FL_LOAD_MAX;
	part = load >> (FL_LOAD_FIRST_BIT - 1 - FL_LOAD_PART_BITS + exponent);
	return exponent << FL_LOAD_PART_BITS | (part & FL_LOAD_PART_MASK);
}

/**
 * fl_load_of() - the load that a number in the option stands for
 * @code: the number; what is above FL_LOAD_MAX is not looked at
 *
 * Return: the load, << FL_LOAD_HOST_SHIFT: 2^12 to below 2^20.
 */
static inline u32 fl_load_of(u16 code)
{
	u32 part = BIT(FL_LOAD_PART_BITS) | (code & FL_LOAD_PART_MASK);

	return part << ((code & FL_LOAD_MAX) >> FL_LOAD_PART_BITS)
		    << (FL_LOAD_HOST_SHIFT - 4 - FL_LOAD_PART_BITS);
}

/**
 * fl_load_rtt() - the time over which a sender wants loads, as the option tells it
 * @rtt_ns: its RTT without queues, ns; 0: not known, the shortest
 *
 * Return: the number whose time is not below the RTT, FL_LOAD_RTT_MAX (0.27 s) at most.
 */
static inline u8 fl_load_rtt(u32 rtt_ns)
{
	u32 whole = (rtt_ns ? rtt_ns - 1 : 0) >> FL_LOAD_RTT_NS_SHIFT;

	return min_t(u32, fls64(whole), FL_LOAD_RTT_MAX);
}

/* A rate that a border router tells: exponent:5 | part:9, bytes/s. */
#define FL_LOAD_RATE_BITS	9
#define FL_LOAD_RATE_MASK	0x1ff
#define FL_LOAD_RATE_EXPONENTS	32

/**
 * fl_load_rate_code() - a rate as the option tells it
 * @rate: bytes/s
 *
 * Return: its number, rounded down by less than 0.2 %; 0 stands for 512 bytes/s or less,
 * FL_LOAD_TELL_MAX for 2.2 Tbyte/s or more.
 */
static inline u16 fl_load_rate_code(u64 rate)
{
	int exponent = fls64(rate) - (FL_LOAD_RATE_BITS + 1);

	if (exponent < 0)
		return 0;
	if (exponent >= FL_LOAD_RATE_EXPONENTS)
		return FL_LOAD_TELL_MAX;
	return exponent << FL_LOAD_RATE_BITS | (rate >> exponent & FL_LOAD_RATE_MASK);
}

/**
 * fl_load_rate_of() - the rate that a number in the option stands for
 * @code: the number; what is above FL_LOAD_TELL_MAX is not looked at
 *
 * Return: bytes/s, 512 to below 2^41.
 */
static inline u64 fl_load_rate_of(u16 code)
{
	u64 part = BIT(FL_LOAD_RATE_BITS) | (code & FL_LOAD_RATE_MASK);

	return part << ((code & FL_LOAD_TELL_MAX) >> FL_LOAD_RATE_BITS);
}

/* Type of a word of the option. */
static inline u8 fl_load_type(u16 word)
{
	return word >> FL_LOAD_TYPE_SHIFT;
}

/* Number of the time in a forward word. */
static inline u8 fl_load_time(u16 word)
{
	return word >> FL_LOAD_RTT_SHIFT & FL_LOAD_RTT_MAX;
}

/* A word of the option: type, time or 0, load. */
static inline u16 fl_load_word(u8 type, u8 time, u16 load)
{
	return type << FL_LOAD_TYPE_SHIFT | time << FL_LOAD_RTT_SHIFT | load;
}

#endif /* FL_CORE_LOAD_H */

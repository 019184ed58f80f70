/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types and arithmetic that the algorithm cores use, for the kernel and for
 * user space (unit tests under ASan and UBSan, simulations).
 *
 * A core knows integers only: no socket, no clock, no allocation, no lock.
 * The kernel gets everything from its own headers; user space gets the same
 * names from here, so that the very same source is tested and shipped.
 */
#ifndef FL_TYPES_H
#define FL_TYPES_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#else

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef uint64_t u64;
typedef __s8 s8;
typedef __s32 s32;
typedef int64_t s64;

/* Symbols are for other modules only. */
#define EXPORT_SYMBOL_GPL(symbol) struct fl_exports_##symbol

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define BIT(nr)			(1U << (nr))
#define BIT_ULL(nr)		((u64)1 << (nr))
#define U8_MAX			UINT8_MAX
#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define S32_MAX			INT32_MAX
#define noinline		__attribute__((__noinline__))
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define __aligned(x)		__attribute__((__aligned__(x)))

static inline u32 fl_min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u64 fl_min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u32 fl_max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline s32 fl_max_s32(s32 a, s32 b)
{
	return a > b ? a : b;
}

static inline s64 fl_min_s64(s64 a, s64 b)
{
	return a < b ? a : b;
}

static inline s64 fl_max_s64(s64 a, s64 b)
{
	return a > b ? a : b;
}

static inline u64 fl_max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

#define min_t(type, a, b)	fl_min_##type(a, b)
#define max_t(type, a, b)	fl_max_##type(a, b)
#define clamp_t(type, v, lo, hi) \
	fl_min_##type(fl_max_##type(v, lo), hi)

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* Number of the highest bit set, from 1; 0 if none is. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* a * b >> shift with 96 bits in between; shift is at most 32. */
static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return (((a >> 32) * b) << (32 - shift)) +
	       (((a & UINT32_MAX) * b) >> shift);
}

#endif /* __KERNEL__ */

/* Windows are counted in packets with this many fractional bits (u64). */
#define FL_WND_SHIFT	24
#define FL_WND_ONE	BIT_ULL(FL_WND_SHIFT)

/* Packets per nanosecond of a line are kept with this many fractional bits. */
#define FL_PPN_SHIFT	40

/**
 * fl_seq_after() - is TCP sequence number @a later than @b (modulo 2^32)?
 * @a: the number asked about
 * @b: the number compared with
 */
static inline bool fl_seq_after(u32 a, u32 b)
{
	return (s32)(b - a) < 0;
}

/**
 * fl_ppn() - packets per nanosecond of a line, in 2^-40 units
 * @line_bps: rate of the line in bit/s, 1 Mbit/s to 1.6 Tbit/s
 * @wire_bytes: bytes of a full packet on the line, at least 64
 *
 * 10 Gbit/s and 1538 bytes make 0.000813 packets/ns, kept to 1e-9 of that.
 */
static inline u64 fl_ppn(u64 line_bps, u32 wire_bytes)
{
	/* 2^40 / 8e9 = 137.44; bps * 1e3 stays below 2^51 */
	return div64_u64(line_bps * 137439ULL, (u64)wire_bytes * 1000);
}

/**
 * fl_ns_to_wnd() - packets that a line carries in a time
 * @ppn: what fl_ppn() gave
 * @ns: time in ns
 *
 * Return: a window in packets << FL_WND_SHIFT.
 */
static inline u64 fl_ns_to_wnd(u64 ppn, u32 ns)
{
	return mul_u64_u32_shr(ppn, ns, FL_PPN_SHIFT - FL_WND_SHIFT);
}

/* The least that can be told from an empty queue, ns. */
#define FL_EPS_NS	1000

/**
 * fl_pkt_ns() - time of a packet on the line
 * @line_bps: rate of the line in bit/s, above 0
 * @wire_bytes: bytes of the packet on the line
 *
 * Return: ns.
 */
static inline u32 fl_pkt_ns(u64 line_bps, u32 wire_bytes)
{
	return div64_u64((u64)wire_bytes * 8000000000ULL, line_bps);
}

/**
 * fl_eps_ns() - epsilon: least target of priority 0 above the base RTT, without noise
 * @line_bps: rate of the line in bit/s
 * @wire_bytes: bytes of a full packet on the line
 *
 * No delay is below the base RTT itself: whoever steers for that never grows.
 *
 * Return: ns, a packet's time on the line at least.
 */
static inline u32 fl_eps_ns(u64 line_bps, u32 wire_bytes)
{
	return max_t(u32, FL_EPS_NS, fl_pkt_ns(line_bps, wire_bytes));
}

#endif /* FL_TYPES_H */

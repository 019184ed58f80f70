/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fairlane's telemetry option in a TCP header: bytes in, numbers out. The formats
 * are in the ABI header and, drawn, in Documentation/reference/telemetry.rst. Nothing is
 * believed: not the data offset, not an option's length.
 *
 * There are two options of one length, whose ExIDs differ in the last bit: one with a
 * delay (Söze) and one with a load (HPCC, lib/load.h). So one comparison finds either.
 */
#ifndef FL_CORE_TELEMETRY_H
#define FL_CORE_TELEMETRY_H

#include <linux/fairlane.h>

#include "fl_types.h"

#define FL_TCP_MIN_BYTES	20
#define FL_TCP_MAX_BYTES	60

enum fl_tel_found {
	FL_TEL_NONE = 0,
	FL_TEL_MALFORMED = -1,
};

/* Which option; also the last bit of its ExID. */
enum fl_tel_format {
	FL_TEL_DELAY,
	FL_TEL_LOAD,
};

#define FL_TEL_FORMAT_MASK	1

static inline u16 fl_tel_get16(const u8 *at)
{
	return (u16)(at[0] << 8 | at[1]);
}

/* Is it the ExID of one of ours? */
static inline bool fl_tel_is_exid(u16 exid)
{
	return (exid & ~FL_TEL_FORMAT_MASK) == FL_TELEMETRY_EXID;
}

/**
 * fl_tel_at() - is there our option?
 * @at: an option, at least FL_TELEMETRY_BYTES long
 */
static inline bool fl_tel_at(const u8 *at)
{
	return at[0] == FL_TELEMETRY_KIND && at[1] == FL_TELEMETRY_BYTES &&
	       fl_tel_is_exid(fl_tel_get16(at + 2));
}

/**
 * fl_tel_find() - look for the option
 * @th: a TCP header
 * @bytes: its length by its data offset, FL_TCP_MIN_BYTES to MAX
 *
 * Options of kind 253 with another ExID are somebody else's and passed over.
 *
 * Return: offset from @th; FL_TEL_NONE; FL_TEL_MALFORMED if an option is cut off
 * or shorter than its own head, or ours has another length.
 */
static inline int fl_tel_find(const u8 *th, int bytes)
{
	int at = FL_TCP_MIN_BYTES;

	while (at < bytes) {
		u8 kind = th[at], length;

		if (kind == 0)
			return FL_TEL_NONE;
		if (kind == 1) {
			at++;
			continue;
		}
		if (at + 2 > bytes)
			return FL_TEL_MALFORMED;
		length = th[at + 1];
		if (length < 2 || at + length > bytes)
			return FL_TEL_MALFORMED;
		if (kind == FL_TELEMETRY_KIND && length >= 4 &&
		    fl_tel_is_exid(fl_tel_get16(th + at + 2)))
			return length == FL_TELEMETRY_BYTES ? at :
							      FL_TEL_MALFORMED;
		at += length;
	}
	return FL_TEL_NONE;
}

/**
 * fl_tel_units() - a delay as the option tells it
 * @ns: the delay, ns
 *
 * Return: its number, rounded down, FL_TELEMETRY_MAX at most.
 */
static inline u16 fl_tel_units(u64 ns)
{
	const u64 coarse_ns = (u64)FL_TELEMETRY_COARSE << FL_TELEMETRY_SHIFT;

	if (likely(ns < coarse_ns))
		return ns >> FL_TELEMETRY_SHIFT;
	return min_t(u64, FL_TELEMETRY_MAX, FL_TELEMETRY_COARSE +
		     ((ns - coarse_ns) >> FL_TELEMETRY_COARSE_SHIFT));
}

/**
 * fl_tel_ns() - the delay that a number in the option stands for
 * @units: the number, FL_TELEMETRY_MAX at most
 *
 * Return: ns.
 */
static inline u32 fl_tel_ns(u16 units)
{
	if (likely(units < FL_TELEMETRY_COARSE))
		return (u32)units << FL_TELEMETRY_SHIFT;
	return ((u32)FL_TELEMETRY_COARSE << FL_TELEMETRY_SHIFT) +
	       ((u32)(units - FL_TELEMETRY_COARSE) << FL_TELEMETRY_COARSE_SHIFT);
}

/* Longest delay that the option can tell, ns. */
#define FL_TELEMETRY_MAX_NS	fl_tel_ns(FL_TELEMETRY_MAX)

/**
 * fl_tel_put() - write an option
 * @at: where, FL_TELEMETRY_BYTES
 * @format: which
 * @delay: largest queueing delay so far, as of fl_tel_units(); or the forward word
 * @echo: delay to tell the peer, likewise, or FL_TELEMETRY_NO_ECHO; or the reverse word
 */
static inline void fl_tel_put(u8 *at, enum fl_tel_format format, u16 delay, u16 echo)
{
	at[0] = FL_TELEMETRY_KIND;
	at[1] = FL_TELEMETRY_BYTES;
	at[2] = FL_TELEMETRY_EXID >> 8;
	at[3] = (FL_TELEMETRY_EXID & 0xff) | format;
	at[4] = delay >> 8;
	at[5] = delay & 0xff;
	at[6] = echo >> 8;
	at[7] = echo & 0xff;
}

/* Which option is it? */
static inline enum fl_tel_format fl_tel_format(const u8 *at)
{
	return at[3] & FL_TEL_FORMAT_MASK;
}

static inline u16 fl_tel_delay(const u8 *at)
{
	return fl_tel_get16(at + 4);
}

static inline u16 fl_tel_echo(const u8 *at)
{
	return fl_tel_get16(at + 6);
}

#endif /* FL_CORE_TELEMETRY_H */

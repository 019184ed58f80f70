/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sch_fabric's load of a port, for telemetry. Pure integers: no packets, no clock, no
 * locks. The caller serialises.
 *
 *	load  = sent / (B T) + q / (B T)	HPCC's utilisation U (HPCC, Alg. 1; PINT, 4.3)
 *	power = arrived / (B T) * (1 + q / (B T))	PowerTCP's normalised power
 *
 * in the last time T at a line of rate B with a queue q. T is the RTT of who asks, so it
 * is the packet's: 8192 ns << class. Each class has an average of its own, that moves
 * by dt / T at each of its packets, as if the line had been used evenly since the
 * last one (exactly T for who is asked evenly, exponential otherwise). Of the first packet
 * for longer than T it is the plain mean since the last one, which is the only division.
 */
#ifndef FABRIC_LOAD_H
#define FABRIC_LOAD_H

#include "core/types.h"
#include "lib/load.h"

#define FABRIC_LOAD_CLASSES	(FL_LOAD_RTT_MAX + 1)
/* Loads are not counted further, << FL_LOAD_SHIFT. */
#define FABRIC_LOAD_TOP		(32ULL << FL_LOAD_SHIFT)
/* Neither are bytes. */
#define FABRIC_LOAD_BYTES_MAX	BIT_ULL(30)
/* Lines are not taken to be slower, bit/s. */
#define FABRIC_LOAD_BPS_MIN	1000000ULL
/* Fractional bits that per_byte has beside those of a load. */
#define FABRIC_LOAD_BYTE_SHIFT	16

/**
 * struct fabric_load_class - the load over one time
 * @at_ns: when it was last asked for
 * @bytes: what had been sent (power: had arrived) by then
 * @mean: average of that part of the load, << FL_LOAD_SHIFT; load: the queue's, too
 */
struct fabric_load_class {
	u64 at_ns;
	u64 bytes;
	u64 mean;
};

/**
 * struct fabric_load - a port's load
 * @rate_bps: of the line, bit/s; 0: off
 * @per_byte: load of a byte in the shortest time, << (FL_LOAD_SHIFT + 16); 0: off
 * @bytes: sent so far, bytes on the line
 * @power: told is power, not load
 * @of: by the number of the time
 */
struct fabric_load {
	u64 rate_bps;
	u64 per_byte;
	u64 bytes;
	bool power;
	struct fabric_load_class of[FABRIC_LOAD_CLASSES];
};

/**
 * fabric_load_set() - begin, or go on at another rate
 * @l: the load
 * @rate_bps: of the line, bit/s; 0: off
 * @power: tell power
 *
 * What was known is forgotten if it does not hold any more.
 */
static inline void fabric_load_set(struct fabric_load *l, u64 rate_bps, bool power)
{
	u64 per_byte = 0;

	/* 2^48 * 8e9 / (rate * 2^13), without overflow */
	if (rate_bps)
		per_byte = div64_u64((8ULL * NSEC_PER_SEC) << 31,
				     max_t(u64, rate_bps, FABRIC_LOAD_BPS_MIN)) << 4;
	if (per_byte == l->per_byte && power == l->power)
		return;
	memset(l, 0, sizeof(*l));
	l->rate_bps = rate_bps;
	l->per_byte = per_byte;
	l->power = power;
}

/* Load of bytes in the time of class @c, << FL_LOAD_SHIFT. */
static inline u64 fabric_load_of_bytes(const struct fabric_load *l, u64 bytes, u8 c)
{
	return mul_u64_u32_shr(l->per_byte, min_t(u64, bytes, FABRIC_LOAD_BYTES_MAX),
			       FABRIC_LOAD_BYTE_SHIFT + c);
}

/* Load of bytes in a time that is longer than that of any class asked for. */
static inline u64 fabric_load_since(const struct fabric_load *l, u64 bytes, u64 ns)
{
	int shift = max_t(s32, fls64(bytes) - 30, 0);
	u64 load = mul_u64_u32_shr(l->per_byte, bytes >> shift, FABRIC_LOAD_BYTE_SHIFT);

	load = div64_u64(load, max_t(u64, ns >> shift, 1));
	return min_t(u64, load, FABRIC_LOAD_TOP >> FL_LOAD_RTT_NS_SHIFT)
	       << FL_LOAD_RTT_NS_SHIFT;
}

/**
 * fabric_load_tell() - the load to tell a packet
 * @l: the load, on; what was sent is in it
 * @c: number of the packet's time, FL_LOAD_RTT_MAX at most
 * @queue_bytes: waiting
 * @now_ns: time, never before an earlier call's
 *
 * Return: load or power, << FL_LOAD_SHIFT, FABRIC_LOAD_TOP at most.
 */
static inline u64 fabric_load_tell(struct fabric_load *l, u8 c, u64 queue_bytes,
				   u64 now_ns)
{
	unsigned int time_shift = FL_LOAD_RTT_NS_SHIFT + c;
	struct fabric_load_class *k = &l->of[c];
	u64 bytes = l->bytes + (l->power ? queue_bytes : 0);
	u64 queue = min_t(u64, fabric_load_of_bytes(l, queue_bytes, c), FABRIC_LOAD_TOP);
	u64 add = l->power ? 0 : queue, dt_ns = now_ns - k->at_ns;
	u64 sent = bytes > k->bytes ? bytes - k->bytes : 0;

	if (dt_ns >> time_shift)
		k->mean = fabric_load_since(l, sent, dt_ns) + add;
	else
		k->mean += fabric_load_of_bytes(l, sent, c) +
			   mul_u64_u32_shr(add, dt_ns, time_shift) -
			   mul_u64_u32_shr(k->mean, dt_ns, time_shift);
	k->mean = min_t(u64, k->mean, FABRIC_LOAD_TOP);
	k->bytes = bytes;
	k->at_ns = now_ns;
	if (!l->power)
		return k->mean;
	return min_t(u64, k->mean + mul_u64_u32_shr(k->mean, queue >> 6, FL_LOAD_SHIFT - 6),
		     FABRIC_LOAD_TOP);
}

#endif /* FABRIC_LOAD_H */

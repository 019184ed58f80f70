// SPDX-License-Identifier: GPL-2.0
/*
 * What delays mean in Söze: equation 6 in binary logarithms, both ways, and its
 * parameters. What nearly all ACKs need of it is in soze.h. soze.c says how flows follow
 * it; (9) there is why T is a line only up to 22 times weight 1.
 */
#include "soze.h"

#define SZ_NS_PER_S		1000000000ULL

/* beta, if not given: alpha / 1000. */
#define SZ_BETA_PART		1000
/* p, if not given: what makes 4-flow queues of about two such delays. */
#define SZ_P_DEFAULT_NS		60000
/* ... but at least so many packets, since D moves by packets, ... */
#define SZ_P_PKTS		28
/* ... and so many base RTTs, << 8, if the network's is known, ... */
#define SZ_P_BASE_Q8		884
/* ... which must not lift D out of the telemetry's range. */
#define SZ_P_DERIVED_MAX_NS	700000
#define SZ_K_DEFAULT_NS		3000
#define SZ_K_PKTS_Q1		5	/* 2.5 packets */

/* A sender may exceed its line by this, log2: its own queue is never empty. */
#define SZ_LINE_EXTRA		(SZ_ONE / 32)
/* Octaves below alpha that a delay speaks of, (8), and that it does to a flow that
 * starts: with what the D of an incast means, nothing would be sent for long.
 */
#define SZ_TELLING		17
#define SZ_START_TELLING	10

/**
 * sz_log2() - binary logarithm
 * @x: a number; 0 counts as 1
 *
 * Return: log2(x) << SZ_SHIFT, exact to the last bit but one.
 */
s32 sz_log2(u64 x)
{
	int msb = x ? fls64(x) - 1 : 0;
	s32 l2 = msb;
	u64 y;
	int i;

	/* the mantissa in [1, 2), << 31: squaring it doubles its logarithm */
	y = msb > 31 ? x >> (msb - 31) : (x ?: 1) << (31 - msb);
	for (i = 0; i < SZ_SHIFT; i++) {
		y = (y * y) >> 31;
		l2 *= 2;
		if (y >> 32) {
			l2++;
			y >>= 1;
		}
	}
	return l2;
}

/* 2^((i + 1/2) / 64) << 30 */
const u32 sz_powers[] = {
	1079572136, 1091327906, 1103211687, 1115224875, 1127368878, 1139645120,
	1152055042, 1164600099, 1177281762, 1190101520, 1203060876, 1216161350,
	1229404479, 1242791816, 1256324931, 1270005413, 1283834865, 1297814910,
	1311947188, 1326233356, 1340675091, 1355274085, 1370032052, 1384950723,
	1400031848, 1415277195, 1430688553, 1446267730, 1462016553, 1477936870,
	1494030547, 1510299473, 1526745556, 1543370725, 1560176931, 1577166143,
	1594340357, 1611701585, 1629251865, 1646993254, 1664927835, 1683057710,
	1701385007, 1719911875, 1738640488, 1757573041, 1776711757, 1796058879,
	1815616678, 1835387448, 1855373507, 1875577199, 1896000896, 1916646992,
	1937517909, 1958616096, 1979944027, 2001504204, 2023299156, 2045331439,
	2067603638, 2090118366, 2112878262, 2135885998,
};

/* p of equation 6 from what is known of the network, ns. */
static u32 sz_derived_p_ns(const struct sz_conf *cf, u64 packet_ns)
{
	u64 p_ns = SZ_P_DEFAULT_NS;

	p_ns = max_t(u64, p_ns, SZ_P_PKTS * packet_ns);
	p_ns = max_t(u64, p_ns, min_t(u64, SZ_P_DERIVED_MAX_NS,
				      ((u64)cf->base_ns * SZ_P_BASE_Q8) >> 8));
	return min_t(u64, p_ns, SZ_P_MAX_NS);
}

/**
 * sz_par_init() - derive what the flows need from what is known
 * @par: result
 * @cf: what is known
 *
 * All flows that meet must have the same alpha, beta, p and k, as delays are the
 * language they speak with one another. Hence nothing is derived from what a
 * flow has measured. p: 60 us, at least 28 packets at alpha and 3.5 base RTTs
 * of the network; k: 3 us, at least 2.5 packets.
 *
 * Return: 0; -1 if something is out of range or beta not below alpha.
 */
int sz_par_init(struct sz_par *par, const struct sz_conf *cf)
{
	u64 alpha_bps = cf->alpha_mbps ? cf->alpha_mbps * 1000000ULL :
					 cf->line_bps;
	u64 packet_ns, beta_bps;
	u32 p_ns = cf->p_ns;
	s64 octaves;

	if (cf->line_bps < 1000000 || !cf->wire_bytes ||
	    cf->wire_bytes > 1 << 20 || cf->k_ns > SZ_K_MAX_NS ||
	    cf->alpha_mbps > SZ_RATE_MAX_MBPS)
		return -1;
	beta_bps = cf->beta_mbps ? cf->beta_mbps * 1000000ULL :
				   div_u64(alpha_bps, SZ_BETA_PART);
	packet_ns = div64_u64(cf->wire_bytes * 8 * SZ_NS_PER_S, alpha_bps);
	if (!p_ns)
		p_ns = sz_derived_p_ns(cf, packet_ns);
	octaves = (s64)sz_log2(alpha_bps) - sz_log2(beta_bps);
	if (beta_bps >= alpha_bps || octaves < SZ_ONE / 64 ||
	    p_ns < SZ_P_MIN_NS || p_ns > SZ_P_MAX_NS)
		return -1;

	par->slope = div_u64((u64)octaves << SZ_SLOPE_SHIFT, p_ns);
	par->octave_q8_ns = div64_u64((u64)p_ns << (SZ_SHIFT + 8), octaves);
	par->q_ns = div64_u64((u64)p_ns << SZ_SHIFT,
			      max_t(s64, sz_mul(octaves, SZ_LN2), 1));
	par->alpha_l2 = sz_log2(alpha_bps) - 3 * SZ_ONE;
	par->max_l2 = sz_log2(cf->line_bps) - 3 * SZ_ONE + SZ_LINE_EXTRA;
	par->packet_l2 = sz_log2(cf->wire_bytes * SZ_NS_PER_S);
	par->k_ns = cf->k_ns;
	if (!par->k_ns)
		par->k_ns = min_t(u64, SZ_K_MAX_NS,
				  max_t(u64, SZ_K_DEFAULT_NS,
					(SZ_K_PKTS_Q1 * packet_ns) >> 1));
	par->wire_bytes = cf->wire_bytes;
	par->zero_l2 = sz_target_rate_l2(par, 0);
	par->light_l2 = sz_target_rate_l2(par, par->k_ns >> 1);
	par->telling_ns = sz_target_delay_ns(par, par->alpha_l2 -
					     SZ_TELLING * SZ_ONE);
	par->start_ns = sz_target_delay_ns(par, par->alpha_l2 -
					   SZ_START_TELLING * SZ_ONE);
	return 0;
}

#define SZ_BENDS		3

/* (9): from @below octaves below alpha on, which stand for @queue times the delay
 * of an octave, T's slope is 2^@shift.
 */
static const struct {
	s32 below;
	s32 queue;
	int shift;
} sz_bends[] = {
	{ SZ_BEND, SZ_BEND, 1 },
	{ 14 * (SZ_ONE / 2), 19 * (SZ_ONE / 2), 2 },
	{ 23 * (SZ_ONE / 2), 55 * (SZ_ONE / 2), 3 },
};

/* Octaves below alpha to queue, from the first bend on. */
s64 sz_bend_far(s64 below)
{
	unsigned int i = 0;

	while (i < SZ_BENDS - 1 && below > sz_bends[i + 1].below)
		i++;
	return sz_bends[i].queue +
	       ((below - sz_bends[i].below) * (1 << sz_bends[i].shift));
}

/* Queue to octaves below alpha, likewise. */
s64 sz_unbend_far(s64 queue)
{
	unsigned int i = 0;

	while (i < SZ_BENDS - 1 && queue > sz_bends[i + 1].queue)
		i++;
	return sz_bends[i].below +
	       ((queue - sz_bends[i].queue) >> sz_bends[i].shift);
}

/**
 * sz_train_pkts() - how many packets may leave at once
 * @par: parameters
 *
 * On an empty line of alpha the packets of a train wait for each other. That is less than k/4,
 * which is an empty queue: else a light flow would take its own train for the queue of
 * heavier flows and stay at its share of alpha for ever, see (12) in soze.c.
 *
 * Return: packets, at least 1.
 */
u32 sz_train_pkts(const struct sz_par *par)
{
	u64 packet_ns = sz_exp2((s64)par->packet_l2 - par->alpha_l2);

	return 1 + div64_u64(par->k_ns >> SZ_EMPTY_SHIFT, max_t(u64, packet_ns, 1));
}

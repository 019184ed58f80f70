// SPDX-License-Identifier: GPL-2.0
/*
 * Swift's window control as a pure core.
 *
 * The delay of an ACK below the target increases the window additively, a
 * delay above it decreases the window in proportion to the excess, at most
 * once an RTT (Swift, Algorithm 1):
 *
 *	delay < target:  W += ai * acked / W	(W >= 1 packet)
 *			 W += ai * acked	(W <  1 packet)
 *	otherwise:	 W *= 1 - min(beta * (delay - target) / delay, max_mdf)
 *
 * Windows below one packet are allowed; the caller paces them. Target scaling
 * by flow count is separate (fl_swift_scaled_target()), because PrioPlus must
 * switch it off (PrioPlus, section 4.1).
 *
 * Swift divides its delay into a fabric and an endpoint part with two
 * windows. Kernel TCP sees one RTT, so there is one window here, which is
 * what the PrioPlus paper and its simulator use, too. Scaling by hops is separate
 * as well (fl_swift_hop_target()): a base RTT that each flow measures has its
 * path's length in it already.
 */
#include "lib/isqrt.h"
#include "swift.h"

static void swift_core_init(void *state, u64 now_ns)
{
	struct fl_swift_state *st = state;

	/* the first decrease needs no earlier one to wait for */
	st->dec_ns = now_ns - 1000000000ULL;
}

static void swift_on_ack(void *state, const struct fl_target *t, u64 *wnd,
			 const struct fl_sample *s)
{
	if (s->delay_ns)
		fl_swift_ack(state, t->target_ns, t->ai_wnd, t->min_wnd,
			     t->max_wnd, wnd, s);
}

static void swift_on_loss(void *state, const struct fl_target *t, u64 *wnd,
			  u64 now_ns, u32 rtt_ns, enum fl_loss how)
{
	struct fl_swift_state *st = state;

	if (how == FL_LOSS_FAST && !fl_swift_can_decrease(st, now_ns, rtt_ns))
		return;
	*wnd -= div_u64(*wnd * FL_SWIFT_MAX_MDF_PERMILLE, 1000);
	st->dec_ns = now_ns;
	*wnd = clamp_t(u64, *wnd, t->min_wnd, t->max_wnd);
}

const struct fl_original_ops fl_swift_ops = {
	.name = "swift",
	.init = swift_core_init,
	.on_ack = swift_on_ack,
	.on_loss = swift_on_loss,
};
EXPORT_SYMBOL_GPL(fl_swift_ops);

/**
 * fl_swift_scaled_target() - target delay for a window
 * @sc: scaling; sc->range_ns 0 = no scaling
 * @base_ns: target without scaling, ns
 * @wnd: window, packets << FL_WND_SHIFT
 *
 * Swift, section 3.2: t = base + max(0, min(alpha / sqrt(W) + beta, range))
 * with alpha = range / (1/sqrt(min) - 1/sqrt(max)), beta = -alpha / sqrt(max).
 *
 * Return: target in ns.
 */
u32 fl_swift_scaled_target(const struct fl_swift_scaling *sc, u32 base_ns,
			   u64 wnd)
{
	u64 inv_w, inv_min, inv_max, add;

	if (!sc->range_ns || sc->min_pkts_q8 >= sc->max_pkts_q8)
		return base_ns;
	/* 2^24 / sqrt(packets << 8), all three in the same unit */
	inv_w = (1 << 24) / max_t(u32, 1, fl_isqrt(wnd >> (FL_WND_SHIFT - 16)));
	inv_min = (1 << 24) / max_t(u32, 1, fl_isqrt((u64)sc->min_pkts_q8 << 8));
	inv_max = (1 << 24) / max_t(u32, 1, fl_isqrt((u64)sc->max_pkts_q8 << 8));
	if (inv_w <= inv_max || inv_min <= inv_max)
		return base_ns;
	add = div64_u64((u64)sc->range_ns * (inv_w - inv_max),
			inv_min - inv_max);
	return base_ns + min_t(u64, add, sc->range_ns);
}
EXPORT_SYMBOL_GPL(fl_swift_scaled_target);

/**
 * fl_swift_hop_target() - target delay for the length of a path
 * @target_ns: target without scaling by hops, ns
 * @hop_ns: what each hop adds, ns; 0 = nothing
 * @hops: links of the path; 0 = not known
 *
 * Swift, section 3.1, topology-based scaling: t = base + #hops * h.
 *
 * Return: target in ns, U32_MAX at most.
 */
u32 fl_swift_hop_target(u32 target_ns, u32 hop_ns, u32 hops)
{
	return min_t(u64, (u64)target_ns + (u64)hop_ns * hops, U32_MAX);
}
EXPORT_SYMBOL_GPL(fl_swift_hop_target);

/**
 * fl_hops_of_ttl() - links that a packet has passed
 * @ttl: TTL or hop limit that is left; 0 = not known
 *
 * Nobody tells what it was at first: hosts send 64 (Linux, BSD), 128 (Windows) or
 * 255 (routers), and no path is as long as from one of these to the next.
 *
 * Return: 1 where no router was between, at most 127; 0 = not known.
 */
u8 fl_hops_of_ttl(u8 ttl)
{
	u8 first = ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255;

	return ttl ? first - ttl + 1 : 0;
}
EXPORT_SYMBOL_GPL(fl_hops_of_ttl);

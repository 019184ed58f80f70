// SPDX-License-Identifier: GPL-2.0
/*
 * What a flow of Swift goes by: target, step and largest window, from the settings, the
 * socket's priority, the base RTT and the line rate.
 */
#include <linux/module.h>
#include <net/tcp.h>

#include "lib/channel.h"
#include "swift/swift_flow.h"

/* Largest BDP that there is room for, packets. */
#define SWIFT_BDP_MAX_PKTS	(BIT(20) - 1)

static struct fl_setting swift_setting_table[] = {
	FL_RESEARCH_SETTING(struct swift_settings, swift_target_ns, 0, 0, 1000000000),
	FL_RESEARCH_SETTING(struct swift_settings, swift_range_ns, 0, 0, 1000000000),
	FL_RESEARCH_SETTING(struct swift_settings, swift_hop_ns, 0, 0, 10000000),
};

struct fl_settings swift_table = {
	.owner = KBUILD_MODNAME,
	.table = swift_setting_table,
	.count = ARRAY_SIZE(swift_setting_table),
};

/* Derive target, step, BDP and trains from the profile. Context: socket lock held. */
void swift_configure(const struct sock *sk, struct swift *sw, const struct fl_profile *pf)
{
	u32 base_ns = fl_sock_base_rtt_ns(sw->fs, pf) ?: sw->base_ns;
	u32 add_ns = READ_ONCE(swift_of(pf)->swift_target_ns);
	u64 line_bps = fl_sock_line_bps(sk, sw->fs, pf, true);
	u32 wire = fl_wire_bytes(sk);
	u32 pkt_ns = fl_pkt_ns(line_bps, wire);
	u64 bdp;

	if (!add_ns)
		add_ns = fl_channel_ns(sw->prio, READ_ONCE(pf->fluct_ns), READ_ONCE(pf->noise_ns),
				       pkt_ns, base_ns);
	sw->target_ns = fl_swift_hop_target(base_ns + add_ns,
					    READ_ONCE(swift_of(pf)->swift_hop_ns),
					    sw->hops);
	sw->ai_wnd = div_u64((u64)READ_ONCE(pf->ai_bytes) << FL_WND_SHIFT,
			     wire);
	sw->gso_segs = fl_sock_gso_segs(sk, pf, line_bps);
	sw->given = !!fl_sock_base_rtt_ns(sw->fs, pf);
	sw->scaled = !!READ_ONCE(swift_of(pf)->swift_range_ns);
	sw->measures = !!READ_ONCE(pf->line_rate_measured);
	sw->drain.more = fl_drain_more(base_ns, pkt_ns);
	bdp = fl_ns_to_wnd(fl_ppn(line_bps, wire), base_ns);
	sw->bdp_pkts = clamp_t(u64, bdp >> FL_WND_SHIFT, 1, SWIFT_BDP_MAX_PKTS);
}

/* Of what swift_configure() looks at, all that changes with settings or the MSS. */
u32 swift_gen(const struct sock *sk, const struct swift *sw, const struct fl_profile *pf)
{
	return fl_settings_gen(sw->fs, pf) + tcp_sk(sk)->mss_cache * 0x85ebca6bU;
}

/* What a full packet takes on the line, ns: of two that leave at once the second waits for so long.
 * Context: socket lock held.
 */
u32 swift_pkt_ns(const struct sock *sk, const struct swift *sw)
{
	u64 line_bps = fl_sock_line_bps(sk, sw->fs, fl_profile_for(sk, sw->fs), true);

	return fl_pkt_ns(line_bps, fl_wire_bytes(sk));
}

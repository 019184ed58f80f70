/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A flow of Swift: what it keeps in the socket, and what the files of the module call.
 *
 *	tcp_swift.c		the callbacks; calls both others
 *	swift_path.c		what a flow finds out about its base RTT
 *	swift_configure.c	settings, and what follows from them; both others call it
 */
#ifndef SWIFT_FLOW_H
#define SWIFT_FLOW_H

#include <linux/types.h>

#include "fairlane/fl_drain.h"
#include "fairlane/fl_sock.h"
#include "swift/core/swift.h"

struct fl_tel;

/* Unit of the short times in struct swift, log2, ns: 16 us. */
#define SWIFT_LOW_SHIFT		14

/**
 * struct swift - what a flow keeps in the socket
 * @fs: settings of the socket
 * @tel: telemetry, for one-way delays; NULL = RTTs
 * @watch: telemetry, for the ACKs' TTL; NULL = nobody asks
 * @wnd: window, packets << FL_WND_SHIFT; 0 before the first ACK
 * @state: Swift's memory
 * @rtt: delay samples
 * @base_ns: smallest delay seen, as long as it is true (swift_longer()), ns
 * @low_ns: the delay that swift_longer() looks at, ns; 0: none
 * @low_at: since when, 2^SWIFT_LOW_SHIFT ns
 * @low_same: delays in a row that were that
 * @low_wait: dips that were answered, at most 15
 * @low_dip: a part of the window is held back
 * @late: what is known of late ACKs, FL_LATE_NOT and so on
 * @given: somebody has given the base RTT
 * @scaled: the target depends on the window
 * @guess: @base_ns is no measurement: the first delay replaces it
 * @target_ns: target delay without scaling, ns
 * @ai_wnd: additive increase, packets << FL_WND_SHIFT
 * @bdp_pkts: line rate times base RTT, packets, at least 1
 * @hops: the same as @gen, links of the path; 0 = not known
 * @prio: the same, the priority
 * @una: tp->snd_una at the last ACK
 * @gen: what these come from: settings and MSS, see swift_gen()
 * @look_at: when they were looked at last, 2^SWIFT_LOW_SHIFT ns
 * @drain: turns of the wall clock, at which all let the queue drain
 * @gso_segs: most segments in a packet
 * @measures: the flow measures the line rate
 */
struct swift {
	struct fl_sock *fs;
	struct fl_tel *tel;
	struct fl_tel *watch;
	u64 wnd;
	struct fl_swift_state state;
	struct fl_rtt rtt;
	u32 base_ns;
	u32 low_ns;
	u16 low_at;
	u8 low_same : 4;
	u8 low_wait : 4;
	u8 low_dip : 1;
	u8 late : 4;
	u8 given : 1;
	u8 scaled : 1;
	u8 guess : 1;
	u32 target_ns;
	u32 ai_wnd;
	u32 bdp_pkts : 20;
	u32 hops : 7;
	u32 prio : 5;
	u32 una;
	u32 gen;
	u16 look_at;
	struct fl_drain drain;
	u8 gso_segs : 7;
	u8 measures : 1;
};

/**
 * struct swift_settings - Swift's settings, /proc/sys/net/fairlane/
 * @swift_target_ns: target delay above the base RTT, ns; 0 = the PrioPlus channel
 *	of the socket's priority
 * @swift_range_ns: most that target scaling adds, ns; 0 = none
 * @swift_hop_ns: what each link of the path adds to the target, ns; 0 = nothing
 */
struct swift_settings {
	u32 swift_target_ns;
	u32 swift_range_ns;
	u32 swift_hop_ns;
};

extern struct fl_settings swift_table;

static inline const struct swift_settings *swift_of(const struct fl_profile *pf)
{
	return fl_profile_part(pf, &swift_table);
}

/* swift_configure.c */
void swift_configure(const struct sock *sk, struct swift *sw, const struct fl_profile *pf);
u32 swift_gen(const struct sock *sk, const struct swift *sw, const struct fl_profile *pf);
u32 swift_pkt_ns(const struct sock *sk, const struct swift *sw);

/* swift_path.c */
u64 swift_dip_wnd(u64 wnd);
bool swift_longer(struct sock *sk, struct swift *sw, const struct fl_sample *s, u32 target_ns,
		  u32 rtt_ns);
void swift_turn(struct sock *sk, struct swift *sw);
bool swift_drained(struct sock *sk, struct swift *sw, const struct fl_sample *s, u32 rtt_ns);

#endif /* SWIFT_FLOW_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fairlane.ko offers to the congestion control modules: settings of a
 * network namespace, line rates of devices, delay samples in nanoseconds.
 */
#ifndef FAIRLANE_H
#define FAIRLANE_H

#include <linux/types.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fl_setting.h"
#include "lib/base_rtt.h"
#include "lib/fl_cc.h"

/**
 * struct fl_profile - settings of a network namespace, /proc/sys/net/fairlane/
 * @line_rate_mbps: line rate of the bottleneck, Mbit/s; 0 = of the device
 *	that the socket sends through, 10 Gbit/s if that is unknown
 * @line_rate_measured: flows measure the line rate where @line_rate_mbps is 0
 * @base_rtt_ns: RTT of a full packet and its ACK without queues, ns; 0 =
 *	smallest RTT that the flow itself has seen
 * @fluct_ns: A of PrioPlus, section 4.3.2, ns
 * @noise_ns: B of PrioPlus, section 4.3.2, ns
 * @ai_bytes: additive increase of delay-based controls in an RTT, bytes on the line
 * @gso_segs: most segments in a packet that a flow sends; 0 = fl_sock_gso_segs(), or what the
 *	control knows better
 * @ss_compat: show state to ss as if it were BBR's
 * @telemetry: put in and reflect telemetry options, enum fl_tel_mode
 * @owd: delay-based controls steer by one-way delay where the path tells
 * @value: all settings by number: the fields above, then what congestion controls
 *	bring (fl_setting.h)
 * @gen: changes whenever one of the others does
 *
 * Read with READ_ONCE: settings change at any time.
 */
struct fl_profile {
	union {
		struct {
			u32 line_rate_mbps;
			u32 line_rate_measured;
			u32 base_rtt_ns;
			u32 fluct_ns;
			u32 noise_ns;
			u32 ai_bytes;
			u32 gso_segs;
			u32 ss_compat;
			u32 telemetry;
			u32 owd;
		};
		u32 value[FL_SETTINGS_MAX];
	};
	u32 gen;
};

/**
 * fl_profile_part() - the settings that a module brought, in a profile
 * @pf: the profile
 * @s: its registered table
 *
 * Context: any. Return: the struct that the table describes.
 */
static inline const void *fl_profile_part(const struct fl_profile *pf,
					  const struct fl_settings *s)
{
	return pf->value + s->first;
}

/* Line rate when neither the profile nor the device tells, bit/s. */
#define FL_LINE_DEFAULT_BPS	10000000000ULL
/* Fastest line rate that is told apart, Mbit/s. */
#define FL_LINE_MAX_MBPS	1600000
/* Bytes that Ethernet adds to an IP packet: header 14, preamble 8, FCS 4, gap 12 */
#define FL_LINE_OVERHEAD_BYTES	38

/* The settings of @net have changed. Context: RCU. */
typedef void fl_profile_watch_fn(struct net *net);
extern fl_profile_watch_fn __rcu *fl_profile_watch;

const struct fl_profile *fl_profile_get(const struct net *net);
bool fl_is_off(const struct net *net);

/* Generation of a profile; settings read after this are no older. */
static inline u32 fl_profile_gen(const struct fl_profile *pf)
{
	/* pairs with the release when a setting is written */
	return smp_load_acquire(&pf->gen);
}

u32 fl_device_mbps(const struct sock *sk);
u64 fl_line_bps(const struct sock *sk, const struct fl_profile *pf,
		bool measured, u8 *from);

/* Packets whose time of sending is remembered. */
#define FL_RTT_AHEAD		3
/* Packets sent again that are passed over in looking for these. */
#define FL_RTT_PASS_MAX		8
/* Delays from here on are all the same: the longest, us. 2^32 ns are 4.29 s. */
#define FL_RTT_MAX_US		4000000

/**
 * struct fl_rtt_sent - a packet in flight
 * @end_seq: its end
 * @sent_ns: when it was sent, the low half
 */
struct fl_rtt_sent {
	u32 end_seq;
	u32 sent_ns;
};

/**
 * struct fl_rtt - delay samples in ns, which kernel TCP keeps in us only
 * @sent: the first packets of the retransmit queue
 * @count: how many of them are known
 * @with_data: segments that had come with data at the last ACK, the low byte
 * @without: segments that had come without, the low half
 */
struct fl_rtt {
	struct fl_rtt_sent sent[FL_RTT_AHEAD];
	u8 count;
	u8 with_data;
	u16 without;
};

u32 fl_rtt_coarse(struct sock *sk, const struct rate_sample *rs);
u32 fl_rtt_most(const struct sock *sk, const struct fl_rtt *r, u32 rtt_ns);

/**
 * fl_rtt_sample() - RTT of the newest data that this ACK acknowledges
 * @sk: the socket
 * @r: what fl_rtt_remember() noted after the last ACK
 * @rs: the rate sample of this ACK
 *
 * See fl_rtt.c. Context: cong_control, socket lock held.
 * Return: ns; 0 if the ACK tells nothing (retransmitted data, nothing new).
 */
static inline u32 fl_rtt_sample(struct sock *sk, const struct fl_rtt *r,
				const struct rate_sample *rs)
{
	const struct fl_rtt_sent *p = r->sent + r->count;
	const struct tcp_sock *tp = tcp_sk(sk);
	s64 ns;

	if (unlikely(rs->rtt_us < 0 || !rs->acked_sacked))
		return 0;
	if (unlikely(rs->rtt_us >= FL_RTT_MAX_US))
		return fl_rtt_coarse(sk, rs);
	while (p-- != r->sent) {
		if (p->end_seq != tp->snd_una)
			continue;
		ns = (u32)tp->tcp_clock_cache - p->sent_ns;
		/* sent again since: it is another time that the stack knows */
		if (unlikely(tp->total_retrans) &&
		    abs(ns - (s64)rs->rtt_us * NSEC_PER_USEC) > NSEC_PER_USEC)
			break;
		return ns;
	}
	return fl_rtt_coarse(sk, rs);
}

/**
 * fl_ack_data() - how much data has an ACK come with?
 * @sk: the socket
 * @r: the same flow's
 *
 * Where both ends send, ACKs come with data, which takes its time on each link: no queue. Whether
 * the segment had data is what the stack has counted; how much, what the peer's segments mostly
 * have. Segments that waited for a process that had the socket were all counted before the first
 * of them is looked at, so ACKs with data may be taken for ones without then, but none without for
 * one with.
 * Context: cong_control, socket lock held. Return: bytes.
 */
static inline u32 fl_ack_data(const struct sock *sk, struct fl_rtt *r)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 with_data = tp->data_segs_in;
	u16 without = tp->segs_in - tp->data_segs_in;
	bool has = with_data != r->with_data && without == r->without;

	r->with_data = with_data;
	r->without = without;
	return unlikely(has) ? inet_csk(sk)->icsk_ack.rcv_mss : 0;
}

/**
 * fl_rtt_remember() - note when the packets next in line were sent
 * @sk: the socket
 * @r: where to note it
 *
 * RACK's list has what is in flight by time of sending, which is their order but
 * for packets that were sent again. Those are left out: an ACK of them tells
 * nothing. A peer can make it a whole window of them, so a few are passed over and no
 * more. Context: end of cong_control, socket lock held.
 */
static inline void fl_rtt_remember(struct sock *sk, struct fl_rtt *r)
{
	unsigned int pass = FL_RTT_PASS_MAX;
	struct fl_rtt_sent *p = r->sent;
	struct sk_buff *skb;

	list_for_each_entry(skb, &tcp_sk(sk)->tsorted_sent_queue,
			    tcp_tsorted_anchor) {
		if (unlikely(TCP_SKB_CB(skb)->sacked & TCPCB_EVER_RETRANS)) {
			if (!pass--)
				break;
			continue;
		}
		p->end_seq = TCP_SKB_CB(skb)->end_seq;
		p->sent_ns = skb->skb_mstamp_ns;
		if (++p == r->sent + FL_RTT_AHEAD)
			break;
	}
	r->count = p - r->sent;
}

/**
 * fl_rtt_first() - a flow sends that had nothing in flight
 * @sk: the socket
 * @r: where to note when, of a full packet
 *
 * Pacing moves the time of sending ahead, so that nobody could tell it afterwards.
 * Context: CA_EVENT_TX_START, socket lock held.
 */
static inline void fl_rtt_first(const struct sock *sk, struct fl_rtt *r)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	r->sent[0].end_seq = tp->snd_nxt + tp->mss_cache;
	r->sent[0].sent_ns = tp->tcp_wstamp_ns;
	r->count = 1;
}

/**
 * struct fl_base_rtt - base RTTs that a flow has measured or been told by others
 * @key: the path
 * @window: at the last fl_base_rtt_learn()
 * @data_ns: smallest delay of a full packet, ns; FL_BASE_NONE = none known
 * @probe_ns: the same of a probe
 * @held_ns: the path holds packets for up to this, ns (lib/hold.h)
 * @mss: bytes in a full packet, of @key
 * @turned: it is time to let the queue drain; for the caller to clear
 * @drain_shift: that is each time that so many ns of the wall clock turn, log2; 0 = a window's
 * @turn_ns: when it is next, monotonic ns, unless the clock is set
 */
struct fl_base_rtt {
	u64 turn_ns;
	u32 key;
	u32 window;
	u32 data_ns;
	u32 probe_ns;
	u32 held_ns;
	u16 mss;
	bool turned;
	u8 drain_shift;
};

void fl_base_rtt_start(struct sock *sk, struct fl_base_rtt *b);
bool fl_base_rtt_learn(struct sock *sk, struct fl_base_rtt *b, u64 now_ns,
		       u32 data_ns, u32 probe_ns);
void fl_base_rtt_drain(struct fl_base_rtt *b, u8 shift);
void fl_base_rtt_tell_longer(struct sock *sk, const struct fl_base_rtt *b,
			     u32 probe_ns);
void fl_base_rtt_tell_held(struct sock *sk, const struct fl_base_rtt *b, u32 held_ns);
u32 fl_base_rtt_longer(const struct sock *sk, const struct fl_base_rtt *b);

/* Receivers wait at least so long for a second packet before they acknowledge one, ns. */
#define FL_DELACK_NS		(40U * NSEC_PER_MSEC)

/**
 * fl_wire_bytes() - a full packet of a connection on the line, bytes
 * @sk: an established TCP socket; caller holds its lock
 */
static inline u32 fl_wire_bytes(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 ip = inet_csk(sk)->icsk_af_ops->net_header_len;

	return tp->mss_cache + tp->tcp_header_len + ip + FL_LINE_OVERHEAD_BYTES;
}

/**
 * fl_acked_bytes() - how much data does an ACK acknowledge?
 * @sk: the socket; caller holds its lock
 * @una: tp->snd_una at the last call, updated
 */
static inline u32 fl_acked_bytes(const struct sock *sk, u32 *una)
{
	u32 bytes = tcp_sk(sk)->snd_una - *una;

	*una += bytes;
	return bytes;
}

/**
 * fl_full_packets() - does an ACK tell of full packets only?
 * @sk: the socket; caller holds its lock
 * @bytes: what the ACK acknowledges, fl_acked_bytes()
 * @acked_pkts: the same in packets
 *
 * The base RTT is that of a full packet: a short one (a request, the last of a
 * message, a FIN) takes less time on each link, and with its RTT as the base,
 * full packets would always seem to wait.
 */
static inline bool fl_full_packets(const struct sock *sk, u32 bytes, u32 acked_pkts)
{
	return acked_pkts && bytes >= (u64)acked_pkts * tcp_sk(sk)->mss_cache;
}

/**
 * fl_set_wnd() - put a window of whole packets and a pacing rate into a socket
 * @tp: the socket; caller holds its lock
 * @pkts: window, packets
 * @rate: pacing rate, bytes a second; ~0UL = nothing is paced
 *
 * Both no more than what the socket's owner allows.
 */
static inline void fl_set_wnd(struct tcp_sock *tp, u64 pkts, unsigned long rate)
{
	struct sock *sk = (struct sock *)tp;
	u32 allowed_pkts = min_t(u64, pkts, tp->snd_cwnd_clamp);

	fl_snd_cwnd_set(tp, clamp_t(u32, allowed_pkts, 1, S32_MAX));
	rate = min_t(unsigned long, rate, READ_ONCE(sk->sk_max_pacing_rate));
	if (READ_ONCE(sk->sk_pacing_rate) != rate)
		WRITE_ONCE(sk->sk_pacing_rate, rate);
}

/**
 * fl_send_soon() - have the stack send what a new window lets it, where no ACK will do it
 * @sk: the socket; caller holds its lock
 *
 * The stack's own pacing timer does it: it looks who owns the socket.
 */
static inline void fl_send_soon(struct sock *sk)
{
	if (hrtimer_is_queued(&tcp_sk(sk)->pacing_timer))
		return;
	sock_hold(sk);
	hrtimer_start(&tcp_sk(sk)->pacing_timer, 0,
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * fl_apply_wnd() - put a window into a socket
 * @sk: the socket; caller holds its lock
 * @wnd: window, packets << FL_WND_SHIFT, above 0
 * @extra_pkts: packets to allow beyond it
 * @rtt_ns: time in which the window is sent, ns
 *
 * From one packet on, the ACKs clock it out and nothing is paced. Below, cwnd
 * is 1 and pacing makes the gaps.
 */
static inline void fl_apply_wnd(struct sock *sk, u64 wnd, u32 extra_pkts,
				u32 rtt_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 pkts = wnd >> FL_WND_SHIFT;
	unsigned long rate = ~0UL;

	if (!pkts) {
		pkts = 1;
		/* bytes in the window * 10^9 / RTT in ns; stays below 2^60 */
		wnd = (((wnd * tp->mss_cache) >> 4) * 1000000) >>
		      (FL_WND_SHIFT - 4);
		rate = max_t(u64, 1000, div_u64(wnd * 1000,
						max_t(u32, rtt_ns, 1000)));
	}
	fl_set_wnd(tp, pkts + extra_pkts, rate);
}

/**
 * fl_unpace() - let nothing pace a socket but its owner's SO_MAX_PACING_RATE
 * @sk: the socket; caller holds its lock
 *
 * For controls that set no rate. The stack lowers the rate with SO_MAX_PACING_RATE and leaves it to
 * the control to raise it again, so this is repeated.
 */
static inline void fl_unpace(struct sock *sk)
{
	unsigned long rate = READ_ONCE(sk->sk_max_pacing_rate);

	if (READ_ONCE(sk->sk_pacing_rate) != rate)
		WRITE_ONCE(sk->sk_pacing_rate, rate);
}

/**
 * fl_pace_wnd() - spread a window over a time
 * @sk: the socket, after fl_apply_wnd(); caller holds its lock
 * @wnd: window, packets << FL_WND_SHIFT, below 2^34 packets
 * @rtt_ns: the time, ns, at least 1
 *
 * Windows below a packet are paced already. Context: ACK.
 */
static inline void fl_pace_wnd(struct sock *sk, u64 wnd, u32 rtt_ns)
{
	u64 bytes;

	if (wnd < FL_WND_ONE)
		return;
	/* no more than can be multiplied by 10^9 */
	bytes = min_t(u64, U32_MAX, mul_u64_u32_shr(wnd, tcp_sk(sk)->mss_cache,
						    FL_WND_SHIFT));
	WRITE_ONCE(sk->sk_pacing_rate,
		   min_t(u64, div_u64(bytes * NSEC_PER_SEC, rtt_ns),
			 READ_ONCE(sk->sk_max_pacing_rate)));
}

/**
 * fl_wnd_bps() - the rate of a window
 * @wnd: window, packets << FL_WND_SHIFT, below 2^48
 * @mss: bytes of a packet
 * @rtt_ns: the time that it takes, ns, at least 1
 *
 * No TCP has more than 2^30 bytes in flight. Return: bit/s.
 */
static inline u64 fl_wnd_bps(u64 wnd, u32 mss, u32 rtt_ns)
{
	u64 bytes = min_t(u64, mul_u64_u32_shr(wnd, mss, FL_WND_SHIFT), BIT(30));

	return div_u64(bytes * 8 * NSEC_PER_SEC, rtt_ns);
}

/* Segments in a packet as the socket's route allows: what sk_setup_caps() sets.
 * Context: socket lock held.
 */
static inline u32 fl_route_gso_segs(struct sock *sk)
{
	const struct dst_entry *dst;
	u32 segs = sk->sk_gso_max_segs;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst && sk_can_gso(sk))
		segs = max_t(u32, READ_ONCE(dst->dev->gso_max_segs), 1);
	rcu_read_unlock();
	return segs;
}

/**
 * fl_net_stays() - is the socket's namespace there as long as the socket?
 * @sk: the socket
 *
 * A socket of the kernel's own may hold no reference on its namespace. When it is closed the stack
 * stops its timers for that reason, and ours must send nothing either. Context: any.
 */
static inline bool fl_net_stays(const struct sock *sk)
{
	return sk->sk_net_refcnt || !sock_flag(sk, SOCK_DEAD);
}

/**
 * fl_smaller_path() - a flow sends that had nothing in flight: has its path a smaller MTU?
 * @sk: the socket; caller holds its lock
 *
 * What another flow was told of an MTU makes the route of this one stale. The stack notices that by
 * a packet that is too large already and does not leave, and sends what fits with the next ACK.
 * Without one to come it would wait for a timer, of 200 ms. Context: CA_EVENT_TX_START.
 */
static inline void fl_smaller_path(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 mtu = dst ? dst_mtu(dst) : 0;

	if (inet_csk(sk)->icsk_af_ops->rebuild_header(sk))
		return;
	dst = __sk_dst_get(sk);
	if (unlikely(dst && dst_mtu(dst) < mtu))
		fl_send_soon(sk);
}

/**
 * fl_take_over() - prepare a socket for delay-based control
 * @sk: the socket; caller holds its lock
 * @gso_segs: most segments in a packet
 *
 * Bursts of one flow are delay for all, so packets stay small. The route
 * restores the limit now and then (sk_setup_caps()), so this is repeated.
 */
static inline void fl_take_over(struct sock *sk, u32 gso_segs)
{
	if (sk->sk_gso_max_segs != gso_segs)
		sk->sk_gso_max_segs = min_t(u32, gso_segs,
					    fl_route_gso_segs(sk));
	if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NONE)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE,
			SK_PACING_NEEDED);
}

/**
 * fl_give_back() - leave a socket as the next congestion control expects it
 * @sk: the socket; caller holds its lock
 *
 * Undoes fl_take_over() and the pacing rate. Who has set SO_MAX_PACING_RATE
 * wants pacing from any control.
 */
static inline void fl_give_back(struct sock *sk)
{
	unsigned long rate = READ_ONCE(sk->sk_max_pacing_rate);

	sk->sk_gso_max_segs = fl_route_gso_segs(sk);
	WRITE_ONCE(sk->sk_pacing_rate, rate);
	if (rate == ~0UL)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED,
			SK_PACING_NONE);
}

/**
 * fl_cc_register() - a module brings a congestion control and its settings
 * @ops: the control
 * @s: its settings
 *
 * Context: process, module load. Return: 0 or a negative errno, then neither is there.
 */
static inline int fl_cc_register(struct tcp_congestion_ops *ops,
				 struct fl_settings *s)
{
	int err = fl_settings_register(s);

	if (err)
		return err;
	err = tcp_register_congestion_control(ops);
	if (err)
		fl_settings_unregister(s);
	return err;
}

/* Takes both away. No socket has the control any more. Context: module unload. */
static inline void fl_cc_unregister(struct tcp_congestion_ops *ops,
				    struct fl_settings *s)
{
	tcp_unregister_congestion_control(ops);
	fl_settings_unregister(s);
}

int fl_profile_init(void);
void fl_profile_exit(void);
int fl_speed_init(void);
void fl_speed_exit(void);
int fl_base_rtt_init(void);
void fl_base_rtt_exit(void);

#endif /* FAIRLANE_H */

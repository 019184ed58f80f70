// SPDX-License-Identifier: GPL-2.0
/*
 * sch_fabric: telemetry, written into TCP options when service begins.
 *
 * Only the sender puts an option into a segment; a port only changes values in
 * it, and only upwards, so the segment keeps its length and a port that is not
 * the slowest costs a look. The checksum follows each change: incrementally if
 * it is complete, not at all if the device still has to make it.
 */
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "fabric.h"
#include "core/opt.h"
#include "lib/load.h"
#include "lib/telemetry.h"

#define FABRIC_INT_UNIT_SHIFT	8	/* hop latency in 256 ns */
#define FABRIC_INT_LATENCY_MAX	0xffffff
#define FABRIC_INT_QUEUE_SHIFT	13	/* queue depth in 8192 bytes */
#define FABRIC_INT_QUEUE_MAX	0x7f

/* A plain header: no IP options, the delay's or the load's option first of TCP's. */
#define FABRIC_IPV4_PLAIN	0x45
#define FABRIC_PLAIN_BYTES	(FABRIC_TCP_MIN_BYTES + FL_TELEMETRY_BYTES)
#define FABRIC_SOZE_WORD	((u32)FL_TELEMETRY_KIND << 24 | \
				 FL_TELEMETRY_BYTES << 16 | FL_TELEMETRY_EXID)
#define FABRIC_LOAD_WORD	((u32)FL_TELEMETRY_KIND << 24 | \
				 FL_TELEMETRY_BYTES << 16 | FL_LOAD_EXID)

static const struct fabric_opt fabric_soze_option = {
	.kind = FL_TELEMETRY_KIND,
	.bytes = FL_TELEMETRY_BYTES,
	.exid = FL_TELEMETRY_EXID,
};

static const struct fabric_opt fabric_load_option = {
	.kind = FL_TELEMETRY_KIND,
	.bytes = FL_TELEMETRY_BYTES,
	.exid = FL_LOAD_EXID,
};

static const struct fabric_opt fabric_int_option = {
	.kind = FL_TCP_INT_KIND,
	.bytes = FL_TCP_INT_BYTES,
};

/* Replaces the aligned 16-bit word at @word of a TCP header at @th, which may be
 * written.
 */
static void fabric_replace_word(struct sk_buff *skb, u8 *th, int word,
				u16 value)
{
	struct tcphdr *tcp = (struct tcphdr *)th;
	__be16 old, new = htons(value);

	memcpy(&old, th + word, sizeof(old));
	if (old == new)
		return;
	inet_proto_csum_replace2(&tcp->check, skb, old, new, false);
	memcpy(th + word, &new, sizeof(new));
}

/* Replaces the byte at @at. Words count from the start of the header. */
void fabric_replace_byte(struct sk_buff *skb, u8 *th, int at, u8 value)
{
	int word = at & ~1;
	u16 old = th[word] << 8 | th[word + 1];

	if (at & 1)
		fabric_replace_word(skb, th, word, (old & 0xff00) | value);
	else
		fabric_replace_word(skb, th, word, (old & 0x00ff) | value << 8);
}

/* Makes the TCP header writable. Return: it, NULL if out of memory. */
u8 *fabric_writable(struct sk_buff *skb, int offset, int bytes)
{
	if (skb_ensure_writable(skb, offset + bytes))
		return NULL;
	return skb->data + offset;
}

/* The delay that the port reports, if it holds one. */
static __always_inline u32 fabric_stamp_hold(struct fabric_stamp *stamp, u64 delay_ns, u64 now_ns)
{
	u32 delay = min_t(u64, delay_ns, U32_MAX);

	if (!stamp->hold_ns)
		return delay;
	if (now_ns - stamp->since_ns >= stamp->hold_ns) {
		stamp->held_ns = delay;
		stamp->since_ns = now_ns;
	}
	return stamp->held_ns;
}

/* The delay that the port reports: filtered, held, rounded. */
static u64 fabric_stamp_value(struct fabric_stamp *stamp, u64 delay_ns,
			      u64 now_ns)
{
	u32 delay = min_t(u64, delay_ns, U32_MAX);

	if (stamp->tau_ns) {
		delay = fabric_smooth(stamp->value_ns, delay,
				      now_ns - stamp->last_ns, stamp->tau_ns);
		stamp->value_ns = delay;
		stamp->last_ns = now_ns;
	}
	delay = fabric_stamp_hold(stamp, delay, now_ns);
	if (stamp->round_ns) {
		delay = fabric_round(stamp->told_ns, delay, stamp->round_ns);
		stamp->told_ns = delay;
		delay = fabric_round_middle(delay, stamp->round_ns);
	}
	return delay;
}

/* Raises the delay in our option at @at. Return: FABRIC_STAMPED_*. */
static int fabric_stamp_soze(struct sk_buff *skb, int offset, int bytes,
			     const u8 *option, int at, u64 delay_ns)
{
	u16 value = fl_tel_units(delay_ns);
	u8 *th;

	if (value <= (option[4] << 8 | option[5]))
		return FABRIC_STAMPED_SEEN;
	th = fabric_writable(skb, offset, bytes);
	if (!th)
		return FABRIC_STAMPED_SEEN;
	/* An option at an odd place straddles two words. */
	fabric_replace_byte(skb, th, at + 4, value >> 8);
	fabric_replace_byte(skb, th, at + 5, value & 0xff);
	return FABRIC_STAMPED_RAISED;
}

/* Where TCP begins if everything is as it is in nearly all packets: headers in one
 * piece, no IP options, no fragment. Return: it, or NULL: look closer.
 */
static __always_inline u8 *fabric_plain_tcp(struct sk_buff *skb)
{
	int left = skb_headlen(skb) - skb_network_offset(skb);
	u8 *ip = skb_network_header(skb);

	if (ip < skb->data ||
	    left < (int)sizeof(struct iphdr) + FABRIC_PLAIN_BYTES)
		return NULL;
	if (skb->protocol == htons(ETH_P_IP)) {
		if (ip[0] != FABRIC_IPV4_PLAIN ||
		    ip[offsetof(struct iphdr, protocol)] != IPPROTO_TCP ||
		    ip_is_fragment((struct iphdr *)ip))
			return NULL;
		return ip + sizeof(struct iphdr);
	}
	if (skb->protocol != htons(ETH_P_IPV6) || ip[0] >> 4 != 6 ||
	    ip[offsetof(struct ipv6hdr, nexthdr)] != IPPROTO_TCP ||
	    left < (int)sizeof(struct ipv6hdr) + FABRIC_PLAIN_BYTES)
		return NULL;
	return ip + sizeof(struct ipv6hdr);
}

/* An option that begins with @word at the front of a plain TCP header, or NULL: look
 * closer.
 */
static __always_inline u8 *fabric_plain_option(struct sk_buff *skb, u32 word)
{
	u8 *th = fabric_plain_tcp(skb);

	if (!th || get_unaligned_be32(th + FABRIC_TCP_MIN_BYTES) != word ||
	    th[12] >> 4 < FABRIC_PLAIN_BYTES / 4)
		return NULL;
	return th + FABRIC_TCP_MIN_BYTES;
}

/* Replaces the option's first number. Return: FABRIC_STAMPED_RAISED, or -1: look
 * closer.
 */
static __always_inline int fabric_plain_put(struct sk_buff *skb, u8 *option, u16 value)
{
	u8 *th = option - FABRIC_TCP_MIN_BYTES;
	__be16 old = get_unaligned((__be16 *)(option + 4)), new = htons(value);

	if (skb_cloned(skb) &&
	    !skb_clone_writable(skb, th + FABRIC_PLAIN_BYTES - skb->data))
		return -1;
	/* if the device has to complete it, or has added it up, nothing changes */
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		csum_replace2(&((struct tcphdr *)th)->check, old, new);
	put_unaligned(new, (__be16 *)(option + 4));
	return FABRIC_STAMPED_RAISED;
}

/* Söze's option at the front of a plain TCP header. Return: FABRIC_STAMPED_*, or
 * -1: look closer.
 */
static __always_inline int fabric_stamp_plain(struct sk_buff *skb, u64 delay_ns)
{
	u16 value = fl_tel_units(delay_ns);
	u8 *option = fabric_plain_option(skb, FABRIC_SOZE_WORD);

	if (!option)
		return -1;
	if (value <= get_unaligned_be16(option + 4))
		return FABRIC_STAMPED_SEEN;
	return fabric_plain_put(skb, option, value);
}

/* The load that the port tells a packet, as the option's number. */
static u16 fabric_load_value(struct fabric_sched *q, u8 class, u64 now_ns)
{
	struct fabric_stamp *stamp = &q->stamp;
	u16 code = fl_load_code(fabric_load_tell(&q->load, class,
						 q->waiting_bytes - q->apart_bytes,
						 now_ns));

	if (!stamp->hold_ns)
		return code;
	if (now_ns - stamp->since_ns >= stamp->hold_ns) {
		stamp->held_ns = code;
		stamp->since_ns = now_ns;
	}
	return stamp->held_ns;
}

/* What the load's option is to hold in the place of @old. Return: it, @old if that
 * stays.
 */
static u16 fabric_load_raise(struct fabric_sched *q, u16 old, u64 now_ns)
{
	u16 value;

	if (fl_load_type(old) != FL_LOAD_OPEN)
		return old;
	value = fabric_load_value(q, fl_load_time(old), now_ns);
	if (value <= (old & FL_LOAD_MAX))
		return old;
	return (old & ~FL_LOAD_MAX) | value;
}

/* Raises the load in our option at the front of a plain TCP header. Return: likewise. */
static int fabric_load_plain(struct fabric_sched *q, struct sk_buff *skb, u64 now_ns)
{
	u8 *option = fabric_plain_option(skb, FABRIC_LOAD_WORD);
	u16 old, new;

	if (!option)
		return -1;
	old = get_unaligned_be16(option + 4);
	new = fabric_load_raise(q, old, now_ns);
	return new == old ? FABRIC_STAMPED_SEEN : fabric_plain_put(skb, option, new);
}

/* Likewise at @at of any TCP header. */
static int fabric_stamp_load(struct fabric_sched *q, struct sk_buff *skb, int offset,
			     int bytes, const u8 *option, int at, u64 now_ns)
{
	u16 old = option[4] << 8 | option[5], new = fabric_load_raise(q, old, now_ns);
	u8 *th;

	if (new == old)
		return FABRIC_STAMPED_SEEN;
	th = fabric_writable(skb, offset, bytes);
	if (!th)
		return FABRIC_STAMPED_SEEN;
	fabric_replace_byte(skb, th, at + 4, new >> 8);
	fabric_replace_byte(skb, th, at + 5, new & 0xff);
	return FABRIC_STAMPED_RAISED;
}

/* Adds this hop to a TCP-INT option at @at. Return: FABRIC_STAMPED_*. */
static int fabric_stamp_int(struct sk_buff *skb, int offset, int bytes,
			    const u8 *option, int at, u64 delay_ns,
			    u32 queue_bytes, u8 ttl)
{
	u32 old = option[5] << 16 | option[6] << 8 | option[7];
	u64 sum = min_t(u64, old + (delay_ns >> FABRIC_INT_UNIT_SHIFT),
			FABRIC_INT_LATENCY_MAX);
	u8 depth = 0x80 | min_t(u32, queue_bytes >> FABRIC_INT_QUEUE_SHIFT,
				FABRIC_INT_QUEUE_MAX);
	bool deeper = depth > option[3] || !option[4];
	u8 *th;

	if (!deeper && sum == old)
		return FABRIC_STAMPED_SEEN;
	th = fabric_writable(skb, offset, bytes);
	if (!th)
		return FABRIC_STAMPED_SEEN;
	if (deeper) {
		fabric_replace_byte(skb, th, at + 3, depth);
		fabric_replace_byte(skb, th, at + 4, ttl);
	}
	fabric_replace_byte(skb, th, at + 5, sum >> 16);
	fabric_replace_byte(skb, th, at + 6, sum >> 8 & 0xff);
	fabric_replace_byte(skb, th, at + 7, sum & 0xff);
	return FABRIC_STAMPED_RAISED;
}

/* Packets that are not as nearly all are, or of another option. Return: FABRIC_STAMPED_*. */
static noinline int fabric_stamp_search(struct fabric_sched *q,
					const struct fabric_band *band,
					struct sk_buff *skb, u64 value_ns, u64 now_ns)
{
	static const struct fabric_opt * const wanted[__FABRIC_STAMP_MAX] = {
		[FABRIC_STAMP_SOZE] = &fabric_soze_option,
		[FABRIC_STAMP_TCP_INT] = &fabric_int_option,
		[FABRIC_STAMP_LOAD] = &fabric_load_option,
		[FABRIC_STAMP_POWER] = &fabric_load_option,
	};
	u8 buffer[FABRIC_TCP_MAX_BYTES];
	int version, offset, bytes, at;
	const union fabric_ip *ip;
	union fabric_ip header;
	const u8 *th;

	ip = fabric_find_tcp(skb, &header, &version, &offset);
	if (!ip)
		return FABRIC_STAMPED_NOT_TCP;
	th = skb_header_pointer(skb, offset, FABRIC_TCP_MIN_BYTES, buffer);
	bytes = th ? fabric_tcp_bytes(th) : FABRIC_OPT_MALFORMED;
	if (bytes > 0)
		th = skb_header_pointer(skb, offset, bytes, buffer);
	if (bytes < 0 || !th)
		return FABRIC_STAMPED_MALFORMED;
	at = fabric_opt_find(th, bytes, wanted[q->stamp.kind]);
	if (at <= 0)
		return at ? FABRIC_STAMPED_MALFORMED : FABRIC_STAMPED_NO_OPTION;
	switch (q->stamp.kind) {
	case FABRIC_STAMP_SOZE:
		return fabric_stamp_soze(skb, offset, bytes, th + at, at, value_ns);
	case FABRIC_STAMP_TCP_INT:
		return fabric_stamp_int(skb, offset, bytes, th + at, at, value_ns,
					band->fifo.bytes,
					version == 4 ? ip->v4.ttl : ip->v6.hop_limit);
	default:
		return fabric_stamp_load(q, skb, offset, bytes, th + at, at, now_ns);
	}
}

/* Counts what fabric_stamp_packet() did: what was changed was seen, too. */
static __always_inline void fabric_stamp_count(u64 *count, int result)
{
	if (result == FABRIC_STAMPED_RAISED)
		count[FABRIC_STAMPED_SEEN]++;
	count[result]++;
}

/* Any stamp in any packet. */
static noinline void fabric_stamp_any(struct fabric_sched *q, const struct fabric_band *band,
				      struct sk_buff *skb, u64 delay_ns, u64 now_ns)
{
	u64 value_ns = 0;
	int result = -1;

	if (fabric_stamps_load(&q->stamp)) {
		q->load.bytes += fabric_wire_bytes(q, skb);
		result = fabric_load_plain(q, skb, now_ns);
	} else {
		value_ns = fabric_stamp_value(&q->stamp, delay_ns, now_ns);
		if (likely(q->stamp.kind == FABRIC_STAMP_SOZE))
			result = fabric_stamp_plain(skb, value_ns);
	}
	if (unlikely(result < 0))
		result = fabric_stamp_search(q, band, skb, value_ns, now_ns);
	fabric_stamp_count(q->stamp.count, result);
}

/**
 * fabric_stamp_packet() - write what the packet met here into its option
 * @q: the port
 * @band: the packet's band, without it
 * @skb: the packet
 * @delay_ns: its queueing delay
 * @now_ns: time
 *
 * Söze's stamp in a plain packet is raised without a call, so no register has to be saved. What
 * is not so is looked at again: a delay that is held is then the same.
 */
void fabric_stamp_packet(struct fabric_sched *q, const struct fabric_band *band,
			 struct sk_buff *skb, u64 delay_ns, u64 now_ns)
{
	struct fabric_stamp *stamp = &q->stamp;
	int result;

	if (likely(stamp->kind == FABRIC_STAMP_SOZE && !stamp->tau_ns && !stamp->round_ns)) {
		result = fabric_stamp_plain(skb, fabric_stamp_hold(stamp, delay_ns, now_ns));
		if (likely(result >= 0)) {
			fabric_stamp_count(stamp->count, result);
			return;
		}
	}
	fabric_stamp_any(q, band, skb, delay_ns, now_ns);
}

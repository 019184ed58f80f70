// SPDX-License-Identifier: GPL-2.0
/*
 * The telemetry option in segments: put in on the way out, read on the way in.
 *
 * Out (LOCAL_OUT): a segment with data of a socket that wants telemetry gets the
 * option with a delay of 0, which switches raise; any segment of a socket that
 * has heard a delay since it last told gets the echo. The option goes to the
 * very front, so that switches find it at a fixed place; large segments are cut
 * later and each piece has a copy. Left out of SYN and RST, of signed traffic,
 * where 40 bytes of options are full (SACK blocks), and where the packet would
 * exceed the MTU: sockets that only reflect reserve no room before that.
 *
 * In (LOCAL_IN): of the packets that the stack would take, too: checksum right,
 * sequence and acknowledgment within the window. skb->sk is not always there
 * (list receive skips early demux), so the socket is looked up, and left in
 * the packet for TCP: the look-up is moved, not doubled.
 *
 * Everything is done without the socket lock.
 *
 * fl_hook.c says when a namespace has these hooks.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "compat/compat.h"
#include "fairlane.h"
#include "fl_option.h"
#include "fl_telemetry.h"
#include "lib/telemetry.h"

/* Longest packet whose length the IP header tells. */
#define FL_OPTION_LEN_MAX	65535

/* What lies at the front of a TCP header's options, as a word: one of our options but for
 * the bit that says which, and what nearly all segments have that lack it: time stamps,
 * and nothing else.
 */
#define FL_OPTION_WORD		((u32)FL_TELEMETRY_KIND << 24 | \
				 FL_TELEMETRY_BYTES << 16 | FL_TELEMETRY_EXID)
#define FL_OPTION_STAMP_WORD	(TCPOPT_NOP << 24 | TCPOPT_NOP << 16 | \
				 TCPOPT_TIMESTAMP << 8 | TCPOLEN_TIMESTAMP)
#define FL_OPTION_STAMP_BYTES	(FL_TCP_MIN_BYTES + TCPOLEN_TSTAMP_ALIGNED)
#define FL_OPTION_FRONT_MIN_BYTES (FL_TCP_MIN_BYTES + FL_TELEMETRY_BYTES)

/* So many timeouts in a row, and the option is left out: the first may be loss. */
#define FL_OPTION_TIMEOUTS	2

/* Headers without IP options are moved by words; how their IP header begins. */
#define FL_OPTION_FRONT_BYTES	(sizeof(struct iphdr) + FL_TCP_MIN_BYTES)
#define FL_OPTION_IPV4_PLAIN	0x45

/* Another module that has an option of its own, NULL = none is loaded. */
static const struct fl_option_user __rcu *fl_option_user;

/**
 * fl_option_register() - a module has an option of its own
 * @user: its functions; static
 *
 * Context: process. Return: 0, or -EBUSY: there is one already.
 */
int fl_option_register(const struct fl_option_user *user)
{
	return cmpxchg((const struct fl_option_user __force **)&fl_option_user,
		       NULL, user) ? -EBUSY : 0;
}
EXPORT_SYMBOL_GPL(fl_option_register);

/* The opposite. None of the functions runs afterwards. Context: process. */
void fl_option_unregister(const struct fl_option_user *user)
{
	RCU_INIT_POINTER(fl_option_user, NULL);
	synchronize_net();
}
EXPORT_SYMBOL_GPL(fl_option_unregister);

/* Is the option with this first word the other module's? Context: RCU. */
static bool fl_option_is_other(u32 word, const struct fl_option_user **user)
{
	*user = rcu_dereference(fl_option_user);
	return *user && word >> 24 == FL_TELEMETRY_KIND &&
	       (u16)word == (*user)->exid;
}

/* Does the namespace take part? Context: any. */
static bool fl_option_wanted(const struct fl_tel_net *tn)
{
	return READ_ONCE(tn->profile->telemetry);
}

/* Bytes of the IP header if TCP follows at once, else 0. */
static int fl_option_ip_bytes(const struct sk_buff *skb, u8 pf)
{
	if (pf == NFPROTO_IPV4) {
		const struct iphdr *ip = ip_hdr(skb);

		return ip->protocol == IPPROTO_TCP ? ip->ihl * 4 : 0;
	}
	return ipv6_hdr(skb)->nexthdr == IPPROTO_TCP ?
	       sizeof(struct ipv6hdr) : 0;
}

/* Is there room: in the TCP header, in the packet's length, on the path? */
static bool fl_option_fits(const struct sk_buff *skb, const struct sock *sk,
			   int ip_bytes, int tcp_bytes)
{
	return tcp_bytes <= FL_TCP_MAX_BYTES - FL_TELEMETRY_BYTES &&
	       skb->len <= FL_OPTION_LEN_MAX - FL_TELEMETRY_BYTES &&
	       fl_option_path_has_room(skb, sk, ip_bytes + tcp_bytes, FL_TELEMETRY_BYTES);
}

/* Is the first word of a header's options that of one of ours? */
static bool fl_option_is_ours(u32 word)
{
	return (word & ~(u32)FL_TEL_FORMAT_MASK) == FL_OPTION_WORD;
}

/* Is the first option, with this word, one that a packet got here? Context: RCU. */
static bool fl_option_is_taken(u32 word)
{
	const struct fl_option_user *user;

	return word >> 24 == FL_TELEMETRY_KIND &&
	       (fl_option_is_ours(word) || fl_option_is_other(word, &user));
}

/* Moves headers to the front by the option's length, one word after the other, from the front
 * on: of a loop the compiler would make a call of memmove().
 */
static __always_inline void fl_option_forward(u8 *from)
{
	u64 *at = (u64 *)from;

	BUILD_BUG_ON(sizeof(u64) != FL_TELEMETRY_BYTES);
	BUILD_BUG_ON(5 * sizeof(u64) != FL_OPTION_FRONT_BYTES);
	put_unaligned(get_unaligned(at), at - 1);
	put_unaligned(get_unaligned(at + 1), at);
	put_unaligned(get_unaligned(at + 2), at + 1);
	put_unaligned(get_unaligned(at + 3), at + 2);
	put_unaligned(get_unaligned(at + 4), at + 3);
}

/* Opens the gap after the fixed part of the TCP header. @plain: headers may be written, there is
 * room before them, and they are FL_OPTION_FRONT_BYTES. Return: it, or NULL.
 */
static __always_inline u8 *fl_option_insert(struct sk_buff *skb, u8 pf, int ip_bytes, bool plain)
{
	int front = ip_bytes + FL_TCP_MIN_BYTES;
	u8 *from, *to;

	if (!plain && unlikely(skb_cow_head(skb, FL_TELEMETRY_BYTES)))
		return NULL;
	from = skb->data;
	to = __skb_push(skb, FL_TELEMETRY_BYTES);
	if (plain || front == FL_OPTION_FRONT_BYTES)
		fl_option_forward(from);
	else
		memmove(to, from, front);
	fl_option_fix(skb, (struct tcphdr *)(to + ip_bytes), pf,
		      FL_TELEMETRY_BYTES);
	return to + front;
}

/* Nothing has been acknowledged for some timeouts in a row: perhaps the path eats
 * segments with the option. So this one goes without, and so do all if it never
 * brought an echo.
 */
static noinline unsigned int fl_option_eaten(struct fl_tel_net *tn, struct fl_tel *tel)
{
	fl_tel_add(tn, FL_TEL_EATEN);
	if (!READ_ONCE(tel->echoes))
		WRITE_ONCE(tel->sending, false);
	return NF_ACCEPT;
}

/* Which option goes into a segment, there is room for one: the one that the socket's
 * control wants in its data, else that of the echo that is due. If they differ they take
 * turns. Context: LOCAL_OUT.
 */
static enum fl_tel_format fl_option_choose(struct fl_tel *tel, bool data, bool fresh)
{
	u8 own = READ_ONCE(tel->format), heard = READ_ONCE(tel->heard_format);
	bool tell = !data || !READ_ONCE(tel->sending);

	if (!fresh)
		return own;
	if (likely(tell || own == heard))
		return heard;
	tell = !READ_ONCE(tel->told);
	WRITE_ONCE(tel->told, tell);
	return tell ? heard : own;
}

/* Puts down an option, as fl_tel_put() does, by words. */
static __always_inline void fl_option_put(u8 *at, enum fl_tel_format format, u16 delay, u16 echo)
{
	put_unaligned_be32(FL_OPTION_WORD | format, at);
	put_unaligned_be16(delay, at + 4);
	put_unaligned_be16(echo, at + 6);
}

/* Writes a socket's option. @fresh: there is something to tell. Return: is there an echo in it? */
static __always_inline bool fl_option_write(struct fl_tel *tel, u8 *at, bool data, bool fresh)
{
	enum fl_tel_format format = fl_option_choose(tel, data, fresh);
	u16 told = READ_ONCE(tel->heard);

	fresh = fresh && format == READ_ONCE(tel->heard_format);
	if (fresh)
		WRITE_ONCE(tel->fresh, false);
	if (likely(format == FL_TEL_DELAY))
		fl_option_put(at, FL_TEL_DELAY, 0, fresh ? told : FL_TELEMETRY_NO_ECHO);
	else
		fl_option_put(at, FL_TEL_LOAD, (u16)READ_ONCE(tel->rtt) << FL_LOAD_RTT_SHIFT,
			      fresh ? FL_LOAD_ECHO << FL_LOAD_TYPE_SHIFT | told :
				      FL_LOAD_NONE << FL_LOAD_TYPE_SHIFT);
	return fresh;
}

/* A segment goes without, for want of room. If it was the path's, a socket that has something to
 * tell leaves room from now on: where it sends without pause its peer would hear next to nothing.
 * Its lock is held by who sends the packet. One that has waited, for a program that was asked
 * (NFQUEUE) or in the queue of a VRF's device, holds its route; TCP only lends it.
 */
static noinline unsigned int fl_option_left_out(struct fl_tel_net *tn, const struct sk_buff *skb,
						struct sock *sk, struct fl_tel *tel, int tcp_bytes,
						bool fresh)
{
	fl_tel_add(tn, FL_TEL_NO_ROOM);
	if (fresh && tcp_bytes <= FL_TCP_MAX_BYTES - FL_TELEMETRY_BYTES && skb_dst_is_noref(skb))
		fl_tel_make_room(sk, tel);
	return NF_ACCEPT;
}

static unsigned int fl_option_add_any(struct sk_buff *skb, struct sock *sk, struct fl_tel_net *tn,
				      struct fl_tel *tel, u8 pf);

/* Is a packet that leaves as nearly all are: TCP after an IPv4 header without options, in a
 * place of its own with room before it?
 */
static __always_inline bool fl_option_is_plain(const struct sk_buff *skb, u8 pf)
{
	return pf == NFPROTO_IPV4 && *skb->data == FL_OPTION_IPV4_PLAIN &&
	       ((const struct iphdr *)skb->data)->protocol == IPPROTO_TCP &&
	       !skb_header_cloned(skb) && skb_headroom(skb) >= FL_TELEMETRY_BYTES;
}

/* A segment of a socket that sends telemetry or has something to tell. @plain: the packet
 * is as nearly all are, or fl_option_add_any() shall do it: with no call but in its place this
 * needs no register to be saved.
 */
static __always_inline unsigned int fl_option_add(struct sk_buff *skb, struct sock *sk,
						  struct fl_tel_net *tn, struct fl_tel *tel,
						  u8 pf, bool plain)
{
	int ip_bytes = plain ? (int)sizeof(struct iphdr) : fl_option_ip_bytes(skb, pf);
	bool fresh = READ_ONCE(tel->fresh);
	struct tcphdr *th;
	int tcp_bytes;
	bool data;
	u8 *at;

	if (plain && unlikely(!fl_option_is_plain(skb, pf)))
		return fl_option_add_any(skb, sk, tn, tel, pf);
	if (!ip_bytes || !fl_option_wanted(tn) ||
	    skb->ip_summed != CHECKSUM_PARTIAL ||
	    skb_headlen(skb) < ip_bytes + FL_TCP_MIN_BYTES)
		return NF_ACCEPT;
	th = (struct tcphdr *)(skb->data + ip_bytes);
	tcp_bytes = th->doff * 4;
	data = skb->len > ip_bytes + tcp_bytes;
	if (tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_RST) ||
	    !(fresh || data) || fl_tel_signed(sk))
		return NF_ACCEPT;
	if (unlikely(inet_csk(sk)->icsk_retransmits >= FL_OPTION_TIMEOUTS))
		return fl_option_eaten(tn, tel);
	/* a VRF's device sends a packet through this hook, and the stack once more; what another
	 * module sends of its own has its option at the front, where the peer looks for it
	 */
	if (unlikely(tcp_bytes >= FL_OPTION_FRONT_MIN_BYTES &&
		     fl_option_is_taken(get_unaligned_be32(th + 1))))
		return NF_ACCEPT;
	if (unlikely(!fl_option_fits(skb, sk, ip_bytes, tcp_bytes)))
		return fl_option_left_out(tn, skb, sk, tel, tcp_bytes, fresh);
	at = fl_option_insert(skb, plain ? NFPROTO_IPV4 : pf, ip_bytes, plain);
	if (!plain && unlikely(!at))
		return fl_option_left_out(tn, skb, sk, tel, tcp_bytes, fresh);
	if (fl_option_write(tel, at, data, fresh))
		fl_tel_add(tn, FL_TEL_ECHOED);
	if (data)
		fl_tel_add(tn, FL_TEL_SENT);
	return NF_ACCEPT;
}

static noinline unsigned int fl_option_add_any(struct sk_buff *skb, struct sock *sk,
					       struct fl_tel_net *tn, struct fl_tel *tel, u8 pf)
{
	return fl_option_add(skb, sk, tn, tel, pf, false);
}

/* A packet of a socket that has no telemetry or not at its place, or of another module's, or of no
 * TCP socket.
 */
static noinline unsigned int fl_option_out_any(struct fl_tel_net *tn, struct sk_buff *skb,
					       const struct nf_hook_state *state)
{
	const struct fl_option_user *user = rcu_dereference(fl_option_user);
	struct sock *sk = skb->sk;
	struct fl_tel *tel;

	if (!sk || !sk_fullsock(sk) || sk->sk_protocol != IPPROTO_TCP)
		return NF_ACCEPT;
	tel = fl_tel_lookup(sk);
	if (tel && (READ_ONCE(tel->fresh) || READ_ONCE(tel->sending)))
		fl_option_add_any(skb, sk, tn, tel, state->pf);
	if (unlikely(user && atomic_read(user->sockets)))
		user->out(skb, sk, state, fl_option_ip_bytes(skb, state->pf));
	return NF_ACCEPT;
}

/* What has telemetry is a TCP socket, so the entry is looked for first. */
static unsigned int fl_option_out(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	const struct fl_option_user *user = rcu_dereference(fl_option_user);
	struct sock *sk = skb->sk;
	struct fl_tel *tel = READ_ONCE(*fl_tel_place(sk));

	if (unlikely(!tel || tel->sk != sk || (user && atomic_read(user->sockets))))
		return fl_option_out_any(priv, skb, state);
	if (!READ_ONCE(tel->sending) && !READ_ONCE(tel->fresh))
		return NF_ACCEPT;
	return fl_option_add(skb, sk, priv, tel, state->pf, true);
}

/* The packet's socket, found as TCP would. Context: RCU. */
static noinline struct sock *fl_option_find(struct sk_buff *skb,
					    const struct tcphdr *th,
					    const struct nf_hook_state *state)
{
	struct net *net = state->net;
	struct sock *sk;

	if (state->pf == NFPROTO_IPV4) {
		const struct iphdr *ip = ip_hdr(skb);

		sk = __inet_lookup_established(FL_LOOKUP_IN(net), ip->saddr,
					       th->source, ip->daddr,
					       ntohs(th->dest), skb->skb_iif,
					       inet_sdif(skb));
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		const struct ipv6hdr *ip = ipv6_hdr(skb);

		sk = __inet6_lookup_established(FL_LOOKUP_IN(net), &ip->saddr,
						th->source, &ip->daddr,
						ntohs(th->dest),
						inet6_iif(skb),
						inet6_sdif(skb));
#else
	} else {
		return NULL;
#endif
	}
	if (!sk)
		return NULL;
	skb->sk = sk;
	skb->destructor = sock_edemux;
	return sk;
}

/* Is it a connection, which may have telemetry? */
static __always_inline bool fl_option_connected(const struct sock *sk)
{
	return sk && (1 << READ_ONCE(sk->sk_state)) & ~(TCPF_TIME_WAIT | TCPF_NEW_SYN_RECV |
							TCPF_LISTEN) &&
	       sk->sk_protocol == IPPROTO_TCP;
}

/* Would TCP take it? Numbers may be old by a packet: the window is wide. An acknowledgment may be
 * of a packet that is just being sent, which is not in snd_nxt yet: where both ends are on one host
 * the answer comes from within the sending.
 */
static noinline bool fl_option_in_wide_window(const struct sock *sk,
					      const struct tcphdr *th)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 nxt = READ_ONCE(tp->rcv_nxt), seq = ntohl(th->seq);
	u32 wnd = max_t(u32, READ_ONCE(tp->rcv_wnd), 65536);
	u32 ack = ntohl(th->ack_seq);

	return th->ack && !after(seq, nxt + wnd) && !before(seq, nxt - wnd) &&
	       !after(ack, READ_ONCE(tp->write_seq)) &&
	       !before(ack, READ_ONCE(tp->snd_una) -
			    max_t(u32, READ_ONCE(tp->max_window), 65536));
}

/* Likewise: nearly all segments are the next, and acknowledge what is in flight. */
static __always_inline bool fl_option_is_next(const struct sock *sk, const struct tcphdr *th)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 una = READ_ONCE(tp->snd_una);

	return tcp_flag_word(th) & TCP_FLAG_ACK && ntohl(th->seq) == READ_ONCE(tp->rcv_nxt) &&
	       ntohl(th->ack_seq) - una <= READ_ONCE(tp->snd_nxt) - una;
}

/**
 * fl_option_in_window() - does a segment belong to its connection?
 * @sk: the connection's socket
 * @th: the segment's header
 *
 * Are its numbers such that TCP would take it, or would have, a window before? Context: any.
 */
bool fl_option_in_window(const struct sock *sk, const struct tcphdr *th)
{
	return likely(fl_option_is_next(sk, th)) || fl_option_in_wide_window(sk, th);
}
EXPORT_SYMBOL_GPL(fl_option_in_window);

/**
 * struct fl_option_said - what an option with a load says
 * @met: load that the segment has met
 * @echo: load of the peer's
 * @open: @met has a meaning
 * @echoes: so has @echo
 * @near: @met is the load of the way to the border router
 * @tells: @echo is the rate that the far one asks for
 */
struct fl_option_said {
	u16 met;
	u16 echo;
	bool open;
	bool echoes;
	bool near;
	bool tells;
};

/* What the option with a load says: words of types that are not known have no meaning. */
static void fl_option_read(struct fl_option_said *said, const u8 *at)
{
	u16 met = fl_tel_delay(at), echo = fl_tel_echo(at);

	said->open = fl_load_type(met) == FL_LOAD_OPEN;
	said->near = fl_load_type(met) == FL_LOAD_CLOSED;
	said->met = met & (said->near ? FL_LOAD_TELL_MAX : FL_LOAD_MAX);
	said->echoes = fl_load_type(echo) == FL_LOAD_ECHO;
	said->tells = fl_load_type(echo) == FL_LOAD_TELL;
	said->echo = echo & (said->tells ? FL_LOAD_TELL_MAX : FL_LOAD_MAX);
}

/* What border routers say to a socket that wants loads. They write it into what goes to the
 * sender of data: in a segment with data the forward word is about that data.
 */
static void fl_option_take_border(struct fl_tel *tel, const struct fl_option_said *said,
				  bool data)
{
	if (READ_ONCE(tel->format) != FL_TEL_LOAD)
		return;
	if (said->near && !data) {
		WRITE_ONCE(tel->near, said->met);
		WRITE_ONCE(tel->nears, tel->nears + 1);
	}
	if (said->tells) {
		WRITE_ONCE(tel->tell, said->echo);
		WRITE_ONCE(tel->tells, tel->tells + 1);
	}
}

/* Takes in what data has met: it is told to the peer. */
static __always_inline void fl_option_hear(struct fl_tel *tel, struct fl_tel_net *tn, u16 met,
					   enum fl_tel_format format)
{
	WRITE_ONCE(tel->heard, met);
	WRITE_ONCE(tel->heard_format, format);
	WRITE_ONCE(tel->fresh, true);
	fl_tel_add(tn, FL_TEL_HEARD);
}

/* Takes in an echo, and what the segment has met that brought it. */
static __always_inline void fl_option_learn(struct fl_tel *tel, struct fl_tel_net *tn, u16 met,
					    u16 echo, enum fl_tel_format format)
{
	if (format != READ_ONCE(tel->format))
		return;
	WRITE_ONCE(tel->queue, echo);
	WRITE_ONCE(tel->back, met);
	WRITE_ONCE(tel->echoes, tel->echoes + 1);
	fl_tel_add(tn, FL_TEL_ECHOES);
}

/* Takes in an option with a delay, all of whose numbers have a meaning. @data: it came with
 * data.
 */
static __always_inline void fl_option_take_delay(struct fl_tel *tel, struct fl_tel_net *tn,
						 const u8 *at, bool data)
{
	u16 met = min_t(u16, get_unaligned_be16(at + 4), FL_TELEMETRY_MAX);
	u16 echo = get_unaligned_be16(at + 6);

	if (data)
		fl_option_hear(tel, tn, met, FL_TEL_DELAY);
	if (echo != FL_TELEMETRY_NO_ECHO)
		fl_option_learn(tel, tn, met, echo, FL_TEL_DELAY);
}

/* Takes in any option. */
static noinline unsigned int fl_option_take(struct fl_tel *tel, struct fl_tel_net *tn,
					    const u8 *at, bool data)
{
	struct fl_option_said said;

	if (fl_tel_format(at) == FL_TEL_DELAY) {
		fl_option_take_delay(tel, tn, at, data);
		return NF_ACCEPT;
	}
	fl_option_read(&said, at);
	if (data && said.open)
		fl_option_hear(tel, tn, said.met, FL_TEL_LOAD);
	if (said.echoes)
		fl_option_learn(tel, tn, said.met, said.echo, FL_TEL_LOAD);
	if (unlikely(said.near || said.tells))
		fl_option_take_border(tel, &said, data);
	return NF_ACCEPT;
}

/* Likewise for a socket of which it is not known whether it has an entry. One whose
 * congestion control does not use it gets an entry only where all are to reflect.
 */
static void fl_option_take_for(struct sock *sk, struct fl_tel_net *tn, const u8 *at, bool data)
{
	struct fl_tel *tel = fl_tel_lookup(sk);

	if (unlikely(!tel)) {
		if (data && READ_ONCE(tn->profile->telemetry) == FL_TEL_ALL)
			tel = fl_tel_make(sk);
		if (!tel)
			return;
	}
	fl_option_take(tel, tn, at, data);
}

static noinline bool fl_option_csum_made_ok(struct sk_buff *skb, u8 pf,
					    int ip_bytes)
{
	if (pf == NFPROTO_IPV4)
		return !nf_ip_checksum(skb, NF_INET_LOCAL_IN, ip_bytes,
				       IPPROTO_TCP);
	return !nf_ip6_checksum(skb, NF_INET_LOCAL_IN, ip_bytes, IPPROTO_TCP);
}

/* Mostly the device has looked at it, or GRO. */
static __always_inline bool fl_option_csum_ok(struct sk_buff *skb, u8 pf,
					      int ip_bytes)
{
	return likely(skb_csum_unnecessary(skb)) ||
	       fl_option_csum_made_ok(skb, pf, ip_bytes);
}

/* A malformed option has come. */
static noinline void fl_option_bad(struct sk_buff *skb, struct fl_tel_net *tn,
				   const struct nf_hook_state *state,
				   int ip_bytes, const struct tcphdr *th)
{
	struct fl_tel *tel;
	struct sock *sk;

	if (!fl_option_wanted(tn))
		return;
	fl_tel_add(tn, FL_TEL_BAD);
	if (!fl_option_csum_ok(skb, state->pf, ip_bytes))
		return;
	sk = skb->sk ?: fl_option_find(skb, th, state);
	tel = fl_option_connected(sk) ? fl_tel_lookup(sk) : NULL;
	if (tel && READ_ONCE(tel->bad) != U16_MAX)
		WRITE_ONCE(tel->bad, tel->bad + 1);
}

/* A segment has our option at @at. */
static void fl_option_heard(struct sk_buff *skb, struct fl_tel_net *tn,
			    const struct nf_hook_state *state, int ip_bytes,
			    const struct tcphdr *th, int at)
{
	struct sock *sk;

	if (!fl_option_wanted(tn) ||
	    !fl_option_csum_ok(skb, state->pf, ip_bytes))
		return;
	sk = skb->sk ?: fl_option_find(skb, th, state);
	if (!fl_option_connected(sk))
		return;
	if (likely(fl_option_in_window(sk, th)))
		fl_option_take_for(sk, tn, (const u8 *)th + at,
				   skb->len > ip_bytes + th->doff * 4);
	else
		fl_tel_add(tn, FL_TEL_STRAY);
}

/* The first option is another module's. The same is asked of the packet as of
 * telemetry.
 */
static noinline unsigned int
fl_option_other(const struct fl_option_user *user, struct sk_buff *skb,
		const struct nf_hook_state *state, int ip_bytes)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + ip_bytes);
	unsigned int verdict;
	struct sock *sk;

	if (th->doff * 4 < FL_OPTION_FRONT_MIN_BYTES ||
	    skb_headlen(skb) < ip_bytes + th->doff * 4 ||
	    !fl_option_csum_ok(skb, state->pf, ip_bytes))
		return NF_ACCEPT;
	sk = skb->sk ?: fl_option_find(skb, th, state);
	if (!fl_option_connected(sk))
		return NF_ACCEPT;
	/* a program that was asked (NFQUEUE) passes its packets on in its own context */
	local_bh_disable();
	verdict = user->in(skb, sk, state, ip_bytes, fl_option_in_window(sk, th));
	local_bh_enable();
	return verdict;
}

/* Options that are not as in nearly all segments. */
static noinline void fl_option_search(struct sk_buff *skb,
				      struct fl_tel_net *tn,
				      const struct nf_hook_state *state,
				      int ip_bytes)
{
	u8 buffer[FL_TCP_MAX_BYTES];
	const struct tcphdr *th;
	int bytes, at;

	th = skb_header_pointer(skb, ip_bytes, FL_TCP_MIN_BYTES, buffer);
	if (!th || tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_RST))
		return;
	bytes = th->doff * 4;
	if (bytes <= FL_TCP_MIN_BYTES)
		return;
	th = skb_header_pointer(skb, ip_bytes, bytes, buffer);
	if (!th)
		return;
	at = fl_tel_find((const u8 *)th, bytes);
	if (at == FL_TEL_MALFORMED)
		fl_option_bad(skb, tn, state, ip_bytes, th);
	else if (at != FL_TEL_NONE)
		fl_option_heard(skb, tn, state, ip_bytes, th, at);
}

/* Some sockets want to know how far their peers are. */
static noinline void fl_option_ttl(struct sk_buff *skb,
				   const struct nf_hook_state *state,
				   int ip_bytes)
{
	u8 ttl = state->pf == NFPROTO_IPV4 ? ip_hdr(skb)->ttl :
					     ipv6_hdr(skb)->hop_limit;
	u8 buffer[FL_TCP_MIN_BYTES];
	const struct tcphdr *th;
	struct fl_tel *tel;
	struct sock *sk;

	th = skb_header_pointer(skb, ip_bytes, FL_TCP_MIN_BYTES, buffer);
	if (!th || tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_RST))
		return;
	sk = skb->sk ?: fl_option_find(skb, th, state);
	tel = fl_option_connected(sk) ? fl_tel_lookup(sk) : NULL;
	if (!tel || !READ_ONCE(tel->watched) || READ_ONCE(tel->ttl) == ttl ||
	    !fl_option_in_window(sk, th) ||
	    !fl_option_csum_ok(skb, state->pf, ip_bytes))
		return;
	WRITE_ONCE(tel->ttl, ttl);
}

/* Segments that are not as nearly all are. */
static noinline unsigned int fl_option_in_any(void *priv, struct sk_buff *skb,
					      const struct nf_hook_state *state)
{
	int ip_bytes = fl_option_ip_bytes(skb, state->pf);
	const struct fl_option_user *user;
	const struct tcphdr *th;
	u32 word;

	if (!ip_bytes) {
		fl_message_in(skb, priv, state);
		return NF_ACCEPT;
	}
	if (unlikely(atomic_read(&fl_tel_watched)))
		fl_option_ttl(skb, state, ip_bytes);
	th = (const struct tcphdr *)(skb->data + ip_bytes);
	if (unlikely(skb_headlen(skb) < ip_bytes + FL_OPTION_FRONT_MIN_BYTES)) {
		fl_option_search(skb, priv, state, ip_bytes);
		return NF_ACCEPT;
	}
	word = get_unaligned_be32(th + 1);
	if (word == FL_OPTION_STAMP_WORD && th->doff == FL_OPTION_STAMP_BYTES / 4)
		return NF_ACCEPT;
	if (fl_option_is_ours(word) && th->doff >= FL_OPTION_FRONT_MIN_BYTES / 4 &&
	    !(tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_RST)))
		fl_option_heard(skb, priv, state, ip_bytes, th,
				FL_TCP_MIN_BYTES);
	else if (!fl_option_is_other(word, &user) ||
		 tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_RST))
		fl_option_search(skb, priv, state, ip_bytes);
	else
		return fl_option_other(user, skb, state, ip_bytes);
	return NF_ACCEPT;
}

/* Nearly all segments have our option at the front, or time stamps and nothing
 * else, in one piece; a right checksum, a socket with telemetry at its place, and they
 * are the next. What is not so is looked at again: so nothing is called in between, and
 * no register has to be saved.
 */
static unsigned int fl_option_in(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;
	struct fl_tel_net *tn = priv;
	const struct tcphdr *th;
	struct sock *sk = skb->sk;
	struct fl_tel *tel;
	bool data;
	u32 word;

	if (unlikely(skb_headlen(skb) < sizeof(*ip) + FL_OPTION_FRONT_MIN_BYTES ||
		     state->pf != NFPROTO_IPV4 || *(const u8 *)ip != FL_OPTION_IPV4_PLAIN ||
		     ip->protocol != IPPROTO_TCP || atomic_read(&fl_tel_watched)))
		return fl_option_in_any(priv, skb, state);
	th = (const struct tcphdr *)(ip + 1);
	word = get_unaligned_be32(th + 1);
	if (word == FL_OPTION_STAMP_WORD && th->doff == FL_OPTION_STAMP_BYTES / 4)
		return NF_ACCEPT;
	tel = READ_ONCE(*fl_tel_place(sk));
	/* what has telemetry is a TCP socket, but it may listen now */
	if (unlikely(!fl_option_is_ours(word) || th->doff < FL_OPTION_FRONT_MIN_BYTES / 4 ||
		     tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_RST) || !tel || tel->sk != sk ||
		     READ_ONCE(sk->sk_state) == TCP_LISTEN || !skb_csum_unnecessary(skb) ||
		     !fl_option_wanted(tn) || !fl_option_is_next(sk, th)))
		return fl_option_in_any(priv, skb, state);
	data = skb->len > sizeof(*ip) + th->doff * 4;
	if (word != FL_OPTION_WORD)
		return fl_option_take(tel, tn, (const u8 *)(th + 1), data);
	fl_option_take_delay(tel, tn, (const u8 *)(th + 1), data);
	return NF_ACCEPT;
}

/* Last on the way out, so that no rule sees what is not there yet; first on the
 * way in would be before rules that drop.
 */
const struct nf_hook_ops fl_option_hooks[FL_TEL_HOOKS] = {
	{
		.hook = fl_option_out,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	}, {
		.hook = fl_option_in,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook = fl_option_out,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP6_PRI_LAST,
	}, {
		.hook = fl_option_in,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
#endif
};

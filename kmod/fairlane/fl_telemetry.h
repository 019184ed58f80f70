/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telemetry of sockets: what they have heard, what they have to tell.
 * Documentation/reference/telemetry.rst.
 */
#ifndef FL_TELEMETRY_H
#define FL_TELEMETRY_H

#include <linux/fairlane.h>
#include <linux/hash.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/workqueue.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "lib/load.h"
#include "lib/owd.h"
#include "lib/telemetry.h"

/* Entries that are found without the table; a power of two. */
#define FL_TEL_NEAR_SHIFT	12

/* Netfilter hooks of a namespace: out and in, of each IP. */
#define FL_TEL_HOOKS		(IS_ENABLED(CONFIG_IPV6) ? 4 : 2)

/* The setting telemetry of a namespace. */
enum fl_tel_mode {
	FL_TEL_OFF,	/* nothing is sent, read or reflected */
	FL_TEL_OWN,	/* of sockets whose congestion control wants it */
	FL_TEL_ALL,	/* and what comes to any other socket is reflected */
	__FL_TEL_MODES,
};

/* Counters of a network namespace, /proc/net/fairlane_telemetry. */
enum fl_tel_count {
	FL_TEL_SENT,		/* options put into segments with data */
	FL_TEL_ECHOED,		/* ... and with an echo, any segment */
	FL_TEL_NO_ROOM,		/* left out: options or packet would be too long */
	FL_TEL_SIGNED,		/* left out: TCP-MD5 or TCP-AO */
	FL_TEL_HEARD,		/* options on data that came */
	FL_TEL_ECHOES,		/* echoes that came */
	FL_TEL_BAD,		/* malformed options that came */
	FL_TEL_STRAY,		/* came outside of the window: not believed */
	FL_TEL_NO_MEMORY,	/* not reflected: no memory */
	FL_TEL_FALLBACKS,	/* flows that went on without telemetry */
	FL_TEL_EATEN,		/* left out: perhaps the path eats such segments */
	FL_TEL_MESSAGES,	/* border routers' messages taken */
	FL_TEL_COUNTS,
};

/**
 * struct fl_tel_counts - counters of a processor
 * @n: by enum fl_tel_count
 */
struct fl_tel_counts {
	u64 n[FL_TEL_COUNTS];
};

/**
 * struct fl_tel_net - telemetry of a network namespace
 * @profile: its settings
 * @counts: by processor
 * @net: the namespace; this and what follows is fl_hook.c's
 * @hooks: they are given this
 * @users: sockets that need the hooks
 * @asked_until_jiffies: somebody wants them until then
 * @hooked: the hooks are registered; written by @work
 * @closing: the namespace goes: @work is not queued any more
 * @closing_lock: of @closing
 * @work: brings @hooked to where it should be
 */
struct fl_tel_net {
	const struct fl_profile *profile;
	struct fl_tel_counts __percpu *counts;
	struct net *net;
	struct nf_hook_ops hooks[FL_TEL_HOOKS];
	atomic_t users;
	unsigned long asked_until_jiffies;
	bool hooked;
	bool closing;
	spinlock_t closing_lock;	/* closing */
	struct delayed_work work;
};

/**
 * struct fl_tel - telemetry of a socket
 * @sk: the socket, which outlives this
 * @node: in the table, by @sk
 * @heard: newest delay that came with data, as of fl_tel_units(), or load, as of
 *	fl_load_code()
 * @queue: newest echo that came, likewise
 * @back: delay or load that the segment with this echo met itself, likewise
 * @sending: its congestion control wants telemetry
 * @reserved: its MSS leaves room for the option
 * @fresh: @heard has not been told to the peer
 * @gone: taken out of the table; fl_tel_near_lock
 * @watched: somebody wants @ttl
 * @ttl: TTL or hop limit of the newest segment; 0 = none has come
 * @echoes: how many have come
 * @bad: malformed options that came, U16_MAX or more
 * @near: newest load of the way to the border router, as it came: time:4 | load:10
 * @tell: newest rate that the far border router asks for, as of fl_load_rate_code()
 * @nears: how many loads to the border have come, modulo 256
 * @tells: how many rates
 * @ref: the table's, and one of a congestion control
 * @rtt: with a load: over what time it is wanted, as of fl_load_rtt()
 * @format: the option that is sent, enum fl_tel_format; its congestion control's
 * @heard_format: that of @heard
 * @told: the last option was the peer's, not @format
 * @owd: its memory; socket lock, and @ref is not 0
 * @rcu: hooks
 *
 * Hooks run without the socket lock: every field is a number of its own, and of
 * two that meet the later wins. It is one line of the cache.
 */
struct fl_tel {
	struct sock *sk;
	struct rhash_head node;
	u16 heard;
	u16 queue;
	u16 back;
	bool sending;
	bool reserved;
	bool fresh;
	bool gone;
	bool watched;
	u8 ttl;
	u32 echoes;
	u16 near;
	u16 tell;
	u8 nears;
	u8 tells;
	u16 bad;
	refcount_t ref;
	u8 rtt;
	u8 format;
	u8 heard_format;
	bool told;
	union {
		struct fl_owd owd;
		struct rcu_head rcu;
	};
};

void fl_tel_reserve(struct sock *sk, u32 bytes);
void fl_tel_make_room(struct sock *sk, struct fl_tel *tel);
struct fl_tel *fl_tel_start(struct sock *sk, enum fl_tel_format format);
void fl_tel_stop(struct sock *sk, struct fl_tel *tel);
void fl_hook_use(const struct sock *sk);
void fl_hook_unuse(const struct sock *sk);
bool fl_hook_there(const struct sock *sk);
void fl_hook_ask(struct net *net);
void fl_tel_watch(struct sock *sk, struct fl_tel **tel, bool want);
void fl_tel_note_fallback(const struct sock *sk);

/* fairlane.ko inside */
extern atomic_t fl_tel_watched;
extern unsigned int fl_tel_net_id;
extern struct fl_tel *fl_tel_near[];
struct fl_tel *fl_tel_search(const struct sock *sk);
struct fl_tel *fl_tel_make(struct sock *sk);
int fl_telemetry_init(void);
void fl_telemetry_exit(void);
void fl_tel_put_ref(struct fl_tel *tel);
extern const struct nf_hook_ops fl_option_hooks[FL_TEL_HOOKS];
void fl_message_in(struct sk_buff *skb, struct fl_tel_net *tn, const struct nf_hook_state *state);
int fl_hook_init(void);
void fl_hook_exit(void);

/* Context: any, @net is held. */
static inline struct fl_tel_net *fl_tel_net_of(const struct net *net)
{
	return net_generic(net, fl_tel_net_id);
}

/* Where a socket's entry is, if it is among those found without the table. */
static inline struct fl_tel **fl_tel_place(const struct sock *sk)
{
	return &fl_tel_near[hash_ptr(sk, FL_TEL_NEAR_SHIFT)];
}

/* A socket's entry, if it has one. Context: RCU, the socket is held. */
static inline struct fl_tel *fl_tel_lookup(const struct sock *sk)
{
	struct fl_tel *tel = READ_ONCE(*fl_tel_place(sk));

	return likely(tel && tel->sk == sk) ? tel : fl_tel_search(sk);
}

/* Is the socket's traffic signed? Then nothing may be put in afterwards. */
static inline bool fl_tel_signed(const struct sock *sk)
{
#ifdef CONFIG_TCP_MD5SIG
	if (rcu_access_pointer(tcp_sk(sk)->md5sig_info))
		return true;
#endif
#ifdef CONFIG_TCP_AO
	if (rcu_access_pointer(tcp_sk(sk)->ao_info))
		return true;
#endif
	return false;
}

static inline void fl_tel_add(struct fl_tel_net *tn, enum fl_tel_count what)
{
	this_cpu_inc(tn->counts->n[what]);
}

#endif /* FL_TELEMETRY_H */

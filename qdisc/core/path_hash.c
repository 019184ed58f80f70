// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's choice among equal routes: see path_hash() in path.h. The kernel
 * hashes what it calls struct flow_keys, from its member "basic" on. That layout
 * is repeated here; tests compare with real routers.
 */
#include "core/path.h"

#ifdef __KERNEL__
#include <linux/jhash.h>
#include <linux/siphash.h>
#else

static u64 rol64(u64 x, int by)
{
	return x << by | x >> (64 - by);
}

static u32 rol32(u32 x, int by)
{
	return x << by | x >> (32 - by);
}

/* Named as in linux/siphash.h. */
#define siphash_key_t struct sip_key
struct sip_key {
	u64 key[2];
};

static void sip_round(u64 *v)
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rol64(v[1], 13) ^ v[0];
	v[3] = rol64(v[3], 16) ^ v[2];
	v[0] = rol64(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rol64(v[1], 17) ^ v[2];
	v[3] = rol64(v[3], 21) ^ v[0];
	v[2] = rol64(v[2], 32);
}

/* SipHash-2-4 of whole 64-bit words (Aumasson and Bernstein, 2012). */
static u64 siphash(const void *data, size_t bytes, const siphash_key_t *key)
{
	u64 v[4] = {
		0x736f6d6570736575ULL ^ key->key[0],
		0x646f72616e646f6dULL ^ key->key[1],
		0x6c7967656e657261ULL ^ key->key[0],
		0x7465646279746573ULL ^ key->key[1],
	};
	const u8 *at = data;
	size_t i;
	int byte;
	u64 m;

	for (i = 0; i <= bytes / 8; i++) {
		m = (u64)bytes << 56;
		if (i < bytes / 8)
			for (m = 0, byte = 7; byte >= 0; byte--)
				m = m << 8 | at[i * 8 + byte];
		v[3] ^= m;
		sip_round(v);
		sip_round(v);
		v[0] ^= m;
	}
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Jenkins's hash of two words, as linux/jhash.h has it. */
static u32 jhash_2words(u32 a, u32 b, u32 initval)
{
	u32 c = initval + 0xdeadbeef + (2 << 2);

	a += c;
	b += c;
	c ^= b;
	c -= rol32(b, 14);
	a ^= c;
	a -= rol32(c, 11);
	b ^= a;
	b -= rol32(a, 25);
	c ^= b;
	c -= rol32(b, 16);
	a ^= c;
	a -= rol32(c, 4);
	b ^= a;
	b -= rol32(a, 14);
	c ^= b;
	return c - rol32(b, 24);
}

#endif /* __KERNEL__ */

/**
 * struct keys - struct flow_keys from "basic" on
 * @n_proto: not hashed here
 * @proto: IP protocol
 * @padding: 0
 * @zero: tags, vlan, cvlan, keyid
 * @sport: as in the packet
 * @dport: as in the packet
 * @icmp: not hashed here
 * @addr: source and destination
 * @end: what the kernel's structure is filled up with
 */
struct keys {
	u16 n_proto;
	u8 proto;
	u8 padding;
	u32 zero[6];
	u16 sport;
	u16 dport;
	u32 icmp;
	union {
		u32 v4[2];
		u8 v6[2][16];
	} addr;
	u32 end;
};

#define KEYS_V4_BYTES	48
#define KEYS_V6_BYTES	72

static void swap_bytes(u8 *a, u8 *b, unsigned int bytes)
{
	u8 keep[16];

	memcpy(keep, a, bytes);
	memcpy(a, b, bytes);
	memcpy(b, keep, bytes);
}

/* Both directions of a flow get one hash: addresses and ports are sorted. */
static void sort_keys(struct keys *keys, bool v6)
{
	u16 port = keys->sport;
	u32 v4 = keys->addr.v4[0];

	if (v6) {
		if (memcmp(keys->addr.v6[1], keys->addr.v6[0], 16) < 0)
			swap_bytes(keys->addr.v6[0], keys->addr.v6[1], 16);
	} else if (keys->addr.v4[1] < v4) {
		keys->addr.v4[0] = keys->addr.v4[1];
		keys->addr.v4[1] = v4;
	}
	if (keys->dport < port) {
		keys->sport = keys->dport;
		keys->dport = port;
	}
}

u32 path_hash(const struct path_switch *sw, const struct path_flow *flow)
{
	u64 seed = (u64)sw->seed << 32 | sw->seed;
	siphash_key_t key = { { seed, seed } };
	unsigned int width = flow->v6 ? 16 : 4;
	u8 fields = sw->fields;
	struct keys keys;
	u32 hash;

	if (sw->policy == 0)
		fields = PATH_FIELD_SRC_IP | PATH_FIELD_DST_IP;
	else if (sw->policy == 1)
		fields = PATH_FIELDS;
	memset(&keys, 0, sizeof(keys));
	if (fields & PATH_FIELD_SRC_IP)
		memcpy(&keys.addr, flow->src, width);
	if (fields & PATH_FIELD_DST_IP)
		memcpy((u8 *)&keys.addr + width, flow->dst, width);
	if (fields & PATH_FIELD_IP_PROTO)
		keys.proto = flow->proto;
	if (fields & PATH_FIELD_SRC_PORT)
		keys.sport = flow->sport;
	if (fields & PATH_FIELD_DST_PORT)
		keys.dport = flow->dport;
	sort_keys(&keys, flow->v6);
	hash = (u32)siphash(&keys, flow->v6 ? KEYS_V6_BYTES : KEYS_V4_BYTES,
			    &key);
	if (!hash)
		hash = 1;
	/* Policy 3 adds the hash of inner headers, which is none. */
	if (sw->policy == 3)
		hash = jhash_2words(hash, 0, 0);
	return hash >> 1;
}

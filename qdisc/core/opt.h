/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding an option in a TCP header. Nothing is believed: not the data offset,
 * not an option's length.
 */
#ifndef FABRIC_OPT_H
#define FABRIC_OPT_H

#include "core/types.h"

#define FABRIC_TCP_MIN_BYTES	20
#define FABRIC_TCP_MAX_BYTES	60

enum fabric_opt_result {
	FABRIC_OPT_NONE = 0,
	FABRIC_OPT_MALFORMED = -1,
};

/**
 * struct fabric_opt - what to look for
 * @kind: option kind
 * @bytes: its length
 * @exid: first two bytes of its contents (RFC 6994), 0: any
 */
struct fabric_opt {
	u8 kind;
	u8 bytes;
	u16 exid;
};

/**
 * fabric_tcp_bytes() - length of a TCP header
 * @th: its first FABRIC_TCP_MIN_BYTES bytes
 *
 * Return: 20 to 60, or FABRIC_OPT_MALFORMED.
 */
static inline int fabric_tcp_bytes(const u8 *th)
{
	int bytes = (th[12] >> 4) * 4;

	return bytes < FABRIC_TCP_MIN_BYTES ? FABRIC_OPT_MALFORMED : bytes;
}

/**
 * fabric_opt_find() - look for an option
 * @th: a TCP header
 * @bytes: its length, as fabric_tcp_bytes() told
 * @want: the option
 *
 * Other options of that kind (another length, another ExID) are passed over.
 *
 * Return: offset of the option from @th, FABRIC_OPT_NONE or
 * FABRIC_OPT_MALFORMED (an option is cut off or shorter than its own head).
 */
static inline int fabric_opt_find(const u8 *th, int bytes,
				  const struct fabric_opt *want)
{
	int at = FABRIC_TCP_MIN_BYTES;

	while (at < bytes) {
		u8 kind = th[at], length;

		if (kind == 0)
			return FABRIC_OPT_NONE;
		if (kind == 1) {
			at++;
			continue;
		}
		if (at + 2 > bytes)
			return FABRIC_OPT_MALFORMED;
		length = th[at + 1];
		if (length < 2 || at + length > bytes)
			return FABRIC_OPT_MALFORMED;
		if (kind == want->kind && length == want->bytes &&
		    (!want->exid ||
		     (length >= 4 &&
		      (th[at + 2] << 8 | th[at + 3]) == want->exid)))
			return at;
		at += length;
	}
	return FABRIC_OPT_NONE;
}

#endif /* FABRIC_OPT_H */

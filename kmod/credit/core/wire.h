/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The option of credit-driven controls in a TCP header: bytes in, numbers out.
 * The format is in the ABI header and, drawn, in Documentation/design/credit.rst. The
 * option is always the first one, so nobody has to search for it. Nothing is
 * believed: not the data offset, not the option's length, not the type.
 */
#ifndef FL_CREDIT_WIRE_H
#define FL_CREDIT_WIRE_H

#include <linux/fairlane.h>

#include "lib/fl_types.h"

/* Where the first option lies in a TCP header, bytes. */
#define FL_CREDIT_AT_BYTES	20

/**
 * struct fl_credit_msg - what an option says
 * @type: enum fl_credit_type
 * @segs: segments that a credit pays for (CREDIT, GRANT), 1 to FL_CREDIT_SEGS_MAX
 * @part: the sender wants the credits of FlexPass' part of the line (REQUEST)
 * @number: of a credit: this one (CREDIT), the one that pays (GREEN), the newest
 *	that has come (REQUEST); modulo FL_CREDIT_NUMBER_MASK + 1
 * @reds: red segments sent so far (GREEN, RED) or highest seen (SEEN), modulo
 *	FL_CREDIT_REDS_MASK + 1
 * @marks: red segments that came marked so far (SEEN), likewise
 * @backlog_segs: what the sender has left to send, this packet left out
 *	(REQUEST, GREEN); FL_CREDIT_BACKLOG_MAX is "that or more"
 */
struct fl_credit_msg {
	u8 type;
	u8 segs;
	bool part;
	u32 number;
	u16 reds;
	u16 marks;
	u16 backlog_segs;
};

/* Bytes of the option of a type; 0 = there is no such type. */
static inline u32 fl_credit_bytes(u32 type)
{
	switch (type) {
	case FL_CREDIT_REQUEST:
	case FL_CREDIT_GREEN:
		return FL_CREDIT_LONG_BYTES;
	case FL_CREDIT_GRANT:
	case FL_CREDIT_CREDIT:
	case FL_CREDIT_RED:
	case FL_CREDIT_SEEN:
		return FL_CREDIT_SHORT_BYTES;
	}
	return 0;
}

static inline u32 fl_credit_get32(const u8 *at)
{
	return (u32)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

static inline void fl_credit_put32(u8 *at, u32 v)
{
	at[0] = v >> 24;
	at[1] = v >> 16;
	at[2] = v >> 8;
	at[3] = v;
}

/**
 * fl_credit_is() - may the first option be ours?
 * @word: its first four bytes
 */
static inline bool fl_credit_is(u32 word)
{
	return (word & 0xff00ffff) == ((u32)FL_CREDIT_KIND << 24 | FL_CREDIT_EXID);
}

/**
 * fl_credit_read() - read the option
 * @at: the first option of a TCP header, for which fl_credit_is() holds
 * @room: bytes from there to the end of the header
 * @m: where to
 *
 * Return: is it well-formed? @m is only written then.
 */
static inline bool fl_credit_read(const u8 *at, u32 room, struct fl_credit_msg *m)
{
	u32 v, more = 0, type, bytes;

	if (room < FL_CREDIT_SHORT_BYTES)
		return false;
	v = fl_credit_get32(at + 4);
	type = v >> 28;
	bytes = fl_credit_bytes(type);
	if (!bytes || at[1] != bytes || bytes > room)
		return false;
	if (bytes == FL_CREDIT_LONG_BYTES)
		more = fl_credit_get32(at + 8);
	*m = (struct fl_credit_msg) { .type = type };
	switch (type) {
	case FL_CREDIT_REQUEST:
	case FL_CREDIT_GREEN:
		m->part = v & FL_CREDIT_PART;
		m->number = v & FL_CREDIT_NUMBER_MASK;
		m->reds = more >> 16 & FL_CREDIT_REDS_MASK;
		m->backlog_segs = more & FL_CREDIT_BACKLOG_MAX;
		break;
	case FL_CREDIT_GRANT:
	case FL_CREDIT_CREDIT:
		m->segs = (v >> FL_CREDIT_SEGS_SHIFT & (FL_CREDIT_SEGS_MAX - 1)) + 1;
		m->number = v & FL_CREDIT_NUMBER_MASK;
		break;
	case FL_CREDIT_RED:
	case FL_CREDIT_SEEN:
		m->reds = v >> 14 & FL_CREDIT_REDS_MASK;
		m->marks = v & FL_CREDIT_REDS_MASK;
		break;
	}
	return true;
}

/**
 * fl_credit_write() - write the option
 * @at: where, fl_credit_bytes() of the type
 * @m: what; numbers beyond their field are cut to it
 */
static inline void fl_credit_write(u8 *at, const struct fl_credit_msg *m)
{
	u32 bytes = fl_credit_bytes(m->type), v = (u32)m->type << 28;

	fl_credit_put32(at, (u32)FL_CREDIT_KIND << 24 | bytes << 16 | FL_CREDIT_EXID);
	switch (m->type) {
	case FL_CREDIT_REQUEST:
	case FL_CREDIT_GREEN:
		v |= (m->part ? FL_CREDIT_PART : 0) |
		     (m->number & FL_CREDIT_NUMBER_MASK);
		fl_credit_put32(at + 8, (u32)(m->reds & FL_CREDIT_REDS_MASK) << 16 |
				m->backlog_segs);
		break;
	case FL_CREDIT_GRANT:
	case FL_CREDIT_CREDIT:
		v |= (u32)(m->segs - 1) << FL_CREDIT_SEGS_SHIFT |
		     (m->number & FL_CREDIT_NUMBER_MASK);
		break;
	default:
		v |= (u32)(m->reds & FL_CREDIT_REDS_MASK) << 14 |
		     (m->marks & FL_CREDIT_REDS_MASK);
	}
	fl_credit_put32(at + 4, v);
}

/**
 * fl_credit_ahead() - how far is a credit's number ahead of another's?
 * @number: the one asked about
 * @of: the other
 *
 * Return: negative if it is behind.
 */
static inline s32 fl_credit_ahead(u32 number, u32 of)
{
	return (s32)((number - of) << (32 - FL_CREDIT_NUMBER_BITS)) >>
	       (32 - FL_CREDIT_NUMBER_BITS);
}

/* The same of counts of red segments, which have 14 bits. */
static inline s32 fl_credit_reds_ahead(u32 reds, u32 of)
{
	return (s32)((reds - of) << 18) >> 18;
}

#endif /* FL_CREDIT_WIRE_H */

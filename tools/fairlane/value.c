// SPDX-License-Identifier: GPL-2.0
/* Values with their units, from text and back. A time or a rate without a unit
 * is refused: 5 what? Nothing is rounded on reading but to the unit's grain.
 */
#include "tool.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* An unsigned integer that is the whole of @s. */
bool parse_u64(const char *s, int base, uint64_t max, uint64_t *v)
{
	char *end;

	if (!isxdigit((unsigned char)s[0]))
		return false;
	errno = 0;
	*v = strtoull(s, &end, base);
	return !errno && !*end && *v <= max;
}

/* A plain decimal number, as integer times 10^-@digits; sets @end. Digits
 * beyond are refused unless they are 0.
 */
static bool parse_decimal(const char *s, int digits, uint64_t *v,
			  const char **end)
{
	uint64_t value = 0;
	int after = -1, seen = 0;

	for (; isdigit((unsigned char)*s) || (*s == '.' && after < 0); s++) {
		if (*s == '.') {
			after = 0;
			continue;
		}
		seen++;
		if (after >= 0 && after++ >= digits) {
			if (*s != '0')
				return false;
			continue;
		}
		if (value > (UINT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (*s - '0');
	}
	for (after = after < 0 ? 0 : after; after < digits; after++) {
		if (value > UINT64_MAX / 10)
			return false;
		value *= 10;
	}
	*v = value;
	*end = s;
	return seen > 0;
}

struct unit {
	const char *name;
	uint64_t factor;	/* of the grain; 0: value / 1000 */
};

/* A decimal number and a unit; 0 needs none. The result is in grains. */
static bool parse_unit(const char *s, const struct unit *units, size_t count,
		       uint64_t *v)
{
	const char *end;
	uint64_t value;
	size_t i;

	/* thousandths of the unit, so that 2.5us is exact */
	if (!parse_decimal(s, 3, &value, &end))
		return false;
	if (!*end && !value) {
		*v = 0;
		return true;
	}
	for (i = 0; i < count; i++) {
		if (strcasecmp(end, units[i].name))
			continue;
		if (value > UINT64_MAX / units[i].factor)
			return false;
		value *= units[i].factor;
		*v = value / 1000;
		return !(value % 1000);
	}
	return false;
}

bool parse_time_ns(const char *s, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "min", 60000000000 },
	};

	return parse_unit(s, units, ARRAY_SIZE(units), ns);
}

bool parse_rate_bps(const char *s, uint64_t *bps)
{
	static const struct unit units[] = {
		{ "bit", 1 }, { "kbit", 1000 }, { "mbit", 1000000 },
		{ "gbit", 1000000000 }, { "tbit", 1000000000000 },
	};

	return parse_unit(s, units, ARRAY_SIZE(units), bps);
}

/* Bytes, with or without a unit. */
static bool parse_size_bytes(const char *s, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 }, { "b", 1 }, { "kb", 1000 }, { "mb", 1000000 },
		{ "gb", 1000000000 }, { "tb", 1000000000000 },
		{ "kib", 1 << 10 }, { "mib", 1 << 20 }, { "gib", 1 << 30 },
	};

	return parse_unit(s, units, ARRAY_SIZE(units), bytes);
}

/* A plain number with up to three decimals, in thousandths. */
bool parse_milli(const char *s, uint64_t *milli)
{
	const char *end;

	return parse_decimal(s, 3, milli, &end) && !*end;
}

/* A socket cookie as ss prints it: hexadecimal, perhaps after "sk:" or "0x". */
bool parse_cookie(const char *s, uint64_t *cookie)
{
	if (!strncmp(s, "sk:", 3))
		s += 3;
	if (!strncmp(s, "0x", 2))
		s += 2;
	return parse_u64(s, 16, UINT64_MAX, cookie) && *cookie;
}

uint32_t need_u32(const char *key, const char *s, uint32_t min, uint32_t max)
{
	uint64_t v;

	if (!parse_u64(s, 10, UINT32_MAX, &v) || v < min || v > max)
		fail("%s %s: an integer from %u to %u is wanted", key, s, min,
		     max);
	return v;
}

uint64_t need_time_ns(const char *key, const char *s)
{
	uint64_t ns;

	if (!parse_time_ns(s, &ns))
		fail("%s %s: a time with its unit is wanted, such as 800ns, 12us, 5ms, 1s, 10min",
		     key, s);
	return ns;
}

uint64_t need_size_bytes(const char *key, const char *s)
{
	uint64_t bytes;

	if (!parse_size_bytes(s, &bytes) || !bytes)
		fail("%s %s: a number of bytes is wanted, such as 1500, 64kb, 20gb, 64kib",
		     key, s);
	return bytes;
}

/* A few texts may be in use at once, in one call of printf. */
static char *scratch(void)
{
	static char texts[16][64];
	static unsigned int next;

	return texts[next++ % ARRAY_SIZE(texts)];
}

/* @v / @grain with as many of three decimals as are needed. */
static char *show_scaled(uint64_t v, uint64_t grain, const char *unit)
{
	char *text = scratch();
	uint64_t frac = grain >= 1000 ? v % grain / (grain / 1000) : 0;
	int len = snprintf(text, 64, "%llu", (unsigned long long)(v / grain));

	if (frac) {
		len += snprintf(text + len, 64 - len, ".%03u",
				(unsigned int)frac);
		while (text[len - 1] == '0')
			text[--len] = 0;
	}
	snprintf(text + len, 64 - len, "%s", unit);
	return text;
}

/* Exact: reading the text gives the same time. */
const char *show_time(uint64_t ns)
{
	static const struct unit units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (ns >= units[i].factor && !(ns % (units[i].factor / 1000)))
			return show_scaled(ns, units[i].factor, units[i].name);
	return show_scaled(ns, 1, "ns");
}

/* Three decimals of the largest fitting unit. */
const char *show_rate(double bps)
{
	static const char *const unit[] = { "bit", "kbit", "mbit", "gbit",
					    "tbit" };
	size_t i = 0;
	uint64_t milli;

	while (bps >= 1000 && i + 1 < ARRAY_SIZE(unit)) {
		bps /= 1000;
		i++;
	}
	milli = bps * 1000 + 0.5;
	return show_scaled(milli, 1000, unit[i]);
}

const char *show_milli(uint32_t milli)
{
	return show_scaled(milli, 1000, "");
}

const char *show_bytes(double bytes)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB" };
	char *text = scratch();
	size_t i = 0;

	while (bytes >= 10000 && i + 1 < ARRAY_SIZE(unit)) {
		bytes /= 1000;
		i++;
	}
	snprintf(text, 64, "%.0f%s", bytes, unit[i]);
	return text;
}

/* Clear what lies behind the prefix; false if there was anything. */
static bool prefix_mask(struct prefix *p)
{
	uint8_t before[16];
	int i;

	memcpy(before, p->addr, 16);
	for (i = 0; i < 16; i++) {
		int bits = p->len - i * 8;

		if (bits <= 0)
			p->addr[i] = 0;
		else if (bits < 8)
			p->addr[i] &= 0xff00 >> bits;
	}
	return !memcmp(before, p->addr, 16);
}

/**
 * parse_prefix() - an address, a prefix, or an address and a port
 * @s: 10.0.0.1, 10.0.0.0/8, 10.0.0.1:80, fd00::1, [fd00::1]:80, any, *:80
 * @port_allowed: a port may follow
 * @p: what it means
 *
 * Return: whether it is one. Address bits behind the prefix are an error.
 */
bool parse_prefix(const char *s, bool port_allowed, struct prefix *p)
{
	char text[80], *colon = NULL, *slash;
	uint64_t v;

	memset(p, 0, sizeof(*p));
	if (snprintf(text, sizeof(text), "%s", s) >= (int)sizeof(text))
		return false;
	if (text[0] == '[') {
		char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return false;
		colon = end[1] ? end + 1 : NULL;
		*end = 0;
		memmove(text, text + 1, end - text);
	} else if (strchr(text, ':') == strrchr(text, ':')) {
		colon = strchr(text, ':');
	}
	if (colon) {
		if (!port_allowed || !parse_u64(colon + 1, 10, 65535, &v) || !v)
			return false;
		p->port = v;
		*colon = 0;
	}
	if (!strcmp(text, "any") || !strcmp(text, "*"))
		return true;
	slash = strchr(text, '/');
	if (slash)
		*slash = 0;
	if (inet_pton(AF_INET, text, p->addr) == 1)
		p->family = AF_INET;
	else if (inet_pton(AF_INET6, text, p->addr) == 1)
		p->family = AF_INET6;
	else
		return false;
	p->len = p->family == AF_INET ? 32 : 128;
	if (slash) {
		if (!parse_u64(slash + 1, 10, p->len, &v))
			return false;
		p->len = v;
	}
	return prefix_mask(p);
}

void show_address(char *text, size_t size, uint8_t family, const void *addr)
{
	if (!inet_ntop(family, addr, text, size))
		snprintf(text, size, "?");
}

/* As parse_prefix() reads it. */
const char *show_prefix(const struct prefix *p)
{
	char *text = scratch(), addr[INET6_ADDRSTRLEN];
	uint8_t full = p->family == AF_INET ? 32 : 128;

	if (!p->family)
		return "any";
	show_address(addr, sizeof(addr), p->family, p->addr);
	if (p->len == full)
		snprintf(text, 64, "%s", addr);
	else
		snprintf(text, 64, "%s/%u", addr, p->len);
	return text;
}

/* Does the address lie in the prefix? An IPv4 prefix has IPv4-mapped ones too. */
bool prefix_has(const struct prefix *p, uint8_t family, const void *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *a = addr;
	int whole = p->len / 8, rest = p->len % 8;

	if (!p->family)
		return true;
	if (p->family == AF_INET && family == AF_INET6) {
		if (memcmp(a, mapped, 12))
			return false;
		a += 12;
	} else if (p->family != family) {
		return false;
	}
	if (memcmp(a, p->addr, whole))
		return false;
	return !rest || !((a[whole] ^ p->addr[whole]) & (0xff00 >> rest) & 0xff);
}

/* A port, or a range 5000-5010. */
bool parse_ports(const char *s, uint16_t *first, uint16_t *last)
{
	char text[16], *dash;
	uint64_t a, b;

	if (snprintf(text, sizeof(text), "%s", s) >= (int)sizeof(text))
		return false;
	dash = strchr(text, '-');
	if (dash)
		*dash = 0;
	if (!parse_u64(text, 10, 65535, &a) ||
	    !parse_u64(dash ? dash + 1 : text, 10, 65535, &b) || !a || b < a)
		return false;
	*first = a;
	*last = b;
	return true;
}

/* "5%", "0.5%" in permille. */
uint32_t need_share(const char *s)
{
	size_t len = strlen(s);
	char *number = xprintf("%.*s", len ? (int)len - 1 : 0, s);
	uint64_t milli;

	if (!len || s[len - 1] != '%' || !parse_milli(number, &milli) ||
	    !milli || milli > 100000 || milli % 100)
		fail("share %s: a part from 0.1%% to 100%% is wanted, in steps of 0.1%%", s);
	free(number);
	return milli / 100;
}

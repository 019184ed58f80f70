/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tc's side of the fabric qdisc: what its files share.
 */
#ifndef Q_FABRIC_H
#define Q_FABRIC_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef FABRIC_PLUGIN
#include "tc_abi.h"
#else
#include "utils.h"
#include "tc_util.h"
#endif

#include <linux/fairlane.h>

/* Units from large to small, the last has factor 1 and is followed by NULL. */
struct fabric_unit {
	const char *name;
	uint64_t factor;
};

extern const struct fabric_unit fabric_rate_units[];
extern const char * const fabric_colour_names[FABRIC_COLOURS];
extern const char * const fabric_stamp_names[__FABRIC_STAMP_MAX];

extern const char * const fabric_frames_names[4];
extern const char * const fabric_queue_names[__FABRIC_QUEUE_MAX];
extern const char * const fabric_role_names[__FABRIC_ROLE_MAX];
extern const char * const fabric_form_names[__FABRIC_FLOW_MAX];

/* Of tc's requests, header included: it has 64 KiB for those of qdiscs, 4 for those of classes. */
#define FABRIC_OPTIONS_MAX_BYTES 8192
#define FABRIC_CLASS_OPTIONS_MAX_BYTES 4096

/* An option's words are at argv, its values from argv[1] on. Returns how many
 * values it took, or -1 if argv[1] is bad.
 */
typedef int (*fabric_parse_values)(int argc, char **argv, struct nlmsghdr *n,
			    int type);

/**
 * struct fabric_option - a word of the command line
 * @name: the word
 * @type: attribute
 * @parse: takes its values; NULL: it has none and @flag is what it says
 * @flag: value of such an option; FABRIC_FLAG_PRESENT: the attribute has no value
 */
struct fabric_option {
	const char *name;
	int type;
	fabric_parse_values parse;
	int flag;
};

#define FABRIC_FLAG_PRESENT -1

/* q_fabric_value.c */
extern const struct fabric_option fabric_port_options[];
extern const struct fabric_option fabric_band_options[];
int fabric_bad(const char *option, const char *value);
int fabric_parse_rate(uint64_t *rate_bps, const char *text);
int fabric_get_band(uint8_t *band, const char *text);
void fabric_put(struct nlmsghdr *n, int type, const void *data, int bytes);
void fabric_put_u8(struct nlmsghdr *n, int type, uint8_t value);
struct rtattr *fabric_nest(struct nlmsghdr *n, int type);
struct rtattr *fabric_begin(struct nlmsghdr *n);
int fabric_end(struct nlmsghdr *n, struct rtattr *nest);

/* q_fabric_print.c */
int fabric_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
int fabric_print_copt(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
int fabric_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats);

#endif /* Q_FABRIC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairlane: what the files of the command share. Words of the command line,
 * values with units, output as text or JSON, names of numbers, sub-commands.
 */
#ifndef FAIRLANE_TOOL_H
#define FAIRLANE_TOOL_H

#include <cjson/cJSON.h>
#include <libfairlane.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define NSEC_PER_SEC	1000000000ULL

/* Exit codes; in fairlane(8). */
enum tool_exit {
	EXIT_OK = 0,
	EXIT_USAGE = 1,		/* bad command line or file; nothing was done */
	EXIT_KERNEL = 2,	/* the kernel refused, or something is not there */
	EXIT_PROBLEM = 3,	/* check has found problems */
};

/* Version of the JSON that is printed: fields are added, never changed. */
#define JSON_SCHEMA	1

/**
 * struct options - options before the object
 * @json: print JSON
 * @pretty: with line breaks
 * @details: more of everything
 * @check_only: read the command line, do nothing (restore --check)
 * @netns: -n names the namespace that the command is about
 * @where: put before messages: the line of a file, or ""
 * @keys: put behind the message that there is no such setting: what else a key may be, or ""
 */
struct options {
	bool json;
	bool pretty;
	bool details;
	bool check_only;
	bool netns;
	char where[192];
	const char *keys;
};

extern struct options opt;

/* ---- words.c: the command line ------------------------------------------ */

/* So many different words of a command line have a value. */
#define WORDS_SAID	128

/**
 * struct words - the rest of a command line
 * @v: all words
 * @n: how many
 * @i: the next one
 * @said: those that had their value
 * @said_n: how many
 */
struct words {
	char **v;
	int n;
	int i;
	const char *said[WORDS_SAID];
	int said_n;
};

void fail(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));
void fail_kernel(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));
void note(const char *fmt, ...) PRINTF(1, 2);
bool words_left(const struct words *w);
const char *word_peek(const struct words *w);
const char *word_next(struct words *w);
const char *word_text(struct words *w, const char *key);
const char *word_value(struct words *w, const char *key);
const char *word_more(struct words *w, const char *key);
const char *word_file(struct words *w);
bool word_is(struct words *w, const char *keyword);
void words_end(const struct words *w);
bool words_help(const struct words *w, const char *usage);

/**
 * struct command - a word of the command line and what it does
 * @name: the word; a beginning that fits one alone is enough
 * @run: does it; returns an exit code
 */
struct command {
	const char *name;
	int (*run)(struct words *w);
};

int command_run(const struct command *list, size_t count, const char *what,
		const char *standard, const char *usage, struct words *w);

void *xalloc(size_t size);
void *xgrow(void *array, size_t count, size_t item);
char *xprintf(const char *fmt, ...) PRINTF(1, 2);
char *read_text(const char *path);
char *read_written(const char *path);

/* ---- file.c ---------------------------------------------------------------- */

FILE *file_for_child(void);
void write_text(const char *path, const char *text, mode_t mode);

/* ---- value.c: values with units ----------------------------------------- */

bool parse_u64(const char *s, int base, uint64_t max, uint64_t *v);
bool parse_time_ns(const char *s, uint64_t *ns);
bool parse_rate_bps(const char *s, uint64_t *bps);
bool parse_milli(const char *s, uint64_t *milli);
bool parse_cookie(const char *s, uint64_t *cookie);
uint32_t need_u32(const char *key, const char *s, uint32_t min, uint32_t max);
uint32_t need_share(const char *s);
uint64_t need_time_ns(const char *key, const char *s);
uint64_t need_size_bytes(const char *key, const char *s);
const char *show_time(uint64_t ns);
const char *show_rate(double bps);
const char *show_milli(uint32_t milli);
const char *show_bytes(double bytes);

/**
 * struct prefix - an address with a prefix length, and a port
 * @family: AF_INET, AF_INET6; 0: any
 * @addr: network order
 * @len: bits that count
 * @port: 0: any
 */
struct prefix {
	uint8_t family;
	uint8_t addr[16];
	uint8_t len;
	uint16_t port;
};

bool parse_prefix(const char *s, bool port_allowed, struct prefix *p);
void show_address(char *text, size_t size, uint8_t family, const void *addr);
const char *show_prefix(const struct prefix *p);
bool prefix_has(const struct prefix *p, uint8_t family, const void *addr);
bool parse_ports(const char *s, uint16_t *first, uint16_t *last);

/* ---- attr.c: attributes of a socket ------------------------------------- */

/**
 * struct attr_def - one attribute
 * @word: on the command line
 * @json: name in JSON
 * @min: smallest value
 * @max: largest value
 * @what: for messages
 */
struct attr_def {
	const char *word;
	const char *json;
	uint32_t min;
	uint32_t max;
	const char *what;
};

extern const struct attr_def attrs[FAIRLANE_ATTRS];

uint32_t attr_parse(enum fairlane_attr attr, const char *s, bool unset_allowed);
const char *attr_show(enum fairlane_attr attr, uint32_t value);
void attr_json(cJSON *obj, enum fairlane_attr attr, uint32_t value);
bool word_setting(struct words *w, struct fairlane_setting *list, size_t *n, bool unset_allowed);

const char *name_of_source(unsigned int source);
const char *name_of_tcp(unsigned int state);
bool parse_tcp_states(const char *s, uint32_t *mask);
const char *name_of_state(unsigned int state);

/* ---- out.c: names, JSON -------------------------------------------------- */

void put_name(const char *name);
bool is_utf8(const char *s);
void json_print(cJSON *doc);
void json_line(cJSON *doc);
void json_done(void);
void json_u64(cJSON *obj, const char *key, uint64_t v);
void json_text(cJSON *obj, const char *key, const char *fmt, ...) PRINTF(3, 4);
const char *json_text_of(const cJSON *obj, const char *key);
double json_number_of(const cJSON *obj, const char *key);

/* ---- netns.c -------------------------------------------------------------- */

int netns_find(const char *name);
int netns_open(const char *name);
void netns_enter_fd(int fd, const char *name);
void netns_enter(const char *name);

typedef int netns_fn(const char *name, void *arg);
char *netns_number(void);
size_t netns_each(netns_fn *fn, void *arg, unsigned int *failed);

/* ---- filter.c: which flows ----------------------------------------------- */

/**
 * struct filter - what a flow must have
 * @states: mask of TCP states
 * @src: own address
 * @dst: peer's address
 * @sport: smallest and largest own port; 0, 0: any
 * @dport: peer's
 * @cookie: 0: any
 * @uid: UINT32_MAX: any
 * @prio: effective priority; -1: any
 * @cc: congestion control; NULL: any
 * @cgroups: numbers of a cgroup and those below it; NULL: any
 * @cgroup_count: how many
 * @inodes: of a process' sockets; NULL: any
 * @inode_count: how many
 * @listed: anything was said
 */
struct filter {
	uint32_t states;
	struct prefix src;
	struct prefix dst;
	uint16_t sport[2];
	uint16_t dport[2];
	uint64_t cookie;
	uint32_t uid;
	int prio;
	const char *cc;
	uint64_t *cgroups;
	size_t cgroup_count;
	uint32_t *inodes;
	size_t inode_count;
	bool listed;
};

void filter_init(struct filter *f);
void filter_free(struct filter *f);
bool filter_word(struct filter *f, struct words *w);
bool filter_has(const struct filter *f, const struct fairlane_flow *flow);
uint32_t parse_uid(const char *s);

/* ---- proc.c: processes --------------------------------------------------- */

/* One descriptor of a process that is a socket. */
struct proc_socket {
	uint32_t inode;
	int pid;
	int fd;
	char comm[16];
};

/* All of them that may be seen, sorted by inode. */
struct proc_sockets {
	struct proc_socket *s;
	size_t n;
};

void proc_sockets_of(struct proc_sockets *list, int pid);
void proc_sockets_all(struct proc_sockets *list);
const struct proc_socket *proc_find(const struct proc_sockets *list,
				    uint32_t inode);

/* ---- flows.c: reading them ----------------------------------------------- */

/**
 * struct flows - a snapshot of the flows that a filter lets through
 * @f: the flows, sorted by address
 * @n: how many
 * @time_ns: when, monotonic
 * @from_module: the module's netlink was there
 */
struct flows {
	struct fairlane_flow *f;
	size_t n;
	uint64_t time_ns;
	bool from_module;
};

void flows_read(struct flows *list, const struct filter *filter);
void flows_free(struct flows *list);
void flows_by_cookie(struct flows *list);
const struct fairlane_flow *flows_find(const struct flows *list,
				       uint64_t cookie);
uint32_t flow_prio(const struct fairlane_flow *f);
bool flow_prio_known(const struct fairlane_flow *f);
const char *flow_tuple(const struct fairlane_id *id);
const char *flow_state(const struct fairlane_flow *f);
cJSON *flow_json(const struct fairlane_flow *f,
		 const struct proc_sockets *procs);
void id_json(cJSON *obj, const struct fairlane_id *id);

struct fairlane *connect_module(void);

/* ---- check.c --------------------------------------------------------------- */

/** enum verdict - what came of a check */
enum verdict {
	VERDICT_OK,
	VERDICT_NOTE,		/* worth knowing */
	VERDICT_PROBLEM,	/* will not work, or not as it should */
};

void check_add(enum verdict verdict, const char *id, const char *cure,
	       const char *fmt, ...) PRINTF(4, 5);
char *sysctl_text(const char *path);
long sysctl_number(const char *path, long otherwise);
int tool_run(char *buf, size_t size, const char *const argv[]);
uint32_t device_mbps(int sock, const char *name);
void check_devices(void);
void check_tcp(void);
void check_flows(void);
void check_fabric(const char *path);
void check_long(const struct flows *now);
void check_policies(void);
int check_all(cJSON **doc, const char *path);

/* ---- the objects ------------------------------------------------------------ */

int cmd_flow(struct words *w);
int cmd_policy(struct words *w);
int cmd_profile(struct words *w);
int cmd_limits(struct words *w);
int cmd_stats(struct words *w);
int cmd_off(struct words *w);
int cmd_on(struct words *w);
int cmd_monitor(struct words *w);
int cmd_check(struct words *w);
int cmd_report(struct words *w);
int cmd_top(struct words *w);
int cmd_save(struct words *w);
int cmd_restore(struct words *w);
int cmd_run(struct words *w);
int cmd_weight(struct words *w);
int cmd_noise(struct words *w);
int cmd_fabric(struct words *w);
int cmd_metrics(struct words *w);
int cmd_apply(struct words *w);

/* profile.c */
size_t setting_stem(const char *name);

/* fabric.c */
cJSON *fabric_read(void);

/* fabricborder.c */
cJSON *fabric_ports_read(void);
cJSON *fabric_border_read(void);
void fabric_border_print(const cJSON *router);

int flow_set(struct words *w);
int flow_watch(struct words *w);
int run_words(struct words *w);

/* ---- save.c's sources: settings as command lines ------------------------------ */

void save_word(FILE *out, const char *s);
char *settings_now(void);
void settings_clear(void);
int settings_make(const char *text, const char *name);
void policy_save(FILE *out, cJSON *doc, bool exact);
void policy_reapply(void);
void profile_save(FILE *out, cJSON *doc);
void limits_save(FILE *out, cJSON *doc, bool exact);
void profile_reset(FILE *out);
void limits_reset(FILE *out);

#endif

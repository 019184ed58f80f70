// SPDX-License-Identifier: GPL-2.0
/* fairlane flow watch and fairlane top: flows again and again, with their rates. */
#include "classes.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char top_usage[] =
"usage: fairlane top [FILTER] [interval TIME] [count N] [sort rate|prio|delay]\n"
"First the classes: priority and policy's comment, how many flows send, wait with data,\n"
"starve (nothing sent for half a second), and for whom those wait: priorities that send\n"
"from here to the same address, or others. Then the flows.\n"
"Keys: q quit, r by rate, p by priority, d by delay. FILTER as in flow show.\n";

/**
 * struct row - a flow and its rates since the last look
 * @f: the flow
 * @tx_bps: acknowledged by its peer
 * @rx_bps: received from it
 */
struct row {
	const struct fairlane_flow *f;
	double tx_bps;
	double rx_bps;
};

/* Rates between two snapshots; @before is sorted by cookie. */
static struct row *make_rows(const struct flows *now,
			     const struct flows *before)
{
	struct row *rows = xalloc(now->n * sizeof(*rows));
	double seconds = (now->time_ns - before->time_ns) / 1e9;
	size_t i;

	for (i = 0; i < now->n; i++) {
		const struct fairlane_flow *f = &now->f[i], *old;

		rows[i].f = f;
		old = flows_find(before, f->id.cookie);
		if (!old || seconds <= 0)
			continue;
		rows[i].tx_bps = (f->acked_bytes - old->acked_bytes) * 8 /
				 seconds;
		rows[i].rx_bps = (f->received_bytes - old->received_bytes) *
				 8 / seconds;
	}
	return rows;
}

static uint32_t row_delay(const struct row *r)
{
	return r->f->has_info && r->f->info.delay_ns ? r->f->info.delay_ns :
	       r->f->has_diag && r->f->diag.delay_ns ? r->f->diag.delay_ns :
	       r->f->rtt_us * 1000;
}

static int by_rate(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double d = y->tx_bps + y->rx_bps - x->tx_bps - x->rx_bps;

	return d > 0 ? 1 : d < 0 ? -1 : 0;
}

static int by_prio(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int d = (int)(flow_prio_known(y->f) ? flow_prio(y->f) : 0) -
		(int)(flow_prio_known(x->f) ? flow_prio(x->f) : 0);

	return d ? d : by_rate(a, b);
}

static int by_delay(const void *a, const void *b)
{
	uint32_t x = row_delay(a), y = row_delay(b);

	return x < y ? 1 : x > y ? -1 : by_rate(a, b);
}

static const struct order {
	const char *name;
	int (*compare)(const void *a, const void *b);
} orders[] = {
	{ "rate", by_rate }, { "prio", by_prio }, { "delay", by_delay },
};

/**
 * struct view - what is watched, and how
 * @filter: which flows
 * @interval_ns: between two looks
 * @count: looks; 0: for ever
 * @order: of the rows
 * @screen: a table that fills the terminal
 * @classes: flows by class before them
 */
struct view {
	struct filter filter;
	uint64_t interval_ns;
	uint32_t count;
	const struct order *order;
	bool screen;
	bool classes;
};

static void print_header(const char *end)
{
	printf("%-46s %-10s %4s %7s %-8s %9s %9s %10s %10s%s\n", "FLOW", "CC",
	       "PRIO", "WEIGHT", "STATE", "DELAY", "WINDOW", "SENT/s",
	       "RECEIVED/s", end);
}

static void print_row(const struct row *r, const char *end)
{
	const struct fairlane_flow *f = r->f;
	bool known = flow_prio_known(f);
	char prio[12] = "-";

	if (known)
		snprintf(prio, sizeof(prio), "%u", flow_prio(f));
	printf("%-46s %-10.10s %4s %7s %-8s %9s %9s %10s %10s%s\n",
	       flow_tuple(&f->id), f->cc, prio,
	       known ? show_milli(f->has_info ? f->info.weight_milli :
				  f->diag.weight_milli) : "-",
	       flow_state(f)[0] ? flow_state(f) : "-",
	       show_time(row_delay(r)),
	       f->has_info && f->info.window_milli ?
	       show_milli(f->info.window_milli) : show_milli(f->cwnd_pkts * 1000),
	       show_rate(r->tx_bps), show_rate(r->rx_bps), end);
}

static void print_json(const struct flows *now, const struct row *rows,
		       const struct classes *classes)
{
	cJSON *doc = cJSON_CreateObject(), *list;
	struct timespec real;
	size_t i;

	clock_gettime(CLOCK_REALTIME, &real);
	json_u64(doc, "time_ns", real.tv_sec * NSEC_PER_SEC + real.tv_nsec);
	if (classes)
		cJSON_AddItemToObject(doc, "classes", classes_json(classes));
	list = cJSON_AddArrayToObject(doc, "flows");
	for (i = 0; i < now->n; i++) {
		cJSON *obj = flow_json(rows[i].f, NULL);

		json_u64(obj, "sent_bps", rows[i].tx_bps);
		json_u64(obj, "received_bps", rows[i].rx_bps);
		cJSON_AddItemToArray(list, obj);
	}
	json_line(doc);
}

/* How many flows do what; first line of the screen. */
static void print_sums(const struct flows *now, const struct row *rows,
		       const struct view *v)
{
	size_t i, stopped = 0, sending = 0;
	double tx = 0, rx = 0;

	for (i = 0; i < now->n; i++) {
		stopped += !strcmp(flow_state(rows[i].f), "stopped");
		sending += !strcmp(flow_state(rows[i].f), "sending");
		tx += rows[i].tx_bps;
		rx += rows[i].rx_bps;
	}
	printf("fairlane: %zu flows, %zu sending, %zu stopped, sent %s/s, received %s/s, by %s%s\033[K\r\n",
	       now->n, sending, stopped, show_rate(tx), show_rate(rx),
	       v->order->name, now->from_module ? "" : ", module not loaded");
}

/* Rows that fit the terminal under the two lines at the top. */
static size_t screen_rows(void)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 4)
		return 22;
	return size.ws_row - 3;
}

static void print_look(const struct flows *now, const struct row *rows,
		       const struct view *v, const struct classes *classes)
{
	size_t i, max = v->screen ? screen_rows() : now->n;
	const char *end = v->screen ? "\033[K\r" : "";

	if (opt.json) {
		print_json(now, rows, classes);
		return;
	}
	if (v->screen) {
		printf("\033[H");
		print_sums(now, rows, v);
	}
	if (classes) {
		classes_print(classes, end);
		max -= v->screen && max > classes->n + 2 ? classes->n + 2 : 0;
	}
	print_header(end);
	for (i = 0; i < now->n && i < max; i++)
		print_row(&rows[i], end);
	printf(v->screen ? "\033[J" : "\n");
	fflush(stdout);
}

/* Wait; a key that was pressed, or 0. */
static char wait_key(uint64_t ns, bool keys)
{
	struct timeval tv = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / 1000 };
	fd_set set;
	char c;

	FD_ZERO(&set);
	if (keys)
		FD_SET(STDIN_FILENO, &set);
	if (select(keys ? 1 : 0, &set, NULL, NULL, &tv) > 0 &&
	    read(STDIN_FILENO, &c, 1) == 1)
		return c;
	return 0;
}

static struct termios saved_terminal;
static atomic_int ended;

static void on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/* Keys one by one, the cursor away. */
static void terminal_begin(void)
{
	struct termios t;

	tcgetattr(STDIN_FILENO, &saved_terminal);
	t = saved_terminal;
	t.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
	printf("\033[?25l\033[2J");
}

static void terminal_end(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
	printf("\033[?25h\n");
}

/* Look, wait, look again. */
static void view_run(struct view *v)
{
	bool keys = v->screen && isatty(STDIN_FILENO);
	struct flows now, before = { 0 };
	uint32_t looks = 0;
	size_t i;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (keys)
		terminal_begin();
	while (!ended) {
		struct classes classes = { 0 };
		struct row *rows;
		char key;

		flows_read(&now, &v->filter);
		rows = make_rows(&now, &before);
		if (now.n && v->screen)
			qsort(rows, now.n, sizeof(*rows), v->order->compare);
		if (v->classes)
			classes_of(&classes, &now, &before);
		print_look(&now, rows, v, v->classes ? &classes : NULL);
		classes_free(&classes);
		free(rows);
		flows_free(&before);
		before = now;
		flows_by_cookie(&before);
		if (v->count && ++looks >= v->count)
			break;
		key = wait_key(v->interval_ns, keys);
		if (key == 'q')
			break;
		for (i = 0; i < ARRAY_SIZE(orders); i++)
			if (key == orders[i].name[0])
				v->order = &orders[i];
	}
	flows_free(&before);
	if (keys)
		terminal_end();
}

/* Words that both commands know. */
static void read_view(struct view *v, struct words *w)
{
	memset(v, 0, sizeof(*v));
	filter_init(&v->filter);
	parse_tcp_states("established", &v->filter.states);
	v->interval_ns = NSEC_PER_SEC;
	v->order = &orders[0];
	while (words_left(w)) {
		if (word_is(w, "interval")) {
			v->interval_ns = need_time_ns("interval",
						      word_value(w, "interval"));
			if (v->interval_ns < 1000)
				fail("interval: at least 1us");
		} else if (word_is(w, "count")) {
			v->count = need_u32("count", word_value(w, "count"), 1,
					    UINT32_MAX);
		} else if (word_is(w, "prio")) {
			v->filter.prio = need_u32("prio", word_value(w, "prio"),
						  0, FL_PRIORITY_MAX);
		} else if (word_is(w, "sort")) {
			const char *s = word_value(w, "sort");
			size_t i;

			for (i = 0; i < ARRAY_SIZE(orders); i++)
				if (!strcmp(s, orders[i].name))
					break;
			if (i == ARRAY_SIZE(orders))
				fail("sort %s: rate, prio or delay is wanted",
				     s);
			v->order = &orders[i];
		} else if (!filter_word(&v->filter, w)) {
			words_end(w);
		}
	}
}

int flow_watch(struct words *w)
{
	struct view v;

	read_view(&v, w);
	view_run(&v);
	filter_free(&v.filter);
	return EXIT_OK;
}

/* Not on a terminal it prints one table after the other, as watch does. */
int cmd_top(struct words *w)
{
	struct view v;

	if (words_help(w, top_usage))
		return EXIT_OK;
	read_view(&v, w);
	v.screen = !opt.json && isatty(STDOUT_FILENO);
	v.classes = true;
	view_run(&v);
	filter_free(&v.filter);
	return EXIT_OK;
}

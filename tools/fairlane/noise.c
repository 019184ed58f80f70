// SPDX-License-Identifier: GPL-2.0
/* fairlane noise: how much delays vary by themselves, and the channels of PrioPlus
 * that follow (its section 4.3.2, Figure 7, appendix D). noiseping.c measures.
 */
#include "noise.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
"usage: fairlane noise measure HOST|self [port PORT] [count N] [interval TIME]\n"
"                      [size BYTES] [clock kernel|user] [percentile P] [flows N]\n"
"                      [line-rate RATE] [ai BYTES] [target TIME] [apply [dst PREFIX]]\n"
"       fairlane noise respond [port PORT] [connections N]\n"
"measure sends messages to \"respond\" on HOST, or to any echo server, prints how the\n"
"delays are distributed and proposes B (noise) and, with line-rate, A (fluct) for so\n"
"many flows of a priority. apply sets them, for destinations of PREFIX if given.\n"
"Defaults: port 5207, count 10000, interval 100us, size 64, percentile 99.85,\n"
"flows 150, ai 150 bytes or what the profile has.\n";

#define PORT_DEFAULT	"5207"
#define COUNT_DEFAULT	10000
#define COUNT_MIN	1000
#define COUNT_MAX	10000000
#define INTERVAL_MAX_NS	(10 * NSEC_PER_SEC)
#define FLOWS_DEFAULT	150
#define AI_DEFAULT	150
#define AI_SYSCTL	"/proc/sys/net/fairlane/research/ai_bytes"
/* Largest that the settings take, ns; smallest B. */
#define SETTING_MAX_NS	50000000
#define NOISE_MIN_NS	1
#define BARS		20
#define BAR_WIDTH	40

/**
 * struct asked - the command line of measure
 * @how: of the measurement
 * @host: name or address, or "self"
 * @port: number or name
 * @per_myriad: percentile that B is, of 10000
 * @flows: n of appendix D
 * @line_bps: 0: no A is wanted
 * @ai_bytes: W_AI
 * @target_ns: 0: none given
 * @apply: set what is proposed
 * @dst: of these destinations, NULL: of all
 */
struct asked {
	struct noise_opts how;
	const char *host;
	const char *port;
	uint32_t per_myriad;
	uint32_t flows;
	uint64_t line_bps;
	uint32_t ai_bytes;
	uint64_t target_ns;
	bool apply;
	char *dst;
};

/* What is proposed. */
struct proposal {
	uint64_t noise_ns;
	uint64_t fluct_ns;	/* 0: not */
	char *command;		/* without "fairlane" */
};

static const struct {
	uint32_t per_myriad;
	const char *name;
} shown[] = {
	{ 5000, "p50" }, { 9000, "p90" }, { 9900, "p99" }, { 9985, "p99_85" },
	{ 9990, "p99_9" },
};

/* "99.85": of 10000. */
static uint32_t need_percentile(const char *s)
{
	uint64_t milli;

	if (!parse_milli(s, &milli) || milli < 50000 || milli > 100000 ||
	    milli % 10)
		fail("percentile: \"%s\" is no number from 50 to 100 with two decimals at most",
		     s);
	return milli / 10;
}

static uint64_t need_rate(const char *s)
{
	uint64_t bps;

	if (!parse_rate_bps(s, &bps) || bps < 1000000 || bps > 1600000000000ULL)
		fail("line-rate: \"%s\" is no rate from 1mbit to 1.6tbit", s);
	return bps;
}

/* Is it the kernel's? */
static bool need_clock(const char *s)
{
	if (strcmp(s, "kernel") && strcmp(s, "user"))
		fail("clock: \"%s\" is neither kernel nor user", s);
	return s[0] == 'k';
}

static const char *need_port(const char *s)
{
	uint64_t port;

	if (!parse_u64(s, 10, 65535, &port) || !port)
		fail("port: \"%s\" is no number from 1 to 65535", s);
	return s;
}

static void measure_words(struct words *w, struct asked *a)
{
	*a = (struct asked) {
		.how = { .count = COUNT_DEFAULT, .interval_ns = 100000,
			 .size = 64, .kernel_clock = true },
		.port = PORT_DEFAULT, .per_myriad = 9985,
		.flows = FLOWS_DEFAULT,
		.ai_bytes = sysctl_number(AI_SYSCTL, AI_DEFAULT),
	};
	if (!words_left(w))
		fail("noise measure: to which host? (its name or address, or self)");
	a->host = word_value(w, "HOST");
	if (a->host[0] == '-')
		fail("noise measure: \"%s\" is no host", a->host);
	while (words_left(w)) {
		if (word_is(w, "port"))
			a->port = need_port(word_value(w, "port"));
		else if (word_is(w, "count"))
			a->how.count = need_u32("count", word_value(w, "count"),
						COUNT_MIN, COUNT_MAX);
		else if (word_is(w, "interval"))
			a->how.interval_ns =
				need_time_ns("interval", word_value(w, "interval"));
		else if (word_is(w, "size"))
			a->how.size = need_u32("size", word_value(w, "size"),
					       NOISE_SIZE_MIN, NOISE_SIZE_MAX);
		else if (word_is(w, "clock"))
			a->how.kernel_clock = need_clock(word_value(w, "clock"));
		else if (word_is(w, "percentile"))
			a->per_myriad = need_percentile(word_value(w, "percentile"));
		else if (word_is(w, "flows"))
			a->flows = need_u32("flows", word_value(w, "flows"), 1,
					    100000);
		else if (word_is(w, "line-rate"))
			a->line_bps = need_rate(word_value(w, "line-rate"));
		else if (word_is(w, "ai"))
			a->ai_bytes = need_u32("ai", word_value(w, "ai"), 1,
					       1000000);
		else if (word_is(w, "target"))
			a->target_ns = need_time_ns("target",
						    word_value(w, "target"));
		else if (word_is(w, "apply"))
			a->apply = true;
		else if (word_is(w, "dst"))
			a->dst = xprintf("%s", word_value(w, "dst"));
		else
			fail("noise measure: \"%s\" means nothing here",
			     word_peek(w));
	}
	if (a->how.interval_ns > INTERVAL_MAX_NS)
		fail("interval: at most 10s");
	if (a->dst && !a->apply)
		fail("noise measure: dst is for apply");
}

/* ---- connections ------------------------------------------------------------ */

static struct addrinfo *resolve(const char *host, const char *port, int flags)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = flags,
	};
	struct addrinfo *list;
	int err = getaddrinfo(host, port, &hints, &list);

	if (err)
		fail_kernel("noise: %s: %s", host ?: "any address",
			    gai_strerror(err));
	return list;
}

/* A connection, or the end with a message. */
static int connect_to(const char *host, const char *port)
{
	struct addrinfo *list = resolve(host, port, 0), *at;
	int fd = -1;

	for (at = list; at; at = at->ai_next) {
		fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && !connect(fd, at->ai_addr, at->ai_addrlen))
			break;
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	if (fd < 0)
		fail_kernel("noise: no connection to %s port %s: %s (is \"fairlane noise respond\" running there?)",
			    host, port, strerror(errno));
	return fd;
}

/* A socket that listens; of both families where there is IPv6. */
static int listen_on(const char *host, const char *port)
{
	struct addrinfo *list = resolve(host, port, AI_PASSIVE), *at;
	int fd = -1, one = 1, zero = 0, turn;

	for (turn = 0; turn < 2 && fd < 0; turn++)
		for (at = list; at && fd < 0; at = at->ai_next) {
			if (at->ai_family != (turn ? AF_INET : AF_INET6))
				continue;
			fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
			if (fd < 0)
				continue;
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
			if (at->ai_family == AF_INET6)
				setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero,
					   sizeof(zero));
			if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 16)) {
				close(fd);
				fd = -1;
			}
		}
	freeaddrinfo(list);
	if (fd < 0)
		fail_kernel("noise: cannot listen on port %s: %s", port,
			    strerror(errno));
	return fd;
}

/* A responder of our own on the loopback, which ends with us. Return: connection. */
static int connect_to_self(void)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int listener, fd;
	char port[16];
	pid_t pid;

	listener = listen_on("127.0.0.1", "0");
	if (getsockname(listener, (struct sockaddr *)&addr, &len) ||
	    getnameinfo((struct sockaddr *)&addr, len, NULL, 0, port,
			sizeof(port), NI_NUMERICSERV))
		fail_kernel("noise: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		fail_kernel("noise: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			noise_respond(fd);
		_exit(0);
	}
	close(listener);
	return connect_to("127.0.0.1", port);
}

static int noise_serve(struct words *w)
{
	const char *port = PORT_DEFAULT;
	uint32_t left = 0, served = 0;
	int listener, fd;
	pid_t pid;

	while (words_left(w)) {
		if (word_is(w, "port"))
			port = need_port(word_value(w, "port"));
		else if (word_is(w, "connections"))
			left = need_u32("connections",
					word_value(w, "connections"), 1, 1000000);
		else
			fail("noise respond: \"%s\" means nothing here",
			     word_peek(w));
	}
	if (opt.check_only)
		return EXIT_OK;
	listener = listen_on(NULL, port);
	while (!left || served < left) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		served++;
		pid = fork();
		if (!pid) {
			close(listener);
			noise_respond(fd);
			_exit(0);
		}
		close(fd);
	}
	close(listener);
	while (wait(NULL) > 0)
		;
	return EXIT_OK;
}

/* ---- what has come out ------------------------------------------------------- */

static void propose(const struct asked *a, const struct noise_result *r,
		    struct proposal *p)
{
	p->noise_ns = noise_percentile(r, a->per_myriad);
	if (p->noise_ns < NOISE_MIN_NS)
		p->noise_ns = NOISE_MIN_NS;
	p->fluct_ns = 0;
	if (a->line_bps)
		p->fluct_ns = noise_fluctuation(a->flows, a->ai_bytes,
						a->line_bps, a->target_ns);
	if (p->noise_ns > SETTING_MAX_NS || p->fluct_ns > SETTING_MAX_NS)
		fail_kernel("noise: B of %s, A of %s: more than the %s that can be set",
			    show_time(p->noise_ns), show_time(p->fluct_ns),
			    show_time(SETTING_MAX_NS));
	p->command = xprintf("profile set %s%s%snoise %lluns", a->dst ? "dst " : "",
			     a->dst ?: "", a->dst ? " " : "",
			     (unsigned long long)p->noise_ns);
	if (p->fluct_ns) {
		char *longer = xprintf("%s fluct %lluns", p->command,
				       (unsigned long long)p->fluct_ns);

		free(p->command);
		p->command = longer;
	}
}

/* Noises from @from to below @to. */
static size_t count_between(const struct noise_result *r, uint64_t from,
			    uint64_t to)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->delay_ns[i] >= from && r->delay_ns[i] < to;
	return n;
}

/* Width of a bar of the histogram, which reaches to the percentile of B and half as far
 * again; the last bar has the rest.
 */
static uint64_t bar_ns(const struct proposal *p)
{
	uint64_t ns = p->noise_ns * 3 / 2 / (BARS - 1);

	return ns ? ns : 1;
}

static void show_histogram(const struct noise_result *r, const struct proposal *p)
{
	uint64_t width = bar_ns(p);
	size_t n[BARS], most = 1;
	int i, last = 0;

	for (i = 0; i < BARS; i++) {
		n[i] = count_between(r, i * width, i < BARS - 1 ?
				     (i + 1) * width : UINT64_MAX);
		most = n[i] > most ? n[i] : most;
		last = n[i] ? i : last;
	}
	for (i = 0; i <= last; i++) {
		int len = n[i] * BAR_WIDTH / most;

		printf("  %s %8s  %8zu  %.*s\n", i < BARS - 1 ? "<" : ">",
		       show_time((i < BARS - 1 ? i + 1 : i) * width), n[i], len,
		       "########################################");
	}
}

static const char *clock_text(const struct noise_result *r)
{
	return !r->kernel_clock ? "of the two processes" :
	       r->told ? "the kernels'" :
	       "the kernel's, with the time of the process on the other side";
}

static void show_result(const struct asked *a, const struct noise_result *r,
			const struct noise_stats *st, const struct proposal *p)
{
	size_t i;

	printf("%zu delays of %zu bytes, times %s\n", r->n, a->how.size,
	       clock_text(r));
	if (r->discarded)
		printf("%llu without a usable time\n",
		       (unsigned long long)r->discarded);
	printf("smallest %s; above it mean %s", show_time(st->min_ns),
	       show_time(st->mean_ns));
	for (i = 0; i < ARRAY_SIZE(shown); i++)
		printf(" p%g %s", shown[i].per_myriad / 100.0,
		       show_time(noise_percentile(r, shown[i].per_myriad)));
	printf(" max %s\n", show_time(st->max_ns));
	show_histogram(r, p);
	printf("B = %s (p%g)", show_time(p->noise_ns), a->per_myriad / 100.0);
	if (p->fluct_ns)
		printf(", A = %s (%u flows, %s, %u bytes)",
		       show_time(p->fluct_ns), a->flows, show_rate(a->line_bps),
		       a->ai_bytes);
	printf("\n%s: fairlane %s\n", a->apply ? "set" : "to set", p->command);
}

static void print_json(const struct asked *a, const struct noise_result *r,
		       const struct noise_stats *st, const struct proposal *p)
{
	cJSON *doc = cJSON_CreateObject(), *noise, *list, *bar;
	uint64_t width = bar_ns(p);
	size_t i;

	cJSON_AddStringToObject(doc, "host", a->host);
	cJSON_AddStringToObject(doc, "clock", r->kernel_clock ? "kernel" : "user");
	cJSON_AddBoolToObject(doc, "responder_time_excluded", r->told);
	json_u64(doc, "delays", r->n);
	json_u64(doc, "discarded", r->discarded);
	json_u64(doc, "size_bytes", a->how.size);
	json_u64(doc, "interval_ns", a->how.interval_ns);
	json_u64(doc, "delay_min_ns", st->min_ns);
	noise = cJSON_AddObjectToObject(doc, "noise_ns");
	json_u64(noise, "mean", st->mean_ns);
	for (i = 0; i < ARRAY_SIZE(shown); i++)
		json_u64(noise, shown[i].name,
			 noise_percentile(r, shown[i].per_myriad));
	json_u64(noise, "max", st->max_ns);
	list = cJSON_AddArrayToObject(doc, "histogram");
	for (i = 0; i < BARS; i++) {
		bar = cJSON_CreateObject();
		json_u64(bar, "from_ns", i * width);
		json_u64(bar, "count", count_between(r, i * width, i < BARS - 1 ?
						     (i + 1) * width : UINT64_MAX));
		cJSON_AddItemToArray(list, bar);
	}
	json_u64(doc, "b_ns", p->noise_ns);
	cJSON_AddNumberToObject(doc, "b_percentile", a->per_myriad / 100.0);
	if (p->fluct_ns) {
		json_u64(doc, "a_ns", p->fluct_ns);
		json_u64(doc, "flows", a->flows);
		json_u64(doc, "line_rate_mbps", a->line_bps / 1000000);
		json_u64(doc, "ai_bytes", a->ai_bytes);
	}
	json_text(doc, "command", "fairlane %s", p->command);
	cJSON_AddBoolToObject(doc, "applied", a->apply);
	json_print(doc);
}

/* As if the proposed command had been given. */
static void apply(const struct proposal *p)
{
	char *text = xprintf("%s", p->command), *v[12], *at = text;
	struct words w = { .v = v };
	bool json = opt.json;

	opt.json = false;	/* measure prints the document */
	while (w.n < (int)ARRAY_SIZE(v) && (v[w.n] = strsep(&at, " ")))
		w.n++;
	if (run_words(&w) != EXIT_OK)
		exit(EXIT_KERNEL);
	opt.json = json;
	free(text);
}

static int measure(struct words *w)
{
	struct noise_result r = { 0 };
	struct noise_stats st;
	struct proposal p;
	struct prefix dst;
	struct asked a;

	measure_words(w, &a);
	if (a.dst && !parse_prefix(a.dst, false, &dst))
		fail("dst: \"%s\" is no prefix", a.dst);
	if (opt.check_only)
		return EXIT_OK;
	signal(SIGPIPE, SIG_IGN);
	r.delay_ns = xalloc(a.how.count * sizeof(*r.delay_ns));
	noise_ping(strcmp(a.host, "self") ? connect_to(a.host, a.port) :
					    connect_to_self(), &a.how, &r);
	if (r.n < COUNT_MIN * 9 / 10)
		fail_kernel("noise: only %zu of %llu messages have a usable time; try \"clock user\"",
			    r.n, (unsigned long long)a.how.count);
	noise_sort(&r, &st);
	propose(&a, &r, &p);
	if (a.apply)
		apply(&p);
	if (opt.json)
		print_json(&a, &r, &st, &p);
	else
		show_result(&a, &r, &st, &p);
	free(p.command);
	free(a.dst);
	free(r.delay_ns);
	return EXIT_OK;
}

int cmd_noise(struct words *w)
{
	static const struct command list[] = {
		{ "measure", measure }, { "respond", noise_serve },
	};

	return command_run(list, ARRAY_SIZE(list), "noise", NULL, usage, w);
}

// SPDX-License-Identifier: GPL-2.0
/* Memory, text and file helpers of the lab's host runner. */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Print one sentence on stderr. */
static void complain(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("lab: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/* Print one sentence and leave with the code for bad use. */
void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	exit(LAB_USAGE);
}

/* The same because of what a run left behind. */
void die_unclean(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	exit(LAB_UNCLEAN);
}

/* malloc that cannot fail. */
void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		die("out of memory (%zu bytes asked)", size);
	return p;
}

/* Zeroed memory that cannot fail. */
void *xzalloc(size_t size)
{
	void *p = xmalloc(size);

	memset(p, 0, size);
	return p;
}

/* strdup that cannot fail. */
char *xstrdup(const char *s)
{
	size_t len = strlen(s) + 1;

	return memcpy(xmalloc(len), s, len);
}

static char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		die("out of memory");
	return s;
}

/* Allocate formatted text. */
char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

/* Make room for item number @count in @array; sizes are powers of two. */
void *grow(void *array, int count, size_t item_size)
{
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * (size_t)count : 1) * item_size);
	if (!array)
		die("out of memory");
	return array;
}

/* Append @s, which the list owns from now on. */
void strv_add(struct strv *v, char *s)
{
	v->s = grow(v->s, v->n, sizeof(*v->s));
	v->s[v->n++] = s;
}

/* Append formatted text. */
void strv_addf(struct strv *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_add(v, xvasprintf(fmt, ap));
	va_end(ap);
}

/* Is @s in the list? */
bool strv_has(const struct strv *v, const char *s)
{
	int i;

	for (i = 0; i < v->n; i++)
		if (!strcmp(v->s[i], s))
			return true;
	return false;
}

/* Append the parts of @text between @sep, without blanks around them. */
void strv_split(struct strv *v, const char *text, char sep)
{
	const char *p = text;

	while (*p) {
		const char *end = strchrnul(p, sep);
		const char *a = p, *b = end;

		while (a < b && (*a == ' ' || *a == '\t'))
			a++;
		while (b > a && (b[-1] == ' ' || b[-1] == '\t'))
			b--;
		if (b > a)
			strv_addf(v, "%.*s", (int)(b - a), a);
		p = *end ? end + 1 : end;
	}
}

/* Append raw bytes; the buffer stays NUL-terminated. */
void buf_add(struct buf *b, const char *s, size_t len)
{
	if (b->len + len + 1 > b->room) {
		b->room = 2 * (b->len + len + 1);
		b->s = realloc(b->s, b->room);
		if (!b->s)
			die("out of memory");
	}
	memcpy(b->s + b->len, s, len);
	b->len += len;
	b->s[b->len] = 0;
}

/* Append formatted text. */
void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	buf_add(b, s, strlen(s));
	free(s);
}

/* Read all of @fd; NULL on error. */
static char *read_fd(int fd, size_t *len)
{
	struct buf b = { 0 };
	char chunk[65536];
	ssize_t n;

	buf_add(&b, "", 0);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(b.s);
			return NULL;
		}
		buf_add(&b, chunk, n);
	}
	if (len)
		*len = b.len;
	return b.s;
}

/* Read a whole file as NUL-terminated text; NULL with errno if it fails. */
char *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *s;

	if (fd < 0)
		return NULL;
	s = read_fd(fd, len);
	close(fd);
	return s;
}

/* Replace the file by @text or die. */
void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		die("cannot write %s: %s", path, strerror(errno));
}

/* Open a result file in @dir for writing or die. */
FILE *open_out(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	if (!f)
		die("cannot write %s: %s", path, strerror(errno));
	free(path);
	return f;
}

/* Close a result file and die if anything was not written. */
void close_out(FILE *f, const char *dir, const char *name)
{
	bool bad = ferror(f);

	if (fclose(f) || bad)
		die("cannot write %s/%s: %s", dir, name, strerror(errno));
}

/* mkdir -p or die. */
void make_dirs(const char *path)
{
	size_t n = 0;

	while (path[n]) {
		char *p;

		n += 1 + strcspn(path + n + 1, "/");
		p = xasprintf("%.*s", (int)n, path);
		if (mkdir(p, 0777) && errno != EEXIST)
			die("cannot make folder %s: %s (--out names another)", p, strerror(errno));
		free(p);
	}
}

/* Run a program with arguments up to NULL and return what it printed on stdout;
 * its stderr is ours. *status gets the wait status, -1 if it did not start.
 */
char *run_capture(int *status, const char *program, ...)
{
	const char *argv[32];
	int fd[2], n = 0;
	va_list ap;
	char *text;
	pid_t pid;

	argv[n++] = program;
	va_start(ap, program);
	while (n < 31 && (argv[n] = va_arg(ap, const char *)))
		n++;
	va_end(ap);
	argv[n] = NULL;
	*status = -1;
	if (pipe2(fd, O_CLOEXEC))
		return NULL;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(fd[1], 1);
		execvp(program, (char *const *)argv);
		_exit(127);
	}
	close(fd[1]);
	text = pid > 0 ? read_fd(fd[0], NULL) : NULL;
	close(fd[0]);
	if (pid > 0)
		waitpid(pid, status, 0);
	return text;
}

/* Remove a folder with everything in it. */
void remove_tree(const char *path)
{
	int status;

	free(run_capture(&status, "rm", "-rf", "--", path, NULL));
}

/* Does @name match the shell pattern, where h[1-12] is a numeric range? */
bool name_match(const char *pattern, const char *name)
{
	const char *open = strchr(pattern, '[');
	int lo, hi, used = 0, num, end = 0;

	if (open && sscanf(open, "[%d-%d]%n", &lo, &hi, &used) == 2 && used) {
		size_t head = open - pattern;

		if (strncmp(pattern, name, head) ||
		    sscanf(name + head, "%d%n", &num, &end) != 1)
			return false;
		return num >= lo && num <= hi &&
		       name_match(open + used, name + head + end);
	}
	return !fnmatch(pattern, name, 0);
}

/* Start a stream of random numbers that depends on seed and purpose only. */
void rng_seed(struct rng *r, uint64_t seed, const char *purpose)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *purpose; purpose++)
		h = (h ^ (unsigned char)*purpose) * 0x100000001b3ULL;
	r->s = h ^ (seed * 0x9e3779b97f4a7c15ULL);
}

/* Next 64 random bits (splitmix64). */
uint64_t rng_u64(struct rng *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Uniform integer in [0, limit); 0 if limit is 0. */
uint64_t rng_below(struct rng *r, uint64_t limit)
{
	return limit ? rng_u64(r) % limit : 0;
}

/* Uniform real number in (0, 1]. */
double rng_unit(struct rng *r)
{
	return ((rng_u64(r) >> 11) + 1) / 9007199254740992.0;
}

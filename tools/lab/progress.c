// SPDX-License-Identifier: GPL-2.0
/* Show how far the guest is: it says so on its console in lines
 * "LAB: <percent> <virtual microseconds> <what>".
 */
#include "boot.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds on the host's clock. */
double wall_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Start of a run. */
void progress_init(struct progress *p, bool quiet)
{
	memset(p, 0, sizeof(*p));
	p->quiet = quiet;
	p->tty = isatty(2);
	p->percent = -10;
	p->start_s = wall_seconds();
}

/* One line of the guest; on a terminal the display moves in place, elsewhere a
 * line appears for every tenth of the run.
 */
void progress_line(struct progress *p, const char *line)
{
	char what[64] = "";
	double us;
	int percent;

	if (p->quiet ||
	    sscanf(line, "LAB: %d %lf %63[^\n]", &percent, &us, what) < 2)
		return;
	if (p->tty)
		fprintf(stderr, "\r  %3d %%  %9.3f ms virtual  %5.1f s  %-12s",
			percent, us / 1e3, wall_seconds() - p->start_s, what);
	else if (percent / 10 > p->percent / 10)
		fprintf(stderr, "  %3d %%  %9.3f ms virtual  %5.1f s\n",
			percent, us / 1e3, wall_seconds() - p->start_s);
	else
		return;
	p->percent = percent;
	p->shown = true;
	fflush(stderr);
}

/* End of the run: leave the terminal's line clean. */
void progress_end(struct progress *p)
{
	if (p->shown && p->tty)
		fprintf(stderr, "\r%70s\r", "");
}

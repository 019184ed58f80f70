// SPDX-License-Identifier: GPL-2.0
/*
 * space CONTROL[/SPACE] SEED [DIMENSION=VALUE]... - a random set-up as a scenario of
 * the lab, on standard output. The same arguments give the same scenario.
 */
#include "space.h"

#include <stdlib.h>
#include <string.h>

/* The last one is NULL. */
static const struct space_control *const controls[] = {
	&space_prioplus,
	&space_soze,
	&space_expresspass,
	&space_flexpass,
	&space_hpcc,
	&space_mlcc,
	&space_powertcp,
	NULL,
};

static void usage(void)
{
	size_t i, k;

	fputs("space CONTROL[/SPACE] SEED [DIMENSION=VALUE]...; there are:\n",
	      stderr);
	for (i = 0; controls[i]; i++)
		for (k = 0; controls[i]->spaces[k]; k++)
			fprintf(stderr, "  %s/%s\n", controls[i]->name,
				controls[i]->spaces[k]);
	exit(2);
}

/* Find "CONTROL" or "CONTROL/SPACE". */
static const struct space_control *find(struct space_setup *s, const char *what)
{
	const struct space_control *c;
	size_t i, k, len = strcspn(what, "/");

	for (i = 0; controls[i]; i++) {
		c = controls[i];
		if (strlen(c->name) != len || strncmp(c->name, what, len))
			continue;
		s->control = c->name;
		for (k = 0; c->spaces[k]; k++) {
			s->space = c->spaces[k];
			if (!what[len] || !strcmp(what + len + 1, s->space))
				return c;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct space_control *c;
	struct space_setup s = { 0 };
	int i;

	if (argc < 3)
		usage();
	c = find(&s, argv[1]);
	if (!c || !seed_read(argv[2], &s.seed))
		usage();
	for (i = 3; i < argc; i++)
		dim_give(&s, argv[i]);
	c->draw(&s);
	dim_check(&s);
	(c->write ? c->write : path_write)(&s, stdout);
	return fflush(stdout) || ferror(stdout);
}

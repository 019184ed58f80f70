// SPDX-License-Identifier: GPL-2.0
/* Kernels that are not the lab's: Debian's stock ones in QEMU, and the one that
 * runs here. Their processor takes time: a scenario runs in real time there, the
 * emulated machine's or this one's.
 */
#include "boot.h"
#include "scenario.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a packet takes of the processor for each link that it goes over, with its share of
 * the acknowledgment. An estimate on the safe side: selftests/machine/unused counts some 6000
 * instructions for both ends and one link without a qdisc, and an instruction is 1 ns there.
 */
#define HOP_NS		8000
/* Above that the processor is what limits, not the links. */
#define LOAD_MOST	0.5

bool kernel_is_uml(const char *kernel)
{
	return !strcmp(kernel, "uml") || !strcmp(kernel, "uml-debug");
}

/* Die if there is no kernel of that name: "prepare" knows those that are not the lab's. */
void kernel_known(const char *kernel)
{
	static const char *const others[] = { "debian-6.1", "debian-6.12",
					      "debian-newest", "host" };
	size_t i;

	if (kernel_is_uml(kernel))
		return;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(kernel, others[i]))
			return;
	die("no kernel \"%s\": there are uml, uml-debug, debian-6.1, debian-6.12, debian-newest and host",
	    kernel);
}

/* Make @kernel ready: compile our modules for it, get its image. Returns what
 * machine_exec() boots; dies with the cure if it cannot be had.
 */
char *machine_kernel(const char *kernel)
{
	char *script = xasprintf("%s/tools/lab/machine/prepare", path_root());
	char *image;
	int status;

	if (!strcmp(kernel, "host") && geteuid())
		die("--kernel host makes network namespaces and loads modules here: that takes root");
	setenv("O", path_build(), 1);
	image = run_capture(&status, script, kernel, NULL);
	if (!image || status)
		die("no kernel \"%s\": see above", kernel);
	image[strcspn(image, "\n")] = 0;
	free(script);
	return image;
}

/* Become the machine with kernel @image that runs the plan in the run's folder.
 * Returns only if that fails.
 */
void machine_exec(const struct boot *b, const char *image, const char *tmp)
{
	char *script = xasprintf("%s/tools/lab/machine/boot", path_root());
	char *seed = xasprintf("%llu", (unsigned long long)b->seed + 1);
	char *plan = xasprintf("%s/raw/plan.json", b->dir);

	setenv("O", path_build(), 1);
	if (strcmp(b->kernel, "host")) {
		execl(script, script, image, b->dir, seed, tmp, NULL);
		return;
	}
	setenv("LAB_PLAN", plan, 1);
	setenv("LAB_HOST", "1", 1);
	if (!chdir(b->dir))
		execlp("unshare", "unshare", "--mount", "--pid", "--net",
		       "--fork", "--kill-child", path_labinit(), NULL);
}

/* Sum of the line rates of the hosts that flows of @sc come from, or go to. */
static double rates_bps(const struct scenario *sc, bool from)
{
	bool *seen = xzalloc((sc->nodes + 1) * sizeof(*seen));
	double sum = 0;
	int i;

	for (i = 0; i < sc->flows; i++) {
		const struct node *n = from ? sc->flow[i].src :
					      sc->flow[i].dst;

		if (seen[n->index] || !n->ports)
			continue;
		seen[n->index] = true;
		if (!n->port[0]->p.rate_bps || n->port[0]->p.veth) {
			sum = 0;
			break;
		}
		sum += n->port[0]->p.rate_bps;
	}
	free(seen);
	return sum;
}

/* Most links that a packet of @sc goes over. */
static int most_hops(const struct scenario *sc)
{
	int i, most = 1;

	for (i = 0; i < sc->flows; i++) {
		int hops = hops_between(sc, sc->flow[i].src, sc->flow[i].dst);

		if (hops > most)
			most = hops;
	}
	return most;
}

/* Can @sc run in real time, the processor not being what limits it? Dies if not. */
void machine_check(const struct scenario *sc, const char *kernel)
{
	double from = rates_bps(sc, true), to = rates_bps(sc, false);
	double bps = from && (!to || from < to) ? from : to, load;
	int hops;

	/* of an unknown one "prepare" tells */
	if ((strncmp(kernel, "debian-", 7) && strcmp(kernel, "host")) || !sc->flows)
		return;
	if (!bps)
		die("%s: a link without a rate: with --kernel %s the processor would be its limit; give it a rate",
		    sc->path, kernel);
	hops = most_hops(sc);
	load = bps / 8 / (sc->flow[0].src->port[0]->p.mtu ?: 1500) * hops *
	       HOP_NS / 1e9;
	if (load > LOAD_MOST)
		die("%s: %.0f Mbit/s over %d links would take %.0f %% of the processor's time on kernel %s, and a half leaves room for what is not even: lower the rates below %.0f Mbit/s in all (--set), or use the virtual time of --kernel uml",
		    sc->path, bps / 1e6, hops, load * 100, kernel,
		    bps / 1e6 * LOAD_MOST / load);
}

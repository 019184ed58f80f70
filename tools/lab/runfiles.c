// SPDX-License-Identifier: GPL-2.0
/* Read what the guest left in raw/. */
#include "run.h"
#include "measures.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* raw/meta.json: time zero and what was counted. */
static char *load_meta(struct run *run)
{
	char *path = xasprintf("%s/raw/meta.json", run->dir);
	char *text = read_file(path, NULL);
	cJSON *json = text ? cJSON_Parse(text) : NULL;
	cJSON *t0 = cJSON_GetObjectItem(json, "t0_ns");
	cJSON *kernel = cJSON_GetObjectItem(json, "kernel");
	cJSON *hops = cJSON_GetObjectItem(json, "packets_forwarded");
	cJSON *lost = cJSON_GetObjectItem(json, "taps_lost");
	char *error = NULL;

	if (!cJSON_IsNumber(t0))
		error = xasprintf("%s is missing or broken", path);
	else
		run->t0_ns = (int64_t)t0->valuedouble;
	run->kernel = xstrdup(cJSON_IsString(kernel) ? kernel->valuestring :
						       "unknown");
	if (cJSON_IsNumber(hops))
		run->packets_forwarded = hops->valuedouble;
	if (!error && cJSON_IsNumber(lost) && lost->valuedouble > 0)
		error = xasprintf("%.0f packets were not recorded: fewer recorded ports or a shorter run",
				  lost->valuedouble);
	cJSON_Delete(json);
	free(text);
	free(path);
	return error;
}

/* raw/flows.csv: one line a flow. */
static char *load_flows(struct run *run)
{
	char *path = xasprintf("%s/raw/flows.csv", run->dir), *line = NULL;
	FILE *f = fopen(path, "re");
	char *error = NULL;
	size_t room = 0;
	int number = 0, i;

	run->flow = xzalloc(sizeof(*run->flow) * (run->sc->flows + 1));
	if (!f) {
		error = xasprintf("cannot read %s: %s", path, strerror(errno));
		free(path);
		return error;
	}
	while (!error && getline(&line, &room, f) > 0) {
		struct flow_result r = { .seen = true };
		long long v[8];

		if (!number++)
			continue;
		if (sscanf(line, "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%23[^,\n]",
			   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
			   &v[7], r.state) < 8 || v[0] < 0 ||
		    v[0] >= run->sc->flows) {
			error = xasprintf("%s:%d: broken line", path, number);
			break;
		}
		r.connect_ns = v[1];
		r.start_ns = v[2];
		r.end_ns = v[3];
		r.bytes_sent = v[4];
		r.bytes_acked = v[5];
		r.bytes_received = v[6];
		r.retransmits = v[7];
		run->flow[v[0]] = r;
	}
	for (i = 0; !error && i < run->sc->flows; i++)
		if (!run->flow[i].seen)
			error = xasprintf("%s: flow %d is missing", path, i);
	fclose(f);
	free(line);
	free(path);
	return error;
}

/* raw/pkts.bin: mapped, not read. */
static char *load_packets(struct run *run)
{
	char *path = xasprintf("%s/raw/pkts.bin", run->dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *error = NULL;
	struct stat st;
	void *p;

	if (!run->sc->taps) {
		if (fd >= 0)
			close(fd);
		free(path);
		return NULL;
	}
	if (fd < 0 || fstat(fd, &st)) {
		error = xasprintf("cannot read %s: %s", path, strerror(errno));
		free(path);
		return error;
	}
	run->recs = st.st_size / sizeof(*run->rec);
	if (st.st_size % sizeof(*run->rec))
		error = xasprintf("%s is broken: not a whole number of records",
				  path);
	else if (run->recs >= plan_tap_records(run->sc))
		error = xasprintf("the recorders were full (%zu packets)",
				  run->recs);
	if (!error && st.st_size) {
		p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			error = xasprintf("cannot map %s: %s", path,
					  strerror(errno));
		run->rec = p;
	}
	close(fd);
	free(path);
	return error;
}

/* Put the records in order of time. They nearly are: the start of a
 * transmission is known exactly, while a drop is seen when it happens, so
 * neighbours may change places.
 */
static void sort_packets(struct run *run)
{
	struct labtap_rec *r = NULL, x;
	size_t i, k;

	for (i = 1; i < run->recs; i++) {
		if (run->rec[i].t_ns >= run->rec[i - 1].t_ns)
			continue;
		if (!r) {
			r = xmalloc(run->recs * sizeof(*r));
			memcpy(r, run->rec, run->recs * sizeof(*r));
			run->rec = r;
		}
		x = r[i];
		for (k = i; k && r[k - 1].t_ns > x.t_ns; k--)
			r[k] = r[k - 1];
		r[k] = x;
	}
}

/* Taps that a record may name must be ours. */
static char *check_packets(struct run *run)
{
	size_t i;

	for (i = 0; i < run->recs; i++) {
		if (run->rec[i].tap >= run->sc->taps)
			return xasprintf("raw/pkts.bin is broken at record %zu",
					 i);
		if (run->rec[i].wire_len > run->longest_wire)
			run->longest_wire = run->rec[i].wire_len;
	}
	return NULL;
}

/* Load a run's raw files. Returns NULL, or one sentence what is wrong. */
char *run_load(struct run *run, const struct scenario *sc, const char *dir)
{
	char *error;

	memset(run, 0, sizeof(*run));
	run->sc = sc;
	run->dir = dir;
	error = load_meta(run);
	if (!error)
		error = load_flows(run);
	if (!error)
		error = load_packets(run);
	if (!error)
		error = check_packets(run);
	if (!error)
		sort_packets(run);
	return error;
}

/* When a flow started: as planned, or when its gate opened. One that still waited
 * at the end counts as if it had started then.
 */
int64_t run_start_ns(const struct run *run, const struct flow *f)
{
	if (f->gate < 0)
		return f->start_ns;
	if (run->flow[f->id].start_ns == NEVER)
		return run->sc->duration_ns - 1;
	return run->flow[f->id].start_ns;
}

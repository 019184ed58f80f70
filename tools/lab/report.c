// SPDX-License-Identifier: GPL-2.0
/* report.html: one file with the numbers, the plots and the environment of a
 * run. It is made from the run's result files alone and is as repeatable as
 * they are; the machine's speed, which is not, is shown from raw/speed.txt.
 */
#include "results.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const style[] = {
	"body{font:15px/1.45 sans-serif;max-width:1000px;margin:2em auto;",
	"padding:0 1em;color:#222}",
	"table{border-collapse:collapse;margin:1em 0}",
	"td,th{padding:.25em .8em;border-bottom:1px solid #ddd;text-align:right}",
	"td:first-child,th:first-child{text-align:left;font-family:monospace}",
	".ok{color:#176b1e}.bad{color:#b00020;font-weight:bold}",
	"pre{background:#f6f6f6;padding:1em;overflow:auto}",
	"svg{max-width:100%;height:auto}object{height:3em;width:100%}",
};

/* A JSON file of a run or die. */
cJSON *json_file(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *text;
	cJSON *json;

	text = read_file(path, NULL);
	if (!text)
		die("cannot read %s: %s", path, strerror(errno));
	json = cJSON_Parse(text);
	if (!json)
		die("%s is not valid JSON", path);
	free(text);
	free(path);
	return json;
}

/* The style sheet of all reports. */
void put_style(FILE *f)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(style); i++)
		fputs(style[i], f);
}

/* Text with the characters HTML gives a meaning replaced. */
void put_html(FILE *f, const char *s)
{
	for (; s && *s; s++) {
		switch (*s) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		default:
			fputc(*s, f);
		}
	}
}

/* Text of a member, "" if there is none. */
const char *json_text(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(m) ? m->valuestring : "";
}

/* The table of measures, with a column for each reference. */
static void put_measures(FILE *f, const cJSON *summary)
{
	const cJSON *measures = cJSON_GetObjectItem(summary, "measures");
	const cJSON *units = cJSON_GetObjectItem(summary, "units");
	const cJSON *refs = cJSON_GetObjectItem(summary, "references");
	const cJSON *m, *r;

	fputs("<table><tr><th>measure</th><th>this run</th>", f);
	cJSON_ArrayForEach(r, refs) {
		fputs("<th>", f);
		put_html(f, r->string);
		fputs("</th>", f);
	}
	fputs("</tr>\n", f);
	cJSON_ArrayForEach(m, measures) {
		double v = cJSON_IsNumber(m) ? m->valuedouble : NAN;

		fputs("<tr><td>", f);
		put_html(f, m->string);
		fprintf(f, "</td><td>%s</td>",
			fmt_value(v, json_text(units, m->string)));
		cJSON_ArrayForEach(r, refs) {
			fputs("<td>", f);
			put_html(f, json_text(r, m->string));
			fputs("</td>", f);
		}
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
}

/* The list of expectations with their verdicts. */
static void put_expectations(FILE *f, const cJSON *summary)
{
	const cJSON *list = cJSON_GetObjectItem(summary, "expectations"), *e;

	if (!cJSON_GetArraySize(list))
		return;
	fputs("<h2>Expectations</h2><table>\n", f);
	cJSON_ArrayForEach(e, list) {
		bool pass = cJSON_IsTrue(cJSON_GetObjectItem(e, "pass"));

		fputs("<tr><td>", f);
		put_html(f, json_text(e, "text"));
		fprintf(f, "</td><td class=\"%s\">%s</td></tr>\n",
			pass ? "ok" : "bad", pass ? "holds" : "fails");
	}
	fputs("</table>\n", f);
}

/* A plot, inline; nothing if it was not drawn. */
void put_svg(FILE *f, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	char *text = read_file(path, NULL);
	const char *svg = text ? strstr(text, "<svg") : NULL;

	if (svg)
		fprintf(f, "<figure>%s</figure>\n", svg);
	free(text);
	free(path);
}

/* Write report.html. */
void report_dir(const char *dir)
{
	cJSON *summary = json_file(dir, "summary.json");
	cJSON *environment = json_file(dir, "environment.json");
	bool passed = cJSON_IsTrue(cJSON_GetObjectItem(summary, "passed"));
	FILE *f = open_out(dir, "report.html");
	const cJSON *p;
	char *text;

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
	      f);
	put_html(f, json_text(summary, "title"));
	fputs("</title><style>", f);
	put_style(f);
	fputs("</style></head><body>\n<h1>", f);
	put_html(f, json_text(summary, "title"));
	fputs("</h1>\n<p>", f);
	put_html(f, json_text(summary, "description"));
	fprintf(f, "</p>\n<p>Scenario <code>");
	put_html(f, json_text(summary, "scenario"));
	fprintf(f, "</code>, seed %.0f",
		cJSON_GetObjectItem(summary, "seed")->valuedouble);
	cJSON_ArrayForEach(p, cJSON_GetObjectItem(summary, "params")) {
		fputs(", ", f);
		put_html(f, p->string);
		fputs(" = ", f);
		put_html(f, p->valuestring);
	}
	fprintf(f, ". <span class=\"%s\">%s</span></p>\n",
		passed ? "ok" : "bad",
		passed ? "Clean run, every expectation held." :
			 "An expectation failed.");
	put_svg(f, dir, "throughput.svg");
	put_svg(f, dir, "queue.svg");
	put_svg(f, dir, "fct.svg");
	fputs("<h2>Measures</h2>\n", f);
	put_measures(f, summary);
	put_expectations(f, summary);
	fputs("<h2>Speed on the machine that ran it</h2>\n<object data=\"raw/speed.txt\" type=\"text/plain\">see raw/speed.txt beside this report</object>\n",
	      f);
	fputs("<h2>Environment</h2>\n<pre>", f);
	text = cJSON_Print(environment);
	put_html(f, text);
	fputs("</pre>\n</body></html>\n", f);
	free(text);
	close_out(f, dir, "report.html");
	cJSON_Delete(summary);
	cJSON_Delete(environment);
}

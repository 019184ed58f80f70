// SPDX-License-Identifier: GPL-2.0
/* lab compare's table as text, reStructuredText, HTML and JSON. */
#include "compare.h"
#include "results.h"

#include <stdlib.h>
#include <string.h>

/* Cell of a table. */
static const char *cell(const struct table *t, int row, int col)
{
	return t->cell[row * t->cols + col];
}

/* Characters of a text in UTF-8. */
static int characters(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* Widest text of each column. */
static int *widths(const struct table *t)
{
	int *w = xzalloc(sizeof(*w) * t->cols), r, c;

	for (r = 0; r < t->rows; r++)
		for (c = 0; c < t->cols; c++)
			if (characters(cell(t, r, c)) > w[c])
				w[c] = characters(cell(t, r, c));
	return w;
}

/* A row with blanks to the columns' widths, none at the end. */
static void put_row(FILE *f, const struct table *t, int row, const int *w)
{
	int c, last = t->cols - 1, pad = 0;

	while (last > 0 && !cell(t, row, last)[0])
		last--;
	for (c = 0; c <= last; c++) {
		const char *text = cell(t, row, c);

		fprintf(f, "%*s%s", pad, "", text);
		pad = w[c] - characters(text) + 2;
	}
	fputc('\n', f);
}

/* A line of @sign below or above the columns. */
static void put_rule(FILE *f, const struct table *t, const int *w, char sign)
{
	int c, k;

	for (c = 0; c < t->cols; c++) {
		fputs(c ? "  " : "", f);
		for (k = 0; k < (w[c] ? w[c] : 1); k++)
			fputc(sign, f);
	}
	fputc('\n', f);
}

/* The table for a terminal, verdict and speed. */
void compare_text(FILE *f, const struct comparison *c)
{
	int *w = widths(&c->table), i;

	fprintf(f, "%s\n\n", c->title);
	if (c->table.rows == 1) {
		fputs("No value has a reference or an expectation on its median: --rows PATTERN shows those whose names match (--rows '*': all).\n",
		      f);
	} else {
		put_row(f, &c->table, 0, w);
		put_rule(f, &c->table, w, '-');
	}
	for (i = 1; i < c->table.rows; i++)
		put_row(f, &c->table, i, w);
	fprintf(f, "\nMedian (smallest .. largest) of %d runs with other seeds.\n",
		c->sides.s[0].runs);
	for (i = 0; i < c->sides.n; i++) {
		const struct side *s = &c->sides.s[i];

		fprintf(f, "%s: %s; %.0f packets x hops per wall second\n",
			s->label, s->clean_runs < s->runs ?
			"some runs were not clean" : s->passed ?
			"all expectations held" : "an EXPECTATION FAILED",
			s->speed);
	}
	free(w);
}

/* What separates words. */
static const char blanks[] = "\n\t ";

/* Text in lines of at most 80 characters; the first one begins at @column. */
static void put_wrapped(FILE *f, const char *text, int column)
{
	while (*(text += strspn(text, blanks))) {
		int len = strcspn(text, blanks);

		if (column && column + 1 + len > 80) {
			fputc('\n', f);
			column = 0;
		}
		column += fprintf(f, "%s%.*s", column ? " " : "", len, text);
		text += len;
	}
	fputs("\n\n", f);
}

/* What a side's scenario says of itself. */
static const char *description(const struct comparison *c, int side)
{
	return json_text(c->sides.s[side].summary, "description");
}

/* Each description once, with the names of the sides that share it unless all do. */
static void put_descriptions(FILE *f, const struct comparison *c)
{
	int i, k, shared, column;

	for (i = 0; i < c->sides.n; i++) {
		const char *text = description(c, i);

		for (k = 0; k < i && strcmp(description(c, k), text); k++)
			;
		if (k < i || !text[strspn(text, blanks)])
			continue;
		for (shared = 0, k = 0; k < c->sides.n; k++)
			shared += !strcmp(description(c, k), text);
		column = 0;
		for (k = i; shared < c->sides.n && k < c->sides.n; k++)
			if (!strcmp(description(c, k), text))
				column += fprintf(f, "%s%s", column ? ", " : "**",
						  c->sides.s[k].label);
		if (column)
			column += fprintf(f, ".**");
		put_wrapped(f, text, column);
	}
}

/* A section for Documentation/results/results.rst. */
void compare_rst(FILE *f, const struct comparison *c)
{
	int *w = widths(&c->table), i, k;

	fprintf(f, "%s\n", c->title);
	for (k = 0; k < characters(c->title); k++)
		fputc('=', f);
	fputs("\n\n", f);
	put_descriptions(f, c);
	fputs("::\n\n", f);
	for (i = 0; i < c->sides.n; i++)
		fprintf(f, "\t%s  # %s%s\n", c->sides.s[i].command, c->sides.s[i].label,
			c->sides.s[i].passed ? "" : ", not all expectations held");
	fputc('\n', f);
	put_rule(f, &c->table, w, '=');
	put_row(f, &c->table, 0, w);
	put_rule(f, &c->table, w, '=');
	for (i = 1; i < c->table.rows; i++)
		put_row(f, &c->table, i, w);
	put_rule(f, &c->table, w, '=');
	fprintf(f, "\nMedian (smallest .. largest) of %d runs with other seeds.\nSpeed, with as many runs at once as the machine has processors:",
		c->sides.s[0].runs);
	for (i = 0; i < c->sides.n; i++)
		fprintf(f, "%s %s %.0f", i ? "," : "", c->sides.s[i].label,
			c->sides.s[i].speed);
	fputs(" packets x hops per wall second.\n\n", f);
	free(w);
}

/* The table in HTML. */
static void html_table(FILE *f, const struct table *t)
{
	int r, k;

	fputs("<table>\n", f);
	for (r = 0; r < t->rows; r++) {
		fputs("<tr>", f);
		for (k = 0; k < t->cols; k++) {
			const char *tag = r ? "td" : "th";

			fprintf(f, "<%s%s>", tag, t->missed[r] &&
				k == t->cols - 1 ? " class=\"bad\"" : "");
			put_html(f, cell(t, r, k));
			fprintf(f, "</%s>", tag);
		}
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
}

/* A side's own report as a link from a report in the folder @out: relative, if
 * the side lies below it, so that the folder can be moved.
 */
static char *own_report(const struct side *s, const char *out)
{
	char *base = realpath(out, NULL), *link;
	size_t len = base ? strlen(base) : 0;

	if (base && !strncmp(s->run_dir, base, len) && s->run_dir[len] == '/')
		link = xasprintf("%s/report.html", s->run_dir + len + 1);
	else
		link = xasprintf("file://%s/report.html", s->run_dir);
	free(base);
	return link;
}

/* One side of the report: its plots and where its own report is. */
static void html_side(FILE *f, const struct side *s, const char *out)
{
	char *link = own_report(s, out);

	fputs("<section><h2>", f);
	put_html(f, s->label);
	fputs("</h2>\n", f);
	put_svg(f, s->run_dir, "throughput.svg");
	put_svg(f, s->run_dir, "queue.svg");
	put_svg(f, s->run_dir, "fct.svg");
	fputs("<p>", f);
	put_html(f, json_text(s->summary, "description"));
	fputs("</p>\n<p><code>", f);
	put_html(f, s->command);
	fprintf(f, "</code></p>\n<p><span class=\"%s\">%s</span> The plots are of the first run: <a href=\"",
		s->passed ? "ok" : "bad", s->passed ?
		"All runs clean, every expectation held." :
		"An expectation failed.");
	put_html(f, link);
	fprintf(f, "\">its own report</a>. Speed: %.0f packets x hops per wall second.</p></section>\n",
		s->speed);
	free(link);
}

/* Write report.html. */
void compare_html(const char *out, const struct comparison *c)
{
	FILE *f = open_out(out, "report.html");
	int i;

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
	      f);
	put_html(f, c->title);
	fputs("</title><style>", f);
	put_style(f);
	fputs("body{max-width:1700px}.sides{display:flex;flex-wrap:wrap;gap:1em}section{flex:1 1 600px;min-width:0}figure{margin:0 0 1em}</style></head><body>\n<h1>",
	      f);
	put_html(f, c->title);
	fputs("</h1>\n<div class=\"sides\">\n", f);
	for (i = 0; i < c->sides.n; i++)
		html_side(f, &c->sides.s[i], out);
	fprintf(f, "</div>\n<h2>Measures</h2>\n<p>Median (smallest .. largest) of %d runs with other seeds.</p>\n",
		c->sides.s[0].runs);
	html_table(f, &c->table);
	fputs("</body></html>\n", f);
	close_out(f, out, "report.html");
}

/* Write compare.json: the table, and each side's numbers as the sweep has
 * them.
 */
void compare_json(const char *out, const struct comparison *c)
{
	cJSON *json = cJSON_CreateObject(), *list, *o, *refs;
	const struct table *t = &c->table;
	char *path, *text;
	int i, k;

	cJSON_AddStringToObject(json, "title", c->title);
	list = cJSON_AddArrayToObject(json, "sides");
	for (i = 0; i < c->sides.n; i++) {
		const struct side *s = &c->sides.s[i];

		o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "name", s->label);
		cJSON_AddStringToObject(o, "command", s->command);
		cJSON_AddBoolToObject(o, "passed", s->passed);
		cJSON_AddNumberToObject(o, "runs", s->runs);
		cJSON_AddNumberToObject(o, "clean_runs", s->clean_runs);
		cJSON_AddNumberToObject(o, "packets_x_hops_per_wall_s",
					s->speed);
		cJSON_AddItemToObject(o, "sweep", cJSON_Duplicate(s->combo, 1));
		refs = cJSON_GetObjectItem(s->summary, "references");
		cJSON_AddItemToObject(o, "references",
				      cJSON_Duplicate(refs, 1));
		cJSON_AddItemToArray(list, o);
	}
	list = cJSON_AddArrayToObject(json, "table");
	for (i = 1; i < t->rows; i++) {
		o = cJSON_CreateObject();
		for (k = 0; k < t->cols; k++)
			cJSON_AddStringToObject(o, cell(t, 0, k),
						cell(t, i, k));
		cJSON_AddItemToArray(list, o);
	}
	path = xasprintf("%s/compare.json", out);
	text = cJSON_Print(json);
	write_file(path, text);
	cJSON_Delete(json);
	free(text);
	free(path);
}

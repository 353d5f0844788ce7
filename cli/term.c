/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for people: wrapping, columns, colours, small histograms. */
#include "term.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool vf_term_has_colour(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(to)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

bool vf_term_has_blocks(FILE *to)
{
	return isatty(fileno(to)) && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

unsigned vf_term_columns(FILE *to)
{
	struct winsize size;

	if (!isatty(fileno(to)) || ioctl(fileno(to), TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

void vf_term_wrap(FILE *to, const char *text, unsigned indent, unsigned width)
{
	unsigned column = indent;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + word > width) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', to);
			column++;
		}
		fwrite(text, 1, word, to);
		column += (unsigned)word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}

void vf_term_paint(FILE *to, enum vf_colour colour, const char *text)
{
	static const char *const codes[] = {[VF_PLAIN] = "",
					    [VF_GREEN] = "\033[32m",
					    [VF_YELLOW] = "\033[33m",
					    [VF_RED] = "\033[31m",
					    [VF_BOLD] = "\033[1m"};

	if (colour == VF_PLAIN || !vf_term_has_colour(to))
		fputs(text, to);
	else
		fprintf(to, "%s%s\033[0m", codes[colour], text);
}

/* Columns that UTF-8 text takes: characters, not bytes. */
static unsigned width_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void vf_table_begin(struct vf_table *t, const char *headings)
{
	memset(t, 0, sizeof(*t));
	t->columns = 1;
	for (const char *p = headings; *p; p++)
		t->columns += *p == '|';
	if (!vf_table_row(t))
		return;
	for (unsigned i = 0; i < t->columns && i < VF_TABLE_COLUMNS; i++) {
		size_t len = strcspn(headings, "|");

		t->is_right[i] = *headings == '>';
		vf_table_set(t, i, VF_BOLD, "%.*s", (int)len - t->is_right[i],
			     headings + t->is_right[i]);
		headings += len + (headings[len] == '|');
	}
}

bool vf_table_row(struct vf_table *t)
{
	if (t->rows == t->room) {
		unsigned room = t->room ? t->room * 2 : 16;
		struct vf_table_cell *cells = realloc(t->cells, sizeof(*cells) * room * t->columns);

		if (!cells)
			return false;
		t->cells = cells;
		t->room = room;
	}
	memset(t->cells + (size_t)t->rows * t->columns, 0, sizeof(*t->cells) * t->columns);
	t->rows++;
	return true;
}

void vf_table_set(struct vf_table *t, unsigned column, enum vf_colour colour, const char *fmt, ...)
{
	struct vf_table_cell *cell;
	va_list ap;

	if (t->rows == 0 || column >= t->columns)
		return;
	cell = &t->cells[(size_t)(t->rows - 1) * t->columns + column];
	cell->colour = colour;
	va_start(ap, fmt);
	vsnprintf(cell->text, sizeof(cell->text), fmt, ap);
	va_end(ap);
}

static void print_row(const struct vf_table *t, unsigned row, const unsigned *widths, FILE *to)
{
	unsigned limit = vf_term_columns(to), at = 0, last = t->columns;
	const struct vf_table_cell *cells = t->cells + (size_t)row * t->columns;

	while (last > 0 && !cells[last - 1].text[0])
		last--;
	for (unsigned i = 0; i < last; i++) {
		unsigned width = width_of(cells[i].text), pad = widths[i] - width;

		if (limit && at + width + (t->is_right[i] ? pad : 0) > limit)
			break;
		if (t->is_right[i])
			fprintf(to, "%*s", (int)pad, "");
		vf_term_paint(to, cells[i].colour, cells[i].text);
		if (i + 1 < last)
			fprintf(to, "%*s", t->is_right[i] ? 2 : (int)pad + 2, "");
		at += widths[i] + 2;
	}
	fputc('\n', to);
}

void vf_table_print(struct vf_table *t, FILE *to)
{
	unsigned widths[VF_TABLE_COLUMNS] = {0};

	for (unsigned row = 0; row < t->rows; row++)
		for (unsigned i = 0; i < t->columns && i < VF_TABLE_COLUMNS; i++) {
			unsigned w = width_of(t->cells[(size_t)row * t->columns + i].text);

			if (w > widths[i])
				widths[i] = w;
		}
	for (unsigned row = 0; row < t->rows; row++)
		print_row(t, row, widths, to);
	free(t->cells);
	t->cells = NULL;
	t->rows = t->room = 0;
}

void vf_term_sparkline(const struct vf_hist *h, unsigned width, bool has_blocks, char *out,
		       size_t room)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
	uint64_t bins[64] = {0}, most = 0, low = h->min, span;
	size_t at = 0;

	out[0] = '\0';
	if (h->count == 0 || width == 0 || width > 64)
		return;
	span = vf_hist_percentile(h, 99.9) - low + 1;
	for (unsigned b = 0; b < VF_HIST_BUCKETS; b++) {
		uint64_t value = vf_hist_bucket_low(b), bin;

		if (h->bucket[b] == 0)
			continue;
		bin = value <= low ? 0 : (value - low) / (span / width + 1);
		bin = bin < width ? bin : width - 1;
		bins[bin] += h->bucket[b];
		most = bins[bin] > most ? bins[bin] : most;
	}
	for (unsigned i = 0; i < width; i++) {
		unsigned step = bins[i] == 0 ? 0 : 1 + (unsigned)(bins[i] * 7 / most);
		const char *mark = has_blocks ? blocks[step] : plain[step];

		if (at + strlen(mark) + 1 > room)
			break;
		at += (size_t)snprintf(out + at, room - at, "%s", mark);
	}
}

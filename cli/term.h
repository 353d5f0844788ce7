/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_CLI_TERM_H
#define VF_CLI_TERM_H
/*
 * What a person sees: wrapped text, columns as wide as they must be, colour and blocks only where a
 * terminal shows them.
 */
#include <stdbool.h>
#include <stdio.h>

#include "base/histogram.h"

enum vf_colour { VF_PLAIN, VF_GREEN, VF_YELLOW, VF_RED, VF_BOLD };

/** Colour: a terminal, TERM is not dumb, and NO_COLOR is not set. */
bool vf_term_has_colour(FILE *to);
/** Block characters: a terminal whose locale says UTF-8. */
bool vf_term_has_blocks(FILE *to);
/** Columns of the terminal; 0 when it is none. */
unsigned vf_term_columns(FILE *to);

/** Prints @text in lines of at most @width columns; lines after the first begin with @indent
 * blanks. Ends with a line break. */
void vf_term_wrap(FILE *to, const char *text, unsigned indent, unsigned width);
void vf_term_paint(FILE *to, enum vf_colour colour, const char *text);

/* A table: fill cell by cell, print once. Columns are as wide as their widest cell. */
#define VF_TABLE_COLUMNS 16
#define VF_TABLE_CELL	 72

struct vf_table_cell {
	char text[VF_TABLE_CELL];
	enum vf_colour colour;
};

struct vf_table {
	unsigned columns, rows, room;
	bool is_right[VF_TABLE_COLUMNS]; /* numbers stand to the right */
	struct vf_table_cell *cells;	 /* rows x columns, the heading first */
};

/** @headings: separated by '|'; one that begins with '>' stands to the right. */
void vf_table_begin(struct vf_table *t, const char *headings);
/** Starts a row of empty cells. False: no memory (the row is not there; set is then harmless). */
bool vf_table_row(struct vf_table *t);
void vf_table_set(struct vf_table *t, unsigned column, enum vf_colour colour, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/** Prints, and gives the memory back. A row that is wider than the terminal is cut there. */
void vf_table_print(struct vf_table *t, FILE *to);

/** The shape of a distribution in @width characters (at most 64), from its least value to
 * its 99.9th percentile. */
void vf_term_sparkline(const struct vf_hist *h, unsigned width, bool has_blocks, char *out,
		       size_t room);

#endif

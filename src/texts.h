/*
 * texts.h
 *		Values of type text, for the SQL functions of the codecs.
 */
#ifndef IDGEN_TEXTS_H
#define IDGEN_TEXTS_H

#include "compat.h"

#define QUOTED_MAX 100 /* bytes of a text that a message quotes */

/* A text of so many bytes, which the caller writes to VARDATA(). */
static inline text *
text_new(size_t length)
{
	text *made = palloc(length + VARHDRSZ);

	SET_VARSIZE(made, length + VARHDRSZ);
	return made;
}

/* texts.c */
extern const char *text_quoted(const text *from);

#endif

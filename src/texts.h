/*
 * texts.h
 *		Values of type text, for the SQL functions of the codecs.
 */
#ifndef IDGEN_TEXTS_H
#define IDGEN_TEXTS_H

#include "utils/palloc.h"
#include "utils/uuid.h"

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
extern text *text_from_uuid(const pg_uuid_t *id, bool upper);
extern pg_uuid_t *text_to_uuid(const text *encoded, int reading);
extern const char *text_quoted(const text *from);
extern void *text_copy(MemoryContext context, const void *value);
extern bool text_same(const void *a, const void *b);

#endif

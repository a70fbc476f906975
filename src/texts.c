/*
 * texts.c
 *		Values of type text, for the SQL functions of the codecs.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "texts.h"

/* A text as a string, cut for a message when it is long. */
const char *
text_quoted(const text *from)
{
	const char *bytes = VARDATA_ANY(from);
	int length = VARSIZE_ANY_EXHDR(from);

	if (length <= QUOTED_MAX)
		return text_to_cstring(from);
	return psprintf("%s...",
					pnstrdup(bytes, pg_mbcliplen(bytes, length, QUOTED_MAX)));
}

/* A copy of a value of any type of variable length. */
void *
text_copy(MemoryContext context, const void *value)
{
	void *copy = MemoryContextAlloc(context, VARSIZE_ANY(value));

	memcpy(copy, value, VARSIZE_ANY(value));
	return copy;
}

/* Whether two such values, or NULLs, are the same to the byte. */
bool
text_same(const void *a, const void *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return VARSIZE_ANY(a) == VARSIZE_ANY(b) &&
		   memcmp(a, b, VARSIZE_ANY(a)) == 0;
}

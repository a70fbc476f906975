/*
 * texts.c
 *		Values of type text, for the SQL functions of the codecs.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "codec_base32.h"
#include "texts.h"

/* The id in base 32. */
text *
text_from_uuid(const pg_uuid_t *id, bool upper)
{
	text *encoded = text_new(BASE32_LENGTH);

	base32_encode(id->data, upper, VARDATA(encoded));
	return encoded;
}

/* NULL for what is no id in that reading of base32_decode(). */
pg_uuid_t *
text_to_uuid(const text *encoded, int reading)
{
	pg_uuid_t *id = palloc(sizeof(pg_uuid_t));

	return base32_decode(VARDATA_ANY(encoded),
						 VARSIZE_ANY_EXHDR(encoded),
						 reading,
						 id->data)
			   ? id
			   : NULL;
}

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

/*
 * texts.c
 *		Values of type text, for the SQL functions of the codecs.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

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

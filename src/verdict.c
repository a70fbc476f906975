/*
 * verdict.c
 *		What a worker has to say to those who wait for it: an error, in shared
 *		memory, that each of them raises as its own.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"

#include "verdict.h"

/* Cuts between characters, not in one. */
static void
copy_text(char *to, size_t size, const char *from)
{
	int length = pg_mbcliplen(from, strlen(from), size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

void
verdict_set(Verdict *verdict,
			int sqlstate,
			const char *message,
			const char *detail,
			const char *hint)
{
	verdict->sqlstate = sqlstate;
	copy_text(verdict->message, sizeof(verdict->message), message);
	copy_text(verdict->detail, sizeof(verdict->detail), detail ? detail : "");
	copy_text(verdict->hint, sizeof(verdict->hint), hint ? hint : "");
}

/* In PG_CATCH: what the error says, which ends with its transaction. */
void
verdict_catch(Verdict *verdict, MemoryContext context)
{
	ErrorData *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	AbortCurrentTransaction();
	verdict_set(verdict,
				error->sqlerrcode,
				error->message ? error->message : "",
				error->detail,
				error->hint);
}

void
verdict_raise(const Verdict *verdict)
{
	ereport(ERROR,
			(errcode(verdict->sqlstate),
			 errmsg("%s", verdict->message),
			 verdict->detail[0] ? errdetail("%s", verdict->detail) : 0,
			 verdict->hint[0] ? errhint("%s", verdict->hint) : 0));
}

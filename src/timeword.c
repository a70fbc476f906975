/*
 * timeword.c
 *		The error for a clock that a time word cannot follow.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "clock.h"
#include "timeword.h"

void
timeword_clock_wrong(int64 now_us, const char *function)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("clock of the server is wrong: it reads \"%s\"",
					timestamptz_to_str(clock_timestamptz(now_us))),
			 errdetail("%s works from 2020-01-01 00:00:00 UTC "
					   "to 2577-06-22 06:20:44.415 UTC.",
					   function),
			 errhint("Set the clock of the machine.")));
}

/*
 * clock.c
 *		The one clock of idgen: the wall clock, which developers can shift.
 *
 * Every time in an id comes from clock_unix_us(). It may stand still or step
 * in either direction; who needs order makes it himself. The shift lives in
 * shared memory, so that all processes of a server see the same clock.
 */
#include "postgres.h"

#include <time.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "shared.h"

SQL_FUNCTION(idgen_shift_clock);

static int64
wall_clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64) now.tv_sec * USECS_PER_SEC + now.tv_nsec / 1000;
}

/* Microseconds since 1970, rounded down. Without shared memory: unshifted. */
int64
clock_unix_us(void)
{
	int64 now = wall_clock_us();

	if (likely(shared != NULL))
		now += (int64) pg_atomic_read_u64(&shared->clock_shift_us);
	return now;
}

/* Microseconds of the monotonic clock, which no step of the other one moves. */
int64
clock_elapsed_us(instr_time start)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return (int64) INSTR_TIME_GET_MICROSEC(now);
}

/*
 * Milliseconds since 1970, rounded down, for an id that has 48 bits of them.
 * Raises 22008 for a time that these cannot hold.
 */
int64
clock_unix_ms48(TimestampTz at, const char *kind)
{
	/* Subtract from the bound: adding the epochs' distance could overflow. */
	if (TIMESTAMP_NOT_FINITE(at) || at < -UNIX_TO_PG_EPOCH_US ||
		at >= (INT64CONST(1) << 48) * US_PER_MS - UNIX_TO_PG_EPOCH_US)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range for a %s: \"%s\"",
						kind,
						timestamptz_to_str(at)),
				 errdetail("A %s holds times from 1970-01-01 00:00:00 UTC "
						   "to 10889-08-02 05:31:50.655 UTC.",
						   kind)));
	return (at + UNIX_TO_PG_EPOCH_US) / US_PER_MS;
}

/*
 * As timestamptz + interval in SQL. Raises 22008 where that leaves the range
 * of timestamps; the ten years at either end of it count as outside.
 */
TimestampTz
clock_plus(TimestampTz at, const Interval *span)
{
	double days = (double) at / USECS_PER_DAY +
				  (double) span->month * DAYS_PER_YEAR / MONTHS_PER_YEAR +
				  span->day + (double) span->time / USECS_PER_DAY;

	if (days < (double) MIN_TIMESTAMP / USECS_PER_DAY + 10 * DAYS_PER_YEAR ||
		days > (double) END_TIMESTAMP / USECS_PER_DAY - 10 * DAYS_PER_YEAR)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("interval out of range: \"%s\"",
						DatumGetCString(
							DirectFunctionCall1(interval_out,
												IntervalPGetDatum(span)))),
				 errdetail("Times reach from 4713 BC to 294276 AD.")));
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
												   TimestampTzGetDatum(at),
												   IntervalPGetDatum(span)));
}

/* For tests: from now on the whole server's ids see the clock shifted so. */
Datum
idgen_shift_clock(PG_FUNCTION_ARGS)
{
	TimestampTz now = clock_timestamptz(wall_clock_us());
	TimestampTz shifted;

	/* Not a matter of GRANT: a wrong clock spoils every other user's ids. */
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to shift the clock of idgen")));
	shifted = clock_plus(now, PG_GETARG_INTERVAL_P(0));
	pg_atomic_write_u64(&shared_get()->clock_shift_us,
						(uint64) (shifted - now));
	ereport(LOG,
			(errmsg("idgen clock shifted by " INT64_FORMAT " us",
					(int64) (shifted - now))));
	PG_RETURN_VOID();
}

/*
 * clock.h
 *		The one clock of idgen.
 */
#ifndef IDGEN_CLOCK_H
#define IDGEN_CLOCK_H

#include "datatype/timestamp.h"
#include "portability/instr_time.h"

#define US_PER_MS INT64CONST(1000)

/* From 1970-01-01, where Unix time starts, to 2000-01-01, where ours does. */
#define UNIX_TO_PG_EPOCH_US                                                   \
	((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* clock.c */
extern int64 clock_unix_us(void);
extern int64 clock_elapsed_us(instr_time start);
extern int64 clock_unix_ms48(TimestampTz at, const char *kind);
extern TimestampTz clock_plus(TimestampTz at, const Interval *span);

static inline TimestampTz
clock_timestamptz(int64 unix_us)
{
	return unix_us - UNIX_TO_PG_EPOCH_US;
}

#endif

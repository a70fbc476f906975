/*
 * ksuid.c
 *		SQL functions for KSUIDs, as bytea.
 *
 * 4 bytes of seconds since 2014-05-13 16:53:20 UTC, 16 random bytes. Ids of
 * one second are in no order, so there is no state.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "codec_bytes.h"
#include "codec_ksuid.h"
#include "compat.h"
#include "random.h"
#include "shared.h"
#include "texts.h"

SQL_FUNCTION(ksuid_next);
SQL_FUNCTION(ksuid_encode);
SQL_FUNCTION(ksuid_decode);
SQL_FUNCTION(ksuid_time);

#define KSUID_EPOCH INT64CONST(1400000000) /* seconds since 1970 */

/* Raises 55000 for a time that 32 bits of seconds cannot hold. */
static uint32
seconds_now(void)
{
	int64 now_us;
	int64 seconds;

	/* For the developers' shift; where it is not to be had, there is none. */
	shared_attach();
	now_us = clock_unix_us();
	seconds = now_us / USECS_PER_SEC - KSUID_EPOCH;
	if (seconds < 0 || seconds > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("clock of the server is wrong: it reads \"%s\"",
						timestamptz_to_str(clock_timestamptz(now_us))),
				 errdetail("ksuid_next() works from 2014-05-13 16:53:20 UTC "
						   "to 2150-06-19 23:21:35 UTC."),
				 errhint("Set the clock of the machine.")));
	return (uint32) seconds;
}

/* 4 bytes and twice 8, written from the back, as each store has 8 bytes. */
Datum
ksuid_next(PG_FUNCTION_ARGS)
{
	uint64 seconds = seconds_now();
	bytea *id = text_new(KSUID_BYTES);
	uint8 *bytes = (uint8 *) VARDATA(id);

	bytes_store64(bytes, seconds << 32);
	bytes_store64(bytes + 4, random_bits());
	bytes_store64(bytes + 12, random_bits());
	PG_RETURN_BYTEA_P(id);
}

/* Raises 22023 for what is not 20 bytes long. */
Datum
ksuid_encode(PG_FUNCTION_ARGS)
{
	const bytea *id = PG_GETARG_BYTEA_PP(0);
	text *encoded;

	if (VARSIZE_ANY_EXHDR(id) != KSUID_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("KSUID must have 20 bytes, not %d",
						(int) VARSIZE_ANY_EXHDR(id))));
	encoded = text_new(KSUID_LENGTH);
	ksuid_to_text((const uint8 *) VARDATA_ANY(id), VARDATA(encoded));
	PG_RETURN_TEXT_P(encoded);
}

Datum
ksuid_decode(PG_FUNCTION_ARGS)
{
	const text *encoded = PG_GETARG_TEXT_PP(0);
	bytea *id = text_new(KSUID_BYTES);

	if (!ksuid_from_text(VARDATA_ANY(encoded),
						 VARSIZE_ANY_EXHDR(encoded),
						 (uint8 *) VARDATA(id)))
		PG_RETURN_NULL();
	PG_RETURN_BYTEA_P(id);
}

Datum
ksuid_time(PG_FUNCTION_ARGS)
{
	const bytea *id = PG_GETARG_BYTEA_PP(0);
	int64 seconds;

	if (VARSIZE_ANY_EXHDR(id) != KSUID_BYTES)
		PG_RETURN_NULL();
	seconds = (int64) (bytes_load64((const uint8 *) VARDATA_ANY(id)) >> 32);
	PG_RETURN_TIMESTAMPTZ(
		clock_timestamptz((seconds + KSUID_EPOCH) * USECS_PER_SEC));
}

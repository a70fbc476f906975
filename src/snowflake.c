/*
 * snowflake.c
 *		Snowflake ids: the next one, and what there is to know about them.
 *
 * The last id of the server is one word in shared memory, GEN; the lease is
 * another. What an id is made of is read in an order, see lease.h, that makes
 * a successful swap of GEN prove that the lease was good. The time that is
 * checked against the range of the lease is the time in the id itself, so
 * nothing that happens to this process between the check and the return can
 * make an id that another node's holder could make, too.
 */
#include "postgres.h"

#include <signal.h>

#include "access/htup_details.h"
#include "access/xlog.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "guc.h"
#include "lease.h"
#include "random.h"
#include "shared.h"

SQL_FUNCTION(snowflake_next);
SQL_FUNCTION(snowflake_accept_clock);
SQL_FUNCTION(snowflake_status);
SQL_FUNCTION(idgen_stop_in_next_call);

/* How far the sequence of a quiet millisecond may start above 0. */
#define START_BITS_MAX 8

static bool stop_in_next_call = false;

/* One attempt at an id. */
typedef struct Attempt
{
	uint64 last; /* GEN, read first */
	uint64 word; /* LEASE */
	SnowflakeLayout layout;
	int64 now;
	int64 time;
	int sequence;
} Attempt;

typedef enum Outcome
{
	ISSUED,
	RACED,      /* another session was faster */
	NO_LEASE,   /* none, or the id's time is past its range */
	CLOCK_BACK, /* the clock reads less than the time of the last id */
	FULL        /* the sequence of this millisecond is used up */
} Outcome;

/*
 * Where the sequence starts in a new millisecond: at random, so that ids at low
 * rates spread over id % n, but at 0 where the numbers are needed.
 */
static int
first_sequence(const Attempt *try)
{
	int busy = 1 << (try->layout.sequence_bits - 1);
	int bits = Min(try->layout.sequence_bits - 1, START_BITS_MAX);

	if (word_time(try->last) + 1 == try->now && word_tail(try->last) >= busy)
		return 0;
	return (int) (random_bits() & (((uint64) 1 << bits) - 1));
}

static Outcome
attempt(Attempt *try)
{
	pg_atomic_uint64 *last = &shared->snowflake_last.word;

	/* GEN, then LEASE, then the clock; both again after a failed swap. */
	try->last = pg_atomic_read_u64(last);
	pg_read_barrier();
	try->word = pg_atomic_read_u64(&shared->lease_word.word);
	if (try->word == 0)
		return NO_LEASE;
	if (unlikely(word_era(try->word) != word_era(try->last)))
		return RACED;
	lease_layout(&try->layout);
	try->now = clock_unix_us() / US_PER_MS - try->layout.epoch_ms;
	if (unlikely(stop_in_next_call))
	{
		stop_in_next_call = false;
		kill(MyProcPid, SIGSTOP);
	}
	if (try->now < word_time(try->last))
		return CLOCK_BACK;
	try->time = try->now;
	if (try->now > word_time(try->last))
		try->sequence = first_sequence(try);
	else if (word_tail(try->last) >=
			 snowflake_field_max(try->layout.sequence_bits))
		return FULL;
	else
		try->sequence = word_tail(try->last) + 1;
	if (try->time >= word_time(try->word))
		return NO_LEASE;
	return pg_atomic_compare_exchange_u64(
			   last,
			   &try->last,
			   lease_word(word_era(try->word), try->time, try->sequence))
			   ? ISSUED
			   : RACED;
}

/* Waits for a clock that is behind, if it is not too far. Raises 55000. */
static void
await_clock(Attempt *try, instr_time *since)
{
	static uint32 wait_event = 0;
	int64 behind = word_time(try->last) - try->now;
	bool first = INSTR_TIME_IS_ZERO(*since);

	if (wait_event == 0)
		wait_event = wait_event_new("IdgenClock");
	if (first)
		INSTR_TIME_SET_CURRENT(*since);
	if (behind + clock_elapsed_us(*since) / US_PER_MS > idgen_clock_max_wait)
	{
		pg_atomic_fetch_add_u64(&shared->lease.refusals, 1);
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("clock is " INT64_FORMAT
						" ms behind the last Snowflake id",
						behind),
				 errdetail("A call waits for at most %d ms.",
						   idgen_clock_max_wait),
				 errhint("Correct the clock. If it was ahead before, "
						 "snowflake_accept_clock() takes it as it is.")));
	}
	if (first)
		pg_atomic_fetch_add_u64(&shared->lease.clock_waits, 1);
	(void) WaitLatch(MyLatch,
					 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 (long) behind,
					 wait_event);
	ResetLatch(MyLatch);
}

/* The next id. Raises an error before anything has changed, or not at all. */
static int64
next_id(void)
{
	instr_time clock_back_since;
	bool full = false;
	Attempt try;

	INSTR_TIME_SET_ZERO(clock_back_since);
	for (;;)
	{
		switch (attempt(&try))
		{
			case ISSUED:
				return snowflake_compose(&try.layout,
										 try.time,
										 word_tail(try.word),
										 try.sequence);
			case RACED:
				break;
			case NO_LEASE:
				lease_await(0, try.word == 0 ? -1 : try.time);
				break;
			case CLOCK_BACK:
				await_clock(&try, &clock_back_since);
				break;
			case FULL:
				/* For less than a millisecond: too short for a latch. */
				if (!full)
					pg_atomic_fetch_add_u64(&shared->lease.sequence_waits, 1);
				full = true;
				break;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

Datum
snowflake_next(PG_FUNCTION_ARGS)
{
	shared_get();
	PG_RETURN_INT64(next_id());
}

/* Gives the node back and takes another, with times that follow the clock. */
Datum
snowflake_accept_clock(PG_FUNCTION_ARGS)
{
	int era;

	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to let Snowflake times go back")));
	era = word_era(pg_atomic_read_u64(&shared_get()->snowflake_last.word));
	if (era == WORD_ERA_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("Snowflake times went back %d times since the server "
						"started",
						WORD_ERA_MAX),
				 errhint("Restart the server.")));
	pg_atomic_write_u32(&shared->lease.new_era, 1);
	PG_TRY();
	{
		lease_await(era + 1, -1);
	}
	PG_CATCH();
	{
		/* What has failed must not happen later. */
		pg_atomic_write_u32(&shared->lease.new_era, 0);
		PG_RE_THROW();
	}
	PG_END_TRY();
	PG_RETURN_VOID();
}

/* For tests: stops this process once, between the clock and the id. */
Datum
idgen_stop_in_next_call(PG_FUNCTION_ARGS)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to stop a process of idgen")));
	stop_in_next_call = true;
	PG_RETURN_VOID();
}

/* One row; NULLs before the first lease since the server started. */
Datum
snowflake_status(PG_FUNCTION_ARGS)
{
	TupleDesc desc;
	Datum values[18];
	bool nulls[18] = {false};
	Lease *lease = &shared_get()->lease;
	uint64 word = pg_atomic_read_u64(&shared->lease_word.word);
	uint64 last = pg_atomic_read_u64(&shared->snowflake_last.word);
	SnowflakeLayout layout;
	pg_uuid_t holder;
	int64 now;
	bool leased;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	lease_layout(&layout);
	now = clock_unix_us() / US_PER_MS - layout.epoch_ms;
	leased = layout.node_bits + layout.sequence_bits > 0;
	LWLockAcquire(&lease->lock, LW_SHARED);
	holder = lease->holder;
	values[0] = Int32GetDatum(lease->node);
	values[2] = Int64GetDatum(lease->epoch);
	values[3] = TimestampTzGetDatum(lease->from);
	values[4] = TimestampTzGetDatum(lease->until);
	values[5] = Int64GetDatum(lease->renewals);
	LWLockRelease(&lease->lock);
	values[1] = UUIDPGetDatum(&holder);
	values[6] = TimestampTzGetDatum(
		clock_timestamptz((layout.epoch_ms + word_time(last)) * US_PER_MS));
	values[7] = Int64GetDatum(pg_atomic_read_u64(&lease->sequence_waits));
	values[8] = Int64GetDatum(pg_atomic_read_u64(&lease->clock_waits));
	values[9] = Int64GetDatum(pg_atomic_read_u64(&lease->refusals));
	values[10] = Int64GetDatum((SNOWFLAKE_TIME_MAX - now) /
							   (SECS_PER_DAY * INT64CONST(1000)));
	values[11] = BoolGetDatum(word != 0 && now < word_time(word));
	values[12] = Int64GetDatum(layout.epoch_ms);
	values[13] = Int32GetDatum(layout.node_bits);
	values[14] = Int32GetDatum(layout.sequence_bits);
	for (int i = 0; i < 15; i++)
		nulls[i] = !leased && i != 7 && i != 8 && i != 9 && i != 11;
	worker_put_connection(WORKER_OF_LEASE, &values[15], &nulls[15]);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

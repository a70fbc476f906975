/*
 * uuidv7.c
 *		UUIDv7 (RFC 9562, section 5.7) that rises over every session of a server.
 *
 * The last id's time and counter are one 64-bit word in shared memory, which
 * moves upward by compare-and-swap: milliseconds since 2020 in the high 44
 * bits, a 20-bit counter below (RFC 9562, section 6.2, method 1). Whoever swaps
 * the word owns the pair, so no two ids of a server share it, and order of ids
 * is order of swaps. All that can fail happens before the swap.
 *
 * In a new millisecond the counter starts at a random value whose top bit is
 * 0. Within one it steps by 1; when it is used up the time moves 1 ms ahead of
 * the clock. When the clock goes back the word stays and counts on, and ids
 * return to the clock once it has caught up.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "clock.h"
#include "compat.h"
#include "random.h"
#include "shared.h"
#include "timeword.h"

/* The id as two numbers, most significant first: 48 + 4 + 12, 2 + 62 bits. */
#define VERSION_7 (UINT64CONST(7) << 12)
#define VERSION_MASK (UINT64CONST(0xF) << 12)
#define VARIANT_RFC (UINT64CONST(2) << 62)
#define VARIANT_MASK (UINT64CONST(3) << 62)
#define RAND_A_MASK UINT64CONST(0xFFF)
#define RAND_B_MASK ((UINT64CONST(1) << 62) - 1)

#define COUNTER_START_MASK (TIMEWORD_COUNTER_MASK >> 1)

/* The counter's bits that rand_a has no room for go to the top of rand_b. */
#define COUNTER_LOW_BITS (TIMEWORD_COUNTER_BITS - 12)
#define TAIL_BITS (62 - COUNTER_LOW_BITS)
#define TAIL_MASK ((UINT64CONST(1) << TAIL_BITS) - 1)

SQL_FUNCTION(uuidv7_mono);
SQL_FUNCTION(uuidv7_mono_shift);
SQL_FUNCTION(uuidv7_at);
SQL_FUNCTION(uuidv7_floor);
SQL_FUNCTION(uuidv7_ceil);
SQL_FUNCTION(uuidv7_time);
SQL_FUNCTION(uuidv7_is_valid);
SQL_FUNCTION(uuidv7_accept_clock);
SQL_FUNCTION(uuidv7_status);

static void
compose(pg_uuid_t *id, int64 unix_ms, uint64 rand_a, uint64 rand_b)
{
	uint64 high = (uint64) unix_ms << 16 | VERSION_7 | rand_a;
	uint64 low = VARIANT_RFC | rand_b;

	high = pg_hton64(high);
	low = pg_hton64(low);
	memcpy(id->data, &high, 8);
	memcpy(id->data + 8, &low, 8);
}

/* False when the id is not a v7 of the RFC's variant. */
static bool
decompose(const pg_uuid_t *id, int64 *unix_ms)
{
	uint64 high;
	uint64 low;

	memcpy(&high, id->data, 8);
	memcpy(&low, id->data + 8, 8);
	high = pg_ntoh64(high);
	low = pg_ntoh64(low);
	*unix_ms = (int64) (high >> 16);
	return (high & VERSION_MASK) == VERSION_7 &&
		   (low & VARIANT_MASK) == VARIANT_RFC;
}

/* An id of that time's millisecond. Raises 22008 as above. */
static pg_uuid_t *
id_at(TimestampTz at, uint64 rand_a, uint64 rand_b)
{
	int64 unix_ms = clock_unix_ms48(at, "UUIDv7");
	pg_uuid_t *id = palloc(sizeof(pg_uuid_t));

	compose(id, unix_ms, rand_a, rand_b);
	return id;
}

static TimestampTz
timestamptz_from_unix_ms(int64 unix_ms)
{
	return clock_timestamptz(unix_ms * US_PER_MS);
}

/* The first word of a millisecond. */
static uint64
word_start(int64 unix_ms)
{
	return timeword(unix_ms, random_bits() & COUNTER_START_MASK);
}

/*
 * The word that follows `last` when the clock reads now_ms. Raises 2200H when
 * no time is left to move on to.
 */
static uint64
word_next(uint64 last, int64 now_ms)
{
	if (now_ms > timeword_unix_ms(last))
		return word_start(now_ms);
	if ((last & TIMEWORD_COUNTER_MASK) < TIMEWORD_COUNTER_MASK)
		return last + 1;
	if (timeword_unix_ms(last) == TIMEWORD_MAX_MS)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("the last UUIDv7 of the last millisecond is issued"),
				 errdetail("uuidv7_mono() ends at 2577-06-22 06:20:44.415 "
						   "UTC."),
				 errhint("If the clock was wrong, correct it and call "
						 "uuidv7_accept_clock().")));
	return word_start(timeword_unix_ms(last) + 1);
}

static int64
usable_clock_ms(void)
{
	return timeword_clock_ms("uuidv7_mono()");
}

/*
 * Called when the clock is behind the word by more than a full counter can
 * explain: most likely this process was off the CPU since it read the clock.
 * Reads it again, and notes a step if it really is behind.
 */
static int64
clock_behind(int64 word_ms)
{
	int64 now_ms = usable_clock_ms();
	uint32 not_yet = 0;

	if (now_ms + 1 < word_ms &&
		pg_atomic_compare_exchange_u32(&shared->uuidv7_behind, &not_yet, 1))
		pg_atomic_fetch_add_u64(&shared->uuidv7_clock_steps, 1);
	return now_ms;
}

/* Keeps the statistics of a step from one word to the next. */
static inline void
note_new_ms(uint64 last, int64 now_ms)
{
	if (now_ms <= timeword_unix_ms(last))
		pg_atomic_fetch_add_u64(&shared->uuidv7_overflows, 1);
	else if (unlikely(pg_atomic_read_u32(&shared->uuidv7_behind) != 0))
		pg_atomic_write_u32(&shared->uuidv7_behind, 0);
}

/*
 * Takes the next word and makes it an id, its time moved by `shift` unless
 * that is NULL. Whatever raises an error does so before the swap. The loop
 * has no end of its own but each failed swap is another session's success.
 */
static pg_uuid_t *
issue(const Interval *shift)
{
	pg_atomic_uint64 *word = &shared_get()->uuidv7_last.word;
	pg_uuid_t *id = palloc(sizeof(pg_uuid_t));
	uint64 tail = random_bits() & TAIL_MASK;
	int64 now_ms = usable_clock_ms();
	uint64 last = pg_atomic_read_u64(word);
	uint64 next;
	uint64 counter;
	int64 id_ms;

	if (unlikely(now_ms + 1 < timeword_unix_ms(last)))
		now_ms = clock_behind(timeword_unix_ms(last));
	do
	{
		next = word_next(last, now_ms);
		id_ms = timeword_unix_ms(next);
		if (shift != NULL)
			id_ms = clock_unix_ms48(
				clock_plus(timestamptz_from_unix_ms(id_ms), shift),
				"UUIDv7");
	} while (!pg_atomic_compare_exchange_u64(word, &last, next));

	if (timeword_unix_ms(next) != timeword_unix_ms(last))
		note_new_ms(last, now_ms);
	counter = next & TIMEWORD_COUNTER_MASK;
	compose(id,
			id_ms,
			counter >> COUNTER_LOW_BITS,
			(counter << TAIL_BITS & RAND_B_MASK) | tail);
	return id;
}

Datum
uuidv7_mono(PG_FUNCTION_ARGS)
{
	PG_RETURN_UUID_P(issue(NULL));
}

Datum
uuidv7_mono_shift(PG_FUNCTION_ARGS)
{
	PG_RETURN_UUID_P(issue(PG_GETARG_INTERVAL_P(0)));
}

Datum
uuidv7_at(PG_FUNCTION_ARGS)
{
	PG_RETURN_UUID_P(id_at(PG_GETARG_TIMESTAMPTZ(0),
						   random_bits() & RAND_A_MASK,
						   random_bits() & RAND_B_MASK));
}

Datum
uuidv7_floor(PG_FUNCTION_ARGS)
{
	PG_RETURN_UUID_P(id_at(PG_GETARG_TIMESTAMPTZ(0), 0, 0));
}

Datum
uuidv7_ceil(PG_FUNCTION_ARGS)
{
	PG_RETURN_UUID_P(
		id_at(PG_GETARG_TIMESTAMPTZ(0), RAND_A_MASK, RAND_B_MASK));
}

Datum
uuidv7_time(PG_FUNCTION_ARGS)
{
	int64 unix_ms;

	if (!decompose(PG_GETARG_UUID_P(0), &unix_ms))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(timestamptz_from_unix_ms(unix_ms));
}

/* Argument `n` of uuidv7_is_valid(); NULL means: no limit. */
static const Interval *
tolerance(FunctionCallInfo fcinfo, int n, const char *name)
{
	static const Interval zero = {0};
	Interval *span;

	if (PG_ARGISNULL(n))
		return NULL;
	span = PG_GETARG_INTERVAL_P(n);
	if (DatumGetBool(DirectFunctionCall2(interval_lt,
										 IntervalPGetDatum(span),
										 IntervalPGetDatum(&zero))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative: \"%s\"",
						name,
						DatumGetCString(
							DirectFunctionCall1(interval_out,
												IntervalPGetDatum(span)))),
				 errhint("Use NULL for no limit.")));
	return span;
}

Datum
uuidv7_is_valid(PG_FUNCTION_ARGS)
{
	const Interval *max_ahead = tolerance(fcinfo, 1, "max_ahead");
	const Interval *max_behind = tolerance(fcinfo, 2, "max_behind");
	TimestampTz now;
	TimestampTz id_time;
	int64 unix_ms;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!decompose(PG_GETARG_UUID_P(0), &unix_ms))
		PG_RETURN_BOOL(false);

	/* For the developers' shift; where it is not to be had, there is none. */
	shared_attach();
	now = clock_timestamptz(clock_unix_us());
	id_time = timestamptz_from_unix_ms(unix_ms);
	if (max_ahead != NULL && id_time > clock_plus(now, max_ahead))
		PG_RETURN_BOOL(false);

	/* The age is counted from the id, as the id's time is surely in range. */
	if (max_behind != NULL && clock_plus(id_time, max_behind) < now)
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(true);
}

Datum
uuidv7_accept_clock(PG_FUNCTION_ARGS)
{
	pg_atomic_uint64 *word;
	uint64 last;
	int64 now_ms;

	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to let UUIDv7 times go back")));
	word = &shared_get()->uuidv7_last.word;
	now_ms = usable_clock_ms();
	last = pg_atomic_read_u64(word);
	do
	{
		if (timeword_unix_ms(last) <= now_ms)
			PG_RETURN_VOID();
	} while (!pg_atomic_compare_exchange_u64(word, &last, word_start(now_ms)));

	pg_atomic_write_u32(&shared->uuidv7_behind, 0);
	ereport(
		LOG,
		(errmsg("UUIDv7 times go back by " INT64_FORMAT " ms, to the clock",
				timeword_unix_ms(last) - now_ms)));
	PG_RETURN_VOID();
}

Datum
uuidv7_status(PG_FUNCTION_ARGS)
{
	TupleDesc desc;
	Datum values[4];
	bool nulls[4] = {false};
	uint64 last = pg_atomic_read_u64(&shared_get()->uuidv7_last.word);
	int64 now_ms = clock_unix_us() / US_PER_MS;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (last == 0)
		nulls[0] = true;
	values[0] =
		TimestampTzGetDatum(timestamptz_from_unix_ms(timeword_unix_ms(last)));
	values[1] = Int64GetDatum(
		last == 0 ? 0 : Max(INT64CONST(0), timeword_unix_ms(last) - now_ms));
	values[2] = Int64GetDatum(pg_atomic_read_u64(&shared->uuidv7_overflows));
	values[3] = Int64GetDatum(pg_atomic_read_u64(&shared->uuidv7_clock_steps));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

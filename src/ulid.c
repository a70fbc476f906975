/*
 * ulid.c
 *		ULIDs as uuid: a generator that rises over every session of a server,
 *		their text, their time, bounds.
 *
 * The specification's monotonic rule needs the last id, of 128 bits, which no
 * compare-and-swap takes, and under a lock a stopped session would hold up all
 * others. So the tail is not kept but computed: it is start(ms) + step, where
 * ms and step are one 64-bit word in shared memory, moved upward by
 * compare-and-swap, and start(ms) is HMAC-SHA-256 of the millisecond under a
 * random key that the server makes anew at each start. All sessions compute
 * the same start, nobody without the key can tell the next one, and whoever
 * swaps the word owns the id.
 *
 * When the clock goes back the word stays and counts on. When it has no more
 * steps, which takes 2^20 ids in one millisecond, the time moves 1 ms ahead.
 */
#include "postgres.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "fmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "clock.h"
#include "codec_base32.h"
#include "codec_bytes.h"
#include "codec_ulid.h"
#include "compat.h"
#include "random.h"
#include "shared.h"
#include "texts.h"
#include "timeword.h"

SQL_FUNCTION(ulid_next);
SQL_FUNCTION(ulid_encode);
SQL_FUNCTION(ulid_decode);
SQL_FUNCTION(ulid_time);
SQL_FUNCTION(ulid_floor);
SQL_FUNCTION(ulid_ceil);

/*
 * The server's key. Whoever comes first sets a word of it, and all take what
 * is there: sessions that race end up with one key, whoever made which word.
 */
static void
server_key(uint8 key[8 * ULID_KEY_WORDS])
{
	for (int i = 0; i < ULID_KEY_WORDS; i++)
	{
		uint64 word = pg_atomic_read_u64(&shared->ulid_key[i]);

		while (word == 0)
		{
			uint64 fresh = random_bits();

			if (pg_atomic_compare_exchange_u64(&shared->ulid_key[i],
											   &word,
											   fresh))
				word = fresh;
		}
		bytes_store64(key + 8 * i, word);
	}
}

/* Where the tails of a millisecond start. Raises XX000 when HMAC fails. */
static const uint8 *
tail_start(int64 unix_ms)
{
	/* Of the last millisecond asked for; 0 is none that the word can hold. */
	static int64 start_ms = 0;
	static uint8 start[EVP_MAX_MD_SIZE];
	uint8 key[8 * ULID_KEY_WORDS];
	uint8 message[8];
	unsigned int length = 0;
	bool done;

	if (start_ms == unix_ms)
		return start;
	start_ms = 0;
	server_key(key);
	bytes_store64(message, (uint64) unix_ms);
	done = HMAC(EVP_sha256(),
				key,
				sizeof(key),
				message,
				sizeof(message),
				start,
				&length) != NULL;
	explicit_bzero(key, sizeof(key));
	if (!done || length < ULID_TAIL_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute where the tails of ULIDs start")));
	start_ms = unix_ms;
	return start;
}

/*
 * The word that follows `last` when the clock reads now_ms. Raises 2200H when
 * no time is left to move on to.
 */
static uint64
word_next(uint64 last, int64 now_ms)
{
	if (now_ms > timeword_unix_ms(last))
		return timeword(now_ms, 0);
	if (last == timeword(TIMEWORD_MAX_MS, TIMEWORD_COUNTER_MASK))
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("the last ULID of the last millisecond is issued"),
				 errdetail("ulid_next() ends at 2577-06-22 06:20:44.415 "
						   "UTC."),
				 errhint("If the clock was wrong, correct it and restart the "
						 "server.")));
	/* A step, or from the last step to the first of the next millisecond. */
	return last + 1;
}

/* As issue() in uuidv7.c: whatever raises an error does so before the swap. */
Datum
ulid_next(PG_FUNCTION_ARGS)
{
	pg_atomic_uint64 *word = &shared_get()->ulid_last.word;
	pg_uuid_t *id = palloc(sizeof(pg_uuid_t));
	int64 now_ms = timeword_clock_ms("ulid_next()");
	uint64 last = pg_atomic_read_u64(word);
	uint64 next;

	do
	{
		int64 unix_ms;

		next = word_next(last, now_ms);
		unix_ms = timeword_unix_ms(next);
		if (!ulid_compose(unix_ms,
						  tail_start(unix_ms),
						  next & TIMEWORD_COUNTER_MASK,
						  id->data))
			ereport(ERROR,
					(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
					 errmsg("the tail of this millisecond's ULIDs is full"),
					 errhint("Try again.")));
	} while (!pg_atomic_compare_exchange_u64(word, &last, next));
	PG_RETURN_UUID_P(id);
}

Datum
ulid_encode(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(text_from_uuid(PG_GETARG_UUID_P(0), true));
}

Datum
ulid_decode(PG_FUNCTION_ARGS)
{
	int lenient = PG_GETARG_BOOL(1) ? BASE32_LENIENT : 0;
	pg_uuid_t *id = text_to_uuid(PG_GETARG_TEXT_PP(0), BASE32_UPPER | lenient);

	if (id == NULL)
		PG_RETURN_NULL();
	PG_RETURN_UUID_P(id);
}

Datum
ulid_time(PG_FUNCTION_ARGS)
{
	int64 unix_ms = ulid_unix_ms(PG_GETARG_UUID_P(0)->data);

	PG_RETURN_TIMESTAMPTZ(clock_timestamptz(unix_ms * US_PER_MS));
}

/* The id of that time with all bits of its tail alike. Raises 22008. */
static pg_uuid_t *
bound(TimestampTz at, uint8 tail)
{
	uint8 start[ULID_TAIL_BYTES];
	pg_uuid_t *id = palloc(sizeof(pg_uuid_t));

	memset(start, tail, sizeof(start));
	if (!ulid_compose(clock_unix_ms48(at, "ULID"), start, 0, id->data))
		elog(ERROR, "a ULID has no bound");
	return id;
}

Datum
ulid_floor(PG_FUNCTION_ARGS)
{
	PG_RETURN_UUID_P(bound(PG_GETARG_TIMESTAMPTZ(0), 0));
}

Datum
ulid_ceil(PG_FUNCTION_ARGS)
{
	PG_RETURN_UUID_P(bound(PG_GETARG_TIMESTAMPTZ(0), 0xFF));
}

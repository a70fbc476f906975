/*
 * segment_cache.c
 *		Blocks of numbers in shared memory, and how one number is taken.
 *
 * A slot has room for two blocks, the one in use and the next; which is which
 * follows from their serial numbers. Takers move one word by compare-and-swap.
 * All else that they read, the block and the slot's owner, is written only
 * while the word says that it is not to be used, or for a serial number that
 * the word has not reached; so a swap that succeeds proves that what was read
 * since the word belonged to it.
 *
 * Who changes what: a taker moves the position, and from an empty block to the
 * next. The worker of the database alone publishes blocks and lifts a
 * suspension. Anybody may suspend. A slot changes hands under the lock.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "guc.h"
#include "segment_cache.h"
#include "shared.h"

void
segment_cache_init(Segments *segments, int tranche)
{
	LWLockInitialize(&segments->lock, tranche);
	for (int i = 0; i < SEGMENT_SLOTS; i++)
	{
		SegmentSlot *slot = &segments->slots[i];

		pg_atomic_init_u64(&slot->word, 0);
		pg_atomic_init_u64(&slot->owner, 0);
		pg_atomic_init_u64(&slot->requested, 0);
		pg_atomic_init_u64(&slot->answered, 0);
		pg_atomic_init_u32(&slot->refill, 0);
		pg_atomic_init_u32(&slot->waiting, 0);
		pg_atomic_init_u32(&slot->claiming, 0);
		pg_atomic_init_u64(&slot->asks, 0);
		pg_atomic_init_u64(&slot->waits, 0);
		pg_atomic_init_u64(&slot->longest_us, 0);
		ConditionVariableInit(&slot->answer);
		/* Serial numbers that the word, at 0, does not reach by one step. */
		slot->block[0].serial = WORD_SERIAL_MASK - 1;
		slot->block[1].serial = WORD_SERIAL_MASK;
	}
}

/*
 * Takes the next number. False when there is none, or the slot is no longer
 * the owner's. Sets *due when a next block should be asked for.
 */
bool
segment_take(SegmentSlot *slot, uint64 owner, int64 *number, bool *due)
{
	uint64 word = pg_atomic_read_u64(&slot->word);
	uint64 next;

	do
	{
		uint64 serial = word_serial(word);
		uint32 position = word_position(word);
		SegmentBlock *block = &slot->block[serial & 1];

		/* The word first: what is read from here on must belong to it. */
		pg_read_barrier();
		if (word & WORD_SUSPENDED || pg_atomic_read_u64(&slot->owner) != owner)
			return false;
		if (block->serial != serial || position >= block->size)
		{
			serial = (serial + 1) & WORD_SERIAL_MASK;
			position = 0;
			block = &slot->block[serial & 1];
			if (block->serial != serial)
				return false;
			pg_read_barrier();
		}
		*number = block->start + position;
		*due = position >= block->prefetch_at;
		next = word_of(serial, position + 1);
	} while (!pg_atomic_compare_exchange_u64(&slot->word, &word, next));
	return true;
}

/*
 * Opens a request unless one is open, and returns whether it did; `refill` when
 * it is for a number.
 */
bool
segment_request(SegmentSlot *slot, bool refill)
{
	uint64 answered = pg_atomic_read_u64(&slot->answered);

	if (pg_atomic_read_u64(&slot->requested) != answered)
		return false;
	if (refill)
		pg_atomic_write_u32(&slot->refill, 1);

	/* Fails when somebody else has just opened it, which is as good. */
	return pg_atomic_compare_exchange_u64(&slot->requested,
										  &answered,
										  answered + 1);
}

/* Closes a request that nobody waits for and nobody answers. */
void
segment_withdraw(SegmentSlot *slot)
{
	pg_atomic_write_u64(&slot->answered, pg_atomic_read_u64(&slot->requested));
}

/* From now on nobody takes a number until the worker has seen the row. */
static void
suspend(SegmentSlot *slot)
{
	/* In this order: see segment_resume(). */
	pg_atomic_fetch_add_u64(&slot->asks, 1);
	pg_atomic_fetch_or_u64(&slot->word, WORD_SUSPENDED);
}

/*
 * Lifts a suspension, keeping the blocks or not. `asks` is what the slot's
 * count was before the row was read: if it has grown, there is news that the
 * reader did not see, and the suspension stays. Worker only, holding the lock
 * exclusively, so that nobody suspends meanwhile.
 */
void
segment_resume(SegmentSlot *slot, uint64 asks, bool keep)
{
	uint64 word = pg_atomic_read_u64(&slot->word);
	uint64 still =
		pg_atomic_read_u64(&slot->asks) == asks ? 0 : WORD_SUSPENDED;
	uint64 next;

	if (keep && still != 0)
		return;
	if (!keep)
		slot->issued_before = segment_issued(slot);
	do
	{
		/* Three on: no block is the one in use, the next, or the last. */
		next = keep ? word & ~WORD_SUSPENDED
					: word_of(word_serial(word) + 3, 0) | still;
	} while (!pg_atomic_compare_exchange_u64(&slot->word, &word, next));
}

bool
segment_has_next(SegmentSlot *slot)
{
	uint64 serial = word_serial(pg_atomic_read_u64(&slot->word)) + 1;

	return slot->block[serial & 1].serial == (serial & WORD_SERIAL_MASK);
}

/* Numbers taken since the tag has the slot. */
uint64
segment_issued(SegmentSlot *slot)
{
	uint64 word = pg_atomic_read_u64(&slot->word);
	uint64 issued = slot->issued_before;

	for (int i = 0; i < 2; i++)
	{
		SegmentBlock *block = &slot->block[i];

		if (block->serial == word_serial(word))
			issued += word_position(word);
		else if (block->serial + 1 == word_serial(word))
			issued += block->size;
	}
	return issued;
}

/*
 * After a next block could not be had: asks again when half of the rest is
 * used, so that few numbers mean few attempts.
 */
void
segment_defer_prefetch(SegmentSlot *slot)
{
	uint64 word = pg_atomic_read_u64(&slot->word);
	SegmentBlock *block = &slot->block[word_serial(word) & 1];
	uint32 position = word_position(word);

	if (block->serial == word_serial(word) && position < block->size)
		block->prefetch_at = position + (block->size - position + 1) / 2;
}

/*
 * Makes a durable block the slot's next one, which it must not have. Worker
 * only, holding the lock at least shared, so that the slot keeps its owner.
 */
void
segment_publish(SegmentSlot *slot, int64 start, int64 size, double prefetch)
{
	uint64 word = pg_atomic_read_u64(&slot->word);
	uint64 serial = (word_serial(word) + 1) & WORD_SERIAL_MASK;
	SegmentBlock *block = &slot->block[serial & 1];

	Assert(size > 0 && size <= SEGMENT_BLOCK_MAX);
	Assert(block->serial != serial);
	if (block->serial + 2 == serial)
		slot->issued_before += block->size;
	block->start = start;
	block->size = (uint32) size;
	block->prefetch_at = (uint32) (size * (1.0 - prefetch));
	pg_write_barrier();
	block->serial = serial;
	slot->blocks++;
}

static SegmentSlot *
find_slot(Oid database, Oid relation, const char *tag)
{
	Segments *segments = &shared->segments;

	for (int i = 0; i < segments->slots_used; i++)
	{
		SegmentSlot *slot = &segments->slots[i];

		if (slot->database == database && slot->relation == relation &&
			strcmp(slot->tag, tag) == 0)
			return slot;
	}
	return NULL;
}

/* For one whose row has changed, before that is committed. */
void
segment_suspend_tag(Oid database, Oid relation, const char *tag)
{
	Segments *segments = &shared->segments;
	SegmentSlot *slot;

	LWLockAcquire(&segments->lock, LW_SHARED);
	slot = find_slot(database, relation, tag);
	if (slot != NULL)
		suspend(slot);
	LWLockRelease(&segments->lock);
}

/* For a whole table. */
void
segment_suspend_all(Oid database, Oid relation)
{
	Segments *segments = &shared->segments;

	LWLockAcquire(&segments->lock, LW_SHARED);
	for (int i = 0; i < segments->slots_used; i++)
	{
		SegmentSlot *slot = &segments->slots[i];

		if (slot->database == database && slot->relation == relation)
			suspend(slot);
	}
	LWLockRelease(&segments->lock);
}

/* For all tables of all databases: blocks may have to come from elsewhere. */
void
segment_suspend_everything(void)
{
	Segments *segments = &shared->segments;

	LWLockAcquire(&segments->lock, LW_SHARED);
	for (int i = 0; i < segments->slots_used; i++)
		suspend(&segments->slots[i]);
	LWLockRelease(&segments->lock);
}

/* What tells one coordinator from another: 0 for this server. */
uint64
segment_source(const char *coordinator)
{
	if (coordinator[0] == '\0')
		return 0;
	return hash_bytes_extended((const unsigned char *) coordinator,
							   (int) strlen(coordinator),
							   0) |
		   1;
}

/* Drops what a database has from other coordinators. Worker only. */
void
segment_drop_foreign(Oid database, uint64 source)
{
	Segments *segments = &shared->segments;

	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	for (int i = 0; i < segments->slots_used; i++)
	{
		SegmentSlot *slot = &segments->slots[i];

		if (slot->database != database || !slot->has_row ||
			slot->source == source)
			continue;
		slot->has_row = false;
		segment_resume(slot, pg_atomic_read_u64(&slot->asks), false);
	}
	LWLockRelease(&segments->lock);
}

/* One without a row goes first, then the one whose last use is longest ago. */
static bool
goes_before(SegmentSlot *slot, SegmentSlot *other)
{
	if (slot->has_row != other->has_row)
		return !slot->has_row;
	return slot->last_used < other->last_used;
}

/*
 * An unused slot, else the one that is missed least. Takers leave no time: a
 * slot is in use if its word has moved since a slot was last wanted.
 */
static SegmentSlot *
free_slot(TimestampTz now)
{
	Segments *segments = &shared->segments;
	SegmentSlot *chosen = NULL;

	if (segments->slots_used < SEGMENT_SLOTS)
		return &segments->slots[segments->slots_used++];
	for (int i = 0; i < SEGMENT_SLOTS; i++)
	{
		SegmentSlot *slot = &segments->slots[i];
		uint64 word = pg_atomic_read_u64(&slot->word);

		if (word != slot->seen_word)
			slot->last_used = now;
		slot->seen_word = word;
		if (pg_atomic_read_u32(&slot->waiting) == 0 &&
			pg_atomic_read_u32(&slot->claiming) == 0 &&
			(chosen == NULL || goes_before(slot, chosen)))
			chosen = slot;
	}
	return chosen;
}

/*
 * Counts the session among those who wait for a claim at the slot, which then
 * keeps its owner. False if it has another by now.
 */
bool
segment_enter(SegmentSlot *slot, uint64 owner)
{
	bool current;

	/* Under the lock, since free_slot() looks at the count under it. */
	LWLockAcquire(&shared->segments.lock, LW_SHARED);
	current = pg_atomic_read_u64(&slot->owner) == owner;
	if (current)
		pg_atomic_fetch_add_u32(&slot->claiming, 1);
	LWLockRelease(&shared->segments.lock);
	return current;
}

/* Makes the slot the tag's. What is left of its blocks becomes a gap. */
static void
assign_slot(SegmentSlot *slot, Oid database, Oid relation, const char *tag)
{
	uint64 word;

	/* First nobody can take; then the owner changes; then it is let go. */
	suspend(slot);
	word = pg_atomic_read_u64(&slot->word);
	pg_atomic_write_u64(&slot->owner, 0);
	pg_memory_barrier();
	slot->database = database;
	slot->relation = relation;
	strlcpy(slot->tag, tag, sizeof(slot->tag));
	slot->has_row = false;
	slot->step = 0;
	slot->issued_before = 0;
	slot->blocks = 0;
	memset(&slot->verdict, 0, sizeof(slot->verdict));
	pg_atomic_write_u64(&slot->waits, 0);
	pg_atomic_write_u64(&slot->longest_us, 0);
	pg_atomic_write_u64(&slot->answered, pg_atomic_read_u64(&slot->requested));
	pg_atomic_write_u64(&slot->owner, ++shared->segments.last_owner);
	pg_memory_barrier();
	pg_atomic_write_u64(&slot->word, word_of(word_serial(word) + 3, 0));
}

/*
 * The tag's slot and its owner number, made if need be. Raises 53000 when all
 * slots have sessions waiting at them.
 */
SegmentSlot *
segment_slot(Oid database, Oid relation, const char *tag, uint64 *owner)
{
	Segments *segments = &shared->segments;
	SegmentSlot *slot;
	TimestampTz now = GetCurrentTimestamp();

	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	slot = find_slot(database, relation, tag);
	if (slot == NULL)
	{
		slot = free_slot(now);
		if (slot != NULL)
			assign_slot(slot, database, relation, tag);
	}
	if (slot != NULL)
	{
		/* This session may be the first to know of another coordinator. */
		if (slot->has_row && slot->source != segment_source(idgen_coordinator))
			suspend(slot);
		slot->last_used = now;
		*owner = pg_atomic_read_u64(&slot->owner);
	}
	LWLockRelease(&segments->lock);
	if (slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("all %d slots for tags have sessions waiting at them",
						SEGMENT_SLOTS),
				 errhint("Try again.")));
	return slot;
}

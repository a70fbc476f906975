/*
 * segment_cache.h
 *		Blocks of numbers in shared memory: a slot for each tag in use.
 */
#ifndef IDGEN_SEGMENT_CACHE_H
#define IDGEN_SEGMENT_CACHE_H

#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "utils/uuid.h"

#include "verdict.h"

#define SEGMENT_SLOTS 4096
#define SEGMENT_TAG_MAX 63 /* bytes */
#define SEGMENT_BLOCK_MAX 1000000000
#define SEGMENT_CLAIMS 256

/*
 * The hot word of a slot: whether it is suspended (1 bit), the serial number of
 * the block in use (33), the position in it (30).
 */
#define WORD_SUSPENDED (UINT64CONST(1) << 63)
#define WORD_POSITION_BITS 30
#define WORD_POSITION_MASK ((UINT64CONST(1) << WORD_POSITION_BITS) - 1)
#define WORD_SERIAL_MASK ((UINT64CONST(1) << 33) - 1)

/* Belongs to the word only while their serial numbers agree. */
typedef struct SegmentBlock
{
	uint64 serial;
	int64 start;
	uint32 size;
	uint32 prefetch_at; /* position from which on the next block is due */
} SegmentBlock;

typedef struct SegmentSlot
{
	/* Moves by compare-and-swap. Line of its own with what is read with it. */
	pg_atomic_uint64 word;
	/* 0 when free; changes only under the lock and while suspended */
	pg_atomic_uint64 owner;
	/* written by the one worker of the database, then published by serial */
	SegmentBlock block[2];
	/* a request is open while these two differ */
	pg_atomic_uint64 requested;
	pg_atomic_uint64 answered;
	char line[PG_CACHE_LINE_SIZE - 80];

	/* no lock */
	pg_atomic_uint32 refill;   /* the open request is for numbers */
	pg_atomic_uint32 waiting;  /* sessions that wait for a number */
	pg_atomic_uint32 claiming; /* sessions that wait for a claim */
	pg_atomic_uint64 asks;  /* times that the row was said to have changed */
	pg_atomic_uint64 waits; /* calls that had to wait */
	pg_atomic_uint64 longest_us;
	ConditionVariable answer;

	/* under Segments.lock */
	Oid database;
	Oid relation;
	char tag[SEGMENT_TAG_MAX + 1];
	bool has_row;  /* the next four are known */
	uint64 source; /* which coordinator it came from; see segment_source() */
	pg_uuid_t incarnation;
	int64 row_max_id; /* as the worker left it */
	int32 step;
	uint64 issued_before; /* from blocks that are no longer in the slot */
	uint64 blocks;
	uint64 seen_word; /* when a slot was last wanted by another tag */
	TimestampTz last_used;
	Verdict verdict;
} SegmentSlot;

/* A caller that wants numbers of its own, or the row raised. */
typedef enum ClaimState
{
	CLAIM_FREE,
	CLAIM_OPEN,
	CLAIM_TAKEN, /* by a worker */
	CLAIM_DONE,
	CLAIM_ABANDONED
} ClaimState;

typedef struct SegmentClaim
{
	/* under Segments.lock */
	ClaimState state;
	int slot;
	uint64 owner;
	int taker;   /* process that serves it; 0: none */
	bool is_set; /* raise max_id to `size` rather than reserve */
	int64 size;  /* 0: the row's step */
	int64 start; /* the answer */
	int64 end;
	Verdict verdict;
} SegmentClaim;

typedef struct Segments
{
	LWLock lock; /* held for memory accesses only */

	/* under the lock */
	uint64 last_owner;
	int slots_used;
	int claims_used;
	Oid gathering; /* database whose worker waits for more claims, */
	int missing;   /* and for how many more; it need not be woken before */
	SegmentClaim claims[SEGMENT_CLAIMS];

	SegmentSlot slots[SEGMENT_SLOTS];
} Segments;

static inline uint64
word_serial(uint64 word)
{
	return word >> WORD_POSITION_BITS & WORD_SERIAL_MASK;
}

static inline uint32
word_position(uint64 word)
{
	return (uint32) (word & WORD_POSITION_MASK);
}

static inline uint64
word_of(uint64 serial, uint32 position)
{
	return (serial & WORD_SERIAL_MASK) << WORD_POSITION_BITS | position;
}

/* segment_cache.c */
extern void segment_cache_init(Segments *segments, int tranche);
extern uint64 segment_source(const char *coordinator);
extern void segment_drop_foreign(Oid database, uint64 source);
extern SegmentSlot *
segment_slot(Oid database, Oid relation, const char *tag, uint64 *owner);
extern bool
segment_take(SegmentSlot *slot, uint64 owner, int64 *number, bool *due);
extern bool segment_enter(SegmentSlot *slot, uint64 owner);
extern bool segment_request(SegmentSlot *slot, bool refill);
extern void segment_withdraw(SegmentSlot *slot);
extern void segment_suspend_tag(Oid database, Oid relation, const char *tag);
extern void segment_suspend_all(Oid database, Oid relation);
extern void segment_suspend_everything(void);
extern void segment_resume(SegmentSlot *slot, uint64 asks, bool keep);
extern bool segment_has_next(SegmentSlot *slot);
extern uint64 segment_issued(SegmentSlot *slot);
extern void segment_defer_prefetch(SegmentSlot *slot);
extern void
segment_publish(SegmentSlot *slot, int64 start, int64 size, double prefetch);

#endif

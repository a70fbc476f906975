/*
 * lease.h
 *		The node lease of this server, as its sessions see it.
 *
 * A lease grants a range of timestamps of one node. Two words carry it all:
 *
 *	GEN		era (6 bits), time (42), sequence (16): the last id
 *	LEASE	era (6 bits), end of the range (42), node (16); 0 when there is none
 *
 * Times are in ms since the layout's epoch. The era is raised when time in ids
 * is to go back, by snowflake_accept_clock(), so that GEN as a whole only grows:
 * a swap that was begun before can never succeed later.
 *
 * The order of steps, each of which is needed (test/model has a counterexample
 * for every one that is left out):
 *
 *	- A session reads GEN, then LEASE, then the clock. If its swap of GEN
 *	  succeeds, the lease that it read had not been given back.
 *	- The worker, with a new lease, raises GEN to where the range begins, then
 *	  sets LEASE.
 *	- The worker, to give a lease back, clears LEASE, then raises GEN, and only
 *	  then lowers the end of the range in the table.
 */
#ifndef IDGEN_LEASE_H
#define IDGEN_LEASE_H

#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "utils/uuid.h"

#include "snowflake_layout.h"
#include "verdict.h"

#define WORD_TAIL_BITS 16 /* sequence, node */
#define WORD_TIME_BITS (SNOWFLAKE_TIME_BITS + 1)
#define WORD_ERA_MAX 63
/* As a sequence in GEN: the next id must have a later time. */
#define WORD_TAIL_FULL ((1 << WORD_TAIL_BITS) - 1)

typedef struct Lease
{
	/* published before LEASE is set, and never changed after */
	pg_atomic_uint64 epoch_ms;
	pg_atomic_uint32 node_bits;
	pg_atomic_uint32 sequence_bits;

	/* no lock; a request is open while the first two differ */
	pg_atomic_uint64 requested;
	pg_atomic_uint64 answered;
	pg_atomic_uint32 new_era; /* the request is to accept the clock */
	ConditionVariable answer;
	pg_atomic_uint64 sequence_waits;
	pg_atomic_uint64 clock_waits;
	pg_atomic_uint64 refusals;

	LWLock lock; /* held for memory accesses only */

	/* under the lock, for those who look */
	uint64 renewals;
	int32 node; /* of the last lease */
	int64 epoch;
	pg_uuid_t holder;
	TimestampTz from;
	TimestampTz until;
	Verdict verdict; /* of the last request */
} Lease;

static inline uint64
lease_word(int era, int64 time, int tail)
{
	return (uint64) era << (WORD_TIME_BITS + WORD_TAIL_BITS) |
		   (uint64) time << WORD_TAIL_BITS | (uint64) tail;
}

static inline int
word_era(uint64 word)
{
	return (int) (word >> (WORD_TIME_BITS + WORD_TAIL_BITS));
}

static inline int64
word_time(uint64 word)
{
	return (int64) (word >> WORD_TAIL_BITS &
					((UINT64CONST(1) << WORD_TIME_BITS) - 1));
}

static inline int
word_tail(uint64 word)
{
	return (int) (word & WORD_TAIL_FULL);
}

/* lease.c */
extern void lease_init(Lease *lease, int tranche);
extern void lease_layout(SnowflakeLayout *layout);
extern void lease_await(int era, int64 time);

#endif

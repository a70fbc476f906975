/*
 * shared.h
 *		The one struct that all processes of a server share.
 *
 * Its atomics stand alone, but for the rules in segment_cache.c and lease.h.
 * There are three locks, in segments, workers, and lease; nobody holds two.
 */
#ifndef IDGEN_SHARED_H
#define IDGEN_SHARED_H

#include "port/atomics.h"

#include "lease.h"
#include "segment_cache.h"
#include "worker.h"

/* A word that every session writes has a cache line to itself. */
typedef union HotWord
{
	pg_atomic_uint64 word;
	char line[PG_CACHE_LINE_SIZE];
} HotWord;

#define ULID_KEY_WORDS 4

typedef struct Shared
{
	/* uuidv7.c: the last time and counter issued; moves by compare-and-swap */
	HotWord uuidv7_last;

	/* uuidv7.c: what uuidv7_status shows */
	pg_atomic_uint64 uuidv7_overflows;
	pg_atomic_uint64 uuidv7_clock_steps;
	pg_atomic_uint32 uuidv7_behind; /* 1 while a step is being waited out */

	/* ulid.c: the last time and step issued; moves by compare-and-swap */
	HotWord ulid_last;

	/* ulid.c: what tails are made of; each word is set once, from 0 */
	pg_atomic_uint64 ulid_key[ULID_KEY_WORDS];

	/* clock.c: the developers' shift of the clock in us, an int64 */
	pg_atomic_uint64 clock_shift_us;

	/* lease.h: GEN and LEASE */
	HotWord snowflake_last;
	HotWord lease_word;

	int tranche; /* of all locks; set once, by shared_init() */
	Workers workers;
	Segments segments;
	Lease lease;
} Shared;

/* This process's view; NULL until shared_get() has run here. */
extern Shared *shared;

/* shared.c */
extern void shared_preload(void);
extern bool shared_attach(void);
extern Shared *shared_attach_or_error(void);

/* The shared struct. Raises 55000 where the server gave it no memory. */
static inline Shared *
shared_get(void)
{
	if (likely(shared != NULL))
		return shared;
	return shared_attach_or_error();
}

#endif

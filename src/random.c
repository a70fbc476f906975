/*
 * random.c
 *		Unpredictable bits from the server's CSPRNG, taken in larger pieces.
 *
 * No bit is handed out twice: words are wiped as they are used, and a process
 * that PostgreSQL forked never uses a pool that its parent had filled.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "random.h"

#define POOL_WORDS 512 /* 4 kB: the CSPRNG's cost a call becomes small */

static struct
{
	int owner; /* process that filled the pool */
	int left;  /* words[0] to words[left - 1] are not used yet */
	uint64 words[POOL_WORDS];
} pool;

/* Raises XX000 when the CSPRNG has nothing to give. */
static void
pool_fill(void)
{
	pool.left = 0;
	if (!pg_strong_random(pool.words, sizeof(pool.words)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random bits")));
	pool.owner = MyProcPid;
	pool.left = POOL_WORDS;
}

/* 64 random bits. May raise XX000; call it before any state changes. */
uint64
random_bits(void)
{
	uint64 bits;

	if (unlikely(pool.left == 0 || pool.owner != MyProcPid))
		pool_fill();
	bits = pool.words[--pool.left];
	pool.words[pool.left] = 0;
	return bits;
}

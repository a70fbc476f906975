/*
 * timeword.h
 *		A millisecond and a count in one 64-bit word, for compare-and-swap.
 */
#ifndef IDGEN_TIMEWORD_H
#define IDGEN_TIMEWORD_H

#include "clock.h"

/* Milliseconds since 2020 in the high 44 bits, a 20-bit counter below. */
#define TIMEWORD_COUNTER_BITS 20
#define TIMEWORD_COUNTER_MASK ((UINT64CONST(1) << TIMEWORD_COUNTER_BITS) - 1)
#define TIMEWORD_EPOCH_MS INT64CONST(1577836800000) /* 2020-01-01 00:00 UTC */
#define TIMEWORD_MAX_MS (TIMEWORD_EPOCH_MS + (INT64CONST(1) << 44) - 1)

/* timeword.c */
extern void timeword_clock_wrong(int64 now_us, const char *function);

static inline int64
timeword_unix_ms(uint64 word)
{
	return TIMEWORD_EPOCH_MS + (int64) (word >> TIMEWORD_COUNTER_BITS);
}

static inline uint64
timeword(int64 unix_ms, uint64 counter)
{
	return (uint64) (unix_ms - TIMEWORD_EPOCH_MS) << TIMEWORD_COUNTER_BITS |
		   counter;
}

/*
 * The clock in ms, for the SQL function of that name. Raises 55000 for a time
 * that the word cannot hold.
 */
static inline int64
timeword_clock_ms(const char *function)
{
	int64 now_us = clock_unix_us();
	int64 now_ms = now_us / US_PER_MS;

	if (unlikely(now_ms < TIMEWORD_EPOCH_MS || now_ms > TIMEWORD_MAX_MS))
		timeword_clock_wrong(now_us, function);
	return now_ms;
}

#endif

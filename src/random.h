/*
 * random.h
 *		Unpredictable bits.
 */
#ifndef IDGEN_RANDOM_H
#define IDGEN_RANDOM_H

/* random.c */
extern uint64 random_bits(void);

#endif

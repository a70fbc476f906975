/*
 * verdict.h
 *		What a worker has to say to those who wait for it.
 */
#ifndef IDGEN_VERDICT_H
#define IDGEN_VERDICT_H

#include "utils/elog.h"

typedef struct Verdict
{
	int sqlstate; /* 0: none */
	char message[192];
	char detail[192];
	char hint[192];
} Verdict;

/* verdict.c */
extern void verdict_set(Verdict *verdict,
						int sqlstate,
						const char *message,
						const char *detail,
						const char *hint);
extern void verdict_catch(Verdict *verdict, MemoryContext context);
extern void verdict_raise(const Verdict *verdict);

#endif

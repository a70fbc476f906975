/*
 * segment.h
 *		Numbers of business tags.
 */
#ifndef IDGEN_SEGMENT_H
#define IDGEN_SEGMENT_H

#include "fmgr.h"

#include "segment_cache.h"

/* segment.c */
extern Oid segment_find_relation(FunctionCallInfo fcinfo);

/* segment_row.c */
extern bool segment_table_is_ours(Oid relation);
extern void segment_check_uncommitted(Oid relation, const char *tag);
extern char *segment_lockers(Oid relation, const char *tag, bool *own);

#endif

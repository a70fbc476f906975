/*
 * coordinator.h
 *		What workers ask of the database that holds the tables.
 */
#ifndef IDGEN_COORDINATOR_H
#define IDGEN_COORDINATOR_H

#include "utils/uuid.h"

#include "segment_cache.h"

typedef enum SegmentRowState
{
	ROW_MISSING,
	ROW_LOCKED, /* read, but not to be changed now */
	ROW_OURS    /* locked until the end of the transaction */
} SegmentRowState;

/* A row of id_segment as found, and by how much to raise its max_id. */
typedef struct SegmentRow
{
	char tag[SEGMENT_TAG_MAX + 1];
	SegmentRowState state;
	pg_uuid_t incarnation;
	int64 max_id;
	int32 step;
	int64 amount; /* 0: leave it alone */
} SegmentRow;

/* coordinator_spi.c; all inside a transaction of the caller's */
extern const char *coordinator_open(Oid relation);
extern void coordinator_lock_rows(SegmentRow *rows, int count);
extern void coordinator_raise_rows(SegmentRow *rows, int count, bool log);
extern bool coordinator_prune_log(int keep_minutes);
extern void coordinator_close(void);
extern void coordinator_restore_role(void);

#endif

/*
 * coordinator.h
 *		What workers ask of the database that holds the tables.
 */
#ifndef IDGEN_COORDINATOR_H
#define IDGEN_COORDINATOR_H

#include "utils/uuid.h"

#include "segment_cache.h"
#include "snowflake_layout.h"

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

/* A lease of a node, in the layout's terms. */
typedef struct NodeLease
{
	SnowflakeLayout layout;
	int ttl_ms;
	int node;
	pg_uuid_t holder;
	int64 epoch;
	TimestampTz from;
	TimestampTz until;
} NodeLease;

typedef enum LeaseFate
{
	LEASE_OURS,
	LEASE_LOST,
	LEASE_LOCKED
} LeaseFate;

/* coordinator_spi.c; all inside a transaction of the caller's */
extern const char *
coordinator_open(Oid relation, const char *first, const char *second);
extern Oid coordinator_find_table(const char *name);
extern void coordinator_close(void);
extern void coordinator_restore_role(void);

/* coordinator_leases.c */
extern bool coordinator_lease_layout(NodeLease *lease);
extern bool
coordinator_lease_take(NodeLease *lease, const char *name, int only);
extern int64 coordinator_lease_wait_ms(NodeLease *lease, int only);
extern LeaseFate coordinator_lease_renew(NodeLease *lease);
extern void coordinator_lease_give_back(NodeLease *lease, TimestampTz end);

/* coordinator_segments.c */
extern void coordinator_lock_rows(SegmentRow *rows, int count);
extern void coordinator_raise_rows(SegmentRow *rows, int count, bool log);
extern bool coordinator_prune_log(int keep_minutes);

#endif

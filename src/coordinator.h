/*
 * coordinator.h
 *		What workers ask of the database that holds the tables: in this server,
 *		or in the one that idgen.coordinator names.
 */
#ifndef IDGEN_COORDINATOR_H
#define IDGEN_COORDINATOR_H

#include "datatype/timestamp.h"
#include "utils/uuid.h"

#include "segment_cache.h"
#include "snowflake_layout.h"
#include "verdict.h"

typedef enum DemandKind
{
	DEMAND_LOOK,  /* at the row */
	DEMAND_BLOCK, /* numbers for those who wait, or soon will */
	DEMAND_ALLOC, /* numbers for one caller */
	DEMAND_SET    /* raise max_id */
} DemandKind;

typedef enum RowState
{
	ROW_UNKNOWN, /* an error came first */
	ROW_MISSING,
	ROW_LOCKED, /* by somebody else, or its table is */
	ROW_OURS    /* locked for this transaction */
} RowState;

/* What is wanted of a tag, and the answer to it. */
typedef struct Demand
{
	const char *tag;
	DemandKind kind;
	int64 amount; /* LOOK: 0; BLOCK: callers that wait; ALLOC: numbers, 0 for
				   * the row's step; SET: the next number */

	/* the answer */
	RowState row;
	pg_uuid_t incarnation;
	int64 max_id; /* as found */
	int64 raised; /* max_id as left */
	int32 step;
	int64 start; /* 0: no numbers */
	int64 end;
	Verdict verdict; /* none: it is done */
} Demand;

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
	int64 free_in_ms; /* not taken: when one is free; below 0 if locked */
	bool lost;        /* not renewed: it is another's */
} NodeLease;

typedef enum LeaseStep
{
	STEP_TAKE,
	STEP_RENEW,
	STEP_GIVE_BACK
} LeaseStep;

/* coordinator.c; in workers */
extern void coordinator_begin(void);
extern bool coordinator_is_remote(void);
extern bool coordinator_has_changed(void);
extern uint64 coordinator_source(void);
extern bool
coordinator_reserve_blocks(Oid relation, Demand *demands, int count);
extern bool coordinator_prune_old(Oid relation);
extern bool coordinator_lease_step(LeaseStep step,
								   NodeLease *lease,
								   TimestampTz end,
								   Verdict *verdict,
								   bool await);

#endif

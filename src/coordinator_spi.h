/*
 * coordinator_spi.h
 *		What is asked of a coordinator, done in this server.
 */
#ifndef IDGEN_COORDINATOR_SPI_H
#define IDGEN_COORDINATOR_SPI_H

#include "executor/spi.h"

#include "coordinator.h"

/* A statement, planned once for as long as the tables keep their names. */
typedef struct Statement
{
	char *tables;
	SPIPlanPtr plan;
} Statement;

/* A row of id_segment as found, and by how much to raise its max_id. */
typedef struct SegmentRow
{
	const char *tag;
	RowState state;
	pg_uuid_t incarnation;
	int64 max_id;
	int32 step;
	bool moved;   /* last reserved from on another timeline or system */
	int64 jump;   /* numbers to leave out, if any are reserved */
	int64 amount; /* to raise max_id by, with the jump; 0: leave it alone */
} SegmentRow;

/* coordinator_spi.c; all inside a transaction of the caller's */
extern bool coordinator_writes(void);
extern Oid coordinator_find_table(const char *name);
extern const char *
coordinator_open(Oid relation, const char *first, const char *second);
extern void coordinator_close(void);
extern void coordinator_restore_role(void);
extern void coordinator_run(Statement *statement,
							const char *format,
							int expected,
							int nargs,
							Oid *types,
							Datum *values);
extern bool coordinator_lock_alone(void);
extern Datum coordinator_column(uint64 i, int n);

/* coordinator_plan.c */
extern void coordinator_plan(Demand *demand, SegmentRow *row);

/* coordinator_segments.c; between open and close */
extern void
coordinator_serve_demands(Demand *demands, int count, const char *proc);
extern bool coordinator_prune_log(int keep_minutes);

/* coordinator_leases.c; between open and close */
extern bool coordinator_serve_step(LeaseStep step,
								   NodeLease *lease,
								   const char *name,
								   int only,
								   TimestampTz end,
								   Verdict *verdict);

#endif

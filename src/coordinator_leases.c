/*
 * coordinator_leases.c
 *		The statements on node_lease and snowflake_layout.
 *
 * Leases are safe as long as the table never goes back to an older state. A
 * restart from a crash does not; but a standby that is promoted, or a backup
 * that is started, may lack the last commits. Either is on a new timeline or
 * has another system identifier, so the pair of the last lease is kept, and
 * where another is found, nothing is granted for a while that could have been.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "coordinator_spi.h"

#define CLOCK "pg_catalog.clock_timestamp()"
#define MS(number)                                                            \
	"pg_catalog.make_interval(secs => (" number ")::pg_catalog.float8 / 1000)"
#define LE " OPERATOR(pg_catalog.<=) "
#define EQ " OPERATOR(pg_catalog.=) "
#define PLUS " OPERATOR(pg_catalog.+) "

/* $1: system identifier, $2: timeline. %1$.0s: a format must use the first. */
#define READ_LAYOUT                                                           \
	"%1$.0sSELECT epoch_ms, node_bits, sequence_bits, ttl_ms,"                \
	" coalesce(system_id" EQ "$1 AND timeline" EQ "$2, false),"               \
	" system_id IS NOT NULL FROM %2$s"

/* The first lease makes the layout what it is, if nobody did. */
#define MARK_LAYOUT                                                           \
	"%1$.0sINSERT INTO %2$s AS l (system_id, timeline, not_before)"           \
	" VALUES ($1, $2, '-infinity') ON CONFLICT (one_row) DO UPDATE SET"       \
	" system_id = $1, timeline = $2, not_before ="                            \
	" CASE WHEN l.system_id IS NULL THEN '-infinity'"                         \
	" ELSE " CLOCK PLUS MS("l.ttl_ms" PLUS "1000") " END"

#define FENCE_NODES                                                           \
	"UPDATE %1$s AS n SET holder = NULL,"                                     \
	" epoch = n.epoch" PLUS "1,"                                              \
	" leased_until = greatest(n.leased_until, l.not_before) FROM %2$s AS l"

/* $1: holder, $2: its name, $3: greatest node, $4: the only node, or -1 */
#define TAKE_NODE                                                             \
	"WITH free AS (SELECT n.node_id FROM %1$s AS n"                           \
	" WHERE n.leased_until" LE CLOCK " AND n.node_id" LE "$3"                 \
	" AND ($4" EQ "-1 OR n.node_id" EQ "$4)"                                  \
	" ORDER BY n.leased_until USING OPERATOR(pg_catalog.<) LIMIT 1"           \
	" FOR NO KEY UPDATE SKIP LOCKED)"                                         \
	" UPDATE %1$s AS n SET holder = $1, holder_name = $2,"                    \
	" epoch = n.epoch" PLUS "1,"                                              \
	" leased_from = greatest(n.leased_until, " CLOCK "),"                     \
	" leased_until = greatest(n.leased_until, " CLOCK ")" PLUS MS(            \
		"l.ttl_ms") " FROM free, %2$s AS l WHERE n.node_id" EQ "free.node_id" \
					" RETURNING n.node_id, n.epoch, n.leased_from, n.leased_until"

/* The given node, or the lowest that has no row. */
#define MAKE_NODE                                                                  \
	"INSERT INTO %1$s AS n (node_id, holder, holder_name, epoch,"                  \
	" leased_from, leased_until)"                                                  \
	" SELECT missing.id, $1, $2, 1, " CLOCK ", " CLOCK PLUS MS(                    \
		"l.ttl_ms") " FROM %2$s AS l, (SELECT CASE WHEN $4" EQ "-1 THEN ("         \
					"  SELECT pg_catalog.min(c.id) FROM ("                         \
					"   SELECT 0 AS id UNION ALL SELECT node_id" PLUS              \
					"1 FROM %1$s) AS c"                                            \
					"  WHERE NOT EXISTS (SELECT FROM %1$s AS o WHERE o.node_id" EQ \
					"c.id))"                                                       \
					" ELSE $4 END AS id) AS missing"                               \
					" WHERE missing.id" LE "$3 AND l.not_before" LE CLOCK          \
					" ON CONFLICT DO NOTHING"                                      \
					" RETURNING n.node_id, n.epoch, n.leased_from, n.leased_until"

/* $1: greatest node. Whether there is one that has no row and may get one. */
#define NODE_IS_MISSING                                                       \
	"SELECT (SELECT pg_catalog.count(*) FROM %1$s AS n"                       \
	" WHERE n.node_id" LE "$1)" LE "$1::pg_catalog.int8"                      \
	" AND l.not_before" LE CLOCK " FROM %2$s AS l"

/* How long until a node is free, in ms; below 0 when one is, but locked. */
#define NEXT_FREE                                                             \
	"SELECT pg_catalog.date_part('epoch', coalesce((SELECT"                   \
	" pg_catalog.min(n.leased_until) FROM %1$s AS n WHERE n.node_id" LE "$1"  \
	" AND ($2" EQ "-1 OR n.node_id" EQ "$2)),"                                \
	" nullif(l.not_before, '-infinity'), " CLOCK ")"                          \
	" OPERATOR(pg_catalog.-) " CLOCK ")"                                      \
	" OPERATOR(pg_catalog.*) 1000::pg_catalog.float8 FROM %2$s AS l"

/* $1: node, $2: holder, $3: epoch */
#define OUR_ROW                                                               \
	"SELECT node_id FROM %1$s WHERE node_id" EQ "$1"                          \
	" AND holder" EQ "$2 AND epoch" EQ "$3"

#define RENEW                                                                 \
	"UPDATE %1$s AS n SET leased_until ="                                     \
	" greatest(n.leased_until, " CLOCK PLUS MS(                               \
		"l.ttl_ms") ") FROM %2$s AS l"                                        \
					" WHERE n.node_id" EQ "(" OUR_ROW                         \
					" FOR NO KEY UPDATE SKIP LOCKED)"                         \
					" RETURNING n.node_id, n.epoch, n.leased_from, n.leased_until"

#define GIVE_BACK                                                             \
	"%2$.0sUPDATE %1$s AS n SET leased_until = least(n.leased_until, $4)"     \
	" WHERE n.node_id" EQ "(" OUR_ROW " FOR NO KEY UPDATE SKIP LOCKED)"

static void
run_with_pair(Statement *statement, const char *sql, int expected)
{
	Oid types[] = {INT8OID, INT4OID};
	Datum values[] = {Int64GetDatum((int64) GetSystemIdentifier()),
					  Int32GetDatum((int32) GetWALInsertionTimeLine())};

	coordinator_run(statement, sql, expected, 2, types, values);
}

/* Fills in the layout. False when there is none, or it is of another pair. */
static bool
read_layout(NodeLease *lease, bool *used)
{
	static Statement read = {0};

	*used = false;
	run_with_pair(&read, READ_LAYOUT, SPI_OK_SELECT);
	if (SPI_processed == 0)
		return false;
	lease->layout.epoch_ms = DatumGetInt64(coordinator_column(0, 1));
	lease->layout.node_bits = DatumGetInt32(coordinator_column(0, 2));
	lease->layout.sequence_bits = DatumGetInt32(coordinator_column(0, 3));
	lease->ttl_ms = DatumGetInt32(coordinator_column(0, 4));
	*used = DatumGetBool(coordinator_column(0, 6));
	return DatumGetBool(coordinator_column(0, 5));
}

/*
 * Reads the layout, makes it final with the first lease, and fences all nodes
 * where the table may have gone back in time. False when a table is locked.
 */
static bool
lease_layout_of(NodeLease *lease)
{
	static Statement mark = {0};
	static Statement fence = {0};
	bool used;

	if (read_layout(lease, &used))
		return true;
	if (!coordinator_lock_alone())
		return false;
	/* Once more: it may have been changed until it was locked. */
	if (read_layout(lease, &used))
		return true;
	run_with_pair(&mark, MARK_LAYOUT, SPI_OK_INSERT);
	if (used)
	{
		coordinator_run(&fence, FENCE_NODES, SPI_OK_UPDATE, 0, NULL, NULL);
		ereport(LOG,
				(errmsg("idgen: database of node leases has another timeline "
						"or system identifier: no lease for %d ms",
						lease->ttl_ms + 1000)));
	}
	read_layout(lease, &used);
	return true;
}

static bool
read_lease(NodeLease *lease)
{
	if (SPI_processed == 0)
		return false;
	lease->node = DatumGetInt32(coordinator_column(0, 1));
	lease->epoch = DatumGetInt64(coordinator_column(0, 2));
	lease->from = DatumGetTimestampTz(coordinator_column(0, 3));
	lease->until = DatumGetTimestampTz(coordinator_column(0, 4));
	return true;
}

static bool
node_is_missing(NodeLease *lease)
{
	static Statement missing = {0};
	Oid types[] = {INT4OID};
	Datum values[] = {
		Int32GetDatum((int32) snowflake_field_max(lease->layout.node_bits))};

	CHECK_FOR_INTERRUPTS();
	coordinator_run(&missing,
					NODE_IS_MISSING,
					SPI_OK_SELECT,
					1,
					types,
					values);
	return DatumGetBool(coordinator_column(0, 1));
}

/* Takes a node: `only`, or any if that is -1. False if none is free. */
static bool
take_node(NodeLease *lease, const char *name, int only)
{
	static Statement take = {0};
	static Statement make = {0};
	Oid types[] = {UUIDOID, TEXTOID, INT4OID, INT4OID};
	Datum values[] = {
		UUIDPGetDatum(&lease->holder),
		CStringGetTextDatum(name),
		Int32GetDatum((int32) snowflake_field_max(lease->layout.node_bits)),
		Int32GetDatum(only)};

	do
	{
		coordinator_run(&take,
						TAKE_NODE,
						SPI_OK_UPDATE_RETURNING,
						4,
						types,
						values);
		if (read_lease(lease))
			return true;
		coordinator_run(&make,
						MAKE_NODE,
						SPI_OK_INSERT_RETURNING,
						4,
						types,
						values);
		if (read_lease(lease))
			return true;
		/* Another server has just made that one: the next, then. */
	} while (only == -1 && node_is_missing(lease));
	return false;
}

/* After that: in how many ms one is free; below 0 when its row is locked. */
static int64
next_free_ms(NodeLease *lease, int only)
{
	static Statement next = {0};
	Oid types[] = {INT4OID, INT4OID};
	Datum values[] = {
		Int32GetDatum((int32) snowflake_field_max(lease->layout.node_bits)),
		Int32GetDatum(only)};

	coordinator_run(&next, NEXT_FREE, SPI_OK_SELECT, 2, types, values);
	return (int64) DatumGetFloat8(coordinator_column(0, 1));
}

static void
no_node_free(NodeLease *lease, int only, Verdict *verdict)
{
	int64 node_max = snowflake_field_max(lease->layout.node_bits);

	if (only > node_max)
	{
		verdict_set(verdict,
					ERRCODE_INVALID_PARAMETER_VALUE,
					psprintf("idgen.node_id is %d, but the layout has nodes 0 "
							 "to " INT64_FORMAT,
							 only,
							 node_max),
					NULL,
					"Change idgen.node_id, or reset it.");
		return;
	}
	lease->free_in_ms = next_free_ms(lease, only);
	if (lease->free_in_ms < 0)
		verdict_set(verdict,
					ERRCODE_LOCK_NOT_AVAILABLE,
					"the rows of node_lease that are free are locked",
					NULL,
					"End the transactions that lock them.");
	else
		verdict_set(verdict,
					ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					"no Snowflake node is free",
					psprintf("The next one is in " INT64_FORMAT " ms.",
							 lease->free_in_ms),
					"Try again then. See table node_lease.");
}

/* Moves the end of the range on. */
static bool
renew_node(NodeLease *lease, Verdict *verdict)
{
	static Statement renew = {0};
	static Statement look = {0};
	Oid types[] = {INT4OID, UUIDOID, INT8OID};
	Datum values[] = {Int32GetDatum(lease->node),
					  UUIDPGetDatum(&lease->holder),
					  Int64GetDatum(lease->epoch)};

	coordinator_run(&renew, RENEW, SPI_OK_UPDATE_RETURNING, 3, types, values);
	if (read_lease(lease))
		return true;
	coordinator_run(&look, "%2$.0s" OUR_ROW, SPI_OK_SELECT, 3, types, values);
	lease->lost = SPI_processed == 0;
	verdict_set(verdict,
				lease->lost ? ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE
							: ERRCODE_LOCK_NOT_AVAILABLE,
				psprintf(lease->lost
							 ? "the lease of node %d is lost"
							 : "row of node %d in node_lease is locked",
						 lease->node),
				NULL,
				NULL);
	return false;
}

/* Ends the range at `end`, unless it ends before. */
static void
give_back_node(NodeLease *lease, TimestampTz end)
{
	static Statement give_back = {0};
	Oid types[] = {INT4OID, UUIDOID, INT8OID, TIMESTAMPTZOID};
	Datum values[] = {Int32GetDatum(lease->node),
					  UUIDPGetDatum(&lease->holder),
					  Int64GetDatum(lease->epoch),
					  TimestampTzGetDatum(end)};

	coordinator_run(&give_back, GIVE_BACK, SPI_OK_UPDATE, 4, types, values);
}

/*
 * A step of a lease: to take a node, `only` or any if that is -1, for a holder
 * of that name; to renew a lease; to end one at `end`. False: see the verdict.
 */
bool
coordinator_serve_step(LeaseStep step,
					   NodeLease *lease,
					   const char *name,
					   int only,
					   TimestampTz end,
					   Verdict *verdict)
{
	lease->free_in_ms = -1;
	lease->lost = false;
	if (!lease_layout_of(lease))
	{
		verdict_set(verdict,
					ERRCODE_LOCK_NOT_AVAILABLE,
					"table node_lease or snowflake_layout is locked",
					NULL,
					NULL);
		return false;
	}
	switch (step)
	{
		case STEP_TAKE:
			if (take_node(lease, name, only))
				return true;
			no_node_free(lease, only, verdict);
			return false;
		case STEP_RENEW:
			return renew_node(lease, verdict);
		case STEP_GIVE_BACK:
			give_back_node(lease, end);
			return true;
	}
	return false;
}

/*
 * coordinator_spi.c
 *		The statements on id_segment and segment_log, run in this server.
 *
 * They run as the tables' owner under SECURITY_RESTRICTED_OPERATION: a trigger
 * that the owner put there gets no more rights than he has. Nothing here waits
 * for a lock: tables are locked only if they are free, and rows that somebody
 * else holds are skipped.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "coordinator.h"

/* More would keep those waiting who want numbers. */
#define PRUNE_AT_ONCE 10000

static char *segment_table = NULL; /* qualified and quoted */
static char *log_table = NULL;
static Oid caller_role;
static int caller_context;

/* Qualified name of a relation of the extension; NULL if it is not its own. */
static char *
own_table(Oid relation)
{
	char *name = get_rel_name(relation);
	Oid extension = get_extension_oid("idgen", true);

	if (name == NULL || extension == InvalidOid ||
		getExtensionOfObject(RelationRelationId, relation) != extension)
		return NULL;
	return quote_qualified_identifier(
		get_namespace_name(get_rel_namespace(relation)),
		name);
}

static Oid
owner_of(Oid relation)
{
	Relation opened = RelationIdGetRelation(relation);
	Oid owner = opened->rd_rel->relowner;

	RelationClose(opened);
	return owner;
}

/*
 * Begins work on the tables. Then follow coordinator_close(), the commit, and
 * coordinator_restore_role(). Returns NULL, or the name of the table that is
 * not there or that somebody holds a lock on.
 */
const char *
coordinator_open(Oid relation)
{
	Oid log;

	if (!ConditionalLockRelationOid(relation, RowExclusiveLock))
		return "id_segment";
	segment_table = own_table(relation);
	if (segment_table == NULL)
		return "id_segment";
	log = get_relname_relid("segment_log", get_rel_namespace(relation));
	if (!OidIsValid(log) || !ConditionalLockRelationOid(log, RowExclusiveLock))
		return "segment_log";
	log_table = own_table(log);
	if (log_table == NULL)
		return "segment_log";
	GetUserIdAndSecContext(&caller_role, &caller_context);
	SetUserIdAndSecContext(owner_of(relation),
						   caller_context | SECURITY_RESTRICTED_OPERATION |
							   SECURITY_NOFORCE_RLS);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	return NULL;
}

void
coordinator_close(void)
{
	SPI_finish();
}

/* After the commit: its deferred triggers had to run as the owner, too. */
void
coordinator_restore_role(void)
{
	SetUserIdAndSecContext(caller_role, caller_context);
}

/* A statement, planned once for as long as the tables keep their names. */
typedef struct Statement
{
	char *tables;
	SPIPlanPtr plan;
} Statement;

/* Runs it; `format` has the names of the table and the log as %1$s and %2$s. */
static void
run(Statement *statement,
	const char *format,
	int expected,
	int nargs,
	Oid *types,
	Datum *values)
{
	char *tables = psprintf("%s %s", segment_table, log_table);
	int code;

	if (statement->plan != NULL && strcmp(statement->tables, tables) != 0)
	{
		SPI_freeplan(statement->plan);
		statement->plan = NULL;
	}
	if (statement->plan == NULL)
	{
		char *sql = psprintf(format, segment_table, log_table);
		SPIPlanPtr plan = SPI_prepare(sql, nargs, types);

		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "could not prepare: %s", sql);
		statement->tables = MemoryContextStrdup(TopMemoryContext, tables);
		statement->plan = plan;
	}
	code = SPI_execute_plan(statement->plan, values, NULL, false, 0);
	if (code != expected)
		elog(ERROR, "statement returned %d instead of %d", code, expected);
}

static Datum
tag_array(SegmentRow *rows, int count)
{
	Datum *tags = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		tags[i] = CStringGetTextDatum(rows[i].tag);
	return PointerGetDatum(
		construct_array(tags, count, TEXTOID, -1, false, TYPALIGN_INT));
}

static SegmentRow *
find_row(SegmentRow *rows, int count, const char *tag)
{
	for (int i = 0; i < count; i++)
		if (strcmp(rows[i].tag, tag) == 0)
			return &rows[i];
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a trigger changed a tag to \"%s\"", tag)));
	return NULL;
}

static Datum
column(uint64 i, int n)
{
	bool is_null;
	Datum value = SPI_getbinval(SPI_tuptable->vals[i],
								SPI_tuptable->tupdesc,
								n,
								&is_null);

	if (is_null)
		elog(ERROR, "column %d is null", n);
	return value;
}

/* Takes over biz_tag, max_id, step and incarnation of what was selected. */
static void
read_rows(SegmentRow *rows, int count, SegmentRowState state)
{
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char *tag = TextDatumGetCString(column(i, 1));
		SegmentRow *row = find_row(rows, count, tag);

		if (row->state != ROW_MISSING)
			continue;
		row->state = state;
		row->max_id = DatumGetInt64(column(i, 2));
		row->step = DatumGetInt32(column(i, 3));
		row->incarnation = *DatumGetUUIDP(column(i, 4));
	}
}

#define ROWS_OF_TAGS                                                          \
	"SELECT biz_tag, max_id, step, incarnation FROM %1$s "                    \
	"WHERE biz_tag OPERATOR(pg_catalog.=) ANY ($1)"

/* Locks the rows of these tags as far as they are there and free. */
void
coordinator_lock_rows(SegmentRow *rows, int count)
{
	static Statement lock = {0};
	static Statement look = {0};
	Oid types[] = {TEXTARRAYOID};
	Datum values[] = {tag_array(rows, count)};

	for (int i = 0; i < count; i++)
	{
		rows[i].state = ROW_MISSING;
		rows[i].amount = 0;
	}
	run(&lock,
		ROWS_OF_TAGS " FOR NO KEY UPDATE SKIP LOCKED",
		SPI_OK_SELECT,
		1,
		types,
		values);
	read_rows(rows, count, ROW_OURS);
	if (SPI_processed == (uint64) count)
		return;
	run(&look, ROWS_OF_TAGS, SPI_OK_SELECT, 1, types, values);
	read_rows(rows, count, ROW_LOCKED);
}

#define RAISE_AND_LOG                                                         \
	"WITH taken AS ("                                                         \
	" UPDATE %1$s AS s SET"                                                   \
	" max_id = s.max_id OPERATOR(pg_catalog.+) w.amount,"                     \
	" updated_at = pg_catalog.clock_timestamp(),"                             \
	" system_id = $4, timeline = $5"                                          \
	" FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2))"          \
	" AS w (biz_tag, amount)"                                                 \
	" WHERE s.biz_tag OPERATOR(pg_catalog.=) w.biz_tag"                       \
	" AND w.amount OPERATOR(pg_catalog.>) 0::pg_catalog.int8"                 \
	" RETURNING s.biz_tag, s.max_id, s.incarnation, w.amount"                 \
	"), logged AS ("                                                          \
	" INSERT INTO %2$s (biz_tag, incarnation, start_id, end_id, proc)"        \
	" SELECT biz_tag, incarnation, max_id OPERATOR(pg_catalog.-) amount"      \
	" OPERATOR(pg_catalog.+) 1::pg_catalog.int8, max_id, $3"                  \
	" FROM taken WHERE $6"                                                    \
	") SELECT biz_tag, max_id FROM taken"

/* Raises max_id of rows that are ours by their amounts, in one statement. */
void
coordinator_raise_rows(SegmentRow *rows, int count, bool log)
{
	static Statement raise = {0};
	Oid types[] =
		{TEXTARRAYOID, INT8ARRAYOID, TEXTOID, INT8OID, INT4OID, BOOLOID};
	Datum *amounts = palloc(sizeof(Datum) * count);
	Datum values[6];
	uint64 raised = 0;

	for (int i = 0; i < count; i++)
	{
		amounts[i] = Int64GetDatum(rows[i].amount);
		if (rows[i].amount > 0)
			raised++;
	}
	if (raised == 0)
		return;
	values[0] = tag_array(rows, count);
	values[1] = PointerGetDatum(construct_array(amounts,
												count,
												INT8OID,
												sizeof(int64),
												FLOAT8PASSBYVAL,
												TYPALIGN_DOUBLE));
	values[2] =
		CStringGetTextDatum(psprintf("%s:%d",
									 cluster_name[0] ? cluster_name : "idgen",
									 MyProcPid));
	values[3] = Int64GetDatum((int64) GetSystemIdentifier());
	values[4] = Int32GetDatum((int32) GetWALInsertionTimeLine());
	values[5] = BoolGetDatum(log);
	run(&raise, RAISE_AND_LOG, SPI_OK_SELECT, 6, types, values);

	/* A trigger of the owner's may have had another idea. */
	if (SPI_processed != raised)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a trigger suppressed the update of id_segment")));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		SegmentRow *row =
			find_row(rows, count, TextDatumGetCString(column(i, 1)));

		if (DatumGetInt64(column(i, 2)) != row->max_id + row->amount)
			ereport(
				ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a trigger changed max_id of tag \"%s\"", row->tag)));
	}
}

/* Deletes rows of the log that are older. False when some may be left. */
bool
coordinator_prune_log(int keep_minutes)
{
	static Statement prune = {0};
	Oid types[] = {INT4OID, INT8OID};
	Datum values[] = {Int32GetDatum(keep_minutes),
					  Int64GetDatum(PRUNE_AT_ONCE)};

	run(&prune,
		/* %1$.0s: a format must use the first to use the second. */
		"%1$.0sDELETE FROM %2$s WHERE ctid OPERATOR(pg_catalog.=) ANY (ARRAY("
		"SELECT ctid FROM %2$s WHERE allocated_at OPERATOR(pg_catalog.<) "
		"(pg_catalog.now() OPERATOR(pg_catalog.-) "
		"pg_catalog.make_interval(mins => $1)) "
		"LIMIT $2 FOR UPDATE SKIP LOCKED))",
		SPI_OK_DELETE,
		2,
		types,
		values);
	return SPI_processed < PRUNE_AT_ONCE;
}

/*
 * coordinator_segments.c
 *		The statements on id_segment and segment_log.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

#include "compat.h"
#include "coordinator_spi.h"
#include "guc.h"

/* More would keep those waiting who want numbers. */
#define PRUNE_AT_ONCE 10000

static Datum
text_array(SegmentRow *rows, int count)
{
	Datum *tags = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		tags[i] = CStringGetTextDatum(rows[i].tag);
	return PointerGetDatum(
		construct_array(tags, count, TEXTOID, -1, false, TYPALIGN_INT));
}

static Datum
bigint_array(Datum *numbers, int count)
{
	return PointerGetDatum(construct_array(numbers,
										   count,
										   INT8OID,
										   sizeof(int64),
										   FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

static SegmentRow *
find_row(SegmentRow *rows, int count, const char *tag)
{
	for (int i = 0; i < count; i++)
		if (strcmp(rows[i].tag, tag) == 0)
			return &rows[i];
	return NULL;
}

static SegmentRow *
own_row(SegmentRow *rows, int count, const char *tag)
{
	SegmentRow *row = find_row(rows, count, tag);

	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a trigger changed a tag to \"%s\"", tag)));
	return row;
}

/* Takes over what was selected of the rows that are not known yet. */
static void
read_rows(SegmentRow *rows, int count, RowState state)
{
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char *tag = TextDatumGetCString(coordinator_column(i, 1));
		SegmentRow *row = own_row(rows, count, tag);

		if (row->state != ROW_MISSING)
			continue;
		row->state = state;
		row->max_id = DatumGetInt64(coordinator_column(i, 2));
		row->step = DatumGetInt32(coordinator_column(i, 3));
		row->incarnation = *DatumGetUUIDP(coordinator_column(i, 4));
		row->moved = DatumGetBool(coordinator_column(i, 5));
	}
}

#define ROWS_OF_TAGS                                                          \
	"SELECT biz_tag::pg_catalog.text, max_id::pg_catalog.int8, "              \
	"step::pg_catalog.int4, incarnation::pg_catalog.uuid, "                   \
	"coalesce(system_id OPERATOR(pg_catalog.<>) $2 "                          \
	"OR timeline OPERATOR(pg_catalog.<>) $3, false) FROM %1$s "               \
	"WHERE biz_tag OPERATOR(pg_catalog.=) ANY ($1)"

/* Locks the rows of these tags as far as they are there and free. */
static void
lock_rows(SegmentRow *rows, int count)
{
	static Statement lock = {0};
	static Statement look = {0};
	Oid types[] = {TEXTARRAYOID, INT8OID, INT4OID};
	Datum values[] = {text_array(rows, count),
					  Int64GetDatum((int64) GetSystemIdentifier()),
					  Int32GetDatum((int32) GetWALInsertionTimeLine())};

	coordinator_run(&lock,
					ROWS_OF_TAGS " FOR NO KEY UPDATE SKIP LOCKED",
					SPI_OK_SELECT,
					3,
					types,
					values);
	read_rows(rows, count, ROW_OURS);
	if (SPI_processed == (uint64) count)
		return;
	coordinator_run(&look, ROWS_OF_TAGS, SPI_OK_SELECT, 3, types, values);
	read_rows(rows, count, ROW_LOCKED);
}

/* What a jump leaves out has a row in the log, too. */
#define RAISE_AND_LOG                                                         \
	"WITH taken AS ("                                                         \
	" UPDATE %1$s AS s SET"                                                   \
	" max_id = s.max_id OPERATOR(pg_catalog.+) w.amount,"                     \
	" updated_at = pg_catalog.clock_timestamp(),"                             \
	" system_id = $5, timeline = $6"                                          \
	" FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2),"          \
	" pg_catalog.unnest($3)) AS w (biz_tag, amount, jump)"                    \
	" WHERE s.biz_tag OPERATOR(pg_catalog.=) w.biz_tag"                       \
	" AND w.amount OPERATOR(pg_catalog.>) 0::pg_catalog.int8"                 \
	" RETURNING s.biz_tag, s.max_id, s.incarnation, w.amount, w.jump"         \
	"), logged AS ("                                                          \
	" INSERT INTO %2$s (biz_tag, incarnation, start_id, end_id, proc)"        \
	" SELECT biz_tag, incarnation, max_id OPERATOR(pg_catalog.-) amount"      \
	" OPERATOR(pg_catalog.+) jump OPERATOR(pg_catalog.+) 1::pg_catalog.int8," \
	" max_id, $4 FROM taken"                                                  \
	" WHERE $7 AND amount OPERATOR(pg_catalog.>) jump"                        \
	" UNION ALL"                                                              \
	" SELECT biz_tag, incarnation, max_id OPERATOR(pg_catalog.-) amount"      \
	" OPERATOR(pg_catalog.+) 1::pg_catalog.int8,"                             \
	" max_id OPERATOR(pg_catalog.-) amount OPERATOR(pg_catalog.+) jump,"      \
	" $4 OPERATOR(pg_catalog.||) ' idgen.promotion_gap' FROM taken"           \
	" WHERE $7 AND jump OPERATOR(pg_catalog.>) 0::pg_catalog.int8"            \
	") SELECT biz_tag::pg_catalog.text, max_id::pg_catalog.int8 FROM taken"

/* Raises max_id of rows that are ours by their amounts, in one statement. */
static void
raise_rows(SegmentRow *rows, int count, const char *proc)
{
	static Statement raise = {0};
	Oid types[] = {TEXTARRAYOID,
				   INT8ARRAYOID,
				   INT8ARRAYOID,
				   TEXTOID,
				   INT8OID,
				   INT4OID,
				   BOOLOID};
	Datum *amounts = palloc(sizeof(Datum) * count);
	Datum *jumps = palloc(sizeof(Datum) * count);
	Datum values[7];
	uint64 raised = 0;

	for (int i = 0; i < count; i++)
	{
		amounts[i] = Int64GetDatum(rows[i].amount);
		jumps[i] = Int64GetDatum(rows[i].jump);
		if (rows[i].amount > 0)
			raised++;
	}
	if (raised == 0)
		return;
	values[0] = text_array(rows, count);
	values[1] = bigint_array(amounts, count);
	values[2] = bigint_array(jumps, count);
	values[3] = CStringGetTextDatum(proc);
	values[4] = Int64GetDatum((int64) GetSystemIdentifier());
	values[5] = Int32GetDatum((int32) GetWALInsertionTimeLine());
	values[6] = BoolGetDatum(idgen_segment_log);
	coordinator_run(&raise, RAISE_AND_LOG, SPI_OK_SELECT, 7, types, values);

	/* A trigger of the owner's may have had another idea. */
	if (SPI_processed != raised)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a trigger suppressed the update of id_segment")));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		SegmentRow *row =
			own_row(rows,
					count,
					TextDatumGetCString(coordinator_column(i, 1)));

		if (DatumGetInt64(coordinator_column(i, 2)) !=
			row->max_id + row->amount)
			ereport(
				ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a trigger changed max_id of tag \"%s\"", row->tag)));
	}
}

/*
 * How far a row jumps that comes from a server that was promoted, or restored:
 * this one may lack the last blocks that were reserved there.
 */
static int64
jump_of(SegmentRow *row)
{
	if (row->state != ROW_OURS || !row->moved || row->step < 1)
		return 0;
	return Min(idgen_promotion_gap * (int64) row->step,
			   PG_INT64_MAX - row->max_id);
}

/* The rows that the demands are about, each once. */
static SegmentRow *
rows_of(Demand *demands, int count, int *row_count)
{
	SegmentRow *rows = palloc0(sizeof(SegmentRow) * count);

	*row_count = 0;
	for (int i = 0; i < count; i++)
	{
		/* Those of one tag mostly come one after the other. */
		if (i > 0 && strcmp(demands[i].tag, demands[i - 1].tag) == 0)
			continue;
		if (find_row(rows, *row_count, demands[i].tag) != NULL)
			continue;
		rows[*row_count].tag = demands[i].tag;
		rows[*row_count].state = ROW_MISSING;
		(*row_count)++;
	}
	return rows;
}

/* Answers all demands. `proc` is for the log. May raise anything. */
void
coordinator_serve_demands(Demand *demands, int count, const char *proc)
{
	int row_count;
	SegmentRow *rows = rows_of(demands, count, &row_count);

	lock_rows(rows, row_count);
	for (int i = 0; i < row_count; i++)
		rows[i].jump = jump_of(&rows[i]);
	for (int i = 0; i < count; i++)
		coordinator_plan(&demands[i],
						 find_row(rows, row_count, demands[i].tag));
	raise_rows(rows, row_count, proc);
	for (int i = 0; i < count; i++)
	{
		SegmentRow *row = find_row(rows, row_count, demands[i].tag);

		demands[i].raised = row->max_id + row->amount;
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

	coordinator_run(
		&prune,
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

/*
 * coordinator_segments.c
 *		The statements on id_segment and segment_log.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/uuid.h"

#include "compat.h"
#include "coordinator.h"
#include "coordinator_spi.h"

/* More would keep those waiting who want numbers. */
#define PRUNE_AT_ONCE 10000

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

/* Takes over biz_tag, max_id, step and incarnation of what was selected. */
static void
read_rows(SegmentRow *rows, int count, SegmentRowState state)
{
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char *tag = TextDatumGetCString(coordinator_column(i, 1));
		SegmentRow *row = find_row(rows, count, tag);

		if (row->state != ROW_MISSING)
			continue;
		row->state = state;
		row->max_id = DatumGetInt64(coordinator_column(i, 2));
		row->step = DatumGetInt32(coordinator_column(i, 3));
		row->incarnation = *DatumGetUUIDP(coordinator_column(i, 4));
	}
}

#define ROWS_OF_TAGS                                                          \
	"SELECT biz_tag::pg_catalog.text, max_id::pg_catalog.int8, "              \
	"step::pg_catalog.int4, incarnation::pg_catalog.uuid FROM %1$s "          \
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
	coordinator_run(&lock,
					ROWS_OF_TAGS " FOR NO KEY UPDATE SKIP LOCKED",
					SPI_OK_SELECT,
					1,
					types,
					values);
	read_rows(rows, count, ROW_OURS);
	if (SPI_processed == (uint64) count)
		return;
	coordinator_run(&look, ROWS_OF_TAGS, SPI_OK_SELECT, 1, types, values);
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
	") SELECT biz_tag::pg_catalog.text, max_id::pg_catalog.int8 FROM taken"

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
	coordinator_run(&raise, RAISE_AND_LOG, SPI_OK_SELECT, 6, types, values);

	/* A trigger of the owner's may have had another idea. */
	if (SPI_processed != raised)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a trigger suppressed the update of id_segment")));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		SegmentRow *row =
			find_row(rows,
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

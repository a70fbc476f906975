/*
 * segment_status.c
 *		What shared memory holds of the tags of a database.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "segment.h"
#include "shared.h"

SQL_FUNCTION(segment_status);

static void
put_status(SegmentSlot *slot, ReturnSetInfo *result)
{
	Datum values[15];
	bool nulls[15] = {false};
	uint64 word = pg_atomic_read_u64(&slot->word);
	SegmentBlock *current = &slot->block[word_serial(word) & 1];
	SegmentBlock *next = &slot->block[(word_serial(word) + 1) & 1];
	bool has_current = current->serial == word_serial(word);
	bool has_next = segment_has_next(slot);

	values[0] = CStringGetTextDatum(slot->tag);
	values[1] = Int64GetDatum(current->start);
	values[2] = Int64GetDatum(current->start + current->size - 1);
	values[3] = Int64GetDatum(current->start + word_position(word));
	nulls[1] = nulls[2] = nulls[3] = !has_current;
	nulls[3] = nulls[3] || word_position(word) >= current->size;
	values[4] = Int64GetDatum(next->start);
	values[5] = Int64GetDatum(next->start + next->size - 1);
	nulls[4] = nulls[5] = !has_next;
	values[6] = Int32GetDatum(slot->step);
	nulls[6] = slot->step == 0;
	values[7] = Int64GetDatum(segment_issued(slot));
	values[8] = Int64GetDatum(slot->blocks);
	values[9] = Int64GetDatum(pg_atomic_read_u64(&slot->waits));
	values[10] =
		Float8GetDatum(pg_atomic_read_u64(&slot->longest_us) / 1000.0);
	values[11] = CStringGetTextDatum(slot->verdict.message);
	nulls[11] = slot->verdict.sqlstate == 0;
	worker_put_connection(MyDatabaseId, &values[12], &nulls[12]);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* The tags of this database that are in shared memory. */
Datum
segment_status(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid relation = segment_find_relation(fcinfo);
	SegmentSlot *copy = palloc(sizeof(SegmentSlot));
	Segments *segments = &shared->segments;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < segments->slots_used; i++)
	{
		bool mine;

		LWLockAcquire(&segments->lock, LW_SHARED);
		*copy = segments->slots[i];
		mine = copy->database == MyDatabaseId && copy->relation == relation;
		LWLockRelease(&segments->lock);
		if (mine)
			put_status(copy, result);
	}
	PG_RETURN_NULL();
}

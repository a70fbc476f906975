/*
 * coordinator_plan.c
 *		How many numbers each demand gets of its row, and what those hear who
 *		get none.
 */
#include "postgres.h"

#include "coordinator_spi.h"

static void
exhausted(Verdict *verdict, SegmentRow *row, int64 last, int64 amount)
{
	verdict_set(verdict,
				ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
				psprintf("tag \"%s\" is exhausted", row->tag),
				psprintf("max_id is " INT64_FORMAT " of at most " INT64_FORMAT
						 "; wanted: " INT64_FORMAT ".",
						 last,
						 PG_INT64_MAX,
						 amount),
				"Use another tag.");
}

/* False, with a verdict, for a row of which nothing can be had. */
static bool
row_is_good(SegmentRow *row, Verdict *verdict)
{
	if (row->state == ROW_LOCKED)
		verdict_set(verdict,
					ERRCODE_LOCK_NOT_AVAILABLE,
					psprintf("tag \"%s\" is locked", row->tag),
					NULL,
					NULL);
	else if (row->state == ROW_MISSING)
		verdict_set(verdict,
					ERRCODE_NO_DATA,
					psprintf("tag \"%s\" does not exist", row->tag),
					NULL,
					"Insert a row with this biz_tag into id_segment.");
	/* The table has a CHECK, which its owner can drop. */
	else if (row->step < 1)
		verdict_set(verdict,
					ERRCODE_INVALID_PARAMETER_VALUE,
					psprintf("step of tag \"%s\" must be at least 1, not %d",
							 row->tag,
							 row->step),
					NULL,
					NULL);
	return verdict->sqlstate == 0;
}

/* As many blocks as those who wait need, and as there is room for. */
static int64
block_size(SegmentRow *row, int64 waiting, int64 rest)
{
	int64 blocks =
		(Min(Max(waiting, 1), SEGMENT_BLOCK_MAX) - 1) / row->step + 1;

	return Min(row->step * blocks, Min(rest, SEGMENT_BLOCK_MAX));
}

/*
 * Gives a demand its place behind the ones before, and adds it to the row's
 * amount. One for which there is no room fails alone.
 */
void
coordinator_plan(Demand *demand, SegmentRow *row)
{
	int64 last = row->max_id + (row->amount > 0 ? row->amount : row->jump);
	int64 rest = PG_INT64_MAX - last;
	int64 size = 0;

	demand->row = row->state;
	demand->incarnation = row->incarnation;
	demand->max_id = row->max_id;
	demand->step = row->step;
	if (!row_is_good(row, &demand->verdict))
		return;
	switch (demand->kind)
	{
		case DEMAND_LOOK:
			return;
		case DEMAND_BLOCK:
			size = block_size(row, demand->amount, rest);
			break;
		case DEMAND_ALLOC:
			size = demand->amount == 0 ? row->step : demand->amount;
			break;
		case DEMAND_SET:
			if (demand->amount > last)
			{
				row->amount = demand->amount - 1 - row->max_id;
				return;
			}
			verdict_set(
				&demand->verdict,
				ERRCODE_INVALID_PARAMETER_VALUE,
				psprintf("tag \"%s\" cannot be set back to " INT64_FORMAT,
						 row->tag,
						 demand->amount),
				psprintf("Numbers up to " INT64_FORMAT " are reserved.", last),
				"Choose a greater number.");
			return;
	}
	if (size < 1 || size > rest)
	{
		exhausted(&demand->verdict, row, last, Max(size, 1));
		return;
	}
	demand->start = last + 1;
	demand->end = last + size;
	row->amount = demand->end - row->max_id;
}

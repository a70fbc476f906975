/*
 * segment_plan.c
 *		What a pass of the worker wants of each row: how many numbers, for
 *		whom, and what those hear who get none.
 */
#include "postgres.h"

#include "segment_pass.h"

static void
exhausted(Verdict *verdict, SegmentRow *row, int64 amount)
{
	verdict_set(verdict,
				ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
				psprintf("tag \"%s\" is exhausted", row->tag),
				psprintf("max_id is " INT64_FORMAT " of at most " INT64_FORMAT
						 "; wanted: " INT64_FORMAT ".",
						 row->max_id,
						 PG_INT64_MAX,
						 amount),
				"Use another tag.");
}

/*
 * What the claims of a row add to its amount, each given its place. A claim
 * for which there is no room fails alone.
 */
static void
plan_claims(Pass *pass, Order *order, SegmentRow *row)
{
	for (int i = 0; i < pass->claim_count; i++)
	{
		SegmentClaim *claim = pass->claims[i];
		int64 last = row->max_id + row->amount;
		int64 size = claim->size;

		if (claim_slot(claim) != order->slot)
			continue;
		if (claim->is_set)
		{
			if (claim->size <= last)
				verdict_set(
					&claim->verdict,
					ERRCODE_INVALID_PARAMETER_VALUE,
					psprintf("tag \"%s\" cannot be set back to " INT64_FORMAT,
							 row->tag,
							 claim->size),
					psprintf("Numbers up to " INT64_FORMAT " are reserved.",
							 last),
					"Choose a greater number.");
			else
			{
				row->amount += claim->size - 1 - last;
				order->drop = true;
				claim->served = true;
			}
			continue;
		}
		if (size == 0)
			size = row->step;
		if (size > PG_INT64_MAX - last)
		{
			exhausted(&claim->verdict, row, size);
			continue;
		}
		claim->start = last + 1;
		claim->end = last + size;
		claim->served = true;
		row->amount += size;
	}
}

/* Fills in order->drop, order->block and row->amount from what was found. */
void
segment_plan(Pass *pass, Order *order, SegmentRow *row)
{
	int64 rest;
	int64 numbers;

	if (row->state == ROW_LOCKED)
	{
		/* Perhaps to be changed: what is suspended must stay so. */
		order->suspended = false;
		verdict_set(&order->verdict,
					ERRCODE_LOCK_NOT_AVAILABLE,
					psprintf("tag \"%s\" is locked", row->tag),
					NULL,
					NULL);
		return;
	}
	order->drop =
		order->has_row &&
		(row->state == ROW_MISSING || row->max_id != order->row_max_id ||
		 memcmp(&row->incarnation, &order->incarnation, sizeof(pg_uuid_t)) !=
			 0);
	if (row->state == ROW_MISSING)
	{
		verdict_set(&order->verdict,
					ERRCODE_NO_DATA,
					psprintf("tag \"%s\" does not exist", row->tag),
					NULL,
					"Insert a row with this biz_tag into id_segment.");
		return;
	}
	/* The table has a CHECK, which its owner can drop. */
	if (row->step < 1)
	{
		verdict_set(&order->verdict,
					ERRCODE_INVALID_PARAMETER_VALUE,
					psprintf("step of tag \"%s\" must be at least 1, not %d",
							 row->tag,
							 row->step),
					NULL,
					NULL);
		return;
	}
	plan_claims(pass, order, row);
	if (!order->refill || (!order->drop && segment_has_next(order->slot)))
		return;
	rest = PG_INT64_MAX - row->max_id - row->amount;
	/* As many blocks as those who wait need. */
	numbers = row->step * (int64) Max(1, (order->waiting - 1) / row->step + 1);
	numbers = Min(numbers, Min(rest, SEGMENT_BLOCK_MAX));
	if (numbers == 0)
	{
		exhausted(&order->verdict, row, 1);
		return;
	}
	order->block = numbers;
	row->amount += numbers;
}

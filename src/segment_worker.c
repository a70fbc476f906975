/*
 * segment_worker.c
 *		Refill: all open requests of a database in one transaction.
 *
 * A block is published only after the commit that reserved it is known to be
 * durable; when that is in doubt it is thrown away, a gap. Whatever happens,
 * each request that was collected is answered: with numbers, or with an error
 * for those who wait for this tag and nobody else.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "coordinator.h"
#include "guc.h"
#include "segment.h"
#include "segment_pass.h"
#include "shared.h"

#define GATHER_MAX_US 5000
#define PRUNE_EVERY_MS (60 * 60 * 1000)

extern PGDLLEXPORT void segment_worker_main(Datum arg);

static bool is_worker = false;    /* this process */
static bool raising_rows = false; /* its own statement is running */

/*
 * The pass that is being served, for before_shmem_exit. Not on the stack: an
 * error that nobody catches has unwound it by then.
 */
static Pass current_pass;
static bool serving = false;

/* Whether triggers fire in the worker, which cannot serve itself. */
bool
segment_worker_is_here(void)
{
	return is_worker;
}

/* Whether it is the worker's own change of a row that fires a trigger. */
bool
segment_worker_raises_rows(void)
{
	return raising_rows &&
		   DatumGetInt32(OidFunctionCall0(F_PG_TRIGGER_DEPTH)) == 1;
}

static int
open_claims(void)
{
	Segments *segments = &shared->segments;
	int count = 0;

	LWLockAcquire(&segments->lock, LW_SHARED);
	for (int i = 0; i < SEGMENT_CLAIMS; i++)
		if (segments->claims[i].state == CLAIM_OPEN &&
			claim_slot(&segments->claims[i])->database == MyDatabaseId)
			count++;
	LWLockRelease(&segments->lock);
	return count;
}

/*
 * Callers whom a pass has served come back one by one. So that the first does
 * not get a flush of his own, and the others the next, waits until as many
 * claims are open as were served, or none came for a millisecond.
 */
static void
gather(int expected)
{
	TimestampTz end = GetCurrentTimestamp() + GATHER_MAX_US;
	int open = open_claims();

	while (open > 0 && open < expected && worker_pause() &&
		   GetCurrentTimestamp() < end)
		open = open_claims();
}

/* Takes the open requests of one table of this database into a pass. */
static void
collect(Pass *pass)
{
	Segments *segments = &shared->segments;
	/* A slot that is added from now on is for the next pass. */
	int slots = segments->slots_used;

	memset(pass, 0, sizeof(Pass));
	pass->orders = palloc(sizeof(Order) * Max(slots, 1));
	pass->claims = palloc(sizeof(SegmentClaim *) * SEGMENT_CLAIMS);
	pass->rows = palloc0(sizeof(SegmentRow) * Max(slots, 1));
	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	for (int i = 0; i < slots; i++)
	{
		SegmentSlot *slot = &segments->slots[i];
		uint64 request = pg_atomic_read_u64(&slot->requested);
		Order *order;

		if (slot->database != MyDatabaseId ||
			request == pg_atomic_read_u64(&slot->answered))
			continue;
		if (pass->count == 0)
			pass->relation = slot->relation;
		else if (pass->relation != slot->relation)
			continue;
		order = &pass->orders[pass->count++];
		memset(order, 0, sizeof(Order));
		order->slot = slot;
		order->owner = pg_atomic_read_u64(&slot->owner);
		order->request = request;
		order->asks = pg_atomic_read_u64(&slot->asks);
		pg_memory_barrier();
		order->suspended =
			(pg_atomic_read_u64(&slot->word) & WORD_SUSPENDED) != 0;
		order->refill = pg_atomic_exchange_u32(&slot->refill, 0) != 0;
		order->waiting = (int) pg_atomic_read_u32(&slot->waiting);
		order->has_row = slot->has_row;
		order->incarnation = slot->incarnation;
		order->row_max_id = slot->row_max_id;
	}
	for (int i = 0; i < SEGMENT_CLAIMS && pass->count > 0; i++)
	{
		SegmentClaim *claim = &segments->claims[i];

		if (claim->state != CLAIM_OPEN)
			continue;
		for (int j = 0; j < pass->count; j++)
			if (pass->orders[j].slot == claim_slot(claim) &&
				pass->orders[j].owner == claim->owner)
			{
				claim->state = CLAIM_TAKEN;
				claim->taker = MyProcPid;
				memset(&claim->verdict, 0, sizeof(claim->verdict));
				pass->claims[pass->claim_count++] = claim;
			}
	}
	LWLockRelease(&segments->lock);
	for (int i = 0; i < pass->count; i++)
		strlcpy(pass->rows[i].tag,
				pass->orders[i].slot->tag,
				sizeof(pass->rows[i].tag));
}

/* The pass of one order alone, with its claims. */
static Pass *
part(Pass *pass, int i)
{
	Pass *alone = palloc0(sizeof(Pass));

	alone->relation = pass->relation;
	alone->count = 1;
	alone->orders = &pass->orders[i];
	alone->rows = &pass->rows[i];
	alone->claims = palloc(sizeof(SegmentClaim *) * SEGMENT_CLAIMS);
	for (int j = 0; j < pass->claim_count; j++)
		if (claim_slot(pass->claims[j]) == alone->orders[0].slot)
			alone->claims[alone->claim_count++] = pass->claims[j];
	return alone;
}

/* Reserves what the pass wants, in one transaction. May raise anything. */
static bool
reserve(Pass *pass)
{
	const char *locked;
	bool durable;
	int settings;

	StartTransactionCommand();
	settings = NewGUCNestLevel();
	PushActiveSnapshot(GetTransactionSnapshot());
	locked = coordinator_open(pass->relation, "id_segment", "segment_log");
	if (locked != NULL)
	{
		/* Or dropped. By whom, the callers find out. */
		for (int i = 0; i < pass->count; i++)
		{
			pass->orders[i].suspended = false; /* nobody saw the row */
			verdict_set(&pass->orders[i].verdict,
						ERRCODE_LOCK_NOT_AVAILABLE,
						psprintf("table %s is locked", locked),
						NULL,
						NULL);
		}
		AbortCurrentTransaction();
		return true;
	}
	coordinator_lock_rows(pass->rows, pass->count);
	for (int i = 0; i < pass->count; i++)
		segment_plan(pass, &pass->orders[i], &pass->rows[i]);
	raising_rows = true;
	coordinator_raise_rows(pass->rows, pass->count, idgen_segment_log);
	raising_rows = false;
	coordinator_close();
	PopActiveSnapshot();
	/* What a trigger of the owner's has set must not reach the commit. */
	AtEOXact_GUC(false, settings);
	durable = worker_commit(true);
	coordinator_restore_role();
	return durable;
}

/*
 * Opens again what was collected and not answered. `in_doubt` when the rows
 * have been raised, but the blocks must not be used.
 */
static void
put_back(Pass *pass, bool in_doubt)
{
	LWLockAcquire(&shared->segments.lock, LW_EXCLUSIVE);
	for (int i = 0; i < pass->claim_count; i++)
	{
		SegmentClaim *claim = pass->claims[i];

		/* Put back before, it may be another worker's by now. */
		if (claim->taker != MyProcPid)
			continue;
		claim->taker = 0;
		if (claim->state == CLAIM_ABANDONED)
			claim->state = CLAIM_FREE;
		if (claim->state != CLAIM_TAKEN)
			continue;
		claim->state = CLAIM_OPEN;
		if (!in_doubt || !claim->is_set)
			continue;
		/* To try again would be to set it back. */
		claim->state = CLAIM_DONE;
		verdict_set(&claim->verdict,
					ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					"the change was interrupted while it was committed",
					NULL,
					"See max_id in id_segment.");
	}
	for (int i = 0; i < pass->count; i++)
	{
		Order *order = &pass->orders[i];
		SegmentSlot *slot = order->slot;

		if (pg_atomic_read_u64(&slot->owner) != order->owner)
			continue;
		if (order->refill)
			pg_atomic_write_u32(&slot->refill, 1);
		if (in_doubt && !order->drop && slot->has_row)
			slot->row_max_id += pass->rows[i].amount;
	}
	LWLockRelease(&shared->segments.lock);
	for (int i = 0; i < pass->count; i++)
		ConditionVariableBroadcast(&pass->orders[i].slot->answer);
}

/*
 * When the worker has left: what nobody waits for is forgotten, since nobody
 * would wake another worker for it; a later call asks again.
 */
static void
leave_requests(int code, Datum arg)
{
	Segments *segments;

	if (shared == NULL)
		return;
	if (serving)
		put_back(&current_pass, false);
	segments = &shared->segments;
	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	for (int i = 0; i < segments->slots_used; i++)
	{
		SegmentSlot *slot = &segments->slots[i];

		if (slot->database == MyDatabaseId &&
			pg_atomic_read_u32(&slot->waiting) == 0 &&
			pg_atomic_read_u32(&slot->claiming) == 0)
			segment_withdraw(slot);
	}
	LWLockRelease(&segments->lock);
}

/* Gives the outcome of a pass to the slots, the claims, and who waits. */
static void
publish(Pass *pass)
{
	Segments *segments = &shared->segments;

	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	for (int i = 0; i < pass->count; i++)
	{
		Order *order = &pass->orders[i];
		SegmentSlot *slot = order->slot;
		SegmentRow *row = &pass->rows[i];

		if (pg_atomic_read_u64(&slot->owner) != order->owner)
			continue;
		if (order->drop)
			slot->has_row = false;
		if (row->state == ROW_OURS)
		{
			slot->has_row = true;
			slot->incarnation = row->incarnation;
			slot->row_max_id = row->max_id + row->amount;
			slot->step = row->step;
		}
		if (order->suspended || order->drop)
			segment_resume(slot, order->asks, !order->drop);
		if (order->block > 0)
			segment_publish(slot,
							row->max_id + row->amount - order->block + 1,
							order->block,
							idgen_segment_prefetch);
		if (order->verdict.sqlstate != 0)
			segment_defer_prefetch(slot);
		slot->verdict = order->verdict;
		pg_atomic_write_u64(&slot->answered, order->request);
	}
	for (int i = 0; i < pass->claim_count; i++)
	{
		SegmentClaim *claim = pass->claims[i];

		for (int j = 0; j < pass->count && claim->verdict.sqlstate == 0; j++)
			if (claim_slot(claim) == pass->orders[j].slot && !claim->served &&
				pass->orders[j].verdict.sqlstate != 0)
				claim->verdict = pass->orders[j].verdict;
		claim->taker = 0;
		claim->state =
			claim->state == CLAIM_ABANDONED ? CLAIM_FREE : CLAIM_DONE;
	}
	LWLockRelease(&segments->lock);
	for (int i = 0; i < pass->count; i++)
		ConditionVariableBroadcast(&pass->orders[i].slot->answer);
}

/* What is not known of a row must not be taken for a missing one. */
static void
fail(Pass *pass, ErrorData *error)
{
	for (int i = 0; i < pass->count; i++)
	{
		verdict_set(&pass->orders[i].verdict,
					error->sqlerrcode,
					error->message ? error->message : "",
					error->detail,
					error->hint);
		pass->orders[i].block = 0;
		pass->orders[i].drop = pass->orders[i].suspended;
		pass->rows[i].state = ROW_MISSING;
		pass->rows[i].amount = 0;
	}
	for (int i = 0; i < pass->claim_count; i++)
	{
		pass->claims[i]->start = 0;
		pass->claims[i]->end = 0;
		pass->claims[i]->served = false;
	}
}

static void
reset(Pass *pass)
{
	for (int i = 0; i < pass->count; i++)
	{
		memset(&pass->orders[i].verdict, 0, sizeof(Verdict));
		pass->orders[i].drop = false;
		pass->orders[i].block = 0;
		pass->rows[i].state = ROW_MISSING;
		pass->rows[i].amount = 0;
	}
	for (int i = 0; i < pass->claim_count; i++)
	{
		memset(&pass->claims[i]->verdict, 0, sizeof(Verdict));
		pass->claims[i]->start = 0;
		pass->claims[i]->served = false;
	}
}

/*
 * Serves a pass. When the one transaction fails, each tag is tried alone, so
 * that the error reaches those who wait for that tag and no others.
 */
static void
serve(Pass *pass)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool durable = false;
	volatile bool failed = false;

	reset(pass);
	PG_TRY();
	{
		durable = reserve(pass);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		raising_rows = false;
		AbortCurrentTransaction();
		failed = true;
		fail(pass, error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	if (failed ? worker_interrupted() : !durable)
		put_back(pass, !failed);
	else if (failed && pass->count > 1)
		for (int i = 0; i < pass->count; i++)
			serve(part(pass, i));
	else
		publish(pass);
	CHECK_FOR_INTERRUPTS();
}

/* False when there is more to prune. */
static bool
prune(Oid relation)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = false;

	if (idgen_segment_log_retention == 0)
		return true;
	PG_TRY();
	{
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		if (coordinator_open(relation, "id_segment", "segment_log") == NULL)
		{
			done = coordinator_prune_log(idgen_segment_log_retention);
			coordinator_close();
			PopActiveSnapshot();
			worker_commit(false);
			coordinator_restore_role();
		}
		else
			AbortCurrentTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
		done = true; /* rather than to fail again in each pass */
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	return done;
}

void
segment_worker_main(Datum arg)
{
	MemoryContext context;
	TimestampTz last_work = GetCurrentTimestamp();
	TimestampTz last_prune = 0;
	int claims_served = 0; /* by the last pass */
	bool stay = true;

	is_worker = true;
	/* Registered first, so called last, when a new worker can be asked for. */
	before_shmem_exit(leave_requests, 0);
	worker_begin(DatumGetObjectId(arg), NULL);
	context = AllocSetContextCreate(TopMemoryContext,
									"idgen segment worker",
									ALLOCSET_DEFAULT_SIZES);
	while (stay)
	{
		Pass *pass = &current_pass;

		MemoryContextReset(context);
		MemoryContextSwitchTo(context);
		if (!worker_pass_begin())
			break;
		SetCurrentStatementStartTimestamp();
		gather(claims_served);
		collect(pass);
		if (pass->count > 0)
		{
			pgstat_report_activity(STATE_RUNNING, "reserving blocks");
			serving = true;
			serve(pass);
			serving = false;
			claims_served = pass->claim_count;
			pgstat_report_stat(true);
			pgstat_report_activity(STATE_IDLE, NULL);
			last_work = GetCurrentTimestamp();
			if (TimestampDifferenceExceeds(last_prune,
										   last_work,
										   PRUNE_EVERY_MS) &&
				prune(pass->relation))
				last_prune = last_work;
			continue;
		}
		if (TimestampDifferenceExceeds(last_work,
									   GetCurrentTimestamp(),
									   idgen_worker_idle_timeout))
			break;
		stay = worker_wait(idgen_worker_idle_timeout, true);
	}
	proc_exit(0);
}

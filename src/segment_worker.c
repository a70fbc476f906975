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
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "coordinator.h"
#include "guc.h"
#include "segment.h"
#include "shared.h"

#define GATHER_MAX_US 5000
#define PRUNE_EVERY_MS (60 * 60 * 1000)

extern PGDLLEXPORT void segment_worker_main(Datum arg);

/* A tag's part of a pass. */
typedef struct Order
{
	SegmentSlot *slot;
	uint64 owner;
	uint64 request; /* what to answer */
	uint64 asks;
	bool refill; /* somebody wants a number, now or soon */
	bool suspended;
	bool has_row;
	pg_uuid_t incarnation;
	int64 row_max_id;
	/* The claims' demands, and the slot's own as the last. */
	int first;
	int count;
	bool closed; /* answered, or put back */
} Order;

typedef struct Pass
{
	Oid relation;
	int count;
	Order *orders;
	int demand_count;
	Demand *demands;
	SegmentClaim **claims; /* of the demands; NULL for the slots' own */
	int callers; /* with a claim in it, or in the next by the time it ends */
} Pass;

/* How a transaction came out. */
typedef enum Outcome
{
	DURABLE,
	FAILED,  /* nothing was done; the demands say why */
	IN_DOUBT /* it must not be used */
} Outcome;

/*
 * The pass that is being served, for before_shmem_exit. Not on the stack: an
 * error that nobody catches has unwound it by then.
 */
static Pass current_pass;
static bool serving = false;

static SegmentSlot *
claim_slot(SegmentClaim *claim)
{
	return &shared->segments.slots[claim->slot];
}

static Demand *
own_demand(Pass *pass, Order *order)
{
	return &pass->demands[order->first + order->count - 1];
}

/* The lock must be held. */
static int
open_claims(void)
{
	Segments *segments = &shared->segments;
	int count = 0;

	for (int i = 0; i < segments->claims_used; i++)
		if (segments->claims[i].state == CLAIM_OPEN &&
			claim_slot(&segments->claims[i])->database == MyDatabaseId)
			count++;
	return count;
}

/* Counts those, and has callers not wake this worker until they are enough. */
static int
expect_claims(int enough)
{
	Segments *segments = &shared->segments;
	int open;

	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	open = open_claims();
	segments->gathering = MyDatabaseId;
	segments->missing = enough - open;
	LWLockRelease(&segments->lock);
	return open;
}

/*
 * Callers whom a pass has served come back one by one. So that the first does
 * not get a flush of his own, and the others the next, waits until as many
 * claims are open as there were callers, or nothing came for a millisecond.
 */
static void
gather(int callers)
{
	TimestampTz end = GetCurrentTimestamp() + GATHER_MAX_US;
	int before = -1;
	int open = 0;
	bool woken = false;

	if (callers == 0)
		return;
	while ((open = expect_claims(callers)) < callers &&
		   (open > before || (woken && open > 0)) &&
		   GetCurrentTimestamp() < end)
	{
		before = open;
		woken = worker_pause();
	}
}

static void
add_demand(Pass *pass, Order *order, DemandKind kind, int64 amount)
{
	Demand *demand = &pass->demands[pass->demand_count++];

	demand->tag = order->slot->tag;
	demand->kind = kind;
	demand->amount = amount;
	order->count++;
}

/* Takes the claims at the order's slot. */
static void
collect_claims(Pass *pass, Order *order)
{
	for (int i = 0; i < shared->segments.claims_used; i++)
	{
		SegmentClaim *claim = &shared->segments.claims[i];

		if (claim->state != CLAIM_OPEN || claim_slot(claim) != order->slot ||
			claim->owner != order->owner)
			continue;
		claim->state = CLAIM_TAKEN;
		claim->taker = MyProcPid;
		pass->claims[pass->demand_count] = claim;
		add_demand(pass,
				   order,
				   claim->is_set ? DEMAND_SET : DEMAND_ALLOC,
				   claim->size);
	}
}

static void
collect_order(Pass *pass, SegmentSlot *slot, uint64 request)
{
	Order *order = &pass->orders[pass->count++];

	order->slot = slot;
	order->owner = pg_atomic_read_u64(&slot->owner);
	order->request = request;
	order->asks = pg_atomic_read_u64(&slot->asks);
	pg_memory_barrier();
	order->suspended = (pg_atomic_read_u64(&slot->word) & WORD_SUSPENDED) != 0;
	order->refill = pg_atomic_exchange_u32(&slot->refill, 0) != 0;
	order->has_row = slot->has_row;
	order->incarnation = slot->incarnation;
	order->row_max_id = slot->row_max_id;
	order->first = pass->demand_count;
	collect_claims(pass, order);
	if (order->refill && !segment_has_next(slot))
		add_demand(pass,
				   order,
				   DEMAND_BLOCK,
				   pg_atomic_read_u32(&slot->waiting));
	else
		add_demand(pass, order, DEMAND_LOOK, 0);
}

/* From here on callers wake the worker; the lock must be held. */
static void
expect_nothing(void)
{
	if (shared->segments.gathering == MyDatabaseId)
		shared->segments.gathering = InvalidOid;
}

/* Takes the open requests of one table of this database into a pass. */
static void
collect(Pass *pass)
{
	Segments *segments = &shared->segments;
	/* A slot that is added from now on is for the next pass. */
	int slots = segments->slots_used;

	memset(pass, 0, sizeof(Pass));
	pass->orders = palloc0(sizeof(Order) * Max(slots, 1));
	pass->demands = palloc0(sizeof(Demand) * (slots + SEGMENT_CLAIMS));
	pass->claims = palloc0(sizeof(SegmentClaim *) * (slots + SEGMENT_CLAIMS));
	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	expect_nothing();
	for (int i = 0; i < slots; i++)
	{
		SegmentSlot *slot = &segments->slots[i];
		uint64 request = pg_atomic_read_u64(&slot->requested);

		if (slot->database != MyDatabaseId ||
			request == pg_atomic_read_u64(&slot->answered))
			continue;
		if (pass->count == 0)
			pass->relation = slot->relation;
		if (pass->relation == slot->relation)
			collect_order(pass, slot, request);
	}
	LWLockRelease(&segments->lock);
	/* The slots may be given to other tags. */
	for (int i = 0; i < pass->demand_count; i++)
		pass->demands[i].tag = pstrdup(pass->demands[i].tag);
}

/* A claim's change was made or was not: to try again might set it back. */
static void
say_in_doubt(SegmentClaim *claim)
{
	claim->state = CLAIM_DONE;
	verdict_set(&claim->verdict,
				ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
				"the change was interrupted while it was committed",
				NULL,
				"See max_id in id_segment.");
}

/* Opens again what was collected of an order. */
static void
put_back(Pass *pass, Order *order, bool in_doubt)
{
	SegmentSlot *slot = order->slot;

	if (order->closed)
		return;
	order->closed = true;
	LWLockAcquire(&shared->segments.lock, LW_EXCLUSIVE);
	for (int i = order->first; i < order->first + order->count; i++)
	{
		SegmentClaim *claim = pass->claims[i];

		if (claim == NULL || claim->taker != MyProcPid)
			continue;
		claim->taker = 0;
		if (claim->state == CLAIM_ABANDONED)
			claim->state = CLAIM_FREE;
		if (claim->state != CLAIM_TAKEN)
			continue;
		claim->state = CLAIM_OPEN;
		if (in_doubt && claim->is_set)
			say_in_doubt(claim);
	}
	if (order->refill && pg_atomic_read_u64(&slot->owner) == order->owner)
		pg_atomic_write_u32(&slot->refill, 1);
	LWLockRelease(&shared->segments.lock);
	ConditionVariableBroadcast(&slot->answer);
}

static void
put_all_back(Pass *pass, bool in_doubt)
{
	for (int i = 0; i < pass->count; i++)
		put_back(pass, &pass->orders[i], in_doubt);
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
		put_all_back(&current_pass, false);
	segments = &shared->segments;
	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	expect_nothing();
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

/* Whether the slot's blocks are no longer good. */
static bool
drops_blocks(Pass *pass, Order *order)
{
	Demand *demand = own_demand(pass, order);

	for (int i = order->first; i < order->first + order->count; i++)
		if (pass->demands[i].kind == DEMAND_SET &&
			pass->demands[i].verdict.sqlstate == 0)
			return true;
	switch (demand->row)
	{
		case ROW_UNKNOWN:
			/* A coordinator elsewhere may be away; who changes rows there
			 * counts from the next block on. */
			return order->suspended && !coordinator_is_remote();
		case ROW_MISSING:
			return order->has_row;
		case ROW_LOCKED:
			return false;
		case ROW_OURS:
			break;
	}
	if (!order->has_row)
		return false;
	/* Other servers raise max_id, too, without taking our blocks. */
	return memcmp(&demand->incarnation,
				  &order->incarnation,
				  sizeof(pg_uuid_t)) != 0 ||
		   (order->suspended && !coordinator_is_remote() &&
			demand->max_id != order->row_max_id);
}

/* Gives a slot what its order brought. */
static void
publish_slot(Pass *pass, Order *order)
{
	SegmentSlot *slot = order->slot;
	Demand *demand = own_demand(pass, order);
	bool drop = drops_blocks(pass, order);

	if (drop)
		slot->has_row = false;
	if (demand->row == ROW_OURS)
	{
		slot->has_row = true;
		slot->source = coordinator_source();
		slot->incarnation = demand->incarnation;
		slot->row_max_id = demand->raised;
		slot->step = demand->step;
	}
	/* What is locked is perhaps to be changed: it must stay suspended. */
	if (drop || (order->suspended && demand->row != ROW_LOCKED))
		segment_resume(slot, order->asks, !drop);
	if (demand->start > 0)
		segment_publish(slot,
						demand->start,
						demand->end - demand->start + 1,
						idgen_segment_prefetch);
	if (demand->verdict.sqlstate != 0)
		segment_defer_prefetch(slot);
	slot->verdict = demand->verdict;
	/* The next block was there, and is no longer: the next pass fetches one. */
	if (drop && order->refill && demand->kind == DEMAND_LOOK &&
		demand->row == ROW_OURS)
		pg_atomic_write_u32(&slot->refill, 1);
	else
		pg_atomic_write_u64(&slot->answered, order->request);
}

/* Gives what an order brought to the slot, the claims, and who waits. */
static void
publish(Pass *pass, Order *order)
{
	if (order->closed)
		return;
	order->closed = true;
	LWLockAcquire(&shared->segments.lock, LW_EXCLUSIVE);
	if (pg_atomic_read_u64(&order->slot->owner) == order->owner)
		publish_slot(pass, order);
	for (int i = order->first; i < order->first + order->count; i++)
	{
		SegmentClaim *claim = pass->claims[i];

		if (claim == NULL)
			continue;
		claim->start = pass->demands[i].start;
		claim->end = pass->demands[i].end;
		claim->verdict = pass->demands[i].verdict;
		claim->taker = 0;
		claim->state =
			claim->state == CLAIM_ABANDONED ? CLAIM_FREE : CLAIM_DONE;
	}
	LWLockRelease(&shared->segments.lock);
	ConditionVariableBroadcast(&order->slot->answer);
}

/* Has demands answered, in one transaction. */
static Outcome
reserve(Oid relation, Demand *demands, int count)
{
	MemoryContext context = CurrentMemoryContext;
	volatile Outcome outcome = FAILED;

	for (int i = 0; i < count; i++)
	{
		demands[i].row = ROW_UNKNOWN;
		demands[i].start = 0;
		memset(&demands[i].verdict, 0, sizeof(Verdict));
	}
	PG_TRY();
	{
		outcome = coordinator_reserve_blocks(relation, demands, count)
					  ? DURABLE
					  : IN_DOUBT;
	}
	PG_CATCH();
	{
		Verdict verdict;

		verdict_catch(&verdict, context);
		for (int i = 0; i < count; i++)
		{
			demands[i].row = ROW_UNKNOWN;
			demands[i].start = 0;
			demands[i].verdict = verdict;
		}
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	return outcome;
}

/* Whether to ask again would be in vain. */
static bool
is_unreachable(Demand *demand)
{
	return ERRCODE_TO_CATEGORY(demand->verdict.sqlstate) ==
		   ERRCODE_CONNECTION_EXCEPTION;
}

static void
close_order(Pass *pass, Order *order, Outcome outcome)
{
	if (outcome == IN_DOUBT || (outcome == FAILED && worker_interrupted()))
		put_back(pass, order, outcome == IN_DOUBT);
	else
		publish(pass, order);
}

/*
 * Serves a pass. When the one transaction fails, each tag is tried alone, so
 * that the error reaches those who wait for that tag and no others.
 */
static void
serve(Pass *pass)
{
	Outcome outcome =
		reserve(pass->relation, pass->demands, pass->demand_count);
	bool alone = outcome == FAILED && pass->count > 1 &&
				 !worker_interrupted() && !is_unreachable(pass->demands);

	/* Those who came meanwhile, too: else two halves would take turns. */
	LWLockAcquire(&shared->segments.lock, LW_SHARED);
	pass->callers = pass->demand_count - pass->count + open_claims();
	LWLockRelease(&shared->segments.lock);
	for (int i = 0; i < pass->count; i++)
	{
		Order *order = &pass->orders[i];

		if (alone)
			outcome = reserve(pass->relation,
							  &pass->demands[order->first],
							  order->count);
		close_order(pass, order, outcome);
	}
	CHECK_FOR_INTERRUPTS();
}

/* False when there is more to prune. */
static bool
prune(Oid relation)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = true; /* rather than to fail again in each pass */

	PG_TRY();
	{
		done = coordinator_prune_old(relation);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
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
	int callers = 0; /* of the last pass */
	bool stay = true;

	/* Registered first, so called last, when a new worker can be asked for. */
	before_shmem_exit(leave_requests, 0);
	worker_begin(DatumGetObjectId(arg), NULL);
	coordinator_begin();
	segment_drop_foreign(MyDatabaseId, coordinator_source());
	context = AllocSetContextCreate(TopMemoryContext,
									"idgen segment worker",
									ALLOCSET_DEFAULT_SIZES);
	while (stay)
	{
		Pass *pass = &current_pass;

		MemoryContextReset(context);
		MemoryContextSwitchTo(context);
		if (!worker_pass_begin() || RecoveryInProgress() ||
			coordinator_has_changed())
			break;
		SetCurrentStatementStartTimestamp();
		gather(callers);
		callers = 0;
		collect(pass);
		if (pass->count > 0)
		{
			pgstat_report_activity(STATE_RUNNING, "reserving blocks");
			serving = true;
			serve(pass);
			serving = false;
			callers = pass->callers;
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

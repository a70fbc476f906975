/*
 * segment.c
 *		Numbers of business tags: a session's way to the next one.
 *
 * A number comes from shared memory as long as the tag's slot has any; the
 * session remembers the slot. Otherwise it asks the worker of the database and
 * waits, with no lock held, cancellable, for at most idgen.timeout. It reads no
 * table for it, so the caller needs no right on one.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "clock.h"
#include "compat.h"
#include "extension.h"
#include "guc.h"
#include "segment.h"
#include "shared.h"

SQL_FUNCTION(segment_next);
SQL_FUNCTION(segment_alloc);
SQL_FUNCTION(segment_set);

/* What this session knows of a tag; never freed. */
typedef struct TagRef
{
	char tag[SEGMENT_TAG_MAX + 1]; /* key */
	Oid relation;
	SegmentSlot *slot;
	uint64 owner;
} TagRef;

static HTAB *tag_refs = NULL;

/* The table, as last known; may be gone when it is not valid. */
static Oid segment_relation = InvalidOid;
static bool segment_relation_valid = false;

/* A wait for the worker. */
typedef struct Wait
{
	instr_time start;
	uint64 need;   /* the first answer that is not older than the call */
	bool expected; /* by the worker, which need not be woken for this turn */
} Wait;

static void
relation_changed(Datum arg, Oid relation)
{
	if (relation == segment_relation || relation == InvalidOid)
		segment_relation_valid = false;
}

/* The table beside the function that is being called. */
Oid
segment_find_relation(FunctionCallInfo fcinfo)
{
	static bool listening = false;
	Oid relation;

	if (segment_relation_valid)
		return segment_relation;
	shared_get();
	if (!listening)
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	listening = true;
	relation = get_relname_relid("id_segment",
								 get_func_namespace(fcinfo->flinfo->fn_oid));
	if (!OidIsValid(relation) || !segment_table_is_ours(relation))
		extension_table_is_gone("id_segment");
	segment_relation = relation;
	segment_relation_valid = true;
	return relation;
}

static void
check_can_reserve(const char *command)
{
	PreventCommandIfReadOnly(command);
	PreventCommandIfParallelMode(command);
	PreventCommandDuringRecovery(command);
	if (worker_is_here())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a trigger of id_segment cannot call %s", command),
				 errdetail("It runs in the worker that would answer.")));
}

/* Copies a tag out; raises 22023 for one that no row can have. */
static void
get_tag(text *value, char *tag)
{
	int length = VARSIZE_ANY_EXHDR(value);

	if (length < 1 || length > SEGMENT_TAG_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tag must have 1 to %d bytes, not %d",
						SEGMENT_TAG_MAX,
						length)));
	memset(tag, 0, SEGMENT_TAG_MAX + 1);
	memcpy(tag, VARDATA_ANY(value), length);
}

/* Whether the slot is still the tag's; it may have been given to another. */
static bool
ref_is_current(TagRef *ref)
{
	return ref->slot != NULL &&
		   pg_atomic_read_u64(&ref->slot->owner) == ref->owner;
}

static void
renew_ref(TagRef *ref)
{
	if (!ref_is_current(ref))
		ref->slot =
			segment_slot(MyDatabaseId, ref->relation, ref->tag, &ref->owner);
}

static TagRef *
find_ref(Oid relation, const char *tag)
{
	TagRef *ref;
	bool found;

	if (tag_refs == NULL)
	{
		HASHCTL control = {0};

		control.keysize = SEGMENT_TAG_MAX + 1;
		control.entrysize = sizeof(TagRef);
		tag_refs =
			hash_create("idgen tags", 64, &control, HASH_ELEM | HASH_BLOBS);
	}
	ref = hash_search(tag_refs, tag, HASH_ENTER, &found);
	if (!found || ref->relation != relation)
	{
		ref->relation = relation;
		ref->slot = NULL;
		ref->owner = 0;
	}
	renew_ref(ref);
	return ref;
}

/* A parameter will not do: PL/pgSQL keeps an expression for other values. */
static bool
tag_is_constant(FmgrInfo *function)
{
	Node *call = function->fn_expr;

	return call != NULL && IsA(call, FuncExpr) &&
		   IsA(linitial(((FuncExpr *) call)->args), Const);
}

/* The ref of argument 0; for a constant, looked up once a query. */
static TagRef *
get_ref(FunctionCallInfo fcinfo)
{
	TagRef *ref = fcinfo->flinfo->fn_extra;
	char tag[SEGMENT_TAG_MAX + 1];

	if (likely(ref != NULL))
		return ref;
	get_tag(PG_GETARG_TEXT_PP(0), tag);
	ref = find_ref(segment_find_relation(fcinfo), tag);
	if (tag_is_constant(fcinfo->flinfo))
		fcinfo->flinfo->fn_extra = ref;
	return ref;
}

static int64
waited_ms(Wait *wait)
{
	return clock_elapsed_us(wait->start) / US_PER_MS;
}

static void
wait_begin(Wait *wait, SegmentSlot *slot)
{
	uint64 answered = pg_atomic_read_u64(&slot->answered);
	uint64 requested = pg_atomic_read_u64(&slot->requested);

	INSTR_TIME_SET_CURRENT(wait->start);
	wait->expected = false;
	/* An open request may have looked at the row before this call began. */
	wait->need = requested == answered ? answered + 1 : requested + 1;
	ConditionVariablePrepareToSleep(&slot->answer);
}

/* Raises what the worker, or its absence, has to say. */
static void
raise_verdict(TagRef *ref, Verdict *verdict)
{
	if (verdict->sqlstate == ERRCODE_NO_DATA)
		segment_check_uncommitted(ref->relation, ref->tag);
	verdict_raise(verdict);
}

/* Raises 55P03 if it is this transaction that holds the lock, or on timeout. */
static void
raise_if_locked(TagRef *ref, Verdict *verdict, bool timed_out)
{
	bool own;
	char *pids = segment_lockers(ref->relation, ref->tag, &own);

	if (!own && !timed_out)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("%s", verdict->message),
			 own ? errdetail("This transaction holds the lock itself.")
				 : errdetail("Processes that hold it: %s.", pids),
			 own ? errhint("Commit first, or take the number first.")
				 : errhint("End their transactions.")));
}

/* Raises what kept the worker from answering. */
static void
raise_timeout(WorkerState state)
{
	int pid = worker_pid(MyDatabaseId);
	PGPROC *proc = pid == 0 ? NULL : BackendPidGetProc(pid);

	worker_give_up(MyDatabaseId);
	if (state == WORKER_NO_SLOT)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("no slot is free for the worker that fetches numbers"),
				 errhint("Raise max_worker_processes.")));
	if (proc != NULL && proc->wait_event_info == WAIT_EVENT_SYNC_REP)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("numbers are reserved but not yet on the synchronous "
						"standby"),
				 errdetail("The worker, process %d, waits for it.", pid),
				 errhint("Bring the standby back, or change "
						 "synchronous_standby_names.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no numbers came within %d ms", idgen_timeout),
			 pid == 0 ? errdetail("The worker has not started.")
					  : errdetail("The worker is process %d.", pid),
			 errhint("See the server's log, or raise idgen.timeout.")));
}

static Verdict
last_verdict(SegmentSlot *slot)
{
	Verdict verdict;

	LWLockAcquire(&shared->segments.lock, LW_SHARED);
	verdict = slot->verdict;
	LWLockRelease(&shared->segments.lock);
	return verdict;
}

/*
 * Before a locked row is asked for again. The answers to others, who ask for
 * it, too, end the pause only with better news: else all would ask all the time.
 */
static void
wait_locked(SegmentSlot *slot, uint32 wait_event)
{
	instr_time start;
	int64 left = WORKER_RETRY_MS;

	INSTR_TIME_SET_CURRENT(start);
	while (left > 0 &&
		   last_verdict(slot).sqlstate == ERRCODE_LOCK_NOT_AVAILABLE)
	{
		ConditionVariableTimedSleep(&slot->answer, left, wait_event);
		left = WORKER_RETRY_MS - clock_elapsed_us(start) / US_PER_MS;
	}
}

/*
 * One turn of a wait for an open request: sleeps until an answer or for a
 * while, and raises the error for which there is no use in waiting on.
 */
static void
wait_turn(TagRef *ref, Wait *wait, Verdict *verdict)
{
	static uint32 wait_event = 0;
	SegmentSlot *slot = ref->slot;
	WorkerState state = WORKER_WOKEN;
	int64 left = idgen_timeout - waited_ms(wait);

	if (wait_event == 0)
		wait_event = wait_event_new("IdgenSegment");
	if (!wait->expected)
		state = worker_wake(MyDatabaseId);
	wait->expected = false;
	if (pg_atomic_read_u64(&slot->answered) < wait->need)
		ConditionVariableTimedSleep(&slot->answer,
									Max(1, Min(left, WORKER_RETRY_MS)),
									wait_event);
	if (pg_atomic_read_u64(&slot->answered) >= wait->need)
	{
		*verdict = last_verdict(slot);
		wait->need = pg_atomic_read_u64(&slot->answered) + 1;
		if (verdict->sqlstate == ERRCODE_LOCK_NOT_AVAILABLE)
		{
			raise_if_locked(ref, verdict, false);
			wait_locked(slot, wait_event);
		}
	}
	if (waited_ms(wait) >= idgen_timeout)
	{
		if (verdict->sqlstate == ERRCODE_LOCK_NOT_AVAILABLE)
			raise_if_locked(ref, verdict, true);
		raise_timeout(state);
	}
}

static void
note_wait(SegmentSlot *slot, Wait *wait)
{
	uint64 us = (uint64) clock_elapsed_us(wait->start);
	uint64 longest = pg_atomic_read_u64(&slot->longest_us);

	pg_atomic_fetch_add_u64(&slot->waits, 1);
	while (longest < us &&
		   !pg_atomic_compare_exchange_u64(&slot->longest_us, &longest, us))
		;
}

/* False when the slot was made another tag's. */
static pg_noinline bool
await_number(TagRef *ref, int64 *number)
{
	Wait wait;
	Verdict verdict = {0};
	bool due;

	wait_begin(&wait, ref->slot);
	while (!segment_take(ref->slot, ref->owner, number, &due))
	{
		if (!ref_is_current(ref))
			return false;
		if (verdict.sqlstate != 0 &&
			verdict.sqlstate != ERRCODE_LOCK_NOT_AVAILABLE)
			raise_verdict(ref, &verdict);
		segment_request(ref->slot, true);
		wait_turn(ref, &wait, &verdict);
	}
	note_wait(ref->slot, &wait);
	return true;
}

/* NULL when there is no room. Sets *expected when the worker waits for more. */
static SegmentClaim *
open_claim(TagRef *ref, bool is_set, int64 size, bool *expected)
{
	Segments *segments = &shared->segments;
	SegmentClaim *claim = NULL;

	LWLockAcquire(&segments->lock, LW_EXCLUSIVE);
	for (int i = 0; i < segments->claims_used && claim == NULL; i++)
		if (segments->claims[i].state == CLAIM_FREE)
			claim = &segments->claims[i];
	if (claim == NULL && segments->claims_used < SEGMENT_CLAIMS)
		claim = &segments->claims[segments->claims_used++];
	if (claim != NULL)
	{
		claim->state = CLAIM_OPEN;
		claim->slot = ref->slot - segments->slots;
		claim->owner = ref->owner;
		claim->taker = 0;
		claim->is_set = is_set;
		claim->size = size;
		claim->start = 0;
		claim->end = 0;
		memset(&claim->verdict, 0, sizeof(claim->verdict));
		*expected =
			segments->gathering == MyDatabaseId && --segments->missing > 0;
	}
	LWLockRelease(&segments->lock);
	return claim;
}

/* Frees a claim, or has the worker that took it do so. */
static void
close_claim(SegmentClaim *claim)
{
	LWLockAcquire(&shared->segments.lock, LW_EXCLUSIVE);
	claim->state = claim->state == CLAIM_TAKEN ? CLAIM_ABANDONED : CLAIM_FREE;
	LWLockRelease(&shared->segments.lock);
}

/* Copies the answer to a claim and frees it. False when there is none yet. */
static bool
take_answer(SegmentClaim *claim, SegmentClaim *answer)
{
	bool done;

	LWLockAcquire(&shared->segments.lock, LW_EXCLUSIVE);
	done = claim->state == CLAIM_DONE;
	if (done)
	{
		*answer = *claim;
		claim->state = CLAIM_FREE;
	}
	LWLockRelease(&shared->segments.lock);
	return done;
}

/* A session at a slot, and what it leaves behind however its wait ends. */
typedef struct Waiter
{
	pg_atomic_uint32 *count; /* it is one of these */
	SegmentClaim *claim;     /* NULL: none is open */
} Waiter;

/* Also in a session that is terminated while it waits. */
static void
stop_waiting(int code, Datum arg)
{
	Waiter *waiter = (Waiter *) DatumGetPointer(arg);

	ConditionVariableCancelSleep();
	if (waiter->claim != NULL)
		close_claim(waiter->claim);
	pg_atomic_fetch_sub_u32(waiter->count, 1);
}

/* One try of wait_for_number(), counted among those who wait at the slot. */
static bool
await_number_counted(TagRef *ref, int64 *number)
{
	Waiter waiter = {&ref->slot->waiting, NULL};
	volatile bool taken = false;

	pg_atomic_fetch_add_u32(waiter.count, 1);
	PG_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiter));
	{
		taken = await_number(ref, number);
	}
	PG_END_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiter));
	stop_waiting(0, PointerGetDatum(&waiter));
	return taken;
}

/* The next number, when the slot had none at hand. */
static int64
wait_for_number(TagRef *ref)
{
	int64 number;

	do
	{
		renew_ref(ref);
	} while (!await_number_counted(ref, &number));
	return number;
}

/* Asks for the next block, without waiting and without a word if it fails. */
static void
prefetch(TagRef *ref)
{
	SegmentSlot *slot = ref->slot;

	if (segment_has_next(slot) || !segment_request(slot, true) ||
		worker_wake(MyDatabaseId) != WORKER_NO_SLOT)
		return;
	/* Nobody will answer: a later call asks again. */
	segment_defer_prefetch(slot);
	segment_withdraw(slot);
}

Datum
segment_next(PG_FUNCTION_ARGS)
{
	TagRef *ref;
	int64 number;
	bool due = false;

	check_can_reserve("segment_next()");
	ref = get_ref(fcinfo);
	if (likely(segment_take(ref->slot, ref->owner, &number, &due)))
	{
		if (unlikely(due))
			prefetch(ref);
		PG_RETURN_INT64(number);
	}
	PG_RETURN_INT64(wait_for_number(ref));
}

/* Waits until a claim for *result's size is answered, and copies the answer. */
static pg_noinline void
await_claim(TagRef *ref, Waiter *waiter, SegmentClaim *result)
{
	bool is_set = result->is_set;
	int64 size = result->size;
	Wait wait;
	Verdict verdict = {0};

	wait_begin(&wait, ref->slot);
	for (;;)
	{
		if (waiter->claim == NULL)
			waiter->claim = open_claim(ref, is_set, size, &wait.expected);
		segment_request(ref->slot, false);
		wait_turn(ref, &wait, &verdict);
		if (waiter->claim == NULL || !take_answer(waiter->claim, result))
			continue;
		waiter->claim = NULL;
		if (result->verdict.sqlstate == 0)
			return;
		if (result->verdict.sqlstate != ERRCODE_LOCK_NOT_AVAILABLE)
			raise_verdict(ref, &result->verdict);
	}
}

/* Has the worker reserve `size` numbers, or raise max_id, for this call. */
static SegmentClaim
wait_for_claim(TagRef *ref, bool is_set, int64 size)
{
	Waiter waiter = {&ref->slot->claiming, NULL};
	SegmentClaim result = {0};

	result.is_set = is_set;
	result.size = size;
	while (!segment_enter(ref->slot, ref->owner))
	{
		renew_ref(ref);
		waiter.count = &ref->slot->claiming;
	}
	PG_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiter));
	{
		await_claim(ref, &waiter, &result);
	}
	PG_END_ENSURE_ERROR_CLEANUP(stop_waiting, PointerGetDatum(&waiter));
	stop_waiting(0, PointerGetDatum(&waiter));
	return result;
}

Datum
segment_alloc(PG_FUNCTION_ARGS)
{
	char tag[SEGMENT_TAG_MAX + 1];
	int64 size = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	SegmentClaim claim;
	TupleDesc desc;
	Datum values[2];
	bool nulls[2] = {false};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1) && size < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("size must be at least 1, not " INT64_FORMAT, size),
				 errhint("Leave it out for a block of the tag's step.")));
	check_can_reserve("segment_alloc()");
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	get_tag(PG_GETARG_TEXT_PP(0), tag);
	claim = wait_for_claim(find_ref(segment_find_relation(fcinfo), tag),
						   false,
						   size);
	values[0] = Int64GetDatum(claim.start);
	values[1] = Int64GetDatum(claim.end);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}

Datum
segment_set(PG_FUNCTION_ARGS)
{
	char tag[SEGMENT_TAG_MAX + 1];
	int64 next = PG_GETARG_INT64(1);

	if (next < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("next must be at least 1, not " INT64_FORMAT, next)));
	check_can_reserve("segment_set()");
	get_tag(PG_GETARG_TEXT_PP(0), tag);
	wait_for_claim(find_ref(segment_find_relation(fcinfo), tag), true, next);
	PG_RETURN_VOID();
}

/*
 * lease.c
 *		The node lease as sessions see it: ask for one, and wait.
 */
#include "postgres.h"

#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"

#include "clock.h"
#include "compat.h"
#include "guc.h"
#include "lease.h"
#include "shared.h"

void
lease_init(Lease *lease, int tranche)
{
	pg_atomic_init_u64(&lease->epoch_ms, 0);
	pg_atomic_init_u32(&lease->node_bits, 0);
	pg_atomic_init_u32(&lease->sequence_bits, 0);
	pg_atomic_init_u64(&lease->requested, 0);
	pg_atomic_init_u64(&lease->answered, 0);
	pg_atomic_init_u32(&lease->new_era, 0);
	ConditionVariableInit(&lease->answer);
	pg_atomic_init_u64(&lease->sequence_waits, 0);
	pg_atomic_init_u64(&lease->clock_waits, 0);
	pg_atomic_init_u64(&lease->refusals, 0);
	LWLockInitialize(&lease->lock, tranche);
}

/* Only after LEASE was read and found set. */
void
lease_layout(SnowflakeLayout *layout)
{
	Lease *lease = &shared->lease;

	pg_read_barrier();
	layout->epoch_ms = (int64) pg_atomic_read_u64(&lease->epoch_ms);
	layout->node_bits = (int) pg_atomic_read_u32(&lease->node_bits);
	layout->sequence_bits = (int) pg_atomic_read_u32(&lease->sequence_bits);
}

static void
open_request(Lease *lease)
{
	uint64 answered = pg_atomic_read_u64(&lease->answered);

	/* Where it fails somebody has just opened one, which is as good. */
	pg_atomic_compare_exchange_u64(&lease->requested, &answered, answered + 1);
}

/* Raises what kept the worker from answering. */
static void
raise_timeout(WorkerState state)
{
	worker_give_up(WORKER_OF_LEASE);
	if (state == WORKER_NO_SLOT)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("no slot is free for the worker that leases a node"),
				 errhint("Raise max_worker_processes.")));
	if (!OidIsValid(get_database_oid(idgen_lease_database, true)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("database \"%s\" for node leases does not exist",
						idgen_lease_database),
				 errhint("Set idgen.lease_database to one that does, and "
						 "create the extension in it.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no node was leased within %d ms", idgen_timeout),
			 errhint("See the server's log, or raise idgen.timeout.")));
}

/*
 * Waits, with no lock held, cancellable, at most idgen.timeout, for a lease of
 * era `era` or later whose range ends after `time`. Raises what the worker has
 * to say, 53000, or 55000.
 */
void
lease_await(int era, int64 time)
{
	static uint32 wait_event = 0;
	Lease *lease = &shared->lease;
	uint64 word;
	uint64 need;
	instr_time start;

	if (worker_is_here())
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a trigger of node_lease cannot call snowflake_next()"),
			 errdetail("It runs in the worker that would answer.")));
	if (wait_event == 0)
		wait_event = wait_event_new("IdgenLease");
	INSTR_TIME_SET_CURRENT(start);
	ConditionVariablePrepareToSleep(&lease->answer);
	/* An answer to a request that is open may be older than this call. */
	need = pg_atomic_read_u64(&lease->requested) + 1;
	for (;;)
	{
		WorkerState state;
		Verdict verdict = {0};

		word = pg_atomic_read_u64(&shared->lease_word.word);
		if (word != 0 && word_era(word) >= era && word_time(word) > time)
			break;
		open_request(lease);
		state = worker_wake(WORKER_OF_LEASE);
		if (pg_atomic_read_u64(&lease->answered) < need)
			ConditionVariableTimedSleep(&lease->answer,
										WORKER_RETRY_MS,
										wait_event);
		if (pg_atomic_read_u64(&lease->answered) >= need)
		{
			LWLockAcquire(&lease->lock, LW_SHARED);
			verdict = lease->verdict;
			LWLockRelease(&lease->lock);
			need = pg_atomic_read_u64(&lease->answered) + 1;
			if (verdict.sqlstate != 0 &&
				verdict.sqlstate != ERRCODE_LOCK_NOT_AVAILABLE)
				verdict_raise(&verdict);
			/* Locked, or renewed by a clock that is behind this one. */
			word = pg_atomic_read_u64(&shared->lease_word.word);
			if (verdict.sqlstate != 0 || word_time(word) <= time)
				ConditionVariableTimedSleep(&lease->answer,
											WORKER_RETRY_MS,
											wait_event);
		}
		if (clock_elapsed_us(start) / US_PER_MS < idgen_timeout)
			continue;
		if (verdict.sqlstate != 0)
			verdict_raise(&verdict);
		raise_timeout(state);
	}
	ConditionVariableCancelSleep();
}

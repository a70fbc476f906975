/*
 * coordinator.c
 *		The one place where workers ask for blocks and leases. What they ask is
 *		done here, in a transaction of its own, or by the server that
 *		idgen.coordinator names, in one statement.
 *
 * A worker keeps to the coordinator that it has found at its start. It leaves
 * when the setting has changed, so that what it holds goes back to where it
 * came from; the next one asks the new coordinator.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "coordinator.h"
#include "coordinator_remote.h"
#include "coordinator_spi.h"
#include "guc.h"
#include "worker.h"

/* The connection string; empty: this server. */
static char *source = NULL;

/* A transaction on the tables here. */
typedef struct Work
{
	MemoryContext context; /* from before, and to go back to */
	int settings;
	const char *locked; /* a table that is not to be had */
} Work;

/* At a worker's start. */
void
coordinator_begin(void)
{
	source = MemoryContextStrdup(TopMemoryContext, idgen_coordinator);
	if (coordinator_is_remote())
		remote_begin(source);
}

bool
coordinator_is_remote(void)
{
	return source[0] != '\0';
}

bool
coordinator_has_changed(void)
{
	return strcmp(source, idgen_coordinator) != 0;
}

/* What tells it from others, for slots that hold blocks of it. */
uint64
coordinator_source(void)
{
	return segment_source(source);
}

static void
work_begin(Work *work)
{
	work->context = CurrentMemoryContext;
	StartTransactionCommand();
	work->settings = NewGUCNestLevel();
	PushActiveSnapshot(GetTransactionSnapshot());
}

/* A transaction's end would leave a context that is never reset. */
static void
work_abort(Work *work)
{
	AbortCurrentTransaction();
	MemoryContextSwitchTo(work->context);
}

/* False, with the transaction over, when a table is not to be had. */
static bool
work_open(Work *work, Oid relation, const char *first, const char *second)
{
	work->locked = coordinator_open(relation, first, second);
	if (work->locked != NULL)
		work_abort(work);
	return work->locked == NULL;
}

/* Commits. False when it is in doubt whether that is durable. */
static bool
work_end(Work *work, bool await_standby)
{
	bool durable;

	coordinator_close();
	PopActiveSnapshot();
	/* What a trigger of the owner's has set must not reach the commit. */
	AtEOXact_GUC(false, work->settings);
	durable = worker_commit(await_standby);
	MemoryContextSwitchTo(work->context);
	coordinator_restore_role();
	return durable;
}

static void
table_is_locked(Verdict *verdict, const char *table)
{
	verdict_set(verdict,
				ERRCODE_LOCK_NOT_AVAILABLE,
				psprintf("table %s is locked", table),
				NULL,
				NULL);
}

/*
 * Answers demands on the tags of a table, of which each gets numbers, or an
 * error of its own. May raise anything; then none of them got any. False when
 * what they got must not be used, since it may not be durable.
 */
bool
coordinator_reserve_blocks(Oid relation, Demand *demands, int count)
{
	char *proc = psprintf("%s:%d", worker_name(), MyProcPid);
	Work work;

	if (coordinator_is_remote())
		return remote_reserve_blocks(demands, count, proc);
	work_begin(&work);
	if (work_open(&work, relation, "id_segment", "segment_log"))
	{
		coordinator_serve_demands(demands, count, proc);
		return work_end(&work, true);
	}
	/* By whom, the callers find out. */
	for (int i = 0; i < count; i++)
	{
		demands[i].row = ROW_LOCKED;
		table_is_locked(&demands[i].verdict, work.locked);
	}
	return true;
}

/* Prunes the log of reservations. False when there is more to do. */
bool
coordinator_prune_old(Oid relation)
{
	Work work;
	bool done;

	if (coordinator_is_remote())
		return remote_prune();
	if (idgen_segment_log_retention == 0)
		return true;
	work_begin(&work);
	if (!work_open(&work, relation, "id_segment", "segment_log"))
		return false;
	done = coordinator_prune_log(idgen_segment_log_retention);
	work_end(&work, false);
	return done;
}

static void
no_lease_table(Verdict *verdict)
{
	verdict_set(verdict,
				ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
				psprintf("database \"%s\" for node leases has no extension "
						 "idgen",
						 idgen_lease_database),
				NULL,
				"Create the extension there, or set idgen.lease_database to a "
				"database that has it.");
}

static bool
lease_step_here(LeaseStep step,
				NodeLease *lease,
				TimestampTz end,
				Verdict *verdict,
				bool await)
{
	Work work;
	Oid relation;
	bool done;

	work_begin(&work);
	relation = coordinator_find_table("node_lease");
	if (!OidIsValid(relation))
	{
		work_abort(&work);
		no_lease_table(verdict);
		return false;
	}
	if (!work_open(&work, relation, "node_lease", "snowflake_layout"))
	{
		table_is_locked(verdict, work.locked);
		return false;
	}
	done = coordinator_serve_step(step,
								  lease,
								  worker_name(),
								  idgen_node_id,
								  end,
								  verdict);
	if (work_end(&work, await))
		return done;
	verdict_set(verdict,
				ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
				"the lease was interrupted while it was committed",
				NULL,
				"Try again.");
	return false;
}

/*
 * A step of a lease. True if it is done and durable, else the verdict tells
 * why not; raises nothing. Not `await`: in a process that is about to end.
 */
bool
coordinator_lease_step(LeaseStep step,
					   NodeLease *lease,
					   TimestampTz end,
					   Verdict *verdict,
					   bool await)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = false;

	memset(verdict, 0, sizeof(Verdict));
	PG_TRY();
	{
		done = coordinator_is_remote()
				   ? remote_lease_step(step, lease, end, verdict, await)
				   : lease_step_here(step, lease, end, verdict, await);
	}
	PG_CATCH();
	{
		verdict_catch(verdict, context);
		done = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	return done;
}

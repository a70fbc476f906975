/*
 * lease_worker.c
 *		Acquires, renews and gives back the node lease of this server.
 *
 * The orders of steps are those of lease.h. What was granted is used only if
 * the commit is known to be durable. A worker never uses, renews or gives back
 * a lease that an earlier worker took: neither the row nor GEN tells what was
 * issued of it before a crash.
 *
 * A lease is renewed when less than half of its time is left, but only while
 * ids are asked for: an idle server writes nothing, and its worker leaves.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "coordinator.h"
#include "guc.h"
#include "shared.h"

#define FEW_DAYS_LEFT 365
#define MS_PER_DAY (SECS_PER_DAY * INT64CONST(1000))

extern PGDLLEXPORT void lease_worker_main(Datum arg);

static char *database = NULL; /* that this worker is connected to */

/* The lease that this worker took and that LEASE shows. */
static bool have = false;
static NodeLease held;

static bool failed = false; /* the last step; try again soon */

static int64
own_clock(const NodeLease *lease)
{
	return clock_unix_us() / US_PER_MS - lease->layout.epoch_ms;
}

/* The first ms of the time field that is not before a time. */
static int64
field_at_or_after(const NodeLease *lease, TimestampTz at)
{
	return (at + UNIX_TO_PG_EPOCH_US + US_PER_MS - 1) / US_PER_MS -
		   lease->layout.epoch_ms;
}

/* The end of a range, exclusive, in the time field. */
static int64
field_end(const NodeLease *lease)
{
	int64 end = (lease->until + UNIX_TO_PG_EPOCH_US) / US_PER_MS -
				lease->layout.epoch_ms;

	return Min(end, SNOWFLAKE_TIME_MAX + 1);
}

/* Moves GEN up to a word at least, by swaps, as sessions do. */
static void
raise_last(uint64 word)
{
	pg_atomic_uint64 *last = &shared->snowflake_last.word;
	uint64 now = pg_atomic_read_u64(last);

	while (now < word && !pg_atomic_compare_exchange_u64(last, &now, word))
		;
}

/* Clears LEASE and moves GEN on; returns the word that GEN had. */
static uint64
clear_lease(void)
{
	pg_atomic_uint64 *last = &shared->snowflake_last.word;
	uint64 high;

	pg_atomic_exchange_u64(&shared->lease_word.word, 0);
	high = pg_atomic_read_u64(last);
	/* The next word: a full sequence carries into the time. */
	while (!pg_atomic_compare_exchange_u64(last, &high, high + 1))
		;
	return high;
}

/* The table last. Whatever comes of it, this lease is not used again. */
static void
give_back(bool await)
{
	uint64 high = clear_lease();
	Verdict verdict;
	TimestampTz end = clock_timestamptz(
		(held.layout.epoch_ms + word_time(high) + 1) * US_PER_MS);

	have = false;
	if (coordinator_lease_step(STEP_GIVE_BACK, &held, end, &verdict, await))
		ereport(LOG,
				(errmsg("idgen: gave back node %d, epoch " INT64_FORMAT,
						held.node,
						held.epoch)));
	else
		ereport(
			LOG,
			(errmsg("idgen: could not give back node %d, epoch " INT64_FORMAT
					": %s",
					held.node,
					held.epoch,
					verdict.message)));
}

/* At the end of the process, while transactions are still possible. */
static void
give_back_at_exit(int code, Datum arg)
{
	if (!have)
		return;
	AbortOutOfAnyTransaction();
	give_back(false);
}

/* For sessions, before LEASE is set. False if it differs from before. */
static bool
publish_layout(const NodeLease *lease, Verdict *verdict)
{
	SnowflakeLayout known;

	lease_layout(&known);
	if (known.node_bits + known.sequence_bits == 0)
	{
		pg_atomic_write_u64(&shared->lease.epoch_ms,
							(uint64) lease->layout.epoch_ms);
		pg_atomic_write_u32(&shared->lease.node_bits,
							(uint32) lease->layout.node_bits);
		pg_atomic_write_u32(&shared->lease.sequence_bits,
							(uint32) lease->layout.sequence_bits);
		return true;
	}
	if (known.epoch_ms == lease->layout.epoch_ms &&
		known.node_bits == lease->layout.node_bits &&
		known.sequence_bits == lease->layout.sequence_bits)
		return true;
	verdict_set(
		verdict,
		ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
		"the Snowflake layout is not the one that this server has used",
		NULL,
		"Restart the server to issue ids of another layout.");
	return false;
}

/* Shows a lease to the sessions; GEN must be raised already. */
static void
set_lease(const NodeLease *lease, bool renewed)
{
	int era = word_era(pg_atomic_read_u64(&shared->snowflake_last.word));

	LWLockAcquire(&shared->lease.lock, LW_EXCLUSIVE);
	shared->lease.node = lease->node;
	shared->lease.epoch = lease->epoch;
	shared->lease.from = lease->from;
	shared->lease.until = lease->until;
	if (renewed)
		shared->lease.renewals++;
	LWLockRelease(&shared->lease.lock);
	pg_atomic_exchange_u64(&shared->lease_word.word,
						   lease_word(era, field_end(lease), lease->node));
}

/* Whether a lease that was taken can be used with this server's clock. */
static bool
lease_is_usable(const NodeLease *lease, Verdict *verdict)
{
	int64 from = field_at_or_after(lease, lease->from);
	int64 ahead = from - own_clock(lease);
	int64 days_left = (SNOWFLAKE_TIME_MAX - from) / MS_PER_DAY;

	if (from > SNOWFLAKE_TIME_MAX)
	{
		verdict_set(verdict,
					ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
					"the time field of Snowflake ids has ended",
					NULL,
					"Use another layout, with a later epoch.");
		return false;
	}
	if (from < 0)
	{
		verdict_set(verdict,
					ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					"the clock is before the epoch of the Snowflake layout",
					NULL,
					"Set the clock of the machine.");
		return false;
	}
	/* GEN cannot go back, and calls would fail until the clock is there. */
	if (ahead > idgen_clock_max_wait)
	{
		verdict_set(verdict,
					ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					psprintf("clock is " INT64_FORMAT
							 " ms behind that of the lease database",
							 ahead),
					NULL,
					"Correct the clock.");
		return false;
	}
	if (days_left < FEW_DAYS_LEFT)
		ereport(WARNING,
				(errmsg("the time field of Snowflake ids ends in " INT64_FORMAT
						" days",
						days_left)));
	return publish_layout(lease, verdict);
}

/* Takes a node and shows the lease, or says why not. */
static void
take(Verdict *verdict)
{
	NodeLease lease = {0};
	int64 from;

	LWLockAcquire(&shared->lease.lock, LW_SHARED);
	lease.holder = shared->lease.holder;
	LWLockRelease(&shared->lease.lock);
	lease.free_in_ms = -1;
	if (!coordinator_lease_step(STEP_TAKE, &lease, 0, verdict, true))
	{
		/* One that was given back is free a moment later. */
		if (lease.free_in_ms < 0 || lease.free_in_ms > idgen_clock_max_wait)
			return;
		pg_usleep((lease.free_in_ms + 1) * US_PER_MS);
		if (!coordinator_lease_step(STEP_TAKE, &lease, 0, verdict, true))
			return;
	}
	if (!lease_is_usable(&lease, verdict))
	{
		Verdict ignored;

		/* Nothing was issued of it. */
		coordinator_lease_step(STEP_GIVE_BACK,
							   &lease,
							   lease.from,
							   &ignored,
							   true);
		return;
	}
	/* In this order: GEN, so that the next id is in the range, then LEASE. */
	from = field_at_or_after(&lease, lease.from);
	raise_last(
		lease_word(word_era(pg_atomic_read_u64(&shared->snowflake_last.word)),
				   Max(from - 1, 0),
				   WORD_TAIL_FULL));
	held = lease;
	have = true;
	set_lease(&lease, false);
	ereport(LOG,
			(errmsg("idgen: leased node %d, epoch " INT64_FORMAT ", until %s",
					lease.node,
					lease.epoch,
					timestamptz_to_str(lease.until))));
}

/* Renews the lease; takes another where this one cannot be renewed. */
static void
renew(Verdict *verdict)
{
	NodeLease lease = held;

	lease.lost = false;
	if (coordinator_lease_step(STEP_RENEW, &lease, 0, verdict, true))
	{
		held.until = lease.until;
		set_lease(&held, true);
		if (own_clock(&held) >= field_end(&held))
			verdict_set(
				verdict,
				field_end(&held) > SNOWFLAKE_TIME_MAX
					? ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED
					: ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
				field_end(&held) > SNOWFLAKE_TIME_MAX
					? "the time field of Snowflake ids has ended"
					: "clock is ahead of that of the lease database",
				psprintf("It is past the end of the lease by " INT64_FORMAT
						 " ms.",
						 own_clock(&held) - field_end(&held)),
				NULL);
		return;
	}
	if (!failed)
		ereport(LOG, (errmsg("idgen: could not renew: %s", verdict->message)));
	/* What is left of its range stays good, but to take ids of it any more
	 * would be to wait for its end: another node goes on at once. */
	if (!lease.lost && own_clock(&held) < field_end(&held))
		return;
	clear_lease();
	have = false;
	take(verdict);
}

/* The holder is another for each start of the server. */
static void
name_holder(void)
{
	pg_uuid_t fresh;
	pg_uuid_t none = {{0}};

	if (!pg_strong_random(fresh.data, UUID_LEN))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random bits")));
	LWLockAcquire(&shared->lease.lock, LW_EXCLUSIVE);
	if (memcmp(&shared->lease.holder, &none, sizeof(none)) == 0)
		shared->lease.holder = fresh;
	LWLockRelease(&shared->lease.lock);
}

/* Ms until the lease should be renewed; 0 when it is time. */
static int64
renewal_due_ms(void)
{
	int64 rest = field_end(&held) - own_clock(&held);

	return Max(rest - held.ttl_ms / 2, 0);
}

/* Ids were asked for within the last ttl. */
static bool
in_use(void)
{
	int64 last = word_time(pg_atomic_read_u64(&shared->snowflake_last.word));

	return last + held.ttl_ms > own_clock(&held);
}

/* Lets times in ids go back: in another era, with another lease. */
static void
begin_era(void)
{
	uint64 last;

	if (have)
		give_back(true);
	else
		clear_lease();
	last = pg_atomic_read_u64(&shared->snowflake_last.word);
	raise_last(lease_word(word_era(last) + 1, 0, 0));
	ereport(LOG, (errmsg("idgen: Snowflake times go back, as was asked for")));
}

static void
answer(uint64 request, const Verdict *verdict)
{
	Lease *lease = &shared->lease;

	LWLockAcquire(&lease->lock, LW_EXCLUSIVE);
	lease->verdict = *verdict;
	LWLockRelease(&lease->lock);
	pg_atomic_write_u64(&lease->answered, request);
	ConditionVariableBroadcast(&lease->answer);
}

/* Does what is asked for and what is due. True if there was something. */
static bool
serve(void)
{
	uint64 request = pg_atomic_read_u64(&shared->lease.requested);
	bool asked = request != pg_atomic_read_u64(&shared->lease.answered);
	Verdict verdict = {0};

	if (RecoveryInProgress() && !coordinator_is_remote())
	{
		verdict_set(&verdict,
					ERRCODE_READ_ONLY_SQL_TRANSACTION,
					"a standby has no node to issue Snowflake ids of",
					NULL,
					"Use the primary, or set idgen.coordinator.");
		if (asked)
			answer(request, &verdict);
		return asked;
	}
	if (have && idgen_node_id >= 0 && idgen_node_id != held.node)
		give_back(true);
	if (pg_atomic_exchange_u32(&shared->lease.new_era, 0) != 0)
		begin_era();
	if (have && (asked || (renewal_due_ms() == 0 && in_use())))
		renew(&verdict);
	else if (asked)
		take(&verdict);
	else
		return false;
	failed = verdict.sqlstate != 0;
	if (asked)
		answer(request, &verdict);
	return true;
}

void
lease_worker_main(Datum arg)
{
	MemoryContext context;
	TimestampTz last_work = GetCurrentTimestamp();

	worker_begin(WORKER_OF_LEASE, idgen_lease_database);
	database = pstrdup(idgen_lease_database);
	coordinator_begin();
	before_shmem_exit(give_back_at_exit, 0);
	name_holder();
	context = AllocSetContextCreate(TopMemoryContext,
									"idgen lease worker",
									ALLOCSET_DEFAULT_SIZES);
	/* It leaves with another setting, too, so that the next one has that. */
	while (worker_pass_begin() && !coordinator_has_changed() &&
		   strcmp(database, idgen_lease_database) == 0)
	{
		bool worked;

		MemoryContextReset(context);
		MemoryContextSwitchTo(context);
		worked = serve();
		CHECK_FOR_INTERRUPTS();
		if (worked && failed)
			worker_wait(WORKER_RETRY_MS, !have);
		if (worked)
			last_work = GetCurrentTimestamp();
		else if (have ? renewal_due_ms() == 0
					  : TimestampDifferenceExceeds(last_work,
												   GetCurrentTimestamp(),
												   idgen_worker_idle_timeout))
			break; /* nobody asks */
		else if (!worker_wait(have ? renewal_due_ms()
								   : idgen_worker_idle_timeout,
							  !have))
			break;
	}
	proc_exit(0);
}

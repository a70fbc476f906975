/*
 * worker.c
 *		What workers have in common: to be started on demand, to work in a
 *		session that nothing of the database's settings reaches, and to leave.
 *
 * There is at most one worker for a database, which the table of workers
 * sees to: one that finds another's pid there leaves again. A worker ends by
 * itself when it has nothing to do, when it is asked to, when another database
 * finds no slot, and when somebody wants the database for himself.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "compat.h"
#include "guc.h"
#include "shared.h"
#include "worker.h"

/* A worker that was asked for and did not come is asked for again. */
#define START_RETRY_MS 2000

/* How often a waiting worker looks whether its database is wanted. */
#define LOOK_MS 1000

/* How often it looks whether a standby has the commit, at least. */
#define STANDBY_LOOK_MS 64

/* In the process that asked for a worker: to end it if it never came. */
static BackgroundWorkerHandle *asked_handle = NULL;
static TimestampTz asked_at;

/* In a worker. */
static volatile sig_atomic_t cancelled = false;
static bool wanted = false; /* its database is, by somebody else */
static Oid own_key = InvalidOid;

void
workers_init(Workers *workers, int tranche)
{
	LWLockInitialize(&workers->lock, tranche);
	pg_atomic_init_u32(&workers->make_room, 0);
}

/* The database's entry, else a free one; NULL if there is neither. */
static WorkerEntry *
find_entry(Oid database)
{
	WorkerEntry *free_entry = NULL;

	for (int i = 0; i < WORKERS_MAX; i++)
	{
		WorkerEntry *entry = &shared->workers.entries[i];

		if (entry->database == database)
			return entry;
		if (entry->database == InvalidOid && free_entry == NULL)
			free_entry = entry;
	}
	return free_entry;
}

static void
forget_entry(Oid database, int pid)
{
	WorkerEntry *entry;

	LWLockAcquire(&shared->workers.lock, LW_EXCLUSIVE);
	entry = find_entry(database);
	if (entry != NULL && entry->database == database && entry->pid == pid)
		entry->database = InvalidOid;
	LWLockRelease(&shared->workers.lock);
}

static bool
wake_process(int pid)
{
	PGPROC *proc = BackendPidGetProc(pid);

	if (proc == NULL)
		return false;
	SetLatch(&proc->procLatch);
	return true;
}

/* Has one of the workers that idle leave. */
static void
ask_for_room(void)
{
	int pids[WORKERS_MAX];

	LWLockAcquire(&shared->workers.lock, LW_SHARED);
	for (int i = 0; i < WORKERS_MAX; i++)
	{
		WorkerEntry *entry = &shared->workers.entries[i];

		pids[i] = entry->database == InvalidOid ? 0 : entry->pid;
	}
	LWLockRelease(&shared->workers.lock);
	pg_atomic_write_u32(&shared->workers.make_room, 1);
	for (int i = 0; i < WORKERS_MAX; i++)
		if (pids[i] != 0)
			wake_process(pids[i]);
}

static bool
start_worker(Oid database)
{
	BackgroundWorker worker = {0};
	bool lease = database == WORKER_OF_LEASE;

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
					   BGWORKER_BACKEND_DATABASE_CONNECTION |
					   WORKER_INTERRUPTIBLE;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "idgen", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name,
			lease ? "lease_worker_main" : "segment_worker_main",
			sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type,
			lease ? "idgen lease worker" : "idgen segment worker",
			BGW_MAXLEN);
	strlcpy(worker.bgw_name, worker.bgw_type, BGW_MAXLEN);
	worker.bgw_main_arg = ObjectIdGetDatum(database);
	if (asked_handle != NULL)
		pfree(asked_handle);
	asked_handle = NULL;
	asked_at = GetCurrentTimestamp();
	return RegisterDynamicBackgroundWorker(&worker, &asked_handle);
}

/*
 * Tells the database's worker that there is work, and starts one if there is
 * none. Waits for nothing.
 */
WorkerState
worker_wake(Oid database)
{
	WorkerEntry *entry;
	MemoryContext old_context;
	TimestampTz now = GetCurrentTimestamp();
	bool started;
	int pid = 0;
	bool ask = false;

	LWLockAcquire(&shared->workers.lock, LW_EXCLUSIVE);
	entry = find_entry(database);
	if (entry != NULL)
	{
		if (entry->database == database)
			pid = entry->pid;
		ask = entry->database != database ||
			  (pid == 0 && (now < entry->asked ||
							now - entry->asked > START_RETRY_MS * 1000));
		if (ask)
			*entry = (WorkerEntry){database, 0, now, {{0}, 0, {0}}};
	}
	LWLockRelease(&shared->workers.lock);

	if (pid != 0)
	{
		if (wake_process(pid))
			return WORKER_WOKEN;
		forget_entry(database, pid);
		return WORKER_STARTING;
	}
	if (!ask)
		return entry == NULL ? WORKER_NO_SLOT : WORKER_STARTING;

	old_context = MemoryContextSwitchTo(TopMemoryContext);
	started = start_worker(database);
	MemoryContextSwitchTo(old_context);
	if (started)
		return WORKER_STARTING;
	forget_entry(database, 0);
	ask_for_room();
	return WORKER_NO_SLOT;
}

/*
 * Ends a worker that this process asked for and that has not come, unless it
 * has just been asked for: others may wait longer for it.
 */
void
worker_give_up(Oid database)
{
	if (asked_handle == NULL || worker_pid(database) != 0 ||
		!TimestampDifferenceExceeds(asked_at,
									GetCurrentTimestamp(),
									START_RETRY_MS))
		return;
	TerminateBackgroundWorker(asked_handle);
	pfree(asked_handle);
	asked_handle = NULL;
	forget_entry(database, 0);
}

/* The pid of the database's worker; 0 if it has none yet. */
int
worker_pid(Oid database)
{
	WorkerEntry *entry;
	int pid = 0;

	LWLockAcquire(&shared->workers.lock, LW_SHARED);
	entry = find_entry(database);
	if (entry != NULL && entry->database == database)
		pid = entry->pid;
	LWLockRelease(&shared->workers.lock);
	return pid;
}

/*
 * How the database's worker is connected to the coordinator: with what, since
 * when, and why not.
 */
void
worker_put_connection(Oid database, Datum *values, bool *nulls)
{
	WorkerConnection connection = {{0}, 0, {0}};
	WorkerEntry *entry;

	LWLockAcquire(&shared->workers.lock, LW_SHARED);
	entry = find_entry(database);
	if (entry != NULL && entry->database == database)
		connection = entry->connection;
	LWLockRelease(&shared->workers.lock);
	values[0] = CStringGetTextDatum(connection.host);
	values[1] = TimestampTzGetDatum(connection.since);
	values[2] = CStringGetTextDatum(connection.failure);
	nulls[0] = connection.host[0] == '\0';
	nulls[1] = connection.since == 0;
	nulls[2] = connection.failure[0] == '\0';
}

/* ... from here on in a worker ... */

/* Tells those who look: connected to a host, or why not. */
void
worker_note_connection(const char *host, const char *failure)
{
	WorkerConnection connection = {{0}, GetCurrentTimestamp(), {0}};
	WorkerEntry *entry;

	strlcpy(connection.host, host ? host : "", sizeof(connection.host));
	strlcpy(connection.failure,
			failure ? failure : "",
			sizeof(connection.failure));
	LWLockAcquire(&shared->workers.lock, LW_EXCLUSIVE);
	entry = find_entry(own_key);
	if (entry != NULL && entry->database == own_key)
		entry->connection = connection;
	LWLockRelease(&shared->workers.lock);
}

/* A cancel during commit ends the wait for a standby as if it had come. */
static void
note_cancel(SIGNAL_ARGS)
{
	int saved_errno = errno;

	cancelled = true;
	InterruptPending = true;
	QueryCancelPending = true;
	SetLatch(MyLatch);
	errno = saved_errno;
}

/* Whether this process is a worker, which cannot serve itself. */
bool
worker_is_here(void)
{
	return OidIsValid(own_key);
}

/* For people: which server's worker it is. */
const char *
worker_name(void)
{
	return cluster_name[0] ? cluster_name : "idgen";
}

static void
leave(int code, Datum arg)
{
	forget_entry(own_key, MyProcPid);
}

/* Whatever ALTER DATABASE or ALTER ROLE says. */
static void
pin_session(void)
{
	static const char *const pins[][2] = {
		{"session_replication_role", "origin"},
		{"search_path", "pg_catalog, pg_temp"},
		{"row_security", "off"},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"statement_timeout", "0"},
		{"lock_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"idle_session_timeout", "0"},
		{"zero_damaged_pages", "off"},
		{"ignore_checksum_failure", "off"},
	};

	for (size_t i = 0; i < lengthof(pins); i++)
		SetConfigOption(pins[i][0], pins[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	if (HAVE_TRANSACTION_TIMEOUT)
		SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * Connects to the database, by name if that is given; ends the process if there
 * is such a worker already.
 */
void
worker_begin(Oid database, const char *name)
{
	WorkerEntry *entry;
	bool mine;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, note_cancel);
	BackgroundWorkerUnblockSignals();
	if (name != NULL)
		BackgroundWorkerInitializeConnection(name,
											 NULL,
											 BGWORKER_BYPASS_ALLOWCONN);
	else
		BackgroundWorkerInitializeConnectionByOid(database,
												  InvalidOid,
												  BGWORKER_BYPASS_ALLOWCONN);
	pin_session();
	StartTransactionCommand();
	shared_get();
	CommitTransactionCommand();

	LWLockAcquire(&shared->workers.lock, LW_EXCLUSIVE);
	entry = find_entry(database);
	mine = entry != NULL && (entry->database == InvalidOid || entry->pid == 0);
	if (mine)
		*entry = (WorkerEntry){database, MyProcPid, 0, {{0}, 0, {0}}};
	LWLockRelease(&shared->workers.lock);
	if (!mine)
		proc_exit(0);
	/* Who asked for room gets some; if he needs more he asks again. */
	pg_atomic_write_u32(&shared->workers.make_room, 0);
	own_key = database;
	before_shmem_exit(leave, 0);
}

static void
reload_if_asked(void)
{
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/* Somebody who wants the database for himself waits for all to leave it. */
static bool
database_is_wanted(void)
{
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (LockAcquire(&tag, RowExclusiveLock, true, true) ==
		LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, RowExclusiveLock, true);
	return false;
}

/* Before each pass. False when the worker should leave. */
bool
worker_pass_begin(void)
{
	/* A cancel is for the pass that it meets. */
	cancelled = false;
	wanted = false;
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
	reload_if_asked();
	return !database_is_wanted();
}

/* Since the pass began: a cancel, SIGTERM, or somebody who wants the database. */
bool
worker_interrupted(void)
{
	return cancelled || wanted || ProcDiePending;
}

/*
 * In the midst of a pass: waits for the latch, or for a socket unless that is
 * PGINVALID_SOCKET, and looks at the database about once a second.
 */
void
worker_wait_on(pgsocket socket, int events, long timeout_ms, uint32 wait_event)
{
	static TimestampTz last_look = 0;
	int mask = WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH;
	TimestampTz now = GetCurrentTimestamp();

	if (now < last_look || TimestampDifferenceExceeds(last_look, now, LOOK_MS))
	{
		wanted = database_is_wanted();
		last_look = now;
	}
	if (socket != PGINVALID_SOCKET)
		mask |= events;
	WaitLatchOrSocket(MyLatch,
					  mask,
					  socket,
					  wanted ? 0 : Min(timeout_ms, LOOK_MS),
					  wait_event);
	ResetLatch(MyLatch);
	reload_if_asked();
}

static bool
standby_has(XLogRecPtr commit, int mode)
{
	XLogRecPtr reached;

	LWLockAcquire(SyncRepLock, LW_SHARED);
	reached = WalSndCtl->lsn[mode];
	LWLockRelease(SyncRepLock);
	return reached >= commit;
}

/*
 * Waits for the synchronous standby as a commit does, but never so that the
 * database cannot be dropped. False when the wait was given up.
 */
static bool
wait_for_standby(XLogRecPtr commit, int level)
{
	int mode = level == SYNCHRONOUS_COMMIT_REMOTE_WRITE ? SYNC_REP_WAIT_WRITE
			   : level == SYNCHRONOUS_COMMIT_REMOTE_APPLY
				   ? SYNC_REP_WAIT_APPLY
				   : SYNC_REP_WAIT_FLUSH;
	long pause_ms = 1;

	while (max_wal_senders > 0 && SyncRepStandbyNames[0] != '\0' &&
		   !standby_has(commit, mode))
	{
		if (worker_interrupted())
			return false;
		worker_wait_on(PGINVALID_SOCKET, 0, pause_ms, WAIT_EVENT_SYNC_REP);
		pause_ms = Min(2 * pause_ms, STANDBY_LOOK_MS);
	}
	return true;
}

/*
 * Commits. False when it is in doubt whether that is durable: the wait for a
 * standby was cut short, so what was reserved must not be used.
 */
bool
worker_commit(bool await_standby)
{
	XLogRecPtr last = XactLastCommitEnd;
	int level = synchronous_commit;

	/* Here without a standby, but flushed even with synchronous_commit off. */
	set_config_option("synchronous_commit",
					  "local",
					  PGC_USERSET,
					  PGC_S_SESSION,
					  GUC_ACTION_LOCAL,
					  true,
					  0,
					  false);
	ForceSyncCommit();
	CommitTransactionCommand();
	return !await_standby || XactLastCommitEnd == last ||
		   level <= SYNCHRONOUS_COMMIT_LOCAL_FLUSH ||
		   wait_for_standby(XactLastCommitEnd, level);
}

static uint32
wait_event_main(void)
{
	static uint32 wait_event = 0;

	if (wait_event == 0)
		wait_event = wait_event_new("IdgenWorkerMain");
	return wait_event;
}

/* Waits until somebody wakes the worker. False when nobody did for 1 ms. */
bool
worker_pause(void)
{
	int events = WaitLatch(MyLatch,
						   WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						   1,
						   wait_event_main());

	ResetLatch(MyLatch);
	return (events & WL_LATCH_SET) != 0 && !worker_interrupted();
}

/* Waits for work. False when the worker should leave. */
bool
worker_wait(long timeout_ms, bool idle)
{
	if (idle && pg_atomic_exchange_u32(&shared->workers.make_room, 0) != 0)
		return false;
	WaitLatch(MyLatch,
			  WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
			  Min(timeout_ms, LOOK_MS),
			  wait_event_main());
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	return true;
}

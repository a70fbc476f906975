/*
 * worker.h
 *		Background workers that are started when there is work for them.
 */
#ifndef IDGEN_WORKER_H
#define IDGEN_WORKER_H

#include "storage/lwlock.h"
#include "utils/timestamp.h"

#define WORKERS_MAX 256

/* How long to wait before what was locked, or failed, is tried again. */
#define WORKER_RETRY_MS 50

/* In the place of a database: the lease worker, of which a server has one. */
#define WORKER_OF_LEASE ((Oid) PG_UINT32_MAX)

/* A worker's connection to the coordinator, for those who look. */
typedef struct WorkerConnection
{
	char host[128];    /* with its port; empty: there is none */
	TimestampTz since; /* when it was made, or was lost */
	char failure[192]; /* why there is none */
} WorkerConnection;

typedef struct WorkerEntry
{
	Oid database;      /* InvalidOid: free */
	int pid;           /* 0 while it is being started */
	TimestampTz asked; /* when it was asked for */
	WorkerConnection connection;
} WorkerEntry;

typedef struct Workers
{
	LWLock lock; /* held for memory accesses only */

	/* under the lock */
	WorkerEntry entries[WORKERS_MAX];

	/* no lock: a caller found no slot, so idle workers should make room */
	pg_atomic_uint32 make_room;
} Workers;

typedef enum WorkerState
{
	WORKER_WOKEN, /* it is there and knows of the work */
	WORKER_STARTING,
	WORKER_NO_SLOT
} WorkerState;

/* worker.c */
extern void workers_init(Workers *workers, int tranche);
extern WorkerState worker_wake(Oid database);
extern void worker_give_up(Oid database);
extern int worker_pid(Oid database);
extern void worker_put_connection(Oid database, Datum *values, bool *nulls);
extern void worker_begin(Oid database, const char *name);
extern bool worker_is_here(void);
extern const char *worker_name(void);
extern void worker_note_connection(const char *host, const char *failure);
extern bool worker_pass_begin(void);
extern bool worker_interrupted(void);
extern void worker_wait_on(pgsocket socket,
						   int events,
						   long timeout_ms,
						   uint32 wait_event);
extern bool worker_commit(bool await_standby);
extern bool worker_pause(void);
extern bool worker_wait(long timeout_ms, bool idle);

#endif

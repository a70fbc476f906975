/*
 * worker.h
 *		Background workers that are started when there is work for them.
 */
#ifndef IDGEN_WORKER_H
#define IDGEN_WORKER_H

#include "storage/lwlock.h"
#include "utils/timestamp.h"

#define WORKERS_MAX 256

/* In the place of a database: the lease worker, of which a server has one. */
#define WORKER_OF_LEASE ((Oid) PG_UINT32_MAX)

typedef struct WorkerEntry
{
	Oid database;      /* InvalidOid: free */
	int pid;           /* 0 while it is being started */
	TimestampTz asked; /* when it was asked for */
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
extern void worker_begin(Oid database, const char *name);
extern bool worker_pass_begin(void);
extern bool worker_interrupted(void);
extern bool worker_commit(bool await_standby);
extern bool worker_pause(void);
extern bool worker_wait(long timeout_ms, bool idle);

#endif

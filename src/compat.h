/*
 * compat.h
 *		What differs between the supported majors, and nothing else.
 *
 * No other file looks at PG_VERSION_NUM. Each block names the version in which
 * something changed and why idgen cares.
 */
#ifndef IDGEN_COMPAT_H
#define IDGEN_COMPAT_H

#include "fmgr.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/sinvaladt.h"
#include "utils/relcache.h"
#include "utils/wait_event.h"

/*
 * 16: PGDLLEXPORT marks a symbol as visible. Before, it is empty on Unix, and
 * the library, built with -fvisibility=hidden, needs a mark of its own.
 */
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

/* 16: values of variable length have a header of their own. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* 16: PG_FUNCTION_INFO_V1 exports the function too; before, only its record. */
#define SQL_FUNCTION(name)                                                    \
	extern PGDLLEXPORT Datum name(PG_FUNCTION_ARGS);                          \
	PG_FUNCTION_INFO_V1(name)

/*
 * 17: the DSM registry gives a late-loaded library its shared memory. Before,
 * shared memory must be asked for while the postmaster starts.
 */
#if PG_VERSION_NUM >= 170000
#define IDGEN_DSM_REGISTRY

#include "storage/dsm_registry.h"

/* 19: the callback is given an argument, which idgen has no use for. */
#if PG_VERSION_NUM >= 190000
#define REGISTRY_INIT_ARGS void *memory, void *arg
#define REGISTRY_CALL_TAIL , NULL
#else
#define REGISTRY_INIT_ARGS void *memory
#define REGISTRY_CALL_TAIL
#endif

static inline void *
registry_attach(const char *name,
				size_t size,
				void (*init)(REGISTRY_INIT_ARGS))
{
	bool found;

	return GetNamedDSMSegment(name, size, init, &found REGISTRY_CALL_TAIL);
}
#endif

/* 19: a tranche is named where it is made, for all processes. */
#if PG_VERSION_NUM >= 190000
static inline int
lock_tranche_new(const char *name)
{
	return LWLockNewTrancheId(name);
}

static inline void
lock_tranche_register(int tranche, const char *name)
{
}
#else
static inline int
lock_tranche_new(const char *name)
{
	return LWLockNewTrancheId();
}

static inline void
lock_tranche_register(int tranche, const char *name)
{
	LWLockRegisterTranche(tranche, name);
}
#endif

/* 17: extensions can name what they wait for. */
static inline uint32
wait_event_new(const char *name)
{
#if PG_VERSION_NUM >= 170000
	return WaitEventExtensionNew(name);
#else
	return PG_WAIT_EXTENSION;
#endif
}

/* 16: values of settings are in memory of their own. Before, from malloc(). */
#if PG_VERSION_NUM >= 160000
#include "utils/guc.h"

static inline char *
setting_strdup(const char *value)
{
	return guc_strdup(LOG, value);
}

static inline void
setting_free(char *value)
{
	guc_free(value);
}
#else
static inline char *
setting_strdup(const char *value)
{
	return strdup(value);
}

static inline void
setting_free(char *value)
{
	free(value);
}
#endif

/* 17: a timeout for the whole transaction, which a worker must not have. */
#if PG_VERSION_NUM >= 170000
#define HAVE_TRANSACTION_TIMEOUT 1
#else
#define HAVE_TRANSACTION_TIMEOUT 0
#endif

/* 19: DROP DATABASE and the like may end such a worker. */
#if PG_VERSION_NUM >= 190000
#define WORKER_INTERRUPTIBLE BGWORKER_INTERRUPTIBLE
#else
#define WORKER_INTERRUPTIBLE 0
#endif

/* 18: a deferrable primary key is told apart. */
static inline Oid
primary_key_index(Relation relation)
{
#if PG_VERSION_NUM >= 180000
	return RelationGetPrimaryKeyIndex(relation, false);
#else
	return RelationGetPrimaryKeyIndex(relation);
#endif
}

/* 17: processes go by number. The pid behind a lock; 0 if it is gone. */
static inline int
virtual_transaction_pid(VirtualTransactionId id)
{
#if PG_VERSION_NUM >= 170000
	PGPROC *proc = ProcNumberGetProc(id.procNumber);
#else
	PGPROC *proc = BackendIdGetProc(id.backendId);
#endif

	return proc == NULL ? 0 : proc->pid;
}

#endif

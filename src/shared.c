/*
 * shared.c
 *		How a process comes by the shared struct.
 *
 * Two routes lead to it. From PostgreSQL 17 on, the first call in each process
 * attaches through the DSM registry, whether the library was preloaded or not.
 * Before 17, memory is to be had only while the postmaster starts, so the
 * library must be in shared_preload_libraries; what needs no shared state works
 * without. Both routes run the same shared_init(), which cannot fail.
 *
 * The name bears the version of the struct's layout: after an upgrade of the
 * package without a restart, old and new sessions each have a struct of their
 * own instead of one that they read differently.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "compat.h"
#include "extension.h"
#include "shared.h"

#define SHARED_NAME "idgen 1"

Shared *shared = NULL;

static void
shared_init(Shared *fresh)
{
	memset(fresh, 0, sizeof(Shared));
	pg_atomic_init_u64(&fresh->uuidv7_last.word, 0);
	pg_atomic_init_u64(&fresh->uuidv7_overflows, 0);
	pg_atomic_init_u64(&fresh->uuidv7_clock_steps, 0);
	pg_atomic_init_u32(&fresh->uuidv7_behind, 0);
	pg_atomic_init_u64(&fresh->ulid_last.word, 0);
	for (int i = 0; i < ULID_KEY_WORDS; i++)
		pg_atomic_init_u64(&fresh->ulid_key[i], 0);
	pg_atomic_init_u64(&fresh->clock_shift_us, 0);
	fresh->tranche = lock_tranche_new("IdgenLock");
	workers_init(&fresh->workers, fresh->tranche);
	segment_cache_init(&fresh->segments, fresh->tranche);
	pg_atomic_init_u64(&fresh->snowflake_last.word, 0);
	pg_atomic_init_u64(&fresh->lease_word.word, 0);
	lease_init(&fresh->lease, fresh->tranche);
}

#ifdef IDGEN_DSM_REGISTRY

void
shared_preload(void)
{
	/* Nothing: the registry itself does not exist yet in the postmaster. */
}

static void
registry_init(REGISTRY_INIT_ARGS)
{
	shared_init(memory);
}

static Shared *
shared_locate(void)
{
	return registry_attach(SHARED_NAME, sizeof(Shared), registry_init);
}

#else

/* Set in the postmaster and inherited by every process that it forks. */
static Shared *preloaded = NULL;

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

static void
request_memory(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(Shared));
}

/* Runs again after a crash restart, when the old memory is gone. */
static void
start_memory(void)
{
	bool found;

	if (previous_startup_hook)
		previous_startup_hook();
	preloaded = NULL;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	preloaded = ShmemInitStruct(SHARED_NAME, sizeof(Shared), &found);
	if (!found)
		shared_init(preloaded);
	LWLockRelease(AddinShmemInitLock);
}

void
shared_preload(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = start_memory;
}

static Shared *
shared_locate(void)
{
	return preloaded;
}

#endif

/*
 * Raises 55000 when the extension's SQL is newer than this library, which is
 * then still the one of an older package. The other way round is normal
 * between an upgrade of the package and ALTER EXTENSION.
 */
static void
check_installed_version(void)
{
	Extension extension;

	if (!extension_find(&extension))
		return;
	if (extension_version_is_newer(extension.version, IDGEN_VERSION))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"idgen\" has version %s, but the loaded "
						"library has version %s",
						extension.version,
						IDGEN_VERSION),
				 errhint("Reconnect; if idgen is in "
						 "shared_preload_libraries, restart the server.")));
	pfree(extension.version);
}

/*
 * Attaches this process if that is possible, else returns false. Once a
 * session, so this is also where the versions are compared.
 */
bool
shared_attach(void)
{
	static bool version_checked = false;
	Shared *located;

	if (shared != NULL)
		return true;
	if (!version_checked)
		check_installed_version();
	version_checked = true;
	located = shared_locate();
	if (located != NULL)
		lock_tranche_register(located->tranche, "IdgenLock");
	shared = located;
	return located != NULL;
}

Shared *
shared_attach_or_error(void)
{
	if (!shared_attach())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("idgen has no shared memory in this server"),
				 errdetail("Before PostgreSQL 17 it is set aside only while "
						   "the server starts."),
				 errhint("Add idgen to shared_preload_libraries and restart "
						 "the server.")));
	return shared;
}

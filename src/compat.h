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

/*
 * 16: PGDLLEXPORT marks a symbol as visible. Before, it is empty on Unix, and
 * the library, built with -fvisibility=hidden, needs a mark of its own.
 */
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
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

#endif

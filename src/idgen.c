/*
 * idgen.c
 *		The library's entry point.
 */
#include "postgres.h"

#include "fmgr.h"

#include "compat.h"
#include "guc.h"
#include "shared.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	guc_define();
	shared_preload();
}

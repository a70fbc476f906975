/*
 * idgen.c
 *		The library's entry point.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "shared.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	/* There is no setting yet: a name that looks like one is a mistake. */
	MarkGUCPrefixReserved("idgen");
	shared_preload();
}

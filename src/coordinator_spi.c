/*
 * coordinator_spi.c
 *		The workers' statements, run in this server.
 *
 * They run as the tables' owner under SECURITY_RESTRICTED_OPERATION: a trigger
 * that the owner put there gets no more rights than he has. Nothing here waits
 * for a lock: tables are locked only if they are free, and rows that somebody
 * else holds are skipped.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "coordinator_spi.h"
#include "extension.h"

static char *first_table = NULL; /* qualified and quoted */
static char *second_table = NULL;
static Oid first_oid;
static Oid second_oid;
static Oid caller_role;
static int caller_context;
static bool writing = false; /* a statement of ours is running */

static char *
qualified_name(Oid relation)
{
	return quote_qualified_identifier(
		get_namespace_name(get_rel_namespace(relation)),
		get_rel_name(relation));
}

static Oid
owner_of(Oid relation)
{
	Relation opened = RelationIdGetRelation(relation);
	Oid owner = opened->rd_rel->relowner;

	RelationClose(opened);
	return owner;
}

/* A table of the extension in this database; invalid if it is not there. */
Oid
coordinator_find_table(const char *name)
{
	Extension extension;

	if (!extension_find(&extension))
		return InvalidOid;
	return get_relname_relid(name, extension.schema);
}

/*
 * Locks a table of the extension if nobody else does. NULL: somebody does.
 * Raises 42P01 when it is not the extension's, or not there, any more.
 */
static char *
lock_table(Oid relation, const char *name)
{
	Relation opened = NULL;
	ListCell *cell;
	bool free = true;

	if (OidIsValid(relation))
	{
		if (!ConditionalLockRelationOid(relation, RowExclusiveLock))
			return NULL;
		opened = RelationIdGetRelation(relation);
	}
	if (opened == NULL || !extension_owns_relation(relation))
		extension_table_is_gone(name);
	/* The statements would wait for them. */
	foreach (cell, RelationGetIndexList(opened))
		free &= ConditionalLockRelationOid(lfirst_oid(cell), RowExclusiveLock);
	RelationClose(opened);
	return free ? qualified_name(relation) : NULL;
}

/*
 * Begins work on a table and a second one in the same schema. Then follow
 * coordinator_close(), the commit, and coordinator_restore_role(). Returns
 * NULL, or the name of the table that is locked. Raises 42P01 as above.
 */
const char *
coordinator_open(Oid relation, const char *first, const char *second)
{
	first_oid = relation;
	first_table = lock_table(first_oid, first);
	if (first_table == NULL)
		return first;
	second_oid = get_relname_relid(second, get_rel_namespace(relation));
	second_table = lock_table(second_oid, second);
	if (second_table == NULL)
		return second;
	GetUserIdAndSecContext(&caller_role, &caller_context);
	SetUserIdAndSecContext(owner_of(relation),
						   caller_context | SECURITY_RESTRICTED_OPERATION |
							   SECURITY_NOFORCE_RLS);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	return NULL;
}

/* Keeps all other writers away, unless there are any. */
bool
coordinator_lock_alone(void)
{
	return ConditionalLockRelationOid(first_oid, ExclusiveLock) &&
		   ConditionalLockRelationOid(second_oid, ExclusiveLock);
}

void
coordinator_close(void)
{
	SPI_finish();
}

/* After the commit: until then all runs as the owner. */
void
coordinator_restore_role(void)
{
	SetUserIdAndSecContext(caller_role, caller_context);
}

/* Whether it is a statement of ours itself that fires a trigger. */
bool
coordinator_writes(void)
{
	return writing && DatumGetInt32(OidFunctionCall0(F_PG_TRIGGER_DEPTH)) == 1;
}

/* Runs a statement; `format` has the names of the two tables as %1$s and %2$s. */
void
coordinator_run(Statement *statement,
				const char *format,
				int expected,
				int nargs,
				Oid *types,
				Datum *values)
{
	char *tables = psprintf("%s %s", first_table, second_table);
	volatile int code = 0;

	if (statement->plan != NULL && strcmp(statement->tables, tables) != 0)
	{
		SPI_freeplan(statement->plan);
		statement->plan = NULL;
	}
	if (statement->plan == NULL)
	{
		char *sql = psprintf(format, first_table, second_table);
		/* Planned once: arrays as constants would be planned each time. */
		SPIPlanPtr plan =
			SPI_prepare_cursor(sql, nargs, types, CURSOR_OPT_GENERIC_PLAN);

		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "could not prepare: %s", sql);
		statement->tables = MemoryContextStrdup(TopMemoryContext, tables);
		statement->plan = plan;
	}
	writing = true;
	PG_TRY();
	{
		code = SPI_execute_plan(statement->plan, values, NULL, false, 0);
	}
	PG_FINALLY();
	{
		writing = false;
	}
	PG_END_TRY();
	if (code != expected)
		elog(ERROR, "statement returned %d instead of %d", code, expected);
}

/* Column n of row i of what was selected, which must not be null. */
Datum
coordinator_column(uint64 i, int n)
{
	bool is_null;
	Datum value = SPI_getbinval(SPI_tuptable->vals[i],
								SPI_tuptable->tupdesc,
								n,
								&is_null);

	if (is_null)
		elog(ERROR, "column %d is null", n);
	return value;
}

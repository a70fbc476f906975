/*
 * snowflake_guard.c
 *		The trigger on node_lease and snowflake_layout: ids are unique only as
 *		long as nobody but the lease worker takes back what was granted.
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "coordinator_spi.h"
#include "guc.h"

SQL_FUNCTION(snowflake_guard);

/* The row has been used for a lease; or it comes from a dump of such a one. */
static bool
layout_is_used(TriggerData *trigger)
{
	TupleDesc desc = RelationGetDescr(trigger->tg_relation);
	bool is_null;

	heap_getattr(trigger->tg_trigtuple,
				 SPI_fnumber(desc, "system_id"),
				 desc,
				 &is_null);
	return !is_null;
}

static void
refuse_layout(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s", message),
			 errhint("%s", hint)));
}

static void
check_layout_change(TriggerData *trigger)
{
	const char *here = get_database_name(MyDatabaseId);

	if (TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
	{
		if (!layout_is_used(trigger) &&
			strcmp(here, idgen_lease_database) != 0)
			refuse_layout("snowflake_layout counts only in the database that "
						  "idgen.lease_database names",
						  "Insert the row there, or name the database whose "
						  "tables servers lease nodes from.");
		return;
	}
	if (TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event) ||
		layout_is_used(trigger))
		refuse_layout("the Snowflake layout cannot be changed any more",
					  "A node has been leased by it: ids of two layouts could "
					  "be the same.");
}

/*
 * BEFORE each change of a row, and TRUNCATE. What a subscription brings of
 * another server's leases is left out in silence, so that replication goes on.
 */
Datum
snowflake_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	HeapTuple row;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function is a trigger of node_lease")));
	row = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple
													 : trigger->tg_trigtuple;
	if (coordinator_writes())
		PG_RETURN_POINTER(row);
	if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		PG_RETURN_POINTER(NULL);
	if (strcmp(RelationGetRelationName(trigger->tg_relation),
			   "snowflake_layout") == 0)
		check_layout_change(trigger);
	else if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("only the lease worker may change node_lease"),
				 errdetail("What was granted to a server must not be granted "
						   "again."),
				 errhint("A lease ends by itself, at leased_until.")));
	PG_RETURN_POINTER(row);
}

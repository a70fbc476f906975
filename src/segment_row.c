/*
 * segment_row.c
 *		Rows of id_segment: the triggers on them, and what a session finds out
 *		itself about a row that the worker could not take.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/subtrans.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/procarray.h"
#include "catalog/pg_collation.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/uuid.h"

#include "compat.h"
#include "segment.h"

SQL_FUNCTION(id_segment_guard);

static TriggerData *
trigger_data(FunctionCallInfo fcinfo)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function is a trigger of id_segment")));
	return (TriggerData *) fcinfo->context;
}

static Datum
field(HeapTuple tuple, TupleDesc desc, const char *name)
{
	bool is_null;
	Datum value = heap_getattr(tuple, SPI_fnumber(desc, name), desc, &is_null);

	if (is_null)
		elog(ERROR, "column %s is null", name);
	return value;
}

static HeapTuple
replace_field(HeapTuple tuple, TupleDesc desc, const char *name, Datum value)
{
	int number = SPI_fnumber(desc, name);
	bool is_null = false;

	return heap_modify_tuple_by_cols(tuple,
									 desc,
									 1,
									 &number,
									 &value,
									 &is_null);
}

/* For an update: what may be stored of it. */
static HeapTuple
guard_update(HeapTuple old, HeapTuple new, TupleDesc desc)
{
	int64 old_max = DatumGetInt64(field(old, desc, "max_id"));
	int64 new_max = DatumGetInt64(field(new, desc, "max_id"));
	char *old_tag = TextDatumGetCString(field(old, desc, "biz_tag"));
	char *new_tag = TextDatumGetCString(field(new, desc, "biz_tag"));

	if (strcmp(old_tag, new_tag) != 0)
		new = replace_field(new,
							desc,
							"incarnation",
							DirectFunctionCall1(gen_random_uuid, (Datum) 0));
	if (new_max >= old_max)
		return new;
	if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA)
		return replace_field(new, desc, "max_id", Int64GetDatum(old_max));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("max_id of tag \"%s\" cannot be lowered from " INT64_FORMAT
					" to " INT64_FORMAT,
					old_tag,
					old_max,
					new_max),
			 errdetail("Numbers up to it may have been issued."),
			 errhint("To begin anew, delete the row and insert it again.")));
}

/*
 * BEFORE UPDATE OR DELETE of each row, AFTER TRUNCATE: max_id never goes down,
 * and what is cached of the table is in doubt from the commit on. Where a
 * subscription brings a lower max_id the greater one stays, in silence, so
 * that replication goes on. A row with another tag is another incarnation.
 */
Datum
id_segment_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = trigger_data(fcinfo);

	if (!segment_worker_at_work)
	{
		segment_listen(RelationGetRelid(trigger->tg_relation));
		CacheInvalidateRelcache(trigger->tg_relation);
	}
	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		PG_RETURN_POINTER(
			guard_update(trigger->tg_trigtuple,
						 trigger->tg_newtuple,
						 RelationGetDescr(trigger->tg_relation)));
	PG_RETURN_POINTER(trigger->tg_trigtuple);
}

/* The newest version of a tag's row, committed or not. */
typedef struct RowScan
{
	Relation relation;
	SysScanDesc scan;
	SnapshotData dirty;
	HeapTuple tuple; /* NULL: there is none */
} RowScan;

/* False, and nothing to close, when the table is locked by somebody else. */
static bool
row_open(RowScan *row, Oid relation, const char *tag)
{
	ScanKeyData key;

	if (!ConditionalLockRelationOid(relation, AccessShareLock))
		return false;
	row->relation = table_open(relation, NoLock);
	InitDirtySnapshot(row->dirty);
	ScanKeyInit(&key,
				SPI_fnumber(RelationGetDescr(row->relation), "biz_tag"),
				BTEqualStrategyNumber,
				F_TEXTEQ,
				CStringGetTextDatum(tag));
	key.sk_collation = C_COLLATION_OID;
	row->scan = systable_beginscan(row->relation,
								   primary_key_index(row->relation),
								   true,
								   &row->dirty,
								   1,
								   &key);
	row->tuple = systable_getnext(row->scan);
	return true;
}

static void
row_close(RowScan *row)
{
	systable_endscan(row->scan);
	table_close(row->relation, AccessShareLock);
}

/* Raises 55000 for a tag whose row is there, but not committed. */
void
segment_check_uncommitted(Oid relation, const char *tag)
{
	RowScan row;
	TransactionId maker = InvalidTransactionId;

	if (!row_open(&row, relation, tag))
		return;
	if (row.tuple != NULL)
	{
		TransactionId xmin = HeapTupleHeaderGetXmin(row.tuple->t_data);

		if (TransactionIdIsCurrentTransactionId(xmin) ||
			TransactionIdIsValid(row.dirty.xmin))
			maker = xmin;
	}
	row_close(&row);
	if (TransactionIdIsValid(maker))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tag \"%s\" is not committed yet", tag),
				 errdetail("Numbers are reserved in a transaction of their "
						   "own, which does not see it."),
				 errhint("Commit the row of id_segment first.")));
}

static void
add_pid(StringInfo pids, int pid, bool *own)
{
	if (pid == MyProcPid)
		*own = true;
	if (pid != 0)
		appendStringInfo(pids, "%s%d", pids->len > 0 ? ", " : "", pid);
}

static void
add_xid(StringInfo pids, TransactionId xid, bool *own)
{
	if (TransactionIdIsCurrentTransactionId(xid))
		add_pid(pids, MyProcPid, own);
	else if (TransactionIdIsInProgress(xid))
		add_pid(pids,
				BackendXidGetPid(SubTransGetTopmostTransaction(xid)),
				own);
}

static void
add_row_lockers(StringInfo pids, HeapTupleHeader row, bool *own)
{
	TransactionId xmax = HeapTupleHeaderGetRawXmax(row);
	MultiXactMember *members;
	int count;

	if (!(row->t_infomask & HEAP_XMAX_IS_MULTI))
	{
		if (TransactionIdIsNormal(xmax))
			add_xid(pids, xmax, own);
		return;
	}
	count = GetMultiXactIdMembers(xmax,
								  &members,
								  false,
								  HEAP_XMAX_IS_LOCKED_ONLY(row->t_infomask));
	for (int i = 0; i < count; i++)
		add_xid(pids, members[i].xid, own);
}

/* The processes that hold the table or the tag's row, this one among them? */
char *
segment_lockers(Oid relation, const char *tag, bool *own)
{
	StringInfoData pids;
	LOCKTAG table;
	RowScan row;

	*own = false;
	initStringInfo(&pids);
	SET_LOCKTAG_RELATION(table, MyDatabaseId, relation);
	for (VirtualTransactionId *holder =
			 GetLockConflicts(&table, RowExclusiveLock, NULL);
		 VirtualTransactionIdIsValid(*holder);
		 holder++)
		add_pid(&pids, virtual_transaction_pid(*holder), own);
	if (row_open(&row, relation, tag))
	{
		/* Conflicts of one's own are not among those. */
		if (CheckRelationLockedByMe(row.relation, ShareLock, true))
			add_pid(&pids, MyProcPid, own);
		if (row.tuple != NULL)
			add_row_lockers(&pids, row.tuple->t_data, own);
		row_close(&row);
	}
	return pids.len > 0 ? pids.data : pstrdup("unknown");
}

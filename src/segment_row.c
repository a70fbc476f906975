/*
 * segment_row.c
 *		Rows of id_segment: the triggers on them, and what a session finds out
 *		itself about a row that the worker could not take.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/relation.h"
#include "access/relscan.h"
#include "access/subtrans.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/uuid.h"

#include "compat.h"
#include "coordinator_spi.h"
#include "extension.h"
#include "segment.h"
#include "shared.h"

SQL_FUNCTION(id_segment_guard);

static bool
has_column(TupleDesc desc, const char *name, Oid type)
{
	int number = SPI_fnumber(desc, name);

	return number > 0 && TupleDescAttr(desc, number - 1)->atttypid == type;
}

/* The owner can alter what is his; it is then not to be read any more. */
static bool
is_as_made(Relation relation)
{
	TupleDesc desc = RelationGetDescr(relation);

	return relation->rd_rel->relkind == RELKIND_RELATION &&
		   relation->rd_rel->relam == HEAP_TABLE_AM_OID &&
		   has_column(desc, "biz_tag", TEXTOID) &&
		   has_column(desc, "max_id", INT8OID) &&
		   has_column(desc, "step", INT4OID) &&
		   has_column(desc, "updated_at", TIMESTAMPTZOID) &&
		   has_column(desc, "incarnation", UUIDOID) &&
		   has_column(desc, "system_id", INT8OID) &&
		   has_column(desc, "timeline", INT4OID) &&
		   OidIsValid(primary_key_index(relation));
}

/*
 * A relation of the extension's, not another of that name, as the extension
 * made it. True as well while it cannot be looked at: it is locked.
 */
bool
segment_table_is_ours(Oid relation)
{
	Relation opened;
	bool ours;

	if (!extension_owns_relation(relation))
		return false;
	if (!ConditionalLockRelationOid(relation, AccessShareLock))
		return true;
	opened = relation_open(relation, NoLock);
	ours = is_as_made(opened);
	relation_close(opened, AccessShareLock);
	return ours;
}

static TriggerData *
trigger_data(FunctionCallInfo fcinfo)
{
	TriggerData *trigger;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function is a trigger of id_segment")));
	trigger = (TriggerData *) fcinfo->context;
	if (!is_as_made(trigger->tg_relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is not as id_segment was made",
						RelationGetRelationName(trigger->tg_relation))));
	return trigger;
}

static Datum
field(HeapTuple tuple, TupleDesc desc, const char *name, bool *is_null)
{
	return heap_getattr(tuple, SPI_fnumber(desc, name), desc, is_null);
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

/* What the two versions of an updated row have in a column. */
typedef struct Change
{
	Datum old;
	Datum new;
	bool is_null; /* the new one; for the column's NOT NULL to refuse */
} Change;

static Change
change_of(TriggerData *trigger, const char *name)
{
	TupleDesc desc = RelationGetDescr(trigger->tg_relation);
	Change change;
	bool old_is_null;

	change.old = field(trigger->tg_trigtuple, desc, name, &old_is_null);
	change.new = field(trigger->tg_newtuple, desc, name, &change.is_null);
	return change;
}

static bool
same_tag(Change tag)
{
	return strcmp(TextDatumGetCString(tag.old),
				  TextDatumGetCString(tag.new)) == 0;
}

/* BEFORE UPDATE: what is to be stored. */
static HeapTuple
guard_update(TriggerData *trigger)
{
	TupleDesc desc = RelationGetDescr(trigger->tg_relation);
	Change tag = change_of(trigger, "biz_tag");
	Change max_id = change_of(trigger, "max_id");
	HeapTuple row = trigger->tg_newtuple;

	if (tag.is_null || max_id.is_null)
		return row;
	if (!same_tag(tag))
		row = replace_field(row,
							desc,
							"incarnation",
							DirectFunctionCall1(gen_random_uuid, (Datum) 0));
	if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA &&
		DatumGetInt64(max_id.new) < DatumGetInt64(max_id.old))
		row = replace_field(row, desc, "max_id", max_id.old);
	return row;
}

/*
 * AFTER UPDATE: whether what is cached of the row is in doubt. Raises 22023
 * for a lowered max_id, whichever trigger did it.
 */
static bool
row_has_changed(TriggerData *trigger)
{
	Change tag = change_of(trigger, "biz_tag");
	Change max_id = change_of(trigger, "max_id");
	Change incarnation = change_of(trigger, "incarnation");
	int64 old_max = DatumGetInt64(max_id.old);
	int64 new_max = DatumGetInt64(max_id.new);

	if (new_max < old_max)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("max_id of tag \"%s\" cannot be lowered from " INT64_FORMAT
					" to " INT64_FORMAT,
					TextDatumGetCString(tag.old),
					old_max,
					new_max),
			 errdetail("Numbers up to it may have been issued."),
			 errhint("To begin anew, delete the row and insert it again.")));
	return new_max != old_max || !same_tag(tag) ||
		   memcmp(DatumGetUUIDP(incarnation.old),
				  DatumGetUUIDP(incarnation.new),
				  sizeof(pg_uuid_t)) != 0;
}

/* AFTER: the row is changed already, and locked until that is committed. */
static void
suspend_changed(TriggerData *trigger)
{
	Relation relation = trigger->tg_relation;
	bool is_null;
	Datum tag;

	/* Without shared memory no session has a number of it. */
	if (coordinator_writes() || !shared_attach())
		return;
	if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
	{
		segment_suspend_all(MyDatabaseId, RelationGetRelid(relation));
		return;
	}
	tag = field(trigger->tg_trigtuple,
				RelationGetDescr(relation),
				"biz_tag",
				&is_null);
	segment_suspend_tag(MyDatabaseId,
						RelationGetRelid(relation),
						TextDatumGetCString(tag));
}

/*
 * BEFORE UPDATE of each row: where a subscription brings a lower max_id the
 * greater one stays, in silence, so that replication goes on. A row with
 * another tag is another incarnation.
 *
 * AFTER UPDATE, DELETE, TRUNCATE: max_id never goes down; and no number of the
 * tag is handed out any more until the worker has seen the row again. It must
 * have locked it for that, which it cannot before this transaction has ended,
 * in whichever way and session.
 */
Datum
id_segment_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = trigger_data(fcinfo);

	if (TRIGGER_FIRED_BEFORE(trigger->tg_event))
		PG_RETURN_POINTER(guard_update(trigger));
	if (!TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ||
		row_has_changed(trigger))
		suspend_changed(trigger);
	PG_RETURN_POINTER(NULL);
}

/* All versions of a tag's row, of whichever transaction. */
typedef struct RowScan
{
	Relation relation;
	Oid index;
	SysScanDesc scan;
} RowScan;

/* False, and nothing to close, when the table is locked or not as it was. */
static bool
row_open(RowScan *row, Oid relation, const char *tag)
{
	ScanKeyData key;

	if (!ConditionalLockRelationOid(relation, AccessShareLock))
		return false;
	row->relation = relation_open(relation, NoLock);
	if (!is_as_made(row->relation))
	{
		relation_close(row->relation, AccessShareLock);
		return false;
	}
	row->index = primary_key_index(row->relation);
	if (!ConditionalLockRelationOid(row->index, AccessShareLock))
	{
		relation_close(row->relation, AccessShareLock);
		return false;
	}
	ScanKeyInit(&key,
				SPI_fnumber(RelationGetDescr(row->relation), "biz_tag"),
				BTEqualStrategyNumber,
				F_TEXTEQ,
				CStringGetTextDatum(tag));
	key.sk_collation = C_COLLATION_OID;
	row->scan = systable_beginscan(row->relation,
								   row->index,
								   true,
								   SnapshotAny,
								   1,
								   &key);
	return true;
}

/* The next version's header, as it was at one moment. */
static bool
row_next(RowScan *row, HeapTupleHeaderData *header)
{
	HeapTuple tuple = systable_getnext(row->scan);
	Buffer buffer;

	if (tuple == NULL)
		return false;
	buffer = ((BufferHeapTupleTableSlot *) row->scan->slot)->buffer;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	*header = *tuple->t_data;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return true;
}

static void
row_close(RowScan *row)
{
	systable_endscan(row->scan);
	UnlockRelationOid(row->index, AccessShareLock);
	relation_close(row->relation, AccessShareLock);
}

static bool
is_running(TransactionId xid)
{
	return TransactionIdIsCurrentTransactionId(xid) ||
		   TransactionIdIsInProgress(xid);
}

/* Raises 55000 for a tag whose row is there, but not committed. */
void
segment_check_uncommitted(Oid relation, const char *tag)
{
	RowScan row;
	HeapTupleHeaderData version;
	bool in_the_making = false;

	if (!row_open(&row, relation, tag))
		return;
	while (row_next(&row, &version))
		if (is_running(HeapTupleHeaderGetXmin(&version)))
			in_the_making = true;
	row_close(&row);
	if (in_the_making)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tag \"%s\" is not committed yet", tag),
				 errdetail("Numbers are reserved in a transaction of their "
						   "own, which does not see it."),
				 errhint("Commit the row of id_segment first.")));
}

static void
add_xid(List **pids, TransactionId xid)
{
	if (TransactionIdIsCurrentTransactionId(xid))
		*pids = list_append_unique_int(*pids, MyProcPid);
	else if (TransactionIdIsInProgress(xid))
		*pids = list_append_unique_int(
			*pids,
			BackendXidGetPid(SubTransGetTopmostTransaction(xid)));
}

static void
add_row_lockers(List **pids, HeapTupleHeader row)
{
	TransactionId xmax = HeapTupleHeaderGetRawXmax(row);
	MultiXactMember *members;
	int count;

	if (!(row->t_infomask & HEAP_XMAX_IS_MULTI))
	{
		if (TransactionIdIsNormal(xmax))
			add_xid(pids, xmax);
		return;
	}
	count = GetMultiXactIdMembers(xmax,
								  &members,
								  false,
								  HEAP_XMAX_IS_LOCKED_ONLY(row->t_infomask));
	for (int i = 0; i < count; i++)
		add_xid(pids, members[i].xid);
}

static void
add_lockers(List **pids, Oid relation)
{
	LOCKTAG tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation);
	for (VirtualTransactionId *holder =
			 GetLockConflicts(&tag, RowExclusiveLock, NULL);
		 VirtualTransactionIdIsValid(*holder);
		 holder++)
		*pids =
			list_append_unique_int(*pids, virtual_transaction_pid(*holder));
}

/* The processes that hold a table in a way that stops the worker. */
static void
add_table_lockers(List **pids, Oid relation)
{
	ListCell *cell;
	Relation opened;

	add_lockers(pids, relation);
	/* Conflicts of one's own are not among those. */
	if (!ConditionalLockRelationOid(relation, AccessShareLock))
		return;
	opened = relation_open(relation, NoLock);
	if (CheckRelationLockedByMe(opened, ShareLock, true))
		*pids = list_append_unique_int(*pids, MyProcPid);
	foreach (cell, RelationGetIndexList(opened))
		add_lockers(pids, lfirst_oid(cell));
	relation_close(opened, AccessShareLock);
}

/*
 * The processes that hold a table or the tag's row, this one among them? As in
 * pg_blocking_pids(), a prepared transaction counts as process 0.
 */
char *
segment_lockers(Oid relation, const char *tag, bool *own)
{
	List *pids = NIL;
	Oid log = get_relname_relid("segment_log", get_rel_namespace(relation));
	RowScan row;
	HeapTupleHeaderData version;
	StringInfoData text;
	ListCell *cell;

	add_table_lockers(&pids, relation);
	if (OidIsValid(log))
		add_table_lockers(&pids, log);
	if (row_open(&row, relation, tag))
	{
		while (row_next(&row, &version))
			add_row_lockers(&pids, &version);
		row_close(&row);
	}
	*own = list_member_int(pids, MyProcPid);
	initStringInfo(&text);
	foreach (cell, pids)
		appendStringInfo(&text,
						 "%s%d%s",
						 text.len > 0 ? ", " : "",
						 lfirst_int(cell),
						 lfirst_int(cell) == 0 ? " (prepared transaction)"
											   : "");
	return text.len > 0 ? text.data : pstrdup("unknown");
}

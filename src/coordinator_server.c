/*
 * coordinator_server.c
 *		The functions that other servers call of a coordinator.
 *
 * The role that calls them needs EXECUTE and no right on a table: they do the
 * same as this server's own workers, with the rights of the tables' owner.
 * Each is one statement and holds its locks no longer than that. Its commit is
 * flushed even where synchronous_commit is off.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"
#include "utils/uuid.h"

#include "clock.h"
#include "compat.h"
#include "coordinator_remote.h"
#include "coordinator_spi.h"
#include "guc.h"
#include "segment_cache.h"

#define DEMANDS_MAX (SEGMENT_SLOTS + SEGMENT_CLAIMS)

SQL_FUNCTION(coordinator_reserve);
SQL_FUNCTION(coordinator_prune);
SQL_FUNCTION(coordinator_lease);

/* Opens two tables beside the function, for work as their owner. */
static void
open_tables(FunctionCallInfo fcinfo, const char *first, const char *second)
{
	Oid relation =
		get_relname_relid(first, get_func_namespace(fcinfo->flinfo->fn_oid));
	const char *locked;

	ForceSyncCommit();
	locked = coordinator_open(relation, first, second);
	if (locked != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("table %s of the coordinator is locked", locked)));
}

/* Runs what triggers of the tables' owner have put off, with his rights. */
static void
close_tables(void)
{
	SPI_execute("SET CONSTRAINTS ALL IMMEDIATE", false, 0);
	coordinator_close();
	coordinator_restore_role();
}

static Datum *
elements_of(ArrayType *array, Oid type, int *count)
{
	Datum *elements;

	if (ARR_NDIM(array) > 1 || array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("arrays of demands must have one dimension and no "
						"NULL")));
	if (type == TEXTOID)
		deconstruct_array(array,
						  TEXTOID,
						  -1,
						  false,
						  TYPALIGN_INT,
						  &elements,
						  NULL,
						  count);
	else
		deconstruct_array(array,
						  INT8OID,
						  sizeof(int64),
						  FLOAT8PASSBYVAL,
						  TYPALIGN_DOUBLE,
						  &elements,
						  NULL,
						  count);
	return elements;
}

static Demand *
demands_of(FunctionCallInfo fcinfo, int *count)
{
	int kind_count;
	int amount_count;
	Datum *tags = elements_of(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, count);
	Datum *kinds = elements_of(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, &kind_count);
	Datum *amounts =
		elements_of(PG_GETARG_ARRAYTYPE_P(2), INT8OID, &amount_count);
	Demand *demands;

	if (*count < 1 || *count > DEMANDS_MAX || kind_count != *count ||
		amount_count != *count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("arrays of demands must have 1 to %d elements each, "
						"not %d, %d and %d",
						DEMANDS_MAX,
						*count,
						kind_count,
						amount_count)));
	demands = palloc0(sizeof(Demand) * *count);
	for (int i = 0; i < *count; i++)
	{
		demands[i].tag = TextDatumGetCString(tags[i]);
		demands[i].kind =
			coordinator_word(TextDatumGetCString(kinds[i]), demand_kind_names);
		demands[i].amount = DatumGetInt64(amounts[i]);
		if (demands[i].amount < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("amount must not be below 0, but is " INT64_FORMAT,
							demands[i].amount)));
	}
	return demands;
}

/* sqlstate, message, detail and hint; NULLs where there is no verdict. */
static void
put_verdict(const Verdict *verdict, Datum *values, bool *nulls)
{
	nulls[0] = nulls[1] = verdict->sqlstate == 0;
	nulls[2] = verdict->detail[0] == '\0';
	nulls[3] = verdict->hint[0] == '\0';
	values[0] = CStringGetTextDatum(unpack_sql_state(verdict->sqlstate));
	values[1] = CStringGetTextDatum(verdict->message);
	values[2] = CStringGetTextDatum(verdict->detail);
	values[3] = CStringGetTextDatum(verdict->hint);
}

static void
put_demand(Demand *demand, ReturnSetInfo *result)
{
	Datum values[11];
	bool nulls[11] = {false};

	values[0] = CStringGetTextDatum(row_state_names[demand->row]);
	values[1] = UUIDPGetDatum(&demand->incarnation);
	values[2] = Int64GetDatum(demand->max_id);
	values[3] = Int64GetDatum(demand->raised);
	values[4] = Int32GetDatum(demand->step);
	values[5] = Int64GetDatum(demand->start);
	values[6] = Int64GetDatum(demand->end);
	nulls[5] = nulls[6] = demand->start == 0;
	put_verdict(&demand->verdict, &values[7], &nulls[7]);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Answers another server's demands, a row for each. */
Datum
coordinator_reserve(PG_FUNCTION_ARGS)
{
	int count;
	Demand *demands = demands_of(fcinfo, &count);
	char *proc = text_to_cstring(PG_GETARG_TEXT_PP(3));

	PreventCommandIfReadOnly("coordinator_reserve()");
	open_tables(fcinfo, "id_segment", "segment_log");
	coordinator_serve_demands(demands, count, proc);
	close_tables();
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < count; i++)
		put_demand(&demands[i], (ReturnSetInfo *) fcinfo->resultinfo);
	PG_RETURN_NULL();
}

/* Prunes the log here, since no worker of this server may be there for it. */
Datum
coordinator_prune(PG_FUNCTION_ARGS)
{
	bool done;

	PreventCommandIfReadOnly("coordinator_prune()");
	if (idgen_segment_log_retention == 0)
		PG_RETURN_BOOL(true);
	open_tables(fcinfo, "id_segment", "segment_log");
	done = coordinator_prune_log(idgen_segment_log_retention);
	close_tables();
	PG_RETURN_BOOL(done);
}

static Datum
lease_row(FunctionCallInfo fcinfo, NodeLease *lease, Verdict *verdict)
{
	TupleDesc desc;
	Datum values[14];
	bool nulls[14] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum(lease->layout.epoch_ms);
	values[1] = Int32GetDatum(lease->layout.node_bits);
	values[2] = Int32GetDatum(lease->layout.sequence_bits);
	values[3] = Int32GetDatum(lease->ttl_ms);
	values[4] = Int32GetDatum(lease->node);
	values[5] = Int64GetDatum(lease->epoch);
	values[6] = Int64GetDatum(lease->from + UNIX_TO_PG_EPOCH_US);
	values[7] = Int64GetDatum(lease->until + UNIX_TO_PG_EPOCH_US);
	values[8] = Int64GetDatum(lease->free_in_ms);
	values[9] = Int32GetDatum(lease->lost);
	put_verdict(verdict, &values[10], &nulls[10]);
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/* Raises 22008 for a time that a row could not show. */
static TimestampTz
time_of(int64 unix_us)
{
	TimestampTz at = clock_timestamptz(unix_us);

	if (at > unix_us || !IS_VALID_TIMESTAMP(at))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("time " INT64_FORMAT " is out of range", unix_us)));
	return at;
}

/* A step of another server's lease. */
Datum
coordinator_lease(PG_FUNCTION_ARGS)
{
	LeaseStep step = coordinator_word(text_to_cstring(PG_GETARG_TEXT_PP(0)),
									  lease_step_names);
	NodeLease lease = {0};
	Verdict verdict = {0};

	lease.holder = *PG_GETARG_UUID_P(1);
	lease.node = PG_GETARG_INT32(3);
	lease.epoch = PG_GETARG_INT64(4);
	lease.from = time_of(PG_GETARG_INT64(5));
	lease.until = time_of(PG_GETARG_INT64(6));
	PreventCommandIfReadOnly("coordinator_lease()");
	open_tables(fcinfo, "node_lease", "snowflake_layout");
	coordinator_serve_step(step,
						   &lease,
						   text_to_cstring(PG_GETARG_TEXT_PP(2)),
						   lease.node,
						   lease.until,
						   &verdict);
	close_tables();
	PG_RETURN_DATUM(lease_row(fcinfo, &lease, &verdict));
}

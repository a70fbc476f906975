/*
 * coordinator_remote.c
 *		What is asked of a coordinator, asked of another server: demands and
 *		lease steps as arguments of the functions in coordinator_server.c, and
 *		their rows as answers.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/uuid.h"

#include "clock.h"
#include "coordinator_libpq.h"
#include "coordinator_remote.h"
#include "guc.h"
#include "worker.h"

/* By their enums; NULL at the end. */
const char *const demand_kind_names[] = {
	"look", "block", "alloc", "set", NULL};
const char *const row_state_names[] = {
	"unknown", "missing", "locked", "ours", NULL};
const char *const lease_step_names[] = {"take", "renew", "give back", NULL};

/* The place of a word in such a list. Raises 22023 for one that is not there. */
int
coordinator_word(const char *word, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("servers of a fleet do not say \"%s\"", word),
			 errdetail("They may have different versions of idgen.")));
	return 0;
}

void
remote_begin(const char *source)
{
	libpq_begin(source);
}

static const char *
field(PGresult *result, int row, const char *column)
{
	int number = PQfnumber(result, column);

	if (number < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the coordinator answers without \"%s\"", column),
				 errhint("Its version of idgen is not one for this server.")));
	return PQgetisnull(result, row, number) ? NULL
											: PQgetvalue(result, row, number);
}

static int64
int64_field(PGresult *result, int row, const char *column)
{
	const char *text = field(result, row, column);

	return text == NULL
			   ? 0
			   : DatumGetInt64(
					 DirectFunctionCall1(int8in, CStringGetDatum(text)));
}

static void
uuid_field(PGresult *result, int row, const char *column, pg_uuid_t *uuid)
{
	const char *text = field(result, row, column);

	memset(uuid, 0, sizeof(*uuid));
	if (text != NULL)
		*uuid = *DatumGetUUIDP(
			DirectFunctionCall1(uuid_in, CStringGetDatum(text)));
}

static const char *
uuid_text(const pg_uuid_t *uuid)
{
	return DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(uuid)));
}

static void
verdict_field(PGresult *result, int row, Verdict *verdict)
{
	const char *state = field(result, row, "sqlstate");
	const char *message = field(result, row, "message");
	const char *detail = field(result, row, "detail");

	memset(verdict, 0, sizeof(*verdict));
	if (state == NULL || strlen(state) != 5)
		return;
	verdict_set(
		verdict,
		MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]),
		message ? message : "",
		detail ? detail : "This is an error of the coordinator.",
		field(result, row, "hint"));
}

static void
add_element(StringInfo array, const char *text)
{
	appendStringInfoString(array, array->len == 0 ? "{\"" : ",\"");
	for (; *text; text++)
	{
		if (*text == '"' || *text == '\\')
			appendStringInfoChar(array, '\\');
		appendStringInfoChar(array, *text);
	}
	appendStringInfoChar(array, '"');
}

static void
read_demand(PGresult *result, int row, Demand *demand)
{
	const char *state = field(result, row, "row_state");

	demand->row = coordinator_word(state ? state : "", row_state_names);
	uuid_field(result, row, "incarnation", &demand->incarnation);
	demand->max_id = int64_field(result, row, "max_id");
	demand->raised = int64_field(result, row, "raised_to");
	demand->step = (int32) int64_field(result, row, "step");
	demand->start = int64_field(result, row, "start_id");
	demand->end = int64_field(result, row, "end_id");
	verdict_field(result, row, &demand->verdict);
	if (demand->start < 0 || demand->end - demand->start < -1 ||
		(demand->start > 0 && demand->end < demand->start))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the coordinator answers with a block from " INT64_FORMAT
					" to " INT64_FORMAT,
					demand->start,
					demand->end)));
}

bool
remote_reserve_blocks(Demand *demands, int count, const char *proc)
{
	RemoteCall call = {"coordinator_reserve($1, $2, $3, $4)", 4, {NULL}};
	StringInfoData arrays[3];
	PGresult *result;
	bool sure;

	for (int i = 0; i < 3; i++)
		initStringInfo(&arrays[i]);
	for (int i = 0; i < count; i++)
	{
		add_element(&arrays[0], demands[i].tag);
		add_element(&arrays[1], demand_kind_names[demands[i].kind]);
		add_element(&arrays[2], psprintf(INT64_FORMAT, demands[i].amount));
	}
	for (int i = 0; i < 3; i++)
	{
		appendStringInfoChar(&arrays[i], '}');
		call.values[i] = arrays[i].data;
	}
	call.values[3] = proc;
	result = libpq_call(&call, false, &sure);
	PG_TRY();
	{
		if (PQntuples(result) != count)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("the coordinator answers %d of %d demands",
							PQntuples(result),
							count)));
		for (int i = 0; i < count; i++)
			read_demand(result, i, &demands[i]);
	}
	PG_FINALLY();
	{
		PQclear(result);
	}
	PG_END_TRY();
	return sure;
}

bool
remote_prune(void)
{
	RemoteCall call = {"coordinator_prune()", 0, {NULL}};
	bool sure;
	PGresult *result = libpq_call(&call, false, &sure);
	bool done = PQntuples(result) == 1 && PQgetvalue(result, 0, 0)[0] == 't';

	PQclear(result);
	return done;
}

static const char *
unix_us(TimestampTz at)
{
	return psprintf(INT64_FORMAT, at + UNIX_TO_PG_EPOCH_US);
}

static void
read_lease(PGresult *result, NodeLease *lease, Verdict *verdict)
{
	if (PQntuples(result) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the coordinator answers with %d leases",
						PQntuples(result))));
	lease->layout.epoch_ms = int64_field(result, 0, "epoch_ms");
	lease->layout.node_bits = (int) int64_field(result, 0, "node_bits");
	lease->layout.sequence_bits =
		(int) int64_field(result, 0, "sequence_bits");
	lease->ttl_ms = (int) int64_field(result, 0, "ttl_ms");
	lease->node = (int) int64_field(result, 0, "node");
	lease->epoch = int64_field(result, 0, "epoch");
	lease->from = clock_timestamptz(int64_field(result, 0, "from_us"));
	lease->until = clock_timestamptz(int64_field(result, 0, "until_us"));
	lease->free_in_ms = int64_field(result, 0, "free_in_ms");
	lease->lost = int64_field(result, 0, "lost") != 0;
	verdict_field(result, 0, verdict);
}

bool
remote_lease_step(LeaseStep step,
				  NodeLease *lease,
				  TimestampTz end,
				  Verdict *verdict,
				  bool await)
{
	RemoteCall call = {
		"coordinator_lease($1, $2, $3, $4, $5, $6, $7)",
		7,
		{lease_step_names[step],
		 uuid_text(&lease->holder),
		 worker_name(),
		 psprintf("%d", step == STEP_TAKE ? idgen_node_id : lease->node),
		 psprintf(INT64_FORMAT, lease->epoch),
		 unix_us(lease->from),
		 unix_us(step == STEP_GIVE_BACK ? end : lease->until)}};
	PGresult *result;
	bool sure;

	result = libpq_call(&call, !await, &sure);
	PG_TRY();
	{
		read_lease(result, lease, verdict);
	}
	PG_FINALLY();
	{
		PQclear(result);
	}
	PG_END_TRY();
	if (!sure && verdict->sqlstate == 0)
		verdict_set(verdict,
					ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					"the lease was interrupted while it was committed",
					NULL,
					"Try again.");
	return verdict->sqlstate == 0;
}

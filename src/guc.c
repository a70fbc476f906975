/*
 * guc.c
 *		The settings of idgen, each with the reason to change it.
 *
 * No session decides from a setting where ids come from: an ordinary role can
 * load the library with settings of its own. What governs the issue of numbers
 * is PGC_SIGHUP and read by workers alone. GUC_ALLOW_IN_PARALLEL lets a library
 * that is first loaded in a parallel worker define its settings there.
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "compat.h"
#include "coordinator_libpq.h"
#include "guc.h"
#include "segment_cache.h"
#include "shared.h"
#include "snowflake_layout.h"

#define TIMEOUT_MIN_MS 1
#define IDLE_MIN_MS 100

int idgen_timeout = 5000;
int idgen_worker_idle_timeout = 5000;
double idgen_segment_prefetch = 0.5;
bool idgen_segment_log = true;
int idgen_segment_log_retention = 30 * 24 * 60;
int idgen_clock_max_wait = 50;
int idgen_node_id = -1;
int idgen_promotion_gap = 100;
char *idgen_lease_database = NULL;
const char *idgen_coordinator = NULL;
static char *coordinator_setting = NULL;

/*
 * What will not do is never taken for "no coordinator": where it cannot be
 * refused, in a configuration file, the setting stays, and `extra` has workers
 * refuse to work with it. It stays since the postmaster would log a new value
 * as it is written in the file, with its password.
 */
static bool
check_coordinator(char **value, void **extra, GucSource from)
{
	const char *why;

	if ((*value)[0] == '\0' || !libpq_source_is_refused(*value, &why))
		return true;
	if (IsTransactionState())
	{
		GUC_check_errcode(ERRCODE_INVALID_PARAMETER_VALUE);
		GUC_check_errmsg("idgen.coordinator %s", why);
		GUC_check_errhint("Name a service or a password file in it.");
		return false;
	}
	ereport(WARNING, (errmsg("idgen.coordinator %s", why)));
	setting_free(*value);
	*value = setting_strdup(coordinator_setting ? coordinator_setting : "");
	*extra = setting_strdup(COORDINATOR_REFUSED);
	return *value != NULL && *extra != NULL;
}

/*
 * What is left of blocks from elsewhere is not issued any more. A parallel
 * worker that takes over settings has freed this one, but has no `shared` yet.
 */
static void
assign_coordinator(const char *value, void *extra)
{
	const char *next = extra != NULL ? COORDINATOR_REFUSED : value;

	if (shared != NULL && MyProc != NULL && idgen_coordinator != NULL &&
		strcmp(idgen_coordinator, next) != 0)
		segment_suspend_everything();
	idgen_coordinator = next;
}

static const char *
show_coordinator(void)
{
	return idgen_coordinator;
}

void
guc_define(void)
{
	/* Raise it where a slow disk or standby is better than an error. */
	DefineCustomIntVariable("idgen.timeout",
							"Sets how long a call waits for numbers.",
							NULL,
							&idgen_timeout,
							5000,
							TIMEOUT_MIN_MS,
							INT_MAX,
							PGC_USERSET,
							GUC_UNIT_MS | GUC_ALLOW_IN_PARALLEL,
							NULL,
							NULL,
							NULL);

	/* Lower it where worker slots are scarce and databases are many. */
	DefineCustomIntVariable("idgen.worker_idle_timeout",
							"Sets how long a worker stays without work.",
							NULL,
							&idgen_worker_idle_timeout,
							5000,
							IDLE_MIN_MS,
							INT_MAX,
							PGC_SIGHUP,
							GUC_UNIT_MS | GUC_ALLOW_IN_PARALLEL,
							NULL,
							NULL,
							NULL);

	/* Raise it where calls wait although blocks are large. */
	DefineCustomRealVariable("idgen.segment_prefetch",
							 "Sets the share of a block at which the next "
							 "one is fetched.",
							 "0 fetches none ahead.",
							 &idgen_segment_prefetch,
							 0.5,
							 0.0,
							 1.0,
							 PGC_SIGHUP,
							 GUC_ALLOW_IN_PARALLEL,
							 NULL,
							 NULL,
							 NULL);

	/* Turn it off where steps are small and nobody asks for the history. */
	DefineCustomBoolVariable("idgen.segment_log",
							 "Writes each block that is reserved to "
							 "segment_log.",
							 NULL,
							 &idgen_segment_log,
							 true,
							 PGC_SIGHUP,
							 GUC_ALLOW_IN_PARALLEL,
							 NULL,
							 NULL,
							 NULL);

	/* Lower it where the log grows too large. */
	DefineCustomIntVariable("idgen.segment_log_retention",
							"Sets how long rows of segment_log are kept.",
							"0 keeps them for ever.",
							&idgen_segment_log_retention,
							30 * 24 * 60,
							0,
							INT_MAX,
							PGC_SIGHUP,
							GUC_UNIT_MIN | GUC_ALLOW_IN_PARALLEL,
							NULL,
							NULL,
							NULL);

	/* Raise it where a clock that steps back a little is better waited for. */
	DefineCustomIntVariable("idgen.clock_max_wait",
							"Sets how long a call waits for a clock that went "
							"back.",
							NULL,
							&idgen_clock_max_wait,
							50,
							0,
							INT_MAX,
							PGC_USERSET,
							GUC_UNIT_MS | GUC_ALLOW_IN_PARALLEL,
							NULL,
							NULL,
							NULL);

	/* Set it where the node in an id must tell the server. */
	DefineCustomIntVariable("idgen.node_id",
							"Sets the only node that this server leases.",
							"-1 leases any that is free.",
							&idgen_node_id,
							-1,
							-1,
							SNOWFLAKE_NODE_MAX,
							PGC_SIGHUP,
							GUC_ALLOW_IN_PARALLEL,
							NULL,
							NULL,
							NULL);

	/* Set it where database postgres is not there, or not to be used. */
	DefineCustomStringVariable("idgen.lease_database",
							   "Sets the database that holds the node leases "
							   "of this server.",
							   NULL,
							   &idgen_lease_database,
							   "postgres",
							   PGC_SIGHUP,
							   GUC_ALLOW_IN_PARALLEL,
							   NULL,
							   NULL,
							   NULL);

	/* Set it where several servers issue ids that must not meet. */
	DefineCustomStringVariable("idgen.coordinator",
							   "Sets the server that blocks and leases come "
							   "from.",
							   "A connection string without a password; empty "
							   "means this server.",
							   &coordinator_setting,
							   "",
							   PGC_SIGHUP,
							   GUC_ALLOW_IN_PARALLEL | GUC_SUPERUSER_ONLY,
							   check_coordinator,
							   assign_coordinator,
							   show_coordinator);

	/* Raise it where a standby may lag by more blocks of a tag than that. */
	DefineCustomIntVariable("idgen.promotion_gap",
							"Sets how many blocks of a tag are left out after "
							"a promotion or restore.",
							"0 leaves out none.",
							&idgen_promotion_gap,
							100,
							0,
							1000000,
							PGC_SIGHUP,
							GUC_ALLOW_IN_PARALLEL,
							NULL,
							NULL,
							NULL);

	MarkGUCPrefixReserved("idgen");
}

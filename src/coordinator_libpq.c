/*
 * coordinator_libpq.c
 *		A worker's connection to the coordinator.
 *
 * Every wait is a loop of ours, with a deadline by the monotonic clock, ended
 * by a cancel, by SIGTERM, and by somebody who wants the worker's database.
 * Hosts are tried one by one, so that a silent one does not hide the others.
 * After a failure the next try waits for a while; until then what is asked
 * fails at once.
 *
 * A call is one statement, so that the coordinator holds no lock between two
 * messages of ours. If its answer is lost it may still have been done: a gap.
 */
#include "postgres.h"

#include "libpq-fe.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "coordinator_libpq.h"
#include "extension.h"
#include "guc.h"
#include "worker.h"

#define BACKOFF_MIN_MS 50
#define BACKOFF_MAX_MS 2000
/* For a call of a process that is about to end. */
#define EXIT_MS 1000
#define HOSTS_MAX 32
/* So that a connection does not outlive its host for a quarter of an hour. */
#define TCP_USER_TIMEOUT_MS "5000"

static const char *source;
static PGconn *connection = NULL;
static char schema[2 * NAMEDATALEN + 3]; /* of the extension there, quoted */
static bool warned;                      /* by the statement that is running */

/* The backend of the last connection, which may still wait for a standby. */
static char last_backend[64] = "";

static instr_time failed_at;
static long backoff_ms = 0; /* 0: the last try did not fail */
static char failure[192];

/* What there is of an attempt, for all of its waits. */
typedef struct Deadline
{
	instr_time start;
	int64 ms;
	bool exiting; /* interrupts do not count */
} Deadline;

static void
deadline_begin(Deadline *deadline, int64 ms, bool exiting)
{
	INSTR_TIME_SET_CURRENT(deadline->start);
	deadline->ms = ms;
	deadline->exiting = exiting;
}

static void
disconnect(void)
{
	PQfinish(connection);
	connection = NULL;
}

static void
raise_failure(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("the coordinator of idgen does not answer"),
			 errdetail("%s", failure),
			 errhint("Calls succeed again when it is back.")));
}

/* Notes what failed, ends the connection, and raises 08006. */
static void
fail(const char *what)
{
	int length = (int) strcspn(what, "\n");

	length = pg_mbcliplen(what, length, sizeof(failure) - 1);
	memcpy(failure, what, length);
	failure[length] = '\0';
	disconnect();
	INSTR_TIME_SET_CURRENT(failed_at);
	backoff_ms = Min(Max(2 * backoff_ms, BACKOFF_MIN_MS), BACKOFF_MAX_MS);
	worker_note_connection(NULL, failure);
	raise_failure();
}

/* Waits for the socket. False when there is no time left. */
static bool
wait_for_socket(Deadline *deadline, int events)
{
	int64 left = deadline->ms - clock_elapsed_us(deadline->start) / US_PER_MS;

	if (left <= 0)
		return false;
	worker_wait_on(PQsocket(connection),
				   events,
				   (long) left,
				   PG_WAIT_EXTENSION);
	if (worker_interrupted() && !deadline->exiting)
	{
		disconnect();
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("the call of the coordinator was interrupted")));
	}
	return true;
}

/* A warning comes when the wait for a standby was given up, and only then. */
static void
receive_notice(void *arg, const PGresult *notice)
{
	const char *severity =
		PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);

	if (severity == NULL || strcmp(severity, "WARNING") != 0)
		return;
	warned = true;
	ereport(LOG,
			(errmsg("idgen: warning of the coordinator: %s",
					message ? message : "")));
}

/* Raises what the statement failed with, as the error of this server. */
static void
raise_result(PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
	int code =
		state != NULL && strlen(state) == 5
			? MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])
			: ERRCODE_CONNECTION_FAILURE;

	message = pstrdup(message ? message : PQresultErrorMessage(result));
	detail = detail ? pstrdup(detail) : NULL;
	hint = hint ? pstrdup(hint) : NULL;
	PQclear(result);
	/* It ends the connection, or is about to. */
	if (ERRCODE_TO_CATEGORY(code) == ERRCODE_OPERATOR_INTERVENTION ||
		ERRCODE_TO_CATEGORY(code) == ERRCODE_CONNECTION_EXCEPTION)
		fail(message);
	ereport(ERROR,
			(errcode(code),
			 errmsg("%s", message),
			 detail ? errdetail("%s", detail)
					: errdetail("This is an error of the coordinator."),
			 hint ? errhint("%s", hint) : 0));
}

/* Sends what libpq has, then waits for the last result; raises errors. */
static PGresult *
await_result(Deadline *deadline)
{
	PGresult *last = NULL;
	PGresult *next;
	int unsent;

	while ((unsent = PQflush(connection)) > 0)
		if (!wait_for_socket(deadline,
							 WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE) ||
			!PQconsumeInput(connection))
			fail("it took too long to send a statement");
	if (unsent < 0)
		fail(PQerrorMessage(connection));
	for (;;)
	{
		while (PQisBusy(connection))
		{
			if (!wait_for_socket(deadline, WL_SOCKET_READABLE))
			{
				PQclear(last);
				fail("no answer came in time");
			}
			if (!PQconsumeInput(connection))
			{
				PQclear(last);
				fail(PQerrorMessage(connection));
			}
		}
		next = PQgetResult(connection);
		if (next == NULL)
			break;
		/* Read to the end even after an error, for the next statement. */
		if (last != NULL && PQresultStatus(last) == PGRES_FATAL_ERROR)
		{
			PQclear(next);
			continue;
		}
		PQclear(last);
		last = next;
	}
	if (last == NULL)
		fail(PQerrorMessage(connection));
	if (PQresultStatus(last) == PGRES_FATAL_ERROR)
		raise_result(last);
	return last;
}

/* An option of a connection string; NULL when it is not given. */
static const char *
option_of(PQconninfoOption *options, const char *keyword)
{
	for (PQconninfoOption *option = options; option->keyword; option++)
		if (strcmp(option->keyword, keyword) == 0)
			return option->val && option->val[0] ? option->val : NULL;
	return NULL;
}

/*
 * Whether a connection string will not do. A setting can be read by everybody
 * until the library is loaded, so it is no place for a password.
 */
bool
libpq_source_is_refused(const char *text, const char **why)
{
	char *error = NULL;
	PQconninfoOption *options = PQconninfoParse(text, &error);

	*why = NULL;
	if (options == NULL)
		*why = "is not a connection string";
	else if (option_of(options, "password") != NULL ||
			 option_of(options, "sslpassword") != NULL)
		*why = "must not contain a password";
	PQconninfoFree(options);
	PQfreemem(error);
	return *why != NULL;
}

/* Element i of a list with commas; a list of one holds for all. */
static const char *
element_of(const char *list, int i)
{
	const char *end;

	if (list == NULL)
		return NULL;
	if (strchr(list, ',') == NULL)
		return list;
	for (; i > 0 && list != NULL; i--)
	{
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	if (list == NULL)
		return NULL;
	end = strchr(list, ',');
	return end ? pnstrdup(list, end - list) : list;
}

static int
elements_in(const char *list)
{
	int count = list ? 1 : 0;

	for (; list && *list; list++)
		if (*list == ',')
			count++;
	return count;
}

/* Begins to connect, to one of several hosts if there is a list. */
static void
connect_start(const char *host, const char *hostaddr, const char *port)
{
	/* What comes before dbname gives way to the connection string in it. */
	const char *keywords[] = {"tcp_user_timeout",
							  "dbname",
							  "fallback_application_name",
							  "client_encoding",
							  "target_session_attrs",
							  "host",
							  "hostaddr",
							  "port",
							  NULL};
	const char *values[] = {TCP_USER_TIMEOUT_MS,
							source,
							"idgen",
							GetDatabaseEncodingName(),
							"read-write",
							host,
							hostaddr,
							port,
							NULL};

	connection = PQconnectStartParams(keywords, values, 1);
	if (connection == NULL)
		fail("out of memory");
	PQsetNoticeReceiver(connection, receive_notice, NULL);
}

/* True when it is connected. */
static bool
connect_to(const char *host,
		   const char *hostaddr,
		   const char *port,
		   Deadline *deadline)
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;

	connect_start(host, hostaddr, port);
	while (PQstatus(connection) != CONNECTION_BAD)
	{
		if (status == PGRES_POLLING_OK)
			return true;
		if (status == PGRES_POLLING_FAILED)
			return false;
		if (!wait_for_socket(deadline,
							 status == PGRES_POLLING_READING
								 ? WL_SOCKET_READABLE
								 : WL_SOCKET_WRITEABLE))
			return false;
		status = PQconnectPoll(connection);
	}
	return false;
}

/* All hosts in turn, each with its share of the time. */
static void
connect_to_any(int64 ms, bool exiting)
{
	PQconninfoOption *options;
	const char *hosts;
	const char *addresses;
	const char *ports;
	char *why = NULL;
	int count;

	/* Started only to learn what a service file and the environment say. */
	connect_start(NULL, NULL, NULL);
	options = PQconninfo(connection);
	if (options == NULL)
		fail("out of memory");
	hosts = option_of(options, "host");
	addresses = option_of(options, "hostaddr");
	ports = option_of(options, "port");
	hosts = hosts ? pstrdup(hosts) : NULL;
	addresses = addresses ? pstrdup(addresses) : NULL;
	ports = ports ? pstrdup(ports) : NULL;
	PQconninfoFree(options);
	count = Max(elements_in(hosts), elements_in(addresses));
	count = Min(Max(count, 1), HOSTS_MAX);
	for (int i = 0; i < count; i++)
	{
		Deadline deadline;

		disconnect();
		deadline_begin(&deadline, ms / count, exiting);
		if (connect_to(element_of(hosts, i),
					   element_of(addresses, i),
					   element_of(ports, i),
					   &deadline))
			return;
		why = PQstatus(connection) == CONNECTION_BAD
				  ? pstrdup(PQerrorMessage(connection))
				  : pstrdup("no connection came about in time");
	}
	fail(why);
}

/* The session there: as a worker's is here; the last result is the check. */
#define SESSION                                                               \
	"SET search_path = pg_catalog, pg_temp;"                                  \
	" SET default_transaction_isolation = 'read committed';"                  \
	" SET default_transaction_read_only = off;"                               \
	" SET default_transaction_deferrable = off;"                              \
	" SET statement_timeout = 0; SET lock_timeout = 0;"                       \
	" SET idle_in_transaction_session_timeout = 0;"                           \
	" SET idle_session_timeout = 0; SET client_min_messages = warning;"       \
	" SET row_security = off; SET DateStyle = 'ISO'; SET bytea_output = hex;" \
	" SELECT e.extversion, pg_catalog.quote_ident(n.nspname),"                \
	" a.pid || ' ' || a.backend_start, pg_catalog.current_database()"         \
	" FROM pg_catalog.pg_stat_activity a"                                     \
	" LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'idgen'"             \
	" LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace"          \
	" WHERE a.pid = pg_catalog.pg_backend_pid()"

/* Raises what keeps this coordinator from being one. */
static void
check_extension(const char *version, const char *database)
{
	if (version[0] == '\0')
		fail(psprintf("database \"%s\" of the coordinator has no extension "
					  "idgen",
					  database));
	if (extension_version_is_newer(IDGEN_VERSION, version))
		fail(psprintf("the coordinator has idgen %s, which is older than %s "
					  "here: upgrade it first",
					  version,
					  IDGEN_VERSION));
}

/* Ends what the last connection left running, which nobody waits for. */
static void
end_last_backend(Deadline *deadline)
{
	const char *values[] = {last_backend};

	if (last_backend[0] == '\0')
		return;
	if (!PQsendQueryParams(connection,
						   "SELECT pg_catalog.pg_terminate_backend(pid)"
						   " FROM pg_catalog.pg_stat_activity"
						   " WHERE pid || ' ' || backend_start = $1"
						   " AND usename = session_user",
						   1,
						   NULL,
						   values,
						   NULL,
						   NULL,
						   0))
		fail(PQerrorMessage(connection));
	PQclear(await_result(deadline));
}

static void
connect_if_needed(int64 ms, bool exiting)
{
	Deadline deadline;
	PGresult *result;
	const char *why;
	const char *answer[4];

	/* One that was closed meanwhile is told by what there is to read. */
	if (connection != NULL && PQconsumeInput(connection) &&
		PQstatus(connection) == CONNECTION_OK)
		return;
	disconnect();
	if (libpq_source_is_refused(source, &why))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("idgen.coordinator %s", why),
				 errhint("Name a service or a password file in it.")));
	if (backoff_ms > 0 && clock_elapsed_us(failed_at) < backoff_ms * US_PER_MS)
		raise_failure();
	connect_to_any(ms, exiting);
	deadline_begin(&deadline, ms, exiting);
	if (!PQsendQuery(connection, SESSION))
		fail(PQerrorMessage(connection));
	result = await_result(&deadline);
	for (int i = 0; i < 4; i++)
		answer[i] = pstrdup(PQgetvalue(result, 0, i));
	PQclear(result);
	check_extension(answer[0], answer[3]);
	end_last_backend(&deadline);
	strlcpy(schema, answer[1], sizeof(schema));
	strlcpy(last_backend, answer[2], sizeof(last_backend));
	backoff_ms = 0;
	worker_note_connection(
		psprintf("%s port %s", PQhost(connection), PQport(connection)),
		NULL);
}

void
libpq_begin(const char *text)
{
	source = text;
}

/*
 * Calls a function of the extension there. Raises its error, or 08006. `sure`
 * when the commit did all that was asked of it.
 */
PGresult *
libpq_call(const RemoteCall *call, bool exiting, bool *sure)
{
	/* Two waits, and an answer of ours before the callers' time is over. */
	int64 ms = exiting ? EXIT_MS : Max(idgen_timeout / 3, 1);
	Deadline deadline;
	PGresult *result;

	connect_if_needed(ms, exiting);
	deadline_begin(&deadline, ms, exiting);
	warned = false;
	if (!PQsendQueryParams(
			connection,
			psprintf("SELECT * FROM %s.%s", schema, call->function),
			call->count,
			NULL,
			call->values,
			NULL,
			NULL,
			0))
		fail(PQerrorMessage(connection));
	result = await_result(&deadline);
	*sure = !warned;
	return result;
}

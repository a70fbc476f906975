/*
 * coordinator_libpq.h
 *		A worker's connection to the coordinator.
 */
#ifndef IDGEN_COORDINATOR_LIBPQ_H
#define IDGEN_COORDINATOR_LIBPQ_H

#include "libpq-fe.h"

/* In the place of a setting that will not do; it will not either. */
#define COORDINATOR_REFUSED "password=refused"

/* What is sent; all values as text, NULL is NULL. */
typedef struct RemoteCall
{
	const char *function; /* of the extension, with its placeholders */
	int count;
	const char *values[8];
} RemoteCall;

/* coordinator_libpq.c */
extern bool libpq_source_is_refused(const char *source, const char **why);
extern void libpq_begin(const char *source);
extern PGresult *libpq_call(const RemoteCall *call, bool exiting, bool *sure);

#endif

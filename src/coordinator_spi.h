/*
 * coordinator_spi.h
 *		Statements of the workers, run in this server.
 */
#ifndef IDGEN_COORDINATOR_SPI_H
#define IDGEN_COORDINATOR_SPI_H

#include "executor/spi.h"

/* A statement, planned once for as long as the tables keep their names. */
typedef struct Statement
{
	char *tables;
	SPIPlanPtr plan;
} Statement;

/* coordinator_spi.c */
extern void coordinator_run(Statement *statement,
							const char *format,
							int expected,
							int nargs,
							Oid *types,
							Datum *values);
extern bool coordinator_lock_alone(void);
extern Datum coordinator_column(uint64 i, int n);

#endif

/*
 * guc.h
 *		The settings of idgen.
 */
#ifndef IDGEN_GUC_H
#define IDGEN_GUC_H

/* Read by whoever waits. */
extern int idgen_timeout;

extern int idgen_clock_max_wait;

/* Read by workers alone. */
extern int idgen_worker_idle_timeout;
extern double idgen_segment_prefetch;
extern bool idgen_segment_log;
extern int idgen_segment_log_retention;
extern int idgen_node_id;
extern int idgen_promotion_gap;
extern char *idgen_lease_database;    /* and for messages */
extern const char *idgen_coordinator; /* or what workers refuse */

/* guc.c */
extern void guc_define(void);

#endif
